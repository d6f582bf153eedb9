// Peak growth of memory while 4 MiB of tool arguments arrive, one lane in one process: `node --expose-gc memory.mjs WORKLOAD LANE...`
// starts a child for each lane. JavaScript heap and external memory are sampled after a forced collection, at 64 points of the stream;
// wasm memory never shrinks, so its growth is read at the end.
import { fork } from "node:child_process";
import { writeFileSync } from "node:fs";
import { loadLanes } from "./load.mjs";
import { source } from "./source.mjs";
import { build } from "./workloads.mjs";

const MIB = 2 ** 20;
const POINTS = 64;

if (process.env.MEMORY_LANE !== undefined) {
  const [, , workload] = process.argv;
  const memories = [];
  const Instance = WebAssembly.Instance;
  // Before the package makes its instance, so that its memory can be measured from outside.
  WebAssembly.Instance = class extends Instance {
    constructor(module, imports) {
      super(module, imports);
      if (this.exports.memory !== undefined) memories.push(this.exports.memory);
    }
  };
  const [lane] = (await loadLanes(process.env.MEMORY_LANE)).filter(({ name }) => name === process.env.MEMORY_LANE);
  await lane.init?.();
  const w = build(workload);
  await lane.run(source(build(workload.replace(/args-[^@]+/, "args-8k"))));
  const wasm = () => memories.reduce((bytes, memory) => bytes + memory.buffer.byteLength, 0);
  const now = () => {
    globalThis.gc();
    const { heapUsed, external } = process.memoryUsage();
    return { heap: heapUsed, external };
  };
  const base = now();
  const wasmBase = wasm();
  let heap = 0;
  let external = 0;
  const step = Math.max(1, Math.floor(w.chunks.length / POINTS));
  await lane.run(source(w, { onPull: (at) => {
    if (at % step !== 0) return;
    const here = now();
    heap = Math.max(heap, here.heap - base.heap);
    external = Math.max(external, here.external - base.external);
  } }));
  process.send({ heap: heap / MIB, external: external / MIB, wasm: (wasm() - wasmBase) / MIB, instances: memories.length });
  process.disconnect();
} else {
  const [, , workloads, ...lanes] = process.argv;
  const rows = [];
  for (const workload of workloads.split(",")) {
    console.log(`\n### peak memory growth, ${workload}\n| lane | heap MiB | external MiB | wasm MiB |\n|:--|--:|--:|--:|`);
    for (const lane of lanes) {
      const child = fork(new URL(import.meta.url), [workload], { execArgv: ["--expose-gc"], env: { ...process.env, MEMORY_LANE: lane } });
      const row = await new Promise((resolve) => {
        child.once("message", resolve);
        child.once("exit", (code) => { resolve({ error: `ended with ${code}` }); });
      });
      rows.push({ workload, lane, ...row });
      const cell = (value) => (value === undefined ? row.error : value.toFixed(1));
      console.log(`| ${lane} | ${cell(row.heap)} | ${cell(row.external)} | ${cell(row.wasm)} |`);
    }
  }
  writeFileSync("memory.json", JSON.stringify(rows, null, 1));
}
