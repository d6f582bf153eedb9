// What most tests share: a shop with three tools, a scripted server, and both protocols.
import { createAgentTaskRun, createFetchRuntime, runGovernedAgentLoop, usageCostUsd } from "turnkeep";
import { startScriptedServer } from "turnkeep/testing";

export const PROTOCOLS = ["chat", "messages"];
export const PRICES = { input_usd_per_mtok: 3, output_usd_per_mtok: 15 };
export const KEY = "sk-canary-2f9d1c";
export const LIMITS = { max_steps: 40, max_cost_usd: 2, max_duration_s: 600 };

const order = { type: "object", properties: { order: { type: "integer" } } };
export const TOOLS = [
  { name: "shop:lookup_order", description: "Look an order up", input_schema: order },
  { name: "shop:read_policy", description: "Read a policy page", input_schema: { type: "object" } },
  { name: "shop:refund", description: "Refund an order", input_schema: order },
];

/** A configuration with one model, served at a URL. */
export function configFor(protocol, url, profile = {}) {
  return { models: { main: { protocol, model: "scripted", base_url: url, prices: PRICES, ...profile } } };
}

/** Starts a server for the turns and stops it when the test ends. */
export async function serve(t, turns, options) {
  const server = await startScriptedServer({ name: t.name, turns }, options);
  t.after(() => server.close());
  return server;
}

/** One model call without a loop. */
export async function ask(t, protocol, turn, { input = {}, options = {}, profile = {}, limits, apiKey = KEY, headers } = {}) {
  const server = await serve(t, [turn]);
  const config = { ...configFor(protocol, server.url, profile), ...(limits === undefined ? {} : { limits: { provider: limits } }) };
  const runtime = createFetchRuntime({ config, apiKey, headers });
  const given = { session_id: "s", model_profile: "main", messages: [{ role: "user", content: "Order 7?" }], tool_catalog: TOOLS };
  return runtime.executeTurn({ ...given, ...input }, options);
}

/** A whole governed loop. Gives its result, its events, the tool calls that really ran, and the server. */
export async function task(t, protocol, turns, { execute = () => ({ state: "paid" }), run: given = {}, loop = {}, profile = {}, keep = false, limits } = {}) {
  const server = await serve(t, turns, { api_key: KEY });
  const config = { ...configFor(protocol, server.url, profile), ...(limits === undefined ? {} : { limits }) };
  const ran = [];
  const events = [];
  const http = createFetchRuntime({ config, apiKey: () => KEY });
  const runtime = {
    executeTurn: (input, options) => http.executeTurn(input, options),
    executeTool: (name, input, context) => {
      ran.push({ name, input, context });
      return execute(name, input, context);
    },
  };
  const run = createAgentTaskRun({
    task_id: "task-1", tenant_subject: "acme", actor_ref: "user:7", limits: LIMITS,
    toolPolicy: (name) => ({ side_effecting: name === "shop:refund" }),
    costOfUsage: (usage) => usageCostUsd(usage, config.models.main.prices ?? null),
    ...given,
  });
  if (!keep) t.after(() => run[Symbol.dispose]());
  const result = await runGovernedAgentLoop({
    runtime: run.guardRuntime(runtime), ...run.hooks, model_profile: "main", tools: TOOLS,
    messages: [{ role: "user", content: "Where is order 7?" }], onEvent: (event) => void events.push(event), ...loop,
  });
  return { result, events, ran, server, run };
}

/** The paired results in a checkpoint's history, by call id. */
export function resultsOf(checkpoint) {
  const history = JSON.parse(checkpoint.history_json);
  return new Map(history.filter((entry) => entry.role === "tool").map((entry) => [entry.tool_call_id, JSON.parse(entry.content)]));
}

/** One call of a scripted turn. */
export function call(id, name, input = {}) {
  return { id, name, input };
}
