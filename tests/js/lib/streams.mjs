// Bytes of both protocols, sources that give them piece by piece, and a real server with a handler of the test's own.
import { createServer } from "node:http";

const encoder = new TextEncoder();
export const bytesOf = (text) => (typeof text === "string" ? encoder.encode(text) : text);
const event = (data) => `data: ${JSON.stringify(data)}\n\n`;
const named = (data) => `event: ${data.type}\n${event(data)}`;
const delta = (value, finish_reason = null) => event({ id: "c", choices: [{ index: 0, delta: value, finish_reason }] });

/** The parts of a turn, each one event or a few: what a stream is put together from. */
export const WIRE = {
  chat: {
    head: delta({ role: "assistant", content: "" }),
    text: (text) => delta({ content: text }),
    call: (index, id, args) => [
      delta({ tool_calls: [{ index, id, type: "function", function: { name: "lookup", arguments: "" } }] }),
      delta({ tool_calls: [{ index, function: { arguments: args } }] }),
    ].join(""),
    closeText: "",
    reason: (calls) => delta({}, calls ? "tool_calls" : "stop"),
    cutReason: delta({}, "length"),
    marker: "data: [DONE]\n\n",
  },
  messages: {
    head: named({ type: "message_start", message: { id: "m", type: "message", role: "assistant", content: [], model: "m", usage: { input_tokens: 1, output_tokens: 1 } } })
      + named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    text: (text) => named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }),
    closeText: named({ type: "content_block_stop", index: 0 }),
    call: (index, id, args) => [
      { type: "content_block_start", index: index + 1, content_block: { type: "tool_use", id, name: "lookup", input: {} } },
      { type: "content_block_delta", index: index + 1, delta: { type: "input_json_delta", partial_json: args } },
      { type: "content_block_stop", index: index + 1 },
    ].map(named).join(""),
    reason: (calls) => named({ type: "message_delta", delta: { stop_reason: calls ? "tool_use" : "end_turn", stop_sequence: null }, usage: { output_tokens: 5 } }),
    cutReason: named({ type: "message_delta", delta: { stop_reason: "max_tokens", stop_sequence: null }, usage: { output_tokens: 5 } }),
    marker: named({ type: "message_stop" }),
  },
};

/** Text, then calls, then the end: as text, in the places where tests cut it. */
export function turnParts(protocol, { text = "Let me look. ", calls = [["call_a", '{"order":7}'], ["call_b", '{"order":8}']] } = {}) {
  const wire = WIRE[protocol];
  return {
    before: wire.head + wire.text(text) + wire.closeText,
    calls: calls.map(([id, args], at) => wire.call(at, id, args)).join(""),
    reason: wire.reason(calls.length > 0),
    cutReason: wire.cutReason,
    marker: wire.marker,
  };
}

/** The whole of it. */
export function wholeTurn(protocol, options) {
  const { before, calls, reason, marker } = turnParts(protocol, options);
  return before + calls + reason + marker;
}

/** A body of the same turn. */
export function bodyOf(protocol, calls = [["call_a", { order: 7 }]]) {
  return JSON.stringify(protocol === "chat"
    ? { id: "c", object: "chat.completion", model: "m", choices: [{ index: 0, finish_reason: calls.length ? "tool_calls" : "stop", message: { role: "assistant", content: "Hi.", tool_calls: calls.map(([id, input]) => ({ id, type: "function", function: { name: "lookup", arguments: JSON.stringify(input) } })) } }] }
    : { id: "m", type: "message", role: "assistant", model: "m", stop_reason: calls.length ? "tool_use" : "end_turn", stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 }, content: [{ type: "text", text: "Hi." }, ...calls.map(([id, input]) => ({ type: "tool_use", id, name: "lookup", input }))] });
}

/** A source that gives its pieces one read each, then ends as told. Counts what was read of it. */
export function source(pieces, { end = "eof", cancel = () => undefined } = {}) {
  const seen = { pulls: 0, cancelled: 0, reason: undefined };
  let at = 0;
  const body = new ReadableStream({
    async pull(controller) {
      seen.pulls += 1;
      const piece = pieces[at++];
      if (piece !== undefined) {
        const bytes = bytesOf(typeof piece === "function" ? await piece() : piece);
        controller.enqueue(bytes.slice());
      } else if (end === "eof") controller.close();
      else if (end !== "open") controller.error(end);
      else await new Promise(() => undefined);
    },
    cancel(reason) {
      seen.cancelled += 1;
      seen.reason = reason;
      return cancel();
    },
  }, { highWaterMark: 0 });
  return { body, seen };
}

/** Reads a body to its end: every piece with the time it came, and what it errored with. */
export async function readAll(body) {
  const began = performance.now();
  const pieces = [];
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push({ bytes: Buffer.from(value), at: performance.now() - began });
    }
    return { pieces, bytes: Buffer.concat(pieces.map(({ bytes }) => bytes)), error: undefined };
  } catch (error) {
    return { pieces, bytes: Buffer.concat(pieces.map(({ bytes }) => bytes)), error };
  }
}

export const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** A server on loopback that does with each request what the test says. Gives its origin. */
export async function serveRaw(t, handler) {
  const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => { void handler(request, response, Buffer.concat(parts)); });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => { server.once("listening", resolve); });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

/** The path of a protocol. */
export const PATH = { chat: "/v1/chat/completions", messages: "/v1/messages" };
/** A request as an SDK sends it. */
export const post = (stream, extra = {}) => ({ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ model: "m", messages: [], ...(stream === undefined ? {} : { stream }) }), ...extra });
