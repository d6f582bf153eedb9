// One model call over real HTTP, without a loop: what a turn is, and every way a response can end (P, S).
import assert from "node:assert/strict";
import test from "node:test";
import { inspect } from "node:util";
import { createFetchRuntime, quirkProfiles, TurnkeepError } from "turnkeep";
import { startScriptedServer } from "turnkeep/testing";
import { ask, call, configFor, KEY, PROTOCOLS, serve, TOOLS } from "./lib/shop.mjs";

const TURN = { text: "Let me look. ", calls: [call("call_a", "shop:lookup_order", { order: 7 }), call("call_b", "shop:read_policy", { page: "refunds" })] };

async function code(promise) {
  const error = await promise.then((value) => assert.fail(`no error, but ${JSON.stringify(value)}`), (thrown) => thrown);
  assert.ok(TurnkeepError.is(error), String(error?.stack));
  assert.ok(error.message.startsWith(error.code));
  return error;
}

for (const protocol of PROTOCOLS) {
  for (const stream of [true, false]) {
    test(`${protocol}, ${stream ? "stream" : "body"}: the calls of a turn, by governed name (P-01, P-14)`, async (t) => {
      const turn = await ask(t, protocol, TURN, { input: { stream } });
      assert.equal(turn.status, "tool_request");
      assert.equal(turn.assistant_text, "Let me look. ");
      assert.deepEqual(turn.requested_tools, [
        { id: "call_a", name: "shop:lookup_order", input: { order: 7 } },
        { id: "call_b", name: "shop:read_policy", input: { page: "refunds" } },
      ]);
      assert.equal(turn.usage.input_tokens, 100);
      assert.equal(turn.usage.output_tokens, 20);
      assert.ok(Object.isFrozen(turn.requested_tools[0].input));
    });
  }

  for (const split of ["bytes", 7, { seed: 3, max: 40 }]) {
    test(`${protocol}: deltas are whole at any split of the bytes: ${JSON.stringify(split)} (S-08, S-22)`, async (t) => {
      let text = "";
      const inputs = new Map();
      const onDelta = async (delta) => {
        if (delta.type === "text_delta") text += delta.text;
        if (delta.type === "tool_input_delta") inputs.set(delta.id, (inputs.get(delta.id) ?? "") + delta.json_fragment);
      };
      const said = { ...TURN, text: "naïve 👋🏽 ok", transport: { split } };
      const turn = await ask(t, protocol, said, { options: { onDelta } });
      assert.equal(turn.status, "tool_request");
      assert.equal(text, "naïve 👋🏽 ok");
      assert.deepEqual([...inputs].map(([id, json]) => [id, JSON.parse(json)]), [["call_a", { order: 7 }], ["call_b", { page: "refunds" }]]);
    });
  }

  test(`${protocol}: an abort in the middle of a body gives one cancelled turn (S-12)`, async (t) => {
    const stop = new AbortController();
    const options = { signal: stop.signal, onDelta: () => stop.abort(new Error("enough")) };
    const turn = await ask(t, protocol, { text: "one two three", transport: { stall: "before_finish" } }, { options });
    assert.equal(turn.status, "cancelled");
    assert.deepEqual(turn.requested_tools, []);
  });

  test(`${protocol}: an abort while no head has come gives a cancelled turn (S-12)`, async () => {
    const stop = new AbortController();
    const runtime = createFetchRuntime({ config: configFor(protocol, "http://127.0.0.1:1/v1"), apiKey: "", fetch: () => new Promise(() => undefined) });
    const waiting = runtime.executeTurn({ session_id: "s", model_profile: "main", messages: [{ role: "user", content: "hi" }] }, { signal: stop.signal });
    stop.abort();
    assert.equal((await waiting).status, "cancelled");
  });

  test(`${protocol}: a socket held open after the marker does not hold the turn (S-10, S-11)`, async (t) => {
    const turn = await ask(t, protocol, { ...TURN, transport: { hold_open: true } }, { limits: { drain_ms: 30 } });
    assert.equal(turn.status, "tool_request");
  });

  test(`${protocol}: bytes after the marker reject the turn (S-10)`, async (t) => {
    const error = await code(ask(t, protocol, { ...TURN, transport: { after_terminal: "data: {}\n\n" } }));
    assert.deepEqual([error.code, error.rule, error.blame], ["POST_TERMINAL_DATA", "S-10", "provider"]);
  });

  test(`${protocol}: bytes after the marker are seen although the reader of the deltas is slow (S-10)`, async (t) => {
    const onDelta = () => new Promise((resolve) => setTimeout(resolve, 120));
    // The whole body in one write, then the surplus: the reader is still busy with the text when it comes.
    const slow = { text: "hello", transport: { split: 100_000, pause_ms: 10, after_terminal: "x" } };
    const error = await code(ask(t, protocol, slow, { options: { onDelta }, limits: { drain_ms: 60 } }));
    assert.equal(error.code, "POST_TERMINAL_DATA");
  });

  test(`${protocol}: the last deltas arrive although the socket is held open to the deadline (S-10)`, async (t) => {
    let text = "";
    const onDelta = async (delta) => { await null; text += delta.text; };
    const turn = await ask(t, protocol, { text: "hello", transport: { split: 100_000, hold_open: true } }, { options: { onDelta }, limits: { drain_ms: 30 } });
    assert.deepEqual([turn.status, text], ["reply", "hello"]);
  });

  test(`${protocol}: a stream that ends early is truncated, however whole its call looks (S-20)`, async (t) => {
    const error = await code(ask(t, protocol, { ...TURN, transport: { cut: "before_finish" } }));
    assert.deepEqual([error.code, error.rule], ["STREAM_TRUNCATED", "S-20"]);
  });

  test(`${protocol}: a connection that breaks is one client_disconnect of the provider's side (S-13)`, async (t) => {
    const turn = await ask(t, protocol, { ...TURN, transport: { reset: "before_finish", pause_ms: 2 } });
    assert.equal(turn.status, "client_disconnect");
    assert.deepEqual(turn.details, { side: "provider" });
    assert.deepEqual(turn.requested_tools, []);
  });

  test(`${protocol}: a stalled body meets the idle deadline (S-23)`, async (t) => {
    const error = await code(ask(t, protocol, { ...TURN, transport: { stall: 80 } }, { limits: { idle_timeout_ms: 40 } }));
    assert.deepEqual([error.code, error.rule, error.retriable], ["PROVIDER_TIMEOUT", "S-23", true]);
  });

  test(`${protocol}: the whole call has a deadline, also when bytes keep coming (S-23)`, async (t) => {
    const drip = { text: "x".repeat(4000), transport: { split: 1, pause_ms: 2 } };
    const error = await code(ask(t, protocol, drip, { limits: { call_timeout_ms: 60 } }));
    assert.equal(error.code, "PROVIDER_TIMEOUT");
  });

  test(`${protocol}: an HTTP error is typed and says when to come back (S-24)`, async (t) => {
    const error = await code(ask(t, protocol, { http: 429, retry_after_s: 2 }));
    assert.deepEqual([error.code, error.retriable, error.retry_after_ms], ["PROVIDER_RATE_LIMITED", true, 2000]);
    assert.equal(error.details.status, 429);
  });

  test(`${protocol}: a stream request answered with a page is no event stream (S-24)`, async (t) => {
    const page = { chunks: ["<html>sign in</html>"], transport: { content_type: "text/html" } };
    const error = await code(ask(t, protocol, page));
    assert.deepEqual([error.code, error.rule], ["NOT_AN_EVENT_STREAM", "S-24"]);
    assert.ok(!JSON.stringify(error).includes("<html>sign in") || error.details.provider_message !== undefined);
  });

  test(`${protocol}: an error object outranks the wrong content type (S-24)`, async (t) => {
    const body = JSON.stringify({ error: { type: "rate_limit_error", message: "slow down" } });
    const error = await code(ask(t, protocol, { chunks: [body], transport: { content_type: "application/json" } }));
    assert.equal(error.code, "PROVIDER_RATE_LIMITED");
  });

  test(`${protocol}: an input keeps integers beyond 2^53 in its text, and __proto__ stays data (N-04)`, async (t) => {
    const input_json = '{"id":9007199254740993,"__proto__":{"polluted":true},"constructor":1}';
    const turn = await ask(t, protocol, { calls: [{ id: "call_a", name: "shop:lookup_order", input_json }] });
    const { input } = turn.requested_tools[0];
    assert.ok(Object.hasOwn(input, "__proto__"));
    assert.equal(Object.getPrototypeOf(input), Object.prototype);
    assert.equal({}.polluted, undefined);
  });

  test(`${protocol}: the key is sent in its own header and stands in no error (P-10)`, async (t) => {
    const server = await serve(t, [{ text: "hello" }], { api_key: KEY });
    const input = { session_id: "s", model_profile: "main", messages: [{ role: "user", content: "hi" }] };
    const good = createFetchRuntime({ config: configFor(protocol, server.url), apiKey: async () => KEY });
    assert.equal((await good.executeTurn(input, {})).status, "reply");
    const leaky = createFetchRuntime({
      config: configFor(protocol, server.url), apiKey: KEY,
      fetch: async (_url, { headers }) => { throw new TypeError(`cannot send ${JSON.stringify(headers)}`); },
    });
    const library = createFetchRuntime({
      config: configFor(protocol, server.url), apiKey: KEY,
      fetch: async (_url, { headers }) => { throw new Error("outer", { cause: Object.assign(new Error("inner"), { config: { headers: new Map(Object.entries(headers)) } }) }); },
    });
    const bad = createFetchRuntime({ config: configFor(protocol, server.url), apiKey: `${KEY}\n` });
    for (const [runtime, expected] of [[leaky, "PROVIDER_TRANSPORT"], [library, "PROVIDER_TRANSPORT"], [bad, "CONFIGURATION_ERROR"]]) {
      const error = await code(runtime.executeTurn(input, {}));
      assert.equal(error.code, expected);
      for (const text of [JSON.stringify(error), inspect(error, { depth: 20 })]) assert.ok(!text.includes(KEY));
    }
    assert.ok(!JSON.stringify(server.requests).includes(KEY));
  });
}

