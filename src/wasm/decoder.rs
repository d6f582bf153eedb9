//! One model response. One crossing per chunk: the records and the text of its deltas stay in wasm memory, to be read there.

use crate::error::{Error, Reason};
use crate::json::{Object, Value, object, parse, quote};
use crate::limits::ProviderLimits;
use crate::provider::{self, DecoderConfig, End, Hold, Outcome, Protocol, Quirks};
use wasm_bindgen::prelude::wasm_bindgen;

/// Where the state stands in what `push` gives.
const STATE_SHIFT: u32 = 30;
/// The rest of it: how many records there are.
const COUNT: u32 = (1 << STATE_SHIFT) - 1;

/// A decoder for one response.
#[wasm_bindgen]
pub struct Decoder {
    inner: Option<provider::Decoder>,
    refused: Option<Error>,
    records: Vec<u32>,
    text: String,
}

fn read(config: &str) -> Result<DecoderConfig, Error> {
    let wrong = |field: &str| Error::new(Reason::ConfigurationError).at_field(field);
    let value = parse(config).map_err(|_| wrong("config"))?;
    let members = value.as_object().ok_or_else(|| wrong("config"))?;
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    let protocol = text("protocol").and_then(Protocol::of_word).ok_or_else(|| wrong("protocol"))?;
    let mut config = DecoderConfig::new(protocol, !matches!(members.get("stream"), Some(Value::Bool(false))));
    if let Some(Value::Object(limits)) = members.get("limits") {
        config.limits = ProviderLimits::default().read(limits, "limits")?;
    }
    if let Some(profile) = members.get("quirks") {
        let quirks = profile.as_str().and_then(|name| Quirks::of_profile(name, protocol));
        config.quirks = quirks.ok_or_else(|| wrong("quirks"))?;
    }
    config.hold = match members.get("hold").map(Value::as_str) {
        None => Hold::None,
        Some(Some("calls")) => Hold::Calls,
        Some(Some("terminal")) => Hold::Terminal,
        Some(_) => return Err(wrong("hold")),
    };
    config.model_profile = text("model_profile").unwrap_or_default().to_owned();
    config.model = text("model").unwrap_or_default().to_owned();
    config.deltas = matches!(members.get("deltas"), Some(Value::Bool(true)));
    let names = members.get("names").and_then(Value::as_object).map(Object::iter).into_iter().flatten();
    config.names = names.filter_map(|(wire, name)| Some((wire.to_owned(), name.as_str()?.to_owned()))).collect();
    Ok(config)
}

#[wasm_bindgen]
impl Decoder {
    /// A decoder; `error_json` tells whether the configuration was refused.
    #[wasm_bindgen(constructor)]
    pub fn new(config_json: &str) -> Decoder {
        let (inner, refused) = match read(config_json) {
            Ok(config) => (Some(provider::Decoder::new(config)), None),
            Err(error) => (None, Some(error)),
        };
        Decoder { inner, refused, records: Vec::new(), text: String::new() }
    }

    /// Empty, or the record of the refusal or of the sticky failure.
    pub fn error_json(&self) -> String {
        let error = self.refused.as_ref().or_else(|| self.inner.as_ref().and_then(provider::Decoder::error));
        error.map_or_else(String::new, Error::to_json)
    }

    /// Feeds a chunk; gives the number of records in the region, with the state in the two highest bits: one crossing for each chunk.
    pub fn push(&mut self, bytes: &[u8]) -> u32 {
        self.records.clear();
        self.text.clear();
        let Some(inner) = &mut self.inner else {
            return self.state() << STATE_SHIFT;
        };
        inner.feed(bytes);
        let (deltas, text) = inner.deltas();
        for delta in deltas {
            let kind = match delta.kind {
                provider::DeltaKind::Text => 0,
                provider::DeltaKind::ToolInput => 1,
                provider::DeltaKind::State => 2,
            };
            self.records.extend([kind, delta.block, delta.utf16, delta.utf8]);
        }
        self.text.push_str(text);
        // A record has 16 bytes, so a count of 30 bits would not fit the memory.
        let count = u32::try_from(deltas.len()).unwrap_or(u32::MAX) & COUNT;
        count | self.state() << STATE_SHIFT
    }

    /// 0 open, 1 terminal marker seen, 2 failed.
    pub fn state(&self) -> u32 {
        match &self.inner {
            Some(inner) if inner.is_failed() => 2,
            Some(inner) if inner.terminal_seen() => 1,
            Some(_) => 0,
            None => 2,
        }
    }

    /// How many of the last bytes pushed a guard must keep back.
    pub fn held(&self) -> u32 {
        self.inner.as_ref().map_or(u32::MAX, |inner| u32::try_from(inner.held()).unwrap_or(u32::MAX))
    }

    /// Where the records stand in wasm memory.
    pub fn records_ptr(&self) -> usize {
        self.records.as_ptr().addr()
    }

    /// Where the text of the deltas stands in wasm memory.
    pub fn text_ptr(&self) -> usize {
        self.text.as_ptr().addr()
    }

    /// Its length in bytes.
    pub fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Id and governed name of a call, or empty.
    pub fn block_json(&self, block: u32) -> String {
        match self.inner.as_ref().and_then(|inner| inner.call(block)) {
            Some((id, name)) => object(&[("id", quote(&id)), ("name", quote(&name))]),
            None => String::new(),
        }
    }

    /// Ends the response.
    pub fn finish(&mut self, end: &str) -> String {
        let end = match end {
            "eof" => End::Eof,
            "drain_deadline" => End::DrainDeadline,
            "abort" => End::Abort,
            "consumer" => End::Consumer,
            "provider" => End::Provider,
            _ => return super::refusal(&Error::new(Reason::InvalidInput).at_field("end")),
        };
        match (&mut self.inner, &self.refused) {
            (Some(inner), _) => match inner.finish(end) {
                Outcome::Turn(turn) => {
                    let mut answer = String::from("{\"ok\":");
                    turn.write_json(&mut answer);
                    answer.push('}');
                    answer
                }
                Outcome::Error(error) => super::refusal(&error),
            },
            (None, Some(error)) => super::refusal(error),
            (None, None) => super::refusal(&Error::new(Reason::Internal)),
        }
    }

    /// Bytes, events, snapshots and ignored events so far.
    pub fn counters(&self) -> String {
        let [bytes, events, snapshots, ignored] = self.inner.as_ref().map_or([0; 4], provider::Decoder::counts);
        object(&[
            ("bytes", bytes.to_string()),
            ("events", events.to_string()),
            ("snapshots", snapshots.to_string()),
            ("ignored_events", ignored.to_string()),
        ])
    }
}
