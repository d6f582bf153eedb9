//! The generators of `tests/vectors/own/hostile-streams.json` and our own, as recipes: what is sent, in what reads, and what must come of it.
//!
//! A recipe is small whatever it sends, so that `cargo xtask generate` can hand the same ones to Node.
use serde_json::{Value, json};
use turnkeep::limits::ProviderLimits;

use turnkeep::provider::{Decoder, DecoderConfig, End, Outcome};

use super::case::{Ending, Job};
use super::figure::Figure;
use super::native;

pub mod generators;
mod wire;

pub use generators::GENERATORS;

const MIB: u64 = 1_048_576;
/// What stands for the number of the repetition in a repeated text.
const NUMBER: &str = "<i>";

/// A text so many times, or bytes that are no text.
#[derive(Debug, Clone)]
pub enum Part {
    Text(String, u64),
    Bytes(Vec<u8>),
}

impl Part {
    /// How often the number of the repetition stands in it.
    fn numbers(&self) -> u64 {
        match self {
            Part::Text(text, _) => text.matches(NUMBER).count() as u64,
            Part::Bytes(_) => 0,
        }
    }

    /// How many bytes it makes, all repetitions together.
    fn size(&self) -> u64 {
        let numbers = self.numbers();
        match self {
            Part::Bytes(bytes) => bytes.len() as u64,
            Part::Text(text, times) if numbers == 0 => text.len() as u64 * times,
            Part::Text(text, times) => {
                let plain = text.len() as u64 - numbers * NUMBER.len() as u64;
                let digits = |time: u64| u64::from(time.checked_ilog10().unwrap_or(0)) + 1;
                (0..*times).map(|time| plain + numbers * digits(time)).sum()
            }
        }
    }
}

/// Which limits say how much may be held.
#[derive(Debug, Clone, Copy)]
pub enum Held {
    Event,
    Stream,
    Response,
    /// Nothing but the decoder itself: constant, whatever comes.
    Nothing,
    /// An event that holds arguments beside the arguments themselves.
    Arguments,
}

#[derive(Debug, Clone)]
pub struct Row {
    pub id: &'static str,
    pub name: String,
    pub protocol: &'static str,
    pub stream: bool,
    pub limits: Vec<(String, u64)>,
    pub read: usize,
    pub parts: Vec<Part>,
    pub held: Held,
    /// A code, or the status of a turn.
    pub expect: &'static str,
    pub text: Option<String>,
    pub inputs: Option<Vec<String>>,
    /// Whether what it sends grows with n.
    pub scales: bool,
}

impl Row {
    fn new(id: &'static str, name: &str, protocol: &'static str, expect: &'static str) -> Row {
        Row {
            id,
            name: name.to_owned(),
            protocol,
            stream: true,
            limits: Vec::new(),
            read: 65_536,
            parts: Vec::new(),
            held: Held::Event,
            expect,
            text: None,
            inputs: None,
            scales: true,
        }
    }

    fn part(self, text: impl Into<String>) -> Row {
        self.times(text, 1)
    }

    fn times(mut self, text: impl Into<String>, times: u64) -> Row {
        self.parts.push(Part::Text(text.into(), times));
        self
    }

    fn bytes(mut self, bytes: &[u8]) -> Row {
        self.parts.push(Part::Bytes(bytes.to_vec()));
        self
    }

    fn fixed(self) -> Row {
        Row { scales: false, ..self }
    }

    fn held(self, held: Held) -> Row {
        Row { held, ..self }
    }

    fn read(self, read: usize) -> Row {
        Row { read, ..self }
    }

    fn body(self) -> Row {
        Row { stream: false, held: Held::Response, ..self }
    }

    fn limit(mut self, name: &str, value: u64) -> Row {
        self.limits.push((name.to_owned(), value));
        self
    }

    fn gives(self, text: &str) -> Row {
        Row { text: Some(text.to_owned()), ..self }
    }

    fn asks(self, inputs: &[&str]) -> Row {
        Row { inputs: Some(inputs.iter().map(|input| (*input).to_owned()).collect()), ..self }
    }

    /// One line for a person.
    pub fn label(&self) -> String {
        format!("{} {} {}", self.id, self.protocol, self.name)
    }

    /// # Errors
    /// A limit that is not known.
    pub fn config(&self) -> Result<DecoderConfig, String> {
        native::config(&Job {
            protocol: self.protocol.to_owned(),
            stream: self.stream,
            limits: self.limits.clone(),
            body: Vec::new(),
            ending: Ending::Eof,
            status: None,
        })
    }

