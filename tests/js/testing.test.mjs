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
  assert.match(await refused.text(), /asked for turn 2, but only 1 are scripted/);
  await assert.rejects(server.close(), /1 more turns were asked for than scripted/);
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

test("a misspelt scenario is an error, not an answer without it", async () => {
  for (const turn of [{ txt: "x" }, { text: "x", transport: { splt: 1 } }, { text: "x", colour: 1 }, null, { calls: {} }]) {
    await assert.rejects(startScriptedServer(scenario(turn)), /scripted provider: turn 0/);
    assert.throws(() => createScriptedProvider([turn]), /scripted provider: turn 0/);
  }
});

test("without a network: the same answers, and loud when asked too often", async () => {
  const provider = createScriptedProvider([{ text: "hi" }], { protocol: "messages", split: "bytes" });
  const ask = () => provider.fetch("https://p.invalid/v1/messages", { method: "POST", body: JSON.stringify({ stream: true }) });
  const text = await (await ask()).text();
  assert.ok(text.startsWith("event: message_start\n") && text.endsWith('data: {"type":"message_stop"}\n\n'));
  assert.equal(provider.left, 0);
  await assert.rejects(ask(), /asked for turn 2/);
  assert.equal(provider.requests.length, 2);
});
