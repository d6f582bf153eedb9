//! One response from its first byte to its one outcome: limits, framing, protocol table, drain, seal (S-01..S-15, S-20, S-21).
//!
//! A violation is a state: after it the decoder gives the first error for ever. The verdict is the same for every split of the bytes.

use super::chat::{self, ChatStream};
use super::finish::{Parts, Status, seal};
use super::messages::{self, MessagesStream};
use super::meter::{Meter, ambiguous};
use super::quirks::Quirks;
use super::{Protocol, Usage};
use crate::error::{Error, Reason};
use crate::json::{JsonError, JsonErrorKind, MAX_DEPTH, Raw};
use crate::limits::ProviderLimits;
use crate::turn::{Origin, Turn};
use crate::wire::sse::{SseDecoder, SseEvent, SseStep};
use crate::wire::utf8::Utf8Carry;
use std::collections::BTreeMap;

/// What a response is decoded as.
#[derive(Debug, Clone)]
pub struct DecoderConfig {
    /// The protocol of the endpoint.
    pub protocol: Protocol,
    /// Whether a stream was asked for.
    pub stream: bool,
    /// Bounds.
    pub limits: ProviderLimits,
    /// The model profile of the request.
    pub model_profile: String,
    /// The model of the request, until the response names one.
    pub model: String,
    /// Whether deltas are handed over.
    pub deltas: bool,
    /// Governed names of the tools offered, by their names on the wire (P-14).
    pub names: BTreeMap<String, String>,
    /// Normalisations that the model's entry switches on (Q-01).
    pub quirks: Quirks,
    /// What a guard keeps back until the turn is sealed.
    pub hold: Hold,
}

/// What a guard in front of somebody else's client keeps back. Such a client acts on what it sees, so nothing that can make it run a tool
/// may reach it before the turn is sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hold {
    /// No guard: [`Decoder::held`] says nothing.
    #[default]
    None,
    /// Everything from the first tool call on.
    Calls,
    /// The terminal marker only.
    Terminal,
}

impl DecoderConfig {
    /// The strict default.
    #[must_use]
    pub fn new(protocol: Protocol, stream: bool) -> DecoderConfig {
        DecoderConfig {
            protocol,
            stream,
            limits: ProviderLimits::default(),
            model_profile: String::new(),
            model: String::new(),
            deltas: false,
            names: BTreeMap::new(),
            quirks: Quirks::default(),
            hold: Hold::None,
        }
    }
}

/// What a delta belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeltaKind {
    /// Assistant text, provisional until the turn is sealed.
    Text,
    /// A fragment of a call's arguments.
    ToolInput,
    /// Provider-owned state; only its size is told.
    State,
}

/// The latest delta (S-08).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delta {
    /// What it belongs to.
    pub kind: DeltaKind,
    /// The block, in order of first appearance.
    pub block: u32,
    /// UTF-16 units carried in the text region.
    pub utf16: u32,
    /// UTF-8 bytes that came.
    pub utf8: u32,
}

/// How a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The body ended by itself.
    Eof,
    /// The drain's deadline passed while the socket was open; only after the terminal marker (S-10).
    DrainDeadline,
    /// Our abort signal (S-12).
    Abort,
    /// Our consumer left (S-13).
    Consumer,
    /// Reading failed without our abort (S-13).
    Provider,
}

/// The one outcome of a response.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A sealed turn, or one that was left.
    Turn(Box<Turn>),
    /// A rejected response or a provider's failure.
    Error(Error),
}

impl Outcome {
    /// The word of the case files.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Outcome::Turn(turn) => turn.status().word(),
            Outcome::Error(error) if error.code().starts_with("PROVIDER_") => "provider_error",
            Outcome::Error(_) => "rejected",
        }
    }
}

/// What a stream table makes of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Open,
    /// The event was the terminal marker.
    Terminal,
}

#[derive(Debug)]
enum Table {
    Chat(Box<ChatStream>),
    Messages(Box<MessagesStream>),
}

