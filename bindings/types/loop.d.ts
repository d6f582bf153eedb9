import type { AgentTools } from "./agent.js";
import type { Approval } from "./approval.js";
import type { Awaitable, Digest, FetchLike, HostAbortSignal, HostPorts, JsonObject, Secret } from "./base.js";
import type { AgentRuntimeConfig, LimitName } from "./config.js";
import type { ErrorRecord } from "./errors.js";
import type { AgentTaskResult, AgentTaskRun, AgentTaskStepRecord, Receipt, RunRef, Spend } from "./task.js";
import type { ExecuteTurnInput, ExecuteTurnOutput, Message, RequestedTool, ToolDefinition, ToolResult, Turn, TurnDelta, TurnOptions } from "./turn.js";

/** What a tool is told about its call. */
export interface ToolCallContext {
  readonly tenant_subject: string;
  readonly task_id: string;
  readonly step_id: string;
  readonly call_id: string;
  /** Stable over crashes and resumes: pass it to the API you call. */
  readonly idempotency_key: string;
  readonly action_hash: Digest;
  /** The exact canonical text that was hashed (N-02): integers beyond 2^53-1 keep their digits in it. */
  readonly input_json: string;
  readonly approval: Approval | null;
  /** US dollars this call cost; calls add up; without it a tool step costs 0 (T-03). @throws INVALID_INPUT for negative, NaN, infinite */
  readonly reportCost: (usd: number) => void;
  /** Aborted by the loop's signal and at the tool's deadline. Not by budgets. */
  readonly signal: HostAbortSignal;
}

/**
 * What a host brings; `createFetchRuntime` makes one. Throwing from `executeTool` is L-03; a value that is not JSON is `TOOL_OUTPUT_INVALID`.
 *
 * @example
 * const runtime: AgentRuntime = {
 *   executeTurn: (input, options) => http.executeTurn(input, options),
 *   executeTool: (name, input, context) => tools[name](input, context.idempotency_key),
 * };
 */
export interface AgentRuntime {
  executeTurn(input: ExecuteTurnInput, options: TurnOptions): Promise<ExecuteTurnOutput>;
  executeTool(name: string, input: JsonObject, context: ToolCallContext): Awaitable<unknown>;
}

/** Options of `createFetchRuntime`. */
export interface FetchRuntimeOptions {
  readonly config: AgentRuntimeConfig;
  /** `""` sends no key: local servers. */
  readonly apiKey: Secret | ((model_profile: string) => Awaitable<string>);
  readonly tools?: AgentTools | undefined;
  readonly fetch?: FetchLike | undefined;
  /** More headers for each request; `authorization`, `x-api-key`, `anthropic-version` and `content-type` are refused here. */
  readonly headers?: ((model_profile: string) => Awaitable<{ readonly [name: string]: string }>) | undefined;
  readonly host?: HostPorts | undefined;
}
/**
 * A runtime over `fetch`: sends what the core says, feeds each chunk of the answer to it (S-01..S-24), runs `tools`.
 * Its `executeTurn` rejects with a `TurnkeepError` of blame `provider` for a response that breaks the protocol.
 *
 * @throws CONFIGURATION_ERROR
 * @example
 * const runtime = createFetchRuntime({ config, apiKey: () => process.env.PROVIDER_KEY ?? "" });
 */
export function createFetchRuntime(options: FetchRuntimeOptions): AgentRuntime;

/** Options of `runGovernedAgentLoop`. */
export interface GovernedAgentLoopOptions extends Partial<AgentLoopHooks> {
  readonly runtime: AgentRuntime;
  readonly messages: readonly Message[];
  readonly model_profile: string;
  readonly tools?: readonly ToolDefinition[] | undefined;
  readonly system?: string | undefined;
  /** Default: the run's `task_id`, else random. */
  readonly session_id?: string | undefined;
  /** Default true. */
  readonly stream?: boolean | undefined;
  /** Ends the loop with `cancelled`; it does not throw (S-12). A running tool is awaited first. */
  readonly signal?: HostAbortSignal | undefined;
  /** Awaited. A throw ends the loop with `HOOK_FAILED`. */
  readonly onEvent?: ((event: AgentEvent) => Awaitable<void>) | undefined;
  /** Without a task run only (L-01). Default 1000. */
  readonly max_tool_calls_per_session?: number | undefined;
}
/** Made by `run.hooks`, meant to be spread. Ties the loop to `run.guardRuntime`: one without the other is `RUNTIME_NOT_GUARDED` (K-03). */
export interface AgentLoopHooks {
  readonly task_run: AgentTaskRun;
}

/**
 * Runs the loop to its end. Without a task run the protocol, streaming and batch rules (P, S, L) still hold; budgets do not exist.
 * Rejects only for misuse, a checkpoint that was not saved, and our bugs (`error.checkpoint` is set); every other ending is an outcome (L-08).
 *
 * @throws RUNTIME_NOT_GUARDED, INVALID_STATE (one run, two loops), RUN_ENDED, HOOK_FAILED, CHECKPOINT_NOT_SAVED, WASM_TRAP
 * @example
 * const result = await runGovernedAgentLoop({
 *   runtime: run.guardRuntime(runtime), ...run.hooks,
 *   model_profile: "main", messages: [{ role: "user", content: "Where is order 7?" }], tools,
 * });
 */
export function runGovernedAgentLoop(options: GovernedAgentLoopOptions): Promise<AgentTaskResult>;

/** Narrow on `type`. Text is untrusted, and provisional until `turn`: a `turn_rejected` takes it back (S-13). */
export type AgentEvent =
  | { readonly type: "run_started"; readonly run: RunRef; readonly resumed: boolean }
  | { readonly type: "step_started"; readonly step_id: string; readonly index: number; readonly kind: "model_call" | "tool_call" }
  | ({ readonly step_id: string } & TurnDelta)
  | { readonly type: "turn"; readonly step_id: string; readonly turn: Turn }
  | {
      readonly type: "turn_rejected";
      readonly step_id: string;
      readonly error: ErrorRecord;
      /** From 1: the attempt that was rejected (L-09). */
      readonly attempt: number;
      /** null: no more tries. */
      readonly retry_in_ms: number | null;
    }
  | { readonly type: "batch_refused"; readonly step_id: string; readonly calls: number; readonly error: ErrorRecord<"LIMIT_EXCEEDED"> }
  | { readonly type: "tool_started"; readonly step_id: string; readonly call: RequestedTool }
  | { readonly type: "tool_ended"; readonly step_id: string; readonly call_id: string; readonly name: string; readonly result: ToolResult; readonly replayed: boolean }
  /** A side-effecting call has run: its evidence. */
  | { readonly type: "receipt"; readonly receipt: Receipt }
  | { readonly type: "budget"; readonly spend: Spend; readonly remaining: { readonly [L in LimitName]?: number | null } }
  | { readonly type: "step_ended"; readonly step: AgentTaskStepRecord }
  | { readonly type: "stopped"; readonly result: AgentTaskResult };
