/**
 * The whole loop for someone who starts from nothing: a task run, a fetch runtime and the loop, behind one async iterator of events.
 * Decides nothing: defaults only. Events without a reader are dropped, never kept.
 */
import type {
  AgentEvent, AgentRun, AgentRuntimeConfig, AgentTaskResult, Message, RequestUserGate, RunAgentOptions,
} from "../types/index.js";
import { createApprovalClassRegistry, createRequestUserGate } from "./approval.js";
import { modelProfile, readAgentRuntimeConfig } from "./config.js";
import { EventQueue } from "./events.js";
import { clockOf } from "./host/clock.js";
import { uuid } from "./host/entropy.js";
import { READER_LEFT } from "./host/halt.js";
import { runGovernedAgentLoop } from "./loop.js";
import { raised } from "./raise.js";
import { createFetchRuntime } from "./runtime.js";
import { createAgentTaskRun } from "./task.js";
import { definitionsOf, policyOf } from "./tool.js";

const DEFAULTS = { max_steps: 40, max_duration_s: 600 };
/** The profile name of a model given by value. */
const GIVEN = "model";

function configOf(options: RunAgentOptions): { readonly config: AgentRuntimeConfig; readonly model_profile: string } {
  const { model, config, approval_classes } = options;
  const base: Partial<AgentRuntimeConfig> = config ?? {};
  const classes = approval_classes === undefined ? {} : { approval_classes: { ...base.approval_classes, ...approval_classes } };
  if (typeof model === "string") return { config: readAgentRuntimeConfig({ models: {}, ...base, ...classes }), model_profile: model };
  return { config: readAgentRuntimeConfig({ ...base, ...classes, models: { ...base.models, [GIVEN]: model } }), model_profile: GIVEN };
}

function limitsOf({ limits }: RunAgentOptions, config: AgentRuntimeConfig): RunAgentOptions["limits"] {
  // A default never stands above the host's own ceiling.
  const steps = Math.min(DEFAULTS.max_steps, config.limits?.max_steps ?? DEFAULTS.max_steps);
  const seconds = Math.min(DEFAULTS.max_duration_s, config.limits?.max_duration_s ?? DEFAULTS.max_duration_s);
  return { ...limits, max_steps: limits.max_steps === undefined ? steps : limits.max_steps, max_duration_s: limits.max_duration_s === undefined ? seconds : limits.max_duration_s };
}

function gateOf(options: RunAgentOptions, registry: ReturnType<typeof createApprovalClassRegistry>): RequestUserGate {
  return options.gate !== undefined && "resolve" in options.gate ? options.gate : createRequestUserGate({ registry });
}

/** Runs an agent (types/agent.d.ts). */
export function runAgent(options: RunAgentOptions): AgentRun {
  if (typeof (options as Partial<RunAgentOptions>).limits !== "object") throw raised("invalid_input", "limits");
  const { config, model_profile } = configOf(options);
  // A profile that is not there is said before anything is made.
  modelProfile(config, model_profile);
  const { tools = {}, host, resume, signal, tenant_subject = "local", actor_ref = "local" } = options;
  if (resume !== undefined && options.task_id === undefined) throw raised("invalid_input", "task_id");
  const task_id = options.task_id ?? uuid((bytes) => clockOf(host).entropy(bytes));
  const registry = createApprovalClassRegistry(config.approval_classes, config.policies);
  const gate = gateOf(options, registry);
  const definitions = definitionsOf(tools);
  const runtime = createFetchRuntime({ config, apiKey: options.apiKey ?? "", tools, fetch: options.fetch, host });
  const run = createAgentTaskRun({
    task_id, tenant_subject, actor_ref, limits: limitsOf(options, config), packLimits: config.limits,
    gate: options.gate === undefined ? undefined : gate, registry, resume, settle_cost_usd: options.settle_cost_usd, host,
    toolPolicy: (name) => policyOf(tools, name),
    onCheckpoint: options.onCheckpoint,
  });
  const events = new EventQueue<AgentEvent>();
  const stop = new AbortController();
  const onAbort = (): void => { stop.abort((signal as AbortSignal).reason); };
  if (signal?.aborted === true) onAbort();
  else (signal)?.addEventListener("abort", onAbort, { once: true });
  events.onLeave = () => { if (options.on_disconnect !== "continue") stop.abort(READER_LEFT); };

  const loop = async (): Promise<AgentTaskResult> => {
    // One turn of the queue of jobs, so that a reader that begins at once misses nothing.
    await Promise.resolve();
    try {
      const result = await runGovernedAgentLoop({
        runtime: run.guardRuntime(runtime), ...run.hooks, model_profile, tools: definitions, system: options.system, stream: options.stream,
        messages: resume === undefined ? messagesOf(options.prompt) : run.resumeMessages(),
        signal: stop.signal, onEvent: (event) => events.put(event),
      });
      events.end();
      return result;
    } catch (error) {
      events.fail(error);
      throw error;
    } finally {
      (signal)?.removeEventListener("abort", onAbort);
      run[Symbol.dispose]();
    }
  };
  const result = loop();
  // Whoever awaits `result` or iterates sees the error; nobody who does neither is killed by it.
  result.catch(() => undefined);

  return Object.freeze({
    tenant_subject, task_id, result, gate,
    [Symbol.asyncIterator]: () => events.reader(),
    [ASYNC_DISPOSE]: async () => {
      stop.abort(new DOMException("the run was disposed of", "AbortError"));
      await result.catch(() => undefined);
    },
  });
}

const ASYNC_DISPOSE: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? (Symbol.for("Symbol.asyncDispose") as typeof Symbol.asyncDispose);

function messagesOf(prompt: RunAgentOptions["prompt"]): readonly Message[] {
  return typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt;
}
