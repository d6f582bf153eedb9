// One request, one provider stream through the `workerd` entry of the packed package.
import { createFetchRuntime, guardFetch, TurnkeepError, VERSION } from "turnkeep";

const event = (value) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
const chunk = (delta, finish_reason = null) =>
  event({ id: "cc-1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta, finish_reason }] });
const call = { index: 0, id: "c1", type: "function", function: { name: "get_weather", arguments: "{\"city\":\"Oslo\"}" } };
const BODY = chunk({ role: "assistant", content: "Let me look." }) + chunk({ tool_calls: [call] }) + chunk({}, "tool_calls") + event("[DONE]");

/** A provider that sends seven bytes at a time. */
const provider = () => answer(BODY);
async function answer(text) {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 7) controller.enqueue(bytes.slice(at, at + 7));
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** The guard over the whole stream, and over one without its end. */
async function guarded() {
  const request = ["https://provider.test/v1/chat/completions", { method: "POST", body: '{"stream":true}' }];
  const whole = await (await guardFetch(provider)(...request)).text();
  const cut = await guardFetch(() => answer(BODY.slice(0, -20)))(...request);
  const code = await cut.text().catch((error) => TurnkeepError.find(error)?.code);
  return { same: whole === BODY, code };
}

/** workerd refuses to compile bytes, so the entry must have brought a compiled module. */
function mayCompile() {
  try {
    new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
    return true;
  } catch {
    return false;
  }
}

export default {
  async fetch() {
    const config = { models: { small: { protocol: "chat", model: "m", base_url: "https://provider.test/v1" } } };
    const runtime = createFetchRuntime({ config, apiKey: "k", fetch: provider });
    let text = "";
    const turn = await runtime.executeTurn(
      {
        session_id: "s", model_profile: "small", messages: [{ role: "user", content: "Weather in Oslo?" }],
        tool_catalog: [{ name: "get_weather", input_schema: { type: "object" } }],
      },
      { onDelta: (delta) => { if (delta.type === "text_delta") text += delta.text; } },
    );
    return Response.json({ version: VERSION, status: turn.status, calls: turn.requested_tools, text, may_compile: mayCompile(), guard: await guarded() });
  },
};
