//! The strict parser (N-01): RFC 8259, no duplicate keys after unescaping, no lone surrogates, bounded depth, numbers kept or refused.
//!
//! It never repairs and never guesses. Depth is bounded before it recurses, so no text can exhaust the stack.

use super::{Number, Object, Value, number_text};
use std::borrow::Cow;

/// Containers may stand this deep in free JSON.
pub const MAX_DEPTH: u32 = 64;
/// Our own envelopes (entries, checkpoints, border messages) hold free JSON as members, so they get some more.
pub const ENVELOPE_DEPTH: u32 = 80;

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

/// Reads one JSON value from bytes.
///
/// # Errors
/// As [`parse`], and `Utf8` when the bytes are not UTF-8.
pub fn parse_bytes(bytes: &[u8]) -> Result<Value<'_>, JsonError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| JsonError { kind: JsonErrorKind::Utf8, offset: error.valid_up_to() })?;
    parse(text)
}

/// Reads one JSON value, with white space around it and nothing else.
///
/// # Errors
/// Any departure from N-01, with its byte offset.
///
/// ```
/// use turnkeep::json::{canonical, parse};
/// assert_eq!(canonical(&parse(r#"{"b":1.0,"a":[9007199254740993]}"#).unwrap()), r#"{"a":[9007199254740993],"b":1}"#);
/// assert_eq!(parse(r#"{"a":1,"\u0061":2}"#).unwrap_err().offset, 7);
/// ```
pub fn parse(text: &str) -> Result<Value<'_>, JsonError> {
    parse_with_depth(text, MAX_DEPTH)
}

/// As [`parse`] with another depth, for our own envelopes.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_depth(text: &str, depth: u32) -> Result<Value<'_>, JsonError> {
    let mut cursor = Cursor { text, bytes: text.as_bytes(), at: 0, depth };
    cursor.space();
    let value = cursor.value()?;
    cursor.space();
    match cursor.peek() {
        None => Ok(value),
        Some(_) => Err(cursor.error(JsonErrorKind::Syntax)),
    }
}

