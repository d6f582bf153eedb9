// The governed loop over real HTTP, in both protocols: order, batches, budgets, endings (K, L, B, T).
import assert from "node:assert/strict";
import test from "node:test";
import { createAgentTaskRun, createApprovalClassRegistry, createFetchRuntime, createRequestUserGate, EffectNotStarted, runGovernedAgentLoop, TurnkeepError } from "turnkeep";
import { call, configFor, KEY, LIMITS, PROTOCOLS, resultsOf, serve, task, TOOLS } from "./lib/shop.mjs";

const LOOKUP = { text: "Let me look.", calls: [call("call_a", "shop:lookup_order", { order: 7 })] };
const THREE = { calls: [call("a", "shop:lookup_order", { order: 1 }), call("b", "shop:lookup_order", { order: 2 }), call("c", "shop:lookup_order", { order: 3 })] };
const codes = (results) => [...results].map(([id, result]) => [id, result.ok ? "ok" : result.code]);
const types = (events) => events.map((event) => event.type);

for (const protocol of PROTOCOLS) {
  for (const stream of [true, false]) {
    test(`${protocol}, ${stream ? "stream" : "body"}: a call, its result, an answer`, async (t) => {
      const { result, events, ran, server, run } = await task(t, protocol, [LOOKUP, { text: "It is paid." }], { loop: { stream, system: "You work in a shop." } });
      assert.equal(result.outcome, "completed");
      assert.equal(result.final_text, "It is paid.");
      assert.deepEqual(ran.map(({ name, input }) => ({ name, input })), [{ name: "shop:lookup_order", input: { order: 7 } }]);
      const { context } = ran[0];
      assert.equal(context.input_json, '{"order":7}');
      assert.match(context.action_hash, /^sha256:[0-9a-f]{64}$/);
      assert.deepEqual([context.tenant_subject, context.task_id, context.step_id, context.approval], ["acme", "task-1", "step-1", null]);
      assert.deepEqual(result.steps.map(({ step_id, kind, status }) => [step_id, kind, status]), [["step-0", "model_call", "completed"], ["step-1", "tool_call", "completed"], ["step-2", "model_call", "completed"]]);
      assert.deepEqual(run.steps(), result.steps);
      assert.equal(result.steps[1].intent_text, "Let me look.");
      // 2 x (100 tokens in at 3 USD, 20 out at 15 USD, a million)
      assert.equal(result.spend.cost_usd, 0.0012);
      assert.equal(run.spend().steps, 3);
      assert.deepEqual(resultsOf(result.checkpoint).get("call_a"), { ok: true, output: { state: "paid" } });
      assert.equal(server.requests.length, 2);
      assert.equal(server.left, 0);
      const text = events.filter((event) => event.type === "text_delta").map((event) => event.text).join("");
      assert.equal(text, stream ? "Let me look.It is paid." : text);
      assert.deepEqual(types(events).at(0), "run_started");
      const stopped = events.at(-1);
      assert.equal(stopped.type, "stopped");
      assert.deepEqual(stopped.result, result);
    });
  }

  test(`${protocol}: the second request carries the call and its one result (P-13, L-04)`, async (t) => {
    const { server } = await task(t, protocol, [LOOKUP, { text: "ok" }]);
    const { messages } = server.requests[1].body;
    if (protocol === "chat") {
      assert.equal(messages.at(-2).tool_calls[0].function.arguments, '{"order":7}');
      assert.deepEqual([messages.at(-1).role, messages.at(-1).tool_call_id], ["tool", "call_a"]);
      assert.deepEqual(JSON.parse(messages.at(-1).content), { ok: true, output: { state: "paid" } });
    } else {
      assert.deepEqual(messages.at(-2).content.at(-1), { type: "tool_use", id: "call_a", name: "shop_lookup_order", input: { order: 7 } });
      assert.deepEqual([messages.at(-1).role, messages.at(-1).content[0].type, messages.at(-1).content[0].tool_use_id], ["user", "tool_result", "call_a"]);
    }
  });

  test(`${protocol}: a batch that does not fit is refused whole, and no tool runs (L-01, L-02)`, async (t) => {
    const { result, ran, events } = await task(t, protocol, [THREE, { text: "I cannot." }], { run: { packLimits: { max_tool_calls_per_session: 2 } } });
    assert.equal(result.outcome, "completed");
    assert.equal(ran.length, 0);
    assert.deepEqual(codes(resultsOf(result.checkpoint)), [["a", "LIMIT_EXCEEDED"], ["b", "LIMIT_EXCEEDED"], ["c", "LIMIT_EXCEEDED"]]);
    assert.equal(result.spend.tool_calls, 0);
    const refused = events.find((event) => event.type === "batch_refused");
    assert.deepEqual([refused.calls, refused.error.code, refused.error.rule], [3, "LIMIT_EXCEEDED", "L-02"]);
    assert.deepEqual(result.steps.filter(({ kind }) => kind === "tool_call").map(({ status }) => status), ["denied", "denied", "denied"]);
  });

  test(`${protocol}: a throw fails its call, the rest is not executed, history stays paired (L-03, L-04)`, async (t) => {
    const execute = (_name, { order }) => { if (order === 2) throw new Error("the shop is closed"); return { order }; };
    const { result, ran } = await task(t, protocol, [THREE, { text: "Sorry." }], { execute });
    assert.equal(result.outcome, "completed");
    assert.equal(ran.length, 2);
    const results = resultsOf(result.checkpoint);
    assert.deepEqual(codes(results), [["a", "ok"], ["b", "TOOL_FAILED"], ["c", "NOT_EXECUTED"]]);
    assert.match(results.get("b").message, /the shop is closed/);
  });

  test(`${protocol}: unknown, undeclared, denied and classed tools never run, and the batch goes on (P-15, K-06, G-07, L-06)`, async (t) => {
    const registry = createApprovalClassRegistry({ money: { expires_in_s: 600 } });
    const toolPolicy = (name) => {
      if (name === "shop:read_policy") throw new Error("manifest is broken");
      if (name === "shop:hidden") return undefined;
      return name === "shop:refund" ? { approval_class: "money", side_effecting: true } : { side_effecting: false };
    };
    const tools = [...TOOLS, { name: "shop:hidden" }];
    const calls = ["shop:unknown", "shop:hidden", "shop:read_policy", "shop:refund", "shop:lookup_order"].map((name, at) => call(`c${at}`, name, { order: 7 }));
    const { result, ran } = await task(t, protocol, [{ calls }, { text: "done" }], { run: { registry, gate: createRequestUserGate({ registry }), toolPolicy }, loop: { tools } });
    assert.deepEqual(codes(resultsOf(result.checkpoint)), [["c0", "TOOL_NOT_FOUND"], ["c1", "TOOL_NOT_FOUND"], ["c2", "POLICY_DENIED"], ["c3", "APPROVAL_REQUIRED"], ["c4", "ok"]]);
    assert.deepEqual(ran.map(({ name }) => name), ["shop:lookup_order"]);
    assert.deepEqual(result.steps.filter(({ kind }) => kind === "tool_call").map(({ status }) => status), ["failed", "failed", "denied", "denied", "completed"]);
  });

  test(`${protocol}: a narrower policy denies or asks, and never loosens (C-02)`, async (t) => {
    const policies = [{ tool: "shop:refund", verdict: "deny" }, { tool: "shop:read_policy", tenant_subject: "acme", verdict: "ask" }, { tool: "shop:lookup_order", tenant_subject: "other", verdict: "deny" }];
    const registry = createApprovalClassRegistry({ money: {} }, policies);
    const calls = [call("a", "shop:refund"), call("b", "shop:read_policy"), call("c", "shop:lookup_order")];
    const { result } = await task(t, protocol, [{ calls }, { text: "done" }], { run: { registry } });
    assert.deepEqual(codes(resultsOf(result.checkpoint)), [["a", "POLICY_DENIED"], ["b", "APPROVAL_REQUIRED"], ["c", "ok"]]);
  });

  test(`${protocol}: max_steps stops before the call that would pass it, and is named (B-01, B-05)`, async (t) => {
    const { result, ran } = await task(t, protocol, [LOOKUP], { run: { limits: { ...LIMITS, max_steps: 2 } } });
    assert.equal(result.outcome, "budget_exhausted");
    assert.deepEqual([result.reason_code, result.limit, result.details], ["budget_exhausted", "max_steps", { reason: "reached", used: 2, max: 2 }]);
    assert.equal(ran.length, 1);
  });

  test(`${protocol}: max_cost_usd stops, and 0 stops before the first call (B-02, B-09)`, async (t) => {
    const reached = await task(t, protocol, [LOOKUP], { run: { limits: { ...LIMITS, max_cost_usd: 0.0006 } } });
    assert.deepEqual([reached.result.limit, reached.result.details], ["max_cost_usd", { reason: "reached", used: 0.0006, max: 0.0006 }]);
    const none = await task(t, protocol, [{ text: "never asked for" }], { run: { limits: { ...LIMITS, max_cost_usd: 0 } } });
    assert.deepEqual([none.result.outcome, none.server.requests.length], ["budget_exhausted", 0]);
  });

  for (const [what, run] of [["usage is missing", {}], ["the price is NaN", { costOfUsage: () => NaN }], ["the price throws", { costOfUsage: () => { throw new Error("no table"); } }], ["the price is negative", { costOfUsage: () => -1 }]]) {
    test(`${protocol}: a cost cap with an unknown cost stops: ${what} (B-06, K-05)`, async (t) => {
      const turn = what === "usage is missing" ? { ...LOOKUP, usage: null } : LOOKUP;
      const { result } = await task(t, protocol, [turn], { run });
      assert.equal(result.outcome, "budget_exhausted");
      assert.deepEqual([result.limit, result.details], ["max_cost_usd", { reason: "cost_unknown", used: null, max: 2 }]);
      assert.equal(result.steps[0].cost_usd, null);
    });
  }

  test(`${protocol}: an abort in the middle of a body ends the run cancelled, once, and does not throw (S-12)`, async (t) => {
    const stop = new AbortController();
    const reason = new Error("the user left");
    const onEvent = (event) => { if (event.type === "text_delta") stop.abort(reason); };
    const { result, run } = await task(t, protocol, [{ text: "one two three", transport: { stall: "before_finish" } }], { loop: { signal: stop.signal, onEvent } });
    assert.equal(result.outcome, "cancelled");
    assert.equal(result.cause, reason);
    assert.ok(result.checkpoint.revision >= 0);
    assert.equal(run.steps().length, 1);
  });

  test(`${protocol}: an abort during a tool waits for the tool, and the rest is not executed (S-12, L-03)`, async (t) => {
    const stop = new AbortController();
    let finished = false;
    const execute = async (_name, _input, { signal }) => {
      stop.abort();
      assert.equal(signal.aborted, true);
      await new Promise((resolve) => setTimeout(resolve, 10));
      finished = true;
      return "done";
    };
    const { result, ran } = await task(t, protocol, [THREE], { execute, loop: { signal: stop.signal } });
    assert.deepEqual([result.outcome, finished, ran.length], ["cancelled", true, 1]);
    assert.deepEqual(codes(resultsOf(result.checkpoint)), [["a", "ok"], ["b", "NOT_EXECUTED"], ["c", "NOT_EXECUTED"]]);
  });

  test(`${protocol}: a host runtime that ignores the abort does not hold the loop (S-11)`, async (t) => {
    const stop = new AbortController();
    const run = createAgentTaskRun({ task_id: "t", tenant_subject: "a", actor_ref: "u", limits: { ...LIMITS, max_cost_usd: null } });
    t.after(() => run[Symbol.dispose]());
    const runtime = run.guardRuntime({ executeTurn: () => { stop.abort(); return new Promise(() => undefined); }, executeTool: () => null });
    const result = await runGovernedAgentLoop({ runtime, ...run.hooks, model_profile: "m", messages: [{ role: "user", content: protocol }], signal: stop.signal });
    assert.equal(result.outcome, "cancelled");
  });

  test(`${protocol}: a rejected stream fails the run with its code, runs nothing, and says what it cost (S-20, T-03)`, async (t) => {
    const { result, ran, events } = await task(t, protocol, [{ ...LOOKUP, transport: { cut: "before_finish" } }]);
    assert.deepEqual([result.outcome, result.error.code, result.error.rule], ["failed", "STREAM_TRUNCATED", "S-20"]);
    assert.equal(ran.length, 0);
    assert.equal(result.steps[0].cost_usd, null);
    assert.ok(events.some((event) => event.type === "turn_rejected" && event.error.code === "STREAM_TRUNCATED"));
  });

  test(`${protocol}: a body that began and gave no usage has an unknown cost (T-03)`, async (t) => {
    for (const transport of [{ content_type: "text/html" }, { stall: 80 }]) {
      const { result } = await task(t, protocol, [{ text: "x", transport }], { limits: { provider: { idle_timeout_ms: 30 } } });
      assert.deepEqual([result.outcome, result.steps[0].cost_usd, result.spend.unknown_cost_steps], ["failed", null, 1]);
    }
  });

  test(`${protocol}: a class may cover every side-effecting tool that declares none (C-04)`, async (t) => {
    const registry = createApprovalClassRegistry({ anything: { default_for_side_effects: true } });
    const { result, ran } = await task(t, protocol, [{ calls: [call("a", "shop:refund"), call("b", "shop:lookup_order")] }, { text: "ok" }], { run: { registry } });
    assert.deepEqual(codes(resultsOf(result.checkpoint)), [["a", "APPROVAL_REQUIRED"], ["b", "ok"]]);
    assert.equal(ran.length, 1);
  });

  test(`${protocol}: an HTTP error costs a known 0 (T-03)`, async (t) => {
    const { result } = await task(t, protocol, [{ http: 503 }, { http: 503 }, { http: 503 }]);
    assert.deepEqual([result.outcome, result.error.code, result.steps[0].cost_usd], ["failed", "PROVIDER_UNAVAILABLE", 0]);
  });

  test(`${protocol}: a broken connection ends the run client_disconnect, provider's side (S-13)`, async (t) => {
    const broken = { ...LOOKUP, transport: { reset: "before_finish", pause_ms: 2 } };
    const { result } = await task(t, protocol, [broken, broken, broken], { run: { limits: { ...LIMITS, max_cost_usd: null } } });
    assert.deepEqual([result.outcome, result.details], ["client_disconnect", { side: "provider" }]);
  });

  test(`${protocol}: a failure that can pass is asked again after a wait, and nothing of it enters history (L-09, S-13)`, async (t) => {
    const turns = [{ http: 503 }, { ...LOOKUP, transport: { reset: "before_finish", pause_ms: 2 } }, LOOKUP, { http: 429, retry_after_s: 0.7 }, { text: "It is paid." }];
    const began = Date.now();
    const { result, events, ran, server } = await task(t, protocol, turns, { run: { limits: { ...LIMITS, max_cost_usd: null } } });
    assert.deepEqual([result.outcome, ran.length, server.requests.length, server.left], ["completed", 1, 5, 0]);
    const told = events.filter((event) => event.type === "turn_rejected");
    assert.deepEqual(told.map((event) => [event.error.code, event.attempt, event.retry_in_ms]), [["PROVIDER_UNAVAILABLE", 1, 500], ["PROVIDER_TRANSPORT", 2, 1000], ["PROVIDER_RATE_LIMITED", 1, 700]]);
    assert.ok(Date.now() - began >= 2200, "it waited");
    assert.deepEqual(server.requests[1].body, server.requests[0].body);
    assert.deepEqual(server.requests[2].body, server.requests[0].body);
    assert.deepEqual(result.steps.map(({ kind, status }) => [kind, status]), [["model_call", "failed"], ["model_call", "failed"], ["model_call", "completed"], ["tool_call", "completed"], ["model_call", "failed"], ["model_call", "completed"]]);
  });

  test(`${protocol}: an abort ends the wait before the next attempt (L-09, S-12)`, async (t) => {
    const stop = new AbortController();
    const onEvent = (event) => { if (event.type === "turn_rejected") setTimeout(() => stop.abort(new Error("enough")), 20); };
    const began = Date.now();
    const { result, server } = await task(t, protocol, [{ http: 429, retry_after_s: 50 }], { loop: { signal: stop.signal, onEvent } });
    assert.deepEqual([result.outcome, result.cause.message, server.requests.length], ["cancelled", "enough", 1]);
    assert.ok(Date.now() - began < 10_000);
  });

  test(`${protocol}: an input that does not fit its JSON Schema is told with its path and is never claimed (P-17, L-06)`, async (t) => {
    const bad = { calls: [call("a", "shop:refund", { order: "seven" }), call("b", "shop:refund", { order: 7.5 }), call("c", "shop:refund", { order: 7 }), call("d", "shop:read_policy", { anything: [] })] };
    const { result, ran } = await task(t, protocol, [bad, { text: "ok" }]);
    const results = resultsOf(result.checkpoint);
    assert.deepEqual(codes(results), [["a", "INVALID_TOOL_INPUT"], ["b", "INVALID_TOOL_INPUT"], ["c", "ok"], ["d", "ok"]]);
    assert.match(results.get("a").message, /order: .*integer/);
    assert.match(results.get("b").message, /order: .*integer/);
    assert.deepEqual(ran.map(({ context }) => context.call_id), ["c", "d"]);
    assert.deepEqual(result.checkpoint.receipts.map((receipt) => receipt.call_id), ["c"]);
  });

  test(`${protocol}: what every object inherits is no member (P-17)`, async (t) => {
    const input_schema = { type: "object", required: ["constructor", "__proto__"], additionalProperties: false, properties: { constructor: { type: "string" }, ["__proto__"]: { type: "number" } } };
    const tools = [{ name: "shop:refund", input_schema }];
    const good = JSON.parse('{"constructor":"x","__proto__":1}');
    const { result, ran } = await task(t, protocol, [{ calls: [call("a", "shop:refund", {}), call("b", "shop:refund", good)] }, { text: "ok" }], { loop: { tools } });
    assert.equal(codes(resultsOf(result.checkpoint))[0][1], "INVALID_TOOL_INPUT");
    assert.ok(ran.every(({ context }) => context.call_id === "b"));
  });

  test(`${protocol}: an input cannot make its schema compute for ever (P-17)`, async (t) => {
    const properties = { site: { type: "string", format: "url" }, list: { type: "array", uniqueItems: true } };
    const tools = [{ name: "shop:refund", input_schema: { type: "object", properties } }];
    const list = (length) => Array.from({ length }, (_, at) => at);
    // Either would take hours: the test then ends by its timeout.
    const calls = [{ site: `http://${"a".repeat(200)}!` }, { list: list(50_000) }, { list: list(3) }, { list: [1, 1] }];
    const { result } = await task(t, protocol, [{ calls: calls.map((input, at) => call(`c${at}`, "shop:refund", input)) }, { text: "ok" }], { loop: { tools } });
    const results = resultsOf(result.checkpoint);
    assert.deepEqual(codes(results), [["c0", "ok"], ["c1", "INVALID_TOOL_INPUT"], ["c2", "ok"], ["c3", "INVALID_TOOL_INPUT"]]);
    assert.match(results.get("c1").message, /more than 2000 items/);
  });

  test(`${protocol}: integers beyond 2^53 reach the tool that reads its text, and the provider again, digit for digit (N-04)`, async (t) => {
    const input_json = '{"id":9007199254740993,"__proto__":{"polluted":1}}';
    const turns = [{ calls: [{ id: "a", name: "shop:lookup_order", input_json }, { id: "b", name: "shop:refund", input_json: '{"id":9007199254740993}' }] }, { text: "ok" }];
    const toolPolicy = (name) => ({ side_effecting: false, big_integers: name === "shop:lookup_order" });
    const { result, ran, server } = await task(t, protocol, turns, { run: { toolPolicy } });
    assert.deepEqual(ran.map(({ name }) => name), ["shop:lookup_order"]);
    assert.equal(ran[0].context.input_json, '{"__proto__":{"polluted":1},"id":9007199254740993}');
    assert.ok(Object.hasOwn(ran[0].input, "__proto__"));
    assert.equal({}.polluted, undefined);
    assert.equal(resultsOf(result.checkpoint).get("b").code, "INVALID_TOOL_INPUT");
    assert.ok(result.checkpoint.history_json.includes("9007199254740993"));
    if (protocol === "chat") assert.equal(server.requests[1].body.messages.at(-3).tool_calls[1].function.arguments, '{"id":9007199254740993}');
    assert.equal(server.requests.length, 2);
  });

  test(`${protocol}: the key stands in no error, step, event, checkpoint or request body (P-10)`, async (t) => {
    const { result, events, server } = await task(t, protocol, [LOOKUP, { http: 401 }]);
    assert.equal(result.outcome, "failed");
    for (const text of [result, events, server.requests].map((value) => JSON.stringify(value))) assert.ok(!text.includes(KEY));
  });
}

