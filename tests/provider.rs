//! Limits, requests and provider state, by rule; what a single turn may be is in `tests/cases`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
use serde_json::{Value, json};
use turnkeep::config::ModelProfile;
use turnkeep::error::Error;
use turnkeep::limits::ProviderLimits;
use turnkeep::provider::{
    Cause, Decoder, DecoderConfig, DeltaKind, End, Outcome, Protocol, Request, build_request, http_error,
};
use turnkeep::turn::Turn;

const DONE: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn text_event(text: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"delta": {"content": text}}]}))
}

fn call_event(index: usize, arguments: &str) -> String {
    let call = json!({"index": index, "id": format!("c{index}"), "function": {"name": "f", "arguments": arguments}});
    format!("data: {}\n\n", json!({"choices": [{"delta": {"tool_calls": [call]}}]}))
}

fn decode(protocol: Protocol, stream: bool, set: impl Fn(&mut ProviderLimits), bytes: &str) -> Outcome {
    let mut config = DecoderConfig::new(protocol, stream);
    set(&mut config.limits);
    config.model = "asked".to_owned();
    config.model_profile = "main".to_owned();
    let mut decoder = Decoder::new(config);
    decoder.feed(bytes.as_bytes());
    decoder.finish(End::Eof)
}

fn code(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Turn(_) => "",
        Outcome::Error(error) => error.code(),
    }
}

fn turn(outcome: Outcome) -> Turn {
    match outcome {
        Outcome::Turn(turn) => *turn,
        Outcome::Error(error) => panic!("{error}"),
    }
}

/// Each bound: exactly at it is accepted, one more is its code (S-01..S-07).
#[test]
fn every_bound_is_exact() {
    let chat = |set: &dyn Fn(&mut ProviderLimits, u64), used: u64, bytes: &str, expected: &str| {
        assert_eq!(
            code(&decode(Protocol::Chat, true, |limits| set(limits, used), bytes)),
            "",
            "{expected} at the bound"
        );
        assert_eq!(code(&decode(Protocol::Chat, true, |limits| set(limits, used - 1), bytes)), expected);
    };
    let stream = text_event("Hi") + &text_event("there") + DONE;
    chat(&|limits, n| limits.max_stream_bytes = n, stream.len() as u64, &stream, "LIMIT_STREAM_BYTES"); // S-02
    chat(&|limits, n| limits.max_events = n, 4, &stream, "LIMIT_EVENTS"); // S-03
    chat(&|limits, n| limits.max_snapshots = n, 2, &stream, "LIMIT_SNAPSHOTS"); // S-04
    let longest = DONE.find('\n').unwrap() as u64;
    chat(&|limits, n| limits.max_event_bytes = n, longest, DONE, "LIMIT_EVENT_BYTES");
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    let calls = text_event("Hi") + &call_event(0, "{\"a\":1}") + &call_event(1, "{}") + end;
    chat(&|limits, n| limits.max_tool_calls = n, 2, &calls, "LIMIT_TOOL_CALLS"); // S-06
    chat(&|limits, n| limits.max_content_blocks = n, 3, &calls, "LIMIT_CONTENT_BLOCKS"); // S-05
    chat(&|limits, n| limits.max_tool_argument_bytes = n, 9, &calls, "LIMIT_TOOL_ARGUMENT_BYTES"); // S-07
    let body = json!({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}).to_string();
    let size = body.len() as u64;
    assert_eq!(code(&decode(Protocol::Chat, false, |limits| limits.max_response_bytes = size, &body)), "");
    assert_eq!(
        code(&decode(Protocol::Chat, false, |limits| limits.max_response_bytes = size - 1, &body)),
        "LIMIT_RESPONSE_BYTES"
    ); // S-01
}

/// S-09: fragments of one call are counted as they come, so one past the bound ends the stream there.
#[test]
fn s_09_argument_bytes_are_counted_over_fragments() {
    let mut config = DecoderConfig::new(Protocol::Chat, true);
    config.limits.max_tool_argument_bytes = 10;
    let mut decoder = Decoder::new(config);
    for fragment in 1..=11 {
        assert!(!decoder.is_failed(), "fragment {fragment}");
        decoder.feed(call_event(0, "x").as_bytes());
    }
    assert_eq!(decoder.error().map(Error::code), Some("LIMIT_TOOL_ARGUMENT_BYTES"));
}

