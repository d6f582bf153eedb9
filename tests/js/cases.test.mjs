// The committed cases against the core of the installed package, in this runtime. Scored here in plain JavaScript, so
// that the scoring of the Rust runners has a second opinion. Deno and Bun run the same file.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { canonical, decode } from "./lib/border.mjs";

const LEAST = 121;
const folder = new URL("../cases/turns/", import.meta.url);
const known = new Set(JSON.parse(readFileSync(new URL("../known-failures.json", import.meta.url), "utf8")).map(({ id }) => id));
const cases = readdirSync(folder).filter((name) => name.endsWith(".json")).sort()
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")));

test(`${cases.length} cases, read as in the file, whole and byte by byte`, async (t) => {
  assert.ok(cases.length >= LEAST, `only ${cases.length} cases, ${LEAST} are committed`);
  for (const file of cases) {
    await t.test(file.id, () => {
      const wrong = check(file);
      if (known.has(file.id)) assert.notDeepEqual(wrong, [], "listed as a known failure, but right");
      else assert.deepEqual(wrong, []);
    });
  }
});

function check(file) {
  const reads = file.chunks?.map((text) => Buffer.from(text)) ?? file.chunks_b64?.map((text) => Buffer.from(text, "base64")) ?? [Buffer.from(file.body)];
  const taken = file.control ? reads.slice(0, file.control.after_chunk) : reads;
  const body = Buffer.concat(taken);
  const limits = Object.fromEntries(Object.entries(file.limits ?? {}).map(([name, value]) => [`max_${name}`, value]));
  const ending = { abort: "abort", client_disconnect: "consumer" }[file.control?.action] ?? file.eof ?? "eof";
  const job = { protocol: file.protocol, stream: file.stream, limits, ending };
  let end = 0;
  const asInFile = taken.map((chunk) => (end += chunk.length));
  const first = decode(job, body, asInFile);
  const wrong = score(file.expect, first);
  if (!file.control) {
    const everyByte = Array.from({ length: Math.max(body.length - 1, 0) }, (_, at) => at + 1);
    if (outcome(decode(job, body, [])) !== outcome(first)) wrong.push("another verdict when read whole");
    if (outcome(decode(job, body, everyByte)) !== outcome(first)) wrong.push("another verdict byte by byte");
  }
  return wrong;
}

/** The verdict alone: the place of an error may tell how far the reader was. */
function outcome(text) {
  const { ok, error } = JSON.parse(text);
  return ok ? text : JSON.stringify([error.code, error.reason, error.rule]);
}

function score(expect, text) {
  const { ok, error } = JSON.parse(text);
  const got = ok
    ? { outcome: ok.status, text: ok.assistant_text }
    : { outcome: error.code.startsWith("PROVIDER_") ? "provider_error" : "rejected", code: error.code, reason: error.reason, rule: error.rule, text: "" };
  const wrong = [];
  for (const name of ["outcome", "code", "reason", "rule", "text"]) {
    if (typeof expect[name] === "string" && expect[name] !== got[name]) wrong.push(`${name}: ${got[name]} instead of ${expect[name]}`);
  }
  const calls = ok?.requested_tools ?? [];
  if (expect.calls && calls.length !== expect.calls.length) wrong.push(`${calls.length} calls instead of ${expect.calls.length}`);
  for (const [at, call] of (expect.calls ?? []).entries()) {
    const { id, name, input } = calls[at] ?? {};
    if (id !== call.id || name !== call.name) wrong.push(`call ${at}: ${id} ${name}`);
    // Digits beyond 2^53 are only in the text.
    const right = call.input_json === undefined
      ? input !== undefined && canonical(JSON.stringify(input)) === canonical(JSON.stringify(call.input))
      : text.includes(`"input":${call.input_json}`);
    if (!right) wrong.push(`call ${at}: input ${JSON.stringify(input)}`);
  }
  same("usage", ok?.usage && JSON.parse(ok.usage.raw_json));
  const states = (ok?.content_blocks ?? []).filter(({ type }) => type === "provider_state").map(({ json }) => JSON.parse(json));
  same("provider_state", states);
  same("reasoning", states[0]?.reasoning_details);
  return wrong;

  function same(name, value) {
    if (expect[name] === undefined) return;
    try {
      assert.deepEqual(value, expect[name]);
    } catch {
      wrong.push(`${name}: ${JSON.stringify(value)}`);
    }
  }
}
