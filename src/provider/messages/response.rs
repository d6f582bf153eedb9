//! A whole Messages body.

use super::block::Block;
use super::shape::{self, BODY, CONTENT, ERROR, ID, MODEL, OBJECT, ROLE, STOP_REASON, TYPE, USAGE};
use crate::error::{Error, Reason};
use crate::json::{Raw, Special, select_with};
use crate::provider::decoder::{bounded_depth, check_text, invalid, json_error, look_for_error};
use crate::provider::finish::Parts;
use crate::provider::meter::Meter;
use crate::provider::{Protocol, Usage, provider_error};
use crate::turn::Origin;
use std::borrow::Cow;

pub(crate) fn read_response(text: &str, mut origin: Origin, meter: &mut Meter) -> Result<Parts, Error> {
    let mut slots = shape::slots();
    let depth = bounded_depth(meter.limits.max_json_depth);
    let value = select_with(text, depth, &BODY, &mut slots, &mut meter.room).map_err(|error| json_error(&error))?;
    look_for_error(slots[ERROR])?;
    if !matches!(value, Raw::Object(_)) {
        return Err(Error::new(Reason::ChunkNotObject));
    }
    if slots[TYPE].is_text("error") {
        return Err(provider_error(value));
    }
    if slots[OBJECT].is_text("response") {
        return Err(Error::new(Reason::ResponsesApiShape));
    }
    meter.keys_are_data(Special::Reserved)?;
    if !(slots[ROLE] == Raw::Absent || slots[ROLE].is_text("assistant")) {
        return Err(Error::new(Reason::RoleInvalid));
    }
    if !matches!(slots[CONTENT], Raw::Array(..)) {
        return Err(invalid("content"));
    }
    let mut parts = Vec::new();
    for block in slots[CONTENT].items() {
        if !matches!(block, Raw::Object(_)) {
            return Err(invalid("content[]"));
        }
        parts.push(Block::open(block, true, meter)?.into_part());
    }
    let reason = match slots[STOP_REASON] {
        Raw::Absent | Raw::Null => None,
        raw @ Raw::String(..) => raw.text().map(Cow::into_owned),
        _ => return Err(Error::new(Reason::StopReasonUnknown)),
    };
    let usage = match slots[USAGE] {
        Raw::Absent | Raw::Null => None,
        usage @ Raw::Object(_) => Some(Usage::of_wire(Protocol::Messages, usage)?),
        _ => return Err(invalid("usage")),
    };
    check_text(slots[MODEL], "model")?;
    check_text(slots[ID], "id")?;
    if let Some(model) = slots[MODEL].text() {
        origin.model = model.into_owned();
    }
    origin.response_id = slots[ID].text().map(Cow::into_owned);
    Ok(Parts { parts, reason, usage, origin, ..Parts::default() })
}
