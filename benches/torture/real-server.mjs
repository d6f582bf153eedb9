// A real model behind a real server (llama-server or any other that speaks both protocols), in REAL_SERVER_URL without `/v1`: each answer is
// fetched once, and the very same bytes are read by our runtime and by the vendors' own parsers. `P-20` and `P-18` explain the only
// differences that may be: calls under `length`, and calls under another reason than `tool_calls` or `tool_use`.
import { compare, ours, theirs } from "./parsers.mjs";

const url = process.env.REAL_SERVER_URL;
if (url === undefined) throw new Error("missing: REAL_SERVER_URL, for instance http://127.0.0.1:8095");
const model = process.env.REAL_SERVER_MODEL ?? "tiny";
const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const PROMPTS = ["What is the weather in Paris?", "Weather in Rome and in Oslo, please.", "Say hello.", "Count from one to five."];

/** What is asked; the help that a very small model needs to call at all stands beside it. */
function body(protocol, stream, prompt, tools, max_tokens) {
  const common = { model, messages: [{ role: "user", content: prompt }], max_tokens, stream, temperature: 0 };
  if (protocol === "chat") {
    const given = tools ? { tools: [{ type: "function", function: { name: "get_weather", parameters: CITY } }], tool_choice: "required", stop: ["</tool_call>"] } : {};
    return { ...common, ...given, ...(stream ? { stream_options: { include_usage: true } } : {}) };
  }
  const given = tools ? { tools: [{ name: "get_weather", input_schema: CITY }], tool_choice: { type: "any" }, stop_sequences: ["</tool_call>"] } : {};
  return { ...common, ...given };
}

let passed = 0;
const wrong = [];
const counts = { calls: 0, bytes: 0, turns: 0 };
for (const prompt of PROMPTS) for (const tools of [true, false]) for (const max_tokens of [120, 12]) for (const protocol of ["chat", "messages"]) for (const stream of [true, false]) {
  const path = protocol === "chat" ? "/v1/chat/completions" : "/v1/messages";
  const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01" };
  // The server closes idle sockets while it thinks about the next one: one connection for each request.
  const response = await fetch(url + path, { method: "POST", headers: { ...headers, connection: "close" }, body: JSON.stringify(body(protocol, stream, prompt, tools, max_tokens)) });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const again = async () => new Response(bytes.slice(), { status: response.status, headers: { "content-type": response.headers.get("content-type") } });
  const server = { url, model, fetch: again };
  const us = await ours(server, protocol, stream, prompt);
  const them = await theirs(server, protocol, stream, prompt);
  const { ok, why } = compare(us.error === undefined ? "P-20" : ["P-18", "P-20"].find((rule) => rule === us.rule), us, them);
  counts.calls += us.calls?.length ?? 0;
  counts.bytes += bytes.length;
  counts.turns += us.error === undefined ? 1 : 0;
  const line = `${protocol}, ${stream ? "stream" : "body"}, ${tools ? "tools" : "no tools"}, ${max_tokens} tokens, ${prompt}: ${why}`;
  if (ok) passed += 1;
  else wrong.push(line);
  console.log(ok ? line : `FAIL ${line}`);
}
console.log(`${counts.turns} turns decoded, ${counts.calls} calls that may run, ${counts.bytes} bytes from ${url}`);
console.log(`${passed} passed, ${wrong.length} failed`);
process.exitCode = passed > 0 && counts.calls > 0 && wrong.length === 0 ? 0 : 1;
