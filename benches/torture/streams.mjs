// The unsafe streams: none of them is a turn whose calls may run. Each is text, then calls, then what is wrong with it.
const event = (data) => `data: ${JSON.stringify(data)}\n\n`;
const named = (data) => `event: ${data.type}\n${event(data)}`;

const chunk = (delta, finish_reason = null, index = 0) => event({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index, delta, finish_reason }] });
const chat = {
  text: chunk({ role: "assistant", content: "Let me look. " }),
  open: (index, id, name = "lookup", args = "") => chunk({ tool_calls: [{ index, ...(id === undefined ? {} : { id }), type: "function", function: { name, arguments: args } }] }),
  args: (index, args, more = {}) => chunk({ tool_calls: [{ index, ...more, function: { arguments: args, ...more.function } }] }),
  end: (reason) => chunk({}, reason),
  done: "data: [DONE]\n\n",
};
const ORDER = '{"order":7}';
const chatCall = chat.open(0, "call_a") + chat.args(0, '{"order"') + chat.args(0, ":7}");
const chatCalls = chatCall + chat.open(1, "call_b") + chat.args(1, '{"order":8}');
const start = named({ type: "message_start", message: { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 1 } } });
const block = (index, content_block, ...deltas) => [
  named({ type: "content_block_start", index, content_block }),
  ...deltas.map((delta) => named({ type: "content_block_delta", index, delta })),
];
const stop = (index) => named({ type: "content_block_stop", index });
const input = (...parts) => parts.map((partial_json) => ({ type: "input_json_delta", partial_json }));
const use = (index, id, ...parts) => [...block(index, { type: "tool_use", id, name: "lookup", input: {} }, ...input(...parts)), stop(index)];
const text = start + [...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Let me look. " }), stop(0)].join("");
const call = use(1, "toolu_a", '{"order"', ":7}").join("");
const calls = call + use(2, "toolu_b", '{"order":8}').join("");
const reason = (stop_reason) => named({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } });
const over = named({ type: "message_stop" });

/** The text with one character replaced by a byte that is no UTF-8. */
function broken(before, after) {
  return Buffer.concat([Buffer.from(before), Buffer.of(0xff), Buffer.from(after)]);
}
const chatBroken = chat.open(0, "call_a", "lookup", "\u0001").split("\\u0001");
const messagesBroken = named({ type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"note":"\u0001"}' } }).split("\\u0001");

const whole = { index: 0, id: "call_a", type: "function", function: { name: "lookup", arguments: ORDER } };
const stray = (message) => event({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: {}, message: { role: "assistant", content: null, ...message }, finish_reason: null }] });

/** A call whose second fragment of three is changed: without it the input is another one. */
function between(change) {
  const [opening, first, middle, last, end] = use(1, "toolu_a", '{"order":7', "0", "}");
  return [opening, first, change(middle), last, end, reason("tool_use"), over];
}

