//! The Messages stream table (S-15, S-19): `message_start`, blocks, `message_delta` with the reason, `message_stop`.

use super::block::Block;
use super::shape::{
    self, BLOCK, CONTENT, DELTA, ERROR, ID, INDEX, MESSAGE, MODEL, ROLE, START_USAGE, STOP_REASON, STREAM, Slots, TYPE,
    USAGE,
};
use crate::error::{Error, Reason};
use crate::json::{ENVELOPE_DEPTH, Object, Raw, Special, Value, canonical, scan, select_with};
use crate::provider::decoder::{DeltaKind, Flow, bounded_depth, check_text, invalid, json_error, look_for_error};
use crate::provider::finish::Parts;
use crate::provider::meter::{MAX_MEMBERS, Meter, ambiguous};
use crate::provider::{Protocol, Usage, provider_error};
use crate::turn::Origin;
use crate::wire::sse::SseEvent;
use std::borrow::Cow;

#[derive(Debug, Default)]
pub(crate) struct MessagesStream {
    started: bool,
    blocks: Vec<Block>,
    open: Vec<bool>,
    reason: Option<String>,
    usage: Option<Object<'static>>,
    model: Option<String>,
    response_id: Option<String>,
    /// An event of a block or message came without an event name, which some clients go by (S-25).
    nameless: bool,
}

