//! Call fragments of a Chat response (S-18): which call each belongs to, and what may change. Nothing is guessed.

use super::empty_call;
use super::shape::{ARGUMENTS, CALL, CALL_ID, CALL_INDEX, CALL_REST, CALL_TYPE, FUNCTION, NAME, Slots};
use crate::error::{Error, Reason};
use crate::json::{Object, Raw, Value};
use crate::provider::decoder::invalid;
use crate::provider::finish::{PartialCall, PartialInput};
use crate::provider::meter::{MAX_MEMBERS, Meter, ambiguous};
use crate::provider::quirks::{OBJECT_ARGUMENTS, Quirks, REPEATED_INDEX, count};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Indices go up to here, so that one of two billion allocates nothing.
const MAX_INDEX: u64 = 1023;

/// One element of `tool_calls`.
pub(super) struct Fragment<'a> {
    index: Option<u64>,
    id: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    /// A string; an object where a profile allows it.
    pub(super) arguments: Raw<'a>,
    /// The whole element, when it has members of the provider's own (S-17).
    own: Raw<'a>,
}

impl<'a> Fragment<'a> {
    pub(super) fn read(
        slots: &Slots<'a>,
        quirks: Quirks,
        counted: &mut BTreeMap<String, u64>,
    ) -> Result<Fragment<'a>, Error> {
        if !matches!(slots[CALL], Raw::Object(_)) {
            return Err(invalid("tool_calls[]"));
        }
        let index = match slots[CALL_INDEX] {
            Raw::Absent | Raw::Null => None,
            value => match value.as_u64() {
                Some(index) if index <= MAX_INDEX => Some(index),
                _ => return Err(Error::new(Reason::ToolCallIndexInvalid)),
            },
        };
        let kind = slots[CALL_TYPE];
        if !(kind.is_none() || kind.is_text("") || kind.is_text("function")) {
            return Err(Error::new(Reason::ToolTypeUnsupported));
        }
        let id = present(slots[CALL_ID], Reason::ToolCallIdInvalid)?;
        if !matches!(slots[FUNCTION], Raw::Absent | Raw::Null | Raw::Object(_)) {
            return Err(invalid("tool_calls[].function"));
        }
        let name = present(slots[NAME], Reason::ToolNameMissing)?;
        let arguments = match slots[ARGUMENTS] {
            Raw::Absent | Raw::Null => Raw::String("", false),
            text @ Raw::String(..) => text,
            object @ Raw::Object(_) if quirks.object_arguments => {
                count(counted, OBJECT_ARGUMENTS);
                object
            }
            _ => return Err(Error::new(Reason::ToolArgumentsNotString)),
        };
        let own = if slots[CALL_REST] == Raw::Absent { Raw::Absent } else { slots[CALL] };
        Ok(Fragment { index, id, name, arguments, own })
    }

    /// Members of the provider's own, counted before they are kept.
    pub(super) fn extra(&self, meter: &mut Meter) -> Result<Object<'static>, Error> {
        let mut extra = Object::default();
        if self.own == Raw::Absent {
            return Ok(extra);
        }
        let known = |key: Raw<'_>| ["index", "id", "type", "function"].iter().any(|name| key.is_text(name));
        let own = || self.own.members().filter(|(key, value)| !known(*key) && *value != Raw::Null);
        if own().count() > MAX_MEMBERS {
            return Err(invalid("tool_calls[]"));
        }
        meter.state_values(own().map(|(_, value)| value.count()).fold(0, u64::saturating_add))?;
        for (key, value) in own() {
            extra.set(&key.text().unwrap_or_default(), value.value().into_owned());
        }
        Ok(extra)
    }
}

