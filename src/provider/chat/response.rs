//! A whole Chat body (P-16).

use super::shape::{self, BODY, MESSAGE, OBJECT};
use super::{Gathered, look_for_failure};
use crate::error::{Error, Reason};
use crate::json::{Raw, Special, select_with};
use crate::provider::decoder::{bounded_depth, invalid, json_error};
use crate::provider::finish::Parts;
use crate::provider::meter::Meter;
use crate::provider::quirks::Quirks;
use crate::turn::Origin;

pub(crate) fn read_response(text: &str, origin: Origin, quirks: Quirks, meter: &mut Meter) -> Result<Parts, Error> {
    let mut slots = shape::slots();
    let depth = bounded_depth(meter.limits.max_json_depth);
    let value = select_with(text, depth, &BODY, &mut slots, &mut meter.room).map_err(|error| json_error(&error))?;
    look_for_failure(&slots)?;
    if !matches!(value, Raw::Object(_)) {
        return Err(Error::new(Reason::ChunkNotObject));
    }
    if slots[OBJECT].is_text("response") {
        return Err(Error::new(Reason::ResponsesApiShape));
    }
    meter.keys_are_data(Special::Reserved)?;
    let mut gathered = Gathered::new(quirks);
    if !Gathered::has_choice(&slots)? {
        return Err(Error::new(Reason::ChoicesMissing));
    }
    gathered.top(&slots)?;
    match slots[MESSAGE] {
        Raw::Object(_) => gathered.message(&slots, true, meter)?,
        _ => return Err(invalid("choices[0].message")),
    }
    gathered.finish_reason(&slots)?;
    gathered.into_parts(origin)
}