test("a header of ours cannot be overridden (P-10)", async (t) => {
  const error = await code(ask(t, "chat", { text: "hi" }, { headers: () => ({ Authorization: "Bearer other" }) }));
  assert.deepEqual([error.code, error.at.field], ["CONFIGURATION_ERROR", "headers.authorization"]);
});

test("an unknown model profile is said by name, also when it is a name every object has", async () => {
  const runtime = createFetchRuntime({ config: configFor("chat", "http://127.0.0.1:1/v1"), apiKey: "" });
  for (const model_profile of ["other", "constructor", "__proto__"]) {
    const error = await code(runtime.executeTurn({ session_id: "s", model_profile, messages: [] }, {}));
    assert.equal(error.code, "MODEL_PROFILE_UNKNOWN");
  }
});

test("strings that are not well formed do not cross (N-04)", async () => {
  const runtime = createFetchRuntime({ config: configFor("chat", "http://127.0.0.1:1/v1"), apiKey: "" });
  const error = await code(runtime.executeTurn({ session_id: "s", model_profile: "main", messages: [{ role: "user", content: "\ud800" }] }, {}));
  assert.deepEqual([error.code, error.blame], ["INVALID_INPUT", "caller"]);
});

test("a refused connection keeps its own error as the cause", async () => {
  const server = await startScriptedServer({ name: "gone", turns: [{ text: "x" }] });
  await server.close();
  const runtime = createFetchRuntime({ config: configFor("chat", server.url), apiKey: KEY });
  const error = await code(runtime.executeTurn({ session_id: "s", model_profile: "main", messages: [{ role: "user", content: "hi" }] }, {}));
  assert.deepEqual([error.code, error.retriable], ["PROVIDER_TRANSPORT", true]);
  assert.equal(error.cause.cause.code, "ECONNREFUSED");
});

