/**
 * The runtime over `fetch` (K-03): turns a model call into one exchange. The core writes the request (P-10, P-13, P-14) and reads the answer;
 * the key and the host's own headers are added here.
 */
import type {
  AgentRuntime, AgentRuntimeConfig, AgentTools, ExecuteTurnInput, FetchLike, FetchRuntimeOptions, ModelProfile, ProviderLimits, Turn, TurnOptions,
} from "../types/index.js";
import { modelProfile, readAgentRuntimeConfig } from "./config.js";
import { messagesJson } from "./history.js";
import { clockOf } from "./host/clock.js";
import { DEADLINES, type Deadlines, runExchange } from "./host/fetch.js";
import { encode } from "./json.js";
import { accepted, raised } from "./raise.js";
import { runTool } from "./tool.js";
import { callCore } from "./wasm.js";

interface ProviderRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly auth: { readonly header: string; readonly scheme: string };
  readonly body: string;
  readonly names: { readonly [wire: string]: string };
  readonly warnings: readonly string[];
}

/** Written by us, or the key itself. */
const OURS = new Set(["authorization", "x-api-key", "anthropic-version", "content-type"]);
/** What a header may hold; `fetch` would otherwise throw with the value in its message. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

const configs = new WeakMap<AgentRuntime, AgentRuntimeConfig>();

/** The configuration of a runtime of ours. */
export function configOf(runtime: AgentRuntime): AgentRuntimeConfig | undefined {
  return configs.get(runtime);
}

const toolSets = new WeakMap<AgentRuntime, AgentTools>();

/** The tools of a runtime of ours. */
export function toolsOf(runtime: AgentRuntime): AgentTools | undefined {
  return toolSets.get(runtime);
}

/** Makes a runtime over `fetch` (types/loop.d.ts). */
export function createFetchRuntime(given: FetchRuntimeOptions): AgentRuntime {
  const config = readAgentRuntimeConfig(given.config);
  const clock = clockOf(given.host);
  const send: FetchLike = given.fetch ?? (globalThis.fetch);
  const tools = given.tools ?? {};
  const warned = new Set<string>();
  const runtime: AgentRuntime = Object.freeze({
    executeTurn: async (input: ExecuteTurnInput, options?: TurnOptions): Promise<Turn> => {
      const { signal, onDelta } = options ?? {};
      const profile = modelProfile(config, input.model_profile);
      const request = write(profile, input);
      for (const warning of request.warnings) {
        // eslint-disable-next-line no-console -- the one report of a deprecated input (P-09)
        if (!warned.has(warning)) console.warn(`turnkeep: ${warning}`);
        warned.add(warning);
      }
      const limits = { ...config.limits?.provider, ...defined(input.limits) };
      const key = await keyOf(given.apiKey, input.model_profile);
      return runExchange({
        ...request,
        headers: { ...request.headers, ...(await extraHeaders(given, input.model_profile)), ...authorization(request, key) },
        key,
        shape: {
          protocol: profile.protocol, stream: input.stream ?? true, limits, quirks: profile.quirks,
          model_profile: input.model_profile, model: profile.model, deltas: onDelta !== undefined, names: request.names,
        },
        deadlines: deadlines(config.limits?.provider, input.limits),
        fetch: send, clock, signal, onDelta,
      });
    },
    executeTool: (name, input, context) => runTool(tools, name, input, context),
  } satisfies AgentRuntime);
  configs.set(runtime, config);
  toolSets.set(runtime, tools);
  return runtime;
}

/** The request as the core writes it. The history goes over as text where we have it, so that no digit is lost. */
function write(profile: ModelProfile, input: ExecuteTurnInput): ProviderRequest {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- this is where it is accepted
  const { messages, intent_catalog, ...rest } = input;
  // The deprecated member may hold anything, also what is not JSON: only that it is there is said (P-09).
  const head = encode({ ...rest, intent_catalog: intent_catalog === undefined ? undefined : true }, "input");
  const withMessages = `{"messages":${messagesJson(messages)}${head === "{}" ? "" : ","}${head.slice(1)}`;
  const text = `{"profile":${encode(profile, "profile")},"model_profile":${encode(input.model_profile, "model_profile")},"input":${withMessages}}`;
  return accepted(callCore((border) => border.request(text))).value as ProviderRequest;
}

async function keyOf(secret: FetchRuntimeOptions["apiKey"], model_profile: string): Promise<string> {
  let key: unknown;
  try {
    key = typeof secret === "function" ? await secret(model_profile) : secret;
  } catch (error) {
    throw raised("hook_failed", "apiKey", error);
  }
  if (typeof key !== "string" || !HEADER_VALUE.test(key)) throw raised("configuration_error", "apiKey");
  return key;
}

function authorization({ auth }: ProviderRequest, key: string): { readonly [name: string]: string } {
  return key === "" ? {} : { [auth.header]: auth.scheme + key };
}

async function extraHeaders({ headers }: FetchRuntimeOptions, model_profile: string): Promise<{ [name: string]: string }> {
  const extra: { [name: string]: string } = {};
  let given: { readonly [name: string]: string };
  try {
    given = (await headers?.(model_profile)) ?? {};
  } catch (error) {
    throw raised("hook_failed", "headers", error);
  }
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase();
    if (OURS.has(lower) || typeof value !== "string" || !HEADER_VALUE.test(value)) throw raised("configuration_error", `headers.${lower.slice(0, 64)}`);
    extra[lower] = value;
  }
  return extra;
}

function defined(limits: ProviderLimits | undefined): ProviderLimits {
  return Object.fromEntries(Object.entries(limits ?? {}).filter(([, value]) => value !== undefined));
}

/** A call may shorten what the configuration gives the whole call, never lengthen it: the run's remaining duration comes this way (S-23). */
function deadlines(configured: ProviderLimits | undefined, call: ProviderLimits | undefined): Deadlines {
  const pick = (name: keyof Deadlines): number => call?.[name] ?? configured?.[name] ?? DEADLINES[name];
  const whole = configured?.call_timeout_ms ?? DEADLINES.call_timeout_ms;
  return {
    drain_ms: pick("drain_ms"),
    head_timeout_ms: pick("head_timeout_ms"),
    idle_timeout_ms: pick("idle_timeout_ms"),
    call_timeout_ms: Math.min(whole, call?.call_timeout_ms ?? whole),
  };
}
