//! Chat Completions-style responses (P-04, P-11, P-16, P-18, S-14, S-17, S-18). Messages of bodies and deltas of streams go through the
//! same readers, so that both obey the same table.

mod alike;
mod calls;
mod reasoning;
mod response;
mod shape;
mod stream;

pub(crate) use response::read_response;
pub(crate) use stream::ChatStream;

use super::decoder::{DeltaKind, check_text, invalid, look_for_error};
use super::finish::{Part, PartialCall, PartialInput, Parts};
use super::meter::Meter;
use super::quirks::Quirks;
use super::{Protocol, Usage};
use crate::error::{Error, Reason};
use crate::json::{MAX_DEPTH, Raw, scan, select};
use crate::turn::Origin;
use calls::Calls;
use reasoning::Reasoning;
use shape::{
    CALL, CALL_SHAPE, CALLS, CHOICE, CHOICE_ERROR, CHOICES, CONTENT, ERROR, FINISH, FUNCTION_CALL, ID, INDEX, MODEL,
    NATIVE_FINISH, REFUSAL, ROLE, Slots, USAGE,
};
use std::borrow::Cow;
use std::collections::BTreeMap;

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
    /// The text of the last usage object.
    usage: Option<String>,
    model: Option<String>,
    response_id: Option<String>,
    quirks: Quirks,
    /// How often each normalisation was needed.
    counted: BTreeMap<String, u64>,
}

/// A failure of the provider outranks whatever else is wrong with the event that tells it (P-20): an error object at the top or in any
/// choice, or the reason `error`.
fn look_for_failure(slots: &Slots<'_>) -> Result<(), Error> {
    let of_choice = |error: Raw<'_>, reason: Raw<'_>| {
        look_for_error(error)?;
        if reason.is_text("error") { Err(Error::new(Reason::ProviderError)) } else { Ok(()) }
    };
    look_for_error(slots[ERROR])?;
    of_choice(slots[CHOICE_ERROR], slots[FINISH])?;
    match slots[CHOICES] {
        // The slots hold the first choice; more of them are an error of their own.
        choices @ Raw::Array(_, 2..) => {
            choices.items().try_for_each(|choice| of_choice(choice.get("error"), choice.get("finish_reason")))
        }
        _ => Ok(()),
    }
}

fn late() -> Error {
    Error::new(Reason::DeltaAfterFinish)
}

impl Gathered {
    fn new(quirks: Quirks) -> Gathered {
        Gathered { quirks, ..Gathered::default() }
    }

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
    fn top(&mut self, slots: &Slots<'_>) -> Result<(), Error> {
        // Chunk ids and models vary within a stream; the first that says something stands.
        for (name, given, kept) in [("model", slots[MODEL], &mut self.model), ("id", slots[ID], &mut self.response_id)]
        {
            check_text(given, name)?;
            if kept.is_none() {
                *kept = given.text().filter(|text| !text.is_empty()).map(Cow::into_owned);
            }
        }
        match slots[USAGE] {
            Raw::Absent | Raw::Null => {}
            usage @ Raw::Object(text) => {
                // Only what came is checked, and only the last is read as a whole: work per event must not grow (S-08).
                Usage::check(Protocol::Chat, usage)?;
                let kept = self.usage.get_or_insert_with(String::new);
                kept.clear();
                kept.push_str(text);
            }
            _ => return Err(invalid("usage")),
        }
        Ok(())
    }

    /// Whether there is a choice; the one there is has its index checked (P-16).
    fn has_choice(slots: &Slots<'_>) -> Result<bool, Error> {
        match slots[CHOICES] {
            Raw::Absent | Raw::Null | Raw::Array(_, 0) => return Ok(false),
            Raw::Array(_, 1) => {}
            Raw::Array(..) => return Err(Error::new(Reason::UnexpectedChoice)),
            _ => return Err(invalid("choices")),
        }
        if !matches!(slots[CHOICE], Raw::Object(_)) {
            return Err(invalid("choices[0]"));
        }
        if !slots[INDEX].is_none() && slots[INDEX].as_u64() != Some(0) {
            return Err(Error::new(Reason::UnexpectedChoice));
        }
        Ok(true)
    }