struct Cursor<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> Cursor<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    fn error(&self, kind: JsonErrorKind) -> JsonError {
        JsonError { kind, offset: self.at }
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.step();
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.peek() == Some(byte) {
            self.step();
            Ok(())
        } else {
            Err(self.error(JsonErrorKind::Syntax))
        }
    }

    fn value(&mut self) -> Result<Value<'a>, JsonError> {
        match self.peek() {
            Some(b'"') => Ok(Value::String(self.string()?)),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'-' | b'0'..=b'9') => Ok(Value::Number(self.number()?)),
            _ => Err(self.error(JsonErrorKind::Syntax)),
        }
    }

    fn word(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>, JsonError> {
        for byte in word.bytes() {
            self.expect(byte)?;
        }
        Ok(value)
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Value<'a>, JsonError>) -> Result<Value<'a>, JsonError> {
        let Some(left) = self.depth.checked_sub(1) else {
            return Err(self.error(JsonErrorKind::TooDeep));
        };
        self.depth = left;
        self.step();
        let value = read(self)?;
        self.depth = left.saturating_add(1);
        Ok(value)
    }

    fn array(&mut self) -> Result<Value<'a>, JsonError> {
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.step();
            return Ok(Value::Array(items));
        }
        loop {
            self.space();
            items.push(self.value()?);
            self.space();
            match self.peek() {
                Some(b',') => self.step(),
                Some(b']') => {
                    self.step();
                    return Ok(Value::Array(items));
                }
                _ => return Err(self.error(JsonErrorKind::Syntax)),
            }
        }
    }

    fn object(&mut self) -> Result<Value<'a>, JsonError> {
        /// Up to here a linear look is cheaper than sorting.
        const FEW: usize = 12;
        let mut members: Vec<(Cow<'a, str>, Value<'a>)> = Vec::new();
        let mut places: Vec<usize> = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.step();
            return Ok(Value::Object(Object(members)));
        }
        loop {
            self.space();
            let place = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.error(JsonErrorKind::Syntax));
            }
            let key = self.string()?;
            if members.len() <= FEW && members.iter().any(|(name, _)| *name == key) {
                return Err(JsonError { kind: JsonErrorKind::DuplicateKey, offset: place });
            }
            self.space();
            self.expect(b':')?;
            self.space();
            let value = self.value()?;
            members.push((key, value));
            places.push(place);
            self.space();
            match self.peek() {
                Some(b',') => self.step(),
                Some(b'}') => {
                    self.step();
                    break;
                }
                _ => return Err(self.error(JsonErrorKind::Syntax)),
            }
        }
        if members.len() > FEW {
            let mut keys: Vec<(&str, usize)> =
                members.iter().zip(&places).map(|((key, _), place)| (key.as_ref(), *place)).collect();
            keys.sort_unstable();
            let twice = keys.iter().zip(keys.iter().skip(1)).filter(|(one, two)| one.0 == two.0);
            if let Some(offset) = twice.map(|(_, two)| two.1).min() {
                return Err(JsonError { kind: JsonErrorKind::DuplicateKey, offset });
            }
        }
        Ok(Value::Object(Object(members)))
    }

    /// Advances over characters that stand for themselves and gives them.
    fn plain(&mut self) -> &'a str {
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == b'"' || *byte == b'\\' || *byte < 0x20).unwrap_or(rest.len());
        self.at = start.saturating_add(length);
        // Both ends stand beside ASCII bytes or at the ends of the text, so they are character boundaries.
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.step();
        let first = self.plain();
        if self.peek() == Some(b'"') {
            self.step();
            return Ok(Cow::Borrowed(first));
        }
        let mut text = first.to_owned();
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.step();
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => {
                    self.step();
                    text.push(self.escape()?);
                    text.push_str(self.plain());
                }
                _ => return Err(self.error(JsonErrorKind::Syntax)),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let Some(byte) = self.peek() else {
            return Err(self.error(JsonErrorKind::Syntax));
        };
        let simple = match byte {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.step();
                return self.unicode();
            }
            _ => return Err(self.error(JsonErrorKind::Syntax)),
        };
        self.step();
        Ok(simple)
    }

    /// The character of one `\uXXXX`, or of a pair of them. A half of a pair alone has no UTF-8 form and is refused (S-21).
    fn unicode(&mut self) -> Result<char, JsonError> {
        let place = self.at;
        let lone = JsonError { kind: JsonErrorKind::Syntax, offset: place };
        let unit = self.hex4()?;
        let code = match unit {
            0xD800..=0xDBFF => {
                self.expect(b'\\').map_err(|_| lone)?;
                self.expect(b'u').map_err(|_| lone)?;
                let low = self.hex4()?;
                if !(0xDC00..=0xDFFF).contains(&low) {
                    return Err(lone);
                }
                0x1_0000_u32.saturating_add((unit & 0x3FF) << 10).saturating_add(low & 0x3FF)
            }
            _ => unit,
        };
        char::from_u32(code).ok_or(lone)
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let mut code: u32 = 0;
        for _ in 0..4 {
            let digit = match self.peek() {
                Some(byte) => char::from(byte).to_digit(16),
                None => None,
            };
            let Some(digit) = digit else {
                return Err(self.error(JsonErrorKind::Syntax));
            };
            code = (code << 4) | digit;
            self.step();
        }
        Ok(code)
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.error(JsonErrorKind::Syntax));
        }
        while let Some(b'0'..=b'9') = self.peek() {
            self.step();
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Number, JsonError> {
        let start = self.at;
        let negative = self.peek() == Some(b'-');
        if negative {
            self.step();
        }
        if self.peek() == Some(b'0') {
            self.step();
        } else {
            self.digits()?;
        }
        let mut integer = true;
        if self.peek() == Some(b'.') {
            integer = false;
            self.step();
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            integer = false;
            self.step();
            if let Some(b'+' | b'-') = self.peek() {
                self.step();
            }
            self.digits()?;
        }
        let literal = self.text.get(start..self.at).unwrap_or_default();
        let range = JsonError { kind: JsonErrorKind::NumberRange, offset: start };
        if integer {
            if let Ok(number) = literal.parse::<u64>() {
                return Ok(Number::Uint(number));
            }
            if let Ok(number) = literal.parse::<i64>() {
                return Ok(if number == 0 { Number::Uint(0) } else { Number::Int(number) });
            }
        }
        let double: f64 = literal.parse().map_err(|_| range)?;
        if !double.is_finite() {
            return Err(range);
        }
        // A longer integer is kept only when its double is written the same way: nothing is rounded in silence.
        if integer && number_text(Number::Double(double)) != literal {
            return Err(range);
        }
        Ok(Number::Double(double))
    }
}
