/**
 * The guard: a `fetch` or a body of an SDK that stays, made strict (types/guard.d.ts). Chooses which requests are guarded (P-11), holds the
 * head to its deadline (S-23), and puts a guarded body in place of the provider's. Knows nothing of what the bytes mean.
 */
import type { FetchLike, GuardedStream, GuardOptions, HostAbortSignal, HostByteStream, Protocol } from "../types/index.js";
import { ResponseDecoder } from "./decoder.js";
import { TurnkeepError } from "./errors.js";
import { GuardedBody, type GuardedResponse } from "./guard/body.js";
import { type ModelRequest, readRequest, type RequestInput, signalOf } from "./guard/request.js";
import { type Clock, clockOf } from "./host/clock.js";
import { type Answer, DEADLINES, type Deadlines, failureRecord, isAnswer, isEventStream } from "./host/fetch.js";
import { Halt, started } from "./host/halt.js";
import { raised } from "./raise.js";

type Send = (...request: readonly [RequestInput, RequestInit?]) => PromiseLike<unknown>;

const OPTIONS: ReadonlySet<string> = new Set(["protocol", "limits", "quirks", "hold", "onReport", "host", "signal"]);

/** Options, read once. */
class Guard {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    // A misspelt option would leave the guard at a default that its user believes changed.
    const unknown = Object.keys(options).find((name) => !OPTIONS.has(name));
    if (unknown !== undefined) throw raised("configuration_error", unknown.slice(0, 64));
    if (options.onReport !== undefined && typeof options.onReport !== "function") throw raised("configuration_error", "onReport");
    this.#options = options;
    this.clock = clockOf(options.host);
    const { drain_ms, head_timeout_ms, idle_timeout_ms, call_timeout_ms } = options.limits ?? {};
    this.deadlines = {
      drain_ms: drain_ms ?? DEADLINES.drain_ms,
      head_timeout_ms: head_timeout_ms ?? DEADLINES.head_timeout_ms,
      idle_timeout_ms: idle_timeout_ms ?? DEADLINES.idle_timeout_ms,
      call_timeout_ms: call_timeout_ms ?? DEADLINES.call_timeout_ms,
    };
    // What the core refuses of the options is said now, and not with the first answer.
    this.#decoder(options.protocol ?? "chat", true, "").free();
  }

  #decoder(protocol: Protocol, stream: boolean, model: string): ResponseDecoder {
    const { limits, quirks, hold } = this.#options;
    return new ResponseDecoder({ protocol, stream, limits, quirks, model_profile: "", model, deltas: false, hold: hold ?? "calls" });
  }

  body(answer: Pick<Answer, "body" | "status"> & { readonly content_type: string | null }, request: ModelRequest, signal: AbortSignal | undefined, until: number): GuardedBody {
    const streams = isEventStream(answer.content_type);
    const mode: GuardedResponse["mode"] = streams ? "stream" : request.stream === true ? "other" : "body";
    return new GuardedBody({
      protocol: request.protocol, mode, status: answer.status, content_type: answer.content_type, reader: answer.body?.getReader(),
      decoder: this.#decoder(request.protocol, streams, request.model),
      deadlines: this.deadlines, until, clock: this.clock, signal, onReport: this.#options.onReport,
    });
  }
}

/** Both signals as one. Where the platform cannot join them, the caller's own goes on alone. */
function joined(caller: AbortSignal | undefined, own: AbortSignal): AbortSignal {
  if (caller === undefined) return own;
  const { any } = AbortSignal as { any?: (signals: AbortSignal[]) => AbortSignal };
  return any === undefined || !(caller instanceof AbortSignal) ? caller : any.call(AbortSignal, [caller, own]);
}

/** The response head, within its deadline. An abort and what `fetch` itself throws pass as they are: SDKs know them. */
async function head(guard: Guard, send: Send, request: ModelRequest, input: RequestInput, init: RequestInit | undefined): Promise<unknown> {
  const signal = signalOf(input, init);
  const connection = new AbortController();
  const halt = new Halt(guard.clock, signal);
  halt.after(Math.min(guard.deadlines.head_timeout_ms, guard.deadlines.call_timeout_ms), "timeout");
  const sent = started(() => send(input, { ...init, signal: joined(signal, connection.signal) }));
  try {
    return await halt.wait(sent, false);
  } catch (error) {
    if (halt.stop === undefined) throw error;
    connection.abort();
    // An answer that comes all the same has no reader any more.
    void sent.then((answer) => (isAnswer(answer) ? answer.body?.cancel() : undefined)).catch(() => undefined);
    if (halt.stop === "timeout") throw new TurnkeepError(failureRecord(request.protocol, { status: null, cause: "timeout" }));
    throw signal?.reason;
  } finally {
    halt.release();
  }
}

/** Whether an answer has nothing to guard: HTTP errors and redirects pass as they came, and so do answers that can have no body. */
function passes({ status }: Answer): boolean {
  return status < 200 || status > 299 || status === 204 || status === 205;
}

const READERS = ["arrayBuffer", "blob", "bytes", "formData", "json", "text"] as const;

/** The answer with the guarded body. Browsers hide from `json()` and its like what a body errored with: here they say it. */
function rebuilt({ status, statusText, headers, url }: Response, body: GuardedBody): Response {
  const response = new Response(body.readable, { status, statusText, headers: [...headers] });
  Object.defineProperty(response, "url", { value: url });
  for (const name of READERS) {
    const read = Reflect.get(response, name) as ((this: Response) => Promise<unknown>) | undefined;
    if (read === undefined) continue;
    const value = (): Promise<unknown> => read.call(response).catch((error: unknown) => { throw body.failed === undefined ? error : body.failed.reason; });
    Object.defineProperty(response, name, { value });
  }
  return response;
}

/** Makes a `fetch` strict (types/guard.d.ts). */
export function guardFetch<F extends FetchLike>(fetch: F, options: GuardOptions = {}): F {
  if (typeof fetch !== "function") throw raised("configuration_error", "fetch");
  const guard = new Guard(options);
  const send = fetch as unknown as Send;
  const guarded = async (...given: readonly [RequestInput, RequestInit?]): Promise<unknown> => {
    const [input, init] = given;
    const request = readRequest(input, init, options.protocol);
    if (request === "responses") throw raised("responses_api_shape", "url");
    if (request === undefined) return send(...given);
    const until = guard.clock.monotonic() + guard.deadlines.call_timeout_ms;
    const answer = await head(guard, send, request, input, init);
    if (!isAnswer(answer)) throw raised("hook_failed", "fetch");
    if (passes(answer)) return answer;
    const content_type = answer.headers.get("content-type");
    const body = guard.body({ status: answer.status, body: answer.body, content_type }, request, signalOf(input, init), until);
    return rebuilt(answer as unknown as Response, body);
  };
  return guarded as unknown as F;
}

/** Guards a stream that is there already (types/guard.d.ts). */
export function guardStream(body: HostByteStream, options: GuardOptions & { readonly protocol: Protocol; readonly signal?: HostAbortSignal | undefined }): GuardedStream {
  const guard = new Guard(options);
  const source = body as ReadableStream<Uint8Array>;
  if (typeof source.getReader !== "function" || source.locked) throw raised("hook_failed", "body");
  const request: ModelRequest = { protocol: options.protocol, stream: true, model: "" };
  const answer = { status: 200, body: source, content_type: "text/event-stream" };
  const { readable, turn } = guard.body(answer, request, options.signal, guard.clock.monotonic() + guard.deadlines.call_timeout_ms);
  return { readable, turn };
}