test("a side-effecting tool leaves a receipt, chained and in the checkpoint (R-01..R-03)", async (t) => {
  const { result, events, ran } = await task(t, "chat", [{ calls: [call("a", "shop:refund", { order: 7 })] }, { text: "Refunded." }]);
  const [receipt] = result.checkpoint.receipts;
  assert.deepEqual([receipt.call_id, receipt.tool, receipt.outcome, receipt.effect], ["a", "shop:refund", "completed", "done"]);
  assert.equal(receipt.idempotency_key, ran[0].context.idempotency_key);
  assert.equal(events.filter((event) => event.type === "receipt").length, 1);
  assert.ok(result.steps[1].evidence_refs.includes(`receipt:${receipt.hash}`));
});

test("EffectNotStarted says that nothing happened; a plain throw that it may have (R-11)", async (t) => {
  for (const [thrown, effect] of [[new EffectNotStarted("already refunded"), "none"], [new Error("timeout"), "unknown"]]) {
    const { result } = await task(t, "chat", [{ calls: [call("a", "shop:refund")] }, { text: "ok" }], { execute: () => { throw thrown; } });
    const [receipt] = result.checkpoint.receipts;
    assert.deepEqual([receipt.outcome, receipt.effect, receipt.code], ["failed", effect, "TOOL_FAILED"]);
  }
});

