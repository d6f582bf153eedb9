/**
 * One guarded body: the same bytes, but from the first tool call on only once the turn is sealed (S-10..S-13, S-20, S-23, P-20).
 *
 * Pull-based and without a queue: a piece is made only when somebody waits for it, so that an error never drops text that had passed. A piece
 * and an error of one read are given one after the other. The drain alone runs on by itself, so that a slow reader hides nothing that
 * comes after the marker. The core says from where on bytes must be kept; this file keeps them.
 */
import type { GuardReport, Protocol, Turn } from "../../types/index.js";
import { DRAINING, FAILED, type ResponseEnd } from "../border.js";
import type { Counters, ResponseDecoder } from "../decoder.js";
import { TurnkeepError } from "../errors.js";
import type { Clock } from "../host/clock.js";
import { type Deadlines, errorBody, failureRecord, type Failure, MAX_PUSH_BYTES, type Reader } from "../host/fetch.js";
import { Halt, started } from "../host/halt.js";
import { raised } from "../raise.js";
import { CANCELLED, CONSUMER_LEFT } from "../turn.js";
import { type Bytes, Kept } from "./kept.js";

/** What the body belongs to. */
export interface GuardedResponse {
  readonly protocol: Protocol;
  /** `other`: a stream was asked for, and this is none. */
  readonly mode: "stream" | "body" | "other";
  readonly status: number;
  readonly content_type: string | null;
  readonly reader: Reader | undefined;
  readonly decoder: ResponseDecoder;
  readonly deadlines: Deadlines;
  /** When the whole call must be over, by the monotonic clock. */
  readonly until: number;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
  readonly onReport: ((report: GuardReport) => void) | undefined;
}

/** A piece to hand over, and the turn when it is the last. */
interface Piece {
  readonly bytes: Bytes;
  readonly turn?: Turn;
}

/** Reads a response and hands it on. */
export class GuardedBody {
  readonly readable: ReadableStream<Bytes>;
  readonly turn: Promise<Turn>;
  /** What the body errored with, once it has. */
  failed: { readonly reason: unknown } | undefined;
  readonly #response: GuardedResponse;
  readonly #halt: Halt;
  readonly #kept = new Kept();
  #controller: ReadableStreamDefaultController<Bytes> | undefined;
  #drain: Promise<Turn> | undefined;
  #counters: Counters | undefined;
  /** Comes with the next pull: what was good of the same read had to be handed over first. */
  #failure: TurnkeepError | undefined;
  /** Its one report has been made. */
  #reported = false;
  /** The reader or the caller has gone: there is nobody to hand anything to. */
  #left = false;
  #resolve!: (turn: Turn) => void;
  #reject!: (reason: unknown) => void;

  constructor(response: GuardedResponse) {
    this.#response = response;
    this.#halt = new Halt(response.clock, response.signal);
    this.#halt.idle(response.deadlines.idle_timeout_ms, response.until);
    this.turn = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Whoever asks for the turn sees its error; nobody has to.
    this.turn.catch(() => undefined);
    this.readable = new ReadableStream<Bytes>(
      {
        start: (controller) => { this.#controller = controller; },
        pull: (controller) => this.#pull(controller),
        cancel: (reason) => { this.#leave("consumer", reason); },
      },
      { highWaterMark: 0 },
    );
    if (response.signal?.aborted === true) this.#aborted();
    else response.signal?.addEventListener("abort", this.#aborted, { once: true });
  }

  async #pull(controller: ReadableStreamDefaultController<Bytes>): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const { bytes, turn } = await this.#next();
    // A drain that failed meanwhile fails the next pull: what is here was good and is handed over first.
    if (this.#left) return;
    if (bytes.length > 0) controller.enqueue(bytes);
    if (turn === undefined) return;
    controller.close();
    this.#report({ verdict: "passed", turn });
    this.#resolve(turn);
  }

  async #next(): Promise<Piece> {
    if (this.#response.mode === "other") throw await this.#refuse();
    for (;;) {
      const read = this.#drain === undefined ? await this.#step() : this.#last(await this.#drain);
      if (read.bytes.length > 0 || read.turn !== undefined) return read;
    }
  }

  /** One read before the marker. */
  async #step(): Promise<Piece> {
    const chunk = await this.#read(true);
    if (chunk === undefined) return this.#last(this.#seal("eof"));
    const { decoder, mode } = this.#response;
    const pushed = this.#feed(chunk);
    const open = decoder.state() !== FAILED;
    const free = mode === "stream" ? this.#kept.length + pushed - decoder.held() : 0;
    // After a violation only what came before it is of use: the rest is not kept.
    const bytes = this.#kept.exchange(open ? chunk : chunk.subarray(0, Math.max(free - this.#kept.length, 0)), free);
    if (!open) {
      const failure = this.#rejection();
      if (bytes.length === 0) throw failure;
      this.#failure = failure;
    } else if (decoder.state() === DRAINING) {
      this.#drain = this.#drained();
      // Nobody may be waiting for it yet.
      this.#drain.catch(() => undefined);
    }
    return { bytes };
  }

  /** From the marker to the end or to one absolute deadline, whether or not anybody pulls (S-10). */
  async #drained(): Promise<Turn> {
    const { decoder, deadlines } = this.#response;
    const disarm = this.#halt.after(Math.min(deadlines.drain_ms, this.#remaining()), "drain");
    try {
      for (;;) {
        const chunk = await this.#read(false);
        if (chunk === undefined) return this.#seal(this.#halt.stop === "drain" ? "drain_deadline" : "eof");
        this.#feed(chunk);
        if (decoder.state() === FAILED) return this.#seal("eof");
        this.#kept.exchange(chunk, 0);
      }
    } finally {
      disarm();
    }
  }

  /** All that is kept, with the sealed turn. */
  #last(turn: Turn): Piece {
    return { bytes: this.#kept.take(this.#kept.length), turn };
  }

  /** The next chunk; `undefined` at the end and at the drain's deadline. Inside the drain the idle gap does not count. */
  async #read(counts: boolean): Promise<Bytes | undefined> {
    const { reader } = this.#response;
    if (reader === undefined) return undefined;
    // Checked here too: a timer of no time would lose against bytes that are there already.
    if (counts && this.#remaining() === 0) throw this.#fail(this.#failureOf({ status: this.#response.status, cause: "timeout" }));
    try {
      const { done, value } = await this.#halt.wait(reader.read(), counts);
      if (done) return undefined;
      if (!ArrayBuffer.isView(value)) throw raised("hook_failed", "fetch");
      return value as Bytes;
    } catch (error) {
      if (this.#halt.stop === "drain") return undefined;
      throw this.#broken(error);
    }
  }

  #remaining(): number {
    return Math.max(this.#response.until - this.#response.clock.monotonic(), 0);
  }

  /** Gives how many bytes were fed: after a violation nothing more is. */
  #feed(chunk: Bytes): number {
    const { decoder } = this.#response;
    let fed = 0;
    try {
      while (fed < chunk.length && decoder.state() !== FAILED) {
        const piece = chunk.subarray(fed, fed + MAX_PUSH_BYTES);
        decoder.push(piece);
        fed += piece.length;
      }
    } catch (error) {
      throw this.#fail(error as TurnkeepError);
    }
    return fed;
  }

  /** Ends the response. @throws its failure */
  #seal(end: "eof" | "drain_deadline"): Turn {
    const { decoder } = this.#response;
    try {
      this.#counters = decoder.counters();
      return decoder.finish(end);
    } catch (error) {
      throw this.#fail(error as TurnkeepError);
    }
  }

