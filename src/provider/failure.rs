//! Provider failures as one typed family (S-24): HTTP status, error bodies, error events, no answer, no time.

use super::decoder::look_for_error;
use crate::error::{Error, Reason};
use crate::json::{MAX_DEPTH, Raw, Shape, Value, scan, select};
use std::borrow::Cow;

/// Why there is no usable response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A response head with a status that is no success.
    Http(u16),
    /// No response head.
    Transport,
    /// A deadline of S-23.
    Timeout,
    /// A success whose content is not what was asked for.
    ContentType,
}

/// The failure of a model call that gave no turn. The body is untrusted and only quoted, bounded, in `details`.
#[must_use]
pub fn http_error(cause: Cause, retry_after: Option<&str>, body: Option<&str>) -> Error {
    let reason = match cause {
        Cause::Http(401 | 403) => Reason::ProviderAuth,
        Cause::Http(429) => Reason::ProviderRateLimited,
        Cause::Http(529) => Reason::ProviderOverloaded,
        Cause::Http(400..=499) => Reason::ProviderBadRequest,
        Cause::Http(500..=599) => Reason::ProviderUnavailable,
        // A redirect is not followed, and asking again brings it again.
        Cause::Http(_) => Reason::ProviderError,
        Cause::Transport => Reason::ProviderTransport,
        Cause::Timeout => Reason::ProviderTimeout,
        Cause::ContentType => Reason::NotAnEventStream,
    };
    let mut error = Error::new(reason).retry_after(retry_after.and_then(milliseconds));
    if let Cause::Http(status) = cause {
        error = error.with_number("status", u64::from(status));
    }
    let parsed = body.and_then(|text| scan(text, MAX_DEPTH).ok()).unwrap_or_default();
    let inner = parsed.get("error");
    // An error object outranks the content type it came with.
    if let (Cause::ContentType, Err(error)) = (cause, look_for_error(inner)) {
        return error;
    }
    match (inner, body) {
        (Raw::Absent, Some(text)) if !text.is_empty() => error.with("provider_message", Value::text(text)),
        (inner, _) => quote_provider(error, inner),
    }
}

/// What an error may say, each as it stands.
const WORDS: [&str; 5] = ["type", "code", "status", "status_code", "message"];

static ERROR: Shape = Shape::of(&[
    ("type", 0, None),
    ("code", 1, None),
    ("status", 2, None),
    ("status_code", 3, None),
    ("message", 4, None),
]);

fn words(value: Raw<'_>) -> [Raw<'_>; WORDS.len()] {
    let mut slots = [Raw::Absent; WORDS.len()];
    if let Raw::Object(text) = value {
        // It has been checked as part of its response.
        let _ = select(text, MAX_DEPTH, &ERROR, &mut slots);
    }
    slots
}

/// An error object or text inside a success.
pub(crate) fn provider_error(value: Raw<'_>) -> Error {
    let mut reason = Reason::ProviderError;
    for word in words(value).into_iter().take(4) {
        let word = match word {
            Raw::Number(literal) => Some(Cow::Borrowed(literal)),
            other => other.text(),
        };
        let found = match word.as_deref() {
            Some("authentication_error" | "permission_error" | "401" | "403") => Reason::ProviderAuth,
            Some("rate_limit_error" | "429") => Reason::ProviderRateLimited,
            Some("overloaded_error" | "529") => Reason::ProviderOverloaded,
            _ => continue,
        };
        reason = found;
        break;
    }
    quote_provider(Error::new(reason), value)
}

fn quote_provider(error: Error, value: Raw<'_>) -> Error {
    let mut error = error;
    let [kind, code, _, _, message] = words(value);
    let code = [code, kind].into_iter().find(|word| match word {
        Raw::String(text, _) => !text.is_empty(),
        Raw::Number(_) => true,
        _ => false,
    });
    if let Some(code) = code {
        error = error.with("provider_code", code.value().into_owned());
    }
    let message = if matches!(value, Raw::String(..)) { value } else { message };
    match message.text() {
        Some(text) => error.with("provider_message", Value::text(&text)),
        None => error,
    }
}

/// Whole or fractional seconds, as `retry-after` gives them; a date is not read, since the core has no clock.
fn milliseconds(text: &str) -> Option<u64> {
    let (whole, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || (!fraction.is_empty() && !digits(fraction)) {
        return None;
    }
    let thousandths: u64 = format!("{fraction:0<3}").get(..3).and_then(|text| text.parse().ok()).unwrap_or(0);
    Some(whole.parse::<u64>().ok()?.saturating_mul(1000).saturating_add(thousandths))
}