const cycle = {};
cycle.self = cycle;
const OUTPUTS = [["a function", () => () => 1], ["a cycle", () => cycle], ["NaN", () => ({ x: NaN })], ["a bigint", () => 1n], ["a lone surrogate", () => "\udc00"], ["a Map", () => new Map([[1, 2]])]];
for (const [what, output] of OUTPUTS) {
  test(`a tool's output that is not JSON is TOOL_OUTPUT_INVALID, and the batch goes on: ${what}`, async (t) => {
    const execute = (_name, { order }) => (order === 1 ? output() : undefined);
    const { result, ran } = await task(t, "chat", [THREE, { text: "ok" }], { execute });
    const results = resultsOf(result.checkpoint);
    assert.deepEqual(codes(results), [["a", "TOOL_OUTPUT_INVALID"], ["b", "ok"], ["c", "ok"]]);
    assert.equal(results.get("b").output, null);
    assert.equal(ran.length, 3);
  });
}

test("a tool past its deadline is TOOL_TIMEOUT, its signal aborts, and the batch stops (R-11, L-03)", async (t) => {
  let signal;
  const execute = (_name, _input, context) => { signal = context.signal; return new Promise(() => undefined); };
  const { result } = await task(t, "chat", [THREE, { text: "ok" }], { execute, run: { toolPolicy: () => ({ side_effecting: false, timeout_s: 0.02 }) } });
  assert.deepEqual(codes(resultsOf(result.checkpoint)), [["a", "TOOL_TIMEOUT"], ["b", "NOT_EXECUTED"], ["c", "NOT_EXECUTED"]]);
  assert.equal(signal.aborted, true);
});

