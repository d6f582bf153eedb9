//! The one reading of the grammar (N-01): RFC 8259, no duplicate keys after unescaping, no lone surrogates, bounded depth, numbers kept
//! or refused.
//!
//! It checks every byte and builds nothing: what the caller names comes out as pieces of the text, the rest is passed over. So memory does
//! not grow with what nobody wants, but for four bytes for each key of the objects that are open, which duplicates are told by.
//! It never repairs and never guesses. Depth is bounded before it recurses, so no text can exhaust the stack.

use super::raw::{Raw, number_of, same_text, text_order};
use crate::wire::find::special;

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonErrorKind {
    /// Not the grammar of RFC 8259; a lone surrogate escape too.
    Syntax,
    /// One object names a member twice.
    DuplicateKey,
    /// Nested deeper than allowed.
    TooDeep,
    /// A number that neither 64 bits nor a double hold exactly enough.
    NumberRange,
    /// Bytes that are not UTF-8.
    Utf8,
}

/// A refusal and the byte at which it was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonError {
    /// What is wrong.
    pub kind: JsonErrorKind,
    /// Offset in bytes from the start of the text.
    pub offset: usize,
}

/// What is wanted of an object: each member's name, the slot it goes to, and what is wanted of the object there or of the first item of
/// the array there.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) fields: &'static [(&'static str, usize, Option<&'static Shape>)],
    /// Where the object itself goes when it is the first item of an array.
    pub(crate) item: Option<usize>,
    /// Where a member goes that has no field and is not null: only whether there is one.
    pub(crate) rest: Option<usize>,
}

impl Shape {
    pub(crate) const fn of(fields: &'static [(&'static str, usize, Option<&'static Shape>)]) -> Shape {
        Shape { fields, item: None, rest: None }
    }
}

/// Checks one text and gives its value as a piece of it.
pub(crate) fn scan(text: &str, depth: u32) -> Result<Raw<'_>, JsonError> {
    read(text, depth, None, &mut [], &mut Room::default())
}

/// As [`scan`], and fills the slots of a shape.
pub(crate) fn select<'a>(
    text: &'a str,
    depth: u32,
    shape: &'static Shape,
    slots: &mut [Raw<'a>],
) -> Result<Raw<'a>, JsonError> {
    read(text, depth, Some(shape), slots, &mut Room::default())
}

/// As [`select`], with room for keys that is used again from one event to the next.
pub(crate) fn select_with<'a>(
    text: &'a str,
    depth: u32,
    shape: &'static Shape,
    slots: &mut [Raw<'a>],
    room: &mut Room,
) -> Result<Raw<'a>, JsonError> {
    read(text, depth, Some(shape), slots, room)
}

/// Room that one text leaves to the next, and what was seen of its keys.
#[derive(Debug, Default)]
pub(crate) struct Room {
    keys: Vec<u32>,
    /// A key that JavaScript programs give a meaning of their own to.
    pub(crate) special: Special,
}

/// Keys that are more than data to some JavaScript programs (S-25).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Special {
    #[default]
    None,
    /// `prototype`, or a name that begins with two underscores: where programs keep what is their own.
    Reserved,
    /// `__proto__`: set as the prototype where members are copied by assignment.
    Prototype,
}

impl Special {
    fn of(key: &str) -> Special {
        match key {
            "__proto__" => Special::Prototype,
            "prototype" => Special::Reserved,
            _ if key.starts_with("__") => Special::Reserved,
            _ => Special::None,
        }
    }
}

fn read<'a>(
    text: &'a str,
    depth: u32,
    shape: Option<&'static Shape>,
    slots: &mut [Raw<'a>],
    room: &mut Room,
) -> Result<Raw<'a>, JsonError> {
    if text.len() > MAX_TEXT {
        return Err(JsonError { kind: JsonErrorKind::Syntax, offset: MAX_TEXT });
    }
    let Room { keys, special } = room;
    keys.clear();
    *special = Special::None;
    let failure = JsonError { kind: JsonErrorKind::Syntax, offset: 0 };
    let mut cursor = Cursor { text, bytes: text.as_bytes(), at: 0, depth, keys, special, info: 0, failure };
    cursor.space();
    let value = cursor.piece(shape, slots).ok_or(cursor.failure)?;
    cursor.space();
    match cursor.peek() {
        None => Ok(value),
        Some(_) => Err(JsonError { kind: JsonErrorKind::Syntax, offset: cursor.at }),
    }
}

