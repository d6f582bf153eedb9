//! Conversation history (L-04, P-13): what was said, what was called, and exactly one result for each call.

use crate::error::{Error, Reason};
use crate::json::{Value, quote};
use crate::turn::{Block, block_json, block_of};
use std::collections::BTreeSet;

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// Instructions of the host.
    System(String),
    /// What a person or program asks.
    User(String),
    /// A turn of the model.
    Assistant(Vec<Block>),
    /// The one result of a call.
    Tool {
        /// The call's id.
        call_id: String,
        /// Canonical JSON of a tool result, or what a host put there.
        content: String,
        /// Whether it reports a failure.
        is_error: bool,
    },
}

fn shape(field: &str) -> Error {
    Error::new(Reason::InvalidInput).at_field(field)
}

impl Message {
    /// Reads a message of the public API.
    ///
    /// # Errors
    /// `INVALID_INPUT` with the field.
    pub fn read(value: &Value<'_>, field: &str) -> Result<Message, Error> {
        let object = value.as_object().ok_or_else(|| shape(field))?;
        let at = |name: &str| format!("{field}.{name}");
        match object.get("role").and_then(Value::as_str) {
            Some("system") => Ok(Message::System(content(object.get("content"), &at("content"))?)),
            Some("user") => Ok(Message::User(content(object.get("content"), &at("content"))?)),
            Some("assistant") => {
                let blocks = object
                    .get("content_blocks")
                    .and_then(Value::as_array)
                    .ok_or_else(|| shape(&at("content_blocks")))?;
                let blocks =
                    blocks.iter().map(|block| block_of(block, &at("content_blocks"))).collect::<Result<_, _>>()?;
                Ok(Message::Assistant(blocks))
            }
            Some("tool") => Ok(Message::Tool {
                call_id: object
                    .get("tool_call_id")
                    .and_then(Value::as_str)
                    .ok_or_else(|| shape(&at("tool_call_id")))?
                    .to_owned(),
                content: object.get("content").and_then(Value::as_str).ok_or_else(|| shape(&at("content")))?.to_owned(),
                is_error: matches!(object.get("is_error"), Some(Value::Bool(true))),
            }),
            _ => Err(shape(&at("role"))),
        }
    }

    /// Reads a whole history and checks that its calls and results pair.
    ///
    /// # Errors
    /// `INVALID_INPUT` with the field.
    pub fn read_all(value: Option<&Value<'_>>, field: &str) -> Result<Vec<Message>, Error> {
        let items = value.and_then(Value::as_array).ok_or_else(|| shape(field))?;
        let messages = items
            .iter()
            .enumerate()
            .map(|(at, item)| Message::read(item, &format!("{field}[{at}]")))
            .collect::<Result<Vec<_>, _>>()?;
        check_pairs(&messages, field)?;
        Ok(messages)
    }

    /// The message of the public API as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        match self {
            Message::System(text) => format!("{{\"role\":\"system\",\"content\":{}}}", quote(text)),
            Message::User(text) => format!("{{\"role\":\"user\",\"content\":{}}}", quote(text)),
            Message::Assistant(blocks) => {
                let blocks: Vec<String> = blocks.iter().map(block_json).collect();
                format!("{{\"role\":\"assistant\",\"content_blocks\":[{}]}}", blocks.join(","))
            }
            Message::Tool { call_id, content, is_error } => format!(
                "{{\"role\":\"tool\",\"tool_call_id\":{},\"content\":{}{}}}",
                quote(call_id),
                quote(content),
                if *is_error { ",\"is_error\":true" } else { "" }
            ),
        }
    }
}

/// The JSON array of a history.
#[must_use]
pub fn history_json(messages: &[Message]) -> String {
    let items: Vec<String> = messages.iter().map(Message::to_json).collect();
    format!("[{}]", items.join(","))
}

fn content(value: Option<&Value<'_>>, field: &str) -> Result<String, Error> {
    match value {
        Some(Value::String(text)) => Ok(text.to_string()),
        Some(Value::Array(blocks)) => blocks
            .iter()
            .map(|block| match block_of(block, field)? {
                Block::Text(text) => Ok(text),
                _ => Err(shape(field)),
            })
            .collect(),
        _ => Err(shape(field)),
    }
}

/// Each call has exactly one result, right after its turn (L-04).
fn check_pairs(messages: &[Message], field: &str) -> Result<(), Error> {
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for (at, message) in messages.iter().enumerate() {
        let place = || shape(&format!("{field}[{at}]"));
        match message {
            Message::Tool { call_id, .. } if open.remove(call_id.as_str()) => {}
            Message::Tool { .. } => return Err(place()),
            _ if !open.is_empty() => return Err(place()),
            Message::Assistant(blocks) => {
                for block in blocks {
                    if let Block::Call(call) = block
                        && !open.insert(call.id.as_str())
                    {
                        return Err(place());
                    }
                }
            }
            _ => {}
        }
    }
    if open.is_empty() { Ok(()) } else { Err(shape(&format!("{field}[{}]", messages.len()))) }
}
