/**
 * The error class, and the few records that must exist without a core: before it is initialised and after it trapped.
 * Every other record comes from the core's registry. Messages hold no payload, key or header bytes (B5).
 */
import type { AgentTaskCheckpoint, Blame, ErrorCode, ErrorPlace, ErrorRecord, JsonObject } from "../types/index.js";

/** One brand for every copy of the package in a process. */
const BRAND = Symbol.for("turnkeep.error");
const NOT_STARTED = Symbol.for("turnkeep.effect_not_started");
const MAX_CAUSES = 16;

interface Extras {
  readonly cause?: unknown;
  readonly checkpoint?: AgentTaskCheckpoint;
}

/** The only class turnkeep throws (types/errors.d.ts). */
export class TurnkeepError<C extends ErrorCode = ErrorCode> extends Error implements ErrorRecord<C> {
  override readonly name = "TurnkeepError" as const;
  readonly code: C;
  readonly blame: Blame;
  readonly reason: string;
  readonly rule: string;
  readonly at: ErrorPlace;
  readonly details: JsonObject;
  readonly retriable: boolean;
  declare readonly retry_after_ms?: number;
  declare readonly cause?: unknown;
  declare readonly checkpoint?: AgentTaskCheckpoint;
  readonly docs: string;

  constructor(record: ErrorRecord<C>, extras: Extras = {}) {
    super(record.message.startsWith(record.code) ? record.message : `${record.code}: ${record.message} (${record.rule})`);
    this.code = record.code;
    this.blame = record.blame;
    this.reason = record.reason;
    this.rule = record.rule;
    this.at = record.at;
    this.details = record.details;
    this.retriable = record.retriable;
    this.docs = `docs/errors.md#${record.code.toLowerCase()}`;
    if (record.retry_after_ms !== undefined) this.retry_after_ms = record.retry_after_ms;
    for (const [key, value] of Object.entries(extras)) Object.defineProperty(this, key, { value, enumerable: false });
    Object.defineProperty(this, BRAND, { value: true });
  }

  toJSON(): ErrorRecord<C> {
    const { code, blame, reason, rule, message, at, details, retriable } = this;
    const record: ErrorRecord<C> = { code, blame, reason, rule, message, at, details, retriable };
    return this.retry_after_ms === undefined ? record : { ...record, retry_after_ms: this.retry_after_ms };
  }

  static is(error: unknown, ...codes: readonly ErrorCode[]): error is TurnkeepError {
    if (typeof error !== "object" || error === null || !(BRAND in error)) return false;
    return codes.length === 0 || codes.includes((error as unknown as TurnkeepError).code);
  }

  static find(error: unknown): TurnkeepError | undefined {
    let at = error;
    for (let depth = 0; depth < MAX_CAUSES && typeof at === "object" && at !== null; depth++) {
      if (TurnkeepError.is(at)) return at;
      at = (at as { cause?: unknown }).cause;
    }
    return undefined;
  }
}

/** Says that a tool has done nothing (types/errors.d.ts). */
export class EffectNotStarted extends Error {
  override readonly name = "EffectNotStarted";

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    Object.defineProperty(this, NOT_STARTED, { value: true });
  }
}

/** Whether a tool said so, in whatever copy of the package. */
export function isEffectNotStarted(error: unknown): boolean {
  return typeof error === "object" && error !== null && NOT_STARTED in error;
}

const LOCAL = {
  NOT_INITIALIZED: { reason: "not_initialized", blame: "caller", rule: "K-01" },
  INVALID_STATE: { reason: "invalid_state", blame: "caller", rule: "K-03" },
  INVALID_INPUT: { reason: "invalid_input", blame: "caller", rule: "N-04" },
  WASM_TRAP: { reason: "wasm_trap", blame: "internal", rule: "N-04" },
} as const;

/** An error that needs no core. `field` names an argument. */
export function localError(code: keyof typeof LOCAL, message: string, cause?: unknown, field?: string): TurnkeepError {
  const at = field === undefined ? {} : { field };
  return new TurnkeepError({ code, ...LOCAL[code], message, at, details: {}, retriable: false }, cause === undefined ? {} : { cause });
}

/** The same error with the run's checkpoint on it (L-08). */
export function withCheckpoint(error: TurnkeepError, checkpoint: AgentTaskCheckpoint): TurnkeepError {
  const copy = new TurnkeepError(error.toJSON(), { ...(error.cause === undefined ? {} : { cause: error.cause }), checkpoint });
  if (error.stack !== undefined) copy.stack = error.stack;
  return copy;
}
