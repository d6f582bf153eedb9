// runAgent: the whole loop behind one iterator, over a scripted provider without a network.
import assert from "node:assert/strict";
import test from "node:test";
import { FREE, runAgent, tool, TurnkeepError } from "turnkeep";
import { createScriptedProvider, startScriptedServer } from "turnkeep/testing";
import { z } from "zod";
import { call, PROTOCOLS, resultsOf } from "./lib/shop.mjs";

const model = (protocol) => ({ protocol, model: "scripted", base_url: "https://provider.invalid/v1", prices: FREE });
const lookup = tool({ description: "Look an order up", side_effecting: false, input: z.object({ order: z.coerce.number().int() }), execute: ({ order }) => ({ order, twice: order * 2 }) });
const options = (protocol, turns, more = {}) => {
  const provider = createScriptedProvider(turns);
  return { provider, options: { model: model(protocol), prompt: "Order 7?", tools: { "shop:lookup": lookup }, limits: { max_cost_usd: 1 }, fetch: provider.fetch, ...more } };
};

for (const protocol of PROTOCOLS) {
  test(`${protocol}: events in order, a result, a schema for the model and its output for the tool (P-17)`, async () => {
    const { provider, options: given } = options(protocol, [{ calls: [call("a", "shop:lookup", { order: "7" })] }, { text: "Seven." }]);
    const run = runAgent(given);
    const types = [];
    let text = "";
    for await (const event of run) {
      types.push(event.type);
      if (event.type === "text_delta") text += event.text;
    }
    const result = await run.result;
    assert.equal(result.outcome, "completed");
    assert.equal(text, "Seven.");
    assert.deepEqual([types[0], types.at(-1)], ["run_started", "stopped"]);
    assert.deepEqual(resultsOf(result.checkpoint).get("a"), { ok: true, output: { order: 7, twice: 14 } });
    const [offered] = provider.requests[0].tools;
    const schema = protocol === "chat" ? offered.function.parameters : offered.input_schema;
    assert.equal(schema.type, "object");
    assert.deepEqual(Object.keys(schema.properties), ["order"]);
    assert.match(run.task_id, /^[0-9a-f-]{36}$/);
    assert.equal(provider.left, 0);
  });
}

test("an input that does not fit its schema is INVALID_TOOL_INPUT with the path, and never runs (P-17, L-06)", async () => {
  const { options: given } = options("chat", [{ calls: [call("a", "shop:lookup", { order: "seven" }), call("b", "shop:lookup", { order: 2 })] }, { text: "ok" }]);
  const result = await runAgent(given).result;
  const results = resultsOf(result.checkpoint);
  assert.equal(results.get("a").code, "INVALID_TOOL_INPUT");
  assert.match(results.get("a").message, / order: /);
  assert.equal(results.get("b").ok, true);
});

test("without iteration the result settles all the same", async () => {
  const { options: given } = options("chat", [{ text: "hello" }]);
  assert.equal((await runAgent(given).result).final_text, "hello");
});

test("leaving the iterator ends the run client_disconnect of the consumer's side, or lets it go on (S-13)", async () => {
  const turns = [{ text: "one two three", transport: { stall: "before_finish" } }];
  const stopped = runAgent(options("chat", turns).options);
  for await (const event of stopped) if (event.type === "text_delta") break;
  const result = await stopped.result;
  assert.deepEqual([result.outcome, result.details], ["client_disconnect", { side: "consumer" }]);
  const kept = runAgent(options("chat", [{ text: "one two three" }], { on_disconnect: "continue" }).options);
  for await (const event of kept) if (event.type === "text_delta") break;
  assert.equal((await kept.result).outcome, "completed");
});

test("disposing of a run cancels it and waits", async () => {
  const run = runAgent(options("chat", [{ text: "x", transport: { stall: 10 } }]).options);
  await run[Symbol.asyncDispose]();
  assert.equal((await run.result).outcome, "cancelled");
});

test("the provider is asked for one turn more than scripted: it fails loudly, and so does the run", async () => {
  const { options: given } = options("chat", [{ calls: [call("a", "shop:lookup", { order: 1 })] }]);
  const result = await runAgent(given).result;
  assert.deepEqual([result.outcome, result.error.code], ["failed", "PROVIDER_TRANSPORT"]);
});

test("mistakes are thrown at once, with a code", () => {
  const { options: given } = options("chat", [{ text: "x" }]);
  for (const [more, code] of [
    [{ model: "nobody" }, "MODEL_PROFILE_UNKNOWN"], [{ limits: { max_cost_usd: -1 } }, "LIMIT_INVALID"], [{ limits: {} }, "LIMIT_INVALID"],
    [{ model: { ...model("chat"), colour: "red" } }, "CONFIGURATION_ERROR"], [{ tools: { x: { ...lookup, input: { "~standard": { version: 1, vendor: "none", validate: () => ({ value: 1 }) } } } } }, "CONFIGURATION_ERROR"],
  ]) assert.throws(() => runAgent({ ...given, ...more }), (error) => TurnkeepError.is(error, code), code);
  assert.throws(() => tool({ description: "x", input: {}, execute: () => 1 }), (error) => TurnkeepError.is(error, "INVALID_INPUT"));
});

test("what fails later rejects result and iterator with the same error, and is never unhandled", async () => {
  const { options: given } = options("chat", [{ text: "x" }], { tools: { "shop:a": lookup, "shop.a": lookup } });
  const run = runAgent(given);
  const fails = (error) => TurnkeepError.is(error, "TOOL_NAME_COLLISION");
  await assert.rejects(async () => { for await (const event of run) assert.fail(event.type); }, fails);
  await assert.rejects(run.result, fails);
  runAgent(options("chat", [{ text: "x" }], { tools: { "agent-runtime:pause_turn": lookup } }).options);
  await new Promise((resolve) => setTimeout(resolve, 5));
});

test("a connection that is refused says so in the details, and nothing else of the system's error (S-24)", async () => {
  const server = await startScriptedServer({ name: "gone", turns: [{ text: "x" }] });
  const base_url = server.url;
  await server.close();
  const result = await runAgent({ model: { protocol: "chat", model: "m", base_url, prices: FREE }, prompt: "Hi", limits: { max_cost_usd: 1 } }).result;
  assert.deepEqual([result.outcome, result.error.code, result.error.details], ["failed", "PROVIDER_TRANSPORT", { transport_code: "ECONNREFUSED" }]);
});
