// The scripted server itself: real sockets, real faults, and no silence when a script is wrong.
import assert from "node:assert/strict";
import test from "node:test";
import { createScriptedProvider, startScriptedServer } from "turnkeep/testing";

const chat = (url, body = {}) => fetch(`${url}/chat/completions`, { method: "POST", body: JSON.stringify({ model: "m", stream: true, ...body }) });
const scenario = (...turns) => ({ name: "t", turns });

async function reads(response) {
  const sizes = [];
  for await (const chunk of response.body) sizes.push(chunk.length);
  return sizes;
}

test("bytes travel in the pieces a scenario asks for, the same for the same seed", async () => {
  const turn = { text: "hello there", transport: { split: "bytes", pause_ms: 1 } };
  const seeded = (seed) => ({ text: "hello there", transport: { split: { seed, max: 30 }, pause_ms: 1 } });
  const server = await startScriptedServer(scenario(turn, seeded(1), seeded(1), seeded(2), { text: "hello there" }));
  const [bytes, one, again, two, whole] = [await reads(await chat(server.url)), await reads(await chat(server.url)), await reads(await chat(server.url)), await reads(await chat(server.url)), await (await chat(server.url)).text()];
  const total = bytes.reduce((sum, size) => sum + size, 0);
  assert.ok(bytes.length > total / 2, `${bytes.length} reads of ${total} bytes`);
  assert.equal(one.reduce((sum, size) => sum + size, 0), total);
  assert.equal(again.reduce((sum, size) => sum + size, 0), total);
  assert.ok(one.length > 5 && two.length > 5);
  assert.ok(whole.endsWith("data: [DONE]\n\n"));
  await server.close();
});

test("faults are real: a cut ends cleanly, a reset breaks, a stall and a held socket stay open", async () => {
  const server = await startScriptedServer(scenario(
    { text: "x", transport: { cut: "before_terminal" } }, { text: "x", transport: { reset: 40, pause_ms: 2 } }, { text: "x", transport: { stall: 10 } }, { text: "x", transport: { hold_open: true } },
  ));
  assert.ok(!(await (await chat(server.url)).text()).includes("[DONE]"));
  await assert.rejects((async () => (await chat(server.url)).text())());
  for (const _ of [1, 2]) {
    const reader = (await chat(server.url)).body.getReader();
    let last = "";
    const ended = (async () => { for (;;) { const { done, value } = await reader.read(); if (done) return "ended"; last += new TextDecoder().decode(value); } })().catch(() => "closed by us");
    assert.equal(await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 60, "open"))]), "open");
    assert.ok(last.length > 0);
    await reader.cancel();
  }
  await server.close();
});

test("one request too many is answered 400 and fails close()", async () => {
  const server = await startScriptedServer(scenario({ text: "only one" }));
  assert.equal((await chat(server.url)).status, 200);
  const refused = await chat(server.url);
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /asked for turn 1, but the last scripted turn is 0/);
  await assert.rejects(server.close(), /: 1 more turn was asked for than scripted$/);
});

test("a wrong key, a wrong path and HTTP errors", async () => {
  const server = await startScriptedServer(scenario({ http: 529, retry_after_s: 3 }), { api_key: "right" });
  assert.equal((await chat(server.url)).status, 401);
  assert.equal((await fetch(`${server.url}/responses`, { method: "POST", body: "{}" })).status, 404);
  const busy = await fetch(`${server.url}/chat/completions`, { method: "POST", body: "{}", headers: { authorization: "Bearer right" } });
  assert.deepEqual([busy.status, busy.headers.get("retry-after")], [529, "3"]);
  assert.ok(!JSON.stringify(server.requests).includes("right"));
  await server.close();
});

