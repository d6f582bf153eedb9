//! The reason table (P-07, P-18, P-19, P-20) and the seal: the one place where accumulated parts become a turn.

use super::decoder::bounded_depth;
use super::{Protocol, Usage};
use crate::error::{Error, Reason};
use crate::json::{JsonError, JsonErrorKind, Raw, Value, scan};
use crate::turn::{Block, Call, Origin, StateBlock, Turn, check_ids};
use std::collections::BTreeMap;

/// What a turn is good for. Only `tool_request` is runnable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// At least one call, all of them whole.
    ToolRequest,
    /// An answer.
    Reply,
    /// Cut by a length limit or paused by the provider.
    Incomplete,
    /// Filtered or refused.
    Refused,
    /// Ended by our abort signal.
    Cancelled,
    /// One side of the connection went away.
    ClientDisconnect,
}

impl Status {
    const ALL: [Status; 6] = [
        Status::ToolRequest,
        Status::Reply,
        Status::Incomplete,
        Status::Refused,
        Status::Cancelled,
        Status::ClientDisconnect,
    ];

    /// The word in records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Status::ToolRequest => "tool_request",
            Status::Reply => "reply",
            Status::Incomplete => "incomplete",
            Status::Refused => "refused",
            Status::Cancelled => "cancelled",
            Status::ClientDisconnect => "client_disconnect",
        }
    }

    /// The status of that word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.word() == word)
    }

    /// Whether the response was left before its end.
    #[must_use]
    pub fn is_cut(self) -> bool {
        matches!(self, Status::Cancelled | Status::ClientDisconnect)
    }
}

/// One word for both protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unified {
    /// The model was done.
    Stop,
    /// It asks for tools.
    ToolCalls,
    /// A length limit.
    Length,
    /// A filter.
    ContentFilter,
    /// A refusal.
    Refusal,
    /// The provider paused.
    Pause,
}

impl Unified {
    const ALL: [Unified; 6] =
        [Unified::Stop, Unified::ToolCalls, Unified::Length, Unified::ContentFilter, Unified::Refusal, Unified::Pause];

    /// The word in records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Unified::Stop => "stop",
            Unified::ToolCalls => "tool_calls",
            Unified::Length => "length",
            Unified::ContentFilter => "content_filter",
            Unified::Refusal => "refusal",
            Unified::Pause => "pause",
        }
    }
}

/// Both words: ours and the provider's (design law 5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishReason {
    /// Our word.
    pub unified: Unified,
    /// The provider's word.
    pub raw: String,
}

impl FinishReason {
    /// Reads the object of the public API.
    #[must_use]
    pub fn read(value: &Value<'_>) -> Option<FinishReason> {
        let object = value.as_object()?;
        let unified = object.get("unified")?.as_str()?;
        let raw = object.get("raw")?.as_str()?.to_owned();
        Some(FinishReason { unified: Unified::ALL.into_iter().find(|one| one.word() == unified)?, raw })
    }
}

/// The input of a call as far as it came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PartialInput {
    /// Text that must be JSON when the turn is whole; empty is `{}`.
    Text(String),
    /// An object, as canonical text.
    Whole(String),
}

/// A call as far as it came.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PartialCall {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) input: PartialInput,
}

/// A part as far as it came, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Text(String),
    Call(PartialCall),
    State(String),
}

/// Everything a response gave, before the table has judged it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Parts {
    pub(crate) parts: Vec<Part>,
    pub(crate) reason: Option<String>,
    /// A non-empty refusal text came (Chat).
    pub(crate) refusal: bool,
    /// The gateway's own word for the reason says that the turn was cut (Chat).
    pub(crate) native_truncation: bool,
    pub(crate) usage: Option<Usage>,
    pub(crate) origin: Origin,
    pub(crate) quirks: BTreeMap<String, u64>,
}

