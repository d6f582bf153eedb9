// Law 2 of the design: a trap costs the objects of its instance, and nothing else.
import assert from "node:assert/strict";
import test from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createAgentTaskRun, TurnkeepError, usageCostUsd } from "turnkeep";

// The package's own modules, beside its entry: the same instances that the entry uses, behind no export.
const entry = import.meta.resolve("turnkeep");
const { liveObjects } = await import(new URL("../wasm.js", entry));
const { ResponseDecoder } = await import(new URL("../decoder.js", entry));

const SHAPE = { protocol: "chat", stream: true, model_profile: "m", model: "m", deltas: true };
const OPTIONS = { task_id: "t", tenant_subject: "a", actor_ref: "u", limits: { max_steps: 1, max_cost_usd: null, max_duration_s: 1 } };
const TEXT = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const bytes = new TextEncoder().encode(TEXT);

const trapped = (error) => TurnkeepError.is(error, "WASM_TRAP") && error.blame === "internal" && error.cause instanceof Error;

/** A pointer far outside memory: the next call on that object is a real trap. */
function breakPointer(before) {
  const raw = liveObjects().find((object) => !before.includes(object));
  raw.__wbg_ptr = 0x7fff_fff0;
}

test("a trap: every open object answers WASM_TRAP for ever, new objects work", () => {
  const run = createAgentTaskRun(OPTIONS);
  const other = createAgentTaskRun({ ...OPTIONS, task_id: "another" });
  const good = new ResponseDecoder(SHAPE);
  const before = liveObjects();
  const bad = new ResponseDecoder(SHAPE);
  const raw = liveObjects();
  assert.equal(raw.length, 4);
  breakPointer(before);
  assert.throws(() => bad.push(bytes), trapped);
  assert.equal(liveObjects().length, 0);
  // Every pointer is forgotten: no finalizer can free an old address in the memory of the next instance.
  assert.deepEqual(raw.map((object) => object.__wbg_ptr), [0, 0, 0, 0]);

  for (let time = 0; time < 2; time++) {
    for (const call of [() => bad.push(bytes), () => bad.state(), () => good.push(bytes), () => good.finish("eof"), () => run.steps(), () => run.checkpoint(), () => other.steps()])
      assert.throws(call, (error) => TurnkeepError.is(error, "WASM_TRAP"));
  }

  const fresh = new ResponseDecoder(SHAPE);
  assert.deepEqual(fresh.push(bytes), [{ type: "text_delta", block: 0, text: "hi" }]);
  assert.equal(fresh.finish("eof").status, "reply");
  // Freeing what the trap took touches no memory of the new instance.
  bad.free();
  good.free();
  run[Symbol.dispose]();
  other[Symbol.dispose]();
  const again = createAgentTaskRun(OPTIONS);
  assert.deepEqual(again.steps(), []);
  again[Symbol.dispose]();
  assert.equal(liveObjects().length, 0);
});

test("100 traps: 100 error codes and 100 good responses right after", () => {
  for (let round = 0; round < 100; round++) {
    const before = liveObjects();
    const bad = new ResponseDecoder(SHAPE);
    breakPointer(before);
    assert.throws(() => bad.push(bytes), trapped);
    const good = new ResponseDecoder(SHAPE);
    good.push(bytes);
    assert.equal(good.finish("eof").assistant_text, "hi");
  }
  assert.equal(usageCostUsd(null, null), null);
  assert.equal(liveObjects().length, 0);
});

test("memory that grows inside a push does not spoil what is read after it", () => {
  const decoder = new ResponseDecoder(SHAPE);
  const long = "é".repeat(1_900_000);
  const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: long }, finish_reason: null }] })}\n\n`;
  const deltas = decoder.push(new TextEncoder().encode(event));
  assert.equal(deltas.length, 1);
  assert.equal(deltas[0].text, long);
  decoder.free();
});

test("what a program drops without freeing it is freed by a finalizer", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  (() => { for (let count = 0; count < 100; count++) new ResponseDecoder(SHAPE); })();
  assert.equal(liveObjects().length, 100);
  for (let round = 0; round < 100 && liveObjects().length > 0; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.ok(liveObjects().length <= 1, `${liveObjects().length} left`);
});
