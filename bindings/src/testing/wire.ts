/**
 * What a provider sends on the wire for a scripted turn, in both protocols, as a stream and as a body. Shapes only: how the bytes travel is
 * `transport.ts`. Names go out as the request offered them: characters a protocol forbids become `_` (P-14).
 */
import type { JsonObject, Protocol } from "../../types/index.js";
import type { ScriptedTurn, ScriptedUsage } from "../../types/testing.js";

/** A body in pieces, and where in it the reason and the terminal marker stand. */
export interface WireBody {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly pieces: readonly (string | Uint8Array)[];
  /** Index of the piece with the finish reason; absent where there is none. */
  readonly finish?: number;
  /** Index of the piece with the terminal marker. */
  readonly terminal?: number;
}

/** What of a request decides the answer. */
export interface Asked {
  readonly protocol: Protocol;
  readonly stream: boolean;
  readonly model: string;
  /** Position of the turn, from 0: ids are made of it. */
  readonly turn: number;
}

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}
interface Said {
  readonly text: string;
  readonly calls: readonly Call[];
  readonly finish: "stop" | "calls" | "length" | "content_filter";
  readonly usage: ScriptedUsage;
}

const USAGE: NonNullable<ScriptedUsage> = { input_tokens: 100, output_tokens: 20 };
const REASONS = {
  chat: { stop: "stop", calls: "tool_calls", length: "length", content_filter: "content_filter" },
  messages: { stop: "end_turn", calls: "tool_use", length: "max_tokens", content_filter: "refusal" },
} as const;
const JSON_TYPE = { "content-type": "application/json" };
const STREAM_TYPE = { "content-type": "text/event-stream" };

/** The body of a turn. */
export function wireBody(turn: ScriptedTurn, asked: Asked): WireBody {
  if ("http" in turn) {
    const retry = turn.retry_after_s === undefined ? {} : { "retry-after": String(turn.retry_after_s) };
    const text = turn.body ?? JSON.stringify({ type: "error", error: { type: "scripted_error", message: `scripted HTTP ${String(turn.http)}` } });
    return { status: turn.http, headers: { ...JSON_TYPE, ...retry }, pieces: [text] };
  }
  const headers = asked.stream ? STREAM_TYPE : JSON_TYPE;
  if ("chunks" in turn) return { status: 200, headers, pieces: turn.chunks };
  const said = saidOf(turn, asked);
  if (!asked.stream) return { status: 200, headers, pieces: [JSON.stringify(asked.protocol === "chat" ? chatBody(said, asked) : messagesBody(said, asked))] };
  const pieces = asked.protocol === "chat" ? chatEvents(said, asked) : messagesEvents(said, asked);
  const finish = pieces.findIndex((piece) => /"(finish|stop)_reason":"/.test(piece));
  return { status: 200, headers, pieces, finish, terminal: pieces.length - 1 };
}

function saidOf(turn: Exclude<ScriptedTurn, { readonly http: number } | { readonly chunks: unknown }>, asked: Asked): Said {
  const usage = turn.usage === undefined ? USAGE : turn.usage;
  const text = turn.text ?? "";
  if ("finish" in turn) return { text, calls: [], finish: turn.finish, usage };
  if (!("calls" in turn)) return { text, calls: [], finish: "stop", usage };
  const calls = turn.calls.map((call, at) => ({
    id: call.id ?? `call_${String(asked.turn)}_${String(at)}`,
    name: call.name.replace(/[^a-zA-Z0-9_-]/g, "_"),
    arguments: call.input_json ?? JSON.stringify(call.input ?? {}),
  }));
  return { text, calls, finish: "calls", usage };
}

/** Two or three fragments, so that a reader must join them. */
function fragments(text: string): readonly string[] {
  const points = Array.from(text);
  const third = Math.max(1, Math.ceil(points.length / 3));
  return [points.slice(0, third), points.slice(third, 2 * third), points.slice(2 * third)].map((part) => part.join("")).filter((part) => part !== "");
}

// Chat Completions

function chatUsage(usage: NonNullable<ScriptedUsage>): JsonObject {
  return { prompt_tokens: usage.input_tokens, completion_tokens: usage.output_tokens, total_tokens: usage.input_tokens + usage.output_tokens };
}

function chatEvents(said: Said, asked: Asked): readonly string[] {
  const base = { id: `chatcmpl-${String(asked.turn)}`, object: "chat.completion.chunk", created: 1_767_225_600, model: asked.model };
  const event = (delta: JsonObject, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const events = [event({ role: "assistant", content: "" })];
  for (const content of fragments(said.text)) events.push(event({ content }));
  said.calls.forEach((call, index) => {
    events.push(event({ tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }] }));
    for (const part of fragments(call.arguments)) events.push(event({ tool_calls: [{ index, function: { arguments: part } }] }));
  });
  events.push(event({}, REASONS.chat[said.finish]));
  if (said.usage !== null) events.push(`data: ${JSON.stringify({ ...base, choices: [], usage: chatUsage(said.usage) })}\n\n`);
  events.push("data: [DONE]\n\n");
  return events;
}