test("a tool reports what it cost; a cost that is no amount is refused (T-03)", async (t) => {
  const execute = (_name, { order }, { reportCost }) => {
    if (order === 3) reportCost(-1);
    reportCost(0.1);
    reportCost(0.2);
    return null;
  };
  const { result } = await task(t, "chat", [THREE, { text: "ok" }], { execute });
  assert.deepEqual(result.steps.filter(({ kind }) => kind === "tool_call").map(({ cost_usd }) => cost_usd), [0.3, 0.3, 0]);
  assert.equal(resultsOf(result.checkpoint).get("c").code, "TOOL_FAILED");
});

test("toolPolicy is asked once for each name (K-06)", async (t) => {
  const asked = [];
  await task(t, "chat", [THREE, { text: "ok" }], { run: { toolPolicy: (name) => { asked.push(name); return {}; } } });
  assert.deepEqual(asked, TOOLS.map(({ name }) => name));
});

test("onCheckpoint is awaited in order, and its throw stops the run with the checkpoint on the error (R-06, L-08)", async (t) => {
  const seen = [];
  await task(t, "chat", [LOOKUP, { text: "ok" }], { run: { onCheckpoint: async ({ revision }, cause) => { await null; seen.push([cause, revision]); } } });
  assert.deepEqual(seen, [["step", 1], ["stop", 2]]);
  const cause = new Error("disk full");
  await assert.rejects(task(t, "chat", [LOOKUP, { text: "never asked for" }], { run: { onCheckpoint: () => { throw cause; } } }), (error) => {
    assert.ok(TurnkeepError.is(error, "CHECKPOINT_NOT_SAVED"));
    assert.equal(error.cause, cause);
    assert.equal(resultsOf(error.checkpoint).get("call_a").ok, true);
    return true;
  });
});