impl Table {
    fn new(protocol: Protocol, quirks: Quirks) -> Table {
        match protocol {
            Protocol::Chat => Table::Chat(Box::new(ChatStream::new(quirks))),
            Protocol::Messages => Table::Messages(Box::default()),
        }
    }

    fn event(&mut self, event: SseEvent<'_>, meter: &mut Meter) -> Result<Flow, Error> {
        match self {
            Table::Chat(table) => table.event(event, meter),
            Table::Messages(table) => table.event(event, meter),
        }
    }

    /// The natural end without a terminal marker: an error, or what a profile makes of it (Q-02).
    fn end(&mut self) -> Result<(), Error> {
        match self {
            Table::Chat(table) => table.end(),
            Table::Messages(_) => Err(self.cut()),
        }
    }

    fn cut(&self) -> Error {
        match self {
            Table::Chat(table) => table.cut(),
            Table::Messages(_) => Error::new(Reason::EofWithoutMessageStop),
        }
    }

    fn parts(&mut self, origin: Origin) -> Result<Parts, Error> {
        match self {
            Table::Chat(table) => table.parts(origin),
            Table::Messages(table) => table.parts(origin),
        }
    }

    /// Text, usage and number of calls so far.
    fn partial(&self) -> (String, Option<Usage>, u64) {
        match self {
            Table::Chat(table) => table.partial(),
            Table::Messages(table) => table.partial(),
        }
    }
}

#[derive(Debug)]
enum State {
    Open,
    Terminal {
        /// The marker's blank line ended in CR: one LF still belongs to it.
        lf_pending: bool,
    },
    Failed(Error),
}

/// Decodes one response.
///
/// ```
/// use turnkeep::provider::{Decoder, DecoderConfig, End, Outcome, Protocol};
/// let mut decoder = Decoder::new(DecoderConfig::new(Protocol::Chat, true));
/// decoder.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
/// let Outcome::Turn(turn) = decoder.finish(End::Eof) else { panic!() };
/// assert_eq!(turn.assistant_text(), "Hi");
/// ```
#[derive(Debug)]
pub struct Decoder {
    config: DecoderConfig,
    meter: Meter,
    utf8: Utf8Carry,
    sse: SseDecoder,
    table: Table,
    body: Vec<u8>,
    state: State,
    outcome: Option<Outcome>,
    passage: Passage,
}

/// How far a guard may hand on what came.
#[derive(Debug, Default)]
struct Passage {
    pushed: u64,
    open: u64,
    shut: bool,
}

impl Passage {
    /// Hands on up to the end of the last whole event, unless something is held.
    fn extend(&mut self, to: u64, shut: bool) {
        if !self.shut {
            self.open = self.open.max(to);
            self.shut = shut;
        }
    }
}