function chatBody(said: Said, asked: Asked): JsonObject {
  const calls = said.calls.map((call) => ({ id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } }));
  const message = { role: "assistant", content: said.text === "" ? null : said.text, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
  const choices = [{ index: 0, message, finish_reason: REASONS.chat[said.finish] }];
  const usage = said.usage === null ? {} : { usage: chatUsage(said.usage) };
  return { id: `chatcmpl-${String(asked.turn)}`, object: "chat.completion", created: 1_767_225_600, model: asked.model, choices, ...usage };
}

// Messages

function messagesEvents(said: Said, asked: Asked): readonly string[] {
  const events: string[] = [];
  const event = (data: JsonObject & { readonly type: string }): void => { events.push(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`); };
  const head = { id: `msg_${String(asked.turn)}`, type: "message", role: "assistant", model: asked.model, content: [], stop_reason: null, stop_sequence: null };
  event({ type: "message_start", message: said.usage === null ? head : { ...head, usage: { input_tokens: said.usage.input_tokens, output_tokens: 1 } } });
  event({ type: "ping" });
  let index = 0;
  const block = (content_block: JsonObject, deltas: readonly JsonObject[]): void => {
    event({ type: "content_block_start", index, content_block });
    for (const delta of deltas) event({ type: "content_block_delta", index, delta });
    event({ type: "content_block_stop", index });
    index += 1;
  };
  if (said.text !== "") block({ type: "text", text: "" }, fragments(said.text).map((text) => ({ type: "text_delta", text })));
  for (const call of said.calls) {
    const deltas = fragments(call.arguments).map((partial_json) => ({ type: "input_json_delta", partial_json }));
    block({ type: "tool_use", id: call.id, name: call.name, input: {} }, deltas);
  }
  const usage = said.usage === null ? {} : { usage: { output_tokens: said.usage.output_tokens } };
  event({ type: "message_delta", delta: { stop_reason: REASONS.messages[said.finish], stop_sequence: null }, ...usage });
  event({ type: "message_stop" });
  return events;
}

function messagesBody(said: Said, asked: Asked): JsonObject {
  const content: JsonObject[] = said.text === "" ? [] : [{ type: "text", text: said.text }];
  for (const call of said.calls) content.push({ type: "tool_use", id: call.id, name: call.name, input: JSON.parse(call.arguments) as JsonObject });
  const reason = { stop_reason: REASONS.messages[said.finish], stop_sequence: null };
  const usage = said.usage === null ? {} : { usage: { ...said.usage } };
  return { id: `msg_${String(asked.turn)}`, type: "message", role: "assistant", model: asked.model, content, ...reason, ...usage };
}
