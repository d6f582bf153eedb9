//! Provider failures as one typed family (S-24): HTTP status, error bodies, error events, no answer, no time.

use super::decoder::look_for_error;
use crate::error::{Error, Reason};
use crate::json::{Value, parse};

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
        Cause::Http(_) => Reason::ProviderUnavailable,
        Cause::Transport => Reason::ProviderTransport,
        Cause::Timeout => Reason::ProviderTimeout,
        Cause::ContentType => Reason::NotAnEventStream,
    };
    let mut error = Error::new(reason).retry_after(retry_after.and_then(milliseconds));
    if let Cause::Http(status) = cause {
        error = error.with_number("status", u64::from(status));
    }
    let parsed = body.and_then(|text| parse(text).ok());
    // An error object outranks the content type it came with.
    if let (Cause::ContentType, Some(Err(error))) = (cause, parsed.as_ref().map(look_for_error)) {
        return error;
    }
    match parsed.as_ref().and_then(Value::as_object).and_then(|object| object.get("error")) {
        Some(inner) => quote_provider(error, inner),
        None => match body {
            Some(text) if !text.is_empty() => error.with("provider_message", Value::text(text)),
            _ => error,
        },
    }
}

/// An error object or text inside a success.
pub(crate) fn provider_error(value: &Value<'_>) -> Error {
    let word = |name: &str| {
        value.as_object().and_then(|object| object.get(name)).map(|member| match member {
            Value::String(text) => text.to_string(),
            Value::Number(number) => crate::json::number_text(*number),
            _ => String::new(),
        })
    };
    let mut reason = Reason::ProviderError;
    for name in ["type", "code", "status", "status_code"] {
        let found = match word(name).as_deref() {
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

fn quote_provider(error: Error, value: &Value<'_>) -> Error {
    let Some(object) = value.as_object() else {
        return match value.as_str() {
            Some(text) => error.with("provider_message", Value::text(text)),
            None => error,
        };
    };
    let mut error = error;
    for name in ["code", "type"] {
        match object.get(name) {
            Some(Value::String(text)) if !text.is_empty() => {
                error = error.with("provider_code", Value::text(text));
                break;
            }
            Some(Value::Number(number)) => {
                error = error.with("provider_code", Value::Number(*number));
                break;
            }
            _ => {}
        }
    }
    match object.get("message").and_then(Value::as_str) {
        Some(text) => error.with("provider_message", Value::text(text)),
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
