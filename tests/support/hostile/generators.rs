//! One function an id of the vector file, then our own: trees that nobody asked for.

use super::wire::*;
use super::{Generator, Held, MIB, Row};

const fn generator(id: &'static str, rows: fn(u64) -> Vec<Row>, n: u64, small: u64) -> Generator {
    Generator { id, rows, n, small }
}

/// So many ids of the vector file stand first.
pub const IDS: usize = 20;

pub const GENERATORS: &[Generator] = &[
    generator("deep-array", |n| deep("deep-array", "[", n), 1_000_000, 300_000),
    generator("deep-object", |n| deep("deep-object", r#"{"a":"#, n), 800_000, 80_000),
    generator("long-number", long_number, 1_000_000, 300_000),
    generator("one-giant-line", one_giant_line, 100 * MIB, 3 * MIB),
    generator("byte-by-byte", byte_by_byte, 2_000, 2_000),
    generator("empty-events", empty_events, 1_000_000, 1_000_000),
    generator("many-blocks", many_blocks, 100_000, 20_000),
    generator("index-jump", index_jump, 1_000, 5_000),
    generator("args-fragments", args_fragments, 50_000, 5_000),
    generator("post-terminal", post_terminal, 100, 5_000),
    generator("dup-call-id", dup_call_id, 100, 5_000),
    generator("missing-id", missing_id, 100, 5_000),
    generator("done-before-finish", done_before_finish, 100, 5_000),
    generator("stop-with-open-block", stop_with_open_block, 100, 5_000),
    generator("interleaved", interleaved, 1_000, 4_000),
    generator("text-shaped-call", text_shaped_call, 1_000, 5_000),
    generator("utf8-split", utf8_split, 1_000, 1_000),
    generator("bad-utf8", bad_utf8, 100, 5_000),
    generator("event-type-mismatch", event_type_mismatch, 100, 5_000),
    generator("huge-retry", huge_retry, 400, 5_000),
    generator("wide-unknown", wide_unknown, 4 * MIB - 1024, 400_000),
    generator("wide-arguments", wide_arguments, 4 * MIB - 1024, 100_000),
    generator("wide-text", wide_text, 4 * MIB - 1024, 400_000),
    generator("wide-usage", wide_usage, 4 * MIB - 1024, 400_000),
    generator("wide-body", wide_body, 4 * MIB, 400_000),
];

fn deep(id: &'static str, open: &str, n: u64) -> Vec<Row> {
    // Depth 64 is legal and only unfinished; one more is too deep, which outranks that the text does not end.
    let sizes = [64, 65, 127, 128, 129, 1000, 100_000];
    let mut rows = Vec::new();
    for protocol in PROTOCOLS {
        for size in sizes.into_iter().chain([n]) {
            let expect = if size <= 64 { "JSON_INVALID" } else { "JSON_TOO_DEEP" };
            let row = |name: &str| {
                let row = Row::new(id, &format!("{name}{size} deep"), protocol, expect);
                if size == n { row } else { row.fixed() }
            };
            rows.push(row("").part("data: ").times(open, size).part("\n\n"));
            rows.push(row("body ").body().times(open, size));
        }
        for size in sizes {
            let expect = if size <= 64 { "TOOL_ARGUMENTS_INVALID" } else { "JSON_TOO_DEEP" };
            let row = after_text(id, &format!("arguments {size} deep"), protocol, 1, expect).part(text_end(protocol));
            let [before, after] = around_arguments(protocol);
            rows.push(
                row.fixed().part(before).times(open.replace('"', "\\\""), size).part(after).part(calls_end(protocol)),
            );
        }
    }
    rows
}

/// What stands before and after the arguments of one call after the text.
fn around_arguments(protocol: &str) -> [String; 2] {
    let whole = call(protocol, 0, r#","id":"c1""#, "<>");
    let (before, after) = whole.split_once("<>").unwrap_or_default();
    [before.to_owned(), after.to_owned()]
}

fn long_number(n: u64) -> Vec<Row> {
    let row = |p, name: &str, digits: &str, expect| {
        let first = text(p, "a").replace("data: {", "data: {\"x\":<>,");
        let (before, after) = first.split_once("<>").unwrap_or_default();
        let row = Row::new("long-number", name, p, expect).part(head(p)).part(before).part(digits).times("1", n);
        row.part(after).part(reply_end(p))
    };
    let mut rows = both(|p| row(p, "integer", "", "JSON_NUMBER_RANGE"));
    rows.extend(both(|p| row(p, "fraction", "0.", "reply").gives("a")));
    rows.extend(both(|p| row(p, "exponent", "1e", "JSON_NUMBER_RANGE")));
    rows.extend(both(|p| row(p, "negative exponent", "1e-", "reply").gives("a")));
    rows
}

fn one_giant_line(n: u64) -> Vec<Row> {
    let row = |p, name: &str, start: &str, expect| {
        Row::new("one-giant-line", name, p, expect).part(start).times("x".repeat(1024), n / 1024)
    };
    let (event, stream) = if n > 4 * MIB {
        ("LIMIT_EVENT_BYTES", "LIMIT_STREAM_BYTES")
    } else {
        ("STREAM_TRUNCATED", "STREAM_TRUNCATED")
    };
    let mut rows = both(|p| row(p, "data", "data: ", event).fixed());
    rows.extend(both(|p| row(p, "unknown field", "x", event).fixed()));
    rows.extend(both(|p| row(p, "event name", "event: ", event).fixed()));
    rows.extend(both(|p| row(p, "comment", ":", stream)));
    rows.extend(both(|p| {
        row(p, "below the stream's limit", "data: ", "LIMIT_STREAM_BYTES").limit("stream_bytes", MIB).fixed()
    }));
    rows
}

fn byte_by_byte(n: u64) -> Vec<Row> {
    both(|p| after_text("byte-by-byte", "", p, n, "reply").read(1).part(reply_end(p)))
}

fn empty_events(n: u64) -> Vec<Row> {
    let row = |p, name: &str, line: &str, times, expect| {
        Row::new("empty-events", name, p, expect).times(line, times).held(Held::Nothing)
    };
    let mut rows = both(|p| row(p, "comments", ":\n", n, "STREAM_TRUNCATED"));
    rows.extend(both(|p| row(p, "blank lines", "\n", n, "STREAM_TRUNCATED")));
    rows.extend(both(|p| row(p, "too many comments", &":\n".repeat(1000), 20_000, "LIMIT_STREAM_BYTES").fixed()));
    rows.extend(both(|p| row(p, "data without anything", "data:\n\n", 300_000, "LIMIT_EVENTS").fixed()));
    rows
}

fn many_blocks(n: u64) -> Vec<Row> {
    let row = |name: &str, p, expect| Row::new("many-blocks", name, p, expect).held(Held::Stream);
    let start = |name: &str, expect| row(name, "messages", expect).part(message_start());
    let calls = opened("<i>", &tool_block(r#","id":"c<i>""#));
    let chat_calls = chat(r#"{"tool_calls":[{"index":<i>,"id":"c<i>","function":{"name":"f","arguments":""}}]}"#);
    let stops = named("content_block_stop", r#","index":<i>"#);
    vec![
        start("texts", "LIMIT_CONTENT_BLOCKS").times(opened("<i>", TEXT_BLOCK), n).fixed(),
        start("calls", "LIMIT_TOOL_CALLS").times(calls.clone(), n).fixed(),
        row("calls", "chat", "LIMIT_TOOL_CALLS").times(chat_calls.clone(), n).fixed(),
        start("the last of 128 grows", "tool_request")
            .times(calls, 128)
            .times(fragment("127", " "), n / 10)
            .part(fragment("127", "{}"))
            .times(stops, 128)
            .part(calls_end("messages")),
        row("the last of 128 grows", "chat", "tool_request")
            .times(chat_calls, 128)
            .times(chat_call(127, "", " "), n / 10)
            .part(chat_call(127, "", "{}"))
            .part(calls_end("chat")),
    ]
}

fn index_jump(n: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for (index, chat_code, messages_code) in [
        ("4294967295", "CALL_INDEX_INVALID", "STREAM_ORDER"),
        ("1e9", "CALL_INDEX_INVALID", "STREAM_ORDER"),
        ("-1", "CALL_INDEX_INVALID", "CALL_INDEX_INVALID"),
        ("1.5", "CALL_INDEX_INVALID", "CALL_INDEX_INVALID"),
        ("18446744073709551616", "JSON_NUMBER_RANGE", "JSON_NUMBER_RANGE"),
    ] {
        let delta = format!(r#"{{"tool_calls":[{{"index":{index},"id":"c","function":{{"name":"f"}}}}]}}"#);
        rows.push(after_text("index-jump", index, "chat", n, chat_code).part(chat(&delta)));
        let block = opened(index, &tool_block(r#","id":"c""#));
        rows.push(after_text("index-jump", index, "messages", n, messages_code).part(block));
    }
    rows
}

/// Arguments a byte at a time, to the limit and one byte past it.
fn args_fragments(n: u64) -> Vec<Row> {
    let row = |p, name: &str, limit, expect| {
        let more = if p == "chat" { chat_call(0, "", "x") } else { fragment("1", "x") };
        let row =
            after_text("args-fragments", name, p, 1, expect).limit("tool_argument_bytes", limit).part(text_end(p));
        let row = if p == "chat" {
            row.part(chat_call(0, r#","id":"c1""#, r#"{\"a\":\""#))
        } else {
            row.part(opened("1", &tool_block(r#","id":"c1""#))).part(fragment("1", r#"{\"a\":\""#))
        };
        let row = row.times(more, n);
        let row = if p == "chat" {
            row.part(chat_call(0, "", r#"\"}"#))
        } else {
            row.part(fragment("1", r#"\"}"#)).part(closed(1))
        };
        row.part(calls_end(p)).held(Held::Stream)
    };
    let mut rows = both(|p| row(p, "to the limit", n + 8, "tool_request"));
    rows.extend(both(|p| row(p, "past the limit", n + 7, "LIMIT_TOOL_ARGUMENT_BYTES").fixed()));
    rows
}

fn post_terminal(n: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, tail) in [("byte", "x"), ("comment", ": x\n"), ("blank line", "\n"), ("second marker", "")] {
        rows.extend(both(|p| {
            let row = after_text("post-terminal", name, p, n, "POST_TERMINAL_DATA").part(reply_end(p));
            let marker = if p == "chat" { DONE.to_owned() } else { named("message_stop", "") };
            row.part(if tail.is_empty() { marker } else { tail.to_owned() })
        }));
    }
    rows
}

fn dup_call_id(n: u64) -> Vec<Row> {
    both(|p| {
        let row = after_text("dup-call-id", "", p, n, "CALL_ID_DUPLICATE").part(text_end(p));
        let one = |position| call(p, position, r#","id":"c1""#, "{}");
        row.part(one(0)).part(one(1)).part(calls_end(p))
    })
}

fn missing_id(n: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, id) in [("absent", ""), ("empty", r#","id":"""#), ("null", r#","id":null"#)] {
        rows.extend(both(|p| {
            let row = after_text("missing-id", name, p, n, "CALL_ID_MISSING").part(text_end(p));
            row.part(call(p, 0, id, "{}")).part(calls_end(p))
        }));
    }
    rows
}

fn done_before_finish(n: u64) -> Vec<Row> {
    both(|p| {
        let row = after_text("done-before-finish", "", p, n, "FINISH_REASON_MISSING").part(text_end(p));
        row.part(if p == "chat" { DONE.to_owned() } else { named("message_stop", "") })
    })
}

/// Chat has no blocks that stop.
fn stop_with_open_block(n: u64) -> Vec<Row> {
    let row = |name| after_text("stop-with-open-block", name, "messages", n, "BLOCK_UNCLOSED");
    vec![
        row("text").part(stop("end_turn")).part(named("message_stop", "")),
        row("call").part(closed(0)).part(opened("1", &tool_block(r#","id":"c1""#))).part(calls_end("messages")),
    ]
}

fn interleaved(n: u64) -> Vec<Row> {
    let pieces = [r#"{\"a\":"#, r#"{\"b\":"#];
    let ids = [r#","id":"c1""#, r#","id":"c2""#];
    let start =
        |p| after_text("interleaved", "", p, 1, "tool_request").part(text_end(p)).asks(&[r#"{"a":1}"#, r#"{"b":2}"#]);
    let chat_row = start("chat")
        .part(chat_call(0, ids[0], pieces[0]) + &chat_call(1, ids[1], pieces[1]))
        .times(chat_call(0, "", " ") + &chat_call(1, "", " "), n)
        .part(chat_call(1, "", "2}") + &chat_call(0, "", "1}"))
        .part(calls_end("chat"));
    let messages_row = start("messages")
        .part(opened("1", &tool_block(ids[0])) + &opened("2", &tool_block(ids[1])))
        .part(fragment("1", pieces[0]) + &fragment("2", pieces[1]))
        .times(fragment("1", " ") + &fragment("2", " "), n)
        .part(fragment("2", "2}") + &fragment("1", "1}"))
        .part(closed(2) + &closed(1))
        .part(calls_end("messages"));
    vec![chat_row, messages_row]
}

fn text_shaped_call(n: u64) -> Vec<Row> {
    let shaped = r#"{"tool_calls":[{"id":"c1","function":{"name":"f","arguments":"{}"}}]}"#;
    both(|p| {
        let row = Row::new("text-shaped-call", "", p, "reply").held(Held::Stream).part(head(p));
        let row = row.times(text(p, ""), n).part(text(p, &shaped.replace('"', "\\\"")));
        row.part(reply_end(p)).gives(shaped)
    })
}

fn utf8_split(n: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    // Reads of these sizes cut every scalar at each of its bytes.
    for read in [1, 2, 3, 5, 7] {
        rows.extend(both(|p| {
            let row = Row::new("utf8-split", &format!("reads of {read}"), p, "reply").held(Held::Stream).read(read);
            let row = row.part(head(p)).times(text(p, ""), n).part(text(p, "é€😀\u{10FFFF}"));
            row.part(reply_end(p)).gives("é€😀\u{10FFFF}")
        }));
    }
    rows
}

fn bad_utf8(n: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    let bad: [(&str, &[u8]); 5] = [
        ("ff", &[0xFF]),
        ("overlong", &[0xC0, 0xAF]),
        ("surrogate", &[0xED, 0xA0, 0x80]),
        ("above 10FFFF", &[0xF4, 0x90, 0x80, 0x80]),
        ("cut scalar", &[0xE2, 0x82]),
    ];
    for (name, bytes) in bad {
        rows.extend(both(|p| {
            let whole = text(p, "<>");
            let (before, after) = whole.split_once("<>").unwrap_or_default();
            let row = after_text("bad-utf8", name, p, n, "UTF8_INVALID").part(before).bytes(bytes);
            row.part(after).part(reply_end(p))
        }));
    }
    rows
}

/// Chat gives its events no types.
fn event_type_mismatch(n: u64) -> Vec<Row> {
    let other = named("content_block_stop", r#","index":0"#).replace("event: content_block_stop", "event: ping");
    vec![after_text("event-type-mismatch", "", "messages", n, "MALFORMED_EVENT").part(other)]
}

fn huge_retry(n: u64) -> Vec<Row> {
    let mut rows =
        both(|p| after_text("huge-retry", "1e400", p, n, "reply").part("retry: 1e400\n\n").part(reply_end(p)));
    rows.extend(both(|p| {
        let row = after_text("huge-retry", "digits", p, 1, "reply").part("retry: ").times("9", n).part("\n\n");
        row.part(reply_end(p))
    }));
    rows
}

/// Pieces of trees that cost many times their text when they are built: name, one member's or item's text, and its brackets.
const TREES: [(&str, &str, &str, &str); 3] =
    [("arrays", "[0],", "[", "0]"), ("objects", r#"{"a":{}},"#, "[", "0]"), ("keys", r#""<i>":0,"#, "{", r#""x":0}"#)];

/// As many pieces as fit into so many bytes.
fn pieces(piece: &str, bytes: u64) -> u64 {
    // A number has seven digits at most.
    bytes / (piece.len() as u64 + if piece.contains("<i>") { 4 } else { 0 })
}

fn wide_unknown(n: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, piece, open, close) in TREES {
        rows.extend(both(|p| {
            let first = text(p, "a").replace("data: {", "data: {\"x\":<>,");
            let (before, after) = first.split_once("<>").unwrap_or_default();
            let row = Row::new("wide-unknown", name, p, "reply").part(head(p)).part(before).part(open);
            row.times(piece, pieces(piece, n)).part(close).part(after).part(reply_end(p)).gives("a")
        }));
    }
    rows
}

fn wide_arguments(n: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, piece, open, close) in TREES {
        let quoted = |text: &str| text.replace('"', "\\\"");
        let (piece, open, close) = (quoted(piece), quoted(&format!(r#"{{"t":{open}"#)), quoted(&format!("{close}}}")));
        let times = pieces(&piece, n);
        for limit in [MIB, 8 * MIB] {
            let row = |p, how: &str, expect| {
                let row = after_text("wide-arguments", &format!("{name}, {how}, {limit} allowed"), p, 1, expect);
                row.part(text_end(p)).held(Held::Arguments).limit("tool_argument_bytes", limit)
            };
            let expect = if n > limit { "LIMIT_TOOL_ARGUMENT_BYTES" } else { "tool_request" };
            rows.extend(both(|p| {
                let [before, after] = around_arguments(p);
                let row = row(p, "one event", expect).part(before).part(open.clone()).times(piece.clone(), times);
                row.part(close.clone()).part(after).part(calls_end(p))
            }));
            // A thousand pieces a delta, so that no other limit is met; keys are told apart by their number, so each has its own.
            let (many, times, expect) = if name == "keys" {
                (piece.clone(), 20_000, "tool_request")
            } else {
                (piece.repeat(1000), times / 1000, expect)
            };
            rows.extend(both(|p| {
                let grow = |text: &str| if p == "chat" { chat_call(0, "", text) } else { fragment("1", text) };
                let whole = call(p, 0, r#","id":"c1""#, &open);
                let row = row(p, "deltas", expect).part(whole.trim_end_matches(&closed(1)));
                let row = row.times(grow(&many), times).part(grow(&close));
                row.part(if p == "chat" { String::new() } else { closed(1) }).part(calls_end(p))
            }));
        }
    }
    rows
}

/// A long text in one event, written with escapes.
fn wide_text(n: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, piece) in [("plain", "words "), ("escapes", "\\n"), ("unicode escapes", "\\u20ac")] {
        rows.extend(both(|p| {
            let whole = text(p, "<>");
            let (before, after) = whole.split_once("<>").unwrap_or_default();
            let row = Row::new("wide-text", name, p, "reply").part(head(p)).part(before).times(piece, pieces(piece, n));
            row.part(after).part(reply_end(p))
        }));
    }
    rows
}

fn wide_usage(n: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, piece, open, close) in TREES {
        rows.extend(both(|p| {
            let end = if p == "chat" { chat_end("stop") } else { stop("end_turn") };
            let end = end.replace("data: {", r#"data: {"usage":{"t":<>},"#);
            let (before, after) = end.split_once("<>").unwrap_or_default();
            // A usage object that is kept has 16 KiB at most.
            let expect = if n > 16_384 { "MALFORMED_EVENT" } else { "reply" };
            let row = Row::new("wide-usage", name, p, expect).part(head(p)).part(text_end(p)).part(before).part(open);
            row.times(piece, pieces(piece, n)).part(close).part(after)
        }));
    }
    rows
}

fn wide_body(n: u64) -> Vec<Row> {
    let chat_body = |arguments: &str| {
        format!(
            r#"{{"x":<>,"choices":[{{"finish_reason":"tool_calls","message":{{"content":"a","tool_calls":[{{"id":"c1","function":{{"name":"f","arguments":"{arguments}"}}}}]}}}}]}}"#
        )
    };
    let messages_body = |input: &str| {
        format!(
            r#"{{"x":<>,"role":"assistant","stop_reason":"tool_use","content":[{{"type":"tool_use","id":"c1","name":"f","input":{input}}}]}}"#
        )
    };
    let mut rows = Vec::new();
    for (name, piece, open, close) in TREES {
        let times = pieces(piece, n);
        rows.extend(both(|p| {
            let body = if p == "chat" { chat_body("{}") } else { messages_body("{}") };
            let (before, after) = body.split_once("<>").unwrap_or_default();
            let row = Row::new("wide-body", &format!("{name}, unknown"), p, "tool_request").body().asks(&["{}"]);
            row.part(before).part(open).times(piece, times).part(close).part(after)
        }));
        let expect = if n > MIB { "LIMIT_TOOL_ARGUMENT_BYTES" } else { "tool_request" };
        rows.extend(both(|p| {
            let body = if p == "chat" { chat_body(r#"{\"t\":<a>}"#) } else { messages_body(r#"{"t":<a>}"#) };
            let body = body.replace("<>", "0");
            let (before, after) = body.split_once("<a>").unwrap_or_default();
            let quoted = |text: &str| if p == "chat" { text.replace('"', "\\\"") } else { text.to_owned() };
            let row = Row::new("wide-body", &format!("{name}, arguments"), p, expect).body();
            row.part(before).part(quoted(open)).times(quoted(piece), times).part(quoted(close)).part(after)
        }));
    }
    rows
}
