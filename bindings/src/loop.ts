/**
 * The loop (L-01..L-09): asks the core what comes next and does it. Knows no rule: order, admission, budgets and endings are the core's.
 */
import type {
  AgentEvent, AgentTaskCheckpoint, AgentTaskResult, ExecuteTurnInput, GovernedAgentLoopOptions, ModelProfile, ToolDefinition, ToolPolicy, TurnOptions,
} from "../types/index.js";
import { defaultClass, verdictOf } from "./approval.js";
import { modelProfile } from "./config.js";
import { TurnkeepError, withCheckpoint } from "./errors.js";
import { historyOf, messagesJson } from "./history.js";
import { uuid } from "./host/entropy.js";
import { encode } from "./json.js";
import type { Done } from "./machine.js";
import { raised } from "./raise.js";
import { configOf, toolsOf } from "./runtime.js";
import { type Check, checkOf } from "./schema.js";
import { guardOf, Task, taskOf } from "./task.js";

/** The run behind the options: the caller's, or one without budgets for this loop alone. */
interface Ground {
  readonly task: Task;
  readonly inner: GovernedAgentLoopOptions["runtime"];
  readonly own: boolean;
}

function groundOf(options: GovernedAgentLoopOptions): Ground {
  const guard = guardOf(options.runtime);
  const task = options.task_run === undefined ? undefined : taskOf(options.task_run);
  if (guard?.task !== task || (options.task_run !== undefined && task === undefined)) throw raised("runtime_not_guarded");
  if (guard !== undefined) {
    if (options.max_tool_calls_per_session !== undefined) throw raised("invalid_input", "max_tool_calls_per_session");
    return { task: guard.task, inner: guard.inner, own: false };
  }
  const task_id = options.session_id ?? uuid((bytes) => crypto.getRandomValues(new Uint8Array(bytes)));
  const unbounded = { max_steps: null, max_cost_usd: null, max_duration_s: null };
  const given = { task_id, tenant_subject: "local", actor_ref: "local", limits: unbounded };
  const { max_tool_calls_per_session } = options;
  const extra = max_tool_calls_per_session === undefined ? {} : { max_tool_calls_per_session };
  return { task: new Task(given, false, extra), inner: options.runtime, own: true };
}

/** Runs the loop to its end (types/loop.d.ts). */
export async function runGovernedAgentLoop(options: GovernedAgentLoopOptions): Promise<AgentTaskResult> {
  const ground = groundOf(options);
  const { task } = ground;
  const onEvent = options.onEvent;
  task.enter(options.signal, onEvent === undefined ? undefined : (event) => onEvent(whole(task, event)));
  try {
    return await drive(ground, options);
  } catch (error) {
    throw attach(task, error);
  } finally {
    task.leave();
    if (ground.own) task.dispose();
  }
}

async function drive({ task, inner }: Ground, options: GovernedAgentLoopOptions): Promise<AgentTaskResult> {
  const { machine } = task;
  task.checks = checksOf(inner, options.tools ?? []);
  await machine.send(startJson(task, inner, options));
  for (;;) {
    if (machine.moment?.type !== "done") await task.announceEnd();
    const moment = machine.moment;
    switch (moment?.type) {
      case "call_model":
        await task.callModel(inner, inputOf(task, options), { onDelta: deltaOf(options, moment.step_id) });
        break;
      case "execute_tool":
        await task.callTool(inner);
        break;
      case "check_input":
        await task.checkInput(moment);
        break;
      case "retry":
        machine.take();
        await task.pause(moment.after_ms);
        break;
      case "ready":
        machine.take();
        break;
      case "done":
        if (task.failure !== undefined) throw task.failure;
        return resultOf(task, moment);
      case undefined:
        await machine.send('{"type":"clear"}');
        if (machine.moment === undefined) throw raised("internal");
    }
  }
}

function resultOf(task: Task, { result }: Done): AgentTaskResult {
  const checkpoint = task.machine.read("checkpoint_json") as AgentTaskCheckpoint;
  const whole = { ...result, checkpoint } as AgentTaskResult;
  return whole.outcome === "cancelled" ? { ...whole, cause: task.cause } : whole;
}

