//! Token counts in one meaning for both protocols (B-07): totals, with their parts contained in them; absent is unknown, never 0.

use super::Protocol;
use crate::error::{Error, Reason};
use crate::json::{Raw, Value, quote};

/// Token counts of one response.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Usage {
    /// All input tokens.
    pub input_tokens: Option<u64>,
    /// Input read from a cache, part of the input.
    pub cached_input_tokens: Option<u64>,
    /// Input written to a cache, part of the input.
    pub cache_write_tokens: Option<u64>,
    /// All output tokens.
    pub output_tokens: Option<u64>,
    /// Reasoning, part of the output.
    pub reasoning_tokens: Option<u64>,
    /// The provider's own object, as canonical text.
    pub raw_json: String,
}

fn count(object: Raw<'_>, name: &str) -> Result<Option<u64>, Error> {
    match object.get(name) {
        Raw::Absent | Raw::Null => Ok(None),
        value => {
            value.as_u64().map(Some).ok_or_else(|| Error::new(Reason::MemberInvalid).at_field(&format!("usage.{name}")))
        }
    }
}

fn inner(object: Raw<'_>, name: &str, member: &str) -> Result<Option<u64>, Error> {
    match object.get(name) {
        details @ Raw::Object(_) => count(details, member),
        Raw::Absent | Raw::Null => Ok(None),
        _ => Err(Error::new(Reason::MemberInvalid).at_field(&format!("usage.{name}"))),
    }
}

/// A usage object is kept and shown, so it is bounded: real ones are below 1 KiB.
const MAX_USAGE_BYTES: usize = 16_384;

impl Usage {
    /// Whether a provider's usage object can be read.
    pub(crate) fn check(protocol: Protocol, given: Raw<'_>) -> Result<(), Error> {
        Usage::counts(protocol, given).map(|_| ())
    }

    /// Reads a provider's usage object.
    pub(crate) fn of_wire(protocol: Protocol, given: Raw<'_>) -> Result<Usage, Error> {
        let mut usage = Usage::counts(protocol, given)?;
        given.write_canonical(&mut usage.raw_json);
        Ok(usage)
    }

    fn counts(protocol: Protocol, given: Raw<'_>) -> Result<Usage, Error> {
        if given.size() > MAX_USAGE_BYTES {
            return Err(Error::new(Reason::MemberInvalid).at_field("usage"));
        }
        match protocol {
            Protocol::Chat => Ok(Usage {
                input_tokens: count(given, "prompt_tokens")?,
                cached_input_tokens: inner(given, "prompt_tokens_details", "cached_tokens")?,
                cache_write_tokens: None,
                output_tokens: count(given, "completion_tokens")?,
                reasoning_tokens: inner(given, "completion_tokens_details", "reasoning_tokens")?,
                raw_json: String::new(),
            }),
            Protocol::Messages => {
                let cached = count(given, "cache_read_input_tokens")?;
                let written = count(given, "cache_creation_input_tokens")?;
                // Messages counts only the uncached input in `input_tokens`.
                let input = count(given, "input_tokens")?
                    .map(|fresh| fresh.saturating_add(cached.unwrap_or(0)).saturating_add(written.unwrap_or(0)));
                Ok(Usage {
                    input_tokens: input,
                    cached_input_tokens: cached,
                    cache_write_tokens: written,
                    output_tokens: count(given, "output_tokens")?,
                    reasoning_tokens: None,
                    raw_json: String::new(),
                })
            }
        }
    }

    /// Reads the object of the public API.
    #[must_use]
    pub fn read(value: &Value<'_>) -> Option<Usage> {
        let object = value.as_object()?;
        let part = |name: &str| match object.get(name) {
            None | Some(Value::Null) => Some(None),
            Some(value) => value.as_u64().map(Some),
        };
        Some(Usage {
            input_tokens: part("input_tokens")?,
            cached_input_tokens: part("cached_input_tokens")?,
            cache_write_tokens: part("cache_write_tokens")?,
            output_tokens: part("output_tokens")?,
            reasoning_tokens: part("reasoning_tokens")?,
            raw_json: object.get("raw_json").and_then(Value::as_str).unwrap_or("{}").to_owned(),
        })
    }

    /// The object of the public API as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let part = |value: Option<u64>| value.map_or("null".to_owned(), |count| count.to_string());
        format!(
            "{{\"input_tokens\":{},\"cached_input_tokens\":{},\"cache_write_tokens\":{},\"output_tokens\":{},\"reasoning_tokens\":{},\"raw_json\":{}}}",
            part(self.input_tokens),
            part(self.cached_input_tokens),
            part(self.cache_write_tokens),
            part(self.output_tokens),
            part(self.reasoning_tokens),
            quote(&self.raw_json),
        )
    }
}
