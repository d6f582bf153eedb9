// The examples run as they stand.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import test from "node:test";
import { promisify } from "node:util";
import { startScriptedServer } from "turnkeep/testing";

const run = promisify(execFile);
const example = (name) => new URL(`../../examples/${name}`, import.meta.url).pathname;

test("the demo holds every expectation it states", async () => {
  const { stdout } = await run(process.execPath, [example("demo/main.mjs")]);
  assert.match(stdout.trimEnd().split("\n").at(-1), /^all good: (\d+) of \1 expectations held$/);
  assert.ok(!stdout.includes("NOT SO"));
  assert.match(stdout, /declares no approval class/);
});

for (const protocol of ["chat", "messages"]) {
  for (const flags of [[], ["--no-tools", "--no-stream"]]) {
    test(`the demo against a server: ${protocol} ${flags.join(" ")}`, async () => {
      const calls = [{ name: "shop:lookup_order", input: { order: 7 } }, { name: "shop:unknown" }];
      const server = await startScriptedServer({ name: "demo", turns: [{ calls }, { text: "ok" }] }, { api_key: "k-123" });
      const args = [example("demo/main.mjs"), "--provider", server.url, "--protocol", protocol, "--model", "m", "--extra", '{"temperature":0}', ...flags];
      const { stdout } = await run(process.execPath, args, { env: { ...process.env, TURNKEEP_API_KEY: "k-123" } });
      await server.close();
      assert.match(stdout, /outcome {4}completed/);
      assert.match(stdout, flags.length === 0 ? /1 run, 1 refused or failed, 2 paired results for 2 calls/ : /0 run, 2 refused or failed, 2 paired results for 2 calls/);
      assert.ok(!stdout.includes("k-123"));
      assert.equal(server.requests[0].body.temperature, 0);
      assert.equal(server.requests[0].body.stream === true, flags.length === 0);
    });
  }
}

test("the demo fails when the server answers nothing usable", async () => {
  const server = await startScriptedServer({ name: "demo", turns: [{ http: 500 }, { http: 500 }, { http: 500 }] });
  const failed = await run(process.execPath, [example("demo/main.mjs"), "--provider", server.url, "--model", "m"]).then(() => assert.fail("exit 0"), (error) => error);
  await server.close();
  assert.equal(failed.code, 1);
  assert.match(failed.stdout, /PROVIDER_UNAVAILABLE/);
});

test("the quickstart runs", async () => {
  const server = await startScriptedServer({ name: "quickstart", turns: [{ calls: [{ name: "shop:lookup_order", input: { order: 7 } }] }, { text: "Order 7 is paid." }] });
  const { stdout } = await run(process.execPath, [example("node/quickstart.mjs")], { env: { ...process.env, BASE_URL: server.url, MODEL: "m" } });
  await server.close();
  assert.match(stdout, /Order 7 is paid\.\ncompleted: 3 steps, 0 USD\n$/);
});
