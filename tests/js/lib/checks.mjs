// `node checks.mjs MODULE JOBS SEED`: runs each job in the wasm32 build of the acceptance checks; one JSON line an answer.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const [, , module, jobs, seed] = process.argv;
const { check } = createRequire(import.meta.url)(module);
const encoder = new TextEncoder();
for (const line of readFileSync(jobs, "utf8").split("\n")) {
  if (line === "") continue;
  const { kind, input } = JSON.parse(line);
  process.stdout.write(`${check(kind, encoder.encode(input), BigInt(seed))}\n`);
}
