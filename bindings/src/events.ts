/**
 * Hands values from one writer to one reader, one at a time: the writer waits until the reader has come back for more, so nothing piles up.
 * Without a reader values are dropped.
 */
import { raised } from "./raise.js";

type End = { readonly error: unknown } | "end";

/** A queue of one. */
export class EventQueue<T> {
  /** Called once, when the reader leaves before the end. */
  onLeave: () => void = () => undefined;
  #value: { readonly value: T } | undefined;
  #end: End | undefined;
  #reading = false;
  #left = false;
  #arrived: () => void = () => undefined;
  #taken: () => void = () => undefined;

  /** Resolves when the reader has asked for the next value, or at once without a reader. */
  async put(value: T): Promise<void> {
    if (!this.#reading || this.#left) return;
    this.#value = { value };
    const taken = new Promise<void>((resolve) => { this.#taken = resolve; });
    this.#arrived();
    await taken;
  }

  /** No more values. */
  end(): void {
    this.#finish("end");
  }

  /** No more values, because of this. */
  fail(error: unknown): void {
    this.#finish({ error });
  }

  /** The one reader. @throws INVALID_STATE for a second one */
  reader(): AsyncIterator<T, undefined> {
    if (this.#reading) throw raised("invalid_state");
    this.#reading = true;
    return {
      next: () => this.#next(),
      return: () => {
        this.#leave();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  async #next(): Promise<IteratorResult<T, undefined>> {
    if (this.#left) return { done: true, value: undefined };
    this.#taken();
    if (this.#value === undefined && this.#end === undefined) await new Promise<void>((resolve) => { this.#arrived = resolve; });
    const held = this.#value;
    this.#value = undefined;
    if (held !== undefined) return { done: false, value: held.value };
    this.#left = true;
    if (this.#end !== undefined && this.#end !== "end") throw this.#end.error;
    return { done: true, value: undefined };
  }

  #leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.#value = undefined;
    if (this.#end === undefined) this.onLeave();
    this.#taken();
    this.#arrived();
  }

  #finish(end: End): void {
    this.#end = end;
    this.#arrived();
  }
}
