// What must not compile, and what must.
import { createAgentTaskRun, runAgent, tool, TurnkeepError, type AgentEvent, type AgentTaskResult, type ExecuteTurnOutput } from "turnkeep";
import { createScriptedProvider, startScriptedServer } from "turnkeep/testing";
import { AgentTaskStepRecordSchema } from "turnkeep/zod";
import { z } from "zod";

declare const r: AgentTaskResult, t: ExecuteTurnOutput, ev: AgentEvent;

if (t.status === "reply") { const none: readonly [] = t.requested_tools; void none; }
// @ts-expect-error only tool_request promises a first call
t.requested_tools[0].name;
if (t.status === "tool_request") { const first: string = t.requested_tools[0].name; void first; }
// @ts-expect-error limit only on budget_exhausted
r.limit;
if (ev.type === "stopped" && ev.result.outcome === "failed") { const rule: string = ev.result.error.rule; void rule; }
if (ev.type === "receipt") { const hash: string = ev.receipt.hash; void hash; }
// @ts-expect-error side_effecting is required
tool({ description: "x", input: z.object({}), execute: () => 1 });
tool({ description: "x", side_effecting: false, input: z.object({ n: z.number() }), execute: (input) => { const n: number = input.n; return n; } });
tool({ description: "x", side_effecting: false, input: { type: "object" }, execute: (input) => input["k"] ?? null });
// @ts-expect-error no such member of the schema
tool({ description: "x", side_effecting: false, input: z.object({ n: z.number() }), execute: (input) => input.m });
// @ts-expect-error a money cap, or null, must be said
runAgent({ model: { protocol: "chat", model: "m", base_url: "u" }, prompt: "hi", limits: {} });
// @ts-expect-error the contract's names only
createAgentTaskRun({ taskId: "x", tenant_subject: "t", actor_ref: "a", limits: {} });
// @ts-expect-error errors are ours to make
new TurnkeepError();

export async function f(): Promise<void> {
  try { await Promise.resolve(); } catch (x) {
    if (TurnkeepError.is(x, "HOOK_FAILED")) { const code: "HOOK_FAILED" = x.code; void code; }
    if (TurnkeepError.is(x)) x.checkpoint?.revision;
  }
  const p = createScriptedProvider([{ calls: [{ name: "a", input: {} }] }, { text: "done" }]);
  await using run = runAgent({ model: { protocol: "chat", model: "m", base_url: "u" }, prompt: "hi", limits: { max_cost_usd: null }, fetch: p.fetch });
  const step = AgentTaskStepRecordSchema.parse({}); void step.step_id; void run;
  // @ts-expect-error no such fault
  await startScriptedServer({ name: "x", turns: [{ text: "x", transport: { crash: true } }] });
}