/** `parts` are written one after another; a number is a pause in milliseconds; `hold` leaves the socket open. */
export const UNSAFE = {
  chat: [
    { id: "cut before the reason", parts: [chat.text, chatCalls] },
    { id: "cut inside the arguments", parts: [chat.text, chat.open(0, "call_a"), chat.args(0, '{"order"')] },
    { id: "arguments cut, reason tool_calls", parts: [chat.text, chat.open(0, "call_a"), chat.args(0, '{"order":7'), chat.end("tool_calls"), chat.done] },
    { id: "length with calls", parts: [chat.text, chatCalls, chat.end("length"), chat.done] },
    { id: "content_filter with calls", parts: [chat.text, chatCalls, chat.end("content_filter"), chat.done] },
    { id: "stop with calls", parts: [chat.text, chatCalls, chat.end("stop"), chat.done] },
    { id: "no marker", parts: [chat.text, chatCalls, chat.end("tool_calls")] },
    { id: "a call after the marker", parts: [chat.text, chatCall, chat.end("tool_calls"), chat.done, 30, chat.open(1, "call_b") + chat.args(1, ORDER)] },
    { id: "one id for two calls", parts: [chat.text, chatCall, chat.open(1, "call_a"), chat.args(1, ORDER), chat.end("tool_calls"), chat.done] },
    { id: "no id", parts: [chat.text, chat.open(0, undefined), chat.args(0, ORDER), chat.end("tool_calls"), chat.done] },
    { id: "the id changes", parts: [chat.text, chat.open(0, "call_a"), chat.args(0, ORDER, { id: "call_z" }), chat.end("tool_calls"), chat.done] },
    { id: "the name changes", parts: [chat.text, chat.open(0, "call_a"), chat.args(0, ORDER, { function: { name: "refund" } }), chat.end("tool_calls"), chat.done] },
    { id: "a second choice", parts: [chat.text, chatCall, chunk({ role: "assistant", content: "Or not." }, null, 1), chat.end("tool_calls"), chunk({}, "stop", 1), chat.done] },
    { id: "an error after the calls", parts: [chat.text, chatCalls, event({ error: { message: "overloaded", type: "server_error", code: 503 } }), chat.end("tool_calls"), chat.done] },
    { id: "invalid UTF-8 in the arguments", parts: [chat.text, chat.open(0, "call_a"), chat.args(0, '{"note":"'), broken(...chatBroken), chat.args(0, '"}'), chat.end("tool_calls"), chat.done] },
    { id: "a key twice in the arguments", parts: [chat.text, chat.open(0, "call_a"), chat.args(0, '{"order":7,"order":9}'), chat.end("tool_calls"), chat.done] },
    { id: "held open before the marker", parts: [chat.text, chatCalls, chat.end("tool_calls")], hold: true },
    { id: "calls behind byte order marks, reason stop", parts: [chat.text, chatCall.replaceAll("data:", "\u{feff}data:"), chat.end("stop"), chat.done] },
    { id: "a call behind \u00ef\u00bb\u00bf, reason stop", parts: ["\u00ef\u00bb\u00bf" + chat.open(0, "call_a", "lookup", ORDER), chat.end("stop"), chat.done] },
    { id: "a call in the choice's message, reason stop", parts: [chat.text, stray({ tool_calls: [whole] }), chat.end("stop"), chat.done] },
    { id: "a call in a prototype, reason stop", parts: [chat.text, chunk({ proto: { tool_calls: [whole] } }).replace('"proto"', '"__proto__"'), chat.end("stop"), chat.done] },
    { id: "a fragment without an index between two with", parts: [chat.text, chat.open(0, "call_a"), chat.args(0, '{"order":7'), chat.args(undefined, "0"), chat.args(0, "}"), chat.end("tool_calls"), chat.done] },
    { id: "a fragment in a chunk with a wrong type", parts: [chat.text, chat.open(0, "call_a"), chat.args(0, '{"order":7'), chat.args(0, "0").replace('"created":1', '"created":"1"'), chat.args(0, "}"), chat.end("tool_calls"), chat.done] },
    { id: "a choice's message between two fragments", parts: [chat.text, chat.open(0, "call_b"), chat.args(0, " "), stray({ content: "" }), chat.open(0, "call_b"), chat.args(0, ORDER), chat.end("tool_calls"), chat.done] },
  ],
  messages: [
    { id: "cut before the reason", parts: [text, calls] },
    { id: "cut inside the arguments", parts: [text, ...use(1, "toolu_a", '{"order"').slice(0, 2)] },
    { id: "max_tokens with calls", parts: [text, calls, reason("max_tokens"), over] },
    { id: "refusal with calls", parts: [text, calls, reason("refusal"), over] },
    { id: "end_turn with calls", parts: [text, calls, reason("end_turn"), over] },
    { id: "no marker", parts: [text, calls, reason("tool_use")] },
    { id: "a call after the marker", parts: [text, call, reason("tool_use"), over, 30, use(2, "toolu_b", ORDER).join("")] },
    { id: "one id for two calls", parts: [text, call, use(2, "toolu_a", '{"order":8}').join(""), reason("tool_use"), over] },
    { id: "a server's own tool", parts: [text, [...block(1, { type: "server_tool_use", id: "srvtoolu_a", name: "web_search", input: {} }, ...input('{"query":"x"}')), stop(1)].join(""), use(2, "toolu_b", ORDER).join(""), reason("tool_use"), over] },
    { id: "a block still open", parts: [text, ...use(1, "toolu_a", ORDER).slice(0, 2), reason("tool_use"), over] },
    { id: "an error after the calls", parts: [text, calls, named({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }), reason("tool_use"), over] },
    { id: "invalid UTF-8 in the arguments", parts: [text, block(1, { type: "tool_use", id: "toolu_a", name: "lookup", input: {} })[0], broken(...messagesBroken), stop(1), reason("tool_use"), over] },
    { id: "a key twice in the arguments", parts: [text, use(1, "toolu_a", '{"order":7,"order":9}').join(""), reason("tool_use"), over] },
    { id: "held open before the marker", parts: [text, calls, reason("tool_use")], hold: true },
    { id: "a fragment behind a byte order mark", parts: [text, ...between((fragment) => "\u{feff}" + fragment)] },
    { id: "a fragment without an event name", parts: [text, ...between((fragment) => fragment.slice(fragment.indexOf("data:")))] },
    { id: "a block that brings the client's own buffer", parts: [text, ...use(1, "toolu_a", ORDER), reason("tool_use"), over].map((part) => part.replace('"input":{}', '"input":{},"__json_buf":"{\\"order\\":9,\\"more\\":"')) },
    { id: "a block that names a tool set", parts: [text, ...use(1, "toolu_a", ORDER), reason("tool_use"), over].map((part) => part.replace('"input":{}', '"input":{},"toolset_name":"refund"')) },
  ],
};

/** What the server says to every later request of a conversation, so that a loop that went on can end. */
export const GOODBYE = {
  chat: [chunk({ role: "assistant", content: "Done." }), chat.end("stop"), chat.done],
  messages: [start, [...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Done." }), stop(0)].join(""), reason("end_turn"), over],
};

/** A legal tool turn of the same tool, for the examples. */
export const LEGAL = {
  chat: { id: "a legal tool turn", parts: [chat.text, chatCalls, chat.end("tool_calls"), chat.done] },
  messages: { id: "a legal tool turn", parts: [text, calls, reason("tool_use"), over] },
};
