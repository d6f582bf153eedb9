// Servers that do what servers should not, on raw sockets: against our own runtime and against the guard in front of `fetch`. Each row ends in
// one coded outcome, and within its limits (S-01..S-13, S-20, S-23, S-24). Node's: half of a gzip is a clean end to its `fetch` and an error to others'.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { createFetchRuntime, guardFetch, TurnkeepError } from "turnkeep";
import { configFor, PROTOCOLS } from "./lib/shop.mjs";
import { bodyOf, PATH, pause, post, readAll, turnParts, wholeTurn } from "./lib/streams.mjs";

/** No row may take longer, whatever its server does. */
const BOUND_MS = 8_000;
const LIMITS = { drain_ms: 250, idle_timeout_ms: 5_000, head_timeout_ms: 5_000, call_timeout_ms: 6_000 };
/** For rows that wait for a deadline. */
const SHORT = { idle_timeout_ms: 150, head_timeout_ms: 150 };
const head = (headers, status = "200 OK") => `HTTP/1.1 ${status}\r\n${headers.map((line) => `${line}\r\n`).join("")}\r\n`;
const SSE = "content-type: text/event-stream";
const JSON_TYPE = "content-type: application/json";
const CHUNKED = "transfer-encoding: chunked";
const CLOSE = "connection: close";
const piece = (bytes) => Buffer.concat([Buffer.from(`${Buffer.byteLength(bytes).toString(16)}\r\n`), Buffer.from(bytes), Buffer.from("\r\n")]);
const END = "0\r\n\r\n";
const length = (bytes, more = 0) => `content-length: ${Buffer.byteLength(bytes) + more}`;

/** What the runtime and the guard make of it: a turn's status or a code. The guard's `fetch failed` is what the inner fetch itself throws. */
const both = (outcome) => ({ runtime: outcome, guard: outcome });
const CUT = { runtime: "client_disconnect", guard: "PROVIDER_TRANSPORT" };
const NO_ANSWER = { runtime: "PROVIDER_TRANSPORT", guard: "fetch failed" };

