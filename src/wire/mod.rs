//! Bytes to frames (S-22). Knows nothing of models.

pub mod sse;
pub mod utf8;