fn wide(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

impl Decoder {
    /// A decoder for one response.
    #[must_use]
    pub fn new(config: DecoderConfig) -> Decoder {
        let guarding = config.hold != Hold::None;
        let sse = SseDecoder::new(config.limits.max_event_bytes);
        Decoder {
            meter: Meter::new(config.limits, config.deltas, guarding),
            utf8: Utf8Carry::default(),
            sse: if guarding { sse.watching_names() } else { sse },
            table: Table::new(config.protocol, config.quirks),
            body: Vec::new(),
            state: State::Open,
            outcome: None,
            passage: Passage::default(),
            config,
        }
    }

    /// Reads a chunk. Never fails: a violation becomes the state.
    pub fn feed(&mut self, chunk: &[u8]) {
        self.meter.deltas.clear();
        self.meter.text.clear();
        if chunk.is_empty() {
            return;
        }
        let result = match &self.state {
            State::Failed(_) => Ok(()),
            State::Terminal { lf_pending } => {
                let rest = if *lf_pending { chunk.strip_prefix(b"\n").unwrap_or(chunk) } else { chunk };
                self.after_terminal(rest)
            }
            State::Open if self.config.stream => self.feed_stream(chunk),
            State::Open => self.feed_body(chunk),
        };
        self.passage.pushed = self.passage.pushed.saturating_add(wide(chunk.len()));
        if let Err(error) = result {
            self.passage.shut = true;
            let error = if error.place().byte_offset.is_none() { error.at_byte(self.meter.bytes) } else { error };
            self.state = State::Failed(error);
            // Nothing of a failed response is needed any more.
            self.body = Vec::new();
            self.sse = SseDecoder::new(0);
            self.table = Table::new(self.config.protocol, self.config.quirks);
        }
    }

    fn after_terminal(&mut self, rest: &[u8]) -> Result<(), Error> {
        self.state = State::Terminal { lf_pending: false };
        if rest.is_empty() { Ok(()) } else { Err(Error::new(Reason::PostTerminalData)) }
    }

    fn feed_body(&mut self, chunk: &[u8]) -> Result<(), Error> {
        let size = wide(chunk.len());
        let used = self.meter.bytes.saturating_add(size);
        if used > self.config.limits.max_response_bytes {
            self.body = Vec::new();
            // Wherever the reads end, it is the first byte too many that is refused.
            self.meter.bytes = self.config.limits.max_response_bytes;
            return Err(
                Error::new(Reason::LimitResponseBytes).with_number("max", self.config.limits.max_response_bytes)
            );
        }
        self.meter.bytes = used;
        self.body.extend_from_slice(chunk);
        Ok(())
    }

    fn feed_stream(&mut self, chunk: &[u8]) -> Result<(), Error> {
        let max = self.config.limits.max_stream_bytes;
        let room = usize::try_from(max.saturating_sub(self.meter.bytes)).unwrap_or(usize::MAX);
        let (allowed, over) = chunk.split_at_checked(room).unwrap_or((chunk, &[]));
        let begin = self.meter.bytes;
        let offset = |at: usize| begin.saturating_add(wide(at));
        let pending = self.utf8.pending();
        let step = self.utf8.take(allowed);
        let carried = step.carried.0.get(..step.carried.1).and_then(|bytes| std::str::from_utf8(bytes).ok());
        // A carried character is no line end, so it can neither end an event nor be more than the event's bound allows to report.
        let first = begin.saturating_sub(wide(pending));
        self.frames(carried.unwrap_or_default(), first)
            .map_err(|(error, at)| error.at_byte(first.saturating_add(wide(at))))?;
        let read = self
            .frames(step.body, offset(step.start))
            .map_err(|(error, at)| error.at_byte(offset(step.start.saturating_add(at))))?;
        if let Some(at) = read {
            let end = step.start.saturating_add(at);
            self.meter.bytes = offset(end);
            let rest = chunk.get(end..).unwrap_or_default();
            let lf_pending = self.sse.ends_in_cr();
            let rest_after_lf = if lf_pending { rest.strip_prefix(b"\n").unwrap_or(rest) } else { rest };
            self.state = State::Terminal { lf_pending: lf_pending && rest.is_empty() };
            return if rest_after_lf.is_empty() { Ok(()) } else { Err(Error::new(Reason::PostTerminalData)) };
        }
        if step.invalid && pending > 0 && step.carried.1 == 0 {
            // The place is that of the character, which began in an earlier chunk.
            return Err(Error::new(Reason::InvalidUtf8).at_byte(first));
        }
        if step.invalid {
            return Err(Error::new(Reason::InvalidUtf8).at_byte(offset(step.start.saturating_add(step.body.len()))));
        }
        self.meter.bytes = offset(allowed.len());
        if over.is_empty() { Ok(()) } else { Err(Error::new(Reason::LimitStreamBytes).with_number("max", max)) }
    }

    /// Feeds whole characters; gives where the terminal marker ended, or the error and where it was decided.
    fn frames(&mut self, text: &str, from: u64) -> Result<Option<usize>, (Error, usize)> {
        let (meter, table, passage, hold) = (&mut self.meter, &mut self.table, &mut self.passage, self.config.hold);
        let mut found: Result<Flow, Error> = Ok(Flow::Open);
        let step = self.sse.feed(text, &mut |event| {
            found =
                meter.event().and_then(|()| table.event(event, meter)).map_err(|error| error.at_event(meter.events));
            let open = matches!(found, Ok(Flow::Open));
            if !open || meter.doubt.is_some() || (hold == Hold::Calls && meter.has_calls()) {
                // An event that began in an earlier chunk left nothing to let go in this one.
                passage.extend(if event.begin > 0 { from.saturating_add(wide(event.begin)) } else { 0 }, true);
            }
            open
        });
        let boundary = self.sse.boundary();
        if boundary > 0 {
            passage.extend(from.saturating_add(wide(boundary)), false);
        }
        match (step, found) {
            (SseStep::Stopped(at), Ok(_)) => Ok(Some(at)),
            (SseStep::Stopped(at), Err(error)) => Err((error, at)),
            (SseStep::TooLarge(at), _) => {
                Err((Error::new(Reason::LimitEventBytes).with_number("max", self.config.limits.max_event_bytes), at))
            }
            (SseStep::ForeignName(at), _) => Err((ambiguous("field name"), at)),
            (SseStep::Done, _) => Ok(None),
        }
    }

    /// How many of the last bytes fed a guard must keep back; all of them for a body.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.passage.pushed.saturating_sub(self.passage.open)
    }

    /// Whether nothing more needs to be read: the outcome is an error.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        matches!(self.state, State::Failed(_))
    }

    /// The error, once there is one.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        match &self.state {
            State::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the terminal marker has been read, so that the drain runs (S-10).
    #[must_use]
    pub fn terminal_seen(&self) -> bool {
        matches!(self.state, State::Terminal { .. })
    }

    /// The deltas of the last chunk and their text, one after another.
    #[must_use]
    pub fn deltas(&self) -> (&[Delta], &str) {
        (&self.meter.deltas, &self.meter.text)
    }

    /// Id and governed name of the call in a block, as far as they are known.
    #[must_use]
    pub fn call(&self, block: u32) -> Option<(String, String)> {
        let at = usize::try_from(block).ok()?;
        let (id, name) = match &self.table {
            Table::Chat(table) => table.call(at),
            Table::Messages(table) => table.call(at),
        }?;
        let name = self.config.names.get(&name).cloned().unwrap_or(name);
        Some((id, name))
    }

    /// Bytes, events, snapshots and ignored events so far.
    #[must_use]
    pub fn counts(&self) -> [u64; 4] {
        [self.meter.bytes, self.meter.events, self.meter.snapshots, self.meter.ignored_events]
    }

    /// Ends the response and gives its one outcome. Asked again, it gives the same (S-13).
    pub fn finish(&mut self, end: End) -> Outcome {
        if let Some(outcome) = &self.outcome {
            return outcome.clone();
        }
        let outcome = self.end(end);
        self.outcome = Some(outcome.clone());
        outcome
    }

    fn end(&mut self, end: End) -> Outcome {
        if let State::Failed(error) = &self.state {
            return Outcome::Error(error.clone());
        }
        let result = match end {
            End::Abort => Ok(self.cut(Status::Cancelled, None)),
            End::Consumer => Ok(self.cut(Status::ClientDisconnect, Some("consumer"))),
            End::Provider => Ok(self.cut(Status::ClientDisconnect, Some("provider"))),
            End::Eof if !self.config.stream => self.read_body(),
            End::Eof | End::DrainDeadline if self.terminal_seen() => self.seal_stream(),
            End::Eof if self.sse.is_idle() && !self.utf8.is_pending() => {
                self.table.end().and_then(|()| self.seal_stream())
            }
            // Whatever a profile allows, an unfinished event is a cut.
            End::Eof => Err(self.table.cut()),
            End::DrainDeadline => Err(Error::new(Reason::InvalidState)),
        };
        match result.and_then(|turn| self.guarded(turn)) {
            Ok(turn) => Outcome::Turn(Box::new(turn)),
            Err(error) => {
                let error = if self.config.stream { error.at_event(self.meter.events) } else { error };
                self.state = State::Failed(error.clone());
                Outcome::Error(error)
            }
        }
    }

    /// Somebody else's client would run the calls of a turn that is cut or refused (P-20), or read the turn otherwise (S-25).
    fn guarded(&self, turn: Turn) -> Result<Turn, Error> {
        let ended = matches!(turn.status, Status::Incomplete | Status::Refused);
        if self.config.hold != Hold::None && ended && turn.dropped_calls > 0 {
            return Err(Error::new(Reason::CallsNotRunnable).with_number("dropped_calls", turn.dropped_calls));
        }
        if let Some(doubt) = &self.meter.doubt {
            return Err(doubt.clone());
        }
        Ok(turn)
    }

    fn origin(&self) -> Origin {
        Origin {
            protocol: self.config.protocol,
            model_profile: self.config.model_profile.clone(),
            model: self.config.model.clone(),
            asked: self.config.model.clone(),
            response_id: None,
        }
    }

    fn cut(&self, status: Status, side: Option<&'static str>) -> Turn {
        let (partial_text, usage, dropped_calls) = self.table.partial();
        Turn {
            status,
            blocks: Vec::new(),
            finish: None,
            usage,
            origin: self.origin(),
            dropped_calls,
            quirks: BTreeMap::new(),
            partial_text,
            side,
        }
    }

    fn seal_stream(&mut self) -> Result<Turn, Error> {
        // The seal holds arguments twice: nothing else may be held beside them.
        self.sse = SseDecoder::new(0);
        let origin = self.origin();
        let parts = self.table.parts(origin)?;
        seal(parts, self.config.limits.max_json_depth, &self.config.names)
    }

    fn read_body(&mut self) -> Result<Turn, Error> {
        let mut body = std::mem::take(&mut self.body);
        body.shrink_to_fit();
        let text = std::str::from_utf8(&body).map_err(|error| {
            Error::new(Reason::InvalidUtf8).at_byte(u64::try_from(error.valid_up_to()).unwrap_or(u64::MAX))
        })?;
        let origin = self.origin();
        let parts = match self.config.protocol {
            Protocol::Chat => chat::read_response(text, origin, self.config.quirks, &mut self.meter),
            Protocol::Messages => messages::read_response(text, origin, &mut self.meter),
        }?;
        seal(parts, self.config.limits.max_json_depth, &self.config.names)
    }
}

