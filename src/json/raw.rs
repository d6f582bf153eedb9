//! Pieces of a text that has been checked: what they stand for, read without building anything.
//!
//! Only [`super::scan`] makes them, so nothing here can meet a text that is not JSON; whatever cannot be is nothing, never a panic.

use super::{Number, Object, Value, canonical::write_string, number_text};
use crate::wire::find::special;
use std::borrow::Cow;
use std::cmp::Ordering;

/// A value as it stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Raw<'a> {
    /// No member of that name.
    #[default]
    Absent,
    Null,
    Bool(bool),
    Number(&'a str),
    /// What stands between the quotes, and whether it holds escapes.
    String(&'a str, bool),
    /// With its brackets, and how many items it has.
    Array(&'a str, usize),
    /// With its braces.
    Object(&'a str),
}

impl<'a> Raw<'a> {
    pub(crate) fn is_none(self) -> bool {
        matches!(self, Raw::Absent | Raw::Null)
    }

    /// The text of a string.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Raw::String(text, false) => Some(Cow::Borrowed(text)),
            Raw::String(text, true) => {
                let mut out = String::new();
                decode(text, &mut out);
                Some(Cow::Owned(out))
            }
            _ => None,
        }
    }

    /// Appends the text of a string, nothing of anything else; gives what was appended.
    pub(crate) fn append_to(self, out: &mut String) -> &str {
        let before = out.len();
        match self {
            Raw::String(text, false) => out.push_str(text),
            Raw::String(text, true) => decode(text, out),
            _ => {}
        }
        out.get(before..).unwrap_or_default()
    }

    /// How many bytes [`Raw::append_to`] appends, never more than [`Raw::size`].
    pub(crate) fn text_size(self) -> usize {
        match self {
            Raw::String(text, false) => text.len(),
            Raw::String(text, true) => characters((text, true)).map(char::len_utf8).fold(0, usize::saturating_add),
            _ => 0,
        }
    }

    /// The member of that name.
    pub(crate) fn get(self, name: &str) -> Raw<'a> {
        self.members().find(|(key, _)| key.is_text(name)).map_or(Raw::Absent, |(_, value)| value)
    }

    /// Whether it is that string.
    pub(crate) fn is_text(self, other: &str) -> bool {
        matches!(self, Raw::String(text, escaped) if same_text((text, escaped), (other, false)))
    }

    pub(crate) fn starts_with(self, prefix: &str) -> bool {
        match self {
            Raw::String(text, false) => text.starts_with(prefix),
            _ => self.text().is_some_and(|text| text.starts_with(prefix)),
        }
    }

    pub(crate) fn as_u64(self) -> Option<u64> {
        match self {
            Raw::Number(literal) => number_of(literal)?.as_u64(),
            _ => None,
        }
    }

    /// Members of an object in order, none of anything else.
    pub(crate) fn members(self) -> Members<'a> {
        match self {
            Raw::Object(text) => Members(Walk::into(text)),
            _ => Members(Walk::into("")),
        }
    }

    /// Items of an array in order, none of anything else.
    pub(crate) fn items(self) -> Items<'a> {
        match self {
            Raw::Array(text, _) => Items(Walk::into(text)),
            _ => Items(Walk::into("")),
        }
    }

    /// The value as a tree.
    pub(crate) fn value(self) -> Value<'a> {
        match self {
            Raw::Absent | Raw::Null => Value::Null,
            Raw::Bool(value) => Value::Bool(value),
            Raw::Number(literal) => Value::Number(number_of(literal).unwrap_or(Number::Uint(0))),
            Raw::String(..) => Value::String(self.text().unwrap_or_default()),
            Raw::Array(_, count) => {
                let mut items = Vec::with_capacity(count);
                items.extend(self.items().map(Raw::value));
                Value::Array(items)
            }
            Raw::Object(_) => Value::Object(Object(
                self.members().map(|(key, value)| (key.text().unwrap_or_default(), value.value())).collect(),
            )),
        }
    }

    /// How many values it holds, itself included.
    pub(crate) fn count(self) -> u64 {
        let inside = match self {
            Raw::Array(..) => self.items().map(Raw::count).fold(0, u64::saturating_add),
            Raw::Object(_) => self.members().map(|(_, value)| value.count()).fold(0, u64::saturating_add),
            _ => 0,
        };
        inside.saturating_add(1)
    }

    /// How many bytes its text has.
    pub(crate) fn size(self) -> usize {
        match self {
            Raw::Absent => 0,
            Raw::Null | Raw::Bool(true) => 4,
            Raw::Bool(false) => 5,
            Raw::Number(text) | Raw::Array(text, _) | Raw::Object(text) => text.len(),
            Raw::String(text, _) => text.len().saturating_add(2),
        }
    }

    /// Appends the canonical text (N-02).
    pub(crate) fn write_canonical(self, out: &mut String) {
        self.write_canonical_within(out, usize::MAX);
    }

    /// As [`Raw::write_canonical`], but stops some way behind a bound, which the length then tells.
    pub(crate) fn write_canonical_within(self, out: &mut String, bound: usize) {
        if out.len() > bound {
            return;
        }
        match self {
            Raw::Absent | Raw::Null => out.push_str("null"),
            Raw::Bool(true) => out.push_str("true"),
            Raw::Bool(false) => out.push_str("false"),
            Raw::Number(literal) => match number_of(literal) {
                // Most numbers are short integers, which are their own canonical text.
                Some(Number::Uint(_) | Number::Int(_)) => {
                    out.push_str(literal.strip_prefix("-0").map_or(literal, |_| "0"))
                }
                Some(number) => out.push_str(&number_text(number)),
                None => {}
            },
            Raw::String(text, false) => {
                // Without escapes it holds nothing that would need one.
                out.push('"');
                out.push_str(text);
                out.push('"');
            }
            Raw::String(..) => write_string(&self.text().unwrap_or_default(), out),
            Raw::Array(..) => {
                out.push('[');
                for (position, item) in self.items().enumerate() {
                    if out.len() > bound {
                        return;
                    }
                    if position > 0 {
                        out.push(',');
                    }
                    item.write_canonical_within(out, bound);
                }
                out.push(']');
            }
            Raw::Object(text) => write_object(text, out, bound),
        }
    }
}

