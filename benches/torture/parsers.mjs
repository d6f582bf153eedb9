// One answer, read by our runtime and by the vendors' own parsers, and what is to be said of the two.
import { isDeepStrictEqual } from "node:util";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { createFetchRuntime, TurnkeepError } from "turnkeep";

/** Our reading. `server`: `{ url, model, fetch? }`, the URL without `/v1`. */
export async function ours(server, protocol, stream, prompt) {
  const config = { models: { main: { protocol, model: server.model, base_url: `${server.url}/v1` } } };
  const runtime = createFetchRuntime({ config, apiKey: "none", ...(server.fetch === undefined ? {} : { fetch: server.fetch }) });
  try {
    const turn = await runtime.executeTurn({ session_id: "s", model_profile: "main", messages: [{ role: "user", content: prompt }], stream });
    if (turn.status === "client_disconnect") return { error: "the connection broke", rule: "S-13" };
    return { text: turn.assistant_text, calls: turn.requested_tools, reason: turn.finish_reason.raw, dropped: turn.dropped_calls };
  } catch (error) {
    if (!TurnkeepError.is(error)) throw error;
    return { error: error.code, rule: error.rule };
  }
}

/** The vendor's parser, in the same words. Inputs are read with `JSON.parse`, as its own helpers do. */
export async function theirs(server, protocol, stream, prompt) {
  const messages = [{ role: "user", content: prompt }];
  const own = { apiKey: "none", maxRetries: 0, ...(server.fetch === undefined ? {} : { fetch: server.fetch }) };
  try {
    if (protocol === "chat") {
      const client = new OpenAI({ ...own, baseURL: `${server.url}/v1` });
      const asked = { model: server.model, messages };
      const { choices: [choice] } = await (stream ? client.chat.completions.stream(asked).finalChatCompletion() : client.chat.completions.create(asked));
      const calls = (choice.message.tool_calls ?? []).map((item) => ({ id: item.id, name: item.function.name, input: JSON.parse(item.function.arguments) }));
      return { text: choice.message.content ?? "", calls, reason: choice.finish_reason };
    }
    const client = new Anthropic({ ...own, baseURL: server.url });
    const asked = { model: server.model, max_tokens: 1000, messages };
    const message = await (stream ? client.messages.stream(asked).finalMessage() : client.messages.create(asked));
    const calls = message.content.filter(({ type }) => type === "tool_use").map((block) => ({ id: block.id, name: block.name, input: block.input }));
    return { text: message.content.map((block) => (block.type === "text" ? block.text : "")).join(""), calls, reason: message.stop_reason };
  } catch (error) {
    return { error: `${error?.name}: ${String(error?.message).slice(0, 60)}` };
  }
}

/** What a pair of readings shows: agreement, a difference with its rule, or a difference that nothing explains. */
export function compare(rule, us, them) {
  if (us.error !== undefined && them.error !== undefined) return { ok: true, why: `both refuse: ${us.error}` };
  if (us.error !== undefined) return { ok: us.rule === rule, why: `only we refuse: ${us.error} (${us.rule})` };
  if (them.error !== undefined) return { ok: false, why: `only they refuse: ${them.error}` };
  // A turn that may not run keeps its text and drops its calls (P-20).
  const dropped = us.dropped > 0;
  const right = us.text === them.text && us.reason === them.reason
    && (dropped ? us.dropped === them.calls.length && rule === "P-20" : isDeepStrictEqual(us.calls, them.calls));
  if (!right) return { ok: false, why: `differ: ${JSON.stringify(us)} and ${JSON.stringify(them)}`.slice(0, 400) };
  return { ok: true, why: dropped ? `same text and reason; ${us.dropped} call not runnable (P-20)` : "the same" };
}
