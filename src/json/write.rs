//! Small pieces of JSON text for records whose members are fixed. Values are JSON texts already.

use super::quote;

/// An object with the members in the order given.
#[must_use]
#[inline(never)]
pub fn object(members: &[(&str, String)]) -> String {
    let mut out = String::from("{");
    for (position, (name, value)) in members.iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        out.push_str(&quote(name));
        out.push(':');
        out.push_str(value);
    }
    out.push('}');
    out
}

/// An array of JSON texts.
#[must_use]
pub fn array(items: impl IntoIterator<Item = String>) -> String {
    let mut out = String::from("[");
    for (position, item) in items.into_iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        out.push_str(&item);
    }
    out.push(']');
    out
}

/// A text, or null.
#[must_use]
pub fn text_or_null(text: Option<&str>) -> String {
    text.map_or("null".to_owned(), quote)
}