/// S-08: what is handed over is the latest chunk's deltas and nothing of what came before.
#[test]
fn s_08_a_snapshot_is_the_latest_delta_only() {
    let mut config = DecoderConfig::new(Protocol::Chat, true);
    config.deltas = true;
    let mut decoder = Decoder::new(config);
    decoder.feed(text_event("Hello ").as_bytes());
    assert_eq!(decoder.deltas().1, "Hello ");
    decoder.feed((text_event("w\u{1F30D}") + &call_event(0, "{")).as_bytes());
    let (deltas, text) = decoder.deltas();
    assert_eq!(text, "w\u{1F30D}{");
    assert_eq!(
        deltas.iter().map(|one| (one.kind, one.block, one.utf16, one.utf8)).collect::<Vec<_>>(),
        [(DeltaKind::Text, 0, 3, 5), (DeltaKind::ToolInput, 1, 1, 1)]
    );
    assert_eq!(decoder.call(1), Some(("c0".to_owned(), "f".to_owned())));
    decoder.feed(b": comment\n\n");
    assert_eq!(decoder.deltas(), (&[][..], ""));
}

/// S-12, S-13: one outcome, whatever was seen; after a violation the first error for ever.
#[test]
fn s_12_leaving_gives_one_outcome() {
    let stream = text_event("Hi") + DONE;
    for (end, status, side) in [
        (End::Abort, "cancelled", None),
        (End::Consumer, "client_disconnect", Some("consumer")),
        (End::Provider, "client_disconnect", Some("provider")),
    ] {
        for cut in [0, 10, text_event("Hi").len(), stream.len()] {
            let mut decoder = Decoder::new(DecoderConfig::new(Protocol::Chat, true));
            decoder.feed(&stream.as_bytes()[..cut]);
            let text: Value = serde_json::from_str(&turn(decoder.finish(end)).to_json()).unwrap();
            assert_eq!(text["status"], status);
            assert_eq!(text["details"]["side"].as_str(), side);
            assert_eq!(text["requested_tools"], json!([]));
        }
    }
    let mut decoder = Decoder::new(DecoderConfig::new(Protocol::Chat, true));
    decoder.feed(b"data: {\n\n");
    decoder.feed(stream.as_bytes());
    assert_eq!(code(&decoder.finish(End::Abort)), "JSON_INVALID");
}

/// S-10: the deadline is only an end once the marker was seen; S-14: and the marker only counts after a reason.
#[test]
fn s_10_and_s_14_the_marker_needs_a_reason_and_the_deadline_the_marker() {
    let finish = |stream: &str, end: End| {
        let mut decoder = Decoder::new(DecoderConfig::new(Protocol::Chat, true));
        decoder.feed(stream.as_bytes());
        decoder.finish(end)
    };
    assert_eq!(code(&finish(&text_event("Hi"), End::DrainDeadline)), "INVALID_STATE");
    assert_eq!(code(&finish(&(text_event("Hi") + "data: [DONE]\n\n"), End::Eof)), "FINISH_REASON_MISSING");
    assert_eq!(turn(finish(&(text_event("Hi") + DONE), End::DrainDeadline)).assistant_text(), "Hi");
}

/// P-11: the Responses API is named, in streams and bodies of both endpoints.
#[test]
fn p_11_responses_shapes_are_named() {
    let event = "data: {\"type\":\"response.created\",\"response\":{}}\n\n";
    for protocol in [Protocol::Chat, Protocol::Messages] {
        assert_eq!(code(&decode(protocol, true, |_| {}, event)), "RESPONSES_API_UNSUPPORTED");
        assert_eq!(
            code(&decode(protocol, false, |_| {}, "{\"object\":\"response\",\"output\":[]}")),
            "RESPONSES_API_UNSUPPORTED"
        );
    }
}

