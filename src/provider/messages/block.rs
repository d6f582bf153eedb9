//! Content blocks of a Messages response: which are known, which are refused by name (P-12), what a delta may do to each (S-19).

use crate::error::{Error, Reason};
use crate::json::{Object, Value, canonical, ordered};
use crate::provider::decoder::{DeltaKind, invalid};
use crate::provider::finish::{Part, PartialCall, PartialInput};
use crate::provider::meter::Meter;

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

fn string<'v>(object: &'v Object<'_>, name: &str, field: &str) -> Result<&'v str, Error> {
    match object.get(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(invalid(field)),
    }
}

/// Provider state is kept as it came, so its members and values are bounded; its text is bounded with the stream.
fn owned(object: &Object<'_>, meter: &mut Meter) -> Result<Object<'static>, Error> {
    if object.len() > crate::provider::meter::MAX_MEMBERS {
        return Err(invalid("content_block"));
    }
    meter.state(object)?;
    Ok(match Value::Object(object.clone()).into_owned() {
        Value::Object(object) => object,
        _ => Object::default(),
    })
}

impl Block {
    /// Opens a block. `whole` is true for a body, where nothing follows.
    pub(super) fn open(object: &Object<'_>, whole: bool, meter: &mut Meter) -> Result<Block, Error> {
        let kind = match object.get("type") {
            Some(Value::String(kind)) => kind.as_ref(),
            _ => return Err(invalid("content_block.type")),
        };
        match kind {
            "text" => {
                meter.block()?;
                Ok(Block::Text(string(object, "text", "content_block.text")?.to_owned()))
            }
            "tool_use" => Block::open_call(object, whole, meter),
            "thinking" => {
                meter.block()?;
                for name in ["thinking", "signature"] {
                    if !matches!(object.get(name), None | Some(Value::String(_))) {
                        return Err(invalid("content_block.thinking"));
                    }
                }
                Ok(Block::Thinking(owned(object, meter)?))
            }
            "redacted_thinking" => {
                meter.block()?;
                string(object, "data", "content_block.data")?;
                Ok(Block::Redacted(owned(object, meter)?))
            }
            "server_tool_use" | "mcp_tool_use" => Err(Error::new(Reason::ServerToolUnsupported)),
            other if other.ends_with("_tool_result") || other == "tool_result" => {
                Err(Error::new(Reason::ServerToolUnsupported))
            }
            _ => Err(Error::new(Reason::ContentBlockUnknown)),
        }
    }

    fn open_call(object: &Object<'_>, whole: bool, meter: &mut Meter) -> Result<Block, Error> {
        match object.get("caller") {
            None | Some(Value::Null) => {}
            Some(Value::String(caller)) if caller == "direct" => {}
            Some(Value::Object(caller)) if caller.get("type").and_then(Value::as_str) == Some("direct") => {}
            Some(_) => return Err(Error::new(Reason::ProgrammaticToolCall)),
        }
        meter.call()?;
        let id = match object.get("id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) => Some(id.to_string()),
            Some(_) => return Err(Error::new(Reason::ToolCallIdInvalid)),
        };
        let name = match object.get("name") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name.to_string()),
            Some(_) => return Err(Error::new(Reason::ToolNameMissing)),
        };
        let input = match object.get("input") {
            None if whole => return Err(Error::new(Reason::ToolInputMissing)),
            None => None,
            Some(input @ Value::Object(members)) if whole || !members.is_empty() => {
                let text = canonical(input);
                meter.arguments(&text)?;
                Some(text)
            }
            Some(Value::Object(_)) => None,
            Some(_) => return Err(Error::new(Reason::ToolInputNotObject)),
        };
        Ok(Block::ToolUse { id, name, whole: input, fragments: String::new() })
    }

    /// Applies a delta; its type must fit the block's.
    pub(super) fn delta(&mut self, delta: &Object<'_>, at: usize, meter: &mut Meter) -> Result<(), Error> {
        let kind = match delta.get("type") {
            Some(Value::String(kind)) => kind.as_ref(),
            _ => return Err(invalid("delta.type")),
        };
        match (self, kind) {
            (Block::Text(text), "text_delta") => {
                let more = string(delta, "text", "delta.text")?;
                if !more.is_empty() {
                    meter.snapshot(DeltaKind::Text, at, more)?;
                    text.push_str(more);
                }
                Ok(())
            }
            (Block::Text(_), "citations_delta") => Ok(()),
            (Block::ToolUse { whole, fragments, .. }, "input_json_delta") => {
                let more = match delta.get("partial_json") {
                    Some(Value::String(text)) => text,
                    None => return Err(invalid("delta.partial_json")),
                    Some(_) => return Err(Error::new(Reason::ToolArgumentsNotString)),
                };
                if more.is_empty() {
                    return Ok(());
                }
                if whole.is_some() {
                    return Err(Error::new(Reason::ToolInputConflict));
                }
                meter.arguments(more)?;
                meter.snapshot(DeltaKind::ToolInput, at, more)?;
                fragments.push_str(more);
                Ok(())
            }
            (Block::Thinking(object), "thinking_delta") => {
                let more = string(delta, "thinking", "delta.thinking")?;
                meter.state_snapshot(at, more.len())?;
                match object.get_mut("thinking") {
                    Some(Value::String(text)) => text.to_mut().push_str(more),
                    _ => object.set("thinking", Value::text(more)),
                }
                Ok(())
            }
            (Block::Thinking(object), "signature_delta") => {
                let signature = string(delta, "signature", "delta.signature")?;
                meter.state_snapshot(at, signature.len())?;
                object.set("signature", Value::text(signature));
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
