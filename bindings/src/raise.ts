/**
 * Errors whose words are the core's: its registry is the one place that ties a reason to code, rule, blame and message.
 */
import type { ErrorPlace, ErrorRecord, JsonObject } from "../types/index.js";
import { TurnkeepError } from "./errors.js";
import { callCore } from "./wasm.js";

/** Reasons of the core's registry that the bindings themselves raise. */
export type RaisedReason =
  | "approval_not_found" | "checkpoint_not_saved" | "configuration_error" | "hook_failed" | "internal" | "invalid_input" | "invalid_state"
  | "model_profile_unknown" | "provider_timeout" | "responses_api_shape" | "runtime_not_guarded" | "tool_name_collision";

/** The record of a reason, as the core words it. */
export function recordOf(reason: RaisedReason, at: ErrorPlace = {}, details: JsonObject = {}): ErrorRecord {
  const text = callCore((border) => border.make_error(JSON.stringify({ reason, at, details })));
  return JSON.parse(text) as ErrorRecord;
}

/** An error of a reason, to throw. */
export function raised(reason: RaisedReason, field?: string, cause?: unknown): TurnkeepError {
  return new TurnkeepError(recordOf(reason, field === undefined ? {} : { field }), cause === undefined ? {} : { cause });
}

/** Reads `{"ok": value}` or throws what `{"error": record}` says. Gives the text of the value too. */
export function accepted(answer: string): { readonly value: unknown; readonly json: string } {
  const read = JSON.parse(answer) as { readonly ok: unknown } | { readonly error: ErrorRecord };
  if ("error" in read) throw new TurnkeepError(read.error);
  return { value: read.ok, json: answer.slice('{"ok":'.length, -1) };
}