test("a fetch that gives no response is HOOK_FAILED", async () => {
  for (const given of [undefined, {}, { status: 200 }, { status: 200, headers: new Map(), body: { locked: true, getReader: () => null } }]) {
    const runtime = createFetchRuntime({ config: configFor("chat", "http://127.0.0.1:1/v1"), apiKey: "", fetch: async () => given });
    const error = await code(runtime.executeTurn({ session_id: "s", model_profile: "main", messages: [{ role: "user", content: "hi" }] }));
    assert.deepEqual([error.code, error.at.field], ["HOOK_FAILED", "fetch"]);
  }
});

test("a listener of deltas that throws is HOOK_FAILED with its cause", async (t) => {
  const cause = new Error("screen is gone");
  const error = await code(ask(t, "chat", { text: "hello" }, { options: { onDelta: () => { throw cause; } } }));
  assert.deepEqual([error.code, error.at.field, error.cause], ["HOOK_FAILED", "onDelta", cause]);
});

test("fragments of a call that come before its id and name are handed on with them, once (S-18)", async (t) => {
  const event = (fragment, finish_reason = null) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...fragment }] }, finish_reason }] })}\n\n`;
  const end = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] })}\n\ndata: [DONE]\n\n`;
  const chunks = [event({ function: { arguments: '{"or' } }), event({ function: { arguments: "der" } }), event({ id: "call_a", type: "function", function: { name: "shop_lookup_order", arguments: '":' } }), event({ function: { arguments: "7}" } }), end];
  const deltas = [];
  const turn = await ask(t, "chat", { chunks, transport: { pause_ms: 5 } }, { options: { onDelta: (delta) => void deltas.push(delta) } });
  assert.deepEqual(turn.requested_tools, [{ id: "call_a", name: "shop:lookup_order", input: { order: 7 } }]);
  assert.ok(deltas.every(({ id, name }) => id === "call_a" && name === "shop:lookup_order"));
  assert.equal(deltas.map(({ json_fragment }) => json_fragment).join(""), '{"order":7}');
});

