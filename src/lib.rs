//! turnkeep makes an LLM agent's loop bounded, gated and receipted.

pub mod admission;
pub mod approval;
pub mod budget;
pub mod config;
pub mod cost;
pub mod error;
pub mod json;
pub mod limits;
pub mod log;
pub mod message;
pub mod provider;
pub mod run;
pub mod step;
pub mod tools;
pub mod turn;
pub mod wire;

#[cfg(all(target_arch = "wasm32", feature = "js"))]
pub mod wasm;
