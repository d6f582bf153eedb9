//! A3: the event-stream vectors, at every cut, every two cuts of short bodies, byte by byte, and 1,000 random splits.
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use serde_json::Value;
use turnkeep::wire::sse::{SseDecoder, SseEvent};
use turnkeep::wire::utf8::Utf8Carry;

use super::{Figure, SEED, halves};
use crate::shell::read_json;
use crate::support::case::base64_decode;
use crate::support::rng::Rng;
use crate::support::splits::{pieces, random};

const TWO_CUTS_UP_TO: usize = 256;
const RANDOM: usize = 1000;

#[derive(Debug, PartialEq)]
struct Read {
    events: Vec<[String; 3]>,
    retry: Option<u64>,
}

pub fn run(dir: &Path) -> Result<Figure> {
    let mut figure = Figure::default();
    let mut vectors = 0;
    for file in halves(dir.join("vectors/sse"), ".json")? {
        for vector in read_json(&file)?.as_array().context("the sse vectors are no list")? {
            vectors += 1;
            check(vector, &mut figure)?;
        }
    }
    println!("    {vectors} vectors");
    Ok(figure)
}

fn check(vector: &Value, figure: &mut Figure) -> Result<()> {
    let id = vector["id"].as_str().context("a vector without id")?;
    let body = base64_decode(vector["body_b64"].as_str().context("no body_b64")?).map_err(|error| anyhow!(error))?;
    let expected = expected(vector)?;
    let mut rng = Rng::for_text(SEED, id);
    let mut cuts: Vec<Vec<usize>> = vec![Vec::new(), (1..body.len()).collect()];
    cuts.extend((1..body.len()).map(|cut| vec![cut]));
    if body.len() <= TWO_CUTS_UP_TO {
        cuts.extend((1..body.len()).flat_map(|first| (first + 1..body.len()).map(move |second| vec![first, second])));
    }
    cuts.extend((0..RANDOM).map(|_| random(body.len(), &mut rng)));
    for cuts in &cuts {
        let got = read(&body, cuts);
        figure.check(got == expected, || format!("{id} cut at {cuts:?}: {got:?} instead of {expected:?}"));
    }
    Ok(())
}

fn expected(vector: &Value) -> Result<Read> {
    let word = |event: &Value, name: &str| {
        event[name].as_str().map(str::to_owned).with_context(|| format!("an event without {name}"))
    };
    let events = vector["events"].as_array().context("a vector without events")?;
    let events = events
        .iter()
        .map(|event| Ok([word(event, "event")?, word(event, "data")?, word(event, "id")?]))
        .collect::<Result<_>>()?;
    Ok(Read { events, retry: vector["retry"].as_u64() })
}

fn read(body: &[u8], cuts: &[usize]) -> Read {
    let mut carry = Utf8Carry::default();
    let mut decoder = SseDecoder::new(1 << 20);
    let mut events = Vec::new();
    for piece in pieces(body, cuts) {
        let step = carry.take(piece);
        let carried = std::str::from_utf8(&step.carried.0[..step.carried.1]).unwrap_or_default();
        for text in [carried, step.body] {
            decoder.feed(text, &mut |event: SseEvent<'_>| {
                // The standard's name of an event without one.
                let name = if event.event.is_empty() { "message" } else { event.event };
                events.push([name.to_owned(), event.data.to_owned(), event.id.to_owned()]);
                true
            });
        }
    }
    Read { events, retry: decoder.retry() }
}
