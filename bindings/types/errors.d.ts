import type { JsonObject } from "./base.js";
import type { AgentTaskCheckpoint } from "./task.js";

/** Whose fault it is: the provider's, the calling program's, a rule that said no, the host's storage, or ours. */
export type Blame = "provider" | "caller" | "policy" | "store" | "internal";

/** The provider broke the protocol, or could not be reached: the turn never becomes runnable. */
export type ProviderCode =
  | "CALL_ID_MISSING" | "CALL_ID_DUPLICATE" | "CALL_ID_CONFLICT" | "CALL_ID_REUSED" | "CALL_NAME_MISSING" | "CALL_INDEX_INVALID"
  | "CALL_TYPE_UNSUPPORTED" | "CALLS_MISMATCH" | "LEGACY_FUNCTION_CALL" | "SERVER_TOOL_UNSUPPORTED" | "PROGRAMMATIC_CALL_UNSUPPORTED"
  | "RESPONSES_API_UNSUPPORTED" | "CHOICES_UNSUPPORTED" | "TOOL_ARGUMENTS_INVALID" | "TOOL_ARGUMENTS_NOT_OBJECT"
  | "FINISH_REASON_MISSING" | "FINISH_REASON_UNKNOWN" | "FINISH_REASON_CONFLICT" | "FINISH_REASON_MISMATCH" | "ROLE_INVALID"
  | "STREAM_TRUNCATED" | "STREAM_ORDER" | "MALFORMED_EVENT" | "AMBIGUOUS_EVENT" | "BLOCK_UNOPENED" | "BLOCK_UNCLOSED" | "BLOCK_UNKNOWN"
  | "DELTA_TYPE_MISMATCH" | "POST_TERMINAL_DATA" | "NOT_AN_EVENT_STREAM" | "JSON_INVALID" | "JSON_DUPLICATE_KEY" | "JSON_TOO_DEEP"
  | "JSON_NUMBER_RANGE" | "UTF8_INVALID" | "LIMIT_RESPONSE_BYTES" | "LIMIT_STREAM_BYTES" | "LIMIT_EVENTS" | "LIMIT_SNAPSHOTS"
  | "LIMIT_CONTENT_BLOCKS" | "LIMIT_TOOL_CALLS" | "LIMIT_TOOL_ARGUMENT_BYTES" | "LIMIT_EVENT_BYTES"
  | "PROVIDER_AUTH" | "PROVIDER_RATE_LIMITED" | "PROVIDER_OVERLOADED" | "PROVIDER_BAD_REQUEST" | "PROVIDER_UNAVAILABLE"
  | "PROVIDER_TRANSPORT" | "PROVIDER_TIMEOUT" | "PROVIDER_ERROR";
/** The program that uses turnkeep made a mistake. */
export type CallerCode =
  | "INVALID_INPUT" | "CONFIGURATION_ERROR" | "LIMIT_INVALID" | "LIMIT_ABOVE_CEILING" | "MODEL_PROFILE_UNKNOWN" | "TOOL_NAME_COLLISION"
  | "TOOL_NAME_RESERVED" | "RUNTIME_NOT_GUARDED" | "RUN_ENDED" | "INVALID_STATE" | "HOOK_FAILED" | "NOT_INITIALIZED";
/** A limit, a budget, a class or a tool said no. */
export type PolicyCode =
  | "ACTION_HASH_MISMATCH" | "TENANT_SUBJECT_MISMATCH" | "ALREADY_RESOLVED" | "APPROVAL_EXPIRED" | "APPROVAL_NOT_FOUND"
  | "APPROVER_NOT_ALLOWED" | "APPROVAL_REQUIRED" | "APPROVAL_DENIED" | "POLICY_DENIED" | "LIMIT_EXCEEDED" | "budget_exhausted"
  | "TOOL_NOT_FOUND" | "INVALID_TOOL_INPUT" | "TOOL_FAILED" | "TOOL_TIMEOUT" | "TOOL_OUTPUT_INVALID" | "NOT_EXECUTED"
  | "CHECKPOINT_VERSION" | "CHECKPOINT_FOREIGN" | "CHECKPOINT_INCONSISTENT" | "CHAIN_GAP" | "CHAIN_BROKEN" | "CHAIN_CHANGED"
  | "CHAIN_DUPLICATE" | "CHAIN_TRUNCATED";
