//! A whole Chat body (P-16).

use super::{Gathered, look_for_error};
use crate::error::{Error, Reason};
use crate::json::Value;
use crate::provider::decoder::invalid;
use crate::provider::finish::Parts;
use crate::provider::meter::Meter;
use crate::turn::Origin;

pub(crate) fn read_response(value: &Value<'_>, origin: Origin, meter: &mut Meter) -> Result<Parts, Error> {
    look_for_error(value)?;
    let object = value.as_object().ok_or_else(|| Error::new(Reason::ChunkNotObject))?;
    if object.get("object").and_then(Value::as_str) == Some("response") {
        return Err(Error::new(Reason::ResponsesApiShape));
    }
    let choices = match object.get("choices") {
        None | Some(Value::Null) => &[],
        Some(Value::Array(choices)) => choices.as_slice(),
        Some(_) => return Err(invalid("choices")),
    };
    let mut gathered = Gathered::default();
    let choice = gathered.choice(choices)?.ok_or_else(|| Error::new(Reason::ChoicesMissing))?;
    gathered.top(object)?;
    match choice.get("message") {
        Some(Value::Object(message)) => gathered.message(message, true, meter)?,
        _ => return Err(invalid("choices[0].message")),
    }
    gathered.finish_reason(choice)?;
    Ok(gathered.into_parts(origin))
}
