// The guard: the same bytes, but no call before its turn is whole; every ending once, reported once (P-11, P-20, S-10..S-13, S-20, S-23, S-24).
import assert from "node:assert/strict";
import test from "node:test";
import { guardFetch, guardStream, TurnkeepError } from "turnkeep";
import { PROTOCOLS } from "./lib/shop.mjs";
import { bodyOf, bytesOf, PATH, pause, post, readAll, serveRaw, source, turnParts, WIRE, wholeTurn } from "./lib/streams.mjs";

const { liveObjects } = await import(new URL("../wasm.js", import.meta.resolve("turnkeep")));
const SSE = { "content-type": "text/event-stream" };
const LOST = new Error("socket hang up");

/** Guards a source: what was read, every report, the source's own count. */
async function guarded(protocol, pieces, { end, options = {} } = {}) {
  const reports = [];
  const { body, seen } = source(pieces, { end });
  const { readable, turn } = guardStream(body, { protocol, onReport: (report) => reports.push(report), ...options });
  const read = await readAll(readable);
  return { ...read, reports, seen, turn };
}

function rejected({ error, reports }, code, rule) {
  assert.ok(TurnkeepError.is(error), String(error?.stack ?? error));
  assert.equal(error.code, code);
  if (rule !== undefined) assert.equal(error.rule, rule);
  assert.deepEqual(reports.map((report) => [report.verdict, report.error?.code]), [["rejected", code]]);
}

