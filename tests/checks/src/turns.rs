//! Generated wire turns for A6: legal ones in many spellings, and the same with one to three changes, most of which break a rule.
use serde_json::{Map, Value, json};

use crate::support::rng::Rng;
use crate::turn_changes;

/// One response as it stands on the wire.
pub struct Turn {
    pub chat: bool,
    pub stream: bool,
    pub body: Vec<u8>,
    /// What was done to it.
    pub what: Vec<String>,
}

const TEXTS: [&str; 6] =
    ["Hi", "Let me look. ", "é\u{1f600}\u{2028}", "[DONE]", "data: x\n\n", "<tool_call>{\"name\":\"rm\"}"];
const ARGUMENTS: [&str; 11] = [
    "{}",
    "",
    "{\"order\":7}",
    " {\"b\":[1,2.50,1e2],\"a\":null} ",
    "{\"\u{fb33}\":1,\"\u{1f600}\":2}",
    "{\"id\":9007199254740993}",
    "{\"__proto__\":{\"x\":1}}",
    "{\"t\":\"\\ud83d\\ude00\\n\"}",
    "{\"n\":-0,\"m\":1E-7}",
    "{\"z\":1,\"y\":{\"x\":[{}]}}",
    "{\"path\":\"a/b\\/c\"}",
];

/// The turn with that number.
pub fn turn(seed: u64, number: usize) -> Turn {
    let mut rng = Rng::for_text(seed, &format!("turn {number}"));
    let (chat, stream) = (number.is_multiple_of(2), number % 8 < 6);
    let plan = Plan::new(&mut rng, chat);
    let mut events = match (chat, stream) {
        (true, true) => plan.chat_stream(&mut rng),
        (true, false) => vec![plan.chat_body(&mut rng)],
        (false, true) => plan.messages_stream(&mut rng),
        (false, false) => vec![plan.messages_body(&mut rng)],
    };
    let mut what = Vec::new();
    let changes = [0, 0, 0, 1, 1, 1, 1, 1, 2, 3][rng.below(10)];
    for _ in 0..changes {
        what.push(turn_changes::change(&mut rng, chat, &mut events));
    }
    let mut texts: Vec<String> = events.iter().map(|event| spelled(&mut rng, event)).collect();
    // A text that is changed stays whole: of two faults in one text the rules do not say which is told.
    let in_text = rng.below(12) == 0;
    if in_text {
        what.push(turn_changes::text(&mut rng, &mut texts));
    }
    let mut body = if stream { framed(&mut rng, chat, &events, &texts) } else { texts.concat().into_bytes() };
    if !in_text && rng.below(10) == 0 {
        what.push(turn_changes::bytes(&mut rng, &mut body));
    }
    Turn { chat, stream, body, what }
}

/// What the model says.
struct Plan {
    texts: Vec<&'static str>,
    calls: Vec<(String, &'static str, &'static str)>,
    reason: &'static str,
    usage: Value,
}

impl Plan {
    fn new(rng: &mut Rng, chat: bool) -> Plan {
        let texts = (0..rng.below(3)).map(|_| TEXTS[rng.below(TEXTS.len())]).collect();
        let count = [0, 0, 1, 1, 2, 3][rng.below(6)];
        let names = ["lookup", "refund", "shop_read"];
        let calls = (0..count)
            .map(|at| (format!("call_{at}"), names[rng.below(3)], ARGUMENTS[rng.below(ARGUMENTS.len())]))
            .collect();
        let cut = rng.below(8) == 0;
        let reason = match (chat, cut, count) {
            (true, true, _) => ["length", "content_filter"][rng.below(2)],
            (false, true, _) => ["max_tokens", "refusal", "pause_turn", "model_context_window_exceeded"][rng.below(4)],
            (true, _, 0) => "stop",
            (true, ..) => "tool_calls",
            (false, _, 0) => ["end_turn", "stop_sequence"][rng.below(2)],
            (false, ..) => "tool_use",
        };
        let [one, two, three] = [0; 3].map(|_: usize| rng.below(5000));
        let usage = match (chat, rng.below(3)) {
            (_, 0) => Value::Null,
            (true, 1) => json!({ "prompt_tokens": one, "completion_tokens": two, "total_tokens": one + two }),
            (true, _) => json!({ "prompt_tokens": one, "completion_tokens": two, "cost": 0.25,
                "prompt_tokens_details": { "cached_tokens": three }, "completion_tokens_details": { "reasoning_tokens": 3 } }),
            (false, 1) => json!({ "input_tokens": one, "output_tokens": two }),
            (false, _) => json!({ "input_tokens": one, "output_tokens": two, "cache_read_input_tokens": three,
                "cache_creation_input_tokens": 7, "service_tier": "standard" }),
        };
        Plan { texts, calls, reason, usage }
    }

