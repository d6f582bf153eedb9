//! A whole Messages body.

use super::block::Block;
use crate::error::{Error, Reason};
use crate::json::Value;
use crate::provider::decoder::{invalid, look_for_error, text_member};
use crate::provider::finish::Parts;
use crate::provider::meter::Meter;
use crate::provider::{Protocol, Usage};
use crate::turn::Origin;

pub(crate) fn read_response(value: &Value<'_>, mut origin: Origin, meter: &mut Meter) -> Result<Parts, Error> {
    look_for_error(value)?;
    let object = value.as_object().ok_or_else(|| Error::new(Reason::ChunkNotObject))?;
    if object.get("object").and_then(Value::as_str) == Some("response") {
        return Err(Error::new(Reason::ResponsesApiShape));
    }
    if object.get("type").and_then(Value::as_str) == Some("error") {
        return Err(crate::provider::provider_error(value));
    }
    match object.get("role") {
        None => {}
        Some(Value::String(role)) if role == "assistant" => {}
        Some(_) => return Err(Error::new(Reason::RoleInvalid)),
    }
    let content = object.get("content").and_then(Value::as_array).ok_or_else(|| invalid("content"))?;
    let mut parts = Vec::new();
    for block in content {
        let block = block.as_object().ok_or_else(|| invalid("content[]"))?;
        parts.push(Block::open(block, true, meter)?.into_part());
    }
    let reason = match object.get("stop_reason") {
        None | Some(Value::Null) => None,
        Some(Value::String(raw)) => Some(raw.to_string()),
        Some(_) => return Err(Error::new(Reason::StopReasonUnknown)),
    };
    let usage = match object.get("usage") {
        None | Some(Value::Null) => None,
        Some(Value::Object(usage)) => Some(Usage::of_wire(Protocol::Messages, usage)?),
        Some(_) => return Err(invalid("usage")),
    };
    if let Some(model) = text_member(object.get("model"), "model")? {
        model.clone_into(&mut origin.model);
    }
    origin.response_id = text_member(object.get("id"), "id")?.map(str::to_owned);
    Ok(Parts { parts, reason, usage, origin, ..Parts::default() })
}
