//! turnkeep makes an LLM agent's loop bounded, gated and receipted.
#![forbid(unsafe_code)]