/** The core's last event lacks what only the host has. */
function whole(task: Task, event: AgentEvent): AgentEvent {
  return event.type === "stopped" ? { type: "stopped", result: resultOf(task, { type: "done", result: event.result }) } : event;
}

function inputOf(task: Task, options: GovernedAgentLoopOptions): ExecuteTurnInput {
  const history = historyOf(task.machine.text("messages_json"));
  const input = { session_id: options.session_id ?? task.options.task_id, model_profile: options.model_profile, messages: history };
  return { ...input, tool_catalog: options.tools ?? [], stream: options.stream ?? true };
}

function deltaOf({ onEvent }: GovernedAgentLoopOptions, step_id: string): TurnOptions["onDelta"] {
  return onEvent === undefined ? undefined : (delta) => onEvent({ step_id, ...delta });
}

interface OfferedTool extends ToolDefinition {
  readonly policy: ToolPolicy | null;
  readonly policy_failed?: boolean;
  /** Whether its inputs can be checked here (P-17). */
  readonly checked: boolean;
}

function checksOf(inner: Ground["inner"], tools: readonly ToolDefinition[]): ReadonlyMap<string, Check> {
  const own = toolsOf(inner);
  const checks = tools.map((definition) => [definition.name, checkOf(definition, own)] as const);
  return new Map(checks.filter((entry): entry is [string, Check] => entry[1] !== undefined));
}

/** Each name is asked about once (K-06); two tools of one name are refused by the core. */
function offered(task: Task, tools: readonly ToolDefinition[]): readonly OfferedTool[] {
  return tools.map(({ name, description, input_schema }) => ({ name, description, input_schema, checked: task.checks.has(name), ...declaredOf(task, name) }));
}

/** What the host declares of a tool, and what narrower policies make of it. A throw denies; no policy can loosen anything (C-02). */
function declaredOf(task: Task, name: string): Pick<OfferedTool, "policy" | "policy_failed"> {
  const { toolPolicy, registry, tenant_subject } = task.options;
  let policy: ToolPolicy | null;
  try {
    policy = toolPolicy === undefined ? {} : (toolPolicy(name) ?? null);
  } catch {
    return { policy: null, policy_failed: true };
  }
  if (policy === null) return { policy };
  const declared = policy.approval_class ?? (policy.side_effecting === false ? undefined : defaultClass(registry));
  const verdict = verdictOf(registry, tenant_subject, name, declared);
  if (verdict === "deny") return { policy: null, policy_failed: true };
  // A call that must be asked for has a class, and a class that nobody configured denies.
  return { policy: verdict === "ask" && declared === undefined ? { ...policy, approval_class: registry?.names()[0] ?? "unnamed" } : policy };
}

/** The model, where it is known to be of our runtime: a cost cap without prices then stops before the first call (B-06). */
function modelOf(task: Task, inner: Ground["inner"], model_profile: string): object | null {
  const config = configOf(inner);
  if (config === undefined) return null;
  const profile: ModelProfile = modelProfile(config, model_profile);
  if (profile.prices === undefined && task.options.costOfUsage !== undefined) return null;
  return { model_profile, protocol: profile.protocol, model: profile.model, prices: profile.prices ?? null };
}

function startJson(task: Task, inner: Ground["inner"], options: GovernedAgentLoopOptions): string {
  const tools = encode(offered(task, options.tools ?? []), "tools");
  const model = encode(modelOf(task, inner, options.model_profile), "model_profile");
  const system = options.system === undefined ? "" : `,"system":${encode(options.system, "system")}`;
  return `{"type":"start","messages":${messagesJson(options.messages)}${system},"tools":${tools},"model":${model}}`;
}

/** Everything thrown by a loop that had begun carries the checkpoint, if there still is one (L-08). */
function attach(task: Task, error: unknown): unknown {
  if (!TurnkeepError.is(error) || error.checkpoint !== undefined) return error;
  try {
    return withCheckpoint(error, task.machine.read("checkpoint_json") as AgentTaskCheckpoint);
  } catch {
    return error;
  }
}
