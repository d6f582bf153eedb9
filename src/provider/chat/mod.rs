//! Chat Completions-style responses (P-04, P-11, P-16, P-18, S-14, S-17, S-18). Messages of bodies and deltas of streams go through the
//! same readers, so that both obey the same table.

mod calls;
mod reasoning;
mod response;
mod stream;

pub(crate) use response::read_response;
pub(crate) use stream::ChatStream;

use super::decoder::{DeltaKind, invalid, look_for_error, text_member};
use super::finish::{Part, PartialCall, PartialInput, Parts};
use super::meter::Meter;
use super::{Protocol, Usage};
use crate::error::{Error, Reason};
use crate::json::{Object, Value};
use crate::turn::Origin;
use calls::Calls;
use reasoning::Reasoning;

/// Where a block stands in the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    State,
    Text,
    Call(usize),
}

/// What a Chat response gave so far.
#[derive(Debug, Default)]
struct Gathered {
    order: Vec<Slot>,
    text: String,
    refusal: bool,
    reasoning: Reasoning,
    calls: Calls,
    reason: Option<String>,
    native_truncation: bool,
    usage: Option<Usage>,
    model: Option<String>,
    response_id: Option<String>,
}

impl Gathered {
    fn block(&mut self, slot: Slot, meter: &mut Meter) -> Result<usize, Error> {
        if let Some(at) = self.order.iter().position(|one| *one == slot) {
            return Ok(at);
        }
        match slot {
            Slot::Call(_) => meter.call()?,
            Slot::State | Slot::Text => meter.block()?,
        }
        self.order.push(slot);
        Ok(self.order.len().saturating_sub(1))
    }

    /// Members that stand at the top of a chunk and of a body.
    fn top(&mut self, object: &Object<'_>) -> Result<(), Error> {
        // Chunk ids and models vary within a stream; the first that says something stands.
        for (name, kept) in [("model", &mut self.model), ("id", &mut self.response_id)] {
            let given = text_member(object.get(name), name)?.filter(|text| !text.is_empty());
            if kept.is_none() {
                *kept = given.map(str::to_owned);
            }
        }
        match object.get("usage") {
            None | Some(Value::Null) => {}
            Some(Value::Object(usage)) => self.usage = Some(Usage::of_wire(Protocol::Chat, usage)?),
            Some(_) => return Err(invalid("usage")),
        }
        Ok(())
    }

