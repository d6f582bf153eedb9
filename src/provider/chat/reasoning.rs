//! Reasoning of a Chat response: the provider's own state, kept to be returned unmodified (S-17). Never shown as text.

use super::late;
use super::shape::{DETAILS, REASONING, REASONING_CONTENT, Slots};
use crate::error::Error;
use crate::json::{Object, Raw, Value, ordered, quote};
use crate::provider::decoder::{check_text, invalid};
use crate::provider::meter::{MAX_MEMBERS, Meter};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Reasoning {
    reasoning: Option<String>,
    reasoning_content: Option<String>,
    details: Vec<Object<'static>>,
    by_index: BTreeMap<(u64, String), usize>,
    parts: Vec<Value<'static>>,
    /// Bytes of the last delta, and how many new details it opened.
    latest: usize,
    opened: usize,
}

/// The text of a member; absent and null are none.
fn text_of<'v>(value: Option<&'v Value<'_>>, field: &str) -> Result<Option<&'v str>, Error> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(invalid(field)),
    }
}

impl Reasoning {
    /// Reads the reasoning members of a delta or message; true when something that is not empty came.
    pub(super) fn read(&mut self, slots: &Slots<'_>, sealed: bool, meter: &mut Meter) -> Result<bool, Error> {
        let before = self.details.len();
        let mut bytes = 0_usize;
        for (name, given, kept) in [
            ("reasoning", slots[REASONING], &mut self.reasoning),
            ("reasoning_content", slots[REASONING_CONTENT], &mut self.reasoning_content),
        ] {
            if given.is_none() {
                continue;
            }
            check_text(given, name)?;
            if sealed && !given.is_text("") {
                return Err(late());
            }
            // The member is kept even when it is empty: some providers ask for it back.
            if !sealed {
                bytes = bytes.saturating_add(given.append_to(kept.get_or_insert_with(String::new)).len());
            }
        }
        let mut any = bytes > 0;
        match slots[DETAILS] {
            Raw::Absent | Raw::Null | Raw::Array(_, 0) => {}
            Raw::Array(..) if sealed => return Err(late()),
            items @ Raw::Array(..) => {
                for item in items.items() {
                    any = true;
                    if !matches!(item, Raw::Object(_)) {
                        return Err(invalid("reasoning_details[]"));
                    }
                    meter.state(item)?;
                    bytes = bytes.saturating_add(self.detail(item)?);
                }
            }
            _ => return Err(invalid("reasoning_details")),
        }
        self.latest = bytes;
        self.opened = self.details.len().saturating_sub(before);
        Ok(any)
    }

    /// Counts the delta just read: each new fragment is a block of its own for the bound (S-05).
    pub(super) fn announce(&mut self, block: usize, meter: &mut Meter) -> Result<(), Error> {
        for _ in 0..self.opened {
            meter.block()?;
        }
        meter.state_snapshot(block, self.latest)
    }

    fn detail(&mut self, given: Raw<'_>) -> Result<usize, Error> {
        // Values are counted before this: a tree of it stays small.
        let Value::Object(given) = given.value() else {
            return Err(invalid("reasoning_details[]"));
        };
        if given.len() > MAX_MEMBERS {
            return Err(invalid("reasoning_details[]"));
        }
        for name in ["text", "summary", "data", "signature"] {
            text_of(given.get(name), &format!("reasoning_details[].{name}"))?;
        }
        let size: usize = given.iter().filter_map(|(_, value)| value.as_str()).map(str::len).sum();
        let kind = text_of(given.get("type"), "reasoning_details[].type")?.unwrap_or("");
        let index = match given.get("index") {
            None | Some(Value::Null) => None,
            Some(value) => Some(value.as_u64().ok_or_else(|| invalid("reasoning_details[].index"))?),
        };
        let key = index.map(|index| (index, kind.to_owned()));
        let known = key.as_ref().and_then(|key| self.by_index.get(key)).and_then(|at| self.details.get_mut(*at));
        if let Some(kept) = known {
            merge(kept, &given)?;
            return Ok(size);
        }
        if let Some(key) = key {
            self.by_index.insert(key, self.details.len());
        }
        if let Value::Object(owned) = Value::Object(given).into_owned() {
            self.details.push(owned);
        }
        Ok(size)
    }

    /// A part of an array content that is not text.
    pub(super) fn part(&mut self, part: Raw<'_>) {
        self.parts.push(part.value().into_owned());
    }

    /// Everything as one JSON text: the members of the message, `content` with its parts that are no text, `tool_calls` with the unknown
    /// members of each call by its id. None when nothing came.
    pub(super) fn into_json(self, calls: Object<'static>) -> Option<String> {
        let mut members = Vec::new();
        for (name, text) in [("reasoning", self.reasoning), ("reasoning_content", self.reasoning_content)] {
            members.extend(text.map(|text| format!("{}:{}", quote(name), quote(&text))));
        }
        let details: Vec<_> = self.details.into_iter().map(Value::Object).collect();
        for (name, items) in [("reasoning_details", details), ("content", self.parts)] {
            if !items.is_empty() {
                members.push(format!("{}:{}", quote(name), ordered(&Value::Array(items))));
            }
        }
        if !calls.is_empty() {
            members.push(format!("\"tool_calls\":{}", ordered(&Value::Object(calls))));
        }
        (!members.is_empty()).then(|| format!("{{{}}}", members.join(",")))
    }
}

/// Text, summary and data are appended; of everything else the last value that is not null counts.
fn merge(kept: &mut Object<'static>, given: &Object<'_>) -> Result<(), Error> {
    for (key, value) in given.iter().filter(|(_, value)| !value.is_null()) {
        if matches!(key, "text" | "summary" | "data")
            && let (Some(Value::String(old)), Some(more)) = (kept.get_mut(key), value.as_str())
        {
            old.to_mut().push_str(more);
            continue;
        }
        kept.set(key, value.clone().into_owned());
    }
    if kept.len() > MAX_MEMBERS { Err(invalid("reasoning_details[]")) } else { Ok(()) }
}
