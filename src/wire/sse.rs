//! WHATWG event streams for every split of the bytes (S-22), with one unfinished event bounded (S-03).
//!
//! An event is handed over at its blank line, the CR of a split CRLF included; what is unfinished at the end is never dispatched.
//! Comments are read and forgotten: they take no memory. Lines that lie whole in a chunk are never copied.

use super::find::line_end;

/// One dispatched event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The event field, empty when there was none.
    pub event: &'a str,
    /// The data lines, joined by LF.
    pub data: &'a str,
    /// The last event id.
    pub id: &'a str,
    /// Where in the chunk the event began: the end of the blank line before it, 0 when that lay in an earlier chunk.
    pub begin: usize,
}

/// How a feed ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SseStep {
    /// All bytes were read.
    Done,
    /// The receiver said stop after an event; that many bytes were read.
    Stopped(usize),
    /// The unfinished event passed its bound at that byte of the chunk.
    TooLarge(usize),
    /// The name of a field that ended at that byte is not ASCII. Only where names are watched.
    ForeignName(usize),
}

/// A field of the event under way: in the chunk as long as that will do, else in a buffer of the decoder.
#[derive(Debug, Clone, Copy)]
enum Field<'c> {
    None,
    Chunk(&'c str),
    Kept,
}

impl<'c> Field<'c> {
    fn text<'t>(self, kept: &'t str) -> &'t str
    where
        'c: 't,
    {
        match self {
            Field::None => "",
            Field::Chunk(text) => text,
            Field::Kept => kept,
        }
    }

    fn keep(&mut self, kept: &mut String) {
        if let Field::Chunk(text) = *self {
            kept.push_str(text);
            *self = Field::Kept;
        }
    }
}

/// Reads text whose bytes were split between characters at most.
#[derive(Debug)]
pub struct SseDecoder {
    line: String,
    data: String,
    event: String,
    id: String,
    has_data: bool,
    has_event: bool,
    retry: Option<u64>,
    after_cr: bool,
    comment: bool,
    started: bool,
    boundary: usize,
    max_event_bytes: usize,
    watch_names: bool,
    foreign_name: bool,
}

impl SseDecoder {
    /// A decoder that keeps at most so many bytes of one unfinished event.
    #[must_use]
    pub fn new(max_event_bytes: u64) -> SseDecoder {
        SseDecoder {
            line: String::new(),
            data: String::new(),
            event: String::new(),
            id: String::new(),
            has_data: false,
            has_event: false,
            retry: None,
            after_cr: false,
            comment: false,
            started: false,
            boundary: 0,
            max_event_bytes: usize::try_from(max_event_bytes).unwrap_or(usize::MAX),
            watch_names: false,
            foreign_name: false,
        }
    }

    /// Stops at a field whose name is not ASCII. The standard ignores such a line; clients that drop a byte order mark from each line, or one
    /// that was decoded as Latin-1, read another field (S-25).
    #[must_use]
    pub fn watching_names(mut self) -> SseDecoder {
        self.watch_names = true;
        self
    }

    /// The last reconnection time, in milliseconds.
    #[must_use]
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// Whether the last byte was a CR, so that an LF right after it still belongs to the same line end.
    #[must_use]
    pub fn ends_in_cr(&self) -> bool {
        self.after_cr
    }

