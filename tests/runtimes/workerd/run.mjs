// Bundles the worker against the installed package with the `workerd` condition, starts raw workerd on a free port,
// sends one request and checks the answer. Usage: node run.mjs <folder for the bundle>
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const require = createRequire(new URL("../../../bindings/package.json", import.meta.url));
const { build } = require("esbuild");
const workerd = require("workerd").default;
const out = process.argv[2];
if (out === undefined) throw new Error("usage: node run.mjs <folder for the bundle>");

mkdirSync(out, { recursive: true });
copyFileSync(join(here, "config.capnp"), join(out, "config.capnp"));
const { metafile } = await build({
  entryPoints: [join(here, "worker.mjs")], outfile: join(out, "worker.js"), bundle: true, format: "esm",
  conditions: ["workerd", "worker"], loader: { ".wasm": "copy" }, assetNames: "[name]", metafile: true, logLevel: "warning",
});
const inputs = Object.keys(metafile.inputs);
assert.ok(inputs.some((path) => path.endsWith("dist/entry/workerd.js")), `the workerd entry was not taken: ${inputs}`);
assert.ok(!inputs.some((path) => path.endsWith("wasm-base64.js")), "the inline module is in the bundle too");

const port = await freePort();
const server = spawn(workerd, ["serve", "config.capnp", "--socket-addr", `http=127.0.0.1:${port}`], { cwd: out, stdio: ["ignore", "inherit", "inherit"] });
const ended = new Promise((resolve) => { server.on("exit", resolve).on("error", resolve); });
try {
  const answer = await request(`http://127.0.0.1:${port}/`);
  console.log("workerd answered:", JSON.stringify(answer));
  assert.equal(answer.status, "tool_request");
  assert.deepEqual(answer.calls, [{ id: "c1", name: "get_weather", input: { city: "Oslo" } }]);
  assert.equal(answer.text, "Let me look.");
  assert.equal(answer.may_compile, false);
  assert.deepEqual(answer.guard, { same: true, code: "STREAM_TRUNCATED" });
} finally {
  server.kill();
  await ended;
}

/** Until the server listens; its end or 20 s are a failure. */
async function request(url) {
  const deadline = Date.now() + 20_000;
  for (;;) {
    if (server.exitCode !== null) throw new Error(`workerd ended with ${server.exitCode}`);
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
      const text = await response.text();
      if (!response.ok) throw new Error(`workerd answered ${response.status}: ${text}`);
      return JSON.parse(text);
    } catch (error) {
      if (error.cause?.code !== "ECONNREFUSED" || Date.now() > deadline) throw error;
      await new Promise((resolve) => { setTimeout(resolve, 50); });
    }
  }
}

async function freePort() {
  const probe = createServer();
  await new Promise((resolve, reject) => { probe.on("error", reject).listen(0, "127.0.0.1", resolve); });
  const { port } = probe.address();
  await new Promise((resolve) => { probe.close(resolve); });
  return port;
}
