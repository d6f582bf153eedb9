/** The step record as a real zod 4 schema (K-02). A test holds it equal to the core's table. Imports nothing of the core. */
import { z } from "zod";
import type { AgentTaskStepRecord } from "../types/index.js";

/** Strict object (types/zod.d.ts). */
export const AgentTaskStepRecordSchema: z.ZodType<AgentTaskStepRecord> = z.strictObject({
  step_id: z.string().regex(/^step-(0|[1-9][0-9]*)$/),
  index: z.int().min(0),
  kind: z.enum(["model_call", "tool_call"]),
  intent_text: z.string(),
  action_summary: z.string(),
  status: z.enum(["completed", "failed", "denied", "expired"]),
  evidence_refs: z.array(z.string()),
  cost_usd: z.number().min(0).nullable(),
  started_at: z.iso.datetime(),
  ended_at: z.iso.datetime(),
  replayed: z.boolean(),
});