test("a run is resumed from its checkpoint with spend and steps going on (B-08)", async (t) => {
  const first = await task(t, "chat", [LOOKUP], { run: { limits: { ...LIMITS, max_steps: 2 } } });
  const resume = JSON.parse(JSON.stringify(first.result.checkpoint));
  const run = createAgentTaskRun({ task_id: "task-1", tenant_subject: "acme", actor_ref: "user:7", limits: { ...LIMITS, max_cost_usd: null }, resume });
  t.after(() => run[Symbol.dispose]());
  const server = await serve(t, [{ text: "It is paid." }]);
  const runtime = run.guardRuntime(createFetchRuntime({ config: configFor("chat", server.url), apiKey: "" }));
  const result = await runGovernedAgentLoop({ runtime, ...run.hooks, model_profile: "main", tools: TOOLS, messages: run.resumeMessages() });
  assert.equal(result.outcome, "completed");
  assert.deepEqual(result.steps.map(({ step_id }) => step_id), ["step-0", "step-1", "step-2"]);
  assert.throws(() => createAgentTaskRun({ task_id: "task-1", tenant_subject: "acme", actor_ref: "u", limits: LIMITS, resume: { ...resume, revision: 99 } }), (error) => TurnkeepError.is(error, "CHECKPOINT_INCONSISTENT"));
});