/** Each row writes to the socket. `whole` is a legal tool turn, in its parts too. */
const ROWS = [
  { name: "trickles a byte at a time", ...both("tool_request"), async serve(socket, { whole }) {
    socket.write(head([SSE, CHUNKED]));
    for (const byte of Buffer.from(whole)) {
      socket.write(piece(Buffer.of(byte)));
      if (byte === 0x0a) await pause(0);
    }
    socket.write(END);
  } },
  { name: "stalls in the text", limits: SHORT, ...both("PROVIDER_TIMEOUT"), serve: (socket, { before }) => socket.write(Buffer.concat([Buffer.from(head([SSE, CHUNKED])), piece(before)])) },
  { name: "stalls inside a call", limits: SHORT, ...both("PROVIDER_TIMEOUT"), serve: (socket, { before, calls }) => socket.write(Buffer.concat([Buffer.from(head([SSE, CHUNKED])), piece(before + calls)])) },
  { name: "drips for ever, never idle", limits: { call_timeout_ms: 500 }, ...both("PROVIDER_TIMEOUT"), async serve(socket, { before }) {
    socket.write(head([SSE, CHUNKED]));
    socket.write(piece(before));
    while (!socket.destroyed) {
      socket.write(piece(": still here\n\n"));
      await pause(20);
    }
  } },
  { name: "never sends a head", limits: SHORT, ...both("PROVIDER_TIMEOUT"), rejects: true, serve: () => undefined },
  { name: "trickles its head for ever", limits: SHORT, ...both("PROVIDER_TIMEOUT"), rejects: true, async serve(socket) {
    socket.write("HTTP/1.1 200 OK\r\n");
    for (let at = 0; !socket.destroyed; at++) {
      socket.write(`x-${at}: 1\r\n`);
      await pause(20);
    }
  } },
  { name: "never closes after the marker", ...both("tool_request"), serve: (socket, { whole }) => socket.write(Buffer.concat([Buffer.from(head([SSE, CHUNKED])), piece(whole)])) },
  { name: "ends cleanly before the reason", ...both("STREAM_TRUNCATED"), serve: (socket, { before, calls }) => socket.end(Buffer.concat([Buffer.from(head([SSE, CHUNKED])), piece(before + calls), Buffer.from(END)])) },
  { name: "ends cleanly before the marker", ...both("STREAM_TRUNCATED"), serve: (socket, { before, calls, reason }) => socket.end(Buffer.concat([Buffer.from(head([SSE, CHUNKED])), piece(before + calls + reason), Buffer.from(END)])) },
  { name: "closes inside a chunk", ...CUT, async serve(socket, { before, calls }) {
    socket.write(Buffer.concat([Buffer.from(head([SSE, CHUNKED])), piece(before + calls)]));
    await pause(20);
    socket.end("fff\r\ndata: {");
  } },
  { name: "closes after the marker, without the last chunk", ...CUT, async serve(socket, { whole }) {
    socket.write(Buffer.concat([Buffer.from(head([SSE, CHUNKED])), piece(whole)]));
    await pause(20);
    socket.end();
  } },
  { name: "resets in the stream", ...CUT, async serve(socket, { before }) {
    socket.write(Buffer.concat([Buffer.from(head([SSE, CHUNKED])), piece(before)]));
    await pause(20);
    socket.resetAndDestroy();
  } },
  { name: "resets before the head", ...NO_ANSWER, rejects: true, serve: (socket) => socket.resetAndDestroy() },
  { name: "does not speak HTTP", ...NO_ANSWER, rejects: true, serve: (socket) => socket.end("220 smtp.example.com ESMTP\r\n") },
  { name: "sends gzip", ...both("tool_request"), serve: (socket, { whole }) => {
    const packed = gzipSync(whole);
    socket.end(Buffer.concat([Buffer.from(head([SSE, "content-encoding: gzip", length(packed), CLOSE])), packed]));
  } },
  { name: "sends half of a gzip", ...both("STREAM_TRUNCATED"), serve: (socket, { whole }) => {
    const packed = gzipSync(whole);
    const half = packed.subarray(0, packed.length / 2);
    socket.end(Buffer.concat([Buffer.from(head([SSE, "content-encoding: gzip", length(half), CLOSE])), half]));
  } },
  { name: "says gzip and sends text", ...CUT, serve: (socket, { whole }) => socket.end(head([SSE, "content-encoding: gzip", length(whole), CLOSE]) + whole) },
  { name: "calls a stream JSON", ...both("NOT_AN_EVENT_STREAM"), serve: (socket, { whole }) => socket.end(head([JSON_TYPE, length(whole), CLOSE]) + whole) },
  { name: "names no content type", ...both("NOT_AN_EVENT_STREAM"), serve: (socket, { whole }) => socket.end(head([length(whole), CLOSE]) + whole) },
  { name: "answers JSON to a stream request", ...both("NOT_AN_EVENT_STREAM"), serve: (socket, { body }) => socket.end(head([JSON_TYPE, length(body), CLOSE]) + body) },
  { name: "calls JSON a stream", ...both("STREAM_TRUNCATED"), serve: (socket, { body }) => socket.end(head([SSE, length(body), CLOSE]) + body) },
  // The guard goes by what came, since the SDK will; our runtime asked for a body.
  { name: "answers a stream to a body request", stream: false, runtime: "JSON_INVALID", guard: "tool_request", serve: (socket, { whole }) => socket.end(head([SSE, length(whole), CLOSE]) + whole) },
  { name: "answers a body", stream: false, ...both("tool_request"), serve: (socket, { body }) => socket.end(head([JSON_TYPE, length(body), CLOSE]) + body) },
  { name: "answers a body in gzip", stream: false, ...both("tool_request"), serve: (socket, { body }) => {
    const packed = gzipSync(body);
    socket.end(Buffer.concat([Buffer.from(head([JSON_TYPE, "content-encoding: gzip", length(packed), CLOSE])), packed]));
  } },
  { name: "cuts a body", stream: false, ...CUT, serve: (socket, { body }) => socket.end(head([JSON_TYPE, length(body), CLOSE]) + body.slice(0, -20)) },
  { name: "stalls in a body", limits: SHORT, stream: false, ...both("PROVIDER_TIMEOUT"), serve: (socket, { body }) => socket.write(head([JSON_TYPE, length(body)]) + body.slice(0, -20)) },
  { name: "promises more than it sends", ...CUT, serve: (socket, { whole }) => socket.end(head([SSE, length(whole, 100), CLOSE]) + whole) },
  { name: "promises less than it sends", ...both("STREAM_TRUNCATED"), serve: (socket, { whole }) => socket.end(head([SSE, length(whole, -40), CLOSE]) + whole) },
  { name: "sends data 50 ms after the marker", limits: { drain_ms: 1_000 }, ...both("POST_TERMINAL_DATA"), async serve(socket, { whole }) {
    socket.write(Buffer.concat([Buffer.from(head([SSE, CHUNKED])), piece(whole)]));
    await pause(50);
    socket.write(piece("data: {}\n\n"));
  } },
  // What comes only then cannot be seen by anybody (S-10).
  { name: "sends data only after the deadline", limits: { drain_ms: 40 }, ...both("tool_request"), async serve(socket, { whole }) {
    socket.write(Buffer.concat([Buffer.from(head([SSE, CHUNKED])), piece(whole)]));
    await pause(400);
    if (!socket.destroyed) socket.write(piece("data: {}\n\n"));
  } },
  { name: "redirects", runtime: "PROVIDER_ERROR", guard: "tool_request", serve: (socket, { whole, path }) => (path === "/moved"
    ? socket.end(head([SSE, length(whole), CLOSE]) + whole)
    : socket.end(head(["location: /moved", "content-length: 0", CLOSE], "307 Temporary Redirect"))) },
  { name: "redirects in a circle", runtime: "PROVIDER_ERROR", guard: "fetch failed", rejects: true, serve: (socket, { path }) => socket.end(head([`location: ${path}`, "content-length: 0", CLOSE], "307 Temporary Redirect")) },
  { name: "sends 102 and 103 first", ...both("tool_request"), serve: (socket, { whole }) => socket.end(`${head([], "102 Processing")}${head(["link: </a>; rel=preload"], "103 Early Hints")}${head([SSE, length(whole), CLOSE])}${whole}`) },
  { name: "ends with the connection, without a length", ...both("tool_request"), serve: (socket, { whole }) => socket.end(head([SSE, CLOSE]) + whole) },
  { name: "answers 200 with nothing, as a stream", ...both("STREAM_TRUNCATED"), serve: (socket) => socket.end(head([SSE, "content-length: 0", CLOSE])) },
  { name: "answers 200 with nothing", ...both("NOT_AN_EVENT_STREAM"), serve: (socket) => socket.end(head(["content-length: 0", CLOSE])) },
  { name: "answers 200 with nothing, for a body", stream: false, ...both("JSON_INVALID"), serve: (socket) => socket.end(head([JSON_TYPE, "content-length: 0", CLOSE])) },
  { name: "never ends an event", limits: { max_event_bytes: 20_000 }, ...both("LIMIT_EVENT_BYTES"), async serve(socket) {
    socket.write(head([SSE, CHUNKED]));
    socket.write(piece("data: "));
    while (!socket.destroyed) {
      socket.write(piece("x".repeat(4_000)));
      await pause(1);
    }
  } },
  { name: "never ends a body", stream: false, limits: { max_response_bytes: 20_000 }, ...both("LIMIT_RESPONSE_BYTES"), async serve(socket) {
    socket.write(head([JSON_TYPE, CHUNKED]));
    while (!socket.destroyed) {
      socket.write(piece(" ".repeat(4_000)));
      await pause(1);
    }
  } },
  { name: "comments for ever", limits: { max_stream_bytes: 20_000 }, ...both("LIMIT_STREAM_BYTES"), async serve(socket) {
    socket.write(head([SSE, CHUNKED]));
    while (!socket.destroyed) {
      socket.write(piece(": waiting\n\n".repeat(100)));
      await pause(1);
    }
  } },
  // An HTTP error passes the guard as it came: its body is the SDK's to read, so only our runtime is asked.
  { name: "sends an error that never ends", runtime: "PROVIDER_UNAVAILABLE", async serve(socket) {
    socket.write(head(["content-type: text/plain", CHUNKED], "503 Service Unavailable"));
    while (!socket.destroyed) {
      socket.write(piece("no ".repeat(2_000)));
      await pause(1);
    }
  } },
];

