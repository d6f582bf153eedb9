// `node report.mjs OUT VERSIONS`: one line for each bar, measured against it, from the results beside this file; the whole into OUT.
// A bar without a measured pair says so: it is never counted as met.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const HAND = "bare:eventsource-parser";
const PARSE = "floor:json.parse";
const COUNTS = "ours:counts";
const RECORDS = "ours:records";

const read = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined);
const streams = [...(read("streams.json")?.rows ?? []), ...(read("scale.json")?.rows ?? [])];
const hashes = read("hash.json") ?? [];
const memory = read("memory.json") ?? [];

const main = streams.filter(({ suite, cpuMin }) => suite === "main" && cpuMin !== undefined);
const workloads = [...new Set(main.map(({ workload }) => workload))];
const cost = (workload, lane) => main.find((row) => row.workload === workload && row.lane === lane)?.cpuMin;

/** Ratios of two lanes, one for each workload that both have. */
function ratios(over, under, chunking) {
  const found = [];
  for (const workload of workloads.filter((id) => chunking === undefined || id.endsWith(`@${chunking}`))) {
    const [a, b] = [cost(workload, over), cost(workload, under)];
    if (a !== undefined && b !== undefined && b > 0) found.push({ workload, ratio: a / b });
  }
  return found;
}

/** The best lane of a family stands for it: the hardest to beat. */
function bestOf(family, chunking) {
  const lanes = [...new Set(main.map(({ lane }) => lane))].filter(family);
  const best = new Map();
  for (const lane of lanes)
    for (const { workload, ratio } of ratios(lane, COUNTS, chunking)) best.set(workload, Math.min(best.get(workload) ?? Infinity, ratio));
  return [...best].map(([workload, ratio]) => ({ workload, ratio }));
}

const lines = [];
function bar(name, found, limit, kind) {
  if (found.length === 0) {
    lines.push({ name, measured: "not measured", bar: limit, met: "NOT MEASURED", where: "" });
    return;
  }
  const worst = found.reduce((a, b) => ((kind === "atMost" ? b.ratio > a.ratio : b.ratio < a.ratio) ? b : a));
  const met = kind === "atMost" ? worst.ratio <= limit : worst.ratio >= limit;
  const inside = found.filter(({ ratio }) => (kind === "atMost" ? ratio <= limit : ratio >= limit)).length;
  lines.push({ name, measured: worst.ratio.toFixed(2), bar: `${kind === "atMost" ? "<=" : ">="} ${limit}`, met: met ? "met" : "NOT MET", where: `worst: ${worst.workload}; ${inside} of ${found.length} within` });
}

bar("counts / by hand, 8 KiB chunks", ratios(COUNTS, HAND, "8k"), 0.33, "atMost");
bar("records / by hand, 8 KiB chunks", ratios(RECORDS, HAND, "8k"), 0.45, "atMost");
bar("counts / by hand, one event per chunk", ratios(COUNTS, HAND, "event"), 1, "atMost");
bar("records / by hand, one event per chunk", ratios(RECORDS, HAND, "event"), 1, "atMost");
bar("counts / JSON.parse alone", ratios(COUNTS, PARSE, "8k"), 1, "atMost");
bar("records / JSON.parse alone", ratios(RECORDS, PARSE, "8k"), 1.2, "atMost");
bar("aim: counts / JSON.parse alone", ratios(COUNTS, PARSE, "8k"), 0.8, "atMost");
bar("aim: records / JSON.parse alone", ratios(RECORDS, PARSE, "8k"), 1, "atMost");
bar("vendor stream() / counts", bestOf((lane) => /-sdk:stream\(\)/.test(lane), "8k"), 8, "atLeast");
bar("vendor raw iteration / counts", bestOf((lane) => /-sdk:create/.test(lane), "8k"), 4, "atLeast");
bar("AI SDK / counts", bestOf((lane) => lane.startsWith("ai-sdk:"), "8k"), 35, "atLeast");

