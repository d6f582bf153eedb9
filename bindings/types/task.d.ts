import type { Digest, HostPorts, StandardSchema, Timestamp } from "./base.js";
import type { ApprovalClassRegistry, PendingApproval, RequestUserGate } from "./approval.js";
import type { AgentTaskLimits, LimitName, PackLimits } from "./config.js";
import type { ErrorRecord, PolicyCode } from "./errors.js";
import type { AgentLoopHooks, AgentRuntime } from "./loop.js";
import type { FinishReason, Message, Usage } from "./turn.js";

/** What a tool's manifest declares. */
export interface ToolPolicy {
  /** A person decides about each call. This release has no decisions yet: such a call is refused `APPROVAL_REQUIRED` and never runs. */
  readonly approval_class?: string | undefined;
  /** Absent counts as true. */
  readonly side_effecting?: boolean | undefined;
  /** Default 120 seconds; past it the call is `TOOL_TIMEOUT`. */
  readonly timeout_s?: number | undefined;
  /** The tool reads `context.input_json` itself when integers pass 2^53-1 (N-04). Default false. */
  readonly big_integers?: boolean | undefined;
}

/** Options of `createAgentTaskRun`. */
export interface CreateAgentTaskRunOptions {
  readonly task_id: string;
  /** Who owns the run and its data. Any non-empty string of at most 512 UTF-8 bytes. */
  readonly tenant_subject: string;
  /** On whose behalf the run acts. */
  readonly actor_ref: string;
  readonly limits: AgentTaskLimits;
  /** Ceilings: a limit above one is `LIMIT_ABOVE_CEILING` (B-09). */
  readonly packLimits?: PackLimits | undefined;
  /** Without a gate a call that must be asked for is denied. */
  readonly gate?: RequestUserGate | undefined;
  readonly registry?: ApprovalClassRegistry | undefined;
  /**
   * Called once for each name of the loop's `tools`. `undefined`: its calls are `TOOL_NOT_FOUND`. A throw denies them.
   * Without it every tool is side-effecting and has no class (K-06).
   */
  readonly toolPolicy?: ((name: string) => ToolPolicy | undefined) | undefined;
  /**
   * US dollars of one model call; `null`, NaN, infinite, negative or a throw = unknown (K-05).
   * Not called when usage is missing: that is unknown at once.
   */
  readonly costOfUsage?: ((usage: Usage, call: { readonly model_profile: string }) => number | null) | undefined;
  /** Awaited after every step, before the next model call: resolve when it is durable. A throw stops the run with `CHECKPOINT_NOT_SAVED`. */
  readonly onCheckpoint?: ((checkpoint: AgentTaskCheckpoint, cause: "claim" | "step" | "stop") => unknown) | undefined;
  /** Refused unless it verifies. Continues spend, steps and elapsed time (B-08). */
  readonly resume?: AgentTaskCheckpoint | undefined;
  /** On resume: US dollars of steps whose cost was unknown, by `step_id` (T-03). */
  readonly settle_cost_usd?: { readonly [step_id: string]: number } | undefined;
  readonly host?: HostPorts | undefined;
}

/** One bounded task. Free it with `using`, or with `run[Symbol.dispose]()`. */
export interface AgentTaskRun {
  readonly task_id: string;
  readonly tenant_subject: string;
  /** Same shape, every call governed. One loop at a time; a call the core has not permitted is `INVALID_STATE`. */
  guardRuntime(runtime: AgentRuntime): AgentRuntime;
  /** To be spread into `runGovernedAgentLoop`, together with `guardRuntime` (K-03). */
  readonly hooks: AgentLoopHooks;
  /** In start order, a copy (T-02). */
  steps(): readonly AgentTaskStepRecord[];
  /** History to start the loop with; `[]` for a new run. */
  resumeMessages(): readonly Message[];
  spend(): Spend;
  checkpoint(): AgentTaskCheckpoint;
  /** Frees the machine in wasm memory. Idempotent; a running loop ends `cancelled` first. A finalizer is the backstop. */
  [Symbol.dispose](): void;
}

/**
 * Makes a bounded task. Synchronous: no I/O happens before the loop starts (K-04).
 *
 * @throws LIMIT_INVALID, LIMIT_ABOVE_CEILING, CONFIGURATION_ERROR, INVALID_INPUT, CHECKPOINT_*, CHAIN_*
 * @example
 * using run = createAgentTaskRun({
 *   task_id: "t-1", tenant_subject: "acme", actor_ref: "user:7",
 *   limits: { max_steps: 40, max_cost_usd: 2, max_duration_s: 600 },
 *   costOfUsage: (usage) => usageCostUsd(usage, prices),
 * });
 * const result = await runGovernedAgentLoop({ ...base, runtime: run.guardRuntime(runtime), ...run.hooks });
 */
export function createAgentTaskRun(options: CreateAgentTaskRunOptions): AgentTaskRun;

