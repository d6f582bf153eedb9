//! The shared case runner: one case file, every runner. Included by path in the native tests, the browser tests and
//! `cargo xtask conformance`, so it builds for wasm32 and reads no files itself.
//!
//! It knows what a case file means and how a verdict is scored; it does not know how the core decides.
#![allow(dead_code)]
#![allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, clippy::expect_used, clippy::unwrap_used)]

pub mod case;
pub mod check;
pub mod figure;
pub mod hostile;
pub mod native;
pub mod rng;
pub mod score;
pub mod splits;
pub mod verdict;