/// Null and empty mean absent.
fn present(value: Raw<'_>, wrong: Reason) -> Result<Option<Cow<'_, str>>, Error> {
    match value {
        Raw::Absent | Raw::Null | Raw::String("", _) => Ok(None),
        Raw::String(..) => Ok(value.text()),
        _ => Err(Error::new(wrong)),
    }
}

#[derive(Debug)]
struct Gathering {
    index: Option<u64>,
    call: PartialCall,
    extra: Object<'static>,
    /// A fragment after the first had no index.
    without_index: bool,
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
    pub(super) fn place(
        &self,
        fragment: &Fragment<'_>,
        quirks: Quirks,
        counted: &mut BTreeMap<String, u64>,
    ) -> Result<usize, Error> {
        match fragment.index {
            Some(_) if quirks.repeated_index && self.is_other(fragment) => {
                count(counted, REPEATED_INDEX);
                Ok(self.next())
            }
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
    pub(super) fn owner(
        &self,
        fragment: &Fragment<'_>,
        quirks: Quirks,
        counted: &mut BTreeMap<String, u64>,
    ) -> Result<usize, Error> {
        if let Some(index) = fragment.index {
            if quirks.repeated_index && self.is_other(fragment) {
                count(counted, REPEATED_INDEX);
                return Ok(self.next());
            }
            if quirks.repeated_index && self.0.iter().filter(|one| one.index == Some(index)).count() > 1 {
                // The index says nothing any more: only an id does.
                let same = |one: &Gathering| fragment.id.is_some() && one.call.id.as_deref() == fragment.id.as_deref();
                return self.0.iter().position(same).ok_or_else(|| Error::new(Reason::ToolCallFragmentAmbiguous));
            }
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
        if let Some(id) = fragment.id.as_deref() {
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

    /// Whether every client tells the calls apart as we do: a call's first fragment has its name, and only one call may come without an index.
    /// Clients drop fragments without an index, so once one came so, no fragment with an index may follow: what such a client has is then the
    /// beginning of the arguments, which is no JSON, and never all but the middle (S-25).
    pub(super) fn read_alike(&mut self, fragment: &Fragment<'_>, position: usize) -> Result<(), Error> {
        if let Some(one) = self.0.get_mut(position) {
            one.without_index |= fragment.index.is_none();
            let lost = one.without_index && fragment.index.is_some();
            return if lost { Err(ambiguous("tool_calls[].index")) } else { Ok(()) };
        }
        if fragment.name.is_none() {
            return Err(ambiguous("tool_calls[].function.name"));
        }
        let told_apart =
            fragment.index.is_some() && self.0.iter().all(|one| one.index.is_some() && one.index != fragment.index);
        if self.0.is_empty() || told_apart { Ok(()) } else { Err(ambiguous("tool_calls[].index")) }
    }

    /// Whether a whole call comes under index 0 after another that came so too: a server that numbers every call 0. Its id is its own,
    /// so nothing is guessed.
    fn is_other(&self, fragment: &Fragment<'_>) -> bool {
        let known = |id: &str| self.0.iter().any(|one| one.call.id.as_deref() == Some(id));
        fragment.index == Some(0)
            && !self.0.is_empty()
            && self.0.iter().all(|one| one.index == Some(0) && one.call.id.is_some() && one.call.name.is_some())
            && fragment.name.is_some()
            && fragment.id.as_deref().is_some_and(|id| !known(id))
    }

    /// Adds a fragment to its call and gives its arguments. Id and name may be repeated, never changed (P-03).
    pub(super) fn add(
        &mut self,
        position: usize,
        fragment: &Fragment<'_>,
        canonical: Option<&str>,
        extra: Object<'static>,
    ) -> Result<&str, Error> {
        if position >= self.0.len() {
            let (call, extra) = (empty_call(), Object::default());
            self.0.push(Gathering { index: fragment.index, call, extra, without_index: false });
        }
        let Some(one) = self.0.get_mut(position) else {
            return Err(Error::new(Reason::Internal));
        };
        bind(&mut one.call.id, fragment.id.as_deref(), Reason::ToolCallIdConflict)
            .map_err(|error| error.at_call(position))?;
        bind(&mut one.call.name, fragment.name.as_deref(), Reason::ToolNameConflict)
            .map_err(|error| error.at_call(position))?;
        for (key, value) in extra.into_members() {
            one.extra.set(&key, value);
        }
        if one.extra.len() > MAX_MEMBERS {
            return Err(invalid("tool_calls[]"));
        }
        Ok(match &mut one.call.input {
            PartialInput::Text(text) => {
                canonical.map_or(fragment.arguments, |text| Raw::String(text, false)).append_to(text)
            }
            PartialInput::Whole(_) => "",
        })
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