for (const protocol of PROTOCOLS) {
  const parts = turnParts(protocol);
  const whole = wholeTurn(protocol);

  test(`${protocol}: a tool turn passes byte for byte, and is reported once`, async () => {
    const result = await guarded(protocol, [parts.before, parts.calls, parts.reason, parts.marker]);
    assert.equal(result.error, undefined);
    assert.equal(result.bytes.toString(), whole);
    const [report] = result.reports;
    assert.equal(result.reports.length, 1);
    assert.deepEqual([report.verdict, report.turn.status, report.bytes], ["passed", "tool_request", bytesOf(whole).length]);
    assert.ok(report.events > 4);
    assert.equal(await result.turn, report.turn);
  });

  test(`${protocol}: text passes while the rest has not come yet`, async () => {
    let go;
    const gate = new Promise((resolve) => { go = resolve; });
    const { body } = source([parts.before, async () => { await gate; return parts.calls; }, parts.reason + parts.marker]);
    const reader = guardStream(body, { protocol }).readable.getReader();
    const { value } = await reader.read();
    assert.equal(Buffer.from(value).toString(), parts.before);
    go();
    const rest = await reader.read();
    assert.equal(Buffer.from(rest.value).toString(), parts.calls + parts.reason + parts.marker);
    assert.equal((await reader.read()).done, true);
  });

  test(`${protocol}: an unfinished event waits, also when single bytes come`, async () => {
    const pieces = [...bytesOf(parts.before)].map((byte) => Uint8Array.of(byte));
    const { body } = source(pieces, { end: "open" });
    const reader = guardStream(body, { protocol }).readable.getReader();
    let text = "";
    while (text.length < parts.before.length) {
      text += Buffer.from((await reader.read()).value).toString();
      assert.ok(parts.before.startsWith(text) && text.endsWith("\n\n"), JSON.stringify(text));
    }
    assert.equal(text, parts.before);
    await reader.cancel();
  });

  test(`${protocol}: nothing of the first call on comes before the drain is over (S-10)`, async () => {
    const result = await guarded(protocol, [parts.before, parts.calls, parts.reason, parts.marker], { end: "open", options: { limits: { drain_ms: 120 } } });
    assert.equal(result.error, undefined);
    assert.deepEqual(result.pieces.map(({ bytes }) => bytes.toString()), [parts.before, parts.calls + parts.reason + parts.marker]);
    assert.ok(result.pieces[1].at >= 100, `the tail came after ${result.pieces[1].at} ms`);
    assert.equal(result.seen.cancelled, 1);
  });

  test(`${protocol}: a text turn's marker waits for the drain too (S-10)`, async () => {
    const { before, reason, marker } = turnParts(protocol, { calls: [] });
    const result = await guarded(protocol, [before, reason, marker], { end: "open", options: { limits: { drain_ms: 60 } } });
    assert.deepEqual(result.pieces.map(({ bytes }) => bytes.toString()), [before, reason, marker]);
    assert.ok(result.pieces[2].at >= 50);
  });

  for (const [name, extra] of [["a whole event", "data: {}\n\n"], ["one byte", " "]]) {
    test(`${protocol}: ${name} after the marker, inside the drain, rejects and no call byte passes (S-10)`, async () => {
      const late = async () => { await pause(40); return extra; };
      const result = await guarded(protocol, [parts.before, parts.calls + parts.reason + parts.marker, late], { options: { limits: { drain_ms: 5000 } } });
      rejected(result, "POST_TERMINAL_DATA", "S-10");
      assert.equal(result.bytes.toString(), parts.before);
    });
  }

  test(`${protocol}: a reader that is slow hides nothing that comes after the marker (S-10)`, async () => {
    const late = async () => { await pause(30); return " "; };
    const { body } = source([parts.before + parts.calls + parts.reason + parts.marker, late], { end: "open" });
    const reports = [];
    const reader = guardStream(body, { protocol, limits: { drain_ms: 100 }, onReport: (report) => reports.push(report) }).readable.getReader();
    assert.equal(Buffer.from((await reader.read()).value).toString(), parts.before);
    await pause(300);
    await assert.rejects(reader.read(), (error) => TurnkeepError.is(error, "POST_TERMINAL_DATA"));
    assert.equal(reports.length, 1);
  });

  test(`${protocol}: text that had passed is not lost to an error of the same read`, async () => {
    const result = await guarded(protocol, [`${parts.before}data: {]\n\n${parts.calls}`]);
    rejected(result, "JSON_INVALID");
    assert.equal(result.bytes.toString(), parts.before);
  });

  test(`${protocol}: the error comes with the read after the text, not before a slow reader has it`, async () => {
    const { body } = source([`${parts.before}data: {]\n\n`]);
    const reader = guardStream(body, { protocol }).readable.getReader();
    assert.equal(Buffer.from((await reader.read()).value).toString(), parts.before);
    await pause(20);
    await assert.rejects(reader.read(), (error) => TurnkeepError.is(error, "JSON_INVALID"));
  });

  for (const [name, tail, code] of [["inside the arguments", "cut", "STREAM_TRUNCATED"], ["before the marker", "unmarked", "STREAM_TRUNCATED"], ["by length, with calls", "length", "FINISH_REASON_MISMATCH"]]) {
    test(`${protocol}: a turn that ends ${name} gives no call to anybody`, async () => {
      const rest = { cut: parts.calls.slice(0, -80), unmarked: parts.calls + parts.reason, length: parts.calls + parts.cutReason + parts.marker }[tail];
      const result = await guarded(protocol, [parts.before, rest]);
      rejected(result, code);
      assert.equal(result.bytes.toString(), parts.before);
      await assert.rejects(result.turn, (error) => error === result.error);
    });
  }

  test(`${protocol}: cut by length without a call is no error`, async () => {
    const { before, cutReason, marker } = turnParts(protocol, { calls: [] });
    const result = await guarded(protocol, [before + cutReason + marker]);
    assert.equal(result.error, undefined);
    assert.equal(result.reports[0].turn.status, "incomplete");
  });

  test(`${protocol}: hold "terminal" lets calls through and keeps the marker`, async () => {
    const result = await guarded(protocol, [parts.before, parts.calls, parts.reason, parts.marker], { end: "open", options: { hold: "terminal", limits: { drain_ms: 30 } } });
    assert.deepEqual(result.pieces.map(({ bytes }) => bytes.toString()), [parts.before, parts.calls, parts.reason, parts.marker]);
  });

  test(`${protocol}: what is held is bounded (S-02)`, async () => {
    const huge = (index) => WIRE[protocol].call(index, `call_${index}`, JSON.stringify({ text: "x".repeat(5000) }));
    const result = await guarded(protocol, [parts.before, huge(0), huge(1), huge(2)], { options: { limits: { max_stream_bytes: 8000 } } });
    rejected(result, "LIMIT_STREAM_BYTES", "S-02");
    assert.equal(result.bytes.toString(), parts.before);
    assert.ok(result.seen.pulls < 5);
  });

  test(`${protocol}: nothing is read before somebody asks, and no more than was asked for`, async () => {
    const { body, seen } = source([parts.before, parts.calls, parts.reason + parts.marker]);
    const reader = guardStream(body, { protocol }).readable.getReader();
    await pause(5);
    assert.equal(seen.pulls, 0);
    await reader.read();
    await pause(5);
    assert.equal(seen.pulls, 1);
    await reader.cancel();
  });

  test(`${protocol}: a reader that leaves cancels the source and waits for nothing (S-11, S-13)`, async () => {
    const reports = [];
    const { body, seen } = source([parts.before], { end: "open", cancel: () => new Promise(() => undefined) });
    const { readable, turn } = guardStream(body, { protocol, onReport: (report) => reports.push(report) });
    const reader = readable.getReader();
    await reader.read();
    const pending = reader.read();
    const why = new Error("enough");
    await reader.cancel(why);
    assert.equal((await pending).done, true);
    assert.deepEqual([seen.cancelled, seen.reason], [1, why]);
    assert.deepEqual(reports.map(({ verdict, turn: cut }) => [verdict, cut.status, cut.details.side]), [["client_disconnect", "client_disconnect", "consumer"]]);
    assert.equal((await turn).status, "client_disconnect");
  });

  test(`${protocol}: a reader that leaves while the turn waits in its drain gets one outcome (S-13)`, async () => {
    const reports = [];
    const { body, seen } = source([parts.before + parts.calls + parts.reason + parts.marker], { end: "open" });
    const reader = guardStream(body, { protocol, limits: { drain_ms: 20 }, onReport: (report) => reports.push(report) }).readable.getReader();
    await reader.read();
    await pause(60);
    await reader.cancel();
    assert.deepEqual(reports.map(({ verdict }) => verdict), ["client_disconnect"]);
    assert.equal(seen.cancelled, 1);
  });

  for (const when of ["while it waits", "between two reads", "inside the drain", "before it began"]) {
    test(`${protocol}: an abort ${when} errors with the signal's reason, once (S-12)`, async () => {
      const reports = [];
      const stop = new AbortController();
      const why = new Error("stop it");
      if (when === "before it began") stop.abort(why);
      const drains = when === "inside the drain";
      const { body, seen } = source(drains ? [parts.before + parts.calls + parts.reason + parts.marker] : [parts.before], { end: "open" });
      const { readable, turn } = guardStream(body, { protocol, signal: stop.signal, limits: { drain_ms: 5000 }, onReport: (report) => reports.push(report) });
      const reader = readable.getReader();
      if (when !== "before it began") {
        await reader.read();
        const pending = when === "between two reads" ? undefined : assert.rejects(reader.read(), (error) => error === why);
        await pause(5);
        stop.abort(why);
        await pending;
      }
      await assert.rejects(reader.read(), (error) => error === why);
      await assert.rejects(turn, (error) => error === why);
      assert.deepEqual(reports.map(({ verdict, turn: cut }) => [verdict, cut.status]), [["cancelled", "cancelled"]]);
      assert.equal(seen.cancelled, 1);
    });
  }

  for (const [name, pieces] of [["in the text", [parts.before]], ["inside a call", [parts.before, parts.calls]], ["inside the drain", [parts.before, parts.calls + parts.reason + parts.marker]]]) {
    test(`${protocol}: a connection that breaks ${name} errors, with the cause, on the provider's side (S-13)`, async () => {
      const result = await guarded(protocol, pieces, { end: LOST });
      assert.ok(TurnkeepError.is(result.error, "PROVIDER_TRANSPORT"), String(result.error?.stack));
      assert.equal(result.error.cause, LOST);
      assert.equal(result.bytes.toString(), parts.before);
      assert.deepEqual(result.reports.map(({ verdict, turn }) => [verdict, turn.details.side]), [["client_disconnect", "provider"]]);
    });
  }

  test(`${protocol}: the idle deadline and the whole call's (S-23)`, async () => {
    const slow = (text) => async () => { await pause(40); return text; };
    const idle = await guarded(protocol, [parts.before], { end: "open", options: { limits: { idle_timeout_ms: 40 } } });
    rejected(idle, "PROVIDER_TIMEOUT", "S-23");
    assert.equal(idle.bytes.toString(), parts.before);
    const drip = Array.from({ length: 40 }, () => slow(WIRE[protocol].text("x")));
    const call = await guarded(protocol, [WIRE[protocol].head, ...drip], { options: { limits: { call_timeout_ms: 130 } } });
    rejected(call, "PROVIDER_TIMEOUT", "S-23");
    assert.ok(call.pieces.length > 1 && call.pieces.length < 10);
  });

  test(`${protocol}: a slow reader is not an idle provider (S-23)`, async () => {
    const { body } = source([parts.before, parts.calls + parts.reason + parts.marker]);
    const reader = guardStream(body, { protocol, limits: { idle_timeout_ms: 40 } }).readable.getReader();
    await reader.read();
    await pause(120);
    assert.equal(Buffer.from((await reader.read()).value).toString(), parts.calls + parts.reason + parts.marker);
  });

  test(`${protocol}: a report that throws, now or later, changes nothing`, async () => {
    for (const onReport of [() => { throw new Error("no"); }, async () => { throw new Error("later"); }]) {
      const result = await guarded(protocol, [whole], { options: { onReport } });
      assert.equal(result.error, undefined);
      assert.equal(result.bytes.toString(), whole);
    }
  });

  test(`${protocol}: over fetch, status, headers, url and bytes are the same`, async (t) => {
    const origin = await serveRaw(t, (_request, response) => {
      response.writeHead(201, "Made", { ...SSE, "x-request-id": "r-1" });
      response.end(whole);
    });
    const url = `${origin}${PATH[protocol]}?beta=true`;
    const facts = ({ status, statusText, url: at, headers }) => [status, statusText, at, headers.get("x-request-id"), headers.get("content-type")];
    const plain = await fetch(url, post(true));
    await plain.text();
    assert.deepEqual(facts(plain).toSpliced(1, 1), [201, url, "r-1", SSE["content-type"]]);
    for (const input of [url, new URL(url), new Request(url, post(true))]) {
      const reports = [];
      const response = await guardFetch(fetch, { onReport: (report) => reports.push(report) })(input, input instanceof Request ? undefined : post(true));
      assert.deepEqual(facts(response), facts(plain));
      assert.ok(response instanceof Response);
      assert.equal(await response.text(), whole);
      assert.deepEqual(reports.map(({ verdict }) => verdict), ["passed"]);
    }
  });

  test(`${protocol}: a body is checked before any of it is handed over`, async (t) => {
    const good = bodyOf(protocol);
    const bad = bodyOf(protocol, [["call_a", { order: 7 }], ["call_a", { order: 8 }]]);
    let answer = good;
    const origin = await serveRaw(t, (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(answer.slice(0, 20));
      setTimeout(() => response.end(answer.slice(20)), 10);
    });
    const reports = [];
    const strict = guardFetch(fetch, { onReport: (report) => reports.push(report) });
    for (const stream of [undefined, false]) assert.equal(await (await strict(origin + PATH[protocol], post(stream))).text(), good);
    answer = bad;
    const read = await readAll((await strict(origin + PATH[protocol], post())).body);
    assert.ok(TurnkeepError.is(read.error, "CALL_ID_DUPLICATE"), String(read.error));
    assert.equal(read.bytes.length, 0);
    answer = " ".repeat(1000) + good;
    const small = await readAll((await guardFetch(fetch, { limits: { max_response_bytes: 500 } })(origin + PATH[protocol], post())).body);
    assert.ok(TurnkeepError.is(small.error, "LIMIT_RESPONSE_BYTES"), String(small.error));
    assert.deepEqual(reports.map(({ verdict }) => verdict), ["passed", "passed", "rejected"]);
  });

  test(`${protocol}: what a body errored with is said by every way to read it, also where the platform hides it`, async (t) => {
    const bad = bodyOf(protocol, [["call_a", {}], ["call_a", {}]]);
    const origin = await serveRaw(t, (_request, response) => { response.writeHead(200, { "content-type": "application/json" }).end(bad); });
    const names = ["arrayBuffer", "blob", "bytes", "formData", "json", "text"].filter((name) => typeof Response.prototype[name] === "function");
    assert.ok(names.length >= 5);
    for (const name of names) {
      // As Chromium does it.
      t.mock.method(Response.prototype, name, async function hidden() {
        await this.body.pipeTo(new WritableStream()).catch(() => undefined);
        throw new TypeError("Failed to fetch");
      });
      const response = await guardFetch(fetch)(origin + PATH[protocol], post());
      await assert.rejects(response[name](), (error) => TurnkeepError.is(error, "CALL_ID_DUPLICATE"), name);
      await assert.rejects(new Response("x")[name](), TypeError);
    }
  });

  test(`${protocol}: a body cut by length with a call in it is not handed over (P-20)`, async (t) => {
    const cut = bodyOf(protocol).replace(protocol === "chat" ? '"tool_calls","message"' : '"tool_use","stop_sequence"', protocol === "chat" ? '"length","message"' : '"max_tokens","stop_sequence"');
    assert.notEqual(cut, bodyOf(protocol));
    const origin = await serveRaw(t, (_request, response) => { response.writeHead(200, { "content-type": "application/json" }).end(cut); });
    const read = await readAll((await guardFetch(fetch)(origin + PATH[protocol], post())).body);
    assert.ok(TurnkeepError.is(read.error, "FINISH_REASON_MISMATCH"), String(read.error));
    assert.deepEqual([read.error.reason, read.error.rule, read.bytes.length], ["calls_not_runnable", "P-20", 0]);
  });

  test(`${protocol}: HTTP errors are the very response that came, and are not reported (S-24)`, async (t) => {
    const origin = await serveRaw(t, (_request, response) => { response.writeHead(429, { "retry-after": "2" }).end("slow down"); });
    let inner;
    const reports = [];
    const strict = guardFetch(async (input, init) => (inner = await fetch(input, init)), { onReport: (report) => reports.push(report) });
    const response = await strict(origin + PATH[protocol], post(true));
    assert.equal(response, inner);
    assert.equal(await response.text(), "slow down");
    assert.deepEqual(reports, []);
  });

  test(`${protocol}: a stream was asked for and something else came (S-24)`, async (t) => {
    let answer = ["text/html", "<html>sign in</html>"];
    const origin = await serveRaw(t, (_request, response) => { response.writeHead(200, { "content-type": answer[0] }).end(answer[1]); });
    const rows = [
      ["text/html", "<html>sign in</html>", "NOT_AN_EVENT_STREAM"],
      ["application/json", bodyOf(protocol), "NOT_AN_EVENT_STREAM"],
      ["application/json", '{"error":{"type":"rate_limit_error","message":"slow"}}', "PROVIDER_RATE_LIMITED"],
    ];
    for (const [type, text, code] of rows) {
      answer = [type, text];
      for (const body of [post(true).body, bytesOf(post(true).body)]) {
        const reports = [];
        const response = await guardFetch(fetch, { onReport: (report) => reports.push(report) })(origin + PATH[protocol], post(true, { body }));
        rejected({ ...(await readAll(response.body)), reports }, code, "S-24");
      }
    }
  });

  test(`${protocol}: a stream that was not asked for is still guarded as one`, async (t) => {
    const origin = await serveRaw(t, (_request, response) => { response.writeHead(200, SSE).end(parts.before + parts.calls); });
    const read = await readAll((await guardFetch(fetch)(origin + PATH[protocol], post())).body);
    assert.ok(TurnkeepError.is(read.error, "STREAM_TRUNCATED"), String(read.error));
    assert.equal(read.bytes.toString(), parts.before);
  });

  test(`${protocol}: the head has a deadline, and an abort before it is the signal's reason (S-12, S-23)`, async (t) => {
    let closed = 0;
    const origin = await serveRaw(t, (_request, response) => { response.on("close", () => { closed += 1; }); });
    const strict = guardFetch(fetch, { limits: { head_timeout_ms: 40 } });
    await assert.rejects(strict(origin + PATH[protocol], post(true)), (error) => TurnkeepError.is(error, "PROVIDER_TIMEOUT"));
    const stop = new AbortController();
    const why = new Error("stop it");
    const waiting = guardFetch(fetch)(origin + PATH[protocol], post(true, { signal: stop.signal }));
    setTimeout(() => stop.abort(why), 20);
    await assert.rejects(waiting, (error) => error === why);
    await pause(40);
    assert.equal(closed, 2);
  });

  test(`${protocol}: over fetch, an abort inside the body is the signal's reason and closes the socket (S-12)`, async (t) => {
    let closed = 0;
    const origin = await serveRaw(t, (_request, response) => {
      response.on("close", () => { closed += 1; });
      response.writeHead(200, SSE).write(parts.before);
    });
    for (const input of ["string", "request"]) {
      const stop = new AbortController();
      const why = new Error("stop it");
      const reports = [];
      const init = post(true, { signal: stop.signal });
      const strict = guardFetch(fetch, { onReport: (report) => reports.push(report) });
      const response = await (input === "string" ? strict(origin + PATH[protocol], init) : strict(new Request(origin + PATH[protocol], init)));
      setTimeout(() => stop.abort(why), 30);
      const read = await readAll(response.body);
      assert.equal(read.error, why);
      assert.equal(read.bytes.toString(), parts.before);
      assert.deepEqual(reports.map(({ verdict }) => verdict), ["cancelled"]);
    }
    await pause(40);
    assert.equal(closed, 2);
  });
}

