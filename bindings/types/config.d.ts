import type { JsonObject } from "./base.js";
import type { Usage } from "./turn.js";

/** `chat`: Chat Completions. `messages`: the Messages API. */
export type Protocol = "chat" | "messages";

/** Bounds on provider bytes and time (S-01..S-10, S-23). A missing field takes the default; 0, negative, NaN and infinite are `LIMIT_INVALID`. */
export interface ProviderLimits {
  /** Default 8 MiB. */
  readonly max_response_bytes?: number | undefined;
  /** Default 32 MiB. */
  readonly max_stream_bytes?: number | undefined;
  /** Default 4 MiB: one unfinished event. */
  readonly max_event_bytes?: number | undefined;
  /** Default 200 000. */
  readonly max_events?: number | undefined;
  /** Default 100 000. */
  readonly max_snapshots?: number | undefined;
  /** Default 256. */
  readonly max_content_blocks?: number | undefined;
  /** Default 128. */
  readonly max_tool_calls?: number | undefined;
  /** Default 1 MiB a turn. */
  readonly max_tool_argument_bytes?: number | undefined;
  /** Default 64. */
  readonly max_json_depth?: number | undefined;
  /** Default 250: after the terminal marker, one absolute deadline (S-10). */
  readonly drain_ms?: number | undefined;
  /** Default 60 000: until the response head. */
  readonly head_timeout_ms?: number | undefined;
  /** Default 60 000: between two reads of a body. */
  readonly idle_timeout_ms?: number | undefined;
  /** Default 600 000, and never past the run's remaining duration. */
  readonly call_timeout_ms?: number | undefined;
}

/**
 * Budgets of one run (B-01..B-09): it stops when used >= limit, checked before each model call. A missing field takes its
 * ceiling; missing in both, or `null` under a ceiling, is `LIMIT_INVALID`; `null` says "none". 0 stops before the first call.
 *
 * @example
 * const limits: AgentTaskLimits = { max_steps: 40, max_cost_usd: 2, max_duration_s: 600 };
 */
export interface AgentTaskLimits {
  /** Model calls and tool calls together. */
  readonly max_steps?: number | null | undefined;
  /** US dollars. An unknown cost stops the run too (B-06). */
  readonly max_cost_usd?: number | null | undefined;
  /** Seconds of active time. */
  readonly max_duration_s?: number | null | undefined;
}
export type LimitName = keyof AgentTaskLimits;

/** `agent_runtime.limits`: ceilings for every run, and the bounds only the host sets. */
export interface PackLimits extends AgentTaskLimits {
  /** Over the whole run (L-01). Default 1000. */
  readonly max_tool_calls_per_session?: number | undefined;
  readonly provider?: ProviderLimits | undefined;
}

/** Trusted prices, US dollars per million tokens (B-07). `0` is a known price; a missing class with tokens in it is unknown. */
export interface ModelCostProfile {
  readonly input_usd_per_mtok: number;
  readonly output_usd_per_mtok: number;
  readonly cached_input_usd_per_mtok?: number | undefined;
  readonly cache_write_usd_per_mtok?: number | undefined;
  /** Default: the output price. */
  readonly reasoning_usd_per_mtok?: number | undefined;
  /** Where the prices were read; recorded, never used. */
  readonly source?: string | undefined;
  /** When; recorded, never used. */
  readonly as_of?: string | undefined;
}
/**
 * Every token class at 0: local and free models.
 *
 * @example
 * const model: ModelProfile = { protocol: "chat", model: "local", base_url: "http://127.0.0.1:8080/v1", prices: FREE };
 */
export const FREE: ModelCostProfile;

/** Name of a documented set of normalisations; docs/quirks.md. One that does not exist is `CONFIGURATION_ERROR`. */
export type QuirkProfileName = "strict" | "gemini-compat" | "ollama" | "openrouter" | "litellm" | "llama-cpp" | "perplexity" | "writer" | (string & {});

