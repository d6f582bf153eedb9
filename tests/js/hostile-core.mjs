// The hostile generators in wasm: `cargo xtask acceptance B2` hands over the recipes of tests/support/hostile in the file HOSTILE_RECIPES, so
// the bytes, codes and bounds are those of the native test.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { freshCore } from "./lib/border.mjs";
import { wholeTurn } from "./lib/streams.mjs";

/** Of what native may hold: memory of wasm is never given back, and a buffer that doubles leaves behind as much as it has at the end. */
const MOVED = 2;
/** The turn is kept, handed over and written as text: that is so many times the length of its text, which already holds texts and calls twice. */
const WRITTEN = 2;
const rows = JSON.parse(readFileSync(process.env.HOSTILE_RECIPES, "utf8"));
const encoder = new TextEncoder();

/** The reads of a row. */
function* reads({ parts, read }) {
  const buffer = new Uint8Array(read);
  let filled = 0;
  for (const part of parts) {
    const bare = typeof part[0] !== "string";
    const numbered = !bare && part[0].includes("<i>");
    const fixed = bare ? Uint8Array.from(part) : encoder.encode(part[0]);
    for (let time = 0; time < (bare ? 1 : part[1]); time++) {
      let bytes = numbered ? encoder.encode(part[0].replaceAll("<i>", String(time))) : fixed;
      while (bytes.length > 0) {
        const piece = bytes.subarray(0, read - filled);
        buffer.set(piece, filled);
        filled += piece.length;
        bytes = bytes.subarray(piece.length);
        if (filled === read) {
          yield buffer;
          filled = 0;
        }
      }
    }
  }
  if (filled > 0) yield buffer.subarray(0, filled);
}

function decode({ Decoder, bytes }, { protocol, stream, limits }, pieces) {
  const decoder = new Decoder(JSON.stringify({ protocol, stream, limits, model_profile: "m", model: "m", deltas: false }));
  assert.equal(decoder.error_json(), "");
  for (const piece of pieces) {
    decoder.push(piece);
    if (decoder.state() === 2) break;
  }
  const read = bytes();
  const text = decoder.finish("eof");
  decoder.free();
  return { ...JSON.parse(text), read, written: text.length };
}

let closest = { share: 0 };
for (const row of rows) {
  const { id, protocol, name, bound, expect, text, inputs } = row;
  test(`${id} ${protocol} ${name}`, async () => {
    const core = await freshCore();
    const before = core.bytes();
    const { ok, error, read, written } = decode(core, row, reads(row));
    assert.equal(ok?.status ?? error.code, expect);
    if (text !== null) assert.equal(ok.assistant_text, text);
    if (inputs !== null) assert.deepEqual(ok.requested_tools.map(({ input }) => JSON.stringify(input)), inputs);
    // A read crosses into the memory too.
    const room = MOVED * (bound + row.read);
    for (const [when, grown, allowed] of [["reading", read - before, room], ["the turn", core.bytes() - before, room + WRITTEN * written]]) {
      assert.ok(grown <= allowed, `${when}: ${grown} bytes more, ${allowed} are allowed`);
      if (grown / allowed > closest.share) closest = { share: grown / allowed, when, id, protocol, name };
    }
    // The instance goes on.
    assert.equal(decode(core, { protocol, stream: true }, [encoder.encode(wholeTurn(protocol))]).ok.status, "tool_request");
  });
}

test("there are rows", (t) => {
  assert.ok(rows.length >= 200, String(rows.length));
  t.diagnostic(`${rows.length} rows; the closest to its bound: ${JSON.stringify(closest)}`);
});