  /** The failure of a response that the core has rejected. */
  #rejection(): TurnkeepError {
    try {
      this.#seal("eof");
      return this.#fail(raised("internal"));
    } catch (error) {
      return error as TurnkeepError;
    }
  }

  /** What a read that failed means: an abort first, then a deadline, then the connection (S-13, S-23). */
  #broken(error: unknown): unknown {
    const { signal } = this.#response;
    if (signal?.aborted === true) {
      this.#aborted();
      return signal.reason;
    }
    if (this.#halt.stop === "timeout") return this.#fail(this.#failureOf({ status: this.#response.status, cause: "timeout" }));
    if (TurnkeepError.is(error)) return this.#fail(error);
    const turn = this.#cut("provider");
    return this.#fail(this.#failureOf({ status: this.#response.status, cause: "transport" }, error), "client_disconnect", turn);
  }

  /** A stream was asked for and something else came. An error object in it outranks that (S-24). */
  async #refuse(): Promise<unknown> {
    const { reader, status, content_type } = this.#response;
    const body = await errorBody(this.#halt, reader);
    if (this.#response.signal?.aborted === true) return this.#response.signal.reason;
    return this.#fail(this.#failureOf({ status, cause: "content_type", content_type: content_type ?? undefined, body }));
  }

  #failureOf(facts: Failure, cause?: unknown): TurnkeepError {
    return new TurnkeepError(failureRecord(this.#response.protocol, facts), cause === undefined ? {} : { cause });
  }

  #fail(error: TurnkeepError, verdict: "rejected" | "client_disconnect" = "rejected", turn?: Turn): TurnkeepError {
    if (this.#reported) return error;
    this.#report({ verdict, error: error.toJSON(), ...(turn === undefined ? {} : { turn }) });
    this.#errored(error);
    return error;
  }

  #errored(reason: unknown): void {
    this.failed ??= { reason };
    this.#reject(reason);
  }

  readonly #aborted = (): void => {
    if (this.#reported) return;
    const reason: unknown = this.#response.signal?.reason;
    this.#leave("abort", reason);
    this.#controller?.error(reason);
  };

  /** The caller or the reader goes before the end: one outcome, and nobody waits for the source (S-11..S-13). */
  #leave(end: "abort" | "consumer", reason: unknown): void {
    if (this.#reported) return;
    this.#left = true;
    const turn = this.#cut(end) ?? (end === "abort" ? CANCELLED : CONSUMER_LEFT);
    this.#report({ verdict: end === "abort" ? "cancelled" : "client_disconnect", turn }, reason);
    if (end === "abort") this.#errored(reason);
    else this.#resolve(turn);
  }

  /** What was known when the response was cut; `undefined` when the core has none to give. */
  #cut(end: ResponseEnd): Turn | undefined {
    const { decoder } = this.#response;
    if (this.#counters !== undefined) return undefined;
    try {
      this.#counters = decoder.counters();
      return decoder.finish(end);
    } catch {
      return undefined;
    }
  }

  /** The one report, after which nothing is read and nothing is kept. */
  #report(facts: Pick<GuardReport, "verdict" | "turn" | "error">, reason?: unknown): void {
    if (this.#reported) return;
    this.#reported = true;
    const { decoder, reader, signal, onReport } = this.#response;
    signal?.removeEventListener("abort", this.#aborted);
    this.#halt.release();
    if (facts.verdict !== "passed") this.#kept.clear();
    decoder.free();
    // Best effort, and nobody waits for it (S-11).
    reader?.cancel(reason).catch(() => undefined);
    const { bytes, events } = this.#counters ?? { bytes: 0, events: 0 };
    const quirks = facts.turn !== undefined && "quirks" in facts.turn ? facts.turn.quirks : {};
    // A report is a courtesy: what its reader makes of it, now or later, changes nothing.
    void started(() => onReport?.({ ...facts, bytes, events, quirks })).catch(() => undefined);
  }
}
