//! A checked text as a tree of values, or straight in its canonical form (N-01, N-02).

use super::Value;
use super::scan::{JsonError, JsonErrorKind, scan};

/// Containers may stand this deep in free JSON.
pub const MAX_DEPTH: u32 = 64;
/// Our own envelopes (entries, checkpoints, border messages) hold free JSON as members, so they get some more.
pub const ENVELOPE_DEPTH: u32 = 80;

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
    Ok(scan(text, depth)?.value())
}

/// The canonical form of a text, without a tree in between: memory is that of the result and four bytes a key.
///
/// # Errors
/// As [`parse`].
///
/// ```
/// assert_eq!(turnkeep::json::canonicalize(r#" {"b" : 1e0, "\u0061": "\/"} "#, 64).unwrap(), r#"{"a":"/","b":1}"#);
/// ```
pub fn canonicalize(text: &str, depth: u32) -> Result<String, JsonError> {
    let raw = scan(text, depth)?;
    let mut out = String::with_capacity(raw.size());
    raw.write_canonical(&mut out);
    Ok(out)
}
