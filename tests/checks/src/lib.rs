//! The bodies of the acceptance checks A3, A4, A5, and what A6 generates. They read no files: a job is a kind and its bytes, so the same code
//! runs natively in xtask and as wasm32 in Node, each time on the core that it was compiled with.
mod answers;
pub mod fuzz;
mod jcs;
mod json;
mod sse;
#[path = "../../support/mod.rs"]
pub mod support;
mod texts;
mod turn_changes;
mod turns;
#[cfg(target_arch = "wasm32")]
mod wasm;

pub use answers::answers;
pub use support::figure::Figure;

/// Runs one job.
///
/// # Errors
/// A kind that is not known, or bytes that are no such job: the data is wrong, not the core.
pub fn check(kind: &str, input: &[u8], seed: u64) -> Result<Figure, String> {
    let mut figure = Figure::default();
    match kind {
        "sse" => sse::check(&value(input)?, seed, &mut figure)?,
        "json" => json::file(&value(input)?, &mut figure)?,
        "utf8" => json::utf8(&value(input)?, &mut figure)?,
        "jcs" => jcs::file(&value(input)?, &mut figure)?,
        "numbers" => jcs::numbers(&value(input)?, &mut figure)?,
        _ => return Err(format!("no check of the kind `{kind}`")),
    }
    Ok(figure)
}

fn value(input: &[u8]) -> Result<serde_json::Value, String> {
    serde_json::from_slice(input).map_err(|error| format!("a job is JSON: {error}"))
}

/// A member of a job that is a text.
fn word<'a>(job: &'a serde_json::Value, name: &str) -> Result<&'a str, String> {
    job[name].as_str().ok_or_else(|| format!("a job without `{name}`"))
}

/// A member of a job that is bytes, as base64.
fn bytes(job: &serde_json::Value, name: &str) -> Result<Vec<u8>, String> {
    support::case::base64_decode(word(job, name)?)
}

fn hex_bytes(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).map_err(|error| error.to_string()))
        .collect()
}
