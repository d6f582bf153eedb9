// The committed cases through the guard, at several ways of reading: a legal turn passes byte for byte, an unsafe one errors with the case's
// code before any byte of a call was let go. Where the first call begins is found here, in plain JavaScript, not asked of the core.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { guardFetch, guardStream, TurnkeepError } from "turnkeep";
import { PATH, post, readAll, serveRaw, source } from "./lib/streams.mjs";

const LEAST = 121;
const folder = new URL("../cases/turns/", import.meta.url);
const cases = readdirSync(folder).filter((name) => name.endsWith(".json")).sort()
  .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")));
const counts = { passed: 0, refused: 0, calls_held: 0, ways: 0, bodies: 0 };

/** Where the first event with a call in it begins; the length of the body when there is none. */
function firstCall(protocol, bytes) {
  const text = bytes.toString("latin1");
  const end = /(\r\n|\n|\r)(\r\n|\n|\r)/g;
  let from = 0;
  for (let hit = end.exec(text); hit !== null; hit = end.exec(text)) {
    const data = [...text.slice(from, hit.index).matchAll(/^data:(.*)$/gm)].map(([, line]) => line).join("\n");
    if (holdsCall(protocol, data)) return from;
    from = end.lastIndex;
  }
  return bytes.length;
}

function holdsCall(protocol, data) {
  let value;
  try {
    value = JSON.parse(data);
  } catch {
    return false;
  }
  if (protocol === "messages") return value?.type === "content_block_start" && value.content_block?.type === "tool_use";
  return (value?.choices ?? []).some(({ delta }) => (delta?.tool_calls?.length ?? 0) > 0 || (delta?.function_call ?? null) !== null);
}

function reads(file) {
  const chunks = file.chunks?.map((text) => Buffer.from(text)) ?? file.chunks_b64.map((text) => Buffer.from(text, "base64"));
  const whole = Buffer.concat(chunks);
  const every = (size) => Array.from({ length: Math.ceil(whole.length / size) }, (_, at) => whole.subarray(at * size, (at + 1) * size));
  return { whole, ways: { "as in the file": chunks, whole: [whole], "byte by byte": every(1), "by 7": every(7), "by 101": every(101) } };
}

/** What the guard must make of a case: a code, or nothing. Calls under a reason that is not theirs are refused too (P-20). */
function refusal({ expect }, hasCalls) {
  if (expect.outcome === "rejected" || expect.outcome === "provider_error") return expect.reason === undefined ? { code: expect.code } : { code: expect.code, reason: expect.reason };
  return hasCalls && expect.outcome !== "tool_request" ? { code: "FINISH_REASON_MISMATCH", reason: "calls_not_runnable" } : undefined;
}

test(`${cases.length} cases through the guard`, async (t) => {
  assert.ok(cases.length >= LEAST, `only ${cases.length} cases, ${LEAST} are committed`);
  for (const file of cases.filter(({ stream }) => stream)) {
    const { whole, ways } = reads(file);
    const call = firstCall(file.protocol, whole);
    const expected = refusal(file, call < whole.length);
    const limits = { ...Object.fromEntries(Object.entries(file.limits ?? {}).map(([name, value]) => [`max_${name}`, value])), drain_ms: 20 };
    await t.test(file.id, async () => {
      for (const [way, pieces] of Object.entries(ways)) {
        const reports = [];
        const { body, seen } = source(pieces, { end: file.eof === "held_open" ? "open" : "eof" });
        const read = await readAll(guardStream(body, { protocol: file.protocol, limits, onReport: (report) => reports.push(report) }).readable);
        counts.ways += 1;
        assert.equal(reports.length, 1, way);
        if (expected === undefined) {
          assert.equal(read.error, undefined, `${way}: ${read.error?.message}`);
          assert.ok(read.bytes.equals(whole), `${way}: other bytes`);
          assert.equal(reports[0].turn.status, file.expect.outcome, way);
          continue;
        }
        assert.ok(TurnkeepError.is(read.error), `${way}: ${read.error ?? "no error"}`);
        assert.deepEqual({ code: read.error.code, ...(expected.reason === undefined ? {} : { reason: read.error.reason }) }, expected, way);
        assert.ok(whole.subarray(0, read.bytes.length).equals(read.bytes), `${way}: what passed is not the beginning`);
        assert.ok(read.bytes.length <= call, `${way}: ${read.bytes.length} bytes passed, a call begins at ${call}`);
        assert.ok(seen.cancelled <= 1);
      }
      counts[expected === undefined ? "passed" : "refused"] += 1;
      if (call < whole.length) counts.calls_held += 1;
    });
  }
});

test("bodies of the cases over HTTP", async (t) => {
  for (const file of cases.filter(({ stream }) => !stream)) {
    const hasCalls = /"tool_use"|"tool_calls"\s*:\s*\[\s*\{|"function_call"\s*:\s*\{/.test(file.body);
    const expected = refusal(file, hasCalls);
    await t.test(file.id, async (inner) => {
      const origin = await serveRaw(inner, (_request, response) => { response.writeHead(200, { "content-type": "application/json" }).end(file.body); });
      const limits = Object.fromEntries(Object.entries(file.limits ?? {}).map(([name, value]) => [`max_${name}`, value]));
      const read = await readAll((await guardFetch(fetch, { limits })(origin + PATH[file.protocol], post(false))).body);
      counts.bodies += 1;
      if (expected === undefined) {
        assert.equal(read.error, undefined);
        assert.equal(read.bytes.toString(), file.body);
      } else {
        assert.equal(read.error?.code, expected.code, String(read.error));
        assert.equal(read.bytes.length, 0);
      }
    });
  }
});

test("the cases held what this test is for", (t) => {
  t.diagnostic(JSON.stringify(counts));
  assert.ok(counts.passed >= 50 && counts.refused >= 50 && counts.calls_held >= 50 && counts.bodies >= 15, JSON.stringify(counts));
});
