//! WHATWG event streams for every split of the bytes (S-22), with one unfinished event bounded (S-03).
//!
//! An event is handed over at its blank line, the CR of a split CRLF included; what is unfinished at the end is never dispatched.
//! Comments are read and forgotten: they take no memory.

/// One dispatched event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The event field, empty when there was none.
    pub event: &'a str,
    /// The data lines, joined by LF.
    pub data: &'a str,
    /// The last event id.
    pub id: &'a str,
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
}

/// Reads bytes that are whole UTF-8 characters.
#[derive(Debug)]
pub struct SseDecoder {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    event: Vec<u8>,
    id: Vec<u8>,
    retry: Option<u64>,
    after_cr: bool,
    comment: bool,
    started: bool,
    max_event_bytes: usize,
}

const BOM: &[u8] = &[0xEF, 0xBB, 0xBF];

impl SseDecoder {
    /// A decoder that keeps at most so many bytes of one unfinished event.
    #[must_use]
    pub fn new(max_event_bytes: u64) -> SseDecoder {
        SseDecoder {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            event: Vec::new(),
            id: Vec::new(),
            retry: None,
            after_cr: false,
            comment: false,
            started: false,
            max_event_bytes: usize::try_from(max_event_bytes).unwrap_or(usize::MAX),
        }
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

    /// Reads a chunk. The receiver gets each event and says whether to go on.
    pub fn feed(&mut self, chunk: &[u8], receive: &mut impl FnMut(SseEvent<'_>) -> bool) -> SseStep {
        let mut at = 0_usize;
        loop {
            let rest = chunk.get(at..).unwrap_or_default();
            let Some(first) = rest.first() else {
                return SseStep::Done;
            };
            if self.after_cr {
                self.after_cr = false;
                if *first == b'\n' {
                    at = at.saturating_add(1);
                    continue;
                }
            }
            let length = rest.iter().position(|byte| *byte == b'\n' || *byte == b'\r');
            let piece = rest.get(..length.unwrap_or(rest.len())).unwrap_or_default();
            if self.line.is_empty() && !self.comment {
                self.comment = piece.first() == Some(&b':');
            }
            let end = length.is_some();
            if self.comment {
                // Nothing of a comment is kept.
            } else {
                let kept = self.line.len().saturating_add(self.data.len()).saturating_add(self.event.len());
                let room = self.max_event_bytes.saturating_sub(kept);
                if piece.len() > room {
                    return SseStep::TooLarge(at.saturating_add(room));
                }
                if !end || !self.line.is_empty() {
                    self.line.extend_from_slice(piece);
                }
            }
            at = at.saturating_add(piece.len());
            let Some(terminator) = rest.get(piece.len()) else {
                return SseStep::Done;
            };
            at = at.saturating_add(1);
            self.after_cr = *terminator == b'\r';
            if self.comment {
                self.comment = false;
                self.started = true;
                continue;
            }
            let mut line = std::mem::take(&mut self.line);
            let blank = self.read_line(if line.is_empty() { piece } else { &line });
            line.clear();
            self.line = line;
            if blank && !self.dispatch(receive) {
                return SseStep::Stopped(at);
            }
        }
    }

    /// Reads one whole line; true when it is the blank line that ends an event.
    fn read_line(&mut self, line: &[u8]) -> bool {
        let line = if self.started { line } else { line.strip_prefix(BOM).unwrap_or(line) };
        self.started = true;
        if line.is_empty() {
            return true;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at_checked(colon).unwrap_or((line, &[]));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.event.clear();
                self.event.extend_from_slice(value);
            }
            b"id" if !value.contains(&0) => {
                self.id.clear();
                self.id.extend_from_slice(value);
            }
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                self.retry = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            }
            _ => {}
        }
        false
    }

    fn dispatch(&mut self, receive: &mut impl FnMut(SseEvent<'_>) -> bool) -> bool {
        let go_on = if self.has_data {
            // The caller feeds whole UTF-8 characters, so these never fall back.
            receive(SseEvent {
                event: std::str::from_utf8(&self.event).unwrap_or_default(),
                data: std::str::from_utf8(&self.data).unwrap_or_default(),
                id: std::str::from_utf8(&self.id).unwrap_or_default(),
            })
        } else {
            true
        };
        self.has_data = false;
        self.data.clear();
        self.event.clear();
        go_on
    }
}
