/** A value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;

export type JsonPrimitive = string | number | boolean | null;
/** Any JSON. Integers beyond ±(2^53-1) stand only in texts (`context.input_json`), never in values (N-04). */
export type JsonValue = JsonPrimitive | readonly JsonValue[] | JsonObject;
/** A JSON object. A `__proto__` member is data like any other (N-04). */
export type JsonObject = { readonly [key: string]: JsonValue };
/** JSON Schema 2020-12. */
export type JsonSchema = JsonObject;

/** `sha256:` and 64 hex digits, over the canonical form (N-03). */
export type Digest = `sha256:${string}`;
/** RFC 3339, UTC, milliseconds. */
export type Timestamp = string;

type Host<K extends string, Fallback> = typeof globalThis extends { [P in K]: { prototype: infer T } } ? T : Fallback;
/** The runtime's own `AbortSignal`, so that a tool can hand it on to `fetch`. */
export type HostAbortSignal = Host<"AbortSignal", { readonly aborted: boolean; readonly reason: unknown }>;
/** The runtime's own byte stream: what `response.body` is. */
export type HostByteStream = Host<"ReadableStream", { getReader(): unknown; cancel(reason?: unknown): Promise<void> }>;
/** Any `fetch`: the platform's, undici's, a Worker binding's. */
export type FetchLike = (input: never, init?: never) => PromiseLike<unknown>;

/** A key, or a function that gives one at send time. It never enters the core, a log, an event or an error (P-10). */
export type Secret = string | (() => Awaitable<string>);

/**
 * https://standardschema.dev: zod, valibot, arktype and others.
 * A vendor that also describes itself (`jsonSchema.input`, zod 4.2 and newer) needs no `input_schema` beside it.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      value: unknown,
    ) => Awaitable<
      | { readonly value: Output; readonly issues?: undefined }
      | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] }
    >;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/**
 * Time and randomness. Default: the platform's. The core itself has neither (design law 1).
 *
 * @example
 * const host: HostPorts = {
 *   now: () => 1_767_225_600_000, // 2026-01-01T00:00:00Z
 *   entropy: (bytes) => new Uint8Array(bytes),
 *   sleep: (ms, signal) => clock.sleep(ms, signal),
 * };
 */
export interface HostPorts {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds that never go back. Default: `now`. */
  monotonic?(): number;
  /** Fresh random bytes. */
  entropy(bytes: number): Uint8Array;
  /** Resolves after `ms` milliseconds, or at once when the signal aborts. */
  sleep(ms: number, signal: HostAbortSignal): Promise<void>;
}
