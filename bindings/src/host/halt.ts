/**
 * Waiting that can be ended: by an abort, by a deadline, by the drain deadline of S-10. One slot, no reaction left behind on a long-lived
 * promise: a stream of 200 000 chunks costs no memory. Abort comes first (S-13).
 */
import type { HostAbortSignal } from "../../types/index.js";
import type { Clock } from "./clock.js";

/** Why waiting ended. */
export type Stop = "abort" | "consumer" | "timeout" | "drain";

/** The abort reason of our own loop when the reader of its events has left. */
export const READER_LEFT: unknown = Object.freeze(new Error("the reader of the events has left"));

/** Rejected with by `wait` once stopped. Look at `stop` for why. */
const HALTED = Symbol("halted");

/** A promise of work, a value where the work was synchronous, as a promise that never throws synchronously. */
export function started<T>(work: () => T | PromiseLike<T>): Promise<T> {
  return new Promise((resolve) => { resolve(work()); });
}

interface Idle {
  readonly ms: number;
  readonly by: number;
  readonly ended: AbortSignal;
  /** Its timer runs. */
  asleep: boolean;
}

/** Ends waits. Release it when the work is over. */
export class Halt {
  readonly #clock: Clock;
  readonly #signal: AbortSignal | undefined;
  readonly #over = new AbortController();
  #wake: (() => void) | undefined;
  #stop: Stop | undefined;
  #busySince: number | undefined;
  #idle: Idle | undefined;

  constructor(clock: Clock, signal?: HostAbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    if (this.#signal?.aborted === true) this.#aborted();
    else this.#signal?.addEventListener("abort", this.#aborted, { once: true });
  }

  /** Why it stopped, when it did. */
  get stop(): Stop | undefined {
    return this.#stop;
  }

  /** Stops after so many milliseconds. Gives a function that disarms it. */
  after(ms: number, stop: Stop): () => void {
    const armed = new AbortController();
    const disarm = (): void => { armed.abort(); };
    this.#over.signal.addEventListener("abort", disarm, { once: true });
    void this.#clock.sleep(ms, armed.signal).then(
      () => {
        this.#over.signal.removeEventListener("abort", disarm);
        if (!armed.signal.aborted) this.#raise(stop);
      },
      () => undefined,
    );
    return disarm;
  }

  /**
   * Stops when one counted `wait` lasts longer than this from its own start, or past a point in monotonic time. The timer belongs to the waits:
   * when nobody waits it is not set again. Gives a function that ends the watch.
   */
  idle(ms: number, by = Number.POSITIVE_INFINITY): () => void {
    const ended = new AbortController();
    const end = (): void => { ended.abort(); };
    this.#over.signal.addEventListener("abort", end, { once: true });
    this.#idle = { ms, by, ended: ended.signal, asleep: false };
    return end;
  }

  /** The work's result, unless a stop comes first: then it rejects, and `stop` is set. */
  wait<T>(work: PromiseLike<T>, counts = true): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const halted = (): void => {
        this.#rest();
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a private mark, never seen outside
        reject(HALTED);
      };
      this.#busySince = counts ? this.#clock.monotonic() : undefined;
      this.#wake = halted;
      if (counts && this.#idle?.asleep === false) void this.#watch(this.#idle);
      work.then(
        (value) => {
          if (this.#wake !== halted) return;
          this.#rest();
          resolve(value);
        },
        (error: unknown) => {
          if (this.#wake !== halted) return;
          this.#rest();
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- whatever the host threw, as it threw it
          reject(error);
        },
      );
      if (this.#stop !== undefined) halted();
    });
  }

  /** A deadline that has been acted on no longer ends waits. An abort still does. */
  resume(): void {
    if (this.#stop === "drain" || this.#stop === "timeout") this.#stop = undefined;
  }

  /** Forgets every timer and listener. */
  release(): void {
    this.#signal?.removeEventListener("abort", this.#aborted);
    this.#over.abort();
  }

  readonly #aborted = (): void => {
    this.#raise(this.#signal?.reason === READER_LEFT ? "consumer" : "abort");
  };

  #raise(stop: Stop): void {
    if (this.#over.signal.aborted) return;
    // An abort outranks a deadline that nobody has acted on yet.
    if (this.#stop === undefined || stop === "abort" || stop === "consumer") this.#stop = stop;
    this.#wake?.();
  }

  #rest(): void {
    this.#wake = undefined;
    this.#busySince = undefined;
  }

  async #watch(idle: Idle): Promise<void> {
    idle.asleep = true;
    while (!idle.ended.aborted && this.#busySince !== undefined) {
      const left = Math.min(this.#busySince + idle.ms, idle.by) - this.#clock.monotonic();
      if (left <= 0) {
        this.#raise("timeout");
        break;
      }
      await this.#clock.sleep(left, idle.ended).catch(() => undefined);
    }
    idle.asleep = false;
  }
}
