//! What a run asks of its host, as JSON texts, and what waits behind an acknowledgement.

use crate::json::{object, quote};
use crate::log::Entry;
use crate::message::Message;
use crate::step::Step;

/// One thing for the host to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    kind: &'static str,
    append: Option<u64>,
    json: String,
}

impl Output {
    /// An output of that kind; `members` follow its `type`.
    pub(super) fn new(kind: &'static str, members: &[(&str, String)]) -> Output {
        let mut all = vec![("type", quote(kind))];
        all.extend(members.iter().map(|(name, value)| (*name, value.clone())));
        Output { kind, append: None, json: object(&all) }
    }

    pub(super) fn append(entry: &Entry) -> Output {
        let members = [("seq", entry.seq.to_string()), ("kind", quote(entry.kind)), ("entry", quote(&entry.text))];
        Output { append: Some(entry.seq), ..Output::new("append", &members) }
    }

    pub(super) fn event(kind: &str, members: &[(&str, String)]) -> Output {
        let mut all = vec![("type", quote(kind))];
        all.extend(members.iter().map(|(name, value)| (*name, value.clone())));
        Output::new("event", &[("event", object(&all))])
    }

    /// Its `type`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The position to append at, when it is an entry.
    #[must_use]
    pub fn append_seq(&self) -> Option<u64> {
        self.append
    }

    /// Its JSON text, as in `docs/border.md`.
    #[must_use]
    pub fn to_json(&self) -> &str {
        &self.json
    }
}

/// What the queue holds: outputs, and changes that become visible in their turn.
#[derive(Debug)]
pub(super) enum Item {
    Out(Output),
    /// A step enters the record, and its cost the spend: a snapshot never holds one without the other.
    Step(Box<Step>),
    /// The `budget` event, with the spend as it is then.
    Budget,
    Say(Message),
}

/// What the machine waits for before it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    Nothing,
    Append(u64),
    Saved,
}