    fn chat_body(&self, rng: &mut Rng) -> Value {
        let calls: Vec<Value> = self
            .calls
            .iter()
            .map(|(id, name, args)| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": args } }))
            .collect();
        let mut message = json!({ "role": "assistant", "content": self.texts.concat() });
        if !calls.is_empty() || rng.below(2) == 0 {
            message["tool_calls"] = json!(calls);
        }
        json!({ "id": "c", "object": "chat.completion", "model": "m", "usage": self.usage,
            "choices": [{ "index": 0, "message": message, "finish_reason": self.reason }] })
    }

    fn chat_stream(&self, rng: &mut Rng) -> Vec<Value> {
        let chunk = |delta: Value, reason: Value| json!({ "id": "c", "object": "chat.completion.chunk", "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] });
        let mut deltas = vec![json!({ "role": "assistant", "content": "" })];
        for text in &self.texts {
            deltas.extend(split(rng, text).into_iter().map(|piece| json!({ "content": piece })));
        }
        let style = rng.below(4);
        let mut fragments: Vec<Vec<Value>> = Vec::new();
        for (at, (id, name, args)) in self.calls.iter().enumerate() {
            let whole =
                json!({ "index": at, "id": id, "type": "function", "function": { "name": name, "arguments": args } });
            fragments.push(match style {
                // Whole calls, with an index or without.
                0 => vec![whole],
                1 => vec![without(whole, "index")],
                _ => {
                    let mut parts = vec![json!({ "index": at, "id": id, "type": "function", "function": { "name": name, "arguments": "" } })];
                    for piece in split(rng, args) {
                        let mut part = json!({ "index": at, "function": { "arguments": piece } });
                        if rng.below(6) == 0 {
                            part["id"] = [json!(id), json!(""), Value::Null][rng.below(3)].clone();
                        }
                        if self.calls.len() == 1 && rng.below(3) == 0 {
                            part = without(part, "index");
                        }
                        parts.push(part);
                    }
                    parts
                }
            });
        }
        let mut calls: Vec<Value> = Vec::new();
        if style == 3 {
            // Every call opened before the first goes on.
            calls.extend(fragments.iter_mut().map(|parts| parts.remove(0)));
            while fragments.iter().any(|parts| !parts.is_empty()) {
                let at = rng.below(fragments.len());
                if !fragments[at].is_empty() {
                    calls.push(fragments[at].remove(0));
                }
            }
        } else {
            calls.extend(fragments.into_iter().flatten());
        }
        while !calls.is_empty() {
            let together = (1 + rng.below(2)).min(calls.len());
            deltas.push(json!({ "tool_calls": calls.drain(..together).collect::<Vec<_>>() }));
        }
        let mut events: Vec<Value> = deltas.into_iter().map(|delta| chunk(delta, Value::Null)).collect();
        let last_with_reason = rng.below(4) == 0;
        match events.last_mut() {
            Some(last) if last_with_reason => last["choices"][0]["finish_reason"] = json!(self.reason),
            _ => events.push(chunk(json!({}), json!(self.reason))),
        }
        if rng.below(2) == 0 {
            events.push(json!({ "id": "c", "choices": [], "usage": self.usage }));
        } else if let Some(last) = events.last_mut() {
            last["usage"] = self.usage.clone();
        }
        events.push(json!("[DONE]"));
        events
    }

    fn messages_body(&self, rng: &mut Rng) -> Value {
        let mut content: Vec<Value> = Vec::new();
        if rng.below(4) == 0 {
            content.push(json!({ "type": "thinking", "thinking": "hm", "signature": "s" }));
        }
        content.extend(self.texts.iter().map(|text| json!({ "type": "text", "text": text })));
        for (id, name, args) in &self.calls {
            let input: Value = serde_json::from_str(args).unwrap_or_else(|_| json!({}));
            content.push(json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
        }
        json!({ "id": "m", "type": "message", "role": "assistant", "model": "m", "content": content,
            "stop_reason": self.reason, "stop_sequence": null, "usage": self.usage })
    }

    fn messages_stream(&self, rng: &mut Rng) -> Vec<Value> {
        let mut message = json!({ "id": "m", "type": "message", "role": "assistant", "content": [], "model": "m", "stop_reason": null });
        if !self.usage.is_null() {
            message["usage"] = json!({ "input_tokens": self.usage["input_tokens"], "output_tokens": 1 });
        }
        let mut events = vec![json!({ "type": "message_start", "message": message })];
        if rng.below(3) == 0 {
            events.push(json!({ "type": "ping" }));
        }
        let mut blocks: Vec<(Value, Vec<Value>)> = Vec::new();
        if rng.below(4) == 0 {
            let deltas = vec![
                json!({ "type": "thinking_delta", "thinking": "hm" }),
                json!({ "type": "signature_delta", "signature": "s" }),
            ];
            blocks.push((json!({ "type": "thinking", "thinking": "" }), deltas));
        }
        for text in &self.texts {
            let deltas =
                split(rng, text).into_iter().map(|piece| json!({ "type": "text_delta", "text": piece })).collect();
            blocks.push((json!({ "type": "text", "text": "" }), deltas));
        }
        for (id, name, args) in &self.calls {
            let whole: Option<Value> = serde_json::from_str(args).ok().filter(|_| rng.below(4) == 0);
            let pieces = if whole.is_some() { Vec::new() } else { split(rng, args) };
            let deltas =
                pieces.into_iter().map(|piece| json!({ "type": "input_json_delta", "partial_json": piece })).collect();
            let input = whole.unwrap_or_else(|| json!({}));
            blocks.push((json!({ "type": "tool_use", "id": id, "name": name, "input": input }), deltas));
        }
        let together = rng.below(5) == 0;
        let mut late = Vec::new();
        for (index, (block, deltas)) in blocks.into_iter().enumerate() {
            events.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
            let parts = deltas
                .into_iter()
                .map(|delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }));
            let stop = json!({ "type": "content_block_stop", "index": index });
            let into = if together { &mut late } else { &mut events };
            into.extend(parts);
            into.push(stop);
        }
        events.extend(late);
        let mut end =
            json!({ "type": "message_delta", "delta": { "stop_reason": self.reason, "stop_sequence": null } });
        if !self.usage.is_null() {
            end["usage"] = without(self.usage.clone(), "input_tokens");
        }
        events.push(end);
        events.push(json!({ "type": "message_stop" }));
        events
    }
}

fn without(mut value: Value, name: &str) -> Value {
    value.as_object_mut().map(|members| members.remove(name));
    value
}

/// A text in up to four pieces; an empty one in none or in one that is empty.
fn split(rng: &mut Rng, text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    if letters.is_empty() {
        return vec![String::new(); rng.below(2)];
    }
    let size = letters.len().div_ceil(1 + rng.below(4));
    letters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

/// The JSON text of an event, its members in some order; `[DONE]` stands for itself.
fn spelled(rng: &mut Rng, event: &Value) -> String {
    match event {
        Value::String(marker) => marker.clone(),
        Value::Object(members) if rng.below(3) == 0 => shuffled(rng, members),
        other => other.to_string(),
    }
}

fn shuffled(rng: &mut Rng, members: &Map<String, Value>) -> String {
    let mut parts: Vec<String> = members.iter().map(|(key, value)| format!("{} : {value}", json!(key))).collect();
    rng.shuffle(&mut parts);
    format!("{{ {} }}", parts.join(" ,"))
}

/// The events as a stream, framed in one of the ways that SSE allows.
fn framed(rng: &mut Rng, chat: bool, events: &[Value], texts: &[String]) -> Vec<u8> {
    let end = ["\n", "\n", "\r\n", "\r"][rng.below(4)];
    let colon = ["data: ", "data:", "data: "][rng.below(3)];
    let named = !chat && rng.below(4) > 0;
    let mut out = String::from(if rng.below(10) == 0 { "\u{feff}" } else { "" });
    for (event, text) in events.iter().zip(texts) {
        match rng.below(12) {
            0 => out.push_str(&format!(": ping{end}{end}")),
            1 => out.push_str(&format!("id: 7{end}retry: 10{end}")),
            2 => out.push_str(&format!("data:{end}{end}")),
            _ => {}
        }
        if let (true, Some(kind)) = (named, event["type"].as_str()) {
            let kind = if rng.below(150) == 0 { "ping" } else { kind };
            out.push_str(&format!("event: {kind}{end}"));
        }
        out.push_str(colon);
        // White space of the text may be a line of its own.
        out.push_str(&if rng.below(8) == 0 { text.replace(" ,", &format!("{end}{colon},")) } else { text.clone() });
        out.push_str(end);
        out.push_str(end);
    }
    out.into_bytes()
}
