//! Bytes to frames (S-22). Knows nothing of models.

pub(crate) mod find;
pub mod sse;
pub mod utf8;
