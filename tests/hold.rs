//! What a guard may hand on before the turn is sealed: nothing of a tool call, nothing of the terminal marker, nothing that broke a rule (S-10, P-20).
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects)]
mod support;

use std::path::Path;
use support::case::{Case, Job};
use turnkeep::provider::{Decoder, DecoderConfig, End, Hold, Outcome, Protocol};

fn config(job: &Job, hold: Hold) -> DecoderConfig {
    let mut config = DecoderConfig::new(Protocol::of_word(&job.protocol).unwrap(), true);
    config.hold = hold;
    config
}

/// Bytes let go after each read.
fn passed(config: DecoderConfig, body: &[u8], step: usize) -> (u64, Decoder) {
    let mut decoder = Decoder::new(config);
    let (mut pushed, mut open) = (0_u64, 0_u64);
    for piece in body.chunks(step) {
        decoder.feed(piece);
        pushed += piece.len() as u64;
        let now = pushed - decoder.held();
        assert!(now >= open, "what was let go stays so");
        open = now;
        if decoder.is_failed() {
            break;
        }
    }
    (open, decoder)
}

/// Where a reader that knows nothing of our decoder would stop: the first event that holds a call or the marker.
fn naive(body: &str, hold: Hold) -> Option<u64> {
    let mut at = 0;
    for event in body.split_inclusive("\n\n") {
        let compact: String = event.chars().filter(|one| !one.is_whitespace()).collect();
        let call = compact.contains("\"tool_calls\":[{") || compact.contains("\"type\":\"tool_use\"");
        let marker = compact.contains("data:[DONE]") || compact.contains("\"type\":\"message_stop\"");
        if marker || (call && hold == Hold::Calls) {
            return Some(at);
        }
        at += event.len() as u64;
    }
    None
}

#[test]
fn s_10_nothing_of_a_call_or_of_the_marker_is_let_go_before_the_seal() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/turns");
    let (mut readings, mut known, mut refused) = (0, 0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let case = Case::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        if !case.job.stream {
            continue;
        }
        for hold in [Hold::Calls, Hold::Terminal] {
            let (open, mut whole) = passed(config(&case.job, hold), &case.job.body, usize::MAX);
            for step in [1, 2, 3, 7, 64] {
                let (split, _) = passed(config(&case.job, hold), &case.job.body, step);
                assert_eq!(split, open, "{} by {step}", case.id);
                readings += 1;
            }
            let text = std::str::from_utf8(&case.job.body).ok().filter(|text| !text.contains('\r'));
            let limit = text.and_then(|text| naive(text, hold));
            if let Some(limit) = limit {
                assert!(open <= limit, "{}: {open} of {limit}", case.id);
                // What clients read differently is held from there on, whatever else passes (S-25).
                let doubtful = hold == Hold::Terminal && matches!(whole.finish(End::Eof), Outcome::Error(_));
                if whole.terminal_seen() && !doubtful {
                    assert_eq!(open, limit, "{}", case.id);
                    known += 1;
                }
            }
            if let Outcome::Turn(turn) = whole.finish(End::Eof) {
                assert_eq!(turn.calls().is_empty(), turn.status().word() != "tool_request");
                assert_eq!(turn.dropped_calls(), 0, "{}", case.id);
            } else {
                refused += 1;
            }
        }
    }
    assert!(readings > 800 && known > 80 && refused > 80, "{readings} {known} {refused}");
}

#[test]
fn p_20_a_cut_turn_with_calls_is_an_error_behind_a_guard() {
    let chunk = |delta: &str, reason: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{reason}}}]}}\n\n")
    };
    let call = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}"#;
    for (reason, calls, code) in [
        ("\"length\"", call, Some("calls_not_runnable")),
        ("\"content_filter\"", call, Some("calls_not_runnable")),
        ("\"length\"", r#"{"content":"x"}"#, None),
        ("\"tool_calls\"", call, None),
        ("\"stop\"", call, Some("tool_calls_with_finish_stop")),
    ] {
        let body = chunk(calls, "null") + &chunk("{}", reason) + "data: [DONE]\n\n";
        for hold in [Hold::Calls, Hold::Terminal] {
            let mut config = DecoderConfig::new(Protocol::Chat, true);
            config.hold = hold;
            let mut decoder = Decoder::new(config);
            decoder.feed(body.as_bytes());
            let given = match decoder.finish(End::Eof) {
                Outcome::Error(error) => Some(error.reason().to_owned()),
                Outcome::Turn(_) => None,
            };
            assert_eq!(given.as_deref(), code, "{reason} {calls}");
        }
    }
}

