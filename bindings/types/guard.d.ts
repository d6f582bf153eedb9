import type { FetchLike, HostAbortSignal, HostByteStream, HostPorts } from "./base.js";
import type { Protocol, ProviderLimits, QuirkProfileName } from "./config.js";
import type { ErrorRecord } from "./errors.js";
import type { Turn } from "./turn.js";

/** How a guard works. Everything has a default. */
export interface GuardOptions {
  /**
   * Default: by the request's path (`/chat/completions`, `/messages`); other requests pass untouched. With it every `POST` is
   * guarded, for gateways with paths of their own. `/responses` is refused in both.
   */
  readonly protocol?: Protocol | undefined;
  /** Bounds on bytes and time (S-01..S-10, S-23). */
  readonly limits?: ProviderLimits | undefined;
  /** Default "strict". */
  readonly quirks?: QuirkProfileName | undefined;
  /**
   * Default "calls": text passes at once, everything from the first tool call on is held until the turn is whole.
   * "terminal": only the terminal marker is held, for an SDK that runs tools at the end of the stream and nowhere else.
   */
  readonly hold?: "calls" | "terminal" | undefined;
  /** One report for each guarded response. A throw is ignored. */
  readonly onReport?: ((report: GuardReport) => void) | undefined;
  readonly host?: HostPorts | undefined;
}

/** What came of one guarded response. */
export interface GuardReport {
  /** `passed`: all of it was handed over. `cancelled`: the request's signal. `client_disconnect`: the reader left, or the connection broke (`turn.details.side`). */
  readonly verdict: "passed" | "rejected" | "cancelled" | "client_disconnect";
  /** The turn that was handed over, or what was known when it was cut. */
  readonly turn?: Turn;
  /** What the body errored with. */
  readonly error?: ErrorRecord;
  /** Bytes and events read. */
  readonly bytes: number;
  readonly events: number;
  /** Normalisations of the quirk profile that were used, with counts. */
  readonly quirks: { readonly [quirk: string]: number };
}

/**
 * The same `fetch`, strict: for an SDK that you keep. Text passes at once, byte for byte; tool calls are held until the turn is whole, in
 * order and within the limits. A bad body errors with a `TurnkeepError` (find it with `TurnkeepError.find`), an abort with `signal.reason`.
 * HTTP errors pass as they came, so that the SDK's own retries work.
 *
 * @throws CONFIGURATION_ERROR, LIMIT_INVALID at once; the guarded fetch RESPONSES_API_UNSUPPORTED, PROVIDER_TIMEOUT, HOOK_FAILED
 * @example
 * const client = new OpenAI({ fetch: guardFetch(fetch) });
 */
export function guardFetch<F extends FetchLike>(fetch: F, options?: GuardOptions): F;

/** A guarded body. */
export interface GuardedStream {
  /** The same bytes. Errors where `guardFetch`'s body would. */
  readonly readable: HostByteStream;
  /** Settles with the body: the turn once all was handed over or the reader left, else what the body errored with. Never unhandled. */
  readonly turn: Promise<Turn>;
}

/**
 * Guards an event stream that you have already.
 *
 * @throws CONFIGURATION_ERROR, LIMIT_INVALID; HOOK_FAILED when the body is locked
 * @example
 * const { readable, turn } = guardStream(response.body, { protocol: "chat" });
 * for await (const bytes of readable) forward(bytes);
 * console.log((await turn).status);
 */
export function guardStream(body: HostByteStream, options: GuardOptions & { readonly protocol: Protocol; readonly signal?: HostAbortSignal | undefined }): GuardedStream;
