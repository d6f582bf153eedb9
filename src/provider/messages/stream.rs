//! The Messages stream table (S-15, S-19): `message_start`, blocks, `message_delta` with the reason, `message_stop`.

use super::block::Block;
use crate::error::{Error, Reason};
use crate::json::{Object, Value};
use crate::provider::decoder::{DeltaKind, Flow, invalid, look_for_error, payload, text_member};
use crate::provider::finish::Parts;
use crate::provider::meter::{MAX_MEMBERS, Meter};
use crate::provider::{Protocol, Usage};
use crate::turn::Origin;
use crate::wire::sse::SseEvent;

#[derive(Debug, Default)]
pub(crate) struct MessagesStream {
    started: bool,
    blocks: Vec<Block>,
    open: Vec<bool>,
    reason: Option<String>,
    usage: Option<Object<'static>>,
    model: Option<String>,
    response_id: Option<String>,
}

impl MessagesStream {
    pub(crate) fn event(&mut self, event: SseEvent<'_>, meter: &mut Meter) -> Result<Flow, Error> {
        if event.data.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
            return Ok(Flow::Open);
        }
        let value = payload(event.data, meter.limits.max_json_depth)?;
        look_for_error(&value)?;
        let object = value.as_object().ok_or_else(|| Error::new(Reason::ChunkNotObject))?;
        let kind = match object.get("type") {
            Some(Value::String(kind)) => kind.as_ref(),
            _ => return Err(invalid("type")),
        };
        if kind.starts_with("response.") {
            return Err(Error::new(Reason::ResponsesApiShape));
        }
        if !event.event.is_empty() && event.event != kind {
            return Err(Error::new(Reason::EventTypeMismatch));
        }
        match kind {
            "ping" => {}
            "error" => return Err(crate::provider::provider_error(&value)),
            "message_start" => self.start(object)?,
            "content_block_start" => self.open_block(object, meter)?,
            "content_block_delta" => self.delta(object, meter)?,
            "content_block_stop" => self.stop_block(object)?,
            "message_delta" => self.message_delta(object)?,
            "message_stop" => return self.stop(),
            _ => meter.ignored_events = meter.ignored_events.saturating_add(1),
        }
        Ok(Flow::Open)
    }

    fn start(&mut self, object: &Object<'_>) -> Result<(), Error> {
        if self.started {
            return Err(Error::new(Reason::DuplicateMessageStart));
        }
        let message = object.get("message").and_then(Value::as_object).ok_or_else(|| invalid("message"))?;
        match message.get("role") {
            None => {}
            Some(Value::String(role)) if role == "assistant" => {}
            Some(_) => return Err(Error::new(Reason::RoleInvalid)),
        }
        match message.get("content") {
            None | Some(Value::Null) => {}
            Some(Value::Array(content)) if content.is_empty() => {}
            Some(Value::Array(_)) => return Err(Error::new(Reason::ContentInMessageStart)),
            Some(_) => return Err(invalid("message.content")),
        }
        self.model = text_member(message.get("model"), "message.model")?.map(str::to_owned);
        self.response_id = text_member(message.get("id"), "message.id")?.map(str::to_owned);
        self.add_usage(message.get("usage"))?;
        self.started = true;
        Ok(())
    }

    /// A block event needs a started message without a reason; gives the block's index (S-19).
    fn index(&self, object: &Object<'_>) -> Result<usize, Error> {
        if !self.started {
            return Err(Error::new(Reason::EventBeforeMessageStart));
        }
        if self.reason.is_some() {
            return Err(Error::new(Reason::BlockAfterStopReason));
        }
        let index =
            object.get("index").and_then(Value::as_u64).ok_or_else(|| Error::new(Reason::ToolCallIndexInvalid))?;
        Ok(usize::try_from(index).unwrap_or(usize::MAX))
    }

    fn open_block(&mut self, object: &Object<'_>, meter: &mut Meter) -> Result<(), Error> {
        let index = self.index(object)?;
        if index < self.blocks.len() {
            return Err(Error::new(Reason::BlockIndexReused));
        }
        if index > self.blocks.len() {
            return Err(Error::new(Reason::BlockIndexGap));
        }
        let start = object.get("content_block").and_then(Value::as_object).ok_or_else(|| invalid("content_block"))?;
        let block = Block::open(start, false, meter)?;
        if !block.text().is_empty() {
            meter.snapshot(DeltaKind::Text, index, block.text())?;
        }
        self.blocks.push(block);
        self.open.push(true);
        Ok(())
    }

    fn delta(&mut self, object: &Object<'_>, meter: &mut Meter) -> Result<(), Error> {
        let index = self.index(object)?;
        let block = match (self.open.get(index), self.blocks.get_mut(index)) {
            (Some(true), Some(block)) => block,
            _ => return Err(Error::new(Reason::DeltaForUnopenedBlock)),
        };
        let delta = object.get("delta").and_then(Value::as_object).ok_or_else(|| invalid("delta"))?;
        block.delta(delta, index, meter)
    }

    fn stop_block(&mut self, object: &Object<'_>) -> Result<(), Error> {
        let index = self.index(object)?;
        match self.open.get_mut(index) {
            Some(open @ true) => {
                *open = false;
                Ok(())
            }
            _ => Err(Error::new(Reason::StopForUnopenedBlock)),
        }
    }

    fn message_delta(&mut self, object: &Object<'_>) -> Result<(), Error> {
        if !self.started {
            return Err(Error::new(Reason::EventBeforeMessageStart));
        }
        let delta = object.get("delta").and_then(Value::as_object).ok_or_else(|| invalid("delta"))?;
        match (delta.get("stop_reason"), &self.reason) {
            (None | Some(Value::Null), _) => {}
            (Some(Value::String(raw)), None) => self.reason = Some(raw.to_string()),
            (Some(Value::String(raw)), Some(bound)) if bound == raw => {}
            (Some(Value::String(_)), Some(_)) => return Err(Error::new(Reason::StopReasonConflict)),
            (Some(_), _) => return Err(Error::new(Reason::StopReasonUnknown)),
        }
        self.add_usage(object.get("usage"))
    }

    /// Usage is a running total: a later member replaces an earlier one, null says nothing.
    fn add_usage(&mut self, usage: Option<&Value<'_>>) -> Result<(), Error> {
        let given = match usage {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Object(given)) => given,
            Some(_) => return Err(invalid("usage")),
        };
        // Only what came is checked: work per event must not grow with what came before (S-08).
        Usage::of_wire(Protocol::Messages, given)?;
        let kept = self.usage.get_or_insert_with(Object::default);
        for (name, value) in given.iter().filter(|(_, value)| !value.is_null()) {
            kept.set(name, value.clone().into_owned());
        }
        if kept.len() > MAX_MEMBERS { Err(invalid("usage")) } else { Ok(()) }
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
        let usage = self.usage.as_ref().and_then(|usage| Usage::of_wire(Protocol::Messages, usage).ok());
        let calls = self.blocks.iter().filter(|block| block.is_call()).count();
        (text, usage, u64::try_from(calls).unwrap_or(u64::MAX))
    }

    pub(crate) fn parts(&mut self, mut origin: Origin) -> Result<Parts, Error> {
        let usage = match &self.usage {
            Some(usage) => Some(Usage::of_wire(Protocol::Messages, usage)?),
            None => None,
        };
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
