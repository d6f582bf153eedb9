//! The canonical form (N-02): RFC 8785, extended so that integers of 64 bits keep their digits. Reading it back gives the same text.

use super::{Value, number_text};
use crate::wire::find::special;

/// The canonical text of a value.
#[must_use]
pub fn canonical(value: &Value<'_>) -> String {
    let mut out = String::new();
    write_canonical(value, &mut out);
    out
}

/// The text of a value with members in their own order, for what must go back as it came (S-16).
#[must_use]
pub fn ordered(value: &Value<'_>) -> String {
    let mut out = String::new();
    write(value, false, &mut out);
    out
}

/// Appends the canonical text of a value.
pub fn write_canonical(value: &Value<'_>, out: &mut String) {
    write(value, true, out);
}

fn write(value: &Value<'_>, sorted: bool, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&number_text(*number)),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write(item, sorted, out);
            }
            out.push(']');
        }
        Value::Object(object) => {
            let mut members: Vec<(&str, &Value<'_>)> = object.iter().collect();
            if sorted {
                // RFC 8785 sorts by UTF-16 code units, which differs from bytes above the surrogates.
                members.sort_by(|(one, _), (two, _)| one.encode_utf16().cmp(two.encode_utf16()));
            }
            out.push('{');
            for (position, (key, member)) in members.into_iter().enumerate() {
                if position > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write(member, sorted, out);
            }
            out.push('}');
        }
    }
}

/// The canonical JSON text of a string.
#[must_use]
#[inline(never)]
pub fn quote(text: &str) -> String {
    let mut out = String::new();
    write_string(text, &mut out);
    out
}

/// Appends the canonical JSON text of a string.
pub(crate) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = special(rest.as_bytes()) {
        let (plain, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(plain);
        let mut characters = tail.chars();
        match characters.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\t') => out.push_str("\\t"),
            Some('\n') => out.push_str("\\n"),
            Some('\u{c}') => out.push_str("\\f"),
            Some('\r') => out.push_str("\\r"),
            Some(other) => out.push_str(&format!("\\u{:04x}", u32::from(other))),
            None => {}
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}
