//! A4: texts of JSONTestSuite, and sequences of the UTF-8 set, as JSON and as the text of a streamed reply (N-01, S-21).
use serde_json::Value;
use turnkeep::json::{canonical, parse_bytes};
use turnkeep::provider::{Decoder, DecoderConfig, End, Outcome, Protocol};

use crate::{Figure, bytes, hex_bytes, word};

/// What we do with a text: its canonical form, or `refuse`.
fn ours(bytes: &[u8]) -> String {
    parse_bytes(bytes).map_or_else(|_| "refuse".into(), |value| canonical(&value))
}

/// `{name, bytes, ours}`: `ours` is what the written table says of a text that the suite leaves open, else null.
pub fn file(job: &Value, figure: &mut Figure) -> Result<(), String> {
    let name = word(job, "name")?;
    let got = ours(&bytes(job, "bytes")?);
    let expected = job["ours"].as_str();
    let right = match (expected, name.get(..2)) {
        (Some(expected), _) => got == expected,
        (None, Some("y_")) => got != "refuse",
        (None, Some("n_")) => got == "refuse",
        _ => false,
    };
    figure.check(right, || format!("{name}: {got} instead of {}", expected.unwrap_or("what its name says")));
    // What is accepted must read back to itself.
    if got != "refuse" {
        let again = ours(got.as_bytes());
        figure.check(again == got, || format!("{name}: its canonical form {got} reads back as {again}"));
    }
    Ok(())
}

pub fn utf8(line: &Value, figure: &mut Figure) -> Result<(), String> {
    let id = word(line, "id")?;
    let bytes = hex_bytes(word(line, "hex")?)?;
    let valid = line["valid"].as_bool().ok_or("a sequence without valid")?;

    let mut text = b"\"".to_vec();
    for byte in &bytes {
        // Quotes, backslashes and controls would be errors of JSON, not of UTF-8.
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            0..0x20 => text.extend(format!("\\u{byte:04x}").into_bytes()),
            _ => text.push(*byte),
        }
    }
    text.push(b'"');
    let json = parse_bytes(&text);
    let same = json.as_ref().ok().and_then(|value| value.as_str()).map(str::as_bytes) == Some(bytes.as_slice());
    figure.check(json.is_ok() == valid && (!valid || same), || format!("{id}: as JSON, valid is {valid}"));

    // The same bytes as the text of a streamed reply, whole and byte by byte: given exactly, or refused as UTF-8.
    for step in [usize::MAX, 1] {
        let got = streamed(&text, step);
        let right = match &got {
            Ok(text) => valid && text.as_bytes() == bytes.as_slice(),
            Err(reason) => !valid && reason == "UTF8_INVALID",
        };
        figure.check(right, || format!("{id}: streamed in reads of {step}: {got:?}, valid is {valid}"));
        let replaced = got.as_ref().is_ok_and(|text| text.contains('\u{FFFD}')) && !contains_replacement(&bytes);
        figure.check(!replaced, || format!("{id}: U+FFFD in the text"));
    }
    Ok(())
}

fn contains_replacement(bytes: &[u8]) -> bool {
    bytes.windows(3).any(|window| window == "\u{FFFD}".as_bytes())
}

/// The assistant text of a Chat stream whose one delta carries the JSON string, or the code of the refusal.
fn streamed(json_string: &[u8], step: usize) -> Result<String, String> {
    let mut body = br#"data: {"choices":[{"index":0,"delta":{"content":"#.to_vec();
    body.extend_from_slice(json_string);
    body.extend_from_slice(br#"},"finish_reason":"stop"}]}"#);
    body.extend_from_slice(b"\n\ndata: [DONE]\n\n");
    let mut decoder = Decoder::new(DecoderConfig::new(Protocol::Chat, true));
    for piece in body.chunks(step.min(body.len())) {
        decoder.feed(piece);
    }
    match decoder.finish(End::Eof) {
        Outcome::Turn(turn) => Ok(turn.assistant_text()),
        Outcome::Error(error) => Err(error.code().to_owned()),
    }
}