/// The two rows of the table for one raw reason.
fn row(protocol: Protocol, raw: &str, calls: usize, parts: &Parts) -> Result<(Status, Unified), Error> {
    let unknown = Error::new(match protocol {
        Protocol::Chat => Reason::FinishReasonUnknown,
        Protocol::Messages => Reason::StopReasonUnknown,
    });
    match (protocol, raw) {
        (Protocol::Chat, "tool_calls" | "stop" | "length" | "content_filter") if parts.refusal => {
            Ok((Status::Refused, Unified::Refusal))
        }
        (Protocol::Chat, "tool_calls") if parts.native_truncation => Ok((Status::Incomplete, Unified::Length)),
        (Protocol::Chat, "tool_calls") if calls == 0 => Err(Error::new(Reason::FinishToolCallsWithoutCalls)),
        (Protocol::Messages, "tool_use") if calls == 0 => Err(Error::new(Reason::StopToolUseWithoutCalls)),
        (Protocol::Chat, "tool_calls") | (Protocol::Messages, "tool_use") => {
            Ok((Status::ToolRequest, Unified::ToolCalls))
        }
        (Protocol::Chat, "stop") if calls > 0 => Err(Error::new(Reason::ToolCallsWithFinishStop)),
        (Protocol::Messages, "end_turn" | "stop_sequence") if calls > 0 => {
            Err(Error::new(Reason::ToolUseWithStopEndTurn))
        }
        (Protocol::Chat, "stop") | (Protocol::Messages, "end_turn" | "stop_sequence") => {
            Ok((Status::Reply, Unified::Stop))
        }
        (Protocol::Chat, "length") | (Protocol::Messages, "max_tokens" | "model_context_window_exceeded") => {
            Ok((Status::Incomplete, Unified::Length))
        }
        (Protocol::Messages, "pause_turn") => Ok((Status::Incomplete, Unified::Pause)),
        (Protocol::Chat, "content_filter") => Ok((Status::Refused, Unified::ContentFilter)),
        (Protocol::Messages, "refusal") => Ok((Status::Refused, Unified::Refusal)),
        (Protocol::Chat, "error") => Err(Error::new(Reason::ProviderError)),
        (Protocol::Chat, "function_call") => Err(Error::new(Reason::LegacyFunctionCall)),
        _ => Err(unknown),
    }
}

/// Judges a whole response. The raw reason decides before any call is looked at, so that a cut turn is `incomplete` and not a complaint
/// about its cut call.
pub(crate) fn seal(parts: Parts, depth: u64, wire_names: &BTreeMap<String, String>) -> Result<Turn, Error> {
    let protocol = parts.origin.protocol;
    let Some(raw) = parts.reason.clone() else {
        return Err(Error::new(match protocol {
            Protocol::Chat => Reason::FinishReasonMissing,
            Protocol::Messages => Reason::StopReasonMissing,
        }));
    };
    let seen = parts.parts.iter().filter(|part| matches!(part, Part::Call(_))).count();
    let (status, unified) = row(protocol, &raw, seen, &parts)?;
    let finish = Some(FinishReason { unified, raw });
    let runnable = status == Status::ToolRequest;
    let keeps_state = runnable || status == Status::Reply;
    let mut blocks = Vec::new();
    let mut pending = Vec::new();
    for part in parts.parts {
        match part {
            Part::Text(text) => blocks.push(Block::Text(text)),
            Part::State(json) if keeps_state => blocks.push(Block::State(StateBlock {
                protocol,
                model_profile: parts.origin.model_profile.clone(),
                model: parts.origin.asked.clone(),
                json,
            })),
            Part::Call(call) if runnable => {
                // Ids and names of all calls are judged before the input of any.
                pending.push((blocks.len(), call.input));
                let wire = call.name.unwrap_or_default();
                let name = wire_names.get(&wire).cloned().unwrap_or(wire);
                blocks.push(Block::Call(Call { id: call.id.unwrap_or_default(), name, input_json: String::new() }));
            }
            Part::State(_) | Part::Call(_) => {}
        }
    }
    let mut turn = Turn {
        status,
        blocks,
        finish,
        usage: parts.usage,
        origin: parts.origin,
        dropped_calls: if runnable { 0 } else { u64::try_from(seen).unwrap_or(u64::MAX) },
        quirks: parts.quirks,
        partial_text: String::new(),
        side: None,
    };
    check_ids(&turn.calls())?;
    for (position, (at, input)) in pending.into_iter().enumerate() {
        let input_json = input_text(input, depth).map_err(|error| error.at_call(position))?;
        if let Some(Block::Call(call)) = turn.blocks.get_mut(at) {
            call.input_json = input_json;
        }
    }
    Ok(turn)
}

fn input_text(input: PartialInput, depth: u64) -> Result<String, Error> {
    let text = match input {
        PartialInput::Whole(canonical) => return Ok(canonical),
        PartialInput::Text(text) if text.is_empty() => return Ok("{}".to_owned()),
        PartialInput::Text(mut text) => {
            // It grew by doubling, and its canonical form comes beside it.
            text.shrink_to_fit();
            text
        }
    };
    let wrong = |error: JsonError| {
        Error::new(match error.kind {
            JsonErrorKind::Syntax | JsonErrorKind::Utf8 => Reason::ToolArgumentsInvalid,
            JsonErrorKind::DuplicateKey => Reason::ToolArgumentsDuplicateKey,
            JsonErrorKind::TooDeep => Reason::ToolArgumentsTooDeep,
            JsonErrorKind::NumberRange => Reason::ToolArgumentsNumberRange,
        })
        .with_number("argument_offset", u64::try_from(error.offset).unwrap_or(u64::MAX))
    };
    let input = scan(&text, bounded_depth(depth)).map_err(wrong)?;
    if !matches!(input, Raw::Object(_)) {
        return Err(Error::new(Reason::ToolArgumentsNotObject));
    }
    let mut canonical = String::with_capacity(text.len());
    input.write_canonical(&mut canonical);
    Ok(canonical)
}
