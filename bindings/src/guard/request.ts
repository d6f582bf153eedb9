/**
 * Which requests a guard reads, and what they say about the answer (P-11). Looks only at what can be looked at without consuming it:
 * a body that is a stream, or stands inside a `Request`, is left alone, and the answer's content type decides instead.
 */
import type { Protocol } from "../../types/index.js";

/** What a `fetch` is called with, as far as it matters here. */
export type RequestInput = string | URL | { readonly url: string; readonly method?: string; readonly signal?: AbortSignal };

/** A request whose answer is a model's. */
export interface ModelRequest {
  readonly protocol: Protocol;
  /** Whether a stream was asked for, where that can be seen. */
  readonly stream: boolean | undefined;
  readonly model: string;
}

const CHAT = /\/chat\/completions\/?$/;
const MESSAGES = /\/messages\/?$/;
/** Messages of a stored thread, another API under the same last word. */
const THREAD = /\/threads\/[^/]+\/messages\/?$/;
/** Token counts and batches: no model answers there. */
const NO_TURN = /\/messages\/(count_tokens|batches)(\/|$)/;
const RESPONSES = /\/responses(\/[^/]+){0,2}\/?$/;

function pathOf(input: RequestInput): string {
  const text = typeof input === "string" ? input : "href" in input ? input.href : input.url;
  try {
    return new URL(text, "http://relative.invalid").pathname;
  } catch {
    // Not a URL: the inner fetch says so in its own words.
    return "";
  }
}

function protocolOf(path: string): Protocol | undefined {
  if (CHAT.test(path)) return "chat";
  return MESSAGES.test(path) && !THREAD.test(path) ? "messages" : undefined;
}

/** The members of a JSON body that we look at. What is no JSON object says nothing. */
function look(body: unknown): { readonly stream?: unknown; readonly model?: unknown } {
  let text = body;
  try {
    if (ArrayBuffer.isView(body) || body instanceof ArrayBuffer) text = new TextDecoder().decode(body);
    const value: unknown = typeof text === "string" ? JSON.parse(text) : undefined;
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** A model's request, one to the Responses API, or `undefined` for one that is none of ours. */
export function readRequest(input: RequestInput, init: RequestInit | undefined, fixed: Protocol | undefined): ModelRequest | "responses" | undefined {
  const method = init?.method ?? (typeof input === "object" && "method" in input ? input.method : undefined) ?? "GET";
  if (method.toUpperCase() !== "POST") return undefined;
  const path = pathOf(input);
  const found = protocolOf(path);
  if (found === undefined && RESPONSES.test(path)) return "responses";
  const protocol = fixed === undefined ? found : NO_TURN.test(path) ? undefined : fixed;
  if (protocol === undefined) return undefined;
  const { stream, model } = look(init?.body);
  return { protocol, stream: typeof stream === "boolean" ? stream : undefined, model: typeof model === "string" ? model : "" };
}

/** The caller's signal. `null` in `init` means none, also where the `Request` has one. */
export function signalOf(input: RequestInput, init: RequestInit | undefined): AbortSignal | undefined {
  const given = init?.signal;
  if (given !== undefined) return given ?? undefined;
  return typeof input === "object" && "signal" in input ? input.signal : undefined;
}
