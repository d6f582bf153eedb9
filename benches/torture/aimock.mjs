// A server that is not ours: `@copilotkit/aimock` answers, our runtime and the vendors' own parsers read. Where both accept, text, calls and reason
// are the same; where only one does, the rule that says so is named. Fails on a difference that no rule explains.
import { LLMock } from "@copilotkit/aimock";
import { compare, ours, theirs } from "./parsers.mjs";

const call = (id, name, input) => ({ id, name, arguments: typeof input === "string" ? input : JSON.stringify(input) });
const LOOKUP = call("call_a", "lookup", { order: 7 });
const REFUND = call("call_b", "refund", { order: 8, amount: 12.5 });
const LONG = "naïve 👋🏽 text, ".repeat(40);

/** What the server is told to answer. `rule`: where our runtime refuses what a vendor's parser lets through, the rule that says so. */
const SCENARIOS = [
  { id: "text", response: { content: "Paid." } },
  { id: "long text of wide characters", response: { content: LONG }, options: { chunkSize: 100_000 } },
  // This server cuts strings by UTF-16 units: half a character in each event (case 148).
  { id: "text cut inside a character", response: { content: LONG }, options: { chunkSize: 3 }, rule: "N-01" },
  { id: "one call", response: { toolCalls: [LOOKUP] } },
  { id: "two calls", response: { toolCalls: [LOOKUP, REFUND] } },
  { id: "two calls in single characters", response: { toolCalls: [LOOKUP, REFUND] }, options: { chunkSize: 1 } },
  { id: "text and calls", response: { content: "Let me look.", toolCalls: [LOOKUP, REFUND] } },
  { id: "a call before the text", response: { blocks: [{ type: "toolCall", ...LOOKUP }, { type: "text", text: "Looked." }] } },
  { id: "text between calls", response: { blocks: [{ type: "toolCall", ...LOOKUP }, { type: "text", text: "And." }, { type: "toolCall", ...REFUND }] } },
  { id: "a call without arguments", response: { toolCalls: [call("call_a", "lookup", {})] } },
  { id: "nested and escaped arguments", response: { toolCalls: [call("call_a", "lookup", { a: [{ "b\"\\": "\u2028 é" }], n: -1.5e-7, z: null })] } },
  { id: "reasoning, then text", response: { content: "Paid.", reasoning: "The order is paid." } },
  { id: "reasoning, then a call", response: { toolCalls: [LOOKUP], reasoning: "I must look." } },
  { id: "cut by length", response: { content: "It is", finishReason: "length" } },
  // In Messages that word is none of the protocol's.
  { id: "filtered", response: { content: "It", finishReason: "content_filter" }, rule: "P-19" },
  { id: "length with a call", response: { toolCalls: [LOOKUP], finishReason: "length" }, rule: "P-20" },
  { id: "stop with a call", response: { toolCalls: [LOOKUP], finishReason: "stop" }, rule: "P-18" },
  { id: "a reason nobody knows", response: { content: "Paid.", finishReason: "whatever" }, rule: "P-19" },
  { id: "arguments that are no JSON", response: { toolCalls: [call("call_a", "lookup", '{"order": ')] } },
  { id: "one id for two calls", response: { toolCalls: [LOOKUP, call("call_a", "refund", { order: 8 })] }, rule: "P-02" },
  { id: "a key twice in the arguments", response: { toolCalls: [call("call_a", "lookup", '{"order":7,"order":9}')] }, rule: "N-01" },
  { id: "cut after three chunks", response: { toolCalls: [LOOKUP, REFUND] }, options: { truncateAfterChunks: 3, chunkSize: 4 } },
  { id: "rate limited", response: { error: { message: "slow down", type: "rate_limit_error" }, status: 429 } },
  { id: "overloaded", response: { error: { message: "overloaded", type: "overloaded_error" }, status: 529 } },
];

const mock = new LLMock({ port: 0, logLevel: "silent" });
for (const { id, response, options } of SCENARIOS) mock.onMessage(new RegExp(`^${id}$`), response, options);
await mock.start();
const server = { url: mock.url, model: "m" };

let passed = 0;
const wrong = [];
for (const row of SCENARIOS) for (const protocol of ["chat", "messages"]) for (const stream of [true, false]) {
  const { ok, why } = compare(row.rule, await ours(server, protocol, stream, row.id), await theirs(server, protocol, stream, row.id));
  const line = `${protocol}, ${stream ? "stream" : "body"}, ${row.id}: ${why}`;
  if (ok) passed += 1;
  else wrong.push(line);
  if (why !== "the same") console.log(ok ? line : `FAIL ${line}`);
}
await mock.stop();
console.log(`${passed} passed, ${wrong.length} failed`);
process.exitCode = passed > 0 && wrong.length === 0 ? 0 : 1;
