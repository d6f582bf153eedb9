//! The Chat stream table (S-14, S-18): deltas, a reason, `[DONE]`.

use super::alike;
use super::shape::{self, MESSAGE, OBJECT, STREAM, TYPE};
use super::{Gathered, look_for_error, look_for_failure};
use crate::error::{Error, Reason};
use crate::json::{Raw, Special, scan, select_with};
use crate::provider::decoder::{Flow, bounded_depth, invalid, json_error};
use crate::provider::finish::Parts;
use crate::provider::meter::Meter;
use crate::provider::quirks::{MISSING_DONE, Quirks, count};
use crate::provider::{Usage, provider_error};
use crate::turn::Origin;
use crate::wire::sse::SseEvent;

#[derive(Debug)]
pub(crate) struct ChatStream {
    gathered: Gathered,
}

impl ChatStream {
    pub(crate) fn new(quirks: Quirks) -> ChatStream {
        ChatStream { gathered: Gathered::new(quirks) }
    }

    pub(crate) fn event(&mut self, event: SseEvent<'_>, meter: &mut Meter) -> Result<Flow, Error> {
        let depth = bounded_depth(meter.limits.max_json_depth);
        // Whatever it carries, an event of that name is the provider's failure.
        if event.event == "error" {
            let value = scan(event.data, depth).unwrap_or_default();
            look_for_error(value.get("error"))?;
            return Err(provider_error(value));
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
        let mut slots = shape::slots();
        let value =
            select_with(event.data, depth, &STREAM, &mut slots, &mut meter.room).map_err(|error| json_error(&error))?;
        look_for_failure(&slots)?;
        if !matches!(value, Raw::Object(_)) {
            return Err(Error::new(Reason::ChunkNotObject));
        }
        if slots[TYPE].starts_with("response.") || slots[OBJECT].is_text("response") {
            return Err(Error::new(Reason::ResponsesApiShape));
        }
        meter.keys_are_data(Special::None)?;
        let has_choice = Gathered::has_choice(&slots)?;
        if has_choice && meter.guarding {
            meter.doubt(alike::check(&event, value, &slots, meter));
        }
        self.gathered.top(&slots)?;
        if !has_choice {
            return Ok(Flow::Open);
        }
        match slots[MESSAGE] {
            Raw::Absent | Raw::Null => {}
            Raw::Object(_) => self.gathered.message(&slots, false, meter)?,
            _ => return Err(invalid("choices[0].delta")),
        }
        self.gathered.finish_reason(&slots)?;
        Ok(Flow::Open)
    }

    /// At the natural end without `[DONE]`: an error, or what a profile makes of it.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        match self.gathered.reason {
            Some(_) if self.gathered.quirks.missing_done => {
                count(&mut self.gathered.counted, MISSING_DONE);
                Ok(())
            }
            _ => Err(self.cut()),
        }
    }

    /// The end inside of something.
    pub(crate) fn cut(&self) -> Error {
        Error::new(if self.gathered.reason.is_some() { Reason::EofWithoutDone } else { Reason::EofWithoutFinish })
    }

    pub(crate) fn call(&self, block: usize) -> Option<(String, String)> {
        match self.gathered.order.get(block)? {
            super::Slot::Call(position) => self.gathered.calls.named(*position),
            _ => None,
        }
    }

    pub(crate) fn partial(&self) -> (String, Option<Usage>, u64) {
        (self.gathered.text.clone(), self.gathered.usage().unwrap_or_default(), self.gathered.calls.count())
    }

    pub(crate) fn parts(&mut self, origin: Origin) -> Result<Parts, Error> {
        std::mem::take(&mut self.gathered).into_parts(origin)
    }
}