const MISTAKES = [
  [null, "turn 0: must be an object, not null"],
  [{ txt: "x" }, "turn 0: txt is no member"],
  [{ text: "x", colour: 1 }, "turn 0: colour is no member"],
  [{}, "turn 0: needs one of http, chunks, finish, calls, text"],
  [{ text: 7 }, "turn 0: text must be a string, not 7"],
  [{ finish: "stopp" }, 'turn 0: finish must be "length" or "content_filter", not "stopp"'],
  [{ http: "500" }, 'turn 0: http must be a status from 200 to 599, not "500"'],
  [{ http: 500, retry_after_s: -1 }, "turn 0: retry_after_s must be a number, zero or more, not -1"],
  [{ http: 500, text: "x" }, "turn 0: text cannot stand beside http"],
  [{ finish: "length", calls: [] }, "turn 0: calls cannot stand beside finish"],
  [{ text: "x", retry_after_s: 1 }, "turn 0: retry_after_s cannot stand beside text"],
  [{ chunks: [1] }, "turn 0: chunks must be a list of strings"],
  [{ text: "x", usage: { input: 1 } }, 'turn 0: usage must be null, or {"input_tokens", "output_tokens"} with whole numbers, not {"input":1}'],
  [{ text: "x", usage: { input_tokens: 1 } }, "turn 0: usage must be"],
  [{ calls: {} }, "turn 0: calls must be a list, not {}"],
  [{ calls: [7] }, "turn 0: calls[0] must be an object, not 7"],
  [{ calls: [{ name: "a" }, { input: {} }] }, "turn 0: calls[1].name is missing"],
  [{ calls: [{ name: "" }] }, "turn 0: calls[0].name must be a string that is not empty"],
  [{ calls: [{ name: "a", inputs: {} }] }, "turn 0: calls[0].inputs is no member"],
  [{ calls: [{ name: "a", input: [] }] }, "turn 0: calls[0].input must be an object, not []"],
  [{ calls: [{ name: "a", input: {}, input_json: "{}" }] }, "turn 0: calls[0] has both input and input_json"],
  [{ text: "x", transport: "bytes" }, 'turn 0: transport must be an object, not "bytes"'],
  [{ text: "x", transport: { splt: 1 } }, "turn 0: transport.splt is no member"],
  [{ text: "x", transport: { split: "byte" } }, 'turn 0: transport.split must be "whole", "bytes", a number of bytes from 1, or {"seed", "max"}'],
  [{ text: "x", transport: { split: 0 } }, "turn 0: transport.split must be"],
  [{ text: "x", transport: { split: { seed: 1 } } }, "turn 0: transport.split must be"],
  [{ text: "x", transport: { pause_ms: "1" } }, "turn 0: transport.pause_ms must be a number"],
  [{ text: "x", transport: { cut: "before_fin" } }, 'turn 0: transport.cut must be a number of body bytes, "before_finish" or "before_terminal", not "before_fin"'],
  [{ text: "x", transport: { reset: -1 } }, "turn 0: transport.reset must be"],
  [{ text: "x", transport: { stall: 1.5 } }, "turn 0: transport.stall must be"],
  [{ text: "x", transport: { cut: 5, stall: 3 } }, "turn 0: transport has cut and stall; give at most one of cut, reset, stall"],
  [{ text: "x", transport: { cut: 5, hold_open: true } }, "turn 0: transport.hold_open has no effect beside transport.cut"],
  [{ chunks: ["x"], transport: { cut: "before_finish" } }, "turn 0: transport.cut must be a number of body bytes beside chunks"],
  [{ text: "x", transport: { hold_open: "yes" } }, "turn 0: transport.hold_open must be true or false"],
  [{ text: "x", transport: { content_type: "" } }, "turn 0: transport.content_type must be"],
];
const begins = (text) => ({ name, message }) => name === "Error" && message.startsWith(`scripted provider: ${text}`);

for (const [turn, says] of MISTAKES) {
  test(`a mistake in a scenario is one Error before anything is asked: ${JSON.stringify(turn)}`, async () => {
    await assert.rejects(startScriptedServer(scenario(turn)), begins(says));
    assert.throws(() => createScriptedProvider([turn]), begins(says));
    assert.throws(() => createScriptedProvider([{ text: "x" }, turn]), begins(says.replace("turn 0", "turn 1")));
  });
}

test("a scenario has a name and turns, and options are checked too", async () => {
  const turns = [{ text: "x" }];
  for (const [given, says] of [
    [undefined, "a scenario must be an object with name and turns, not undefined"], [{ turns }, "name is missing from the scenario"], [{ name: 7, turns }, "name must be a string"],
    [{ name: "t", turns, colour: 1 }, "colour is no member"], [{ name: "t" }, "turns must be a list with at least one turn, not undefined"], [{ name: "t", turns: [] }, "turns must be a list with at least one turn, not []"],
  ]) await assert.rejects(startScriptedServer(given), begins(says), says);
  assert.throws(() => createScriptedProvider([]), begins("turns must be a list with at least one turn"));
  assert.throws(() => createScriptedProvider(turns, { split: "byte" }), begins("option split must be"));
});

test("every form that is documented is accepted", () => {
  const transport = [
    undefined, {}, { split: "whole" }, { split: 9, pause_ms: 0 }, { split: { seed: -3, max: 1 } }, { cut: 0 }, { reset: "before_terminal" }, { stall: "before_finish", hold_open: false, cut: undefined },
    { hold_open: true, after_terminal: "x", content_type: "text/plain" },
  ];
  const turns = [
    { text: "" }, { text: "x", usage: null }, { calls: [] }, { calls: [{ name: "a" }, { name: "a", id: "", input_json: "{" }], text: "x", usage: { input_tokens: 0, output_tokens: 0 } },
    { finish: "length" }, { finish: "content_filter", text: "x" }, { http: 529, retry_after_s: 0.5, body: "" }, { chunks: [] }, { chunks: ["x", new Uint8Array(1)] }, ...transport.map((given) => ({ text: "x", transport: given })),
  ];
  assert.equal(createScriptedProvider(turns).left, turns.length);
});

test("without a network: the same answers, and loud when asked too often", async () => {
  const provider = createScriptedProvider([{ text: "hi" }], { protocol: "messages", split: "bytes" });
  const ask = () => provider.fetch("https://p.invalid/v1/messages", { method: "POST", body: JSON.stringify({ stream: true }) });
  const text = await (await ask()).text();
  assert.ok(text.startsWith("event: message_start\n") && text.endsWith('data: {"type":"message_stop"}\n\n'));
  assert.equal(provider.left, 0);
  await assert.rejects(ask(), /asked for turn 1/);
  assert.equal(provider.requests.length, 2);
});
