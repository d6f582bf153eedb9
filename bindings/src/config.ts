/**
 * The `agent_runtime` object of a host's configuration, trusted prices, and cost.
 * The core checks and computes (B-07, B-09, C-01); this file carries. Prices never come from a reply.
 */
import type { AgentRuntimeConfig, ModelCostProfile, ModelProfile, QuirkProfile, Usage } from "../types/index.js";
import { encode, frozen } from "./json.js";
import { accepted, raised } from "./raise.js";
import { callCore } from "./wasm.js";

/** Every token class at 0 (types/config.d.ts). */
export const FREE: ModelCostProfile = Object.freeze({
  input_usd_per_mtok: 0,
  output_usd_per_mtok: 0,
  cached_input_usd_per_mtok: 0,
  cache_write_usd_per_mtok: 0,
  reasoning_usd_per_mtok: 0,
});

/** Configurations that the core has read already: reading is done once for each object. */
const read = new WeakSet<AgentRuntimeConfig>();

/** Checks a parsed configuration (types/config.d.ts). */
export function readAgentRuntimeConfig(value: unknown): AgentRuntimeConfig {
  if (typeof value === "object" && value !== null && read.has(value as AgentRuntimeConfig)) return value as AgentRuntimeConfig;
  const text = encode(value, "agent_runtime");
  const config = frozen(accepted(callCore((border) => border.read_config(text))).value as AgentRuntimeConfig);
  read.add(config);
  return config;
}

/** A configured model. Own members only: `constructor` is no profile. @throws MODEL_PROFILE_UNKNOWN */
export function modelProfile(config: AgentRuntimeConfig, model_profile: string): ModelProfile {
  const found = Object.hasOwn(config.models, model_profile) ? config.models[model_profile] : undefined;
  if (found === undefined) throw raised("model_profile_unknown", "model_profile");
  return found;
}

/** Prices of a configured model (types/config.d.ts). */
export function readTrustedModelCostProfile(config: AgentRuntimeConfig, model_profile: string): ModelCostProfile | null {
  return modelProfile(config, model_profile).prices ?? null;
}

/** US dollars of one model call, or null (types/config.d.ts). */
export function usageCostUsd(usage: Usage | null, prices: ModelCostProfile | null): number | null {
  if (typeof usage !== "object" || typeof prices !== "object" || usage === null || prices === null) return null;
  const text = encode({ usage, prices }, "usage");
  return JSON.parse(callCore((border) => border.usage_cost(text))) as number | null;
}

/** The quirk profiles and what each normalises (types/config.d.ts). */
export function quirkProfiles(): readonly QuirkProfile[] {
  return frozen(JSON.parse(callCore((border) => border.quirk_profiles())) as readonly QuirkProfile[]);
}
