//! Functions without state. Each takes JSON text and gives JSON text.

use crate::config::{ModelProfile, check_config};
use crate::cost::Prices;
use crate::error::{Error, Reason};
use crate::json::{Object, Value, array, canonical as canonical_text, digest_text, object, parse_with_depth, quote};
use crate::provider::{Cause, Usage, build_request};
use wasm_bindgen::prelude::wasm_bindgen;

/// The text of a refusal.
pub(super) fn refusal(error: &Error) -> String {
    format!("{{\"error\":{}}}", error.to_json())
}

/// The text of a success.
fn answer(result: Result<String, Error>) -> String {
    match result {
        Ok(text) => format!("{{\"ok\":{text}}}"),
        Err(error) => refusal(&error),
    }
}

fn input(text: &str) -> Result<Value<'_>, Error> {
    parse_with_depth(text, crate::json::ENVELOPE_DEPTH)
        .map_err(|error| Error::new(Reason::InvalidInput).at_byte(u64::try_from(error.offset).unwrap_or(u64::MAX)))
}

fn canonicalize(text: &str) -> Result<String, Error> {
    crate::json::canonicalize(text, crate::json::ENVELOPE_DEPTH)
        .map_err(|error| Error::new(Reason::InvalidInput).at_byte(u64::try_from(error.offset).unwrap_or(u64::MAX)))
}

fn members<'v, 'a>(value: &'v Value<'a>) -> Result<&'v Object<'a>, Error> {
    value.as_object().ok_or_else(|| Error::new(Reason::InvalidInput))
}

fn read_request(json: &str) -> Result<String, Error> {
    let value = input(json)?;
    let given = members(&value)?;
    let missing = |field: &str| Error::new(Reason::InvalidInput).at_field(field);
    let profile = ModelProfile::read(given.get("profile").unwrap_or(&Value::Null), "model")?;
    let name = given.get("model_profile").and_then(Value::as_str).ok_or_else(|| missing("model_profile"))?;
    let turn = given.get("input").and_then(Value::as_object).ok_or_else(|| missing("input"))?;
    build_request(&profile, name, turn).map(|request| request.to_json())
}

/// Builds the request of one turn.
#[wasm_bindgen]
pub fn request(json: &str) -> String {
    answer(read_request(json))
}

fn read_failure(json: &str) -> Result<Error, Error> {
    let value = input(json)?;
    let given = members(&value)?;
    let text = |name: &str| given.get(name).and_then(Value::as_str);
    let cause = match text("cause") {
        Some("http") => {
            let status = given.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
            Cause::Http(status.ok_or_else(|| Error::new(Reason::InvalidInput).at_field("status"))?)
        }
        Some("transport") => Cause::Transport,
        Some("timeout") => Cause::Timeout,
        Some("content_type") => Cause::ContentType,
        _ => return Err(Error::new(Reason::InvalidInput).at_field("cause")),
    };
    let error = crate::provider::http_error(cause, text("retry_after"), text("body"));
    Ok(match text("content_type") {
        Some(kind) if cause == Cause::ContentType => error.with("content_type", Value::text(kind)),
        _ => error,
    })
}

/// The record of a failed model call.
#[wasm_bindgen]
pub fn http_error(json: &str) -> String {
    match read_failure(json) {
        Ok(error) | Err(error) => error.to_json(),
    }
}

fn read_error(json: &str) -> Result<Error, Error> {
    let value = input(json)?;
    let given = members(&value)?;
    let word = given.get("reason").and_then(Value::as_str).unwrap_or_default();
    let reason = Reason::of_word(word).ok_or_else(|| Error::new(Reason::InvalidInput).at_field("reason"))?;
    let field = given.get("at").and_then(Value::as_object).and_then(|at| at.get("field")).and_then(Value::as_str);
    let error = Error::new(reason);
    Ok(match field {
        Some(field) => error.at_field(field),
        None => error,
    })
}

/// The record of an error that the bindings raise themselves.
#[wasm_bindgen]
pub fn make_error(json: &str) -> String {
    match read_error(json) {
        Ok(error) | Err(error) => error.to_json(),
    }
}

fn read_configuration(json: &str) -> Result<String, Error> {
    let value = input(json)?;
    check_config(&value)?;
    Ok(canonical_text(&value))
}

/// Checks an `agent_runtime` configuration.
#[wasm_bindgen]
pub fn read_config(json: &str) -> String {
    answer(read_configuration(json))
}

fn cost(json: &str) -> Option<String> {
    let value = input(json).ok()?;
    let given = value.as_object()?;
    let usage = Usage::read(given.get("usage")?)?;
    let prices = Prices::read(given.get("prices")?, "prices").ok()?;
    prices.cost(&usage).map(crate::budget::usd)
}

/// The cost of a usage in USD, or null.
#[wasm_bindgen]
pub fn usage_cost(json: &str) -> String {
    cost(json).unwrap_or_else(|| "null".to_owned())
}

/// Checks a step record.
#[wasm_bindgen]
pub fn check_step(json: &str) -> String {
    answer(input(json).and_then(|value| crate::step::Step::read(&value)).map(|step| step.to_json()))
}

/// The canonical form of a JSON text.
#[wasm_bindgen]
pub fn canonical(text: &str) -> String {
    answer(canonicalize(text).map(|text| quote(&text)))
}

/// The digest of the canonical form of a JSON text.
#[wasm_bindgen]
pub fn hash(text: &str) -> String {
    answer(canonicalize(text).map(|text| quote(&digest_text(&text))))
}

/// The code registry.
#[wasm_bindgen]
pub fn registry() -> String {
    array(Reason::ALL.iter().map(|reason| {
        object(&[
            ("reason", quote(reason.word())),
            ("code", quote(reason.code())),
            ("rule", quote(reason.rule())),
            ("blame", quote(reason.blame().word())),
            ("retriable", reason.retriable().to_string()),
            ("what", quote(reason.what())),
            ("remedy", quote(reason.remedy())),
        ])
    }))
}

/// The quirk profiles: `QuirkProfile[]`.
#[wasm_bindgen]
pub fn quirk_profiles() -> String {
    crate::provider::profiles_json()
}

/// The version of the package.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
