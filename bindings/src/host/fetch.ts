/**
 * One request and its answer over `fetch`: head, body, drain, and every way it can end (S-10..S-13, S-20, S-23, S-24).
 * The core says what to send and what the bytes mean. The key is added here and is in nothing that leaves here (P-10).
 */
import type { ErrorRecord, FetchLike, HostAbortSignal, Protocol, Turn, TurnDelta, TurnOptions } from "../../types/index.js";
import { DRAINING, FAILED, type ResponseEnd } from "../border.js";
import { ResponseDecoder, type ResponseShape } from "../decoder.js";
import { TurnkeepError } from "../errors.js";
import { encode } from "../json.js";
import { raised } from "../raise.js";
import { CANCELLED, CONSUMER_LEFT } from "../turn.js";
import { callCore } from "../wasm.js";
import type { Clock } from "./clock.js";
import { mentions } from "./secret.js";
import { Halt, started } from "./halt.js";

/** Milliseconds of S-10 and S-23. */
export interface Deadlines {
  readonly drain_ms: number;
  readonly head_timeout_ms: number;
  readonly idle_timeout_ms: number;
  readonly call_timeout_ms: number;
}
/** Where nothing else is said. */
export const DEADLINES: Deadlines = { drain_ms: 250, head_timeout_ms: 60_000, idle_timeout_ms: 60_000, call_timeout_ms: 600_000 };

/** All that one exchange needs. */
export interface Exchange {
  readonly url: string;
  readonly method: string;
  /** With the key. */
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  /** To keep it out of a cause. */
  readonly key: string;
  readonly shape: ResponseShape;
  readonly deadlines: Deadlines;
  readonly fetch: FetchLike;
  readonly clock: Clock;
  readonly signal: HostAbortSignal | undefined;
  readonly onDelta: TurnOptions["onDelta"];
}

/** A body of an error is read to here and no further (S-24). */
const MAX_ERROR_BODY_BYTES = 65_536;
/** One copy into wasm memory is never larger, so that a huge chunk meets its limit before it is kept. */
export const MAX_PUSH_BYTES = 1_048_576;

/** Errors of attempts that are known to cost nothing: no head, or an HTTP error (T-03). */
const unbilled = new WeakSet();

/** Whether an attempt that ended so costs a known 0. */
export function isUnbilled(error: unknown): boolean {
  return typeof error === "object" && error !== null && unbilled.has(error);
}

/** What is known of a response that is no turn. */
export interface Failure {
  readonly status: number | null;
  readonly cause: "http" | "transport" | "timeout" | "content_type";
  readonly retry_after?: string | undefined;
  readonly content_type?: string | undefined;
  readonly body?: string | undefined;
}

/** The record of a failed response, as the core words it (S-24). */
export function failureRecord(protocol: Protocol, facts: Failure): ErrorRecord {
  return JSON.parse(callCore((border) => border.http_error(encode({ ...facts, protocol }, "response")))) as ErrorRecord;
}

/** The system's word for a connection that failed, such as `ECONNREFUSED`: `fetch` wraps it. Nothing else of such an error is told. */
function transportCode(error: unknown): string | undefined {
  for (let one = error, depth = 0; typeof one === "object" && one !== null && depth < 4; one = (one as { cause?: unknown }).cause, depth += 1) {
    const { code } = one as { code?: unknown };
    if (typeof code === "string" && /^[A-Z][A-Z0-9_]{2,39}$/.test(code)) return code;
  }
  return undefined;
}

function failure(exchange: Exchange, facts: Failure, billed: boolean, cause?: unknown): TurnkeepError {
  const record = failureRecord(exchange.shape.protocol, facts);
  const transport_code = transportCode(cause);
  const told = transport_code === undefined ? record : { ...record, details: { ...record.details, transport_code } };
  const error = new TurnkeepError(told, cause === undefined || mentions(cause, exchange.key) ? {} : { cause });
  if (!billed) unbilled.add(error);
  return error;
}