/// P-19: the table, every raw reason of both protocols with and without a call.
#[test]
fn p_19_the_reason_table() {
    let chat = |raw: Value, calls: usize| {
        let calls: Vec<Value> =
            (0..calls).map(|n| json!({"id": format!("c{n}"), "function": {"name": "f", "arguments": "{}"}})).collect();
        decode(
            Protocol::Chat,
            false,
            |_| {},
            &json!({"choices": [{"message": {"tool_calls": calls}, "finish_reason": raw}]}).to_string(),
        )
    };
    let messages = |raw: Value, calls: usize| {
        let blocks: Vec<Value> =
            (0..calls).map(|n| json!({"type": "tool_use", "id": format!("c{n}"), "name": "f", "input": {}})).collect();
        decode(
            Protocol::Messages,
            false,
            |_| {},
            &json!({"role": "assistant", "content": blocks, "stop_reason": raw}).to_string(),
        )
    };
    let word = |outcome: Outcome| match &outcome {
        Outcome::Turn(turn) => turn.status().word(),
        Outcome::Error(error) => error.code(),
    };
    for (raw, none, some) in [
        (json!("tool_calls"), "FINISH_REASON_MISMATCH", "tool_request"),
        (json!("stop"), "reply", "FINISH_REASON_MISMATCH"),
        (json!("length"), "incomplete", "incomplete"),
        (json!("content_filter"), "refused", "refused"),
        (json!("error"), "PROVIDER_ERROR", "PROVIDER_ERROR"),
        (json!("function_call"), "LEGACY_FUNCTION_CALL", "LEGACY_FUNCTION_CALL"),
        (json!("end_turn"), "FINISH_REASON_UNKNOWN", "FINISH_REASON_UNKNOWN"),
        (Value::Null, "FINISH_REASON_MISSING", "FINISH_REASON_MISSING"),
        (json!(7), "FINISH_REASON_UNKNOWN", "FINISH_REASON_UNKNOWN"),
    ] {
        assert_eq!((word(chat(raw.clone(), 0)), word(chat(raw.clone(), 1))), (none, some), "chat {raw}");
    }
    for (raw, none, some) in [
        (json!("tool_use"), "FINISH_REASON_MISMATCH", "tool_request"),
        (json!("end_turn"), "reply", "FINISH_REASON_MISMATCH"),
        (json!("stop_sequence"), "reply", "FINISH_REASON_MISMATCH"),
        (json!("max_tokens"), "incomplete", "incomplete"),
        (json!("model_context_window_exceeded"), "incomplete", "incomplete"),
        (json!("pause_turn"), "incomplete", "incomplete"),
        (json!("refusal"), "refused", "refused"),
        (json!("tool_calls"), "FINISH_REASON_UNKNOWN", "FINISH_REASON_UNKNOWN"),
        (Value::Null, "FINISH_REASON_MISSING", "FINISH_REASON_MISSING"),
    ] {
        assert_eq!((word(messages(raw.clone(), 0)), word(messages(raw.clone(), 1))), (none, some), "messages {raw}");
    }
    // P-20: a cut turn exposes nothing of its calls.
    let cut = turn(chat(json!("length"), 2));
    assert_eq!((cut.calls().len(), cut.dropped_calls()), (0, 2));
}