/// The configured depth, never above what the stack and our envelopes hold.
pub(crate) fn bounded_depth(depth: u64) -> u32 {
    u32::try_from(depth).unwrap_or(MAX_DEPTH).min(MAX_DEPTH)
}

/// Why the JSON of an event or a body is refused.
pub(crate) fn json_error(error: &JsonError) -> Error {
    Error::new(match error.kind {
        JsonErrorKind::Syntax => Reason::InvalidJson,
        JsonErrorKind::DuplicateKey => Reason::DuplicateKey,
        JsonErrorKind::TooDeep => Reason::JsonTooDeep,
        JsonErrorKind::NumberRange => Reason::JsonNumberRange,
        JsonErrorKind::Utf8 => Reason::InvalidUtf8,
    })
    .with_number("payload_offset", u64::try_from(error.offset).unwrap_or(u64::MAX))
}

/// A member of the wrong JSON type, or a required one that is absent (S-18).
pub(crate) fn invalid(field: &str) -> Error {
    Error::new(Reason::MemberInvalid).at_field(field)
}

/// A member that is a text where it is anything; absent and null are nothing.
pub(crate) fn check_text(value: Raw<'_>, field: &str) -> Result<(), Error> {
    match value {
        Raw::Absent | Raw::Null | Raw::String(..) => Ok(()),
        _ => Err(invalid(field)),
    }
}

/// What both protocols report before their own tables: an `error` member outranks everything but limits. One that is null, false or empty is
/// none (S-18).
pub(crate) fn look_for_error(error: Raw<'_>) -> Result<(), Error> {
    match error {
        Raw::Absent | Raw::Null | Raw::Bool(false) | Raw::String("", _) => Ok(()),
        error => Err(super::provider_error(error)),
    }
}