/// Members are sorted by their places in the text: four bytes for each, and nothing of them is copied.
fn write_object(text: &str, out: &mut String, bound: usize) {
    let at = |place: u32| text.get(usize::try_from(place).unwrap_or(usize::MAX)..).unwrap_or_default();
    let mut walk = Walk::into(text);
    let mut places = Vec::new();
    while let Some(place) = walk.place() {
        places.push(u32::try_from(text.len().saturating_sub(place)).unwrap_or(u32::MAX));
        walk.member();
    }
    places.sort_unstable_by(|one, two| text_order_utf16(key_at(at(*one)), key_at(at(*two))));
    out.push('{');
    for (position, place) in places.into_iter().enumerate() {
        if out.len() > bound {
            return;
        }
        if position > 0 {
            out.push(',');
        }
        if let Some((key, value)) = (Walk { rest: at(place) }).member() {
            key.write_canonical(out);
            out.push(':');
            value.write_canonical_within(out, bound);
        }
    }
    out.push('}');
}

fn key_at(text: &str) -> (&str, bool) {
    let text = inside(text.get(1..).unwrap_or_default());
    (text, text.contains('\\'))
}

/// The members of an object.
pub(crate) struct Members<'a>(Walk<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (Raw<'a>, Raw<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.member()
    }
}

/// The items of an array.
pub(crate) struct Items<'a>(Walk<'a>);

impl<'a> Iterator for Items<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.place()?;
        self.0.value()
    }
}

/// Walks over a text that has been checked.
struct Walk<'a> {
    rest: &'a str,
}

impl<'a> Walk<'a> {
    /// Starts behind the opening bracket.
    fn into(text: &'a str) -> Walk<'a> {
        Walk { rest: text.get(1..).unwrap_or_default() }
    }

    /// Goes to the next item or key; how much of the text is left there, none at the end of the container.
    fn place(&mut self) -> Option<usize> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', ',']);
        match self.rest.as_bytes().first() {
            None | Some(b']' | b'}') => None,
            Some(_) => Some(self.rest.len()),
        }
    }

    fn member(&mut self) -> Option<(Raw<'a>, Raw<'a>)> {
        self.place()?;
        let key = self.value()?;
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r', ':']);
        Some((key, self.value()?))
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn value(&mut self) -> Option<Raw<'a>> {
        match self.rest.as_bytes().first()? {
            b'"' => {
                let text = inside(self.rest.get(1..)?);
                self.take(text.len().saturating_add(2));
                Some(Raw::String(text, text.contains('\\')))
            }
            b'{' => Some(Raw::Object(self.container().0)),
            b'[' => {
                let (text, items) = self.container();
                Some(Raw::Array(text, items))
            }
            b't' => {
                self.take(4);
                Some(Raw::Bool(true))
            }
            b'f' => {
                self.take(5);
                Some(Raw::Bool(false))
            }
            b'n' => {
                self.take(4);
                Some(Raw::Null)
            }
            _ => {
                let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
                let length = self.rest.as_bytes().iter().position(ends).unwrap_or(self.rest.len());
                Some(Raw::Number(self.take(length)))
            }
        }
    }

