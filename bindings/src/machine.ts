/**
 * One run in wasm memory, and the order of its outputs: entries are acknowledged, checkpoints awaited, events handed on, and what the host
 * must do is kept as moments. No rule of its own: the core decides, this file answers in order.
 */
import type { AgentEvent, AgentTaskCheckpoint, AgentTaskResult, CreateAgentTaskRunOptions, ErrorRecord, GovernedAgentLoopOptions, ToolResult } from "../types/index.js";
import type { RawRun } from "./border.js";
import { TurnkeepError } from "./errors.js";
import type { Clock } from "./host/clock.js";
import { started } from "./host/halt.js";
import { raised } from "./raise.js";
import { CoreObject } from "./wasm.js";

/** Call the model. */
export interface CallModel {
  readonly type: "call_model";
  readonly key: string;
  readonly step_id: string;
  readonly timeout_ms: number | null;
}
/** Run one tool. */
export interface ExecuteTool {
  readonly type: "execute_tool";
  readonly key: string;
  readonly step_id: string;
  readonly call_id: string;
  readonly name: string;
  readonly input_json: string;
  readonly action_hash: string;
  readonly idempotency_key: string;
  readonly side_effecting: boolean;
  readonly timeout_ms: number;
}
/** The end, but for what only the host has. */
export interface Done {
  readonly type: "done";
  readonly result: Omit<AgentTaskResult, "checkpoint">;
}
/** A failed model call is to be made again after a wait (L-09). */
export interface Retry {
  readonly type: "retry";
  readonly after_ms: number;
}
/** Whether an input fits its tool's schema is asked before anything else is done with the call (P-17). */
export interface CheckInput {
  readonly type: "check_input";
  readonly key: string;
  readonly call_id: string;
  readonly name: string;
  readonly input_json: string;
}
/** What the loop must do next. */
export type Moment = CallModel | CheckInput | ExecuteTool | Done | Retry | { readonly type: "ready" };

type Output =
  | Moment
  | { readonly type: "append"; readonly seq: number }
  | { readonly type: "checkpoint"; readonly cause: "claim" | "step" | "stop" }
  | { readonly type: "event"; readonly event: AgentEvent }
  | { readonly type: "batch"; readonly admitted: boolean }
  | { readonly type: "settled"; readonly call_id: string; readonly result: ToolResult; readonly replayed: boolean }
  | { readonly type: "error"; readonly error: ErrorRecord };

/** The host's side of a run. */
export interface Listener {
  readonly onCheckpoint: CreateAgentTaskRunOptions["onCheckpoint"];
  readonly onEvent: GovernedAgentLoopOptions["onEvent"];
}

/** A run of the core, driven. */
export class Machine {
  readonly #core: CoreObject<RawRun>;
  readonly #clock: Clock;
  readonly #moments: Moment[] = [];
  listener: Listener = { onCheckpoint: undefined, onEvent: undefined };

  /** @throws what the core refuses of the configuration */
  constructor(config_json: string, clock: Clock) {
    this.#clock = clock;
    this.#core = new CoreObject("run", (border) => new border.Run(config_json));
    const refused = this.#core.use((raw) => raw.error_json());
    if (refused !== "") {
      this.#core.free();
      throw new TurnkeepError(JSON.parse(refused) as ErrorRecord);
    }
  }

  /** The moment that must be answered now. */
  get moment(): Moment | undefined {
    return this.#moments[0];
  }

  /** Takes that moment: its answer is on the way. */
  take(): void {
    this.#moments.shift();
  }

  /**
   * Sends one input, given as text, and follows everything that comes of it.
   * @throws misuse as the core says it, CHECKPOINT_NOT_SAVED, HOOK_FAILED, WASM_TRAP
   */
  async send(input_json: string): Promise<void> {
    const outputs = this.#push(input_json);
    for (let output = outputs.shift(); output !== undefined; output = outputs.shift()) {
      switch (output.type) {
        case "append":
          outputs.push(...this.#push(JSON.stringify({ type: "appended", seq: output.seq })));
          break;
        case "checkpoint":
          await this.#save(output.cause);
          outputs.push(...this.#push('{"type":"saved"}'));
          break;
        case "event":
          await this.#tell(output.event);
          break;
        case "error":
          throw new TurnkeepError(output.error);
        case "batch":
        case "settled":
          // The core's own events and history carry both.
          break;
        default:
          this.#moments.push(output);
      }
    }
  }

  /** Hands an event to the listener. @throws HOOK_FAILED when it throws */
  async #tell(event: AgentEvent): Promise<void> {
    const { onEvent } = this.listener;
    if (onEvent === undefined) return;
    try {
      await started(() => onEvent(event));
    } catch (error) {
      throw raised("hook_failed", "onEvent", error);
    }
  }

  async #save(cause: "claim" | "step" | "stop"): Promise<void> {
    const { onCheckpoint } = this.listener;
    if (onCheckpoint === undefined) return;
    const checkpoint = this.read("checkpoint_json") as AgentTaskCheckpoint;
    try {
      await started(() => onCheckpoint(checkpoint, cause));
    } catch (error) {
      throw raised("checkpoint_not_saved", undefined, error);
    }
  }

  #push(input_json: string): Output[] {
    const now_ms = Math.trunc(this.#clock.now());
    const mono_ms = Math.trunc(this.#clock.monotonic());
    const text = `{"now_ms":${String(now_ms)},"mono_ms":${String(mono_ms)},"input":${input_json}}`;
    return JSON.parse(this.#core.use((raw) => raw.push(text))) as Output[];
  }

  /** One of the core's readers, as text. */
  text(reader: "messages_json" | "steps_json" | "spend_json" | "checkpoint_json"): string {
    return this.#core.use((raw) => raw[reader]());
  }

  /** One of the core's readers, as a value of the caller's own. */
  read(reader: "messages_json" | "steps_json" | "spend_json" | "checkpoint_json"): unknown {
    return JSON.parse(this.text(reader)) as unknown;
  }

  /** Frees it. Idempotent. */
  free(): void {
    this.#core.free();
  }
}
