//! What a run did, as hash-chained entries and receipts (F-05, R-01..R-03). This version keeps them in memory.

mod checkpoint;
mod receipt;

pub use checkpoint::{Checkpoint, Saved};
pub use receipt::{Receipt, Receipts};

use crate::json::{Value, canonical, hash, hash_array, object, parse_with_depth, quote};
use crate::step::timestamp;

/// The names of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunRef {
    /// Who owns it.
    pub tenant_subject: String,
    /// Which it is.
    pub task_id: String,
}

impl RunRef {
    /// `{tenant_subject, task_id}` as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        object(&[("tenant_subject", quote(&self.tenant_subject)), ("task_id", quote(&self.task_id))])
    }

    pub(crate) fn tagged(&self, tag: &str) -> String {
        hash(tag, &[&Value::text(&self.tenant_subject), &Value::text(&self.task_id)])
    }

    /// The 64 hex digits that name the run in a store.
    #[must_use]
    pub fn key(&self) -> String {
        self.tagged("turnkeep/run/v1").trim_start_matches("sha256:").to_owned()
    }
}

/// One entry to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its position.
    pub seq: u64,
    /// Its kind.
    pub kind: &'static str,
    /// Its canonical text.
    pub text: String,
}

/// The end of a run's log.
#[derive(Debug, Clone)]
pub struct Log {
    run: RunRef,
    next: u64,
    head: String,
}

impl Log {
    /// An empty log.
    #[must_use]
    pub fn new(run: RunRef) -> Log {
        let head = run.tagged("turnkeep/genesis/v1");
        Log { run, next: 0, head }
    }

    /// Goes on after a head.
    #[must_use]
    pub fn resumed(run: RunRef, next: u64, head: String) -> Log {
        Log { run, next, head }
    }

    /// Makes the next entry. `body` is JSON text.
    pub fn append(&mut self, kind: &'static str, at_ms: u64, body: &str) -> Entry {
        let seq = self.next;
        let fields = |hash: Option<&str>| {
            let mut members = vec![
                ("v", "1".to_owned()),
                ("run", self.run.to_json()),
                ("seq", seq.to_string()),
                ("epoch", "0".to_owned()),
                ("at", quote(&timestamp(at_ms))),
                ("kind", quote(kind)),
                ("body", body.to_owned()),
                ("prev", quote(&self.head)),
            ];
            members.extend(hash.map(|hash| ("hash", quote(hash))));
            canonical_text(&object(&members))
        };
        let hash = hash_array("turnkeep/entry/v1", &[&fields(None)]);
        let text = fields(Some(&hash));
        self.next = seq.saturating_add(1);
        self.head = hash;
        Entry { seq, kind, text }
    }

    /// How many entries there are, and the hash of the last.
    #[must_use]
    pub fn head(&self) -> (u64, &str) {
        (self.next, &self.head)
    }
}

/// Our own records are JSON by construction; should one ever not be, its text stands as it is and no reader accepts it.
pub(crate) fn canonical_text(text: &str) -> String {
    parse_with_depth(text, crate::json::ENVELOPE_DEPTH.saturating_add(4))
        .map_or_else(|_| text.to_owned(), |value| canonical(&value))
}
