// What the pages show is what runs: blocks of README and docs, taken from the pages and run as they stand.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { promisify } from "node:util";
import { startScriptedServer } from "turnkeep/testing";

const root = new URL("../../", import.meta.url);
const read = (path) => readFile(new URL(path, root), "utf8");
/** The `js` block after a marker. */
const block = (page, after) => /```js\n([^]*?)```/.exec(page.slice(page.indexOf(after)))[1];
/** Runs a program as a module of this folder, so that `turnkeep` is the installed package. */
const run = (code) => promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], { cwd: new URL(".", import.meta.url) });
const REASON = 'if (result.outcome === "failed") console.error(result.error.message);\n';

test("docs/task-contract.md shows examples/node/task.mjs as it is, and what it prints", async () => {
  const [page, program] = [await read("docs/task-contract.md"), await read("examples/node/task.mjs")];
  const marker = "<!-- example: examples/node/task.mjs -->";
  assert.ok(page.includes(marker));
  assert.equal(block(page, marker), program);
  assert.ok(program.split("\n").length <= 80);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [new URL("examples/node/task.mjs", root).pathname]);
  assert.equal(stderr, "");
  assert.equal(stdout, /It prints:\n\n```\n([^]*?)```/.exec(page)[1]);
  assert.match(stdout, /^budget_exhausted: 2 steps.*\n.*max_cost_usd.*\ncompleted: 3 steps/);
});

test("docs/guard.md shows the examples that `cargo xtask torture` runs, as they are", async () => {
  const page = await read("docs/guard.md");
  for (const name of ["openai", "anthropic", "ai"]) {
    const path = `benches/torture/examples/${name}.mjs`;
    const marker = `<!-- example: ${path} -->`;
    assert.ok(page.includes(marker), marker);
    assert.equal(block(page, marker), await read(path));
  }
});

test("the block of docs/scenarios.md runs, and prints what its comments say", async () => {
  const code = block(await read("docs/scenarios.md"), "## In a program");
  const { stdout } = await run(code);
  const comments = [...code.matchAll(/^console\.log\(.*\); \/\/ (.*)$/gm)].map(([, said]) => said);
  assert.equal(comments.length, 3);
  assert.deepEqual(stdout.trimEnd().split("\n"), comments);
});

test("README's example runs, and it and the quickstart end with the reason of a failure", async () => {
  const code = block(await read("README.md"), "<!-- example: examples/node/quickstart.mjs -->");
  assert.ok(code.endsWith(REASON));
  assert.ok((await read("examples/node/quickstart.mjs")).endsWith(REASON));
  const server = await startScriptedServer({ name: "readme", turns: [{ calls: [{ name: "shop:lookup_order", input: { order: 7 } }] }, { text: "Paid." }, { http: 401 }] });
  const program = code.replace("http://127.0.0.1:8080/v1", server.url);
  assert.notEqual(program, code);
  assert.equal((await run(program)).stdout, "Paid.completed 3 0\n");
  const failed = await run(program);
  await server.close();
  assert.match(failed.stdout, /^failed 1 /);
  assert.match(failed.stderr, /^PROVIDER_AUTH: /);
});

test("docs/rules.md names every rule that this version does not hold yet", async () => {
  const page = await read("docs/rules.md");
  const paragraph = page.split("\n\n").find((text) => text.startsWith("**Not held yet by this version**"));
  const missing = Object.keys(JSON.parse(await read("tests/rules-later.json"))).filter((rule) => !paragraph.includes(rule));
  assert.deepEqual(missing, []);
});
