//! What A6 does to a legal turn: to its events, to their texts, to its bytes.
use serde_json::{Value, json};

use crate::support::rng::Rng;

const CHAT_REASONS: [&str; 9] =
    ["stop", "tool_calls", "length", "content_filter", "function_call", "error", "", "end_turn", "eos"];
const MESSAGES_REASONS: [&str; 9] = [
    "end_turn",
    "stop_sequence",
    "tool_use",
    "max_tokens",
    "model_context_window_exceeded",
    "pause_turn",
    "refusal",
    "stop",
    "eos",
];
const BLOCKS: [&str; 10] = [
    "text",
    "tool_use",
    "thinking",
    "redacted_thinking",
    "server_tool_use",
    "mcp_tool_use",
    "web_search_tool_result",
    "tool_result",
    "compaction",
    "fallback",
];
const DELTAS: [&str; 6] =
    ["text_delta", "input_json_delta", "thinking_delta", "signature_delta", "citations_delta", "some_new_delta"];
const EVENTS: [&str; 10] = [
    "message_start",
    "message_delta",
    "message_stop",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "ping",
    "error",
    "response.created",
    "some_new_event",
];
/// Members that are drawn more often than the rest.
const TELLING: [&str; 9] =
    ["finish_reason", "stop_reason", "index", "id", "name", "type", "arguments", "partial_json", "input"];
const ARGUMENTS: [&str; 13] = [
    "{\"a\":1",
    "[1]",
    "null",
    "7",
    "\"x\"",
    " ",
    "{\"a\":1,\"\\u0061\":2}",
    "{\"a\":1e999}",
    "{\"a\":123456789012345678901}",
    "{\"a\":\"\\ud800\"}",
    "{'a':1}",
    "{\"a\":1}{}",
    "{\"a\":1}",
];

fn errors(rng: &mut Rng) -> Value {
    match rng.below(9) {
        0 => json!({ "type": "overloaded_error", "message": "busy" }),
        1 => json!({ "code": 429, "message": "slow down" }),
        2 => json!({ "status": "401" }),
        3 => json!({ "type": "permission_error" }),
        4 => json!("something went wrong"),
        5 => json!({ "message": "no", "type": "server_error" }),
        6 => json!({ "status_code": 529 }),
        7 => Value::Null,
        _ => json!(""),
    }
}

fn any(rng: &mut Rng) -> Value {
    let values = [
        json!(null),
        json!(""),
        json!(0),
        json!(1),
        json!(-1),
        json!(1.5),
        json!(true),
        json!(false),
        json!([]),
        json!({}),
        json!("x"),
        json!([1]),
        json!({ "a": 1 }),
        json!(1024),
    ];
    values[rng.below(values.len())].clone()
}

/// What a member may be replaced by: often something that its name makes interesting.
fn other(rng: &mut Rng, chat: bool, path: &str, name: &str) -> Value {
    if rng.below(5) == 0 {
        return any(rng);
    }
    match name {
        "finish_reason" => json!(CHAT_REASONS[rng.below(CHAT_REASONS.len())]),
        "stop_reason" => json!(MESSAGES_REASONS[rng.below(MESSAGES_REASONS.len())]),
        "index" => [json!(0), json!(1), json!(2), json!(5), json!(-1), json!(1023), json!(1024), json!("0")]
            [rng.below(8)]
        .clone(),
        "id" => [json!("call_0"), json!("call_1"), json!("new"), json!("")][rng.below(4)].clone(),
        "name" => [json!("lookup"), json!("refund"), json!("")][rng.below(3)].clone(),
        "type" if chat => json!(["function", "custom", "", "text", "response.created"][rng.below(5)]),
        "type" if path.contains("content") => json!(BLOCKS[rng.below(BLOCKS.len())]),
        "type" if path.contains("delta") => json!(DELTAS[rng.below(DELTAS.len())]),
        "type" => json!(EVENTS[rng.below(EVENTS.len())]),
        "arguments" | "partial_json" => json!(ARGUMENTS[rng.below(ARGUMENTS.len())]),
        "role" => json!(["user", "assistant", ""][rng.below(3)]),
        "content" if chat => json!([{ "type": "text", "text": "part" }, { "type": "image_url", "image_url": {} }]),
        "object" => json!(["response", "chat.completion"][rng.below(2)]),
        _ => any(rng),
    }
}

