// B4: keys that mean something to JavaScript stay data, wherever the package makes values of a model's or a tool's JSON (N-04).
import { changedPrototypes } from "./lib/prototypes.mjs";
import assert from "node:assert/strict";
import test from "node:test";
import { createAgentTaskRun, createFetchRuntime, FREE, runAgent, runGovernedAgentLoop } from "turnkeep";
import { createScriptedProvider } from "turnkeep/testing";
import { difference, generator, hostileObject, refusedObject } from "./lib/hostile-json.mjs";
import { resultsOf } from "./lib/shop.mjs";

const { callCore } = await import(new URL("../wasm.js", import.meta.resolve("turnkeep")));
const canonical = (text) => callCore((border) => border.canonical(text));
const hash = (text) => callCore((border) => border.hash(text));

const SEED = Number(process.env.SEED ?? 20_260_101);
/** `acceptance B4` asks for ten times as many. */
const INPUTS = Number(process.env.HOSTILE_INPUTS ?? 1_000);
const BATCH = 50;
const REFUSED = INPUTS / 10;
const NAMES = ["shop:json_schema", "shop:standard_schema"];
const standard = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } };

const below = generator(SEED);
const figure = { checks: 0, wrong: [] };
function check(found, what) {
  figure.checks += 1;
  if (found !== undefined) figure.wrong.push(`${what}: ${found}`);
}
const equal = (expected, given) => (expected === given ? undefined : `${String(given)} instead of ${String(expected)}`);
const readBack = (text) => JSON.parse(canonical(text)).ok;

/** A text with the form and the value it must have everywhere. */
function made(text) {
  const form = readBack(text);
  assert.equal(typeof form, "string", text);
  return { text, form, value: JSON.parse(form) };
}

/** One governed run with a call for each pair: through `runAgent` with schemas, or through a runtime of the host's own. */
async function run(protocol, stream, own, pairs) {
  const calls = pairs.map(({ input }, at) => ({ id: `call_${at}`, name: NAMES[at % NAMES.length], input_json: input.text }));
  const provider = createScriptedProvider([{ calls }, { text: "done" }]);
  const ran = new Map();
  const execute = (input, context) => {
    ran.set(context.call_id, { input, context });
    return JSON.parse(pairs[Number(context.call_id.slice(5))].output.text);
  };
  const model = { protocol, model: "scripted", base_url: "https://provider.invalid/v1", prices: FREE };
  const limits = { max_steps: null, max_cost_usd: null, max_duration_s: null };
  const events = [];
  if (!own) {
    const base = { description: "Gives JSON back", side_effecting: true, execute };
    const tools = { [NAMES[0]]: { ...base, input: { type: "object" } }, [NAMES[1]]: { ...base, input: standard, input_schema: { type: "object" } } };
    const agent = runAgent({ model, prompt: "Go.", tools, limits, stream, fetch: provider.fetch });
    for await (const event of agent) events.push(event);
    return { provider, ran, events, result: await agent.result };
  }
  const http = createFetchRuntime({ config: { models: { main: model } }, apiKey: "", fetch: provider.fetch });
  const task = createAgentTaskRun({ task_id: "t", tenant_subject: "acme", actor_ref: "user:7", limits });
  const runtime = task.guardRuntime({ executeTurn: (input, options) => http.executeTurn(input, options), executeTool: (_name, input, context) => execute(input, context) });
  const tools = NAMES.map((name) => ({ name }));
  const result = await runGovernedAgentLoop({ runtime, ...task.hooks, model_profile: "main", tools, stream, messages: [{ role: "user", content: "Go." }], onEvent: (event) => void events.push(event) });
  task[Symbol.dispose]();
  return { provider, ran, events, result };
}

/** Arguments and results as the second request sends them. */
function sent(protocol, { messages }) {
  if (protocol === "chat") {
    const args = messages.find(({ tool_calls }) => tool_calls !== undefined).tool_calls.map((call) => JSON.parse(call.function.arguments));
    return { args, results: messages.filter(({ role }) => role === "tool").map(({ content }) => content) };
  }
  const args = messages.at(-2).content.filter(({ type }) => type === "tool_use").map(({ input }) => input);
  return { args, results: messages.at(-1).content.map(({ content }) => (typeof content === "string" ? content : content[0].text)) };
}

function compare(protocol, pairs, { provider, ran, events, result }) {
  assert.equal(result.outcome, "completed", JSON.stringify(result.error));
  const { turn } = events.find(({ type }) => type === "turn");
  const blocks = turn.content_blocks.filter(({ type }) => type === "tool_call");
  const started = events.filter(({ type }) => type === "tool_started");
  const ended = events.filter(({ type }) => type === "tool_ended");
  const receipts = result.checkpoint.receipts;
  const history = resultsOf(result.checkpoint);
  const { args, results } = sent(protocol, provider.requests[1]);
  assert.deepEqual([blocks, started, ended, receipts, args, results].map(({ length }) => length), Array(6).fill(pairs.length));
  for (const [at, { input, output }] of pairs.entries()) {
    const id = `call_${at}`;
    check(equal(input.form, ran.get(id).context.input_json), `${id}, context.input_json`);
    check(difference(input.value, ran.get(id).input), `${id}, what the tool got`);
    check(difference(input.value, turn.requested_tools[at].input), `${id}, requested_tools`);
    check(difference(input.value, blocks[at].input), `${id}, content_blocks`);
    check(difference(input.value, started[at].call.input), `${id}, tool_started`);
    check(difference(input.value, args[at]), `${id}, sent back to the provider`);
    check(difference(output.value, ended[at].result.output), `${id}, tool_ended`);
    check(difference(output.value, history.get(id).output), `${id}, the history`);
    check(equal(output.form, receipts[at].output_json), `${id}, the receipt`);
    check(equal(`{"ok":true,"output":${output.form}}`, results[at]), `${id}, the result sent to the provider`);
  }
}

test("hostile keys stay data in inputs, outputs, turns and the canonical form (B4, N-04)", async (t) => {
  const shapes = ["chat", "messages"].flatMap((protocol) => [true, false].flatMap((stream) => [true, false].map((own) => [protocol, stream, own])));
  for (let done = 0; done < INPUTS; done += BATCH) {
    const pairs = Array.from({ length: BATCH }, () => ({ input: made(hostileObject(below)), output: made(hostileObject(below)) }));
    for (const { form, value } of pairs.flatMap(({ input, output }) => [input, output])) {
      check(equal(form, readBack(form)), "canonical of the canonical form");
      check(equal(form, readBack(JSON.stringify(value))), "canonical of what JSON.parse made");
    }
    const [protocol, stream, own] = shapes[(done / BATCH) % shapes.length];
    compare(protocol, pairs, await run(protocol, stream, own, pairs));
  }
  for (let at = 0; at < REFUSED; at += 1) {
    const text = refusedObject(below);
    for (const [name, read] of [["canonical", canonical], ["hash", hash]]) check("error" in JSON.parse(read(text)) ? undefined : text, `${name} accepts what it must refuse`);
  }
  const changed = changedPrototypes();
  check(changed.length === 0 ? undefined : changed.join(", "), "prototypes");
  t.diagnostic(`B4 ${INPUTS} inputs, ${REFUSED} refused, ${figure.checks} checks, ${figure.wrong.length} wrong, seed ${SEED}`);
  assert.ok(figure.checks > INPUTS);
  assert.deepEqual(figure.wrong.slice(0, 20), []);
});
