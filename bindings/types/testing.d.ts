import type { JsonObject, JsonValue, Protocol } from "./index.js";

/** Tokens a scripted answer reports; `null` reports none. Default 100 in, 20 out. */
export type ScriptedUsage = { readonly input_tokens: number; readonly output_tokens: number } | null;
/** A fault of a stream: where it strikes, counted in body bytes or named by the shape. */
export type FaultPlace = number | "before_finish" | "before_terminal";
/** How an answer travels. Everything is optional; nothing misbehaves by default. */
export interface ScriptedTransport {
  /** How the body is cut into writes: as whole events, one byte each, `n` bytes each, or seeded random pieces of 1 to `max` bytes. */
  readonly split?: "whole" | "bytes" | number | { readonly seed: number; readonly max: number } | undefined;
  /** Milliseconds between two writes. */
  readonly pause_ms?: number | undefined;
  /** The body ends early and cleanly here. */
  readonly cut?: FaultPlace | undefined;
  /** The connection is reset here. */
  readonly reset?: FaultPlace | undefined;
  /** Nothing more is sent from here on, and the connection stays open. */
  readonly stall?: FaultPlace | undefined;
  /** The connection stays open after the terminal marker. */
  readonly hold_open?: boolean | undefined;
  /** Bytes sent after the terminal marker. */
  readonly after_terminal?: string | undefined;
  readonly content_type?: string | undefined;
}
/** One answer. The format of scenario files, docs/scenarios.md. */
export type ScriptedTurn = { readonly transport?: ScriptedTransport | undefined } & (
  | { readonly text: string; readonly usage?: ScriptedUsage }
  | {
      /** Without an `id` the provider makes one: `call_<turn>_<position>`. */
      readonly calls: readonly { readonly id?: string; readonly name: string; readonly input?: JsonObject; /** The arguments as text, sent as it stands. */ readonly input_json?: string }[];
      readonly text?: string;
      readonly usage?: ScriptedUsage;
    }
  | { readonly finish: "length" | "content_filter"; readonly text?: string; readonly usage?: ScriptedUsage }
  | { readonly http: number; readonly retry_after_s?: number; readonly body?: string }
  | {
      /** The body as sent, one write each. */
      readonly chunks: readonly (string | Uint8Array)[];
    }
);

/** A `fetch` that answers from a script. */
export interface ScriptedProvider {
  readonly fetch: typeof globalThis extends { fetch: infer F extends (...args: never) => PromiseLike<unknown> } ? F : (input: string, init?: object) => Promise<unknown>;
  /** What was asked, bodies parsed, no headers. */
  readonly requests: readonly JsonObject[];
  /** Turns not asked for yet. */
  readonly left: number;
}
/**
 * A provider without a network. Each request takes the next turn; one more than scripted rejects with an `Error` that says so.
 *
 * @example
 * const provider = createScriptedProvider([{ calls: [{ name: "shop:lookup", input: { order: 7 } }] }, { text: "It is paid." }]);
 * const run = runAgent({ model, prompt: "Order 7?", tools, limits: { max_cost_usd: null }, fetch: provider.fetch });
 */
export function createScriptedProvider(
  turns: readonly ScriptedTurn[],
  options?: { readonly protocol?: Protocol | undefined; readonly split?: ScriptedTransport["split"] },
): ScriptedProvider;

/** A scenario file: JSON, docs/scenarios.md. */
export interface Scenario {
  readonly name: string;
  readonly turns: readonly ScriptedTurn[];
}
export interface ScriptedServerOptions {
  /** Answer 401 unless this key is sent in the protocol's own header. */
  readonly api_key?: string | undefined;
}
/** A running scripted server. */
export interface ScriptedServer {
  /** `http://127.0.0.1:<port>/v1`, for `base_url`. */
  readonly url: string;
  readonly port: number;
  /** What was asked, bodies parsed, no headers. */
  readonly requests: readonly { readonly path: string; readonly body: JsonValue }[];
  /** Turns not asked for yet. */
  readonly left: number;
  /** Ends every connection. Rejects when more turns were asked for than scripted. */
  close(): Promise<void>;
}
/**
 * A real HTTP server on loopback that answers `/v1/chat/completions` and `/v1/messages` from a scenario. Node, Deno and Bun only.
 *
 * @throws Error when the scenario does not have the documented shape
 * @example
 * const server = await startScriptedServer({ name: "hello", turns: [{ text: "Hello." }] });
 * const model = { protocol: "chat", model: "scripted", base_url: server.url } as const;
 * await server.close();
 */
export function startScriptedServer(scenario: Scenario, options?: ScriptedServerOptions): Promise<ScriptedServer>;