const PATHS = [
  // method, path, protocol option, what becomes of the request
  ["POST", "/v1/chat/completions", undefined, "guarded"],
  ["post", "/v1/chat/completions", undefined, "guarded"],
  ["POST", "/openai/deployments/d/chat/completions?api-version=1", undefined, "guarded"],
  ["POST", "/v1/messages?beta=true", undefined, "guarded"],
  ["GET", "/v1/chat/completions", undefined, "untouched"],
  ["POST", "/v1/messages/count_tokens", undefined, "untouched"],
  ["POST", "/v1/messages/batches", undefined, "untouched"],
  ["POST", "/v1/messages/count_tokens", "messages", "untouched"],
  ["POST", "/v1/threads/t_1/messages", undefined, "untouched"],
  ["POST", "/v1/embeddings", undefined, "untouched"],
  ["POST", "/model/m/invoke", "messages", "guarded"],
  ["GET", "/v1/models", "chat", "untouched"],
  ["POST", "/v1/responses", undefined, "refused"],
  ["POST", "/v1/responses/compact", undefined, "refused"],
  ["POST", "/v1/responses", "chat", "refused"],
  ["GET", "/v1/responses/r_1", undefined, "untouched"],
];

test(`${PATHS.length} requests: guarded, untouched or refused by their path (P-11)`, async (t) => {
  for (const [method, path, protocol, expected] of PATHS) {
    await t.test(`${method} ${path} ${protocol ?? ""}`, async () => {
      const sent = [];
      const answer = new Response("not a model's answer", { headers: SSE });
      const strict = guardFetch(async (...given) => { sent.push(given); return answer; }, { protocol });
      const given = [`https://api.example.com${path}`, { method, body: method === "GET" ? undefined : "{}" }];
      const got = await strict(...given).catch((error) => error);
      if (expected === "refused") {
        assert.ok(TurnkeepError.is(got, "RESPONSES_API_UNSUPPORTED"), String(got));
        assert.equal(sent.length, 0);
      } else if (expected === "untouched") {
        assert.equal(got, answer);
        assert.ok(sent[0].length === 2 && sent[0][0] === given[0] && sent[0][1] === given[1]);
      } else {
        assert.ok(TurnkeepError.is((await readAll(got.body)).error));
      }
    });
  }
});