/// P-05: calls without text are runnable and text is kept as it came; P-06: no id is made up; P-07, P-08: text never becomes a call.
#[test]
fn p_05_to_p_08_only_native_calls_run() {
    let body = |message: Value, reason: &str| {
        decode(
            Protocol::Chat,
            false,
            |_| {},
            &json!({"choices": [{"message": message, "finish_reason": reason}]}).to_string(),
        )
    };
    let call = json!([{"id": "c1", "function": {"name": "f", "arguments": "{}"}}]);
    let silent = turn(body(json!({"content": null, "tool_calls": call}), "tool_calls"));
    assert_eq!((silent.calls().len(), silent.assistant_text().as_str()), (1, ""));
    let spoken = turn(body(json!({"content": " <b>\n ", "tool_calls": call}), "tool_calls"));
    assert_eq!(spoken.assistant_text(), " <b>\n ");
    assert_eq!(
        code(&body(json!({"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}), "tool_calls")),
        "CALL_ID_MISSING"
    );
    let shaped = "{\"requested_tool\":{\"name\":\"f\"}} <tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>";
    let reply = turn(body(json!({"content": shaped}), "stop"));
    assert_eq!((reply.calls().len(), reply.assistant_text().as_str()), (0, shaped));
    assert_eq!(code(&body(json!({"content": shaped}), "tool_calls")), "FINISH_REASON_MISMATCH");
}

/// S-18: after the reason only empty deltas, whatever the kind of content; S-24, S-18: an error event is one whatever it carries.
#[test]
fn s_18_nothing_comes_after_the_reason() {
    let stream = |late: Value| {
        format!(
            "{}data: {}\n\ndata: {}\n\ndata: [DONE]\n\n",
            text_event("Hi"),
            json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
            json!({"choices": [{"delta": late}]})
        )
    };
    for late in [
        json!({"content": "x"}),
        json!({"content": [{"type": "text", "text": "x"}]}),
        json!({"content": [{"type": "thinking", "thinking": "x"}]}),
        json!({"refusal": "x"}),
        json!({"reasoning": "x"}),
        json!({"reasoning_content": "x"}),
        json!({"reasoning_details": [{"type": "t", "index": 0, "text": "x"}]}),
        json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]}),
    ] {
        assert_eq!(code(&decode(Protocol::Chat, true, |_| {}, &stream(late.clone()))), "STREAM_ORDER", "{late}");
    }
    for empty in [
        json!({}),
        json!({"role": "assistant", "content": "", "refusal": null, "reasoning_details": [], "tool_calls": []}),
        Value::Null,
    ] {
        assert_eq!(code(&decode(Protocol::Chat, true, |_| {}, &stream(empty))), "");
    }
    let reason = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    for carried in ["[DONE]", "", "{}", "not json"] {
        let stream = format!("{reason}event: error\ndata: {carried}\n\ndata: [DONE]\n\n");
        assert_eq!(code(&decode(Protocol::Chat, true, |_| {}, &stream)), "PROVIDER_ERROR", "{carried}");
    }
    let ended = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\ndata: [DONE]\n\n";
    assert_eq!(code(&decode(Protocol::Chat, true, |_| {}, ended)), "PROVIDER_ERROR");
}

/// S-18: a known member of the wrong type is refused where it stands.
#[test]
fn s_18_wrong_types_are_refused() {
    let chat = |message: Value, choice: Value, top: Value| {
        let mut one = json!({"message": message, "finish_reason": "stop"});
        one.as_object_mut().unwrap().extend(choice.as_object().unwrap().clone());
        let mut body = json!({"choices": [one]});
        body.as_object_mut().unwrap().extend(top.as_object().unwrap().clone());
        code(&decode(Protocol::Chat, false, |_| {}, &body.to_string()))
    };
    let none = || json!({});
    assert_eq!(chat(json!({"content": "x"}), none(), none()), "");
    for message in [
        json!({"content": 5}),
        json!({"content": [5]}),
        json!({"content": [{"type": "text"}]}),
        json!({"content": [{"text": "x"}]}),
        json!({"refusal": {}}),
        json!({"reasoning": []}),
        json!({"reasoning_details": {}}),
        json!({"reasoning_details": [5]}),
        json!({"reasoning_details": [{"text": {}}]}),
        json!({"reasoning_details": [{"index": "0"}]}),
        json!({"tool_calls": {}}),
        json!({"tool_calls": [5]}),
    ] {
        assert_eq!(chat(message.clone(), none(), none()), "MALFORMED_EVENT", "{message}");
    }
    assert_eq!(chat(json!("x"), none(), none()), "MALFORMED_EVENT");
    assert_eq!(chat(none(), json!({"native_finish_reason": ["length"]}), none()), "MALFORMED_EVENT");
    for usage in
        [json!(5), json!({"prompt_tokens": -1}), json!({"prompt_tokens": "5"}), json!({"prompt_tokens_details": 5})]
    {
        assert_eq!(chat(none(), none(), json!({"usage": usage})), "MALFORMED_EVENT", "{usage}");
    }
    assert_eq!(chat(none(), none(), json!({"choices": {}})), "MALFORMED_EVENT");
    assert_eq!(chat(none(), none(), json!({"choices": [5]})), "MALFORMED_EVENT");
    assert_eq!(chat(none(), none(), json!({"choices": []})), "MALFORMED_EVENT");
    assert_eq!(chat(none(), json!({"index": 1}), none()), "CHOICES_UNSUPPORTED");
    let messages = |event: Value| {
        let start = json!({"type": "message_start", "message": {"role": "assistant", "content": []}});
        code(&decode(Protocol::Messages, true, |_| {}, &format!("data: {start}\n\ndata: {event}\n\n")))
    };
    for event in [
        json!({}),
        json!({"type": 5}),
        json!({"type": "content_block_start", "index": 0}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "redacted_thinking"}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": 5}}),
        json!({"type": "message_delta"}),
        json!({"type": "message_delta", "delta": {}, "usage": 5}),
    ] {
        assert_eq!(messages(event.clone()), "MALFORMED_EVENT", "{event}");
    }
    assert_eq!(
        messages(json!({"type": "content_block_start", "index": "0", "content_block": {"type": "text", "text": ""}})),
        "CALL_INDEX_INVALID"
    );
    assert_eq!(
        messages(
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": null}})
        ),
        "TOOL_ARGUMENTS_NOT_OBJECT"
    );
    assert_eq!(messages(json!({"type": "message_delta", "delta": {"stop_reason": 5}})), "FINISH_REASON_UNKNOWN");
}

/// S-18, S-19: indices of a stream only grow, and nothing but a ping or an unknown event comes before `message_start`.
#[test]
fn s_19_order_of_a_stream() {
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    let chat = |order: &[usize]| {
        code(&decode(
            Protocol::Chat,
            true,
            |_| {},
            &(order.iter().map(|n| call_event(*n, "{}")).collect::<String>() + end),
        ))
    };
    assert_eq!((chat(&[0, 2, 5]), chat(&[1, 0]), chat(&[0, 5, 2])), ("", "CALL_INDEX_INVALID", "CALL_INDEX_INVALID"));
    let first = |event: Value| code(&decode(Protocol::Messages, true, |_| {}, &format!("data: {event}\n\n")));
    for kind in ["content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop"] {
        let event = json!({"type": kind, "index": 0, "content_block": {"type": "text", "text": ""}, "delta": {"stop_reason": "end_turn"}});
        assert_eq!(first(event), "STREAM_ORDER", "{kind}");
    }
    assert_eq!(
        (first(json!({"type": "ping"})), first(json!({"type": "novel"}))),
        ("STREAM_TRUNCATED", "STREAM_TRUNCATED")
    );
}

/// P-03: an index in a body must not contradict the order of its calls.
#[test]
fn p_03_indices_of_a_body_are_in_order() {
    let body = |indices: &[Value]| {
        let calls: Vec<Value> = indices.iter().enumerate().map(|(n, index)| json!({"index": index, "id": format!("c{n}"), "function": {"name": "f", "arguments": "{}"}})).collect();
        code(&decode(
            Protocol::Chat,
            false,
            |_| {},
            &json!({"choices": [{"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}).to_string(),
        ))
    };
    assert_eq!(body(&[json!(0), json!(1)]), "");
    assert_eq!(body(&[Value::Null, Value::Null]), "");
    assert_eq!(body(&[json!(1), json!(0)]), "CALL_INDEX_INVALID");
    assert_eq!(body(&[json!(0), json!(0)]), "CALL_INDEX_INVALID");
}

/// S-05, S-08: what is kept of provider state, usage and unknown members is bounded, and no event pays for those before it.
#[test]
fn s_08_kept_members_are_bounded() {
    let many = |count: usize| -> Value { Value::Object((0..count).map(|n| (format!("m{n}"), json!(1))).collect()) };
    let wide = json!(vec![0; 20_000]);
    let with = |mut base: Value, extra: Value| {
        base.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        base
    };
    let chat = |message: Value| {
        code(&decode(
            Protocol::Chat,
            false,
            |_| {},
            &json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).to_string(),
        ))
    };
    let call = |extra: Value| json!({"tool_calls": [with(json!({"id": "a", "function": {"name": "f", "arguments": "{}"}}), extra)]});
    assert_eq!(chat(call(many(60))), "");
    assert_eq!(chat(call(many(65))), "MALFORMED_EVENT");
    assert_eq!(chat(call(json!({"extra": wide}))), "LIMIT_CONTENT_BLOCKS");
    assert_eq!(chat(with(call(json!({})), json!({"reasoning_details": [many(65)]}))), "MALFORMED_EVENT");
    assert_eq!(chat(with(call(json!({})), json!({"reasoning_details": [{"x": wide}]}))), "LIMIT_CONTENT_BLOCKS");
    let parts: Vec<Value> = (0..300).map(|n| json!({"type": "image", "n": n})).collect();
    assert_eq!(chat(with(call(json!({})), json!({"content": parts}))), "LIMIT_CONTENT_BLOCKS");
    let messages = |block: Value, usage: Value| {
        code(&decode(
            Protocol::Messages,
            false,
            |_| {},
            &json!({"content": [block], "stop_reason": "end_turn", "usage": usage}).to_string(),
        ))
    };
    let thinking = json!({"type": "thinking", "thinking": "", "signature": ""});
    assert_eq!(messages(with(thinking.clone(), many(60)), json!({})), "");
    assert_eq!(messages(with(thinking.clone(), many(65)), json!({})), "MALFORMED_EVENT");
    assert_eq!(messages(with(thinking.clone(), json!({"x": wide})), json!({})), "LIMIT_CONTENT_BLOCKS");
    assert_eq!(messages(thinking, json!({"x": wide})), "MALFORMED_EVENT");
}

/// N-01: the depth can be lowered and not raised, and holds whatever a host writes into the limits.
#[test]
fn n_01_the_depth_cannot_be_raised() {
    let read = |depth: u64| {
        let text = json!({"max_json_depth": depth}).to_string();
        let value = turnkeep::json::parse(&text).unwrap();
        ProviderLimits::default().read(value.as_object().unwrap(), "limits").err().map(|error| error.code())
    };
    assert_eq!((read(1), read(64), read(65), read(0)), (None, None, Some("LIMIT_INVALID"), Some("LIMIT_INVALID")));
    let deep = "[".repeat(1_000_000);
    assert_eq!(
        code(&decode(Protocol::Chat, false, |limits| limits.max_json_depth = 5_000_000, &deep)),
        "JSON_TOO_DEEP"
    );
}

/// S-13: asked again, a decoder gives the same outcome; P-20: a cut turn says how many calls it drops.
#[test]
fn s_13_the_outcome_is_one() {
    let stream = call_event(0, "{}")
        + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    let mut decoder = Decoder::new(DecoderConfig::new(Protocol::Chat, true));
    decoder.feed(stream.as_bytes());
    let cut = turn(decoder.finish(End::Abort));
    assert_eq!((cut.status().word(), cut.dropped_calls()), ("cancelled", 1));
    assert_eq!(turn(decoder.finish(End::Eof)).status().word(), "cancelled");
    let mut decoder = Decoder::new(DecoderConfig::new(Protocol::Chat, true));
    decoder.feed(stream.as_bytes());
    assert_eq!(turn(decoder.finish(End::Eof)), turn(decoder.finish(End::Eof)));
}

fn profile(protocol: &str, extra: Value) -> ModelProfile {
    let mut own = json!({"protocol": protocol, "model": "asked", "base_url": "https://api.example.com/v1/"});
    own.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    let text = own.to_string();
    ModelProfile::read(&turnkeep::json::parse(&text).unwrap(), "model").unwrap()
}

fn request(protocol: &str, extra: Value, input: &Value) -> Result<(Request, Value), Error> {
    let text = input.to_string();
    let value = turnkeep::json::parse(&text).unwrap();
    let request = build_request(&profile(protocol, extra), "main", value.as_object().unwrap())?;
    let body = serde_json::from_str(&request.body).unwrap();
    Ok((request, body))
}

fn history(state: &[String], protocol: &str) -> Value {
    let mut blocks: Vec<Value> = state
        .iter()
        .map(|json| json!({"type": "provider_state", "protocol": protocol, "model_profile": "main", "model": "asked", "json": json}))
        .collect();
    blocks.push(json!({"type": "text", "text": "Let me see."}));
    blocks.push(json!({"type": "tool_call", "id": "c1", "name": "shop:lookup", "input": {"b": 1, "a": 12_345_678_901_234_567_u64}}));
    blocks.push(json!({"type": "tool_call", "id": "c2", "name": "shop:lookup", "input": {}}));
    json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
        {"role": "assistant", "content_blocks": blocks},
        {"role": "tool", "tool_call_id": "c1", "content": "{\"ok\":true,\"output\":1}"},
        {"role": "tool", "tool_call_id": "c2", "content": "{\"code\":\"TOOL_FAILED\",\"message\":\"m\",\"ok\":false}", "is_error": true},
    ])
}

/// P-10: headers, key header, output limit; P-13: shapes of the Messages request.
#[test]
fn p_10_messages_requests() {
    let input = json!({"session_id": "s", "model_profile": "main", "messages": history(&["{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"S\"}".to_owned()], "messages"),
        "tool_catalog": [{"name": "shop:lookup", "description": "d", "input_schema": {"type": "object"}}]});
    let (request, body) =
        request("messages", json!({"max_output_tokens": 9, "request": {"temperature": 0}}), &input).unwrap();
    assert_eq!(request.url, "https://api.example.com/v1/messages");
    assert_eq!(request.auth, ("x-api-key", ""));
    assert!(request.headers.contains(&("anthropic-version", "2023-06-01")));
    assert_eq!(request.names["shop_lookup"], "shop:lookup");
    assert_eq!(
        body,
        json!({"model": "asked", "max_tokens": 9, "stream": true, "temperature": 0, "system": [{"type": "text", "text": "Be brief."}],
            "tools": [{"name": "shop_lookup", "description": "d", "input_schema": {"type": "object"}}],
            "messages": [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "S"},
                    {"type": "text", "text": "Let me see."},
                    {"type": "tool_use", "id": "c1", "name": "shop_lookup", "input": {"a": 12_345_678_901_234_567_u64, "b": 1}},
                    {"type": "tool_use", "id": "c2", "name": "shop_lookup", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "{\"ok\":true,\"output\":1}"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "{\"code\":\"TOOL_FAILED\",\"message\":\"m\",\"ok\":false}", "is_error": true}]}]})
    );
}

