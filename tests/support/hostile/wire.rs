//! The pieces of both protocols that the generators are put together from.

use super::{Held, Row};

pub const PROTOCOLS: [&str; 2] = ["chat", "messages"];

/// The same row for both protocols.
pub fn both(row: impl Fn(&'static str) -> Row) -> Vec<Row> {
    PROTOCOLS.into_iter().map(row).collect()
}

pub fn chat(delta: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}\n\n")
}

pub fn chat_call(index: u32, head: &str, arguments: &str) -> String {
    chat(&format!(
        r#"{{"tool_calls":[{{"index":{index}{head},"function":{{"name":"f","arguments":"{arguments}"}}}}]}}"#
    ))
}

pub fn chat_end(reason: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\n")
}

pub const DONE: &str = "data: [DONE]\n\n";

pub fn named(kind: &str, rest: &str) -> String {
    format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{rest}}}\n\n")
}

pub fn opened(index: &str, block: &str) -> String {
    named("content_block_start", &format!(r#","index":{index},"content_block":{block}"#))
}

pub fn grown(index: &str, delta: &str) -> String {
    named("content_block_delta", &format!(r#","index":{index},"delta":{delta}"#))
}

pub fn closed(index: u32) -> String {
    named("content_block_stop", &format!(r#","index":{index}"#))
}

pub fn stop(reason: &str) -> String {
    named("message_delta", &format!(r#","delta":{{"stop_reason":"{reason}"}}"#))
}

pub const TEXT_BLOCK: &str = r#"{"type":"text","text":""}"#;

pub fn tool_block(id: &str) -> String {
    format!(r#"{{"type":"tool_use"{id},"name":"f","input":{{}}}}"#)
}

pub fn fragment(index: &str, text: &str) -> String {
    grown(index, &format!(r#"{{"type":"input_json_delta","partial_json":"{text}"}}"#))
}

pub fn message_start() -> String {
    named("message_start", r#","message":{"role":"assistant","content":[]}"#)
}

/// What comes before the text.
pub fn head(protocol: &str) -> String {
    if protocol == "chat" { String::new() } else { message_start() + &opened("0", TEXT_BLOCK) }
}

/// One delta of that text, written as in JSON.
pub fn text(protocol: &str, text: &str) -> String {
    if protocol == "chat" {
        chat(&format!(r#"{{"content":"{text}"}}"#))
    } else {
        grown("0", &format!(r#"{{"type":"text_delta","text":"{text}"}}"#))
    }
}

/// The text ends, and with it the turn or what is to be called.
pub fn text_end(protocol: &str) -> String {
    if protocol == "chat" { String::new() } else { closed(0) }
}

pub fn reply_end(protocol: &str) -> String {
    if protocol == "chat" {
        chat_end("stop") + DONE
    } else {
        closed(0) + &stop("end_turn") + &named("message_stop", "")
    }
}

/// A whole call; in Messages after block 0.
pub fn call(protocol: &str, position: u32, id: &str, arguments: &str) -> String {
    if protocol == "chat" {
        return chat_call(position, id, arguments);
    }
    let index = (position + 1).to_string();
    opened(&index, &tool_block(id)) + &fragment(&index, arguments) + &closed(position + 1)
}

pub fn calls_end(protocol: &str) -> String {
    if protocol == "chat" { chat_end("tool_calls") + DONE } else { stop("tool_use") + &named("message_stop", "") }
}

/// A row that begins with so many deltas of text.
pub fn after_text(id: &'static str, name: &str, protocol: &'static str, n: u64, expect: &'static str) -> Row {
    Row::new(id, name, protocol, expect).held(Held::Stream).part(head(protocol)).times(text(protocol, "words "), n)
}
