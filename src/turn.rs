//! One model response, sealed: the exact contract of P-01, P-02, P-05, P-06, P-20.
//!
//! A [`Turn`] is only made by the finish table (`provider::finish`) or by [`Turn::check`], which reads a host's own turn and holds it to
//! the same contract. Knows nothing of runs.

use crate::error::{Error, Reason};
use crate::json::{Object, Value, canonical, parse, parse_with_depth, quote, write_string};
use crate::provider::{FinishReason, Protocol, Status, Unified, Usage};
use std::collections::{BTreeMap, BTreeSet};

/// One native tool call. Its input is canonical text, so that what is shown, hashed and run is one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The provider's id, never invented (P-06).
    pub id: String,
    /// The governed name.
    pub name: String,
    /// The canonical JSON text of the input object.
    pub input_json: String,
}

/// A part of a turn, in the provider's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// Untrusted text.
    Text(String),
    /// A call; only in a `tool_request` turn (P-20).
    Call(Call),
    /// Thinking or reasoning that belongs to the provider, as JSON text (S-16, S-17).
    State(StateBlock),
}

/// Provider-owned state with where it came from: it is returned only there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateBlock {
    /// The protocol it came over.
    pub protocol: Protocol,
    /// The model profile it came from.
    pub model_profile: String,
    /// The model it came from.
    pub model: String,
    /// Its JSON text, every string as received.
    pub json: String,
}

/// Where a turn came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    /// The protocol, when a provider answered.
    pub protocol: Protocol,
    /// The model profile of the request.
    pub model_profile: String,
    /// The model the provider named, else the one of the request.
    pub model: String,
    /// The model of the request: what provider state is bound to, since providers answer with other spellings.
    pub asked: String,
    /// The provider's id of the response.
    pub response_id: Option<String>,
}

/// One model response.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub(crate) status: Status,
    pub(crate) blocks: Vec<Block>,
    pub(crate) finish: Option<FinishReason>,
    pub(crate) usage: Option<Usage>,
    pub(crate) origin: Origin,
    pub(crate) dropped_calls: u64,
    pub(crate) quirks: BTreeMap<String, u64>,
    /// Text of a turn that was cut off by its reader.
    pub(crate) partial_text: String,
    pub(crate) side: Option<&'static str>,
}

impl Turn {
    /// Its status: only `tool_request` is runnable.
    #[must_use]
    pub fn status(&self) -> Status {
        self.status
    }

    /// The parts, in order.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The calls, in order: empty unless the status is `tool_request`.
    #[must_use]
    pub fn calls(&self) -> Vec<&Call> {
        self.blocks
            .iter()
            .filter_map(|block| match block {
                Block::Call(call) => Some(call),
                _ => None,
            })
            .collect()
    }

