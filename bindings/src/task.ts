/**
 * The task contract (K-01..K-06): one bounded run, its guard and its hooks. Budgets, admission, steps and results are the core's; here the
 * host's model and tools are called exactly when the core permits it, within the time it gives, and every end becomes its one answer.
 */
import type {
  AgentRuntime, AgentTaskCheckpoint, AgentTaskRun, AgentTaskStepRecord, CreateAgentTaskRunOptions, ExecuteTurnInput, ExecuteTurnOutput,
  JsonObject, Message, Spend, TurnOptions, Usage,
} from "../types/index.js";
import { defaultClass } from "./approval.js";
import { callTool, type ToolAnswer } from "./call.js";
import { TurnkeepError } from "./errors.js";
import { historyOf } from "./history.js";
import { type Clock, clockOf } from "./host/clock.js";
import { isUnbilled } from "./host/fetch.js";
import { Halt, READER_LEFT, started } from "./host/halt.js";
import { encode, wellFormed } from "./json.js";
import { type CallModel, type CheckInput, type Listener, Machine } from "./machine.js";
import { raised, recordOf } from "./raise.js";
import { type Check, runCheck } from "./schema.js";
import { CANCELLED, CONSUMER_LEFT, turnJson } from "./turn.js";

/** After an abort or a deadline the host's runtime may still settle for so long, so that its own account of the end is kept. */
const SETTLE_MS = 100;

/** How one model call of the host ended. */
type Ended = { readonly turn: unknown } | { readonly error: unknown };

/** A run with everything that only the loop may touch. */
export class Task {
  readonly machine: Machine;
  readonly clock: Clock;
  readonly options: CreateAgentTaskRunOptions;
  readonly #left = new AbortController();
  /** The first failure that is the host's own: the loop rejects with it once the run has recorded its end. */
  failure: TurnkeepError | undefined;
  /** The checks of the tools of this loop, by name. */
  checks: ReadonlyMap<string, Check> = new Map();
  readonly #ready = new Map<string, { readonly value: unknown }>();
  busy = false;
  #disposed = false;
  #cancelled = false;
  #signal: AbortSignal | undefined;
  #unlink: (() => void) | undefined;

  constructor(options: CreateAgentTaskRunOptions, governed: boolean, extra: JsonObject = {}) {
    const { task_id, tenant_subject, actor_ref, limits, packLimits, resume, settle_cost_usd } = options;
    this.options = options;
    this.clock = clockOf(options.host);
    const config = {
      task_id, tenant_subject, actor_ref, governed, limits,
      pack_limits: packLimits,
      has_cost: options.costOfUsage !== undefined,
      has_gate: options.gate !== undefined,
      classes: options.registry?.names() ?? [],
      default_class: defaultClass(options.registry),
      checkpoints: options.onCheckpoint !== undefined,
      resume, settle_cost_usd, ...extra,
    };
    this.machine = new Machine(encode(config, "options"), this.clock);
  }

