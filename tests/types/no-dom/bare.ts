// The declarations need no `dom` library and no ambient types: an edge or embedded project compiles against them as they are.
import { createAgentTaskRun, createFetchRuntime, guardFetch, guardStream, runGovernedAgentLoop, type AgentRuntimeConfig, type FetchLike, type HostByteStream, type HostPorts, type ToolCallContext } from "turnkeep";
import { init } from "turnkeep/slim";
import { createScriptedProvider } from "turnkeep/testing";

declare const config: AgentRuntimeConfig, fetch: FetchLike, host: HostPorts, body: HostByteStream;

export async function run(module: object): Promise<string> {
  init(module);
  const task = createAgentTaskRun({ task_id: "t", tenant_subject: "a", actor_ref: "u", limits: { max_steps: 1, max_cost_usd: null, max_duration_s: 1 }, host });
  const runtime = task.guardRuntime(createFetchRuntime({ config, apiKey: "", fetch, host }));
  const result = await runGovernedAgentLoop({ runtime, ...task.hooks, model_profile: "m", messages: [] });
  task[Symbol.dispose]();
  return result.outcome;
}
export const aborted = (context: ToolCallContext): boolean => context.signal.aborted;
export const left: number = createScriptedProvider([{ text: "hi" }]).left;
export const strict: FetchLike = guardFetch(fetch, { hold: "calls", onReport: (report) => void report.verdict });
export const status = async (): Promise<string> => (await guardStream(body, { protocol: "messages" }).turn).status;
