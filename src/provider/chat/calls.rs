//! Call fragments of a Chat response (S-18): which call each belongs to, and what may change. Nothing is guessed.

use super::empty_call;
use crate::error::{Error, Reason};
use crate::json::{Object, Value};
use crate::provider::decoder::invalid;
use crate::provider::finish::{PartialCall, PartialInput};
use crate::provider::meter::MAX_MEMBERS;

/// Indices go up to here, so that one of two billion allocates nothing.
const MAX_INDEX: u64 = 1023;

/// One element of `tool_calls`.
pub(super) struct Fragment<'v> {
    index: Option<u64>,
    id: Option<&'v str>,
    name: Option<&'v str>,
    pub(super) arguments: &'v str,
    /// Unknown members: the provider's own (S-17).
    pub(super) extra: Object<'static>,
}

impl<'v> Fragment<'v> {
    pub(super) fn read(object: &'v Object<'_>) -> Result<Fragment<'v>, Error> {
        let index = match object.get("index") {
            None | Some(Value::Null) => None,
            Some(value) => match value.as_u64() {
                Some(index) if index <= MAX_INDEX => Some(index),
                _ => return Err(Error::new(Reason::ToolCallIndexInvalid)),
            },
        };
        match object.get("type") {
            None | Some(Value::Null) => {}
            Some(Value::String(kind)) if kind.is_empty() || kind == "function" => {}
            Some(_) => return Err(Error::new(Reason::ToolTypeUnsupported)),
        }
        let id = present(object.get("id"), Reason::ToolCallIdInvalid)?;
        let (mut name, mut arguments) = (None, None);
        match object.get("function") {
            None | Some(Value::Null) => {}
            Some(Value::Object(function)) => {
                name = present(function.get("name"), Reason::ToolNameMissing)?;
                arguments = present(function.get("arguments"), Reason::ToolArgumentsNotString)?;
            }
            Some(_) => return Err(invalid("tool_calls[].function")),
        }
        let unknown =
            |key: &str, value: &Value<'_>| !matches!(key, "index" | "id" | "type" | "function") && !value.is_null();
        if object.len() > MAX_MEMBERS {
            return Err(invalid("tool_calls[]"));
        }
        let mut extra = Object::default();
        for (key, value) in object.iter().filter(|(key, value)| unknown(key, value)) {
            extra.set(key, value.clone().into_owned());
        }
        Ok(Fragment { index, id, name, arguments: arguments.unwrap_or(""), extra })
    }
}

/// Null and empty mean absent.
fn present<'v>(value: Option<&'v Value<'_>>, wrong: Reason) -> Result<Option<&'v str>, Error> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Error::new(wrong)),
    }
}

#[derive(Debug)]
struct Gathering {
    index: Option<u64>,
    call: PartialCall,
    extra: Object<'static>,
}

/// The calls so far, in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Gathering>);

impl Calls {
    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        u64::try_from(self.0.len()).unwrap_or(u64::MAX)
    }

    /// The position of a whole call of a body. An index, where a server sends one, must not contradict the order (P-03).
    pub(super) fn place(&self, fragment: &Fragment<'_>) -> Result<usize, Error> {
        match fragment.index {
            Some(index) if self.0.iter().any(|one| one.index.is_some_and(|other| other >= index)) => {
                Err(Error::new(Reason::ToolCallIndexInvalid))
            }
            _ => Ok(self.next()),
        }
    }

    /// The position of a call that is new.
    fn next(&self) -> usize {
        self.0.len()
    }

    /// The position of the call a fragment belongs to, which may be a new one.
    pub(super) fn owner(&self, fragment: &Fragment<'_>) -> Result<usize, Error> {
        if let Some(index) = fragment.index {
            if let Some(at) = self.0.iter().position(|one| one.index == Some(index)) {
                return Ok(at);
            }
            if self.0.iter().any(|one| one.index.is_some_and(|other| other > index)) {
                return Err(Error::new(Reason::ToolCallIndexInvalid));
            }
            return Ok(self.next());
        }
        // A whole call without an index is its own call.
        if fragment.id.is_some() && fragment.name.is_some() {
            return Ok(self.next());
        }
        if let Some(id) = fragment.id {
            let same = self.0.iter().position(|one| one.call.id.as_deref() == Some(id));
            return same.ok_or_else(|| Error::new(Reason::ToolCallFragmentAmbiguous)).or_else(|error| {
                match self.0.len() {
                    0 => Ok(0),
                    1 if self.0.iter().any(|one| one.call.id.is_none()) => Ok(0),
                    _ => Err(error),
                }
            });
        }
        match self.0.len() {
            0 | 1 => Ok(0),
            _ => Err(Error::new(Reason::ToolCallFragmentAmbiguous)),
        }
    }

    /// Adds a fragment to its call. Id and name may be repeated, never changed (P-03).
    pub(super) fn add(&mut self, position: usize, fragment: &Fragment<'_>) -> Result<(), Error> {
        if position >= self.0.len() {
            self.0.push(Gathering { index: fragment.index, call: empty_call(), extra: Object::default() });
        }
        let Some(one) = self.0.get_mut(position) else {
            return Err(Error::new(Reason::Internal));
        };
        bind(&mut one.call.id, fragment.id, Reason::ToolCallIdConflict).map_err(|error| error.at_call(position))?;
        bind(&mut one.call.name, fragment.name, Reason::ToolNameConflict).map_err(|error| error.at_call(position))?;
        if let PartialInput::Text(text) = &mut one.call.input {
            text.push_str(fragment.arguments);
        }
        for (key, value) in fragment.extra.iter() {
            one.extra.set(key, value.clone());
        }
        if one.extra.len() > MAX_MEMBERS {
            return Err(invalid("tool_calls[]"));
        }
        Ok(())
    }

    /// Id and name of a call, as far as they are known.
    pub(super) fn named(&self, position: usize) -> Option<(String, String)> {
        let call = &self.0.get(position)?.call;
        Some((call.id.clone()?, call.name.clone()?))
    }

    /// Unknown members of each call, by its id: the provider's own (S-17).
    pub(super) fn extras(&self) -> Object<'static> {
        let mut all = Object::default();
        for one in self.0.iter().filter(|one| !one.extra.is_empty()) {
            all.set(one.call.id.as_deref().unwrap_or(""), Value::Object(one.extra.clone()));
        }
        all
    }

    pub(super) fn into_partial(self) -> Vec<PartialCall> {
        self.0.into_iter().map(|one| one.call).collect()
    }
}

fn bind(bound: &mut Option<String>, given: Option<&str>, conflict: Reason) -> Result<(), Error> {
    match (bound.as_deref(), given) {
        (_, None) => Ok(()),
        (None, Some(text)) => {
            *bound = Some(text.to_owned());
            Ok(())
        }
        (Some(old), Some(text)) if old == text => Ok(()),
        (Some(_), Some(_)) => Err(Error::new(conflict)),
    }
}