export type StepStatus = "completed" | "failed" | "denied" | "expired";
/** One model call or one tool call (T-01). */
export interface AgentTaskStepRecord {
  /** `step-<index>`. */
  readonly step_id: string;
  /** From 0, in start order. */
  readonly index: number;
  readonly kind: "model_call" | "tool_call";
  /** Assistant text before the call, at most 500 characters. Untrusted. */
  readonly intent_text: string;
  /** At most 200 characters. */
  readonly action_summary: string;
  readonly status: StepStatus;
  /** `receipt:<hash>`, `code:<CODE>`, `quirk:<name>`. */
  readonly evidence_refs: readonly string[];
  /** US dollars; null when price or usage is unknown (T-03). */
  readonly cost_usd: number | null;
  readonly started_at: Timestamp;
  readonly ended_at: Timestamp;
  readonly replayed: boolean;
}
/**
 * Has the face of a zod schema and is a Standard Schema; `turnkeep/zod` exports the real one (K-02). Strict: unknown keys are refused.
 *
 * @throws `parse`: INVALID_INPUT
 * @example
 * const step = AgentTaskStepRecordSchema.parse(JSON.parse(line));
 */
export const AgentTaskStepRecordSchema: StandardSchema<AgentTaskStepRecord> & {
  parse(value: unknown): AgentTaskStepRecord;
  safeParse(value: unknown): { readonly success: true; readonly data: AgentTaskStepRecord } | { readonly success: false; readonly error: Error };
};

/** What a run has used so far. */
export interface Spend {
  /** US dollars: the sum of the known costs. */
  readonly cost_usd: number;
  /** Steps with an unknown cost: `cost_usd` is then a lower bound. */
  readonly unknown_cost_steps: number;
  readonly steps: number;
  readonly tool_calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Active seconds. */
  readonly elapsed_s: number;
}

/** Names one run. */
export interface RunRef {
  readonly tenant_subject: string;
  readonly task_id: string;
}
/** Evidence of one executed side-effecting call, hash-chained (R-01..R-03). */
export interface Receipt extends RunRef {
  readonly v: 1;
  readonly seq: number;
  readonly call_id: string;
  readonly attempt: number;
  readonly tool: string;
  readonly action_hash: Digest;
  readonly definition_digest: Digest | null;
  readonly idempotency_key: string;
  readonly outcome: "completed" | "failed";
  /** */
  readonly effect: "done" | "none" | "unknown";
  readonly code: PolicyCode | null;
  readonly output_json: string | null;
  readonly output_ref: string | null;
  readonly output_hash: Digest;
  readonly approval_id: string | null;
  readonly started_at: Timestamp;
  readonly ended_at: Timestamp;
  readonly prev: Digest;
  readonly hash: Digest;
}
/** An effect that was started and whose end nobody saw. */
export interface EffectInDoubt {
  readonly call_id: string;
  readonly attempt: number;
  readonly tool: string;
  readonly input_json: string;
  readonly action_hash: Digest;
  readonly idempotency_key: string;
  readonly claimed_at: Timestamp;
}
export interface LogHead {
  readonly seq: number;
  readonly hash: Digest;
}
/** The portable snapshot of a run. Plain JSON: save it in any way that gives the same value back. */
export interface AgentTaskCheckpoint extends RunRef {
  readonly schema_version: 1;
  readonly actor_ref: string;
  /** Grows with every checkpoint of the run: compare-and-set on it. */
  readonly revision: number;
  readonly steps: readonly AgentTaskStepRecord[];
  readonly receipts: readonly Receipt[];
  readonly spend: Spend;
  /** `Message[]`, canonical. */
  readonly history_json: string;
  readonly pending: { readonly turn_json: string | null; readonly approvals: readonly PendingApproval[]; readonly claims: readonly EffectInDoubt[] };
  readonly autonomy: AutonomyLevel;
  readonly head: LogHead;
  readonly digest: Digest;
}
export type AutonomyLevel = "observe" | "ask_all" | "ask_gated" | "auto";

interface ResultBase {
  readonly tenant_subject: string;
  readonly task_id: string;
  /** The last assistant text. Untrusted. */
  readonly final_text: string;
  readonly steps: readonly AgentTaskStepRecord[];
  readonly spend: Spend;
  readonly checkpoint: AgentTaskCheckpoint;
}
/**
 * How a run ended (L-08). Narrow on `outcome`.
 *
 * @example
 * if (result.outcome === "budget_exhausted") console.log(result.limit, result.details.used, "of", result.details.max);
 */
export type AgentTaskResult =
  | (ResultBase & { readonly outcome: "completed"; readonly finish_reason: FinishReason })
  | (ResultBase & { readonly outcome: "incomplete" | "refused"; readonly finish_reason: FinishReason; readonly dropped_calls: number })
  | (ResultBase & {
      readonly outcome: "budget_exhausted";
      readonly reason_code: "budget_exhausted";
      readonly limit: LimitName;
      /** `used` is null when it is the cost that is not known (B-06). */
      readonly details: { readonly reason: "reached" | "cost_unknown"; readonly used: number | null; readonly max: number };
    })
  | (ResultBase & { readonly outcome: "cancelled"; /** `signal.reason`. */ readonly cause: unknown })
  | (ResultBase & { readonly outcome: "client_disconnect"; readonly details: { readonly side: "consumer" | "provider" } })
  | (ResultBase & { readonly outcome: "failed"; readonly error: ErrorRecord });
export type Outcome = AgentTaskResult["outcome"];