const runtime = { executeTurn: async () => { throw new TypeError("not a provider"); }, executeTool: () => null };
const BASE = { model_profile: "m", messages: [{ role: "user", content: "hi" }] };
const OPTIONS = { task_id: "t", tenant_subject: "a", actor_ref: "u", limits: { ...LIMITS, max_cost_usd: null } };

test("hooks without guardRuntime, guardRuntime without hooks, and those of another run are RUNTIME_NOT_GUARDED (K-03)", async () => {
  const [one, two] = [createAgentTaskRun(OPTIONS), createAgentTaskRun(OPTIONS)];
  for (const options of [{ runtime, ...one.hooks }, { runtime: one.guardRuntime(runtime) }, { runtime: one.guardRuntime(runtime), ...two.hooks }])
    await assert.rejects(runGovernedAgentLoop({ ...BASE, ...options }), (error) => TurnkeepError.is(error, "RUNTIME_NOT_GUARDED"));
  one[Symbol.dispose]();
  two[Symbol.dispose]();
});

test("a guarded runtime runs nothing that the core has not permitted, and one run serves one loop (K-03)", async () => {
  const run = createAgentTaskRun(OPTIONS);
  const guarded = run.guardRuntime({ ...runtime, executeTurn: () => new Promise(() => undefined) });
  await assert.rejects(guarded.executeTool("shop:refund", {}, {}), (error) => TurnkeepError.is(error, "INVALID_STATE"));
  await assert.rejects(guarded.executeTurn({}, {}), (error) => TurnkeepError.is(error, "INVALID_STATE"));
  const first = runGovernedAgentLoop({ ...BASE, runtime: guarded, ...run.hooks });
  await assert.rejects(runGovernedAgentLoop({ ...BASE, runtime: guarded, ...run.hooks }), (error) => TurnkeepError.is(error, "INVALID_STATE"));
  run[Symbol.dispose]();
  assert.equal((await first).outcome, "cancelled");
  assert.throws(() => run.steps(), (error) => TurnkeepError.is(error, "INVALID_STATE"));
});