const ENDS: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";

/// A chunk whose choice has these members beside its index.
fn choice(members: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,{members}}}]}}\n\n")
}

/// A chunk with the elements of `tool_calls`.
fn calls(elements: &str) -> String {
    choice(&format!("\"delta\":{{\"tool_calls\":[{elements}]}}"))
}

const OPEN: &str = r#"{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"n\":1"}}"#;
const MORE: &str = r#"{"index":0,"function":{"arguments":"0}"}}"#;

fn outcome(
    protocol: Protocol,
    quirks: &str,
    hold: Hold,
    body: &str,
) -> (Result<String, (String, Option<String>)>, u64) {
    let mut config = DecoderConfig::new(protocol, true);
    config.quirks = turnkeep::provider::Quirks::of_profile(quirks, protocol).unwrap();
    config.hold = hold;
    let read = |step: usize| {
        let mut decoder = Decoder::new(config.clone());
        body.as_bytes().chunks(step).for_each(|piece| decoder.feed(piece));
        let open = body.len() as u64 - decoder.held();
        let outcome = match decoder.finish(End::Eof) {
            Outcome::Turn(turn) => Ok(turn.status().word().to_owned()),
            Outcome::Error(error) => {
                // Nothing of the event that is in doubt, or of what follows it, may have been let go.
                let before = usize::try_from(error.place().event.unwrap_or(1)).unwrap() - 1;
                let limit: usize = body.split_inclusive("\n\n").take(before).map(str::len).sum();
                let foreign = body.find(['\u{feff}', '\u{ef}']).unwrap_or(usize::MAX);
                let last = if error.place().field.as_deref() == Some("field name") { foreign } else { limit };
                assert!(hold == Hold::None || open <= last as u64, "{open} of {last}: {body}");
                Err((error.reason().to_owned(), error.place().field.clone()))
            }
        };
        (outcome, open)
    };
    let whole = read(usize::MAX);
    for step in [1, 2, 3, 50] {
        assert_eq!(read(step), whole, "by {step}: {body}");
    }
    whole
}

