//! Limits, then a failure of the provider, then P-12, then the table of reasons (P-20): what is told when one event says several things.
use turnkeep::provider::{Decoder, DecoderConfig, End, Outcome, Protocol};

fn code(protocol: Protocol, stream: bool, bytes: &str) -> &'static str {
    let mut decoder = Decoder::new(DecoderConfig::new(protocol, stream));
    decoder.feed(bytes.as_bytes());
    match decoder.finish(End::Eof) {
        Outcome::Turn(_) => "a turn",
        Outcome::Error(error) => error.code(),
    }
}

/// S-18, S-24: an error object in any choice, or the reason `error`, whatever else is wrong beside it.
#[test]
fn a_failure_of_a_choice_outranks_every_other_fault() {
    let busy = r#""error":{"type":"overloaded_error"}"#;
    let failed = r#""finish_reason":"error""#;
    for (choices, expected) in [
        (format!(r#"[{{"index":5,{busy},MESSAGE:{{}}}}]"#), "PROVIDER_OVERLOADED"),
        (format!(r#"[{{"index":0,MESSAGE:{{}}}},{{"index":1,{busy}}}]"#), "PROVIDER_OVERLOADED"),
        (format!(r#"[{{"index":0,MESSAGE:7,{busy}}}]"#), "PROVIDER_OVERLOADED"),
        (format!(r#"[{{"index":5,{failed},MESSAGE:{{}}}}]"#), "PROVIDER_ERROR"),
        (format!(r#"[{{"index":0,{failed},MESSAGE:{{"role":"user"}}}}]"#), "PROVIDER_ERROR"),
        (format!(r#"[{{"index":0,{failed},MESSAGE:{{"tool_calls":[{{"type":"custom"}}]}}}}]"#), "PROVIDER_ERROR"),
        (format!(r#"[{{"index":0,MESSAGE:{{}}}},{{"index":1,{failed}}}]"#), "PROVIDER_ERROR"),
        (r#"[{"index":0,MESSAGE:{}},{"index":1,"error":null}]"#.to_owned(), "CHOICES_UNSUPPORTED"),
    ] {
        for object in ["response", "chat.completion"] {
            let said = |inside: &str| {
                format!(r#"{{"object":"{object}","choices":{}}}"#, choices.replace("MESSAGE", &format!("\"{inside}\"")))
            };
            let expected = if object == "response" && !expected.starts_with("PROVIDER_") {
                "RESPONSES_API_UNSUPPORTED"
            } else {
                expected
            };
            assert_eq!(code(Protocol::Chat, false, &said("message")), expected, "{}", said("message"));
            let stream = format!("data: {}\n\n", said("delta"));
            assert_eq!(code(Protocol::Chat, true, &stream), expected, "{stream}");
        }
    }
    let late = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
                data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"error\"}]}\n\n";
    assert_eq!(code(Protocol::Chat, true, late), "PROVIDER_ERROR");
}

/// S-19: the same of a Messages error that travels under another name, or in a body of another kind.
#[test]
fn an_error_of_messages_outranks_the_name_of_its_event() {
    for name in ["", "event: error\n", "event: message_start\n"] {
        let stream = format!("{name}data: {{\"type\":\"error\"}}\n\n");
        assert_eq!(code(Protocol::Messages, true, &stream), "PROVIDER_ERROR", "{stream}");
    }
    assert_eq!(code(Protocol::Messages, false, r#"{"type":"error","object":"response"}"#), "PROVIDER_ERROR");
}