/// A member that a response may have, with a value that means something.
fn member(rng: &mut Rng, chat: bool) -> (&'static str, Value) {
    match rng.below(15) {
        0 => ("error", errors(rng)),
        1 => ("refusal", json!(["", "I cannot."][rng.below(2)])),
        2 if chat => ("function_call", json!({ "name": "f", "arguments": "{}" })),
        3 => (
            "native_finish_reason",
            json!(["length", "MAX_TOKENS", "max_tokens", "stop", "max_output_tokens"][rng.below(5)]),
        ),
        4 => ("reasoning", json!("thinking")),
        5 => ("reasoning_content", json!(["", "thinking"][rng.below(2)])),
        6 if chat => {
            let details = [
                json!([{ "type": "reasoning.text", "index": 0, "text": "x" }]),
                json!([7]),
                json!([{ "text": 7 }]),
                json!([{ "index": "0" }]),
                json!({}),
            ];
            ("reasoning_details", details[rng.below(details.len())].clone())
        }
        2 | 6 | 7 => (
            "caller",
            [json!({ "type": "direct" }), json!({ "type": "code_execution_20250825", "tool_id": "t" })][rng.below(2)]
                .clone(),
        ),
        8 => (
            "tool_calls",
            json!([{ "index": 0, "id": "extra", "type": "function", "function": { "name": "f", "arguments": "{}" } }]),
        ),
        9 => (
            "usage",
            if chat { json!({ "prompt_tokens": 5, "completion_tokens": 6 }) } else { json!({ "output_tokens": 6 }) },
        ),
        10 => ("role", json!(["user", "assistant", "tool"][rng.below(3)])),
        11 if chat => {
            let contents = [
                json!("late"),
                json!(""),
                json!([7]),
                json!([{ "text": "x" }]),
                json!([{ "type": "text" }]),
                json!([{ "type": "text", "text": "part" }]),
            ];
            ("content", contents[rng.below(contents.len())].clone())
        }
        11 => ("content", json!([{ "type": "text", "text": "early" }])),
        12 => ("index", json!(rng.below(3))),
        13 => ("object", json!("response")),
        _ => ("x_unknown", any(rng)),
    }
}

/// Every place in a value that has a name, as JSON pointers.
fn places(value: &Value, at: &str, objects: bool, found: &mut Vec<String>) {
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(key, one)| (key.clone(), one)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(key, one)| (key.to_string(), one)).collect(),
        _ => Vec::new(),
    };
    if objects && value.is_object() {
        found.push(at.to_owned());
    }
    for (key, one) in inside {
        let path = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        if !objects {
            found.push(path.clone());
        }
        places(one, &path, objects, found);
    }
}

