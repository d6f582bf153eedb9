// A server that is not ours: `@copilotkit/aimock` answers, our runtime and the vendors' own parsers read. Where both accept, text, calls and reason
// are the same; where only one does, the rule that says so is named. Fails on a difference that no rule explains.
import { isDeepStrictEqual } from "node:util";
import { LLMock } from "@copilotkit/aimock";
import { createFetchRuntime, TurnkeepError } from "turnkeep";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

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

/** Our reading, in the words of a row. */
async function ours(protocol, stream, id) {
  const base_url = `${mock.url}/v1`;
  const runtime = createFetchRuntime({ config: { models: { main: { protocol, model: "m", base_url } } }, apiKey: "none" });
  try {
    const turn = await runtime.executeTurn({ session_id: "s", model_profile: "main", messages: [{ role: "user", content: id }], stream });
    if (turn.status === "client_disconnect") return { error: "the connection broke", rule: "S-13" };
    return { text: turn.assistant_text, calls: turn.requested_tools, reason: turn.finish_reason.raw, dropped: turn.dropped_calls };
  } catch (error) {
    if (!TurnkeepError.is(error)) throw error;
    return { error: error.code, rule: error.rule };
  }
}

/** The vendor's parser, in the same words. Inputs are read with `JSON.parse`, as its own helpers do. */
async function theirs(protocol, stream, id) {
  const messages = [{ role: "user", content: id }];
  try {
    if (protocol === "chat") {
      const client = new OpenAI({ apiKey: "none", baseURL: `${mock.url}/v1`, maxRetries: 0 });
      const { choices: [choice] } = await (stream ? client.chat.completions.stream({ model: "m", messages }).finalChatCompletion() : client.chat.completions.create({ model: "m", messages }));
      const calls = (choice.message.tool_calls ?? []).map((item) => ({ id: item.id, name: item.function.name, input: JSON.parse(item.function.arguments) }));
      return { text: choice.message.content ?? "", calls, reason: choice.finish_reason };
    }
    const client = new Anthropic({ apiKey: "none", baseURL: mock.url, maxRetries: 0 });
    const asked = { model: "m", max_tokens: 1000, messages };
    const message = await (stream ? client.messages.stream(asked).finalMessage() : client.messages.create(asked));
    const calls = message.content.filter(({ type }) => type === "tool_use").map((block) => ({ id: block.id, name: block.name, input: block.input }));
    return { text: message.content.map((block) => (block.type === "text" ? block.text : "")).join(""), calls, reason: message.stop_reason };
  } catch (error) {
    return { error: `${error?.name}: ${String(error?.message).slice(0, 60)}` };
  }
}

/** What a row shows: agreement, a difference with its rule, or a difference that nothing explains. */
function compare(row, us, them) {
  if (us.error !== undefined && them.error !== undefined) return { ok: true, why: `both refuse: ${us.error}` };
  if (us.error !== undefined) return { ok: us.rule === row.rule, why: `only we refuse: ${us.error} (${us.rule})` };
  if (them.error !== undefined) return { ok: false, why: `only they refuse: ${them.error}` };
  // A turn that may not run keeps its text and drops its calls (P-20).
  const dropped = us.dropped > 0;
  const right = us.text === them.text && us.reason === them.reason
    && (dropped ? us.dropped === them.calls.length && row.rule === "P-20" : isDeepStrictEqual(us.calls, them.calls));
  if (!right) return { ok: false, why: `differ: ${JSON.stringify(us)} and ${JSON.stringify(them)}`.slice(0, 400) };
  return { ok: true, why: dropped ? `same text and reason; ${us.dropped} call not runnable (P-20)` : "the same" };
}

let passed = 0;
const wrong = [];
for (const row of SCENARIOS) for (const protocol of ["chat", "messages"]) for (const stream of [true, false]) {
  const { ok, why } = compare(row, await ours(protocol, stream, row.id), await theirs(protocol, stream, row.id));
  const line = `${protocol}, ${stream ? "stream" : "body"}, ${row.id}: ${why}`;
  if (ok) passed += 1;
  else wrong.push(line);
  if (why !== "the same") console.log(ok ? line : `FAIL ${line}`);
}
await mock.stop();
console.log(`${passed} passed, ${wrong.length} failed`);
process.exitCode = passed > 0 && wrong.length === 0 ? 0 : 1;
