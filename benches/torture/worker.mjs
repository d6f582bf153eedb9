// Runs jobs of its lanes, one after another, and prints a line for each. Started once for each Node that the lanes need.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { guardFetch, TurnkeepError } from "turnkeep";
import { LANES } from "./lanes.mjs";

const HANG_MS = 1_500;
const LIMITS = { drain_ms: 80, idle_timeout_ms: 600 };
globalThis.AI_SDK_LOG_WARNINGS = false;
// SDKs write where our answers go.
console.log = console.error;
console.info = console.error;
// SDKs leave promises behind that nobody asked for; what counts is how the lane ends.
process.on("unhandledRejection", () => undefined);
process.on("uncaughtException", () => undefined);

/** A `fetch` that notes the bytes of its first answer, as the SDK gets them. */
function noted(fetch, seen) {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (seen.digest !== undefined || response.body === null) return response;
    const hash = createHash("sha256");
    seen.digest = "unfinished";
    const tap = new TransformStream({
      transform(bytes, controller) { hash.update(bytes); controller.enqueue(bytes); },
      flush() { seen.digest = hash.digest("hex"); },
    });
    return new Response(response.body.pipeThrough(tap), { status: response.status, headers: response.headers });
  };
}

async function run({ lane, url, tools, guard, tap }) {
  const seen = {};
  const reports = [];
  let runs = 0;
  const strict = guard ? guardFetch(fetch, { limits: LIMITS, onReport: (report) => reports.push(report) }) : fetch;
  const execute = () => { runs += 1; return "paid"; };
  let timer;
  const hang = new Promise((resolve) => { timer = setTimeout(() => resolve({ end: "hang" }), HANG_MS); });
  const work = LANES.find(({ name }) => name === lane).run({ url, tools, execute, fetch: tap ? noted(strict, seen) : strict });
  const ended = await Promise.race([
    hang,
    work.then(() => ({ end: "ok" }), (error) => ({ end: "error", code: TurnkeepError.find(error)?.code ?? null, error: `${error?.name}: ${String(error?.message).slice(0, 100)}` })),
  ]);
  clearTimeout(timer);
  return { ...ended, runs, digest: seen.digest, verdict: reports[0]?.verdict };
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ ...job, ...(await run(job)) })}\n`);
}
process.exit(0);