    /// A delta of a stream, or the message of a body.
    fn message(&mut self, slots: &Slots<'_>, whole: bool, meter: &mut Meter) -> Result<(), Error> {
        let role = slots[ROLE];
        if !(role.is_none() || role.is_text("") || role.is_text("assistant")) {
            return Err(Error::new(Reason::RoleInvalid));
        }
        if !slots[FUNCTION_CALL].is_none() {
            return Err(Error::new(Reason::LegacyFunctionCall));
        }
        // After the reason only empty deltas are legal (S-18); a body gives its reason beside its message.
        let sealed = self.reason.is_some() && !whole;
        check_text(slots[REFUSAL], "refusal")?;
        let refusal = !slots[REFUSAL].is_none() && !slots[REFUSAL].is_text("");
        if refusal && sealed {
            return Err(late());
        }
        self.refusal |= refusal;
        if self.reasoning.read(slots, sealed, meter)? {
            let block = self.block(Slot::State, meter)?;
            self.reasoning.announce(block, meter)?;
        }
        match slots[CONTENT] {
            Raw::Absent | Raw::Null => {}
            text @ Raw::String(..) => self.text(text, sealed, meter)?,
            parts @ Raw::Array(..) => {
                for part in parts.items() {
                    self.content_part(part, sealed, meter)?;
                }
            }
            _ => return Err(invalid("content")),
        }
        match slots[CALLS] {
            Raw::Absent | Raw::Null | Raw::Array(_, 0) => {}
            Raw::Array(..) if sealed => return Err(late()),
            Raw::Array(_, 1) => self.call(slots, whole, meter)?,
            items @ Raw::Array(..) => {
                for item in items.items() {
                    let mut one = shape::slots();
                    one[CALL] = item;
                    if let Raw::Object(text) = item {
                        // It has been checked as part of its event.
                        select(text, MAX_DEPTH, &CALL_SHAPE, &mut one).map_err(|_| Error::new(Reason::Internal))?;
                    }
                    self.call(&one, whole, meter)?;
                }
            }
            _ => return Err(invalid("tool_calls")),
        }
        Ok(())
    }

    fn text(&mut self, given: Raw<'_>, sealed: bool, meter: &mut Meter) -> Result<(), Error> {
        if given.is_text("") {
            return Ok(());
        }
        if sealed {
            return Err(late());
        }
        let block = self.block(Slot::Text, meter)?;
        meter.snapshot(DeltaKind::Text, block, given.append_to(&mut self.text))
    }

    fn content_part(&mut self, part: Raw<'_>, sealed: bool, meter: &mut Meter) -> Result<(), Error> {
        if !matches!(part, Raw::Object(_)) {
            return Err(invalid("content[]"));
        }
        match part.get("type") {
            kind if kind.is_text("text") => match part.get("text") {
                text @ Raw::String(..) => self.text(text, sealed, meter),
                _ => Err(invalid("content[].text")),
            },
            Raw::String(..) => {
                if sealed {
                    return Err(late());
                }
                let block = self.block(Slot::State, meter)?;
                meter.block()?;
                meter.state(part)?;
                self.reasoning.part(part);
                meter.state_snapshot(block, 0)
            }
            _ => Err(invalid("content[].type")),
        }
    }

    fn call(&mut self, slots: &Slots<'_>, whole: bool, meter: &mut Meter) -> Result<(), Error> {
        let fragment = calls::Fragment::read(slots, self.quirks, &mut self.counted)?;
        let position = if whole {
            self.calls.place(&fragment, self.quirks, &mut self.counted)?
        } else {
            self.calls.owner(&fragment, self.quirks, &mut self.counted)?
        };
        if meter.guarding && !whole {
            meter.doubt(self.calls.read_alike(&fragment, position));
        }
        let extra = fragment.extra(meter)?;
        let block = self.block(Slot::Call(position), meter)?;
        let mut canonical = None;
        match fragment.arguments {
            object @ Raw::Object(_) => {
                // Only a profile lets an object come here; its canonical text stands for the arguments.
                let text = canonical.insert(String::new());
                object.write_canonical_within(text, meter.argument_room());
                meter.arguments(text)?;
            }
            text => meter.arguments_fit(text)?,
        }
        let added = self.calls.add(position, &fragment, canonical.as_deref(), extra)?;
        if canonical.is_none() {
            meter.arguments(added)?;
        }
        if !added.is_empty() {
            meter.snapshot(DeltaKind::ToolInput, block, added)?;
        }
        Ok(())
    }

    fn finish_reason(&mut self, slots: &Slots<'_>) -> Result<(), Error> {
        let native = slots[NATIVE_FINISH];
        check_text(native, "choices[0].native_finish_reason")?;
        self.native_truncation |=
            ["length", "max_tokens", "max_output_tokens", "MAX_TOKENS"].iter().any(|word| native.is_text(word));
        let raw = match slots[FINISH] {
            Raw::Absent | Raw::Null | Raw::String("", _) => return Ok(()),
            given @ Raw::String(..) => given,
            _ => return Err(Error::new(Reason::FinishReasonUnknown)),
        };
        match &self.reason {
            None => self.reason = raw.text().map(Cow::into_owned),
            Some(bound) if raw.is_text(bound) => {}
            Some(_) => return Err(Error::new(Reason::FinishReasonConflict)),
        }
        Ok(())
    }

    fn usage(&self) -> Result<Option<Usage>, Error> {
        let Some(text) = &self.usage else {
            return Ok(None);
        };
        let raw = scan(text, MAX_DEPTH).map_err(|_| Error::new(Reason::Internal))?;
        Usage::of_wire(Protocol::Chat, raw).map(Some)
    }

    fn into_parts(self, mut origin: Origin) -> Result<Parts, Error> {
        let usage = self.usage()?;
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
        Ok(Parts {
            parts,
            reason: self.reason,
            refusal: self.refusal,
            native_truncation: self.native_truncation,
            usage,
            origin,
            quirks: self.counted,
        })
    }
}

fn empty_call() -> PartialCall {
    PartialCall { id: None, name: None, input: PartialInput::Text(String::new()) }
}