    /// Whether nothing is unfinished.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.line.is_empty() && !self.comment && !self.has_data && !self.has_event
    }

    /// Where in the last chunk the last whole event or comment ended, 0 when none did.
    #[must_use]
    pub fn boundary(&self) -> usize {
        self.boundary
    }

    /// Reads a chunk. The receiver gets each event and says whether to go on.
    pub fn feed(&mut self, chunk: &str, receive: &mut impl FnMut(SseEvent<'_>) -> bool) -> SseStep {
        self.boundary = 0;
        let field = |has: bool| if has { Field::Kept } else { Field::None };
        let (mut data, mut event) = (field(self.has_data), field(self.has_event));
        let step = self.lines(chunk, &mut data, &mut event, receive);
        data.keep(&mut self.data);
        event.keep(&mut self.event);
        (self.has_data, self.has_event) = (!matches!(data, Field::None), !matches!(event, Field::None));
        step
    }

    fn lines<'c>(
        &mut self,
        chunk: &'c str,
        data: &mut Field<'c>,
        event: &mut Field<'c>,
        receive: &mut impl FnMut(SseEvent<'_>) -> bool,
    ) -> SseStep {
        let mut at = 0_usize;
        loop {
            // Every place stands beside an ASCII byte or at an end of the chunk, so it is a character boundary.
            let rest = chunk.get(at..).unwrap_or_default();
            let Some(first) = rest.as_bytes().first() else {
                return SseStep::Done;
            };
            if self.after_cr {
                self.after_cr = false;
                if *first == b'\n' {
                    at = at.saturating_add(1);
                    continue;
                }
            }
            let end = line_end(rest.as_bytes());
            let piece = end.map_or(rest, |end| rest.get(..end).unwrap_or_default());
            if self.line.is_empty() && !self.comment {
                self.comment = *first == b':';
            }
            if !self.comment {
                let kept = self.line.len().saturating_add(data.text(&self.data).len());
                let kept = kept.saturating_add(event.text(&self.event).len());
                let room = self.max_event_bytes.saturating_sub(kept);
                if piece.len() > room {
                    return SseStep::TooLarge(at.saturating_add(room));
                }
                if end.is_none() || !self.line.is_empty() {
                    push_within(&mut self.line, piece, self.max_event_bytes);
                }
            }
            at = at.saturating_add(piece.len());
            let Some(terminator) = rest.as_bytes().get(piece.len()) else {
                return SseStep::Done;
            };
            at = at.saturating_add(1);
            self.after_cr = *terminator == b'\r';
            if self.comment {
                (self.comment, self.started) = (false, true);
                continue;
            }
            if self.line.is_empty() {
                let line = self.without_bom(piece);
                if let Some((name, value)) = named(line) {
                    self.set(name, Field::Chunk(value), data, event);
                    if self.foreign_name {
                        return SseStep::ForeignName(at);
                    }
                    continue;
                }
            } else {
                let mut whole = std::mem::take(&mut self.line);
                if matches!(data, Field::None) && whole.starts_with("data:") {
                    // Nothing was said yet: the line itself becomes the data, so that a long one is not held twice.
                    whole.drain(..if whole.starts_with("data: ") { 6 } else { 5 });
                    self.line = std::mem::replace(&mut self.data, whole);
                    (*data, self.started) = (Field::Kept, true);
                    continue;
                }
                let line = self.without_bom(&whole);
                let blank = line.is_empty();
                if let Some((name, value)) = named(line) {
                    self.set_kept(name, value, data, event);
                }
                self.line = whole;
                self.line.clear();
                if self.foreign_name {
                    return SseStep::ForeignName(at);
                }
                if !blank {
                    continue;
                }
            }
            let go_on = self.dispatch(*data, *event, receive);
            self.boundary = at;
            (*data, *event) = (Field::None, Field::None);
            self.data.clear();
            self.event.clear();
            if self.data.capacity() > self.line.capacity() {
                // The next long line has the room of the last one.
                std::mem::swap(&mut self.line, &mut self.data);
            }
            if !go_on {
                return SseStep::Stopped(at);
            }
        }
    }

    fn without_bom<'t>(&mut self, line: &'t str) -> &'t str {
        let first = !std::mem::replace(&mut self.started, true);
        if first { line.strip_prefix('\u{FEFF}').unwrap_or(line) } else { line }
    }

    /// Sets a field from a line that lies whole in the chunk.
    fn set<'c>(&mut self, name: &str, value: Field<'c>, data: &mut Field<'c>, event: &mut Field<'c>) {
        if name == "data" && matches!(data, Field::None) {
            *data = value;
        } else if name == "event" {
            self.event.clear();
            *event = value;
        } else if let Field::Chunk(text) = value {
            self.set_kept(name, text, data, event);
        }
    }

    fn set_kept(&mut self, name: &str, value: &str, data: &mut Field<'_>, event: &mut Field<'_>) {
        match name {
            "data" => {
                if matches!(data, Field::None) {
                    *data = Field::Kept;
                } else {
                    data.keep(&mut self.data);
                    self.data.push('\n');
                }
                push_within(&mut self.data, value, self.max_event_bytes);
            }
            "event" => {
                *event = Field::Kept;
                self.event.clear();
                self.event.push_str(value);
            }
            "id" if !value.contains('\0') => value.clone_into(&mut self.id),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok();
            }
            _ => self.foreign_name = self.watch_names && !name.is_ascii(),
        }
    }

    fn dispatch(&self, data: Field<'_>, event: Field<'_>, receive: &mut impl FnMut(SseEvent<'_>) -> bool) -> bool {
        if matches!(data, Field::None) {
            return true;
        }
        receive(SseEvent {
            event: event.text(&self.event),
            data: data.text(&self.data),
            id: &self.id,
            begin: self.boundary,
        })
    }
}

/// Appends a piece whose room has been checked. Doubling would reserve up to twice what may ever be kept.
fn push_within(kept: &mut String, piece: &str, max: usize) {
    let needed = kept.len().saturating_add(piece.len());
    if needed > kept.capacity() {
        let room = kept.capacity().saturating_mul(2).min(max).max(needed);
        kept.reserve_exact(room.saturating_sub(kept.len()));
    }
    kept.push_str(piece);
}

/// Field name and value of a line; none for the blank line.
fn named(line: &str) -> Option<(&str, &str)> {
    if line.is_empty() {
        return None;
    }
    // By far the most lines.
    if let Some(value) = line.strip_prefix("data:") {
        return Some(("data", value.strip_prefix(' ').unwrap_or(value)));
    }
    let (name, value) = line.split_once(':').unwrap_or((line, ""));
    Some((name, value.strip_prefix(' ').unwrap_or(value)))
}