/// Changes the events; says how.
pub fn change(rng: &mut Rng, chat: bool, events: &mut Vec<Value>) -> String {
    let kind = rng.below(if events.len() > 1 { 13 } else { 7 });
    let at = rng.below(events.len());
    if rng.below(60) == 0 {
        events[at] = any(rng);
        return format!("event {at} is {}", events[at]);
    }
    match kind {
        0..=4 => {
            let mut found = Vec::new();
            places(&events[at], "", false, &mut found);
            let telling = |path: &String| TELLING.iter().any(|name| path.ends_with(&format!("/{name}")));
            if rng.below(4) > 0 && found.iter().any(telling) {
                found.retain(telling);
            }
            let Some(path) = found.get(rng.below(found.len())).cloned() else {
                return "nothing".into();
            };
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            if rng.below(5) == 0 {
                let parent = path.get(..path.len() - name.len() - 1).unwrap_or_default();
                match events[at].pointer_mut(parent) {
                    Some(Value::Object(members)) => drop(members.remove(&name)),
                    Some(Value::Array(items)) if rng.below(2) == 0 => items.extend(items.last().cloned()),
                    Some(Value::Array(items)) => drop(name.parse().map(|place: usize| items.remove(place))),
                    _ => {}
                }
                return format!("{path} of event {at} removed, or there twice");
            }
            let new = other(rng, chat, &path, &name);
            let said = format!("{path} of event {at} is {new}");
            if let Some(place) = events[at].pointer_mut(&path) {
                *place = new;
            }
            said
        }
        5 | 6 => {
            let mut found = Vec::new();
            places(&events[at], "", true, &mut found);
            let (name, value) = member(rng, chat);
            let home = match name {
                "caller" => "/content",
                "content" if !chat => "/message",
                _ => "",
            };
            if found.iter().any(|path| path.starts_with(home)) {
                found.retain(|path| path.starts_with(home));
            }
            let Some(path) = found.get(rng.below(found.len())).cloned() else {
                return "nothing".into();
            };
            let said = format!("{path} of event {at} gets {name} {value}");
            if let Some(Value::Object(members)) = events[at].pointer_mut(&path) {
                members.insert(name.into(), value);
            }
            said
        }
        7 => {
            events.remove(at);
            format!("event {at} removed")
        }
        8 => {
            let again = events[at].clone();
            events.insert(rng.below(events.len() + 1), again);
            format!("event {at} twice")
        }
        9 => {
            let with = rng.below(events.len());
            events.swap(at, with);
            format!("events {at} and {with} swapped")
        }
        10 => {
            events.truncate(at + 1);
            format!("nothing after event {at}")
        }
        11 if chat => {
            // What comes late, or nothing that does.
            let late = [
                ("content", json!("late")),
                ("content", json!("")),
                ("content", json!([{ "type": "image_url" }])),
                ("refusal", json!("No.")),
                ("refusal", json!("")),
                ("reasoning", json!("hm")),
                ("reasoning_content", json!("hm")),
                ("reasoning_details", json!([{}])),
                ("reasoning_details", json!([])),
                ("tool_calls", json!([{ "index": 0 }])),
                ("tool_calls", json!([])),
                ("role", json!("assistant")),
                ("x_unknown", json!(1)),
            ];
            let (name, value) = &late[rng.below(late.len())];
            events.insert(events.len() - 1, json!({ "choices": [{ "delta": { *name: value } }] }));
            format!("a delta with {name} {value} before the last event")
        }
        11 => {
            let reason = MESSAGES_REASONS[rng.below(MESSAGES_REASONS.len())];
            let more = json!({ "type": "message_delta", "delta": { "stop_reason": reason } });
            events.insert(events.len() - 1, more);
            format!("the reason {reason} before the last event")
        }
        _ => {
            let error = errors(rng);
            events
                .insert(at, if chat { json!({ "error": error }) } else { json!({ "type": "error", "error": error }) });
            format!("an error before event {at}")
        }
    }
}

/// Changes the JSON text of an event; says how.
pub fn text(rng: &mut Rng, texts: &mut [String]) -> String {
    let at = rng.below(texts.len());
    let text = &mut texts[at];
    let Some(brace) = text.find('{') else {
        return "nothing".into();
    };
    let deep = "[".repeat(70) + &"]".repeat(70);
    let put = [
        "\"x\":1,\"x\":2,",
        "\"x\":1,\"\\u0078\":{},",
        "\"x\":\"\\udc00\",",
        "\"x\":1e400,",
        "\"x\":01,",
        "\"x\":99999999999999999999,",
        "\"x\":1e-400,",
        "\"x\":\"\t\",",
        "\"x\":18446744073709551615,",
    ];
    let kind = rng.below(put.len() + 2);
    if text.trim_start_matches('{').trim_start().starts_with('}') {
        return "nothing".into();
    }
    match put.get(kind) {
        Some(put) => text.insert_str(brace + 1, put),
        None if kind == put.len() => text.insert_str(brace + 1, &format!("\"x\":{deep},")),
        None => drop(text.pop()),
    }
    format!("text of event {at} changed by {kind}")
}

/// Changes the bytes; says how.
pub fn bytes(rng: &mut Rng, body: &mut Vec<u8>) -> String {
    let at = rng.below(body.len() + 1);
    match rng.below(3) {
        0 => {
            body.truncate(at);
            format!("cut at byte {at}")
        }
        1 => {
            let more: &[u8] = [&b"\n"[..], b"data: {}\n\n", b": ping\n\n", b"\xff", b"\r", b" "][rng.below(6)];
            body.extend_from_slice(more);
            format!("{more:?} at the end")
        }
        _ => {
            body.insert(at, [0xff, 0xc0, 0x80, 0xed][rng.below(4)]);
            format!("a byte that is no UTF-8 at {at}")
        }
    }
}
