// What the installed package is, seen from outside: its files, its imports, its entries.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { imports } from "./lib/border.mjs";

const home = new URL(".", import.meta.resolve("turnkeep/package.json"));
const manifest = JSON.parse(readFileSync(new URL("package.json", home), "utf8"));
const scripts = readdirSync(new URL("dist", home), { recursive: true }).filter((name) => name.endsWith(".js"));
const read = (name) => readFileSync(new URL(`dist/${name}`, home), "utf8");
/** Files that only a Node entry reaches. */
const forNode = (name) => /(^|\/)[^/]*\.node\.js$/.test(name);

test("installs without scripts; the one dependency has none either, and no eval", () => {
  assert.equal(manifest.scripts, undefined);
  assert.deepEqual(Object.keys(manifest.dependencies), ["@cfworker/json-schema"]);
  const library = new URL("../@cfworker/json-schema/", home);
  assert.equal(JSON.parse(readFileSync(new URL("package.json", library), "utf8")).dependencies, undefined);
  const files = readdirSync(new URL("dist/esm", library)).filter((name) => name.endsWith(".js"));
  assert.ok(files.length > 5, `only ${files.length} files`);
  for (const name of files) assert.doesNotMatch(readFileSync(new URL(`dist/esm/${name}`, library), "utf8"), /\beval\s*\(|\bnew Function\b|\bimport\s*\(/, name);
  assert.equal(manifest.type, "module");
});

test("no node: import outside of the Node files, no eval, no top-level await", () => {
  assert.ok(scripts.length > 5, `only ${scripts.length} files`);
  for (const name of scripts) {
    const text = read(name).replace(/^\s*(\/\/|\*|\/\*).*$/gm, "");
    if (!forNode(name)) assert.doesNotMatch(text, /["']node:/, name);
    assert.doesNotMatch(text, /\beval\s*\(|\bnew Function\b|\bimport\s*\(/, name);
    assert.doesNotMatch(text, /^await\b|^(const|let|var) [^=\n]*= await\b|^export default await\b/m, name);
  }
});

test("the core imports nothing but its own glue", () => {
  assert.deepEqual([...new Set(imports.map(({ module }) => module))].filter((name) => name !== "./turnkeep_bg.js"), []);
});

test("every entry that this runtime can load exports the same names", async () => {
  const main = Object.keys(await import("turnkeep")).sort();
  assert.ok(main.length > 5, `only ${main}`);
  for (const entry of ["turnkeep/inline", "turnkeep/node"]) {
    const names = Object.keys(await import(entry)).sort();
    assert.deepEqual(main.filter((name) => !names.includes(name)), [], entry);
  }
  const slim = Object.keys(await import("turnkeep/slim")).sort();
  assert.deepEqual(main.filter((name) => !slim.includes(name)), []);
  assert.ok(slim.includes("init"));
});

test("the helper entries load", async () => {
  for (const entry of ["turnkeep/testing", "turnkeep/zod"]) assert.ok(Object.keys(await import(entry)).length > 0, entry);
});

test("the file entries exist where a bundler looks for them", () => {
  const require = createRequire(import.meta.url);
  for (const path of ["turnkeep/core.wasm", "turnkeep/package.json"]) {
    assert.ok(readFileSync(require.resolve(path)).length > 0, path);
  }
  assert.ok(fileURLToPath(home).includes("node_modules"), "not the installed package");
});