/** A set of normalisations that a model entry or a guard may switch on. */
export interface QuirkProfile {
  readonly name: string;
  /** The protocol it belongs to; `strict` serves both. */
  readonly protocol: Protocol;
  /** Name and one sentence of each normalisation. Each use is counted in `turn.quirks`. */
  readonly quirks: { readonly [quirk: string]: string };
  /** Where the behaviour was seen. */
  readonly seen_at: string;
}

/**
 * Every quirk profile.
 * @example
 * quirkProfiles().find((profile) => profile.name === "gemini-compat")?.quirks; // { repeated_index: "calls that all have index 0, ..." }
 */
export function quirkProfiles(): readonly QuirkProfile[];

/** One model and where it is served. */
export interface ModelProfile {
  readonly protocol: Protocol;
  /** The provider's model name. */
  readonly model: string;
  /** Up to and without `/chat/completions` or `/messages`. */
  readonly base_url: string;
  /** Default 4096 tokens. */
  readonly max_output_tokens?: number | undefined;
  /** Chat only (P-10). Default "max_completion_tokens". */
  readonly max_tokens_field?: "max_completion_tokens" | "max_tokens" | undefined;
  /** Default "strict". */
  readonly quirks?: QuirkProfileName | undefined;
  /** Absent: the cost is unknown. */
  readonly prices?: ModelCostProfile | undefined;
  /** More body members (`temperature`, ...). Members that turnkeep owns are refused. */
  readonly request?: JsonObject | undefined;
}

/** A class of actions that a person decides about (C-01). */
export interface ApprovalClassConfig {
  /** Default false: nothing narrower may auto-approve it (C-03). */
  readonly auto_approve_allowed?: boolean | undefined;
  /** Default 900 seconds. */
  readonly expires_in_s?: number | undefined;
  /** Refuse a decision by the run's own actor, or by nobody (G-15). Default false. */
  readonly distinct_approver?: boolean | undefined;
  /** Used for side-effecting tools that declare no class (C-04). At most one. */
  readonly default_for_side_effects?: boolean | undefined;
  /** Shown to the person who decides. */
  readonly title?: string | undefined;
}
export type ApprovalClasses = { readonly [approval_class: string]: ApprovalClassConfig };
/** A narrower rule: it can ask, deny or shorten, never allow (C-02). Absent fields match everything. */
export interface ApprovalPolicy {
  readonly tenant_subject?: string | undefined;
  readonly tool?: string | undefined;
  readonly approval_class?: string | undefined;
  /** Absent: only shortens. */
  readonly verdict?: "ask" | "deny" | undefined;
  readonly expires_in_s?: number | undefined;
}

/** The object under `agent_runtime` in a host's configuration. Unknown keys are `CONFIGURATION_ERROR`. */
export interface AgentRuntimeConfig {
  readonly limits?: PackLimits | undefined;
  readonly models: { readonly [model_profile: string]: ModelProfile };
  readonly approval_classes?: ApprovalClasses | undefined;
  readonly policies?: readonly ApprovalPolicy[] | undefined;
}

/**
 * Checks a parsed configuration and gives it back frozen, as the core read it.
 *
 * @throws CONFIGURATION_ERROR, LIMIT_INVALID with `at.field`
 * @example
 * const config = readAgentRuntimeConfig(JSON.parse(text).agent_runtime);
 */
export function readAgentRuntimeConfig(value: unknown): AgentRuntimeConfig;

/**
 * Prices of a configured model, never of a name the provider echoed (B-07). `null` when it declares none.
 *
 * @throws MODEL_PROFILE_UNKNOWN
 * @example
 * usageCostUsd(turn.usage, readTrustedModelCostProfile(config, "main"));
 */
export function readTrustedModelCostProfile(config: AgentRuntimeConfig, model_profile: string): ModelCostProfile | null;

/**
 * US dollars of one model call, or `null` when price or usage is unknown (B-06, B-07). Never throws for bad values.
 *
 * @example
 * usageCostUsd({ ...usage, input_tokens: 1_000_000, output_tokens: 0 }, { input_usd_per_mtok: 3, output_usd_per_mtok: 15 }); // 3
 */
export function usageCostUsd(usage: Usage | null, prices: ModelCostProfile | null): number | null;