/// P-13: shapes of the Chat request; P-09: `intent_catalog` is accepted, ignored and said.
#[test]
fn p_13_chat_requests() {
    let state = "{\"reasoning_content\":\"hm\",\"reasoning_details\":[{\"z\":1,\"a\":2}],\"tool_calls\":{\"c1\":{\"extra_content\":{\"sig\":\"S\"}}}}";
    let mut input = json!({"session_id": "s", "model_profile": "main", "messages": history(&[state.to_owned()], "chat"), "intent_catalog": [{"x": 1}],
        "tool_catalog": [{"name": "shop:lookup"}]});
    let (sent, body) = request("chat", json!({}), &input).unwrap();
    assert_eq!(
        (sent.url.as_str(), sent.auth),
        ("https://api.example.com/v1/chat/completions", ("authorization", "Bearer "))
    );
    assert_eq!(sent.warnings.len(), 1);
    assert!(!sent.body.contains("intent_catalog"));
    let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "shop_lookup", "arguments": arguments}});
    let mut first = call("c1", "{\"a\":12345678901234567,\"b\":1}");
    first["extra_content"] = json!({"sig": "S"});
    assert_eq!(
        body,
        json!({"model": "asked", "max_completion_tokens": 4096, "stream": true, "stream_options": {"include_usage": true},
            "tools": [{"type": "function", "function": {"name": "shop_lookup", "parameters": {"properties": {}, "type": "object"}}}],
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": "Let me see.", "reasoning_content": "hm", "reasoning_details": [{"z": 1, "a": 2}], "tool_calls": [first, call("c2", "{}")]},
                {"role": "tool", "tool_call_id": "c1", "content": "{\"ok\":true,\"output\":1}"},
                {"role": "tool", "tool_call_id": "c2", "content": "{\"code\":\"TOOL_FAILED\",\"message\":\"m\",\"ok\":false}"}]})
    );
    assert!(sent.body.contains("{\"z\":1,\"a\":2}"), "members go back in the order received");
    input["stream"] = json!(false);
    let (_, body) = request("chat", json!({"max_tokens_field": "max_tokens"}), &input).unwrap();
    assert_eq!(
        (&body["stream"], &body["max_tokens"], &body["stream_options"]),
        (&json!(false), &json!(4096), &Value::Null)
    );
}

