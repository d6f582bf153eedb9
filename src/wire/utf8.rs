//! UTF-8 over chunk borders (S-21): gives back whole characters only, so that the verdict is the same for every split.

/// Holds the bytes of a character that the next chunk completes.
#[derive(Debug, Default)]
pub struct Utf8Carry {
    pending: [u8; 4],
    length: usize,
}

/// What one chunk amounts to.
#[derive(Debug, PartialEq, Eq)]
pub struct Utf8Step<'a> {
    /// A character that the chunk completed, up to four bytes.
    pub carried: ([u8; 4], usize),
    /// Where in the chunk `body` begins.
    pub start: usize,
    /// Whole characters of the chunk itself.
    pub body: &'a str,
    /// Whether the bytes after them are not UTF-8.
    pub invalid: bool,
}

impl Utf8Carry {
    /// Whether a character is unfinished.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.length > 0
    }

    /// How many bytes of an unfinished character came so far.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.length
    }

    /// Takes a chunk.
    pub fn take<'a>(&mut self, chunk: &'a [u8]) -> Utf8Step<'a> {
        let mut rest = chunk;
        let mut carried = ([0; 4], 0);
        while self.length > 0 {
            let Some((first, tail)) = rest.split_first() else {
                return Utf8Step { carried, start: chunk.len(), body: "", invalid: false };
            };
            rest = tail;
            if let Some(slot) = self.pending.get_mut(self.length) {
                *slot = *first;
            }
            self.length = self.length.saturating_add(1);
            match std::str::from_utf8(self.pending.get(..self.length).unwrap_or_default()) {
                Ok(_) => {
                    carried = (self.pending, self.length);
                    self.length = 0;
                }
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Utf8Step { carried, start: 0, body: "", invalid: true },
            }
        }
        let start = chunk.len().saturating_sub(rest.len());
        // The good part is looked at once more only where the chunk ends inside a character.
        match std::str::from_utf8(rest) {
            Ok(body) => Utf8Step { carried, start, body, invalid: false },
            Err(error) => {
                let (good, bad) = rest.split_at_checked(error.valid_up_to()).unwrap_or((rest, &[]));
                let body = std::str::from_utf8(good).unwrap_or_default();
                if error.error_len().is_some() {
                    return Utf8Step { carried, start, body, invalid: true };
                }
                for (slot, byte) in self.pending.iter_mut().zip(bad) {
                    *slot = *byte;
                }
                self.length = bad.len();
                Utf8Step { carried, start, body, invalid: false }
            }
        }
    }
}