test("a quirk profile is the core's, and its use is in the report (Q-02)", async () => {
  const { before, calls, reason } = turnParts("chat");
  const strict = await guarded("chat", [before, calls, reason]);
  rejected(strict, "STREAM_TRUNCATED");
  const lenient = await guarded("chat", [before, calls, reason], { options: { quirks: "litellm" } });
  assert.equal(lenient.error, undefined);
  assert.equal(lenient.bytes.toString(), before + calls + reason);
  assert.deepEqual(lenient.reports.map(({ verdict, quirks }) => [verdict, quirks]), [["passed", { missing_done: 1 }]]);
});

test("what inner fetch throws passes as it is, and what it gives must be a response", async () => {
  const refused = new TypeError("fetch failed");
  const send = (input) => guardFetch(async () => { if (input === "throw") throw refused; return input; })("http://127.0.0.1:1/v1/messages", post());
  await assert.rejects(send("throw"), (error) => error === refused);
  await assert.rejects(send({ status: 200 }), (error) => TurnkeepError.is(error, "HOOK_FAILED"));
});

test("a misspelt option, or no fetch at all, is said at once (K-01)", () => {
  const of = (make) => { try { make(); } catch (error) { return [error.code, error.at.field]; } return undefined; };
  assert.deepEqual(of(() => guardFetch(fetch, { holds: "terminal" })), ["CONFIGURATION_ERROR", "holds"]);
  assert.deepEqual(of(() => guardFetch(fetch, { onReport: "log" })), ["CONFIGURATION_ERROR", "onReport"]);
  assert.deepEqual(of(() => guardFetch(undefined)), ["CONFIGURATION_ERROR", "fetch"]);
  assert.deepEqual(of(() => guardStream(source([]).body, { protocol: "chat", limit: {} })), ["CONFIGURATION_ERROR", "limit"]);
  assert.equal(of(() => guardFetch(fetch, { protocol: "chat", hold: "calls", quirks: "strict", onReport: () => undefined, host: {}, limits: {} })), undefined);
});

