import type { z } from "zod";
import type { AgentTaskStepRecord } from "./task.js";
/**
 * The schema of a step record as a zod 4 schema (K-02). Strict object. zod is a peer of this entry only.
 *
 * @example
 * const steps = z.array(AgentTaskStepRecordSchema).parse(JSON.parse(text));
 */
export const AgentTaskStepRecordSchema: z.ZodType<AgentTaskStepRecord>;
