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
                if whole.terminal_seen() {
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
        format!("data: {{\"choices\":[{{\"delta\":{delta},\"finish_reason\":{reason}}}]}}\n\n")
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
