// Canonical form and SHA-256 of tool arguments: the core's `hash` at its border, against npm canonicalize and node's createHash.
// CPU microseconds for one operation, minimum over interleaved rounds. Writes hash.json beside the other results.
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import canonicalizeModule from "canonicalize";
import { argsObject, rng } from "./workloads.mjs";
import { glue } from "./core.mjs";

const canonicalize = canonicalizeModule.default ?? canonicalizeModule;
const ROUNDS = 7;
const SIZES = [[1024, 4000], [102_400, 40]];

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const sha = (text) => `sha256:${createHash("sha256").update(text).digest("hex")}`;

const rows = [];
for (const [size, times] of SIZES) {
  const object = argsObject(rng(5), size);
  const text = JSON.stringify(object);
  const ways = {
    "ours, from text": () => JSON.parse(glue.hash(text)).ok,
    "canonicalize(object) + createHash": () => sha(canonicalize(object)),
    "canonicalize(JSON.parse(text)) + createHash": () => sha(canonicalize(JSON.parse(text))),
  };
  const digests = new Set(Object.values(ways).map((way) => way()));
  if (digests.size !== 1) throw new Error(`digests differ: ${[...digests].join(" ")}`);
  const best = {};
  for (const way of Object.values(ways)) for (let i = 0; i < Math.min(times, 2000); i++) way();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const start = cpu();
      for (let i = 0; i < times; i++) way();
      best[name] = Math.min(best[name] ?? Infinity, (cpu() - start) / times);
    }
  }
  rows.push({ size, characters: text.length, best });
  console.log(`\n### canonical form and SHA-256 of ${text.length} characters\n| way | us |\n|:--|--:|`);
  for (const [name, us] of Object.entries(best)) console.log(`| ${name} | ${us.toFixed(1)} |`);
}
writeFileSync("hash.json", JSON.stringify(rows, null, 1));
