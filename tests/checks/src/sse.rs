//! A3: an event-stream vector at every cut, every two cuts of a short body, byte by byte, and 1,000 random splits (S-22).
use serde_json::Value;
use turnkeep::wire::sse::{SseDecoder, SseEvent};
use turnkeep::wire::utf8::Utf8Carry;

use crate::support::rng::Rng;
use crate::support::splits::{pieces, random};
use crate::{Figure, bytes, word};

const TWO_CUTS_UP_TO: usize = 256;
const RANDOM: usize = 1000;

#[derive(Debug, PartialEq)]
pub struct Read {
    events: Vec<[String; 3]>,
    retry: Option<u64>,
}

pub fn check(vector: &Value, seed: u64, figure: &mut Figure) -> Result<(), String> {
    let id = word(vector, "id")?;
    let body = bytes(vector, "body_b64")?;
    let expected = expected(vector)?;
    let mut rng = Rng::for_text(seed, id);
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

fn expected(vector: &Value) -> Result<Read, String> {
    let owned = |event: &Value, name: &str| word(event, name).map(str::to_owned);
    let events = vector["events"].as_array().ok_or("a vector without events")?;
    let events = events
        .iter()
        .map(|event| Ok([owned(event, "event")?, owned(event, "data")?, owned(event, "id")?]))
        .collect::<Result<_, String>>()?;
    Ok(Read { events, retry: vector["retry"].as_u64() })
}

pub fn read(body: &[u8], cuts: &[usize]) -> Read {
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
        // What follows a byte that is not UTF-8 is never read.
        if step.invalid {
            break;
        }
    }
    Read { events, retry: decoder.retry() }
}