    /// The one choice, its index checked (P-16).
    fn choice<'v, 'a>(&self, choices: &'v [Value<'a>]) -> Result<Option<&'v Object<'a>>, Error> {
        if choices.len() > 1 {
            return Err(Error::new(Reason::UnexpectedChoice));
        }
        let Some(choice) = choices.first() else {
            return Ok(None);
        };
        let object = choice.as_object().ok_or_else(|| invalid("choices[0]"))?;
        match object.get("index") {
            None | Some(Value::Null) => {}
            Some(index) if index.as_u64() == Some(0) => {}
            Some(_) => return Err(Error::new(Reason::UnexpectedChoice)),
        }
        look_for_error(choice)?;
        Ok(Some(object))
    }

    /// A delta of a stream, or the message of a body.
    fn message(&mut self, object: &Object<'_>, whole: bool, meter: &mut Meter) -> Result<(), Error> {
        match object.get("role") {
            None | Some(Value::Null) => {}
            Some(Value::String(role)) if role.is_empty() || role == "assistant" => {}
            Some(_) => return Err(Error::new(Reason::RoleInvalid)),
        }
        if !matches!(object.get("function_call"), None | Some(Value::Null)) {
            return Err(Error::new(Reason::LegacyFunctionCall));
        }
        // After the reason only empty deltas are legal (S-18); a body gives its reason beside its message.
        let sealed = self.reason.is_some() && !whole;
        let late = || Error::new(Reason::DeltaAfterFinish);
        let refusal = text_member(object.get("refusal"), "refusal")?.is_some_and(|text| !text.is_empty());
        if refusal && sealed {
            return Err(late());
        }
        self.refusal |= refusal;
        if self.reasoning.read(object, sealed, meter)? {
            let block = self.block(Slot::State, meter)?;
            self.reasoning.announce(block, meter)?;
        }
        match object.get("content") {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => self.text(text, sealed, meter)?,
            Some(Value::Array(parts)) => {
                for part in parts {
                    self.content_part(part, sealed, meter)?;
                }
            }
            Some(_) => return Err(invalid("content")),
        }
        match object.get("tool_calls") {
            None | Some(Value::Null) => {}
            Some(Value::Array(items)) => {
                if sealed && !items.is_empty() {
                    return Err(late());
                }
                for item in items {
                    self.call(item, whole, meter)?;
                }
            }
            Some(_) => return Err(invalid("tool_calls")),
        }
        Ok(())
    }

    fn text(&mut self, text: &str, sealed: bool, meter: &mut Meter) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        if sealed {
            return Err(Error::new(Reason::DeltaAfterFinish));
        }
        let block = self.block(Slot::Text, meter)?;
        meter.snapshot(DeltaKind::Text, block, text)?;
        self.text.push_str(text);
        Ok(())
    }

    fn content_part(&mut self, part: &Value<'_>, sealed: bool, meter: &mut Meter) -> Result<(), Error> {
        let object = part.as_object().ok_or_else(|| invalid("content[]"))?;
        match object.get("type") {
            Some(Value::String(kind)) if kind == "text" => match object.get("text") {
                Some(Value::String(text)) => self.text(text, sealed, meter),
                _ => Err(invalid("content[].text")),
            },
            Some(Value::String(_)) => {
                if sealed {
                    return Err(Error::new(Reason::DeltaAfterFinish));
                }
                let block = self.block(Slot::State, meter)?;
                meter.block()?;
                meter.state(object)?;
                self.reasoning.part(part);
                meter.state_snapshot(block, 0)
            }
            _ => Err(invalid("content[].type")),
        }
    }

    fn call(&mut self, item: &Value<'_>, whole: bool, meter: &mut Meter) -> Result<(), Error> {
        let object = item.as_object().ok_or_else(|| invalid("tool_calls[]"))?;
        let fragment = calls::Fragment::read(object)?;
        let position = if whole { self.calls.place(&fragment)? } else { self.calls.owner(&fragment)? };
        meter.state(&fragment.extra)?;
        let block = self.block(Slot::Call(position), meter)?;
        meter.arguments(fragment.arguments)?;
        self.calls.add(position, &fragment)?;
        if !fragment.arguments.is_empty() {
            meter.snapshot(DeltaKind::ToolInput, block, fragment.arguments)?;
        }
        Ok(())
    }

    fn finish_reason(&mut self, choice: &Object<'_>) -> Result<(), Error> {
        let native = text_member(choice.get("native_finish_reason"), "choices[0].native_finish_reason")?;
        self.native_truncation |= matches!(native, Some("length" | "max_tokens" | "max_output_tokens" | "MAX_TOKENS"));
        let raw = match choice.get("finish_reason") {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::String(raw)) if raw.is_empty() => return Ok(()),
            Some(Value::String(raw)) => raw,
            Some(_) => return Err(Error::new(Reason::FinishReasonUnknown)),
        };
        if raw == "error" {
            return Err(Error::new(Reason::ProviderError));
        }
        match &self.reason {
            None => self.reason = Some(raw.to_string()),
            Some(bound) if bound == raw => {}
            Some(_) => return Err(Error::new(Reason::FinishReasonConflict)),
        }
        Ok(())
    }

    fn into_parts(self, mut origin: Origin) -> Parts {
        origin.model = self.model.unwrap_or(origin.model);
        origin.response_id = self.response_id;
        let state = self.reasoning.into_json(self.calls.extras());
        let mut text = Some(self.text);
        let mut calls: Vec<Option<PartialCall>> = self.calls.into_partial().into_iter().map(Some).collect();
        let mut parts = Vec::new();
        let mut has_state = false;
        for slot in self.order {
            match slot {
                Slot::State => {
                    has_state = true;
                    parts.extend(state.clone().map(Part::State));
                }
                Slot::Text => parts.extend(text.take().map(Part::Text)),
                Slot::Call(at) => parts.extend(calls.get_mut(at).and_then(Option::take).map(Part::Call)),
            }
        }
        if !has_state {
            // Members of calls that are the provider's own, or an empty `reasoning_content` that must go back.
            parts.splice(0..0, state.map(Part::State));
        }
        Parts {
            parts,
            reason: self.reason,
            refusal: self.refusal,
            native_truncation: self.native_truncation,
            usage: self.usage,
            origin,
            quirks: std::collections::BTreeMap::new(),
        }
    }
}

fn empty_call() -> PartialCall {
    PartialCall { id: None, name: None, input: PartialInput::Text(String::new()) }
}
