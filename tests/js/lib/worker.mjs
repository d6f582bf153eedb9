// Answers `cargo xtask conformance --runner node`: one JSON line in, one out. Equal answers are sent once.
import { createInterface } from "node:readline";
import { decode } from "./border.mjs";

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  if (line === "") continue;
  process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`);
}

function answer(job) {
  const body = Buffer.from(job.body, "base64");
  const texts = [];
  const places = new Map();
  const of_plan = [];
  try {
    for (const cuts of job.plans) {
      const start = performance.now();
      const text = decode(job, body, cuts);
      const took = performance.now() - start;
      if (took > 5000) return { trouble: `took ${(took / 1000).toFixed(1)} s` };
      if (!places.has(text)) places.set(text, texts.push(text) - 1);
      of_plan.push(places.get(text));
    }
    return { texts, of_plan };
  } catch (error) {
    return { trouble: `${error?.name}: ${error?.message}` };
  }
}