const scale = streams.filter(({ suite }) => suite === "scale");
for (const lane of [COUNTS, RECORDS]) {
  const found = [];
  for (const row of scale.filter((row) => row.lane === lane && Number.isFinite(row.exponent))) {
    const control = scale.find((other) => other.lane === PARSE && other.provider === row.provider);
    // A lane that broke off before 4 MiB has no exponent to speak of.
    if (Number.isFinite(control?.exponent) && row.note === "" && row.points.at(-1)?.s === "4m") found.push({ workload: row.provider, ratio: row.exponent - control.exponent });
  }
  bar(`${lane.slice(5)}: exponent of arguments to 4 MiB, less that of JSON.parse`, found, 0.05, "atMost");
}

const latency = streams.filter(({ suite, p50us }) => suite === "latency" && p50us !== undefined);
const delays = [];
for (const row of latency.filter(({ lane }) => lane === RECORDS)) {
  const hand = latency.find(({ lane, provider }) => lane === HAND && provider === row.provider);
  if (hand !== undefined) delays.push({ workload: row.provider, ratio: row.p50us / hand.p50us });
}
bar("added latency per delta, p50: records / by hand", delays, 1, "atMost");
bar(
  "canonicalize + createHash / ours, 100 KiB",
  hashes.filter(({ size }) => size === 102_400).map(({ best }) => ({ workload: "the object given to canonicalize", ratio: best["canonicalize(object) + createHash"] / best["ours, from text"] })),
  2.5, "atLeast",
);

const [, , out, versions] = process.argv;
const width = Math.max(...lines.map(({ name }) => name.length));
console.log("\nbars (worst of the workloads measured)");
for (const { name, measured, bar: limit, met, where } of lines) console.log(`${name.padEnd(width)}  ${String(measured).padStart(7)}  ${String(limit).padStart(7)}  ${met}  ${where}`);
for (const { workload, lane, heap, external, wasm, error } of memory)
  console.log(`peak growth, ${workload}, ${lane}: ${error ?? `${(heap + external + wasm).toFixed(1)} MiB = heap ${heap.toFixed(1)} + external ${external.toFixed(1)} + wasm ${wasm.toFixed(1)}`}`);

const short = [COUNTS, RECORDS, PARSE, HAND];
const table = workloads.map((workload) => {
  const cells = short.map((lane) => cost(workload, lane));
  return `| ${workload} | ${cells.map((ms) => ms?.toFixed(1) ?? "-").join(" | ")} | ${[COUNTS, RECORDS].map((lane) => ratios(lane, HAND).find((r) => r.workload === workload)?.ratio.toFixed(2) ?? "-").join(" | ")} |`;
});
const lanes = [...new Set(main.map(({ lane }) => lane))].filter((lane) => !short.includes(lane));
const others = workloads.map((workload) => `| ${workload} | ${lanes.map((lane) => cost(workload, lane)?.toFixed(0) ?? "-").join(" | ")} |`);
const text = `# Stream benchmark

${new Date().toISOString().slice(0, 10)}, ${versions}. Made by \`cargo xtask bench\`. CPU ms, minimum over interleaved rounds; compare ratios, never times, and treat
gaps under 1.3x as ties. Limits are the defaults, raised only where a workload is larger (100,000 deltas and more; arguments over 1 MiB).

| bar | measured | bar | | |
|:--|--:|--:|:--|:--|
${lines.map(({ name, measured, bar: limit, met, where }) => `| ${name} | ${measured} | ${limit} | ${met} | ${where} |`).join("\n")}

| workload | ${short.join(" | ")} | counts / hand | records / hand |
|:--|${"--:|".repeat(short.length + 2)}
${table.join("\n")}

| workload | ${lanes.join(" | ")} |
|:--|${"--:|".repeat(lanes.length)}
${others.join("\n")}

Peak growth of memory with 4 MiB of tool arguments, MiB:

| workload | lane | heap | external | wasm |
|:--|:--|--:|--:|--:|
${memory.map(({ workload, lane, heap, external, wasm, error }) => `| ${workload} | ${lane} | ${error ?? `${heap.toFixed(1)} | ${external.toFixed(1)} | ${wasm.toFixed(1)}`} |`).join("\n")}
`;
writeFileSync(out, text);