    /// A whole container and how many items stand directly in it.
    fn container(&mut self) -> (&'a str, usize) {
        let bytes = self.rest.as_bytes();
        let (mut at, mut depth, mut items, mut empty) = (0_usize, 0_usize, 0_usize, true);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let text = inside(self.rest.get(at.saturating_add(1)..).unwrap_or_default());
                    at = at.saturating_add(text.len()).saturating_add(1);
                }
                b'{' | b'[' => depth = depth.saturating_add(1),
                b'}' | b']' => depth = depth.saturating_sub(1),
                b',' if depth == 1 => items = items.saturating_add(1),
                _ => {}
            }
            empty &= at == 0 || matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b']' | b'}');
            at = at.saturating_add(1);
            if depth == 0 {
                break;
            }
        }
        (self.take(at), if empty { 0 } else { items.saturating_add(1) })
    }
}

/// What stands before the closing quote.
pub(super) fn inside(text: &str) -> &str {
    let bytes = text.as_bytes();
    let mut at = 0_usize;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        at = at.saturating_add(special(rest).unwrap_or(rest.len()));
        match bytes.get(at) {
            Some(b'\\') => at = at.saturating_add(2),
            _ => return text.get(..at).unwrap_or_default(),
        }
    }
}

/// The characters a piece of a string stands for.
struct Characters<'a> {
    rest: std::str::Chars<'a>,
    escaped: bool,
}

impl Characters<'_> {
    fn unit(&mut self) -> u32 {
        (0..4).fold(0, |code, _| (code << 4) | self.rest.next().and_then(|digit| digit.to_digit(16)).unwrap_or(0))
    }
}

impl Iterator for Characters<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let first = self.rest.next()?;
        if first != '\\' || !self.escaped {
            return Some(first);
        }
        Some(match self.rest.next()? {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let unit = self.unit();
                let code = if (0xD800..=0xDBFF).contains(&unit) {
                    // The second half of the pair, behind its own `\u`.
                    self.rest.nth(1);
                    0x1_0000_u32.saturating_add((unit & 0x3FF) << 10).saturating_add(self.unit() & 0x3FF)
                } else {
                    unit
                };
                char::from_u32(code).unwrap_or_default()
            }
            other => other,
        })
    }
}

fn characters((text, escaped): (&str, bool)) -> Characters<'_> {
    Characters { rest: text.chars(), escaped }
}

/// Appends what a piece with escapes stands for.
pub(crate) fn decode(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| byte == b'\\') {
        let (plain, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(plain);
        let mut characters = characters((tail, true));
        out.extend(characters.next());
        rest = characters.rest.as_str();
    }
    out.push_str(rest);
}

/// Whether two pieces stand for the same text.
pub(super) fn same_text(one: (&str, bool), two: (&str, bool)) -> bool {
    if one.1 || two.1 { characters(one).eq(characters(two)) } else { one.0 == two.0 }
}

/// An order in which equal texts stand together.
pub(super) fn text_order(one: (&str, bool), two: (&str, bool)) -> Ordering {
    if one.1 || two.1 { characters(one).cmp(characters(two)) } else { one.0.cmp(two.0) }
}

/// The order of RFC 8785: by UTF-16 code units, which differs from bytes only above the surrogates.
fn text_order_utf16(one: (&str, bool), two: (&str, bool)) -> Ordering {
    if !one.1 && !two.1 && (one.0.is_ascii() || two.0.is_ascii()) {
        return one.0.cmp(two.0);
    }
    let units = |text: (&str, bool)| -> Vec<u16> { characters(text).collect::<String>().encode_utf16().collect() };
    units(one).cmp(&units(two))
}

/// The number a literal stands for; none when neither 64 bits nor a double hold it exactly enough (N-01).
pub(super) fn number_of(literal: &str) -> Option<Number> {
    let integer = !literal.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    if integer {
        if let Ok(number) = literal.parse::<u64>() {
            return Some(Number::Uint(number));
        }
        if let Ok(number) = literal.parse::<i64>() {
            return Some(if number == 0 { Number::Uint(0) } else { Number::Int(number) });
        }
    }
    let double: f64 = literal.parse().ok()?;
    // A longer integer is kept only when its double is written the same way: nothing is rounded in silence.
    let kept = double.is_finite() && (!integer || number_text(Number::Double(double)) == literal);
    kept.then_some(Number::Double(double))
}