/** What of a `Response` we use. */
export interface Answer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: ReadableStream<Uint8Array> | null;
}
/** Duck-typed: a `Response` of another realm or library is as good. */
export function isAnswer(value: unknown): value is Answer {
  const { status, headers, body } = (value ?? {}) as Partial<Answer>;
  return typeof status === "number" && typeof headers?.get === "function" && (body === null || (typeof body?.getReader === "function" && !body.locked));
}
export type Reader = ReadableStreamDefaultReader<Uint8Array>;

/**
 * Runs one exchange to its one end: a turn, a cancelled turn, or an error.
 * @throws TurnkeepError of blame provider; LIMIT_INVALID; HOOK_FAILED when `onDelta` threw or `fetch` gave no response
 */
export async function runExchange(exchange: Exchange): Promise<Turn> {
  const decoder = new ResponseDecoder(exchange.shape);
  const halt = new Halt(exchange.clock, exchange.signal);
  const connection = new AbortController();
  try {
    halt.after(exchange.deadlines.call_timeout_ms, "timeout");
    const answer = await head(exchange, halt, connection.signal);
    if (answer === undefined) return halt.stop === "consumer" ? CONSUMER_LEFT : CANCELLED;
    return await body(exchange, halt, decoder, answer);
  } finally {
    halt.release();
    decoder.free();
    connection.abort();
  }
}

/** The response head; `undefined` when the caller ended it first. */
async function head(exchange: Exchange, halt: Halt, connection: AbortSignal): Promise<Answer | undefined> {
  const disarm = halt.after(exchange.deadlines.head_timeout_ms, "timeout");
  const { url, method, headers, body: text } = exchange;
  const send = exchange.fetch as unknown as (url: string, init: object) => PromiseLike<unknown>;
  try {
    // A redirect is not followed: the key would go where the configuration does not say.
    const answer = await halt.wait(started(() => send(url, { method, headers, body: text, signal: connection, redirect: "manual" })), false);
    if (!isAnswer(answer)) throw raised("hook_failed", "fetch");
    return answer;
  } catch (error) {
    if (halt.stop === "timeout") throw failure(exchange, { status: null, cause: "timeout" }, false);
    if (halt.stop !== undefined) return undefined;
    if (TurnkeepError.is(error)) throw error;
    throw failure(exchange, { status: null, cause: "transport" }, false, error);
  } finally {
    disarm();
  }
}

/** Whether a content type is that of a stream. */
export function isEventStream(type: string | null): boolean {
  return /^\s*text\/event-stream\s*(;|$)/i.test(type ?? "");
}

async function body(exchange: Exchange, halt: Halt, decoder: ResponseDecoder, answer: Answer): Promise<Turn> {
  const endIdle = halt.idle(exchange.deadlines.idle_timeout_ms);
  const reader = answer.body?.getReader();
  const type = answer.headers.get("content-type");
  const good = answer.status >= 200 && answer.status < 300;
  const streams = isEventStream(type);
  try {
    if (good && (streams || !exchange.shape.stream)) return await decode(exchange, halt, decoder, reader, endIdle);
    const text = await errorBody(halt, reader);
    const gone = left(halt);
    if (gone !== undefined) return gone === "consumer" ? CONSUMER_LEFT : CANCELLED;
    const facts = { status: answer.status, retry_after: answer.headers.get("retry-after") ?? undefined, content_type: type ?? undefined, body: text };
    throw failure(exchange, { ...facts, cause: good ? "content_type" : "http" }, good);
  } finally {
    // Best effort, and nobody waits for it (S-11).
    reader?.cancel().catch(() => undefined);
  }
}

