// Answers the recordings' check over real HTTP: a job is served on loopback in the pieces of each plan, read by our runtime, and once more by
// the guard, which must hand over the same bytes or the same code. One JSON line in, one out; equal answers are sent once.
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { createFetchRuntime, guardFetch, TurnkeepError } from "turnkeep";

const { turnJson } = await import(new URL("../turn.js", import.meta.resolve("turnkeep")));
const PATH = { chat: "/chat/completions", messages: "/messages" };
let serving;
const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => { void send(response); });
});
server.listen(0, "127.0.0.1");
await new Promise((resolve) => { server.once("listening", resolve); });
const origin = `http://127.0.0.1:${server.address().port}`;

async function send(response) {
  const { job, pieces } = serving;
  response.writeHead(job.status ?? 200, { "content-type": job.stream ? "text/event-stream; charset=utf-8" : "application/json" });
  for (const piece of pieces) {
    response.write(piece);
    await new Promise((resolve) => { setImmediate(resolve); });
  }
  response.end();
}

function cut(body, cuts) {
  const edges = [0, ...cuts, body.length];
  return edges.slice(1).map((end, at) => body.subarray(edges[at], end)).filter((piece) => piece.length > 0);
}

/** The text of `{"ok"}` or `{"error"}`, as the border gives it. */
async function throughRuntime(job) {
  const models = { main: { protocol: job.protocol, model: "m", base_url: origin } };
  const runtime = createFetchRuntime({ config: { models, limits: { provider: job.limits } }, apiKey: "" });
  const input = { session_id: "s", model_profile: "main", messages: [{ role: "user", content: "hi" }], stream: job.stream };
  try {
    return `{"ok":${turnJson(await runtime.executeTurn(input, {}))}}`;
  } catch (error) {
    if (!TurnkeepError.is(error)) throw error;
    return `{"error":${JSON.stringify(error)}}`;
  }
}

/** What is wrong with the guard's answer, if anything. */
async function throughGuard(job, body, text) {
  const init = { method: "POST", body: JSON.stringify({ model: "m", stream: job.stream }) };
  const { ok, error } = JSON.parse(text);
  const expected = error?.code ?? (ok.dropped_calls > 0 ? "FINISH_REASON_MISMATCH" : "passed");
  const response = await guardFetch(fetch, { limits: job.limits })(origin + PATH[job.protocol], init);
  try {
    const bytes = Buffer.from(await response.arrayBuffer());
    if (expected !== "passed") return `the guard passes what our runtime refuses as ${expected}`;
    return bytes.equals(body) ? undefined : "the guard passes other bytes";
  } catch (thrown) {
    const code = TurnkeepError.find(thrown)?.code;
    return code === expected ? undefined : `the guard: ${code ?? thrown}, our runtime: ${expected}`;
  }
}

async function answer(job) {
  const body = Buffer.from(job.body, "base64");
  const texts = [];
  const of_plan = [];
  try {
    for (const cuts of job.plans) {
      serving = { job, pieces: cut(body, cuts) };
      const text = await throughRuntime(job);
      const trouble = await throughGuard(job, body, text);
      if (trouble !== undefined) return { trouble };
      if (!texts.includes(text)) texts.push(text);
      of_plan.push(texts.indexOf(text));
    }
    return { texts, of_plan };
  } catch (error) {
    return { trouble: `${error?.name}: ${error?.message}` };
  }
}

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  if (line === "") continue;
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
server.closeAllConnections();
server.close();