  /** Begins a loop. @throws INVALID_STATE when another one runs */
  enter(signal: AbortSignal | undefined, onEvent: Listener["onEvent"]): void {
    if (this.busy || this.#disposed) throw raised("invalid_state");
    this.busy = true;
    const first = signal === undefined ? undefined : linked([signal, this.#left.signal]);
    this.#signal = first?.signal ?? this.#left.signal;
    this.#unlink = first?.release;
    this.machine.listener = { onCheckpoint: this.options.onCheckpoint, onEvent };
  }

  /** Ends it. A run that was disposed of meanwhile is freed now. */
  leave(): void {
    this.busy = false;
    this.#unlink?.();
    this.machine.listener = { onCheckpoint: undefined, onEvent: undefined };
    if (this.#disposed) this.machine.free();
  }

  /** Why the loop was ended from outside, when it was. */
  get cause(): unknown {
    return this.#signal?.reason as unknown;
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    if (this.busy) this.#left.abort(new DOMException("the run was disposed of", "AbortError"));
    else this.machine.free();
  }

  /** Tells the core, once, that the caller wants an end. To be sent before the answer it cuts. */
  async announceEnd(): Promise<void> {
    if (this.#cancelled || this.#signal?.aborted !== true) return;
    this.#cancelled = true;
    await this.machine.send(this.#signal.reason === READER_LEFT ? '{"type":"disconnect","side":"consumer"}' : '{"type":"cancel"}');
  }

  /** Runs the model call the core permits now. @throws INVALID_STATE when it permits none */
  async callModel(inner: AgentRuntime, input: ExecuteTurnInput, options: TurnOptions): Promise<Ended> {
    const { machine } = this;
    const moment = machine.moment;
    if (moment?.type !== "call_model") throw raised("invalid_state", "executeTurn");
    machine.take();
    const ended = await this.#ask(inner, moment, input, options);
    await this.announceEnd();
    if ("turn" in ended) {
      const cost_usd = this.#costOf(ended.turn, input.model_profile);
      await machine.send(JSON.stringify({ type: "turn", key: moment.key, turn_json: turnText(ended.turn), cost_usd }));
    } else {
      const error = this.#blame(ended.error);
      const cost = isUnbilled(error) || isUnbilled(ended.error) ? "zero" : "unknown";
      await machine.send(encode({ type: "turn_failed", key: moment.key, error: error.toJSON(), cost }, "error"));
    }
    return ended;
  }

  /** Waits before a failed model call is made again (L-09). An abort ends the wait. */
  async pause(after_ms: number): Promise<void> {
    const halt = new Halt(this.clock, this.#signal);
    const over = new AbortController();
    try {
      await halt.wait(started(() => this.clock.sleep(after_ms, over.signal)), false);
    } catch {
      // Ended early: the loop sees why.
    } finally {
      over.abort();
      halt.release();
    }
  }

  /** Says whether the input of the call under way fits its schema (P-17). */
  async checkInput({ key, call_id, name, input_json }: CheckInput): Promise<void> {
    const { machine } = this;
    machine.take();
    const check = this.checks.get(name);
    const checked = check === undefined ? { refusal: "" } : await runCheck(check, input_json, this.clock);
    if ("value" in checked) this.#ready.set(call_id, checked);
    await this.announceEnd();
    const said = "value" in checked ? { ok: true } : { ok: false, message: wellFormed(checked.refusal) };
    await machine.send(encode({ type: "input_checked", key, ...said }, "tool"));
  }

  /** Runs the tool call the core permits now. @throws INVALID_STATE when it permits none, or another one */
  async callTool(inner: AgentRuntime, name?: string): Promise<ToolAnswer> {
    const { machine } = this;
    const moment = machine.moment;
    if (moment?.type !== "execute_tool" || (name !== undefined && name !== moment.name)) throw raised("invalid_state", "executeTool");
    machine.take();
    const { tenant_subject, task_id } = this.options;
    const ready = this.#ready.get(moment.call_id);
    this.#ready.clear();
    const answer = await callTool(inner, moment, { tenant_subject, task_id }, this.clock, this.#signal, ready);
    await this.announceEnd();
    await machine.send(encode(answer.input, "tool"));
    return answer;
  }

  async #ask(inner: AgentRuntime, moment: CallModel, input: ExecuteTurnInput, { onDelta }: TurnOptions): Promise<Ended> {
    const halt = new Halt(this.clock, this.#signal);
    const cut = new AbortController();
    const timeout_ms = moment.timeout_ms === null ? undefined : Math.max(1, Math.ceil(moment.timeout_ms));
    const onAbort = (): void => { cut.abort(this.#signal?.reason); };
    if (this.#signal?.aborted === true) onAbort();
    else this.#signal?.addEventListener("abort", onAbort, { once: true });
    // A runtime of ours ends by itself within the limit it is given; the timer is for a host's that does not.
    if (timeout_ms !== undefined) halt.after(timeout_ms + SETTLE_MS, "timeout");
    const asked = timeout_ms === undefined ? input : { ...input, limits: { ...input.limits, call_timeout_ms: Math.min(timeout_ms, input.limits?.call_timeout_ms ?? timeout_ms) } };
    const work = started(() => inner.executeTurn(asked, { signal: cut.signal, onDelta }));
    try {
      return { turn: await halt.wait(work) };
    } catch (error) {
      if (halt.stop === undefined) return { error };
      cut.abort(this.#signal?.reason);
      if (halt.stop === "timeout") return { error: new TurnkeepError(recordOf("provider_timeout")) };
      const settled = await this.#settle(work);
      return settled ?? { turn: halt.stop === "consumer" ? CONSUMER_LEFT : CANCELLED };
    } finally {
      halt.release();
      this.#signal?.removeEventListener("abort", onAbort);
    }
  }

  /** What a cut call still says of itself, if it says it soon. An error then only means that it was cut. */
  async #settle(work: Promise<ExecuteTurnOutput>): Promise<Ended | undefined> {
    const grace = new Halt(this.clock);
    grace.after(SETTLE_MS, "timeout");
    try {
      const turn = await grace.wait(work);
      return turn.status === "cancelled" || turn.status === "client_disconnect" ? { turn } : undefined;
    } catch {
      return undefined;
    } finally {
      grace.release();
    }
  }

  /** The provider's error as it is; everything else is the host's failure, which the loop will reject with. */
  #blame(error: unknown): TurnkeepError {
    const found: TurnkeepError | undefined = TurnkeepError.find(error);
    if (found?.blame === "provider") return found;
    const failure: TurnkeepError = found ?? (raised("hook_failed", "executeTurn", error));
    this.failure ??= failure;
    return failure;
  }

  #costOf(turn: unknown, model_profile: string): number | null {
    const usage = (turn as { readonly usage?: Usage | null } | null)?.usage;
    if (this.options.costOfUsage === undefined || usage === undefined || usage === null) return null;
    try {
      const usd: unknown = this.options.costOfUsage(usage, { model_profile });
      return typeof usd === "number" && Number.isFinite(usd) && usd >= 0 ? usd : null;
    } catch {
      return null;
    }
  }
}

/** A signal that aborts with the first of two, and its release: a host's signal may outlive many runs. `AbortSignal.any` is too new for some runtimes. */
function linked(signals: readonly AbortSignal[]): { readonly signal: AbortSignal; readonly release: () => void } {
  const first = new AbortController();
  const over = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) first.abort(signal.reason);
    else signal.addEventListener("abort", () => { first.abort(signal.reason); }, { once: true, signal: over.signal });
  }
  return { signal: first.signal, release: () => { over.abort(); } };
}

function turnText(turn: unknown): string {
  try {
    return turnJson(turn);
  } catch {
    // Not JSON at all: the core refuses the text, and says so of the turn.
    return "";
  }
}

interface Guard {
  readonly task: Task;
  readonly inner: AgentRuntime;
}
const guards = new WeakMap<AgentRuntime, Guard>();
const tasks = new WeakMap<AgentTaskRun, Task>();

/** The guard a runtime is, if it is one. */
export function guardOf(runtime: AgentRuntime): Guard | undefined {
  return guards.get(runtime);
}
/** What stands behind a run. */
export function taskOf(run: AgentTaskRun): Task | undefined {
  return tasks.get(run);
}

function guard(task: Task, inner: AgentRuntime): AgentRuntime {
  if (typeof (inner as Partial<AgentRuntime> | undefined)?.executeTurn !== "function" || typeof inner.executeTool !== "function") throw raised("invalid_input", "runtime");
  const guarded: AgentRuntime = Object.freeze({
    executeTurn: async (input: ExecuteTurnInput, options: TurnOptions): Promise<ExecuteTurnOutput> => {
      const ended = await task.callModel(inner, input, options);
      if ("error" in ended) throw ended.error;
      return ended.turn as ExecuteTurnOutput;
    },
    executeTool: async (name: string): Promise<unknown> => {
      const answer = await task.callTool(inner, name);
      if ("thrown" in answer) throw answer.thrown;
      return answer.value;
    },
  });
  guards.set(guarded, { task, inner });
  return guarded;
}

/** Some runtimes have no `Symbol.dispose` yet; compilers that lower `using` look for this one then. */
const DISPOSE: typeof Symbol.dispose = Symbol.dispose ?? (Symbol.for("Symbol.dispose") as typeof Symbol.dispose);

/** Makes a bounded task (types/task.d.ts). */
export function createAgentTaskRun(options: CreateAgentTaskRunOptions): AgentTaskRun {
  const task = new Task(options, true);
  const { machine } = task;
  const run: AgentTaskRun = Object.freeze({
    task_id: options.task_id,
    tenant_subject: options.tenant_subject,
    guardRuntime: (runtime: AgentRuntime) => guard(task, runtime),
    get hooks() {
      return { task_run: run };
    },
    steps: () => machine.read("steps_json") as readonly AgentTaskStepRecord[],
    resumeMessages: (): readonly Message[] => (options.resume === undefined ? [] : historyOf(machine.text("messages_json"))),
    spend: () => machine.read("spend_json") as Spend,
    checkpoint: () => machine.read("checkpoint_json") as AgentTaskCheckpoint,
    [DISPOSE]: () => { task.dispose(); },
  });
  tasks.set(run, task);
  return run;
}