/** At most 64 KiB of an error's body, whatever comes of the rest. */
export async function errorBody(halt: Halt, reader: Reader | undefined): Promise<string> {
  const text = new TextDecoder("utf-8");
  let read = "";
  let left = MAX_ERROR_BODY_BYTES;
  try {
    while (reader !== undefined && left > 0) {
      const { done, value } = await halt.wait(reader.read());
      if (done) break;
      read += text.decode(value.subarray(0, left), { stream: true });
      left -= value.length;
    }
  } catch {
    // What was read is all there is: an abort or a deadline is seen by the caller, a broken body loses only its rest.
  }
  return read;
}

async function decode(exchange: Exchange, halt: Halt, decoder: ResponseDecoder, reader: Reader | undefined, endIdle: () => void): Promise<Turn> {
  let end: ResponseEnd = "eof";
  let last: readonly TurnDelta[] = [];
  let draining = false;
  while (reader !== undefined) {
    let read: ReadableStreamReadResult<Uint8Array> | undefined;
    try {
      read = await halt.wait(reader.read());
    } catch {
      read = undefined;
    }
    if (read === undefined || left(halt) !== undefined) {
      end = cut(exchange, halt, draining);
      break;
    }
    if (read.done) break;
    const deltas = feed(decoder, read.value);
    const state = decoder.state();
    if (state === FAILED) break;
    if (state === DRAINING && !draining) {
      // One absolute deadline from the marker. The last deltas wait for it: a slow reader must not hide what comes after the marker.
      draining = true;
      last = deltas;
      endIdle();
      halt.after(exchange.deadlines.drain_ms, "drain");
    } else if (deltas.length > 0 && !(await tell(exchange, halt, deltas))) {
      end = left(halt) ?? "abort";
      break;
    }
  }
  if (end === "eof" || end === "drain_deadline") {
    halt.resume();
    if (decoder.state() !== FAILED && !(await tell(exchange, halt, last))) end = left(halt) ?? "abort";
  }
  return decoder.finish(end);
}

/** Who ended it, when a person or a program on our side did. */
function left({ stop }: Halt): "abort" | "consumer" | undefined {
  return stop === "abort" || stop === "consumer" ? stop : undefined;
}

/** What a read that gave nothing means. Past the marker the turn is whole: whichever deadline comes first only ends the drain. */
function cut(exchange: Exchange, halt: Halt, draining: boolean): ResponseEnd {
  const over = halt.stop === "drain" || halt.stop === "timeout";
  if (over && !draining) throw failure(exchange, { status: 200, cause: "timeout" }, true);
  if (halt.stop === undefined) return "provider";
  return over ? "drain_deadline" : halt.stop;
}

/** Feeds one read, a large one in pieces. */
export function feed(decoder: ResponseDecoder, chunk: Uint8Array): readonly TurnDelta[] {
  if (!ArrayBuffer.isView(chunk)) throw raised("hook_failed", "fetch");
  if (chunk.length <= MAX_PUSH_BYTES) return decoder.push(chunk);
  const deltas: TurnDelta[] = [];
  for (let from = 0; from < chunk.length && decoder.state() !== FAILED; from += MAX_PUSH_BYTES)
    deltas.push(...decoder.push(chunk.subarray(from, from + MAX_PUSH_BYTES)));
  return deltas;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** Hands deltas on, one after another. False when the caller ended the call meanwhile. */
async function tell(exchange: Exchange, halt: Halt, deltas: readonly TurnDelta[]): Promise<boolean> {
  const { onDelta } = exchange;
  if (onDelta === undefined) return true;
  for (const delta of deltas) {
    try {
      // Most listeners are done when they return: only one that is not costs a wait.
      const busy = onDelta(delta) as unknown;
      if (isThenable(busy)) await halt.wait(Promise.resolve(busy), false);
    } catch (error) {
      if (left(halt) !== undefined) return false;
      if (halt.stop === "timeout") throw failure(exchange, { status: 200, cause: "timeout" }, true);
      throw raised("hook_failed", "onDelta", error);
    }
    if (left(halt) !== undefined) return false;
  }
  return true;
}