    /// All text blocks joined. Untrusted; never parsed (P-08).
    #[must_use]
    pub fn assistant_text(&self) -> String {
        if !self.partial_text.is_empty() {
            return self.partial_text.clone();
        }
        self.blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The JSON texts of the provider-owned state.
    #[must_use]
    pub fn provider_state(&self) -> Vec<&str> {
        self.blocks
            .iter()
            .filter_map(|block| match block {
                Block::State(state) => Some(state.json.as_str()),
                _ => None,
            })
            .collect()
    }

    /// Token counts, when the provider reported any.
    #[must_use]
    pub fn usage(&self) -> Option<&Usage> {
        self.usage.as_ref()
    }

    /// Why it ended: the unified word and the provider's.
    #[must_use]
    pub fn finish_reason(&self) -> Option<&FinishReason> {
        self.finish.as_ref()
    }

    /// Calls that were seen and are not exposed (P-20).
    #[must_use]
    pub fn dropped_calls(&self) -> u64 {
        self.dropped_calls
    }

    /// Normalisations that a quirk profile made, with counts.
    #[must_use]
    pub fn quirks(&self) -> &BTreeMap<String, u64> {
        &self.quirks
    }

    /// Where it came from.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The turn of the public API as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    /// Appends the turn as JSON text. Inputs and texts can be megabytes and stand in it twice, so each is copied straight to its place.
    pub(crate) fn write_json(&self, out: &mut String) {
        out.reserve(self.json_size());
        out.push_str("{\"status\":");
        write_string(self.status.word(), out);
        out.push_str(",\"requested_tools\":");
        write_list(self.calls(), out, |call, out| write_call(call, "", out));
        out.push_str(",\"content_blocks\":");
        write_list(&self.blocks, out, write_block);
        out.push_str(",\"assistant_text\":");
        write_string(&self.assistant_text(), out);
        out.push_str(",\"usage\":");
        out.push_str(&self.usage.as_ref().map_or("null".to_owned(), Usage::to_json));
        out.push_str(&format!(",\"dropped_calls\":{}", self.dropped_calls));
        if let Some(finish) = &self.finish {
            let quirks: Vec<String> =
                self.quirks.iter().map(|(name, count)| format!("{}:{count}", quote(name))).collect();
            out.push_str(&format!(
                ",\"finish_reason\":{{\"unified\":{},\"raw\":{}}},\"provider\":{{\"protocol\":{},\"model_profile\":{},\"model\":{},\"response_id\":{}}},\"quirks\":{{{}}}",
                quote(finish.unified.word()),
                quote(&finish.raw),
                quote(self.origin.protocol.word()),
                quote(&self.origin.model_profile),
                quote(&self.origin.model),
                self.origin.response_id.as_ref().map_or("null".to_owned(), |id| quote(id)),
                quirks.join(","),
            ));
        }
        if let Some(side) = self.side {
            out.push_str(&format!(",\"details\":{{\"side\":{}}}", quote(side)));
        }
        out.push('}');
    }

    /// About how many bytes its JSON text has.
    fn json_size(&self) -> usize {
        /// Names, ids and counts.
        const REST: usize = 512;
        let large = self.blocks.iter().map(|block| match block {
            Block::Text(text) => text.len(),
            Block::Call(call) => call.input_json.len(),
            Block::State(state) => state.json.len(),
        });
        large.fold(REST, |sum, size| sum.saturating_add(size).saturating_add(size))
    }

    /// Reads a turn that a host made itself, or that crossed the border, and holds it to the contract: `requested_tools` and the calls of
    /// `content_blocks` are the same ids, names and inputs in the same order (P-01), ids present and unique (P-02), nothing unknown
    /// (`requested_tool` included, P-04), and only `tool_request` has calls (P-20).
    ///
    /// # Errors
    /// The provider codes of P-01..P-04, and `INVALID_INPUT` for any other departure from the shape.
    pub fn check(text: &str) -> Result<Turn, Error> {
        let value = parse_with_depth(text, crate::json::ENVELOPE_DEPTH)
            .map_err(|error| Error::new(Reason::InvalidInput).at_field("turn").at_byte(error.offset as u64))?;
        let object = value.as_object().ok_or_else(|| shape("turn"))?;
        const KNOWN: &[&str] = &[
            "status",
            "requested_tools",
            "content_blocks",
            "assistant_text",
            "finish_reason",
            "usage",
            "provider",
            "dropped_calls",
            "quirks",
            "details",
        ];
        if let Some((name, _)) = object.iter().find(|(name, _)| !KNOWN.contains(name)) {
            return Err(shape(&format!("turn.{name}")));
        }
        let status = object
            .get("status")
            .and_then(Value::as_str)
            .and_then(Status::of_word)
            .ok_or_else(|| shape("turn.status"))?;
        let origin = origin(object.get("provider"))?;
        let mut blocks = Vec::new();
        for block in
            object.get("content_blocks").and_then(Value::as_array).ok_or_else(|| shape("turn.content_blocks"))?
        {
            blocks.push(block_of(block, "turn.content_blocks")?);
        }
        let requested =
            object.get("requested_tools").and_then(Value::as_array).ok_or_else(|| shape("turn.requested_tools"))?;
        let requested =
            requested.iter().enumerate().map(|(at, call)| call_of(call, at)).collect::<Result<Vec<_>, _>>()?;
        let declared: Vec<&Call> =
            blocks.iter().filter_map(|block| if let Block::Call(call) = block { Some(call) } else { None }).collect();
        if requested.iter().ne(declared.iter().copied()) {
            return Err(Error::new(Reason::ToolCallsReordered).at_field("turn.requested_tools"));
        }
        check_ids(&declared)?;
        if (status == Status::ToolRequest) == declared.is_empty() {
            return Err(Error::new(if declared.is_empty() {
                Reason::FinishToolCallsWithoutCalls
            } else {
                Reason::ToolCallsWithFinishStop
            }));
        }
        let text = object.get("assistant_text").and_then(Value::as_str).ok_or_else(|| shape("turn.assistant_text"))?;
        let finish = match object.get("finish_reason") {
            None | Some(Value::Null) => None,
            Some(value) => Some(FinishReason::read(value).ok_or_else(|| shape("turn.finish_reason"))?),
        };
        let usage = match object.get("usage") {
            None | Some(Value::Null) => None,
            Some(value) => Some(Usage::read(value).ok_or_else(|| shape("turn.usage"))?),
        };
        let mut quirks = BTreeMap::new();
        if let Some(given) = object.get("quirks").and_then(Value::as_object) {
            for (name, count) in given.iter() {
                quirks.insert(name.to_owned(), count.as_u64().ok_or_else(|| shape("turn.quirks"))?);
            }
        }
        let side = object
            .get("details")
            .and_then(Value::as_object)
            .and_then(|details| details.get("side"))
            .and_then(Value::as_str);
        let turn = Turn {
            status,
            finish,
            usage,
            origin,
            dropped_calls: object.get("dropped_calls").and_then(Value::as_u64).unwrap_or(0),
            quirks,
            partial_text: if status.is_cut() { text.to_owned() } else { String::new() },
            side: side.map(|side| if side == "consumer" { "consumer" } else { "provider" }),
            blocks,
        };
        if turn.assistant_text() != text {
            return Err(shape("turn.assistant_text"));
        }
        let unified = turn.finish.as_ref().map(|finish| finish.unified);
        if status == Status::ToolRequest && (unified != Some(Unified::ToolCalls) || turn.dropped_calls != 0) {
            return Err(Error::new(Reason::ToolCallsWithFinishStop).at_field("turn.finish_reason"));
        }
        if turn.finish.is_none() && !status.is_cut() {
            return Err(shape("turn.finish_reason"));
        }
        Ok(turn)
    }
}

fn shape(field: &str) -> Error {
    Error::new(Reason::InvalidInput).at_field(field)
}

/// Ids are present, non-empty and unique in a turn (P-02).
pub(crate) fn check_ids(calls: &[&Call]) -> Result<(), Error> {
    let mut seen = BTreeSet::new();
    for (position, call) in calls.iter().enumerate() {
        if call.id.is_empty() {
            return Err(Error::new(Reason::ToolCallIdMissing).at_call(position));
        }
        if call.name.is_empty() {
            return Err(Error::new(Reason::ToolNameMissing).at_call(position));
        }
        if !seen.insert(call.id.as_str()) {
            return Err(Error::new(Reason::ToolCallIdDuplicate).at_call(position));
        }
    }
    Ok(())
}

fn call_of(value: &Value<'_>, position: usize) -> Result<Call, Error> {
    let object = value.as_object().ok_or_else(|| shape("turn.requested_tools"))?;
    let text = |name: &str, reason: Reason| match object.get(name).and_then(Value::as_str) {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(Error::new(reason).at_call(position)),
    };
    let input = object.get("input").ok_or_else(|| Error::new(Reason::ToolInputMissing).at_call(position))?;
    if input.as_object().is_none() {
        return Err(Error::new(Reason::ToolInputNotObject).at_call(position));
    }
    Ok(Call {
        id: text("id", Reason::ToolCallIdMissing)?,
        name: text("name", Reason::ToolNameMissing)?,
        input_json: canonical(input),
    })
}

/// Reads one content block of a turn or of a message.
pub(crate) fn block_of(value: &Value<'_>, field: &str) -> Result<Block, Error> {
    let object = value.as_object().ok_or_else(|| shape(field))?;
    let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned).ok_or_else(|| shape(field));
    match object.get("type").and_then(Value::as_str) {
        Some("text") => Ok(Block::Text(text("text")?)),
        Some("tool_call") => Ok(Block::Call(call_of(value, 0)?)),
        Some("provider_state") => {
            let json = text("json")?;
            parse(&json).map_err(|_| shape(field))?;
            Ok(Block::State(StateBlock {
                protocol: Protocol::of_word(&text("protocol")?).ok_or_else(|| shape(field))?,
                model_profile: text("model_profile")?,
                model: text("model")?,
                json,
            }))
        }
        _ => Err(shape(field)),
    }
}

