//! Quirk profiles: strict by default (Q-01), each normalisation single, counted and no further than it says (Q-02).
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects)]

use std::path::Path;
use turnkeep::provider::{Decoder, DecoderConfig, End, Outcome, PROFILES, Protocol, Quirks, profiles_json};

fn chunk(delta: &str, reason: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{reason}}}]}}\n\n")
}

fn call(index: u64, id: &str, name: &str, arguments: &str) -> String {
    format!(r#"{{"tool_calls":[{{"index":{index},"id":{id},"function":{{"name":{name},"arguments":{arguments}}}}}]}}"#)
}

/// Outcome, calls as `id name input`, and how often each normalisation was used; however the bytes are split.
fn read(profile: &str, stream: bool, body: &str) -> (String, Vec<String>, String) {
    let mut seen = None;
    for step in [usize::MAX, 1, 7] {
        let mut config = DecoderConfig::new(Protocol::Chat, stream);
        config.quirks = Quirks::of_profile(profile, Protocol::Chat).unwrap();
        let mut decoder = Decoder::new(config);
        for piece in body.as_bytes().chunks(step) {
            decoder.feed(piece);
        }
        let now = match decoder.finish(End::Eof) {
            Outcome::Error(error) => (error.reason().to_owned(), Vec::new(), String::new()),
            Outcome::Turn(turn) => {
                let calls =
                    turn.calls().iter().map(|call| format!("{} {} {}", call.id, call.name, call.input_json)).collect();
                (turn.status().word().to_owned(), calls, format!("{:?}", turn.quirks()))
            }
        };
        assert!(seen.as_ref().is_none_or(|seen| *seen == now), "{seen:?} {now:?}");
        seen = Some(now);
    }
    seen.unwrap()
}

#[test]
fn q_02_an_index_that_is_always_0_is_told_apart_by_ids_only() {
    let two = [call(0, "\"a\"", "\"f\"", "\"{}\""), call(0, "\"b\"", "\"g\"", "\"{\\\"x\\\":1}\"")];
    let end = chunk("{}", "\"tool_calls\"") + "data: [DONE]\n\n";
    let body = chunk(&two[0], "null") + &chunk(&two[1], "null") + &end;
    assert_eq!(read("strict", true, &body).0, "tool_call_id_conflict");
    let good = (
        "tool_request".to_owned(),
        vec!["a f {}".to_owned(), r#"b g {"x":1}"#.to_owned()],
        r#"{"repeated_index": 1}"#.to_owned(),
    );
    assert_eq!(read("gemini-compat", true, &body), good);
    // A fragment that says which call it is goes there; one that does not is refused, however the rest looks.
    let named = chunk(&two[0], "null") + &chunk(&call(0, "\"b\"", "\"g\"", "\"{\\\"x\\\"\""), "null");
    let more = |id: &str| chunk(&call(0, id, "null", "\":1}\""), "null");
    assert_eq!(read("gemini-compat", true, &(named.clone() + &more("\"b\"") + &end)), good);
    assert_eq!(read("gemini-compat", true, &(named + &more("null") + &end)).0, "tool_call_fragment_ambiguous");
    // The same id again is no new call, and an id is never invented (P-06).
    let same = chunk(&two[0], "null") + &chunk(&call(0, "\"a\"", "\"g\"", "\"{}\""), "null") + &end;
    assert_eq!(read("gemini-compat", true, &same).0, "tool_name_conflict");
    let none = chunk(&two[0], "null") + &chunk(&call(0, "\"\"", "\"g\"", "\"{}\""), "null") + &end;
    assert_eq!(read("gemini-compat", true, &none).0, "tool_name_conflict");
    let whole = format!(
        r#"{{"choices":[{{"message":{{"tool_calls":[{}]}},"finish_reason":"tool_calls"}}]}}"#,
        two.iter()
            .map(|one| one.strip_prefix(r#"{"tool_calls":["#).unwrap().strip_suffix("]}").unwrap())
            .collect::<Vec<_>>()
            .join(",")
    );
    assert_eq!(read("strict", false, &whole).0, "tool_call_index_invalid");
    assert_eq!(read("gemini-compat", false, &whole), good);
}

#[test]
fn q_02_object_arguments_are_their_canonical_text() {
    let body = |arguments: &str| {
        chunk(&call(0, "\"a\"", "\"f\"", arguments), "null") + &chunk("{}", "\"tool_calls\"") + "data: [DONE]\n\n"
    };
    assert_eq!(read("strict", true, &body(r#"{"b":1e0,"a":[]}"#)).0, "tool_arguments_not_string");
    let good =
        ("tool_request".to_owned(), vec![r#"a f {"a":[],"b":1}"#.to_owned()], r#"{"object_arguments": 1}"#.to_owned());
    assert_eq!(read("ollama", true, &body(r#"{"b":1e0,"a":[]}"#)), good);
    for other in ["[]", "1", "true"] {
        assert_eq!(read("ollama", true, &body(other)).0, "tool_arguments_not_string");
    }
    // Two objects for one call are no object.
    let twice = chunk(&call(0, "\"a\"", "\"f\"", "{\"a\":1}"), "null") + &body("{\"b\":1}");
    assert_eq!(read("ollama", true, &twice).0, "tool_arguments_invalid");
}

#[test]
fn q_02_a_missing_done_is_accepted_at_a_natural_end_only() {
    let text = chunk("{\"content\":\"x\"}", "null");
    let end = chunk("{}", "\"stop\"");
    assert_eq!(read("strict", true, &(text.clone() + &end)).0, "eof_without_done");
    let good = ("reply".to_owned(), Vec::new(), r#"{"missing_done": 1}"#.to_owned());
    assert_eq!(read("perplexity", true, &(text.clone() + &end)), good);
    // With [DONE] nothing was needed; without a reason, or inside an event, it is a cut.
    assert_eq!(read("perplexity", true, &(text.clone() + &end + "data: [DONE]\n\n")).2, "{}");
    assert_eq!(read("perplexity", true, &text).0, "eof_without_finish");
    for rest in ["data: [DONE]", "data: [DONE]\n", "data: {", ": c", "\u{e9}"] {
        assert_eq!(read("perplexity", true, &(text.clone() + &end + rest)).0, "eof_without_done", "{rest:?}");
    }
}

/// No profile weakens what may never be weakened.
#[test]
fn q_02_every_profile_keeps_the_rules_that_no_profile_may_touch() {
    let f = call(0, "\"a\"", "\"f\"", "\"{}\"");
    let done = "data: [DONE]\n\n";
    let mut checked = 0;
    for profile in PROFILES {
        for (body, reason) in [
            (chunk(&f, "\"stop\"") + done, "tool_calls_with_finish_stop"),
            (chunk(&call(0, "null", "\"f\"", "\"{}\""), "\"tool_calls\"") + done, "tool_call_id_missing"),
            (chunk(&f, "\"tool_calls\"") + done + ":", "post_terminal_data"),
            (chunk(&f, "null") + done, "done_before_finish"),
            (chunk(&f, "null"), "eof_without_finish"),
            (chunk("{\"function_call\":{\"name\":\"f\"}}", "\"function_call\"") + done, "legacy_function_call"),
            (chunk("{\"content\":\"a\",\"content\":\"b\"}", "\"stop\"") + done, "duplicate_key"),
            (chunk(&f, "\"tool_calls\"") + &chunk(&f, "null") + done, "delta_after_finish"),
        ] {
            assert_eq!(read(profile.name, true, &body).0, reason, "{}", profile.name);
            checked += 1;
        }
        assert!(Quirks::of_profile(profile.name, Protocol::Messages).is_none() == profile.protocol.is_some());
    }
    assert!(checked >= 48 && Quirks::of_profile("unknown", Protocol::Chat).is_none());
    assert_eq!(Quirks::of_profile("strict", Protocol::Chat), Some(Quirks::default()));
}

/// The page names every profile and normalisation of the table.
#[test]
fn the_page_is_the_table() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/quirks.md")).unwrap();
    let table: Vec<serde_json::Value> = serde_json::from_str(&profiles_json()).unwrap();
    for profile in &table {
        let quirks = profile.get("quirks").and_then(serde_json::Value::as_object).unwrap();
        let names: Vec<String> = quirks.keys().map(|name| format!("`{name}`")).collect();
        let of = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        let row =
            format!("| `{}` | {of} | {} |", profile["name"].as_str().unwrap(), profile["seen_at"].as_str().unwrap());
        assert!(page.contains(&row), "{row}");
        for (name, sentence) in quirks {
            assert!(page.contains(&format!("| `{name}` | {} |", sentence.as_str().unwrap())), "{name}");
        }
    }
    assert_eq!(table.len(), PROFILES.len());
}