/// S-16, S-17: provider state goes back unmodified, and only where it came from.
#[test]
fn s_16_and_s_17_state_goes_back_whole_and_only_home() {
    let events = [
        json!({"type": "message_start", "message": {"role": "assistant", "model": "asked-2026-01-01", "content": []}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": "", "z": "\u{e9}"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "a\nb"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "S=="}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "redacted_thinking", "data": "XX"}}),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "c1", "name": "f", "input": {}}}),
        json!({"type": "content_block_stop", "index": 2}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ];
    let stream: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let turn = turn(decode(Protocol::Messages, true, |_| {}, &stream));
    assert_eq!(turn.provider_state().len(), 2);
    let back: Value = serde_json::from_str(turn.provider_state()[0]).unwrap();
    assert_eq!(back, json!({"type": "thinking", "thinking": "a\nb", "signature": "S==", "z": "\u{e9}"}));
    let whole: Value = serde_json::from_str(&turn.to_json()).unwrap();
    let messages = json!([{"role": "user", "content": "Hi"}, {"role": "assistant", "content_blocks": whole["content_blocks"]}, {"role": "tool", "tool_call_id": "c1", "content": "1"}]);
    let sent = |protocol: &str, model: &str| {
        let input = json!({"messages": messages});
        request(protocol, json!({"model": model}), &input).unwrap().1["messages"][1].clone()
    };
    assert_eq!(sent("messages", "asked")["content"][0], back);
    assert_eq!(sent("messages", "asked")["content"][1], json!({"type": "redacted_thinking", "data": "XX"}));
    assert_eq!(sent("messages", "another")["content"].as_array().unwrap().len(), 1);
    assert!(!sent("chat", "asked").to_string().contains("thinking"));
}

/// L-04: a history whose calls and results do not pair is refused before it is sent.
#[test]
fn l_04_histories_must_pair() {
    let call =
        json!({"role": "assistant", "content_blocks": [{"type": "tool_call", "id": "c1", "name": "f", "input": {}}]});
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": "1"});
    let refused = |messages: Value| {
        request("chat", json!({}), &json!({"messages": messages}))
            .err()
            .map(|error| error.place().field.clone().unwrap())
    };
    assert_eq!(refused(json!([call, result])), None);
    assert_eq!(refused(json!([call])).as_deref(), Some("messages[1]"));
    assert_eq!(refused(json!([call, {"role": "user", "content": "x"}, result])).as_deref(), Some("messages[1]"));
    assert_eq!(refused(json!([call, result, result])).as_deref(), Some("messages[2]"));
    assert_eq!(refused(json!([result])).as_deref(), Some("messages[0]"));
    assert_eq!(refused(json!([{"role": "robot", "content": "x"}])).as_deref(), Some("messages[0].role"));
}

/// P-13: what would leave the contract cannot be asked for through a profile.
#[test]
fn p_13_members_of_ours_are_refused_in_profiles() {
    let refused = |protocol: &str, extra: Value| {
        let own = json!({"protocol": protocol, "model": "m", "base_url": "https://x.example/v1", "request": extra})
            .to_string();
        ModelProfile::read(&turnkeep::json::parse(&own).unwrap(), "model").err().map(|error| error.code())
    };
    for member in
        ["model", "messages", "stream", "tools", "n", "max_tokens", "function_call", "system", "mcp_servers", "betas"]
    {
        assert_eq!(refused("chat", json!({member: 1})), Some("CONFIGURATION_ERROR"), "{member}");
    }
    let named = json!({"tool_choice": {"type": "function", "function": {"name": "f"}}});
    assert_eq!(refused("chat", named), Some("CONFIGURATION_ERROR"));
    assert_eq!(refused("chat", json!({"tool_choice": "required", "temperature": 0})), None);
    assert_eq!(refused("messages", json!({"tool_choice": {"type": "any"}})), None);
}

/// P-14: names on the wire are legal, and long ones keep their beginning and a hash.
#[test]
fn p_14_wire_names() {
    use turnkeep::tools::wire_name;
    let vectors: Vec<Value> = serde_json::from_str(include_str!("vectors/own/tool-names.json")).unwrap();
    let mut checked = 0;
    for vector in &vectors {
        let name = match vector["repeat"].as_array() {
            Some(repeat) => repeat[0].as_str().unwrap().repeat(usize::try_from(repeat[1].as_u64().unwrap()).unwrap()),
            None => vector["name"].as_str().unwrap().to_owned(),
        };
        let wire = wire_name(&name);
        assert!(
            wire.len() <= 64 && wire.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'),
            "{wire}"
        );
        checked += 1;
    }
    assert_eq!(checked, 25);
    let long = wire_name(&"a".repeat(65));
    assert_eq!((long.len(), long.get(..48)), (56, Some(&*"a".repeat(48))));
    assert_ne!(long, wire_name(&"a".repeat(66)));
}

/// S-24: statuses, causes and the provider's own words, bounded.
#[test]
fn s_24_failures_are_one_family() {
    for (cause, code, retriable) in [
        (Cause::Http(401), "PROVIDER_AUTH", false),
        (Cause::Http(403), "PROVIDER_AUTH", false),
        (Cause::Http(429), "PROVIDER_RATE_LIMITED", true),
        (Cause::Http(529), "PROVIDER_OVERLOADED", true),
        (Cause::Http(404), "PROVIDER_BAD_REQUEST", false),
        (Cause::Http(500), "PROVIDER_UNAVAILABLE", true),
        (Cause::Http(301), "PROVIDER_ERROR", false),
        (Cause::Transport, "PROVIDER_TRANSPORT", true),
        (Cause::Timeout, "PROVIDER_TIMEOUT", true),
        (Cause::ContentType, "NOT_AN_EVENT_STREAM", false),
    ] {
        let error = http_error(cause, None, None);
        assert_eq!((error.code(), error.retriable()), (code, retriable), "{cause:?}");
    }
    let outranks = http_error(Cause::ContentType, None, Some("{\"error\":{\"type\":\"overloaded_error\"}}"));
    assert_eq!(outranks.code(), "PROVIDER_OVERLOADED");
    let long = "x".repeat(10_000);
    let body = json!({"error": {"message": long, "code": "quota"}}).to_string();
    let record: Value =
        serde_json::from_str(&http_error(Cause::Http(429), Some("1.5"), Some(&body)).to_json()).unwrap();
    assert_eq!(
        (&record["retry_after_ms"], &record["details"]["status"], &record["details"]["provider_code"]),
        (&json!(1500), &json!(429), &json!("quota"))
    );
    assert_eq!(record["details"]["provider_message"].as_str().unwrap().len(), 300);
    assert!(!record["message"].as_str().unwrap().contains("xxx"), "the message holds no untrusted text");
    for odd in ["", "-1", "1e3", "soon", "Wed, 21 Oct 2026 07:28:00 GMT", "99999999999999999999"] {
        let record: Value = serde_json::from_str(&http_error(Cause::Http(429), Some(odd), None).to_json()).unwrap();
        assert_eq!(record["retry_after_ms"], Value::Null, "{odd}");
    }
}

#[test]
fn s_21_the_place_of_a_refusal_is_the_same_however_it_is_cut() {
    let place = |stream: bool, limit: u64, bytes: &[u8], cut: usize| {
        let mut config = DecoderConfig::new(Protocol::Chat, stream);
        config.limits.max_response_bytes = limit;
        let mut decoder = Decoder::new(config);
        decoder.feed(&bytes[..cut]);
        decoder.feed(&bytes[cut..]);
        decoder.error().map(|error| (error.code(), error.place().byte_offset))
    };
    let bad = b"data: \xF0\x9F\x98x\n\n";
    for cut in 0..bad.len() {
        assert_eq!(place(true, 100, bad, cut), Some(("UTF8_INVALID", Some(6))), "cut at {cut}");
    }
    let body = b"0123456789";
    for cut in 0..body.len() {
        assert_eq!(place(false, 4, body, cut), Some(("LIMIT_RESPONSE_BYTES", Some(4))), "cut at {cut}");
    }
}