/** A server that lets a row write, once for each request. */
async function wild(t, serve, facts) {
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    let asked = "";
    socket.on("data", (bytes) => {
      const fresh = asked === "";
      asked += bytes.toString("latin1");
      // The requests of this test are small: the first read has the head.
      if (fresh) void Promise.resolve(serve(socket, { ...facts, path: /^POST (\S+)/.exec(asked)?.[1] })).catch(() => undefined);
    });
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => { server.once("listening", resolve); });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

async function throughRuntime(origin, protocol, row) {
  let settled = false;
  let late = 0;
  const config = { ...configFor(protocol, `${origin}/v1`), limits: { provider: { ...LIMITS, ...row.limits } } };
  const runtime = createFetchRuntime({ config, apiKey: "" });
  const input = { session_id: "s", model_profile: "main", messages: [{ role: "user", content: "hi" }], stream: row.stream ?? true };
  const outcome = await runtime.executeTurn(input, { onDelta: () => { if (settled) late += 1; } }).then((turn) => turn.status, (error) => {
    assert.ok(TurnkeepError.is(error), String(error?.stack));
    return error.code;
  });
  settled = true;
  await pause(5);
  assert.equal(late, 0);
  return outcome;
}

async function throughGuard(origin, protocol, row, facts) {
  const reports = [];
  const strict = guardFetch(fetch, { limits: { ...LIMITS, ...row.limits }, onReport: (report) => reports.push(report) });
  const answer = await strict(origin + PATH[protocol], post(row.stream ?? true)).then((response) => ({ response }), (error) => ({ error }));
  if (row.rejects) {
    assert.equal(reports.length, 0);
    assert.ok(answer.error !== undefined, "no answer was to come");
    return TurnkeepError.find(answer.error)?.code ?? answer.error.message;
  }
  assert.equal(answer.error, undefined, String(answer.error?.stack));
  const { bytes, error } = await readAll(answer.response.body);
  assert.equal(reports.length, 1);
  if (error === undefined) {
    assert.equal(reports[0].verdict, "passed");
    const sent = answer.response.headers.get("content-type").startsWith("text/") ? facts.whole : facts.body;
    assert.equal(bytes.toString(), sent);
    return reports[0].turn.status;
  }
  assert.ok(TurnkeepError.is(error), String(error?.stack));
  assert.equal(reports[0].error.code, error.code);
  assert.ok(!/call_a|tool_calls|tool_use/.test(bytes.toString()), "bytes of a call passed");
  return error.code;
}

for (const protocol of PROTOCOLS) {
  const facts = { ...turnParts(protocol), whole: wholeTurn(protocol), body: bodyOf(protocol) };
  for (const row of ROWS) {
    for (const [name, through] of [["runtime", throughRuntime], ["guard", throughGuard]]) {
      if (row[name] === undefined) continue;
      test(`${protocol}, ${name}: a server that ${row.name}`, { timeout: BOUND_MS }, async (t) => {
        const origin = await wild(t, row.serve, facts);
        assert.equal(await through(origin, protocol, row, facts), row[name]);
      });
    }
  }
}

test("the table has rows for every kind of server", () => {
  assert.ok(ROWS.length >= 40, String(ROWS.length));
  assert.equal(new Set(ROWS.map(({ name }) => name)).size, ROWS.length);
});
