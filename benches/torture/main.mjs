// Unsafe and legal streams against real SDKs over real HTTP, without and with the guard.
//   node main.mjs [--write]   the tables; --write keeps them in results.md
//   node main.mjs --check     fails on any unsafe stream that runs a tool or does not end in an error, and on any legal one that is changed
import { spawn, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { VERSION } from "turnkeep";
import { runExamples } from "./examples.mjs";
import { LANES } from "./lanes.mjs";
import { serve } from "./server.mjs";
import { LEGAL, UNSAFE } from "./streams.mjs";

const here = (path) => new URL(path, import.meta.url);
const check = process.argv.includes("--check");
const LEAST = { chat: { unsafe: 24, legal: 18 }, messages: { unsafe: 18, legal: 5 } };

/** A Node of at least 22: this one, or the one among the packages. */
function node22() {
  if (Number(process.versions.node.split(".")[0]) >= 22) return process.execPath;
  const path = here(`node_modules/node22-${process.platform}-${process.arch}/bin/node`).pathname;
  if (!existsSync(path)) throw new Error(`Node 22 or newer is needed for some SDKs, and there is none at ${path}`);
  return path;
}

/** The legal tool turns among the committed cases. */
function legal() {
  const folder = here("../../tests/cases/turns/");
  return readdirSync(folder).filter((name) => name.endsWith(".json")).sort()
    .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")))
    .filter(({ stream, expect }) => stream && expect.outcome === "tool_request")
    .map((file) => ({
      id: file.id, protocol: file.protocol, kind: "legal", hold: file.eof === "held_open", tools: file.requested?.tools ?? [],
      parts: file.chunks ?? file.chunks_b64.map((text) => Buffer.from(text, "base64")),
    }));
}

/** One process of workers for each Node. Gives each job's outcome, in order. */
async function runAll(jobs) {
  const outcomes = new Array(jobs.length);
  const groups = Map.groupBy === undefined ? grouped(jobs) : Map.groupBy(jobs, ({ node }) => node);
  for (const [node, list] of groups) {
    const worker = spawn(node, [here("worker.mjs").pathname], { stdio: ["pipe", "pipe", "inherit"] });
    const lines = createInterface({ input: worker.stdout })[Symbol.asyncIterator]();
    for (const job of list) {
      worker.stdin.write(`${JSON.stringify(job)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`the worker ended inside "${job.lane}", ${job.url}`);
      outcomes[job.at] = JSON.parse(value);
    }
    worker.stdin.end();
  }
  return outcomes;
}

function grouped(jobs) {
  const map = new Map();
  for (const job of jobs) map.set(job.node, [...(map.get(job.node) ?? []), job]);
  return map;
}

const streams = [
  ...Object.entries(UNSAFE).flatMap(([protocol, list]) => list.map((stream) => ({ ...stream, protocol, kind: "unsafe", tools: ["lookup"] }))),
  ...legal(),
  ...Object.entries(LEGAL).map(([protocol, stream]) => ({ ...stream, protocol, kind: "example", tools: ["lookup"] })),
];
for (const [protocol, least] of Object.entries(LEAST)) for (const [kind, count] of Object.entries(least)) {
  const found = streams.filter((stream) => stream.protocol === protocol && stream.kind === kind).length;
  if (found < count) throw new Error(`${found} ${kind} streams of ${protocol}, ${count} are needed`);
}

const server = await serve(streams);
const newer = node22();
const jobs = [];
for (const lane of LANES) for (const [place, stream] of streams.entries()) {
  if (stream.protocol !== lane.protocol || stream.kind === "example") continue;
  for (const guard of [false, true]) {
    const at = jobs.length;
    jobs.push({ at, lane: lane.name, place, guard, tap: stream.kind === "legal", tools: stream.tools, url: `${server.origin}/${at}/${place}`, node: lane.node22 ? newer : process.execPath });
  }
}
const outcomes = await runAll(jobs);
const outcome = (lane, place, guard) => outcomes.find((entry) => entry.lane === lane && entry.place === place && entry.guard === guard);
const digestOf = ({ parts }) => createHash("sha256").update(Buffer.concat(parts.filter((part) => typeof part !== "number").map((part) => Buffer.from(part)))).digest("hex");
const cell = ({ end, runs }) => `${runs > 0 ? `**ran ${runs}**` : "0"}, ${end}`;
const ofKind = (protocol, kind) => [...streams.entries()].filter(([, stream]) => stream.protocol === protocol && stream.kind === kind);

const wrong = [];
let checks = 0;
function demand(right, what) {
  checks += 1;
  if (!right) wrong.push(what);
}

await runExamples({ origin: server.origin, streams, conversation: jobs.length, demand });
server.close();

const out = [];
const say = (line = "") => out.push(line);
const notes = [];
for (const [protocol, name] of [["chat", "Chat Completions"], ["messages", "Messages"]]) {
  const lanes = LANES.filter((lane) => lane.protocol === protocol);
  const unsafe = ofKind(protocol, "unsafe");
  const good = ofKind(protocol, "legal");
  for (const guard of [false, true]) {
    say(`## ${name}, ${guard ? "with" : "without"} the guard`);
    say();
    say(`| ${unsafe.length} unsafe streams | ${lanes.map((lane) => lane.name).join(" | ")} |`);
    say(`|---|${lanes.map(() => "---").join("|")}|`);
    for (const [place, stream] of unsafe) say(`| ${stream.id} | ${lanes.map((lane) => cell(outcome(lane.name, place, guard))).join(" | ")} |`);
    const ran = lanes.map((lane) => unsafe.filter(([place]) => outcome(lane.name, place, guard).runs > 0).length);
    const hangs = lanes.map((lane) => unsafe.filter(([place]) => outcome(lane.name, place, guard).end === "hang").length);
    say(`| **a tool ran in** | ${ran.map((count) => `**${count} of ${unsafe.length}**`).join(" | ")} |`);
    say(`| **no end within 1.5 s** | ${hangs.map((count) => `**${count}**`).join(" | ")} |`);
    const same = lanes.map((lane) => good.filter(([place, stream]) => outcome(lane.name, place, guard).digest === digestOf(stream)).length);
    const worked = lanes.map((lane) => good.filter(([place]) => outcome(lane.name, place, guard).runs > 0).length);
    say(`| ${good.length} legal tool turns: the same bytes | ${same.join(" | ")} |`);
    say(`| ${good.length} legal tool turns: the tool ran | ${worked.join(" | ")} |`);
    say();
  }
  for (const lane of lanes) {
    let found = 0;
    for (const [place, stream] of unsafe) {
      const result = outcome(lane.name, place, true);
      demand(result.runs === 0 && result.end === "error", `${lane.name}, ${stream.id}: ${cell(result)}`);
      if (result.code !== null && result.code !== undefined) found += 1;
      else notes.push(`${lane.name}, ${stream.id}: the SDK's error does not lead to ours (${result.error})`);
    }
    notes.push(`${lane.name}: \`TurnkeepError.find\` finds our error in ${found} of ${unsafe.length}`);
    for (const [place, stream] of good) {
      const [plain, result] = [outcome(lane.name, place, false), outcome(lane.name, place, true)];
      demand(result.digest === digestOf(stream), `${lane.name}, ${stream.id}: other bytes than were sent (${result.verdict}, ${result.error ?? result.end})`);
      // A stream that the SDK cannot read by itself is no fault of the guard: then both must end alike.
      demand(result.runs > 0 || (plain.runs === 0 && plain.end === result.end), `${lane.name}, ${stream.id}: ${cell(result)}; without the guard ${cell(plain)}`);
      if (result.runs === 0) notes.push(`${lane.name}, legal ${stream.id}: the SDK runs no tool with or without the guard (${result.error ?? result.end})`);
    }
  }
}

const versions = new Map(LANES.flatMap((lane) => Object.entries(lane.packages).map(([name, version]) => [`${name} ${version}`, true])));
say("## Notes");
say();
for (const note of notes) say(`- ${note}`);
const head = [
  "# Torture: unsafe streams against SDKs",
  "",
  `Written by \`cargo xtask torture\` on ${new Date().toISOString().slice(0, 10)}: turnkeep ${VERSION}; ${[...versions.keys()].join(", ")}; Node ${process.versions.node} and ${execFileSync(newer, ["--version"], { encoding: "utf8" }).trim().slice(1)}.`,
  "Each cell: how often the tool ran, and how the SDK's call ended. One run each; every SDK runs at its highest level with one counting tool, over real HTTP on loopback.",
  "",
];
const page = [...head, ...out].join("\n") + "\n";
if (!check) process.stdout.write(page);
if (process.argv.includes("--write")) writeFileSync(here("results.md"), page);
for (const line of wrong) console.log(`FAIL ${line}`);
console.log(`${checks - wrong.length} passed, ${wrong.length} failed`);
process.exitCode = checks > 0 && wrong.length === 0 ? 0 : 1;