    /// Hands over what is sent in its reads until the receiver has enough.
    pub fn send(&self, mut receive: impl FnMut(&[u8]) -> bool) {
        let mut buffer = Vec::with_capacity(self.read);
        for part in &self.parts {
            let (bytes, times) = match part {
                Part::Text(text, times) => (text.as_bytes(), *times),
                Part::Bytes(bytes) => (bytes.as_slice(), 1),
            };
            let numbered = part.numbers() > 0;
            for time in 0..times {
                let text = numbered.then(|| String::from_utf8_lossy(bytes).replace(NUMBER, &time.to_string()));
                let mut rest = text.as_deref().map_or(bytes, str::as_bytes);
                while !rest.is_empty() {
                    let (piece, more) = rest.split_at(rest.len().min(self.read - buffer.len()));
                    buffer.extend_from_slice(piece);
                    rest = more;
                    if buffer.len() == self.read {
                        if !receive(&buffer) {
                            return;
                        }
                        buffer.clear();
                    }
                }
            }
        }
        if !buffer.is_empty() {
            receive(&buffer);
        }
    }

    /// The most that the decode may hold at a time: twice what the limits that apply let it keep of what is sent, and 1 MiB. Of arguments,
    /// once and 2 MiB.
    pub fn bound(&self, limits: &ProviderLimits) -> u64 {
        let sent = self.parts.iter().map(Part::size).sum::<u64>();
        match self.held {
            Held::Nothing => MIB / 16,
            Held::Event => 2 * sent.min(limits.max_event_bytes) + MIB,
            Held::Stream => 2 * sent.min(limits.max_stream_bytes) + MIB,
            Held::Response => 2 * sent.min(limits.max_response_bytes) + MIB,
            Held::Arguments => sent.min(limits.max_event_bytes) + sent.min(limits.max_tool_argument_bytes) + 2 * MIB,
        }
    }

    fn json(&self) -> Result<Value, String> {
        let parts: Vec<Value> = self
            .parts
            .iter()
            .map(|part| match part {
                Part::Text(text, times) => json!([text, times]),
                Part::Bytes(bytes) => json!(bytes),
            })
            .collect();
        let limits: serde_json::Map<String, Value> =
            self.limits.iter().map(|(name, value)| (format!("max_{name}"), json!(value))).collect();
        Ok(json!({
            "id": self.id, "name": self.name, "protocol": self.protocol, "stream": self.stream, "limits": limits,
            "read": self.read, "parts": parts, "bound": self.bound(&self.config()?.limits), "expect": self.expect,
            "text": self.text, "inputs": self.inputs,
        }))
    }
}

/// The recipes for Node, one a line.
///
/// # Errors
/// As [`Row::config`].
pub fn recipes() -> Result<String, String> {
    let rows = GENERATORS.iter().flat_map(|one| (one.rows)(one.n));
    let lines = rows.map(|row| row.json().map(|row| row.to_string())).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

pub struct Generator {
    pub id: &'static str,
    pub rows: fn(u64) -> Vec<Row>,
    /// The size for codes and memory.
    pub n: u64,
    /// The smaller size for times; the larger is ten times that and stays below every limit.
    pub small: u64,
}

/// One piece of the core's work: gives whether the decoder wants more.
pub type Work<'a> = &'a mut dyn FnMut() -> bool;

/// Decodes what a row sends and judges what came. Whatever the decoder does goes through `wrap`, which may count or time it.
///
/// # Errors
/// As [`Row::config`].
pub fn run(row: &Row, wrap: &mut dyn FnMut(Work<'_>) -> bool) -> Result<Figure, String> {
    let config = row.config()?;
    let mut decoder = None;
    wrap(&mut || {
        decoder = Some(Decoder::new(config.clone()));
        true
    });
    let mut decoder = decoder.ok_or("no decoder")?;
    row.send(|bytes| {
        wrap(&mut || {
            decoder.feed(bytes);
            !decoder.is_failed()
        })
    });
    let mut outcome = None;
    wrap(&mut || {
        outcome = Some(decoder.finish(End::Eof));
        true
    });
    let outcome = outcome.ok_or("no outcome")?;
    let mut figure = Figure::default();
    let got = match &outcome {
        Outcome::Turn(turn) => turn.status().word(),
        Outcome::Error(error) => error.code(),
    };
    figure.check(got == row.expect, || format!("{}: {got}, {} is right", row.label(), row.expect));
    let turn = match &outcome {
        Outcome::Turn(turn) => Some(turn),
        Outcome::Error(_) => None,
    };
    if let Some(text) = &row.text {
        let got = turn.map(|turn| turn.assistant_text());
        figure.check(got.as_ref() == Some(text), || format!("{}: the text is another", row.label()));
    }
    if let Some(inputs) = &row.inputs {
        let got: Option<Vec<String>> =
            turn.map(|turn| turn.calls().iter().map(|call| call.input_json.clone()).collect());
        figure.check(got.as_ref() == Some(inputs), || format!("{}: the inputs are others", row.label()));
    }
    // What was refused stays refused.
    if let Outcome::Error(error) = &outcome {
        decoder.feed(b"data: {}\n\n");
        let again = decoder.finish(End::Eof);
        let same = matches!(&again, Outcome::Error(other) if other == error);
        figure.check(same, || format!("{}: another outcome when asked again", row.label()));
    }
    Ok(figure)
}
