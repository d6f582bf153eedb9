// What the declarations promise at run time is what is exported, entry by entry (K-01).
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";

const dist = new URL("../", import.meta.resolve("turnkeep"));

/** Names of values declared by a module and by what it re-exports. */
async function declared(file) {
  const text = await readFile(new URL(file, dist), "utf8");
  const names = new Set([...text.matchAll(/^export (?:declare )?(?:class|const|function) (\w+)/gm)].map(([, name]) => name));
  for (const [, from] of text.matchAll(/^export \* from "\.\/(.+)\.js";$/gm)) for (const name of await declared(`${from}.d.ts`)) names.add(name);
  return names;
}

const ENTRIES = [["turnkeep", "index.d.ts"], ["turnkeep/inline", "index.d.ts"], ["turnkeep/node", "node.d.ts"], ["turnkeep/slim", "slim.d.ts"], ["turnkeep/testing", "testing.d.ts"], ["turnkeep/zod", "zod.d.ts"]];
for (const [entry, types] of ENTRIES) {
  test(`${entry}: exports equal declarations`, async () => {
    const exported = Object.keys(await import(entry)).sort();
    assert.deepEqual(exported, [...(await declared(types))].sort());
    assert.ok(exported.length > 0);
  });
}

test("the version is that of package.json and of the core", async () => {
  const { VERSION } = await import("turnkeep");
  const manifest = JSON.parse(await readFile(new URL("../package.json", dist), "utf8"));
  const { callCore } = await import(new URL("wasm.js", dist));
  assert.equal(VERSION, manifest.version);
  assert.equal(VERSION, callCore((border) => border.version()));
});

test("slim: everything is NOT_INITIALIZED before init, and works after it", async () => {
  const { execFile } = await import("node:child_process");
  const { promisify } = await import("node:util");
  const program = `
    import { readFileSync } from "node:fs";
    import { init, readAgentRuntimeConfig, TurnkeepError } from "turnkeep/slim";
    const read = () => readAgentRuntimeConfig({ models: {} });
    try { read(); console.log("no error"); } catch (error) { console.log(TurnkeepError.is(error, "NOT_INITIALIZED")); }
    const module = new WebAssembly.Module(readFileSync(new URL(import.meta.resolve("turnkeep/core.wasm"))));
    init(module); init(module); read();
    try { init({}); console.log("no error"); } catch (error) { console.log(error.code); }`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], { cwd: new URL(".", import.meta.url) });
  assert.equal(stdout, "true\nINVALID_STATE\n");
});
