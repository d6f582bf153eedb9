//! A4: JSONTestSuite (what it leaves open is in `tests/json-i-table.json`) and the UTF-8 set.
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;
use turnkeep::json::{canonical, parse_bytes};
use turnkeep::provider::{Decoder, DecoderConfig, End, Outcome, Protocol};

use super::{Figure, halves, hex_bytes};
use crate::shell::{files_below, read, read_json, root};

pub fn run(dir: &Path) -> Result<Figure> {
    let mut figure = Figure::default();
    let table = read_json(&root().join("tests/json-i-table.json"))?;
    let (mut files, mut lines) = (0, 0);
    for half in halves(dir.join("vectors/json-parsing"), "")? {
        for file in files_below(&half, ".json")? {
            files += 1;
            check_file(&file, &table, &mut figure)?;
        }
    }
    for file in halves(dir.join("vectors/utf8"), ".json")? {
        for line in read_json(&file)?.as_array().context("the UTF-8 set is no list")? {
            lines += 1;
            check_utf8(line, &mut figure)?;
        }
    }
    println!("    {files} JSON files, {lines} UTF-8 sequences");
    figure.check(files > 0 && lines > 0, || format!("{files} JSON files, {lines} UTF-8 sequences"));
    Ok(figure)
}

/// What we do with a text: its canonical form, or `refuse`.
fn ours(bytes: &[u8]) -> String {
    parse_bytes(bytes).map_or_else(|_| "refuse".into(), |value| canonical(&value))
}

fn check_file(path: &Path, table: &Value, figure: &mut Figure) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let bytes = read(path)?;
    let got = ours(&bytes);
    let expected = match &table["files"][name.as_ref()] {
        Value::Null => None,
        entry => Some(entry["ours"].as_str().with_context(|| format!("{name}: no `ours` in the table"))?),
    };
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

fn check_utf8(line: &Value, figure: &mut Figure) -> Result<()> {
    let id = line["id"].as_str().context("a sequence without id")?;
    let bytes = hex_bytes(line["hex"].as_str().context("a sequence without hex")?)?;
    let valid = line["valid"].as_bool().context("a sequence without valid")?;

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