test("a host's runtime that throws is HOOK_FAILED with its cause, and the attempt is a step (K-03)", async () => {
  const run = createAgentTaskRun(OPTIONS);
  await assert.rejects(runGovernedAgentLoop({ ...BASE, runtime: run.guardRuntime(runtime), ...run.hooks }), (error) => {
    assert.ok(TurnkeepError.is(error, "HOOK_FAILED"));
    assert.match(error.cause.message, /not a provider/);
    assert.deepEqual(error.checkpoint.steps.map(({ status }) => status), ["failed"]);
    return true;
  });
  run[Symbol.dispose]();
});

test("a turn of a host's own is checked: calls that differ between its two lists never run (P-01, K-03)", async () => {
  const provider = { protocol: "chat", model_profile: "m", model: "m", response_id: null };
  const turn = {
    status: "tool_request", assistant_text: "", usage: null, quirks: {}, dropped_calls: 0, provider, finish_reason: { unified: "tool_calls", raw: "tool_calls" },
    requested_tools: [{ id: "a", name: "shop:refund", input: { order: 1 } }], content_blocks: [{ type: "tool_call", id: "a", name: "shop:refund", input: { order: 2 } }],
  };
  for (const given of [turn, { ...turn, requested_tool: {} }, "no turn", undefined, { ...turn, content_blocks: [{ ...turn.content_blocks[0], input: { order: NaN } }] }]) {
    const run = createAgentTaskRun(OPTIONS);
    const guarded = run.guardRuntime({ executeTurn: async () => given, executeTool: () => assert.fail("ran") });
    const result = await runGovernedAgentLoop({ ...BASE, runtime: guarded, ...run.hooks, tools: TOOLS });
    assert.equal(result.outcome, "failed", JSON.stringify(given));
    run[Symbol.dispose]();
  }
});

test("a loop without a task run has no budgets, and still admits batches whole (L-01, K-04)", async (t) => {
  const server = await serve(t, [THREE, { text: "ok" }]);
  const http = createFetchRuntime({ config: configFor("chat", server.url, { prices: undefined }), apiKey: "", tools: {} });
  const bare = { executeTurn: http.executeTurn, executeTool: () => assert.fail("ran") };
  const result = await runGovernedAgentLoop({ ...BASE, model_profile: "main", runtime: bare, tools: TOOLS, max_tool_calls_per_session: 2 });
  assert.equal(result.outcome, "completed");
  assert.deepEqual(codes(resultsOf(result.checkpoint)), [["a", "LIMIT_EXCEEDED"], ["b", "LIMIT_EXCEEDED"], ["c", "LIMIT_EXCEEDED"]]);
});

test("limits that are no amounts are refused at creation, each with its field (B-09)", () => {
  for (const [limits, code, field] of [
    [{ ...LIMITS, max_steps: -1 }, "LIMIT_INVALID", "limits.max_steps"], [{ ...LIMITS, max_cost_usd: NaN }, "LIMIT_INVALID", "limits.max_cost_usd"],
    [{ ...LIMITS, max_duration_s: Infinity }, "LIMIT_INVALID", "limits.max_duration_s"], [{ ...LIMITS, max_steps: 10n }, "LIMIT_INVALID", "limits.max_steps"],
    [{ max_steps: 1, max_cost_usd: 1 }, "LIMIT_INVALID", "limits.max_duration_s"],
  ]) {
    assert.throws(() => createAgentTaskRun({ ...OPTIONS, limits }), (error) => TurnkeepError.is(error, code) && error.at.field.endsWith(field.split(".")[1]));
  }
  assert.throws(() => createAgentTaskRun({ ...OPTIONS, packLimits: { max_steps: 10 } }), (error) => TurnkeepError.is(error, "LIMIT_ABOVE_CEILING"));
});

test("a cost cap without any price stops before the first call (B-06)", async () => {
  const run = createAgentTaskRun({ ...OPTIONS, limits: LIMITS });
  const result = await runGovernedAgentLoop({ ...BASE, runtime: run.guardRuntime({ ...runtime, executeTurn: () => assert.fail("called") }), ...run.hooks });
  assert.deepEqual([result.outcome, result.limit, result.details.reason, result.steps.length], ["budget_exhausted", "max_cost_usd", "cost_unknown", 0]);
  run[Symbol.dispose]();
});