/** The host's own storage failed. */
export type StoreCode = "CHECKPOINT_NOT_SAVED";
/** Our bug. Please report it. */
export type InternalCode = "WASM_TRAP" | "INTERNAL";
/** Every code to branch on. New codes may come in a minor version: keep a `default` branch. */
export type ErrorCode = ProviderCode | CallerCode | PolicyCode | StoreCode | InternalCode;

/** Where it happened. Never payload, key or header bytes. */
export interface ErrorPlace {
  readonly byte_offset?: number;
  readonly event?: number;
  /** Position of the call in its turn, from 0. */
  readonly call?: number;
  readonly json_path?: string;
  readonly field?: string;
  readonly seq?: number;
  readonly call_id?: string;
  readonly step_id?: string;
}

/**
 * A refusal or failure as data: what `error` fields and refused results carry.
 *
 * @example
 * if (result.outcome === "failed") console.log(result.error.code, result.error.rule); // STREAM_TRUNCATED S-20
 */
export interface ErrorRecord<C extends ErrorCode = ErrorCode> {
  readonly code: C;
  readonly blame: Blame;
  /** The finer word (`tool_call_index_invalid`), for logs and counts. May change in a minor version; branch on `code`. */
  readonly reason: string;
  /** Rule id, as in docs/rules.md: `S-10`. */
  readonly rule: string;
  /** What happened, where, and what to do, for a developer. No untrusted text. */
  readonly message: string;
  readonly at: ErrorPlace;
  /** Facts of this code: `{ limit, used, max }`, `{ status, provider_code }`, ... Strings in it are bounded and untrusted. */
  readonly details: JsonObject;
  readonly retriable: boolean;
  /** Milliseconds, when the provider named a time. */
  readonly retry_after_ms?: number;
}

/**
 * The only class turnkeep throws. `message` begins with the code, says where and under which rule, and what to do:
 * `LIMIT_INVALID: a limit is not a usable number, field limits.max_steps (B-09). Give a finite number within the documented range, no finer than its unit.`
 *
 * @example
 * try {
 *   await runGovernedAgentLoop(options);
 * } catch (error) {
 *   if (TurnkeepError.is(error, "CHECKPOINT_NOT_SAVED")) console.error("not durable", error.checkpoint?.revision);
 *   else throw error;
 * }
 */
export class TurnkeepError<C extends ErrorCode = ErrorCode> extends Error implements ErrorRecord<C> {
  private constructor();
  override readonly name: "TurnkeepError";
  readonly code: C;
  readonly blame: Blame;
  readonly reason: string;
  readonly rule: string;
  readonly at: ErrorPlace;
  readonly details: JsonObject;
  readonly retriable: boolean;
  readonly retry_after_ms?: number;
  /** The hook's or transport's own error, as thrown. */
  override readonly cause?: unknown;
  /** Set on everything thrown by a loop that had begun (L-08). */
  readonly checkpoint?: AgentTaskCheckpoint;
  /** Path of the documentation page, `docs/errors.md#<code>`. */
  readonly docs: string;
  /** The record alone, without cause and checkpoint. */
  toJSON(): ErrorRecord<C>;
  /** True across realms and copies of the package. Narrows to the given codes, when any are given. */
  static is(error: unknown): error is TurnkeepError;
  static is<K extends ErrorCode>(error: unknown, ...codes: readonly [K, ...K[]]): error is TurnkeepError<K>;
  /** The first `TurnkeepError` in the `cause` chain, at most 16 deep. */
  static find(error: unknown): TurnkeepError | undefined;
}

/**
 * Throw it from a tool to say that nothing happened outside: the call fails, and its effect is known to be none.
 *
 * @example
 * if (!response.ok && response.status === 409) throw new EffectNotStarted("the order is already refunded");
 */
export class EffectNotStarted extends Error {
  constructor(message: string, options?: { readonly cause?: unknown });
}
