//! The way in from Node.
use wasm_bindgen::prelude::wasm_bindgen;

/// Runs one job; gives `{"checks": n, "wrong": [text]}` or `{"trouble": text}`.
#[wasm_bindgen]
pub fn check(kind: &str, input: &[u8], seed: u64) -> String {
    match super::check(kind, input, seed) {
        Ok(figure) => serde_json::json!({ "checks": figure.checks, "wrong": figure.wrong }).to_string(),
        Err(trouble) => serde_json::json!({ "trouble": trouble }).to_string(),
    }
}

/// Generates and answers; gives one JSON line each, or the trouble as the thrown text.
#[wasm_bindgen]
pub fn answers(kind: &str, from: usize, count: usize, seed: u64) -> Result<String, String> {
    super::answers(kind, from, count, seed)
}