/// Places of keys are kept in 31 bits; no limit of ours lets a text come near.
const MAX_TEXT: usize = 0x7FFF_FFFF;
/// Up to here a linear look is cheaper than sorting.
const FEW: usize = 12;
/// What is kept of the room for keys between two texts.
const KEPT_KEYS: usize = 1024;

/// Each step says whether it went well; the first that did not leaves its failure behind. That is cheaper than a result of each.
struct Cursor<'a, 'k> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: u32,
    /// Places of the keys of the open objects; the low bit says that a key is written with escapes.
    keys: &'k mut Vec<u32>,
    special: &'k mut Special,
    /// Of the value just read: 1 for a string with escapes, the number of items of an array.
    info: usize,
    failure: JsonError,
}

impl<'a> Cursor<'a, '_> {
    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline(always)]
    fn step(&mut self) {
        self.at = self.at.wrapping_add(1);
    }

    #[cold]
    fn fail(&mut self, kind: JsonErrorKind, offset: usize) -> bool {
        self.failure = JsonError { kind, offset };
        false
    }

    #[cold]
    fn syntax(&mut self) -> bool {
        self.fail(JsonErrorKind::Syntax, self.at)
    }

    #[inline(always)]
    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.step();
        }
    }

    #[inline(always)]
    fn expect(&mut self, byte: u8) -> bool {
        if self.peek() == Some(byte) {
            self.step();
            true
        } else {
            self.syntax()
        }
    }

    fn since(&self, start: usize) -> &'a str {
        // Both ends stand beside ASCII bytes or at the ends of the text, so they are character boundaries.
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Reads a value and gives it as a piece of the text.
    fn piece(&mut self, shape: Option<&'static Shape>, slots: &mut [Raw<'a>]) -> Option<Raw<'a>> {
        let (start, first) = (self.at, self.peek());
        if !self.value(shape, slots) {
            return None;
        }
        let text = self.since(start);
        Some(match first {
            Some(b'"') => {
                let inside = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
                Raw::String(inside, self.info == 1)
            }
            Some(b'{') => Raw::Object(text),
            Some(b'[') => Raw::Array(text, self.info),
            Some(b't') => Raw::Bool(true),
            Some(b'f') => Raw::Bool(false),
            Some(b'n') => Raw::Null,
            _ => Raw::Number(text),
        })
    }

    fn value(&mut self, shape: Option<&'static Shape>, slots: &mut [Raw<'a>]) -> bool {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'{') => self.enter() && self.object(shape, slots) && self.leave(),
            Some(b'[') => self.enter() && self.array(shape, slots) && self.leave(),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.syntax(),
        }
    }

    fn word(&mut self, word: &str) -> bool {
        word.bytes().all(|byte| self.expect(byte))
    }

    fn enter(&mut self) -> bool {
        match self.depth.checked_sub(1) {
            Some(left) => {
                self.depth = left;
                self.step();
                true
            }
            None => self.fail(JsonErrorKind::TooDeep, self.at),
        }
    }

    fn leave(&mut self) -> bool {
        self.depth = self.depth.saturating_add(1);
        true
    }

    fn array(&mut self, shape: Option<&'static Shape>, slots: &mut [Raw<'a>]) -> bool {
        self.space();
        if self.peek() == Some(b']') {
            self.step();
            self.info = 0;
            return true;
        }
        let mut count = 0_usize;
        loop {
            self.space();
            match shape {
                Some(shape) if count == 0 => {
                    let Some(item) = self.piece(Some(shape), slots) else {
                        return false;
                    };
                    if let Some(slot) = shape.item.and_then(|item| slots.get_mut(item)) {
                        *slot = item;
                    }
                }
                _ => {
                    if !self.value(None, &mut []) {
                        return false;
                    }
                }
            }
            count = count.saturating_add(1);
            self.space();
            match self.peek() {
                Some(b',') => self.step(),
                Some(b']') => {
                    self.step();
                    self.info = count;
                    return true;
                }
                _ => return self.syntax(),
            }
        }
    }

    fn object(&mut self, shape: Option<&'static Shape>, slots: &mut [Raw<'a>]) -> bool {
        let base = self.keys.len();
        let mut marks = 0_u64;
        let mut escapes = false;
        self.space();
        if self.peek() == Some(b'}') {
            self.step();
            return true;
        }
        loop {
            self.space();
            let place = self.at;
            if self.peek() != Some(b'"') {
                return self.syntax();
            }
            if !self.string() {
                return false;
            }
            let escaped = self.info == 1;
            let key = self.text.get(place.wrapping_add(1)..self.at.wrapping_sub(1)).unwrap_or_default();
            escapes |= escaped;
            // Two keys of different marks differ; that is nearly always all there is to do.
            let mark = mark(key);
            if (marks & mark != 0 || escapes) && self.is_known(base, key, escaped) {
                return self.fail(JsonErrorKind::DuplicateKey, place);
            }
            marks |= mark;
            if escaped || key.starts_with('_') || key == "prototype" {
                self.note(key, escaped);
            }
            // `MAX_TEXT` makes the place fit.
            self.keys.push(u32::try_from(place).unwrap_or_default() << 1 | u32::from(escaped));
            self.space();
            if !self.expect(b':') {
                return false;
            }
            self.space();
            let good = match shape {
                Some(shape) => self.member(key, escaped, shape, slots),
                None => self.value(None, &mut []),
            };
            if !good {
                return false;
            }
            self.space();
            match self.peek() {
                Some(b',') => self.step(),
                Some(b'}') => {
                    self.step();
                    break;
                }
                _ => return self.syntax(),
            }
        }
        if self.keys.len().saturating_sub(base) > FEW && !self.compare_all(base) {
            return false;
        }
        self.keys.truncate(base);
        if base == 0 && self.keys.capacity() > KEPT_KEYS {
            self.keys.shrink_to(KEPT_KEYS);
        }
        true
    }

    /// Whether the open object has that key, as long as it has few.
    #[inline(never)]
    fn is_known(&self, base: usize, key: &str, escaped: bool) -> bool {
        let known = self.keys.get(base..).unwrap_or_default();
        known.len() <= FEW && known.iter().any(|one| self.key(*one).is_some_and(|one| same_text(one, (key, escaped))))
    }

    #[inline(never)]
    fn note(&mut self, key: &str, escaped: bool) {
        let text = Raw::String(key, escaped).text().unwrap_or_default();
        *self.special = (*self.special).max(Special::of(&text));
    }

    fn member(&mut self, key: &'a str, escaped: bool, shape: &'static Shape, slots: &mut [Raw<'a>]) -> bool {
        let wanted = shape
            .fields
            .iter()
            .find(|(name, _, _)| if escaped { same_text((name, false), (key, true)) } else { *name == key });
        let (slot, inner) = match (wanted, shape.rest) {
            (Some((_, slot, inner)), _) => (*slot, *inner),
            (None, Some(rest)) => (rest, None),
            (None, None) => return self.value(None, &mut []),
        };
        let Some(value) = self.piece(inner, slots) else {
            return false;
        };
        if let Some(slot) = slots.get_mut(slot)
            && (wanted.is_some() || value != Raw::Null)
        {
            *slot = value;
        }
        true
    }

    /// Duplicates among many keys: sorted in place, the first repetition in the text is named.
    #[cold]
    fn compare_all(&mut self, base: usize) -> bool {
        let mut keys = std::mem::take(self.keys);
        let open = keys.get_mut(base..).unwrap_or_default();
        open.sort_unstable_by(|one, two| {
            let texts = (self.key(*one).unwrap_or_default(), self.key(*two).unwrap_or_default());
            text_order(texts.0, texts.1).then(one.cmp(two))
        });
        let twice = open
            .iter()
            .zip(open.iter().skip(1))
            .filter(|(one, two)| same_text(self.key(**one).unwrap_or_default(), self.key(**two).unwrap_or_default()));
        let first = twice.map(|(_, two)| *two >> 1).min();
        *self.keys = keys;
        match first {
            Some(place) => self.fail(JsonErrorKind::DuplicateKey, usize::try_from(place).unwrap_or(usize::MAX)),
            None => true,
        }
    }

    /// The key whose quote stands at a place.
    fn key(&self, entry: u32) -> Option<(&'a str, bool)> {
        let rest = self.text.get(usize::try_from(entry >> 1).ok()?.saturating_add(1)..)?;
        Some((super::raw::inside(rest), entry & 1 == 1))
    }

    fn string(&mut self) -> bool {
        self.step();
        self.info = 0;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            self.at = self.at.wrapping_add(special(rest).unwrap_or(rest.len()));
            match self.peek() {
                Some(b'"') => {
                    self.step();
                    return true;
                }
                Some(b'\\') => {
                    self.info = 1;
                    self.step();
                    if !self.escape() {
                        return false;
                    }
                }
                _ => return self.syntax(),
            }
        }
    }

    fn escape(&mut self) -> bool {
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.step();
                true
            }
            Some(b'u') => {
                self.step();
                self.unicode()
            }
            _ => self.syntax(),
        }
    }

    /// One `\uXXXX`, or a pair of them. A half of a pair alone has no UTF-8 form and is refused (S-21).
    fn unicode(&mut self) -> bool {
        let place = self.at;
        let Some(unit) = self.hex4() else {
            return false;
        };
        let good = match unit {
            0xD800..=0xDBFF => {
                if !self.expect(b'\\') || !self.expect(b'u') {
                    false
                } else if let Some(low) = self.hex4() {
                    (0xDC00..=0xDFFF).contains(&low)
                } else {
                    // The digits themselves are wrong, and that is said of them.
                    return false;
                }
            }
            0xDC00..=0xDFFF => false,
            _ => true,
        };
        good || self.fail(JsonErrorKind::Syntax, place)
    }

    fn hex4(&mut self) -> Option<u32> {
        let mut code: u32 = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(16)) else {
                self.syntax();
                return None;
            };
            code = (code << 4) | digit;
            self.step();
        }
        Some(code)
    }

    fn digits(&mut self) -> bool {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.step();
        }
        self.at > start || self.syntax()
    }

    fn number(&mut self) -> bool {
        /// Integers this long fit 64 bits whatever their digits.
        const SHORT: usize = 18;
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.step();
        }
        if self.peek() == Some(b'0') {
            self.step();
        } else if !self.digits() {
            return false;
        }
        let mut integer = true;
        if self.peek() == Some(b'.') {
            integer = false;
            self.step();
            if !self.digits() {
                return false;
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            integer = false;
            self.step();
            if let Some(b'+' | b'-') = self.peek() {
                self.step();
            }
            if !self.digits() {
                return false;
            }
        }
        let short = integer && self.at.saturating_sub(start) <= SHORT;
        short || number_of(self.since(start)).is_some() || self.fail(JsonErrorKind::NumberRange, start)
    }
}

/// One of 64 bits for a key: equal keys have equal marks.
#[inline]
fn mark(key: &str) -> u64 {
    let bytes = key.as_bytes();
    let ends = bytes.first().zip(bytes.last()).map_or(0, |(first, last)| u32::from(*first) ^ (u32::from(*last) << 3));
    1_u64 << (ends.wrapping_add(u32::try_from(bytes.len()).unwrap_or(0)) & 63)
}
