//! The bounds of one response (S-01..S-09), counted before anything is kept, and the region that deltas are handed over in (S-08).

use super::decoder::{Delta, DeltaKind};
use crate::error::{Error, Reason};
use crate::json::{Raw, Room, Special};
use crate::limits::ProviderLimits;

/// Members of one object of provider state, of a call or of a usage object that are kept.
pub(crate) const MAX_MEMBERS: usize = 64;
/// JSON values inside the provider state of one response: each costs many times its text in memory.
const MAX_STATE_VALUES: u64 = 10_000;

/// Counts of one response and the latest deltas.
#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) limits: ProviderLimits,
    pub(crate) bytes: u64,
    pub(crate) events: u64,
    pub(crate) snapshots: u64,
    pub(crate) ignored_events: u64,
    blocks: u64,
    calls: u64,
    argument_bytes: u64,
    state_values: u64,
    listening: bool,
    pub(crate) deltas: Vec<Delta>,
    pub(crate) text: String,
    /// Room for the scanner, kept from one event to the next.
    pub(crate) room: Room,
    /// Somebody else's client reads the same bytes: it must not be able to read them otherwise (S-25).
    pub(crate) guarding: bool,
    /// The first thing that clients read differently. It counts once nothing else is wrong with the turn.
    pub(crate) doubt: Option<Error>,
}

/// What clients read differently, by the name of the member (S-25).
pub(crate) fn ambiguous(field: &str) -> Error {
    Error::new(Reason::ClientsDiffer).at_field(field)
}

fn over(reason: Reason, used: u64, max: u64) -> Error {
    Error::new(reason).with_number("used", used).with_number("max", max)
}

fn add(counter: &mut u64, more: u64, max: u64, reason: Reason) -> Result<(), Error> {
    let used = counter.saturating_add(more);
    if used > max {
        return Err(over(reason, used, max));
    }
    *counter = used;
    Ok(())
}

impl Meter {
    pub(crate) fn new(limits: ProviderLimits, listening: bool, guarding: bool) -> Meter {
        Meter {
            limits,
            bytes: 0,
            events: 0,
            snapshots: 0,
            ignored_events: 0,
            blocks: 0,
            calls: 0,
            argument_bytes: 0,
            state_values: 0,
            listening,
            deltas: Vec::new(),
            text: String::new(),
            room: Room::default(),
            guarding,
            doubt: None,
        }
    }

    /// Behind a guard, refuses keys of the text just scanned that the client may take for more than data.
    pub(crate) fn keys_are_data(&self, allowed: Special) -> Result<(), Error> {
        if self.guarding && self.room.special > allowed { Err(ambiguous("__proto__")) } else { Ok(()) }
    }

    /// Keeps the first doubt, with its event.
    pub(crate) fn doubt(&mut self, found: Result<(), Error>) {
        if let (Err(error), None) = (found, &self.doubt) {
            self.doubt = Some(error.at_event(self.events));
        }
    }

    pub(crate) fn event(&mut self) -> Result<(), Error> {
        add(&mut self.events, 1, self.limits.max_events, Reason::LimitEvents)
    }

    pub(crate) fn block(&mut self) -> Result<(), Error> {
        add(&mut self.blocks, 1, self.limits.max_content_blocks, Reason::LimitContentBlocks)
    }

    pub(crate) fn call(&mut self) -> Result<(), Error> {
        add(&mut self.calls, 1, self.limits.max_tool_calls, Reason::LimitToolCalls)?;
        self.block()
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.calls > 0
    }

    pub(crate) fn arguments(&mut self, text: &str) -> Result<(), Error> {
        let more = u64::try_from(text.len()).unwrap_or(u64::MAX);
        add(&mut self.argument_bytes, more, self.limits.max_tool_argument_bytes, Reason::LimitToolArgumentBytes)
    }

    /// Refuses arguments that are too long before they are copied. The exact size is only asked for where it matters.
    pub(crate) fn arguments_fit(&self, given: Raw<'_>) -> Result<(), Error> {
        if given.size() <= self.argument_room() {
            return Ok(());
        }
        let more = u64::try_from(given.text_size()).unwrap_or(u64::MAX);
        let mut used = self.argument_bytes;
        add(&mut used, more, self.limits.max_tool_argument_bytes, Reason::LimitToolArgumentBytes)
    }

    /// How many bytes of arguments may still come.
    pub(crate) fn argument_room(&self) -> usize {
        usize::try_from(self.limits.max_tool_argument_bytes.saturating_sub(self.argument_bytes)).unwrap_or(usize::MAX)
    }

    /// Provider state that is about to be kept.
    pub(crate) fn state(&mut self, state: Raw<'_>) -> Result<(), Error> {
        self.state_values(state.count())
    }

    pub(crate) fn state_values(&mut self, values: u64) -> Result<(), Error> {
        add(&mut self.state_values, values, MAX_STATE_VALUES, Reason::LimitContentBlocks)
    }

    /// A snapshot of provider state: only its size is told.
    pub(crate) fn state_snapshot(&mut self, block: usize, bytes: usize) -> Result<(), Error> {
        self.record(DeltaKind::State, block, "", bytes)
    }

    /// One snapshot: the latest delta only, whatever came before (S-08). Counted whether or not anybody listens (S-04).
    pub(crate) fn snapshot(&mut self, kind: DeltaKind, block: usize, text: &str) -> Result<(), Error> {
        self.record(kind, block, text, text.len())
    }

    fn record(&mut self, kind: DeltaKind, block: usize, carried: &str, bytes: usize) -> Result<(), Error> {
        add(&mut self.snapshots, 1, self.limits.max_snapshots, Reason::LimitSnapshots)?;
        if self.listening {
            let size = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
            let utf16 = size(carried.encode_utf16().count());
            self.deltas.push(Delta { kind, block: size(block), utf16, utf8: size(bytes) });
            self.text.push_str(carried);
        }
        Ok(())
    }
}
