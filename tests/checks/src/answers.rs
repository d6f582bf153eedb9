//! A6: what the core says of generated texts and turns, one JSON line each, with the text itself for a reader that is not ours.
use serde_json::{Value, json};
use turnkeep::json::{JsonErrorKind, MAX_DEPTH, canonical, canonicalize, digest_text, parse};
use turnkeep::provider::{Decoder, DecoderConfig, End, Outcome, Protocol};

use crate::support::rng::Rng;
use crate::support::splits;
use crate::{texts, turns};

/// The lines of some generated things, from the one with that number on.
///
/// # Errors
/// A kind that is not known, and a core that does not agree with itself.
pub fn answers(kind: &str, from: usize, count: usize, seed: u64) -> Result<String, String> {
    let mut lines = String::new();
    for number in from..from + count {
        let line = match kind {
            "values" => value(seed, number)?,
            "turns" => turn(seed, number)?,
            _ => return Err(format!("nothing of the kind `{kind}` is generated")),
        };
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    Ok(lines)
}

fn value(seed: u64, number: usize) -> Result<Value, String> {
    let text = texts::text(seed, number);
    let streamed = canonicalize(&text, MAX_DEPTH);
    let form = match parse(&text) {
        Ok(tree) => canonical(&tree),
        Err(error) if streamed == Err(error) => {
            let word = match error.kind {
                JsonErrorKind::Syntax => "JSON_INVALID",
                JsonErrorKind::DuplicateKey => "JSON_DUPLICATE_KEY",
                JsonErrorKind::TooDeep => "JSON_TOO_DEEP",
                JsonErrorKind::NumberRange => "JSON_NUMBER_RANGE",
                JsonErrorKind::Utf8 => "UTF8_INVALID",
            };
            return Ok(json!({ "text": text, "ours": { "code": word } }));
        }
        Err(error) => return Err(format!("value {number}: {error:?} with a tree, without one {streamed:?}: {text}")),
    };
    // The other way to the same form, and the form read again.
    for other in [streamed, canonicalize(&form, MAX_DEPTH), parse(&form).map(|tree| canonical(&tree))] {
        if other.as_deref() != Ok(&form) {
            return Err(format!("value {number}: {form} became {other:?}"));
        }
    }
    let digest = digest_text(&form);
    Ok(json!({ "text": text, "ours": { "canonical": form, "digest": digest } }))
}

fn turn(seed: u64, number: usize) -> Result<Value, String> {
    let turn = turns::turn(seed, number);
    let (protocol, word) = if turn.chat { (Protocol::Chat, "chat") } else { (Protocol::Messages, "messages") };
    let decode = |cuts: &[usize]| {
        let mut decoder = Decoder::new(DecoderConfig::new(protocol, turn.stream));
        splits::pieces(&turn.body, cuts).for_each(|piece| decoder.feed(piece));
        said(&decoder.finish(End::Eof))
    };
    let ours = decode(&[]);
    let cuts = splits::random(turn.body.len(), &mut Rng::for_text(seed, &format!("cuts {number}")));
    if decode(&cuts) != ours {
        return Err(format!("turn {number}: {ours} whole, {} cut at {cuts:?}", decode(&cuts)));
    }
    let body: String = turn.body.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(json!({ "protocol": word, "stream": turn.stream, "what": turn.what, "body": body, "ours": ours }))
}

fn said(outcome: &Outcome) -> Value {
    let label = outcome.label();
    match outcome {
        Outcome::Error(error) => json!({ "outcome": label, "code": error.code() }),
        Outcome::Turn(turn) => {
            let calls: Vec<Value> =
                turn.calls().iter().map(|call| json!([call.id, call.name, call.input_json])).collect();
            let usage = turn.usage().map(|usage| {
                json!([
                    usage.raw_json,
                    usage.input_tokens,
                    usage.cached_input_tokens,
                    usage.cache_write_tokens,
                    usage.output_tokens,
                    usage.reasoning_tokens
                ])
            });
            json!({ "outcome": label, "text": turn.assistant_text(), "calls": calls, "usage": usage,
                "reason": turn.finish_reason().map(|reason| reason.raw.clone()) })
        }
    }
}