impl MessagesStream {
    pub(crate) fn event(&mut self, event: SseEvent<'_>, meter: &mut Meter) -> Result<Flow, Error> {
        if event.data.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
            return Ok(Flow::Open);
        }
        let mut slots = shape::slots();
        let depth = bounded_depth(meter.limits.max_json_depth);
        let value =
            select_with(event.data, depth, &STREAM, &mut slots, &mut meter.room).map_err(|error| json_error(&error))?;
        look_for_error(slots[ERROR])?;
        if !matches!(value, Raw::Object(_)) {
            return Err(Error::new(Reason::ChunkNotObject));
        }
        let Some(kind) = slots[TYPE].text() else {
            return Err(invalid("type"));
        };
        // Before anything else that is wrong with the event: a failure of the provider outranks it (P-20).
        if kind == "error" {
            return Err(provider_error(value));
        }
        if kind.starts_with("response.") {
            return Err(Error::new(Reason::ResponsesApiShape));
        }
        if !event.event.is_empty() && event.event != kind {
            return Err(Error::new(Reason::EventTypeMismatch));
        }
        meter.keys_are_data(Special::None)?;
        self.nameless |= event.event.is_empty() && kind != "ping";
        match kind.as_ref() {
            "content_block_delta" => self.delta(&slots, meter)?,
            "ping" => {}
            "message_start" => self.start(&slots)?,
            "content_block_start" => self.open_block(&slots, meter)?,
            "content_block_stop" => self.stop_block(&slots)?,
            "message_delta" => self.message_delta(&slots)?,
            "message_stop" => return self.stop(),
            _ => meter.ignored_events = meter.ignored_events.saturating_add(1),
        }
        if self.nameless && meter.guarding && meter.has_calls() {
            meter.doubt(Err(ambiguous("event")));
        }
        Ok(Flow::Open)
    }

    fn start(&mut self, slots: &Slots<'_>) -> Result<(), Error> {
        if self.started {
            return Err(Error::new(Reason::DuplicateMessageStart));
        }
        if !matches!(slots[MESSAGE], Raw::Object(_)) {
            return Err(invalid("message"));
        }
        if !(slots[ROLE] == Raw::Absent || slots[ROLE].is_text("assistant")) {
            return Err(Error::new(Reason::RoleInvalid));
        }
        match slots[CONTENT] {
            Raw::Absent | Raw::Null | Raw::Array(_, 0) => {}
            Raw::Array(..) => return Err(Error::new(Reason::ContentInMessageStart)),
            _ => return Err(invalid("message.content")),
        }
        check_text(slots[MODEL], "message.model")?;
        check_text(slots[ID], "message.id")?;
        self.model = slots[MODEL].text().map(Cow::into_owned);
        self.response_id = slots[ID].text().map(Cow::into_owned);
        self.add_usage(slots[START_USAGE])?;
        self.started = true;
        Ok(())
    }

    /// A block event needs a started message without a reason; gives the block's index (S-19).
    fn index(&self, slots: &Slots<'_>) -> Result<usize, Error> {
        if !self.started {
            return Err(Error::new(Reason::EventBeforeMessageStart));
        }
        if self.reason.is_some() {
            return Err(Error::new(Reason::BlockAfterStopReason));
        }
        let index = slots[INDEX].as_u64().ok_or_else(|| Error::new(Reason::ToolCallIndexInvalid))?;
        Ok(usize::try_from(index).unwrap_or(usize::MAX))
    }

    fn open_block(&mut self, slots: &Slots<'_>, meter: &mut Meter) -> Result<(), Error> {
        let index = self.index(slots)?;
        if index < self.blocks.len() {
            return Err(Error::new(Reason::BlockIndexReused));
        }
        if index > self.blocks.len() {
            return Err(Error::new(Reason::BlockIndexGap));
        }
        if !matches!(slots[BLOCK], Raw::Object(_)) {
            return Err(invalid("content_block"));
        }
        let block = Block::open(slots[BLOCK], false, meter)?;
        if !block.text().is_empty() {
            meter.snapshot(DeltaKind::Text, index, block.text())?;
        }
        self.blocks.push(block);
        self.open.push(true);
        Ok(())
    }

    fn delta(&mut self, slots: &Slots<'_>, meter: &mut Meter) -> Result<(), Error> {
        let index = self.index(slots)?;
        let block = match (self.open.get(index), self.blocks.get_mut(index)) {
            (Some(true), Some(block)) => block,
            _ => return Err(Error::new(Reason::DeltaForUnopenedBlock)),
        };
        if !matches!(slots[DELTA], Raw::Object(_)) {
            return Err(invalid("delta"));
        }
        block.delta(slots, index, meter)
    }

    fn stop_block(&mut self, slots: &Slots<'_>) -> Result<(), Error> {
        let index = self.index(slots)?;
        match self.open.get_mut(index) {
            Some(open @ true) => {
                *open = false;
                Ok(())
            }
            _ => Err(Error::new(Reason::StopForUnopenedBlock)),
        }
    }

    fn message_delta(&mut self, slots: &Slots<'_>) -> Result<(), Error> {
        if !self.started {
            return Err(Error::new(Reason::EventBeforeMessageStart));
        }
        if !matches!(slots[DELTA], Raw::Object(_)) {
            return Err(invalid("delta"));
        }
        match (slots[STOP_REASON], &self.reason) {
            (Raw::Absent | Raw::Null, _) => {}
            (raw @ Raw::String(..), None) => self.reason = raw.text().map(Cow::into_owned),
            (raw, Some(bound)) if raw.is_text(bound) => {}
            (Raw::String(..), Some(_)) => return Err(Error::new(Reason::StopReasonConflict)),
            _ => return Err(Error::new(Reason::StopReasonUnknown)),
        }
        self.add_usage(slots[USAGE])
    }

    /// Usage is a running total: a later member replaces an earlier one, null says nothing.
    fn add_usage(&mut self, given: Raw<'_>) -> Result<(), Error> {
        match given {
            Raw::Absent | Raw::Null => return Ok(()),
            Raw::Object(_) => {}
            _ => return Err(invalid("usage")),
        }
        // Only what came is checked: work per event must not grow with what came before (S-08).
        Usage::check(Protocol::Messages, given)?;
        let kept = self.usage.get_or_insert_with(Object::default);
        for (name, value) in given.members().filter(|(_, value)| *value != Raw::Null) {
            kept.set(&name.text().unwrap_or_default(), value.value().into_owned());
        }
        if kept.len() > MAX_MEMBERS { Err(invalid("usage")) } else { Ok(()) }
    }

    fn usage(&self) -> Result<Option<Usage>, Error> {
        let Some(usage) = &self.usage else {
            return Ok(None);
        };
        let text = canonical(&Value::Object(usage.clone()));
        let raw = scan(&text, ENVELOPE_DEPTH).map_err(|_| invalid("usage"))?;
        Usage::of_wire(Protocol::Messages, raw).map(Some)
    }

    fn stop(&mut self) -> Result<Flow, Error> {
        if !self.started {
            return Err(Error::new(Reason::EventBeforeMessageStart));
        }
        if self.open.iter().any(|open| *open) {
            return Err(Error::new(Reason::MessageStopWithOpenBlocks));
        }
        match self.reason {
            Some(_) => Ok(Flow::Terminal),
            None => Err(Error::new(Reason::MessageStopWithoutStopReason)),
        }
    }

    pub(crate) fn call(&self, block: usize) -> Option<(String, String)> {
        self.blocks.get(block)?.named()
    }

    pub(crate) fn partial(&self) -> (String, Option<Usage>, u64) {
        let text = self.blocks.iter().map(Block::text).collect();
        let usage = self.usage().unwrap_or_default();
        let calls = self.blocks.iter().filter(|block| block.is_call()).count();
        (text, usage, u64::try_from(calls).unwrap_or(u64::MAX))
    }

    pub(crate) fn parts(&mut self, mut origin: Origin) -> Result<Parts, Error> {
        let usage = self.usage()?;
        origin.model = self.model.take().filter(|model| !model.is_empty()).unwrap_or(origin.model);
        origin.response_id = self.response_id.take();
        Ok(Parts {
            parts: std::mem::take(&mut self.blocks).into_iter().map(Block::into_part).collect(),
            reason: self.reason.take(),
            usage,
            origin,
            ..Parts::default()
        })
    }
}