fn origin(value: Option<&Value<'_>>) -> Result<Origin, Error> {
    let Some(object) = value.and_then(Value::as_object) else {
        return Ok(Origin::default());
    };
    let text =
        |object: &Object<'_>, name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Origin {
        protocol: Protocol::of_word(&text(object, "protocol")).ok_or_else(|| shape("turn.provider.protocol"))?,
        model_profile: text(object, "model_profile"),
        model: text(object, "model"),
        asked: String::new(),
        response_id: object.get("response_id").and_then(Value::as_str).map(str::to_owned),
    })
}

fn write_list<'a, T: 'a>(items: impl IntoIterator<Item = &'a T>, out: &mut String, write: impl Fn(&T, &mut String)) {
    out.push('[');
    for (position, item) in items.into_iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(']');
}

fn write_call(call: &Call, prefix: &str, out: &mut String) {
    out.push('{');
    out.push_str(prefix);
    out.push_str("\"id\":");
    write_string(&call.id, out);
    out.push_str(",\"name\":");
    write_string(&call.name, out);
    out.push_str(",\"input\":");
    out.push_str(&call.input_json);
    out.push('}');
}

fn write_block(block: &Block, out: &mut String) {
    match block {
        Block::Text(text) => {
            out.push_str("{\"type\":\"text\",\"text\":");
            write_string(text, out);
        }
        Block::Call(call) => return write_call(call, "\"type\":\"tool_call\",", out),
        Block::State(state) => {
            for (name, text) in [
                ("{\"type\":\"provider_state\",\"protocol\":", state.protocol.word()),
                (",\"model_profile\":", &state.model_profile),
                (",\"model\":", &state.model),
                (",\"json\":", &state.json),
            ] {
                out.push_str(name);
                write_string(text, out);
            }
        }
    }
    out.push('}');
}

/// A content block of the public API as JSON text.
pub(crate) fn block_json(block: &Block) -> String {
    let mut out = String::new();
    write_block(block, &mut out);
    out
}
