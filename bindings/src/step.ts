/** The step record's schema: the core's own table behind the face of a zod schema and of a Standard Schema (T-01, K-02). */
import type { AgentTaskStepRecord, AgentTaskStepRecordSchema as PublicSchema } from "../types/index.js";
import { TurnkeepError } from "./errors.js";
import { encode } from "./json.js";
import { accepted } from "./raise.js";
import { callCore } from "./wasm.js";

function parse(value: unknown): AgentTaskStepRecord {
  const text = encode(value, "step");
  return accepted(callCore((border) => border.check_step(text))).value as AgentTaskStepRecord;
}

function safeParse(value: unknown): ReturnType<typeof PublicSchema.safeParse> {
  try {
    return { success: true, data: parse(value) };
  } catch (error) {
    if (error instanceof TurnkeepError && error.blame === "caller") return { success: false, error };
    throw error;
  }
}

/** Strict: unknown keys are refused (types/task.d.ts). */
export const AgentTaskStepRecordSchema: typeof PublicSchema = Object.freeze({
  parse,
  safeParse,
  "~standard": Object.freeze({
    version: 1 as const,
    vendor: "turnkeep",
    validate: (value: unknown) => {
      const read = safeParse(value);
      return read.success ? { value: read.data } : { issues: [{ message: read.error.message }] };
    },
  }),
});
