//! The only hashing room (N-03): SHA-256 over the canonical form of an array that starts with a purpose tag.

use super::{Value, write_canonical};
use sha2::{Digest as _, Sha256};

/// `sha256:` and 64 hex digits.
pub type Digest = String;

/// The digest of an array `[tag, parts...]`. The tag keeps the same bytes, hashed for two purposes, apart.
#[must_use]
pub fn hash(tag: &str, parts: &[&Value<'_>]) -> Digest {
    let mut text = String::from("[");
    write_canonical(&Value::text(tag), &mut text);
    for part in parts {
        text.push(',');
        write_canonical(part, &mut text);
    }
    text.push(']');
    digest_text(&text)
}

/// As [`hash`], with parts that already are canonical text.
#[must_use]
pub fn hash_array(tag: &str, canonical_parts: &[&str]) -> Digest {
    let mut text = String::from("[");
    write_canonical(&Value::text(tag), &mut text);
    for part in canonical_parts {
        text.push(',');
        text.push_str(part);
    }
    text.push(']');
    digest_text(&text)
}

/// The digest of a text that already is canonical.
#[must_use]
pub fn digest_text(text: &str) -> Digest {
    format!("sha256:{}", hex(text.as_bytes()))
}

/// 64 lower-case hex digits of the SHA-256 of bytes.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().map_or('0', char::from);
    Sha256::digest(bytes).iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
