//! Small pieces of JSON text for records whose members are fixed. Values are JSON texts already.

use super::quote;

/// An object with the members in the order given.
#[must_use]
pub fn object(members: &[(&str, String)]) -> String {
    let items: Vec<String> = members.iter().map(|(name, value)| format!("{}:{value}", quote(name))).collect();
    format!("{{{}}}", items.join(","))
}

/// An array of JSON texts.
#[must_use]
pub fn array(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<String> = items.into_iter().collect();
    format!("[{}]", items.join(","))
}

/// A text, or null.
#[must_use]
pub fn text_or_null(text: Option<&str>) -> String {
    text.map_or("null".to_owned(), quote)
}
