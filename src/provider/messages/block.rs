//! Content blocks of a Messages response: which are known, which are refused by name (P-12), what a delta may do to each (S-19).

use super::shape::{
    self, BLOCK_CALLER, BLOCK_DATA, BLOCK_ID, BLOCK_INPUT, BLOCK_NAME, BLOCK_SHAPE, BLOCK_SIGNATURE, BLOCK_TEXT,
    BLOCK_THINKING, BLOCK_TYPE, BlockSlots, DELTA_JSON, DELTA_SIGNATURE, DELTA_TEXT, DELTA_THINKING, DELTA_TYPE, Slots,
};
use crate::error::{Error, Reason};
use crate::json::{MAX_DEPTH, Object, Raw, Value, ordered, select};
use crate::provider::decoder::{DeltaKind, invalid};
use crate::provider::finish::{Part, PartialCall, PartialInput};
use crate::provider::meter::{Meter, ambiguous};
use std::borrow::Cow;

/// A block as far as it came.
#[derive(Debug)]
pub(super) enum Block {
    Text(String),
    ToolUse {
        id: Option<String>,
        name: Option<String>,
        /// The object of the start event, when it is not empty.
        whole: Option<String>,
        fragments: String,
    },
    /// Thinking: every member as received, two of them growing.
    Thinking(Object<'static>),
    /// Redacted thinking.
    Redacted(Object<'static>),
}

fn string<'a>(value: Raw<'a>, field: &str) -> Result<Cow<'a, str>, Error> {
    value.text().ok_or_else(|| invalid(field))
}

