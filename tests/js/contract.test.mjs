// The small exported values: configuration, prices, classes, the gate, step records, errors.
import assert from "node:assert/strict";
import test from "node:test";
import {
  AgentTaskStepRecordSchema, createApprovalClassRegistry, createRequestUserGate, EffectNotStarted, FREE, readAgentRuntimeConfig, readTrustedModelCostProfile,
  TurnkeepError, usageCostUsd,
} from "turnkeep";
import { AgentTaskStepRecordSchema as ZodSchema } from "turnkeep/zod";
import { configFor, PRICES } from "./lib/shop.mjs";

const USAGE = { input_tokens: 1_000_000, cached_input_tokens: null, cache_write_tokens: null, output_tokens: 0, reasoning_tokens: null, raw_json: "{}" };
const is = (code, field) => (error) => TurnkeepError.is(error, code) && (field === undefined || error.at.field === field);

test("a configuration is checked, frozen and read once; unknown keys are refused (K-04)", () => {
  const config = readAgentRuntimeConfig(configFor("chat", "https://p.invalid/v1"));
  assert.ok(Object.isFrozen(config.models.main));
  assert.equal(readAgentRuntimeConfig(config), config);
  assert.throws(() => readAgentRuntimeConfig({ models: {}, modles: {} }), is("CONFIGURATION_ERROR"));
  assert.throws(() => readAgentRuntimeConfig({ models: {}, limits: { max_steps: NaN } }), is("LIMIT_INVALID"));
  for (const value of [undefined, null, 1, "x", [], () => 1]) assert.throws(() => readAgentRuntimeConfig(value), is("CONFIGURATION_ERROR"));
  const cyclic = { models: {} };
  cyclic.models.self = cyclic;
  assert.throws(() => readAgentRuntimeConfig(cyclic), is("INVALID_INPUT", "agent_runtime"));
});

test("prices are the configured ones; unknown usage or price costs null (B-06, B-07)", () => {
  const config = readAgentRuntimeConfig({ models: { ...configFor("chat", "https://p.invalid/v1").models, dear: { protocol: "chat", model: "m", base_url: "https://p.invalid/v1" } } });
  assert.deepEqual(readTrustedModelCostProfile(config, "main"), PRICES);
  assert.equal(readTrustedModelCostProfile(config, "dear"), null);
  for (const name of ["nobody", "constructor", "__proto__"]) assert.throws(() => readTrustedModelCostProfile(config, name), is("MODEL_PROFILE_UNKNOWN"));
  assert.equal(usageCostUsd(USAGE, PRICES), 3);
  assert.equal(usageCostUsd(USAGE, FREE), 0);
  for (const [usage, prices] of [[null, PRICES], [USAGE, null], [{ ...USAGE, input_tokens: null }, PRICES], [{ ...USAGE, input_tokens: NaN }, PRICES], [{ ...USAGE, input_tokens: -1 }, PRICES], [undefined, PRICES]])
    assert.equal(usageCostUsd(usage, prices), null);
});

test("classes get their defaults, and the gate has nothing to decide in this release (C-01, G-08)", async () => {
  const registry = createApprovalClassRegistry({ money: { expires_in_s: 600, title: "Moves money" }, mail: {} });
  assert.deepEqual(registry.names().toSorted?.() ?? [...registry.names()].sort(), ["mail", "money"]);
  assert.deepEqual(registry.get("money"), { auto_approve_allowed: false, expires_in_s: 600, distinct_approver: false, default_for_side_effects: false });
  assert.equal(registry.get("constructor"), undefined);
  assert.deepEqual(createApprovalClassRegistry(undefined).names(), []);
  assert.throws(() => createApprovalClassRegistry({ money: { expires: 1 } }), is("CONFIGURATION_ERROR"));
  const gate = createRequestUserGate({ registry });
  const answer = await gate.resolve({ approval_id: "x", action_hash: "sha256:0", tenant_subject: "acme", decision: "approve" });
  assert.deepEqual([answer.ok, answer.error.code, answer.error.rule], [false, "APPROVAL_NOT_FOUND", "G-08"]);
  assert.deepEqual(await gate.pending({ tenant_subject: "acme", task_id: "t" }), []);
  assert.equal(await gate.get("x", "acme"), undefined);
});

const STEP = {
  step_id: "step-1", index: 1, kind: "tool_call", intent_text: "", action_summary: "tool(x)", status: "completed", evidence_refs: ["code:X"], cost_usd: null,
  started_at: "2026-01-01T00:00:00.000Z", ended_at: "2026-01-01T00:00:01.000Z", replayed: false,
};
const BAD = [
  { ...STEP, colour: "red" }, { ...STEP, kind: "call" }, { ...STEP, status: "done" }, { ...STEP, index: -1 }, { ...STEP, index: 1.5 }, { ...STEP, cost_usd: -1 }, { ...STEP, cost_usd: "1" },
  { ...STEP, started_at: "yesterday" }, { ...STEP, replayed: null }, { ...STEP, evidence_refs: [1] }, { ...STEP, step_id: "1" }, { ...STEP, step_id: undefined }, { ...STEP, intent_text: 1 }, null, [], "x",
];

test("the step record: the core's table and the zod schema agree (K-02, T-01)", async () => {
  for (const schema of [AgentTaskStepRecordSchema, ZodSchema]) {
    assert.deepEqual(schema.parse(STEP), STEP);
    assert.deepEqual(schema.safeParse({ ...STEP, cost_usd: 0.25 }).data.cost_usd, 0.25);
    assert.deepEqual((await schema["~standard"].validate(STEP)).value, STEP);
    for (const bad of BAD) {
      assert.equal(schema.safeParse(bad).success, false, JSON.stringify(bad));
      assert.throws(() => schema.parse(bad));
      assert.ok((await schema["~standard"].validate(bad)).issues.length > 0);
    }
  }
  for (const name of Object.keys(STEP)) {
    const { [name]: _left, ...rest } = STEP;
    assert.equal(AgentTaskStepRecordSchema.safeParse(rest).success, false, name);
    assert.equal(ZodSchema.safeParse(rest).success, false, name);
  }
});

test("an error is data: its record, its page, its place in a cause chain", () => {
  const error = (() => { try { return readAgentRuntimeConfig(1); } catch (thrown) { return thrown; } })();
  assert.ok(error instanceof Error);
  assert.equal(error.name, "TurnkeepError");
  assert.equal(error.docs, "docs/errors.md#configuration_error");
  assert.deepEqual(Object.keys(JSON.parse(JSON.stringify(error))).sort(), ["at", "blame", "code", "details", "message", "reason", "retriable", "rule"]);
  const wrapped = new Error("outer", { cause: new Error("inner", { cause: error }) });
  assert.equal(TurnkeepError.find(wrapped), error);
  assert.equal(TurnkeepError.find(new Error("other")), undefined);
  assert.equal(TurnkeepError.is(wrapped), false);
  assert.equal(TurnkeepError.is(error, "LIMIT_INVALID"), false);
  assert.equal(new EffectNotStarted("no").message, "no");
});
