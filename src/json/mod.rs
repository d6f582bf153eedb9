//! JSON as the product reads, writes and hashes it (N-01, N-02, N-03).
//!
//! Knows nothing of models or runs. [`parse`] is the only way in, [`canonical`] the only way out of anything that is hashed or compared,
//! [`hash`] the only place that hashes.

mod canonical;
mod hash;
mod number;
mod parse;
mod raw;
mod scan;
mod value;
mod write;

pub(crate) use canonical::write_string;
pub use canonical::{canonical, ordered, quote, write_canonical};
pub use hash::{Digest, digest_text, hash, hash_array, hex};
pub use number::number_text;
pub use parse::{ENVELOPE_DEPTH, MAX_DEPTH, canonicalize, parse, parse_bytes, parse_with_depth};
pub(crate) use raw::Raw;
pub use scan::{JsonError, JsonErrorKind};
pub(crate) use scan::{Room, Shape, Special, scan, select, select_with};
pub use value::{Number, Object, Value};
pub use write::{array, object, text_or_null};
