// Our two lanes for the stream harness: the public API of the installed package, every rule on.
//
//   ours:counts   executeTurn(input), nobody listens: counts cross the border, the turn is read once at the end
//   ours:records  the same with onDelta, which hands each delta's string on
//
// Limits are the defaults but where a workload is larger than they allow; `raised` names each of those.
import { createFetchRuntime } from "turnkeep";

const PROTOCOLS = { openai: "chat", anthropic: "messages" };

/** Defaults of S-02, S-03, S-04 and S-07, and what raises them: 100,000 deltas and more, arguments over 1 MiB. */
const DEFAULTS = { max_stream_bytes: 33_554_432, max_events: 200_000, max_snapshots: 100_000, max_tool_argument_bytes: 1_048_576 };

function raised(w) {
  const needs = {
    max_stream_bytes: w.bytes,
    max_events: w.events,
    max_snapshots: w.events,
    max_tool_argument_bytes: w.expected.calls.reduce((bytes, call) => bytes + Buffer.byteLength(call.args), 0),
  };
  return Object.fromEntries(Object.entries(needs).filter(([name, need]) => need > DEFAULTS[name]));
}

/** Provider state is an opaque text to the runtime's user; the harness wants the thinking in it. */
function thinkingOf(block) {
  const state = JSON.parse(block.json);
  return state.thinking ?? state.reasoning_content ?? "";
}

/**
 * An input is given in canonical form, so its members stand in another order than they were sent. The harness compares texts: this puts
 * the members back, and only the members, when it asks for the text, which is after the clock has stopped.
 */
function inOrderOf(sent, got) {
  if (Array.isArray(got) && Array.isArray(sent)) return got.map((value, at) => inOrderOf(sent[at], value));
  if (typeof got !== "object" || got === null || typeof sent !== "object" || sent === null) return got;
  const names = [...Object.keys(sent).filter((name) => Object.hasOwn(got, name)), ...Object.keys(got).filter((name) => !Object.hasOwn(sent, name))];
  return Object.fromEntries(names.map((name) => [name, inOrderOf(sent[name], got[name])]));
}

function message(turn, w) {
  let thinking = "";
  for (const block of turn.content_blocks) if (block.type === "provider_state") thinking += thinkingOf(block);
  const calls = turn.requested_tools.map(({ id, name, input }, at) => ({
    id, name, args: { toJSON: () => inOrderOf(JSON.parse(w.expected.calls[at].args), input) },
  }));
  return { text: turn.assistant_text, thinking, calls };
}

function lane(name, listens) {
  const kept = new WeakMap();
  return {
    name,
    kind: "ours",
    deltas: listens,
    /** The limits of a workload are configuration, not work. */
    prepare(w) {
      kept.set(w, raised(w));
    },
    async run(src, onDelta) {
      const { w } = src;
      const runtime = createFetchRuntime({
        config: { models: { it: { protocol: PROTOCOLS[w.provider], model: "some-model", base_url: "http://127.0.0.1:1/v1" } } },
        apiKey: "",
        fetch: src.fetch,
      });
      const input = {
        session_id: "bench",
        model_profile: "it",
        messages: [{ role: "user", content: "go" }],
        tool_catalog: [{ name: "write_file", input_schema: { type: "object" } }],
        limits: kept.get(w) ?? raised(w),
      };
      if (!listens) return message(await runtime.executeTurn(input), w);
      const hand = onDelta ?? (() => {});
      return message(await runtime.executeTurn(input, { onDelta: (delta) => {
        if (delta.type === "text_delta") hand(delta.text);
        else if (delta.type === "tool_input_delta") hand(delta.json_fragment);
      } }), w);
    },
  };
}

export default [lane("ours:counts", false), lane("ours:records", true)];
