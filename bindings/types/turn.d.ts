import type { Awaitable, HostAbortSignal, JsonObject, JsonSchema, JsonValue } from "./base.js";
import type { Protocol, ProviderLimits } from "./config.js";
import type { PolicyCode } from "./errors.js";

/** Totals in one meaning for both protocols: parts are contained in their total. `null` = not reported (B-07). */
export interface Usage {
  readonly input_tokens: number | null;
  /** Part of `input_tokens`. */
  readonly cached_input_tokens: number | null;
  /** Part of `input_tokens`. */
  readonly cache_write_tokens: number | null;
  readonly output_tokens: number | null;
  /** Part of `output_tokens`. */
  readonly reasoning_tokens: number | null;
  /** The provider's usage object, as text. */
  readonly raw_json: string;
}

export interface TextBlock {
  readonly type: "text";
  /** Untrusted (P-08). */
  readonly text: string;
}
export interface ToolCallBlock {
  readonly type: "tool_call";
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}
/** Thinking, reasoning fragments, signatures: the provider's own, returned unmodified and in place (S-16, S-17). Never show it. */
export interface ProviderStateBlock {
  readonly type: "provider_state";
  readonly protocol: Protocol;
  readonly model_profile: string;
  readonly model: string;
  readonly json: string;
}
export type ContentBlock = TextBlock | ToolCallBlock | ProviderStateBlock;
/** One call of a turn. `name` is the governed name (`pack:tool`), whatever the wire said (P-14). */
export interface RequestedTool {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/**
 * One entry of the history.
 *
 * @example
 * const messages: Message[] = [{ role: "user", content: "Where is order 7?" }];
 */
export type Message =
  | { readonly role: "system" | "user"; readonly content: string | readonly TextBlock[] }
  | { readonly role: "assistant"; readonly content_blocks: readonly ContentBlock[] }
  | {
      readonly role: "tool";
      readonly tool_call_id: string;
      /** Canonical JSON of a `ToolResult`. */
      readonly content: string;
      readonly is_error?: boolean;
    };
/** What the model reads for each call: exactly one per call (L-04). */
export type ToolResult =
  | { readonly ok: true; readonly output: JsonValue }
  | { readonly ok: false; readonly code: PolicyCode; readonly message: string };

/** A tool as the model sees it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string | undefined;
  readonly input_schema?: JsonSchema | undefined;
}

/** What one model call is asked. */
export interface ExecuteTurnInput {
  readonly session_id: string;
  /** Key into `agent_runtime.models`. */
  readonly model_profile: string;
  readonly messages: readonly Message[];
  readonly tool_catalog?: readonly ToolDefinition[] | undefined;
  /** Default true. */
  readonly stream?: boolean | undefined;
  readonly limits?: ProviderLimits | undefined;
  /** @deprecated Accepted and ignored (P-09). */
  readonly intent_catalog?: unknown | undefined;
}

export type UnifiedFinishReason = "stop" | "tool_calls" | "length" | "content_filter" | "refusal" | "pause";
/** One word for both protocols, and the provider's own. */
export interface FinishReason {
  readonly unified: UnifiedFinishReason;
  readonly raw: string;
}

interface TurnBase {
  readonly content_blocks: readonly ContentBlock[];
  /** Text blocks joined; untrusted, never parsed (P-08). */
  readonly assistant_text: string;
  readonly finish_reason: FinishReason;
  readonly usage: Usage | null;
  readonly provider: { readonly protocol: Protocol; readonly model_profile: string; readonly model: string; readonly response_id: string | null };
  /** Normalisations of the quirk profile that were used, with counts. */
  readonly quirks: { readonly [quirk: string]: number };
}
interface NoTurn {
  readonly requested_tools: readonly [];
  readonly content_blocks: readonly [];
  readonly dropped_calls: number;
  readonly assistant_text: string;
  readonly usage: Usage | null;
}
/**
 * One model response. Only `tool_request` is runnable. Every other status has `requested_tools: []` and no `tool_call` block (P-20).
 *
 * @example
 * const turn = await runtime.executeTurn(input, {});
 * if (turn.status === "tool_request") console.log(turn.requested_tools[0].name);
 */
export type ExecuteTurnOutput =
  | (TurnBase & { readonly status: "tool_request"; readonly requested_tools: readonly [RequestedTool, ...RequestedTool[]]; readonly dropped_calls: 0 })
  | (TurnBase & { readonly status: "reply"; readonly requested_tools: readonly []; readonly dropped_calls: 0 })
  | (TurnBase & { readonly status: "incomplete" | "refused"; readonly requested_tools: readonly []; /** Calls seen and not exposed. */ readonly dropped_calls: number })
  | (NoTurn & { readonly status: "cancelled" })
  | (NoTurn & { readonly status: "client_disconnect"; readonly details: { readonly side: "consumer" | "provider" } });
export type Turn = ExecuteTurnOutput;

/** How one model call is run. */
export interface TurnOptions {
  /** Active during body reads: one `cancelled` turn (S-12). */
  readonly signal?: HostAbortSignal | undefined;
  /** Latest delta only (S-08); awaited, so it is back pressure. A throw ends the call with `HOOK_FAILED`. */
  readonly onDelta?: ((delta: TurnDelta) => Awaitable<void>) | undefined;
}
/** What has just arrived. Untrusted, and provisional until the turn is whole (S-13). */
export type TurnDelta =
  | { readonly type: "text_delta"; readonly block: number; readonly text: string }
  | { readonly type: "tool_input_delta"; readonly block: number; readonly id: string; readonly name: string; readonly json_fragment: string }
  | { readonly type: "provider_state_delta"; readonly block: number; readonly bytes: number };