/// Provider state is kept as it came, so its members and values are bounded; its text is bounded with the stream.
fn owned(given: Raw<'_>, meter: &mut Meter) -> Result<Object<'static>, Error> {
    if given.members().count() > crate::provider::meter::MAX_MEMBERS {
        return Err(invalid("content_block"));
    }
    meter.state(given)?;
    Ok(match given.value().into_owned() {
        Value::Object(object) => object,
        _ => Object::default(),
    })
}

/// Behind a guard a call has no member that a client may take for another name or input, and in a stream its input comes in
/// fragments: some clients pass over the one of the start event (S-25).
fn read_alike(given: Raw<'_>, input: Raw<'_>, whole: bool) -> Result<(), Error> {
    let known = |key: Raw<'_>| ["type", "id", "name", "input", "caller"].iter().any(|name| key.is_text(name));
    if given.members().any(|(key, value)| !known(key) && value != Raw::Null) {
        return Err(ambiguous("content_block"));
    }
    if !whole && input.members().next().is_some() {
        return Err(ambiguous("content_block.input"));
    }
    Ok(())
}

impl Block {
    /// Opens a block. `whole` is true for a body, where nothing follows.
    pub(super) fn open(given: Raw<'_>, whole: bool, meter: &mut Meter) -> Result<Block, Error> {
        let mut slots = shape::block_slots();
        if let Raw::Object(text) = given {
            // It has been checked as part of its response.
            select(text, MAX_DEPTH, &BLOCK_SHAPE, &mut slots).map_err(|_| Error::new(Reason::Internal))?;
        }
        let Some(kind) = slots[BLOCK_TYPE].text() else {
            return Err(invalid("content_block.type"));
        };
        match kind.as_ref() {
            "text" => {
                meter.block()?;
                Ok(Block::Text(string(slots[BLOCK_TEXT], "content_block.text")?.into_owned()))
            }
            "tool_use" => Block::open_call(given, &slots, whole, meter),
            "thinking" => {
                meter.block()?;
                for member in [slots[BLOCK_THINKING], slots[BLOCK_SIGNATURE]] {
                    if !matches!(member, Raw::Absent | Raw::String(..)) {
                        return Err(invalid("content_block.thinking"));
                    }
                }
                Ok(Block::Thinking(owned(given, meter)?))
            }
            "redacted_thinking" => {
                meter.block()?;
                string(slots[BLOCK_DATA], "content_block.data")?;
                Ok(Block::Redacted(owned(given, meter)?))
            }
            "server_tool_use" | "mcp_tool_use" => Err(Error::new(Reason::ServerToolUnsupported)),
            other if other.ends_with("_tool_result") || other == "tool_result" => {
                Err(Error::new(Reason::ServerToolUnsupported))
            }
            _ => Err(Error::new(Reason::ContentBlockUnknown)),
        }
    }

    fn open_call(given: Raw<'_>, slots: &BlockSlots<'_>, whole: bool, meter: &mut Meter) -> Result<Block, Error> {
        let caller = slots[BLOCK_CALLER];
        if !(caller.is_none() || caller.is_text("direct") || caller.get("type").is_text("direct")) {
            return Err(Error::new(Reason::ProgrammaticToolCall));
        }
        meter.call()?;
        if meter.guarding {
            meter.doubt(read_alike(given, slots[BLOCK_INPUT], whole));
        }
        let text = |value: Raw<'_>, wrong: Reason| match value {
            Raw::Absent | Raw::Null => Ok(None),
            text @ Raw::String(..) => Ok(text.text().map(Cow::into_owned)),
            _ => Err(Error::new(wrong)),
        };
        let id = text(slots[BLOCK_ID], Reason::ToolCallIdInvalid)?;
        let name = text(slots[BLOCK_NAME], Reason::ToolNameMissing)?;
        let input = match slots[BLOCK_INPUT] {
            Raw::Absent if whole => return Err(Error::new(Reason::ToolInputMissing)),
            Raw::Absent => None,
            input @ Raw::Object(_) if whole || input.members().next().is_some() => {
                // Nothing past the bound is built, so that a hostile input costs no more than a good one.
                let mut text = String::new();
                input.write_canonical_within(&mut text, meter.argument_room());
                meter.arguments(&text)?;
                Some(text)
            }
            Raw::Object(_) => None,
            _ => return Err(Error::new(Reason::ToolInputNotObject)),
        };
        Ok(Block::ToolUse { id, name, whole: input, fragments: String::new() })
    }

    /// Applies a delta; its type must fit the block's.
    pub(super) fn delta(&mut self, slots: &Slots<'_>, at: usize, meter: &mut Meter) -> Result<(), Error> {
        let Some(kind) = slots[DELTA_TYPE].text() else {
            return Err(invalid("delta.type"));
        };
        let given = |slot: Raw<'_>, field: &str| match slot {
            Raw::String(..) => Ok(()),
            _ => Err(invalid(field)),
        };
        match (self, kind.as_ref()) {
            (Block::Text(text), "text_delta") => {
                given(slots[DELTA_TEXT], "delta.text")?;
                let more = slots[DELTA_TEXT].append_to(text);
                if more.is_empty() { Ok(()) } else { meter.snapshot(DeltaKind::Text, at, more) }
            }
            (Block::Text(_), "citations_delta") => Ok(()),
            (Block::ToolUse { whole, fragments, .. }, "input_json_delta") => {
                let given = match slots[DELTA_JSON] {
                    text @ Raw::String(..) => text,
                    Raw::Absent => return Err(invalid("delta.partial_json")),
                    _ => return Err(Error::new(Reason::ToolArgumentsNotString)),
                };
                if given.is_text("") {
                    return Ok(());
                }
                if whole.is_some() {
                    return Err(Error::new(Reason::ToolInputConflict));
                }
                meter.arguments_fit(given)?;
                let more = given.append_to(fragments);
                meter.arguments(more)?;
                meter.snapshot(DeltaKind::ToolInput, at, more)
            }
            (Block::Thinking(object), "thinking_delta") => {
                given(slots[DELTA_THINKING], "delta.thinking")?;
                if object.get("thinking").and_then(Value::as_str).is_none() {
                    object.set("thinking", Value::text(""));
                }
                let more = match object.get_mut("thinking") {
                    Some(Value::String(text)) => slots[DELTA_THINKING].append_to(text.to_mut()).len(),
                    _ => 0,
                };
                meter.state_snapshot(at, more)
            }
            (Block::Thinking(object), "signature_delta") => {
                given(slots[DELTA_SIGNATURE], "delta.signature")?;
                let mut signature = String::new();
                meter.state_snapshot(at, slots[DELTA_SIGNATURE].append_to(&mut signature).len())?;
                object.set("signature", Value::String(Cow::Owned(signature)));
                Ok(())
            }
            (_, "text_delta" | "citations_delta" | "input_json_delta" | "thinking_delta" | "signature_delta") => {
                Err(Error::new(Reason::DeltaTypeMismatch))
            }
            _ => Err(Error::new(Reason::DeltaTypeUnknown)),
        }
    }

    pub(super) fn named(&self) -> Option<(String, String)> {
        match self {
            Block::ToolUse { id: Some(id), name: Some(name), .. } => Some((id.clone(), name.clone())),
            _ => None,
        }
    }

    pub(super) fn is_call(&self) -> bool {
        matches!(self, Block::ToolUse { .. })
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Block::Text(text) => text,
            _ => "",
        }
    }

    pub(super) fn into_part(self) -> Part {
        match self {
            Block::Text(text) => Part::Text(text),
            Block::ToolUse { id, name, whole, fragments } => Part::Call(PartialCall {
                id,
                name,
                input: whole.map_or(PartialInput::Text(fragments), PartialInput::Whole),
            }),
            Block::Thinking(object) | Block::Redacted(object) => Part::State(ordered(&Value::Object(object))),
        }
    }
}
