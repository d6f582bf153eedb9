//! The Chat stream table (S-14, S-18): deltas, a reason, `[DONE]`.

use super::{Gathered, look_for_error};
use crate::error::{Error, Reason};
use crate::json::Value;
use crate::provider::Usage;
use crate::provider::decoder::{Flow, invalid, payload};
use crate::provider::finish::Parts;
use crate::provider::meter::Meter;
use crate::turn::Origin;
use crate::wire::sse::SseEvent;

#[derive(Debug, Default)]
pub(crate) struct ChatStream {
    gathered: Gathered,
}

impl ChatStream {
    pub(crate) fn event(&mut self, event: SseEvent<'_>, meter: &mut Meter) -> Result<Flow, Error> {
        // Whatever it carries, an event of that name is the provider's failure.
        if event.event == "error" {
            let value = payload(event.data, meter.limits.max_json_depth).unwrap_or(Value::Null);
            look_for_error(&value)?;
            return Err(crate::provider::provider_error(&value));
        }
        let data = event.data.trim_matches([' ', '\t', '\r', '\n']);
        if data.is_empty() {
            return Ok(Flow::Open);
        }
        if data == "[DONE]" {
            return match self.gathered.reason {
                Some(_) => Ok(Flow::Terminal),
                None => Err(Error::new(Reason::DoneBeforeFinish)),
            };
        }
        let value = payload(event.data, meter.limits.max_json_depth)?;
        look_for_error(&value)?;
        let object = value.as_object().ok_or_else(|| Error::new(Reason::ChunkNotObject))?;
        let named = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or("");
        if named("type").starts_with("response.") || named("object") == "response" {
            return Err(Error::new(Reason::ResponsesApiShape));
        }
        let choices = match object.get("choices") {
            None | Some(Value::Null) => &[],
            Some(Value::Array(choices)) => choices.as_slice(),
            Some(_) => return Err(invalid("choices")),
        };
        let choice = self.gathered.choice(choices)?;
        self.gathered.top(object)?;
        let Some(choice) = choice else {
            return Ok(Flow::Open);
        };
        match choice.get("delta") {
            None | Some(Value::Null) => {}
            Some(Value::Object(delta)) => self.gathered.message(delta, false, meter)?,
            Some(_) => return Err(invalid("choices[0].delta")),
        }
        self.gathered.finish_reason(choice)?;
        Ok(Flow::Open)
    }

    pub(crate) fn truncated(&self) -> Error {
        Error::new(if self.gathered.reason.is_some() { Reason::EofWithoutDone } else { Reason::EofWithoutFinish })
    }

    pub(crate) fn call(&self, block: usize) -> Option<(String, String)> {
        match self.gathered.order.get(block)? {
            super::Slot::Call(position) => self.gathered.calls.named(*position),
            _ => None,
        }
    }

    pub(crate) fn partial(&self) -> (String, Option<Usage>, u64) {
        (self.gathered.text.clone(), self.gathered.usage.clone(), self.gathered.calls.count())
    }

    pub(crate) fn parts(&mut self, origin: Origin) -> Result<Parts, Error> {
        Ok(std::mem::take(&mut self.gathered).into_parts(origin))
    }
}