test("intent_catalog is accepted, ignored and reported once (P-09)", async () => {
  const server = await startScriptedServer({ name: "two", turns: [{ text: "one" }, { text: "two" }] });
  const said = [];
  const { warn } = console;
  console.warn = (text) => { said.push(text); };
  try {
    const runtime = createFetchRuntime({ config: { models: { main: { protocol: "chat", model: "m", base_url: server.url } } }, apiKey: "" });
    const input = { session_id: "s", model_profile: "main", messages: [{ role: "user", content: "Hi" }], intent_catalog: { any: () => 1 } };
    for (const text of ["one", "two"]) assert.equal((await runtime.executeTurn(input, {})).assistant_text, text);
  } finally {
    console.warn = warn;
    await server.close();
  }
  assert.equal(said.length, 1);
  assert.match(said[0], /intent_catalog.*P-09/);
  assert.equal(JSON.stringify(server.requests).includes("intent_catalog"), false);
});

test("a quirk profile is switched on by name, counted, and written into the step (Q-01, Q-02)", async () => {
  const profiles = quirkProfiles();
  assert.ok(profiles.length >= 6 && Object.isFrozen(profiles[0]));
  assert.deepEqual(Object.keys(profiles.find(({ name }) => name === "gemini-compat").quirks), ["repeated_index"]);
  const chunk = (delta, reason = null) => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
  const one = (id, order) => ({ tool_calls: [{ index: 0, id, type: "function", function: { name: "shop_lookup_order", arguments: JSON.stringify({ order }) } }] });
  const raw = chunk(one("a", 1)) + chunk(one("b", 2)) + chunk({}, "tool_calls") + "data: [DONE]\n\n";
  const fetch = async () => new Response(raw, { headers: { "content-type": "text/event-stream" } });
  const ask = (quirks) => {
    const config = { models: { main: { protocol: "chat", model: "m", base_url: "http://127.0.0.1:9/v1", quirks } } };
    return createFetchRuntime({ config, apiKey: "", fetch }).executeTurn({ session_id: "s", model_profile: "main", messages: [{ role: "user", content: "Hi" }], tool_catalog: TOOLS });
  };
  assert.equal((await code(ask(undefined))).code, "CALL_ID_CONFLICT");
  const turn = await ask("gemini-compat");
  assert.deepEqual([turn.requested_tools.map(({ id, input }) => [id, input]), turn.quirks], [[["a", { order: 1 }], ["b", { order: 2 }]], { repeated_index: 1 }]);
  for (const quirks of ["unheard", "constructor", 1]) assert.throws(() => ask(quirks), (error) => TurnkeepError.is(error, "CONFIGURATION_ERROR") && error.at.field.endsWith("quirks"));
});
