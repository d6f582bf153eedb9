//! turnkeep makes an LLM agent's loop bounded, gated and receipted.
#![cfg_attr(not(target_arch = "wasm32"), forbid(unsafe_code))]

pub mod error;
pub mod json;
pub mod limits;
pub mod provider;
pub mod turn;
pub mod wire;
