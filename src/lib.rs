//! turnkeep makes an LLM agent's loop bounded, gated and receipted.

pub mod budget;
pub mod config;
pub mod cost;
pub mod error;
pub mod json;
pub mod limits;
pub mod message;
pub mod provider;
pub mod step;
pub mod tools;
pub mod turn;
pub mod wire;

#[cfg(all(target_arch = "wasm32", feature = "js"))]
pub mod wasm;