/// What clients read otherwise than the standard says is a turn for us and an error behind a guard, at the place of the first doubt.
#[test]
fn s_25_what_clients_read_differently_is_refused_behind_a_guard() {
    let text = choice(r#""delta":{"content":"x"}"#);
    let typed = |member: &str| {
        format!("data: {{{member},\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{OPEN}]}}}}]}}\n\n")
    };
    let delta = |member: &str| choice(&format!("\"delta\":{{{member},\"tool_calls\":[{OPEN}]}}"));
    let whole =
        |id: &str, arguments: &str| format!(r#"{{"id":"{id}","function":{{"name":"f","arguments":"{arguments}"}}}}"#);
    let hidden = calls(OPEN) + &calls(MORE);
    let stray =
        r#""delta":{"content":"y"},"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}"#;
    let stop = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let ends = |body: String| body + ENDS;
    let cases: Vec<(&str, String, Option<&str>)> = vec![
        // Calls that only the client sees.
        ("", text.clone() + "\u{feff}" + &hidden.replace("\n\ndata", "\n\n\u{feff}data") + stop, Some("field name")),
        ("", text.clone() + "\u{feff}\n" + stop, Some("field name")),
        ("", format!("\u{ef}\u{bb}\u{bf}{}{text}{stop}", calls(OPEN)), Some("field name")),
        ("", text.clone() + &choice(stray) + stop, Some("choices[0].message")),
        ("", text.clone() + &choice(r#""delta":{"content":"y"},"message":"y""#) + stop, Some("choices[0].message")),
        (
            "",
            text.clone() + &choice(r#""delta":{"content":"y"},"message":{"function_call":{"name":"f"}}"#) + stop,
            Some("choices[0].message"),
        ),
        ("", text.clone() + &choice(r#""delta":{"__proto__":{"tool_calls":[]}}"#) + stop, Some("__proto__")),
        ("", text.clone() + &choice(r#""delta":{"\u005f_proto__":{"tool_calls":[]}}"#) + stop, Some("__proto__")),
        ("", text.clone() + &choice(r#""delta":{"x":{"constructor":{"prototype":1}}}"#) + stop, Some("__proto__")),
        // Another input than the one judged.
        (
            "",
            ends(calls(&OPEN.replace("\"index\":0,", "\"index\":0,\"__proto__\":{\"id\":\"b\"},")) + &calls(MORE)),
            Some("__proto__"),
        ),
        (
            "",
            ends(calls(OPEN) + &calls(r#"{"function":{"arguments":"0"}}"#) + &calls(MORE)),
            Some("tool_calls[].index"),
        ),
        ("", ends(calls(&whole("a", "")) + &calls(&whole("b", "{}"))), Some("tool_calls[].index")),
        ("", ends(calls(OPEN) + &calls(MORE) + &calls(&whole("b", "{}"))), Some("tool_calls[].index")),
        (
            "",
            ends(
                calls(r#"{"index":0,"id":"a","function":{"arguments":"{\"n\":"}}"#)
                    + &calls(r#"{"index":0,"function":{"name":"f","arguments":"{}"}}"#)
                    + &calls(r#"{"index":0,"function":{"arguments":"}"}}"#),
            ),
            Some("tool_calls[].function.name"),
        ),
        ("", ends(calls(OPEN) + &calls(MORE).replace("\"index\":0,\"delta\"", "\"delta\"")), Some("choices[]")),
        (
            "",
            ends(calls(OPEN) + &calls(MORE).replace("[{\"index\":0,\"delta\"", "[{\"index\":null,\"delta\"")),
            Some("choices[].index"),
        ),
        ("", ends(typed(r#""created":"x""#) + &calls(MORE)), Some("created")),
        ("", ends(typed(r#""error":"""#) + &calls(MORE)), Some("error")),
        ("", ends(typed(r#""error":null"#) + &calls(MORE)), Some("error")),
        (
            "",
            ends(
                typed(
                    r#""usage":{"prompt_tokens":1,"completion_tokens":1,"completion_tokens_details":{"reasoning_tokens":1,"rejected_prediction_tokens":"x"}}"#,
                ) + &calls(MORE),
            ),
            Some("usage.completion_tokens_details.rejected_prediction_tokens"),
        ),
        ("", ends(delta(r#""role":"""#) + &calls(MORE)), Some("choices[].delta.role")),
        ("", ends(delta(r#""content":[{"type":"text","text":"x"}]"#) + &calls(MORE)), Some("choices[].delta.content")),
        (
            "",
            ends(delta(r#""annotations":[{"type":"url_citation"}]"#) + &calls(MORE)),
            Some("choices[].delta.annotations[]"),
        ),
        ("", ends(delta(r#""annotations":[null]"#) + &calls(MORE)), Some("choices[].delta.annotations[]")),
        (
            "",
            ends(calls(OPEN).replace("}]}\n", ",\"logprobs\":{\"content\":[{\"token\":\"x\"}]}}]}\n") + &calls(MORE)),
            Some("choices[].logprobs.content[]"),
        ),
        (
            "",
            ends(calls(&OPEN.replace("\"function\",", "\"\",")) + &calls(MORE)),
            Some("choices[].delta.tool_calls[].type"),
        ),
        (
            "",
            ends(calls(OPEN) + &calls(r#"{"index":0,"id":"a"}"#) + &calls(MORE)),
            Some("choices[].delta.tool_calls[]"),
        ),
        ("", ends("event: thread.message\n".to_owned() + &calls(OPEN) + &calls(MORE)), Some("event")),
        (
            "",
            ends(calls(OPEN) + &choice(r#""delta":{},"message":{"role":"assistant"}"#) + &calls(MORE)),
            Some("choices[0].message"),
        ),
        (
            "gemini-compat",
            ends(
                calls(&OPEN.replace("{\\\"n\\\":1", ""))
                    + &calls(&OPEN.replace("\"a\"", "\"b\"").replace("\":1", "\":1}")),
            ),
            Some("tool_calls[].index"),
        ),
        (
            "ollama",
            ends(calls(r#"{"index":0,"id":"a","function":{"name":"f","arguments":{}}}"#)),
            Some("choices[].delta.tool_calls[].function.arguments"),
        ),
        // Their neighbours, which every client reads alike.
        ("", format!("\u{feff}{}", ends(hidden.clone())), None),
        ("", ends(": \u{feff}\n\n".to_owned() + &hidden), None),
        ("", ends("x-trace: 1\ndate\n".to_owned() + &hidden), None),
        (
            "",
            ends(
                choice(r#""delta":{"content":"y"},"message":{"role":"assistant","content":"y","tool_calls":[]}"#)
                    + &hidden,
            ),
            None,
        ),
        ("", text.clone() + &choice(r#""delta":{"content":"__proto__"},"x_prototype":{"_x":1}"#) + stop, None),
        ("", ends(calls(&whole("a", "{}"))), None),
        (
            "",
            ends(
                calls(OPEN) + &calls(r#"{"function":{"arguments":"0"}}"#) + &calls(r#"{"function":{"arguments":"}"}}"#),
            ),
            None,
        ),
        (
            "",
            ends(
                calls(&OPEN.replace("\"index\":0", "\"index\":1"))
                    + &calls(&MORE.replace("\"index\":0", "\"index\":1")),
            ),
            None,
        ),
        ("", ends("event: message\n".to_owned() + &hidden), None),
        (
            "",
            ends(
                delta(
                    r#""role":"assistant","content":null,"refusal":null,"reasoning":"r","annotations":[{"type":"url_citation","url_citation":{"start_index":1,"end_index":2,"url":"u","title":"t"}}]"#,
                ) + &calls(MORE),
            ),
            None,
        ),
        (
            "",
            ends(
                typed(
                    r#""created":1.5,"id":"x","model":null,"usage":{"prompt_tokens":1,"completion_tokens":2,"cost":"free"}"#,
                ) + &calls(MORE),
            ),
            None,
        ),
    ];
    let (mut refused, mut passed) = (0, 0);
    for (quirks, body, field) in &cases {
        let quirks = if quirks.is_empty() { "strict" } else { quirks };
        let (free, _) = outcome(Protocol::Chat, quirks, Hold::None, body);
        let status = free.unwrap_or_else(|error| panic!("{error:?}: {body}"));
        for hold in [Hold::Calls, Hold::Terminal] {
            let (guarded, open) = outcome(Protocol::Chat, quirks, hold, body);
            match field {
                Some(field) => {
                    assert_eq!(guarded, Err(("clients_differ".to_owned(), Some((*field).to_owned()))), "{body}");
                    assert!(open < body.len() as u64, "{open}: {body}");
                    refused += 1;
                }
                None => {
                    assert_eq!(guarded, Ok(status.clone()), "{body}");
                    passed += 1;
                }
            }
        }
    }
    assert!(refused >= 60 && passed >= 20, "{refused} {passed}");
}

/// The same of Messages: clients go by event names, keep buffers of their own in the block, and take names from members that we do not know.
#[test]
fn s_25_blocks_that_clients_read_differently_are_refused_behind_a_guard() {
    let event = |kind: &str, members: &str| format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{members}}}\n\n");
    let start = event(
        "message_start",
        r#","message":{"id":"m","role":"assistant","content":[],"model":"m","usage":{"input_tokens":1,"output_tokens":1}}"#,
    );
    let open = |more: &str| {
        event(
            "content_block_start",
            &format!(r#","index":0,"content_block":{{"type":"tool_use","id":"a","name":"f"{more}}}"#),
        )
    };
    let part = |json: &str| {
        event(
            "content_block_delta",
            &format!(r#","index":0,"delta":{{"type":"input_json_delta","partial_json":"{json}"}}"#),
        )
    };
    let ends = |reason: &str| {
        event("message_delta", &format!(r#","delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":1}}"#))
            + &event("message_stop", "")
    };
    let stop = event("content_block_stop", r#","index":0"#);
    let nameless = |event: &str| event.split_once('\n').unwrap().1.to_owned();
    let call = |more: &str| start.clone() + &open(more) + &part("{}") + &stop + &ends("tool_use");
    let text = event("content_block_start", r#","index":0,"content_block":{"type":"text","text":"x"}"#);
    let cases = [
        (call(r#","input":{},"__json_buf":"{""#), Some("__proto__")),
        (call(r#","input":{},"toolset_name":"g""#), Some("content_block")),
        (start.clone() + &open(r#","input":{"n":1}"#) + &stop + &ends("tool_use"), Some("content_block.input")),
        (
            start.clone() + &open("") + &part("{") + &nameless(&part(" ")) + &part("}") + &stop + &ends("tool_use"),
            Some("event"),
        ),
        (start.clone() + &nameless(&open("")) + &part("{}") + &stop + &ends("tool_use"), Some("event")),
        (nameless(&start) + &open("") + &part("{}") + &stop + &ends("tool_use"), Some("event")),
        (
            start.clone() + &open("") + &part("{") + "\u{feff}\n" + &part("}") + &stop + &ends("tool_use"),
            Some("field name"),
        ),
        (call(r#","input":{},"caller":{"type":"direct"},"cache_control":null"#), None),
        (start.clone() + &nameless(&event("ping", "")) + &open("") + &part("{}") + &stop + &ends("tool_use"), None),
        (nameless(&start) + &nameless(&text) + &nameless(&stop) + &ends("end_turn"), None),
    ];
    for (body, field) in cases {
        let (free, _) = outcome(Protocol::Messages, "strict", Hold::None, &body);
        let (guarded, open) = outcome(Protocol::Messages, "strict", Hold::Calls, &body);
        let status = free.unwrap_or_else(|error| panic!("{error:?}: {body}"));
        match field {
            Some(field) => {
                assert_eq!(guarded, Err(("clients_differ".to_owned(), Some(field.to_owned()))), "{body}");
                assert!(open < body.find("tool_use").unwrap_or(0) as u64, "{open}: {body}");
            }
            None => assert_eq!(guarded, Ok(status), "{body}"),
        }
    }
}

/// Bodies go through `JSON.parse` in every client: only a prototype among the members is in doubt there.
#[test]
fn s_25_a_prototype_in_a_body_is_refused_behind_a_guard() {
    let chat = |call: &str| {
        format!(
            r#"{{"choices":[{{"index":0,"message":{{"role":"assistant","tool_calls":[{{"id":"a","type":"function"{call},"function":{{"name":"f","arguments":"{{}}"}}}}]}},"finish_reason":"tool_calls"}}]}}"#
        )
    };
    let messages = |input: &str| {
        format!(
            r#"{{"type":"message","role":"assistant","content":[{{"type":"tool_use","id":"a","name":"f","input":{input}}}],"stop_reason":"tool_use","usage":{{"input_tokens":1,"output_tokens":1}}}}"#
        )
    };
    for (protocol, body, refused) in [
        (Protocol::Chat, chat(""), false),
        (Protocol::Chat, chat(r#","__proto__":{"id":"b"}"#), true),
        (Protocol::Messages, messages("{}"), false),
        (Protocol::Messages, messages(r#"{"__typename":"Order","prototype":1}"#), false),
        (Protocol::Messages, messages(r#"{"a":{"__proto__":{}}}"#), true),
    ] {
        for hold in [Hold::None, Hold::Calls] {
            let mut config = DecoderConfig::new(protocol, false);
            config.hold = hold;
            let mut decoder = Decoder::new(config);
            decoder.feed(body.as_bytes());
            let reason = match decoder.finish(End::Eof) {
                Outcome::Turn(turn) => turn.status().word().to_owned(),
                Outcome::Error(error) => error.reason().to_owned(),
            };
            assert_eq!(
                reason,
                if refused && hold == Hold::Calls { "clients_differ" } else { "tool_request" },
                "{body}"
            );
        }
    }
}