for (const protocol of PROTOCOLS) {
  test(`${protocol}: text and the marker in one read, and a source that breaks in the next: the text, then the error (S-10, S-13)`, async () => {
    const whole = wholeTurn(protocol);
    const before = bytesOf(turnParts(protocol).before).length;
    // One that is no byte array stands for a broken host.
    for (const [code, tail] of [["PROVIDER_TRANSPORT", { end: new Error("reset") }], ["HOOK_FAILED", "text"]]) {
      const reports = [];
      const chunks = [bytesOf(whole), ...(tail === "text" ? [tail] : [])];
      const body = new ReadableStream({
        pull(controller) {
          const chunk = chunks.shift();
          if (chunk === undefined) controller.error(tail.end);
          else controller.enqueue(chunk);
        },
      }, { highWaterMark: 0 });
      const { readable } = guardStream(body, { protocol, onReport: (report) => reports.push(report) });
      const read = await readAll(readable);
      assert.equal(read.error?.code, code, protocol);
      assert.equal(read.bytes.length, before);
      assert.equal(reports.length, 1);
    }
  });
}

test("options that the core refuses are said at once (S-01..S-07, Q-01)", () => {
  assert.throws(() => guardFetch(fetch, { limits: { max_stream_bytes: 0 } }), (error) => TurnkeepError.is(error, "LIMIT_INVALID"));
  assert.throws(() => guardFetch(fetch, { limits: { drain_ms: Number.NaN } }), (error) => TurnkeepError.is(error, "LIMIT_INVALID"));
  assert.throws(() => guardFetch(fetch, { quirks: "no-such-profile" }), (error) => TurnkeepError.is(error, "CONFIGURATION_ERROR"));
  assert.throws(() => guardFetch(fetch, { hold: "nothing" }), (error) => TurnkeepError.is(error, "CONFIGURATION_ERROR"));
  const { body } = source([]);
  body.getReader();
  assert.throws(() => guardStream(body, { protocol: "chat" }), (error) => TurnkeepError.is(error, "HOOK_FAILED"));
});

test("no decoder is left in the core's memory", () => {
  assert.equal(liveObjects().length, 0);
});