test("a signal that has already aborted ends the run before any call; listeners do not pile up on it", async () => {
  const stop = new AbortController();
  stop.abort(new Error("too late"));
  const run = createAgentTaskRun(OPTIONS);
  const result = await runGovernedAgentLoop({ ...BASE, runtime: run.guardRuntime({ ...runtime, executeTurn: () => assert.fail("called") }), ...run.hooks, signal: stop.signal });
  assert.deepEqual([result.outcome, result.cause.message], ["cancelled", "too late"]);
  run[Symbol.dispose]();
});

test("a listener of events that throws ends the loop HOOK_FAILED with the checkpoint", async (t) => {
  const cause = new Error("screen is gone");
  const onEvent = (event) => { if (event.type === "tool_ended") throw cause; };
  await assert.rejects(task(t, "chat", [LOOKUP], { loop: { onEvent } }), (error) => {
    assert.ok(TurnkeepError.is(error, "HOOK_FAILED"));
    assert.equal(error.cause, cause);
    assert.ok(error.checkpoint.steps.length >= 1);
    return true;
  });
});

test("what a tool throws may be anything", async (t) => {
  for (const [thrown, message] of [["plain words", /plain words/], [undefined, /the tool threw/], [Object.assign(Object.create(null), { message: 1 }), /the tool threw/], [new Error("bad \ud800"), /bad \?/]]) {
    const { result } = await task(t, "chat", [LOOKUP, { text: "ok" }], { execute: () => { throw thrown; } });
    const told = resultsOf(result.checkpoint).get("call_a");
    assert.equal(told.code, "TOOL_FAILED");
    assert.match(told.message, message);
  }
});

test("a run's remaining duration cuts the model call in flight (B-10, S-23)", async (t) => {
  const { result } = await task(t, "chat", [{ text: "x", transport: { stall: 10 } }], { run: { limits: { ...LIMITS, max_duration_s: 0.05 } } });
  assert.deepEqual([result.outcome, result.limit, result.details.reason], ["budget_exhausted", "max_duration_s", "reached"]);
});

test("a schema that is none is said by name, before anything is sent (P-17)", async (t) => {
  const tools = [{ name: "shop:refund", input_schema: { $defs: { a: { $id: "x:1" }, b: { $id: "x:1" } } } }];
  await assert.rejects(task(t, "chat", [{ text: "x" }], { loop: { tools } }), (error) => TurnkeepError.is(error, "CONFIGURATION_ERROR") && error.at.field === "tools.shop:refund.input_schema");
});

test("a JSON Schema with a misspelt or misshapen keyword is said by its place, one with unknown keywords is taken (P-17)", async (t) => {
  const outcome = async (input_schema) => {
    const tools = [{ name: "shop:refund", description: "x", input_schema }];
    try {
      return (await task(t, "chat", [{ text: "x" }], { loop: { tools } })).result?.outcome ?? "ran";
    } catch (error) {
      return [error.code, error.at.field, error.cause?.message];
    }
  };
  const wrong = [
    [{ type: "objekt" }, /^type: /], [{ type: [] }, /^type: /], [{ type: "object", properties: { order: { type: "int" } } }, /^properties\.order\.type: /],
    [{ required: "order" }, /^required: /], [{ required: [1] }, /^required\.0: /], [{ items: { enum: "x" } }, /^items\.enum: /], [{ anyOf: [] }, /^anyOf: /],
    [{ properties: { a: 1 } }, /^properties\.a: /], [{ minimum: "1" }, /^minimum: /], [{ multipleOf: 0 }, /^multipleOf: /], [{ maxLength: -1 }, /^maxLength: /], [{ additionalProperties: "no" }, /^additionalProperties: /], [3, /./],
  ];
  for (const [schema, place] of wrong) {
    const [code, field, cause] = await outcome(schema);
    assert.deepEqual([code, field], ["CONFIGURATION_ERROR", "tools.shop:refund.input_schema"], JSON.stringify(schema));
    assert.match(cause, place, JSON.stringify(schema));
  }
  const right = [
    {}, { type: ["object", "null"], "x-order": 1, title: 5, description: "d", default: {}, examples: [1] },
    { type: "object", properties: { type: { type: "string" }, required: { const: 1 } }, required: [], additionalProperties: false, $defs: { a: true } },
    { $schema: "https://json-schema.org/draft/2020-12/schema", $ref: "#/$defs/a", $defs: { a: { oneOf: [{ type: "string", minLength: 1 }, { not: {} }] } } },
    { items: [{ type: "string" }], uniqueItems: true, format: "email", pattern: "^a", exclusiveMinimum: 1.5 },
  ];
  for (const schema of right) assert.equal(typeof await outcome(schema), "string", JSON.stringify(schema));
});
