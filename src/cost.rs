//! Prices (B-07): trusted, from configuration, never from a reply. Integers of nano-USD; a price of 0 is known, a missing one is not.

use crate::error::{Error, Reason};
use crate::json::{Number, Value};
use crate::provider::Usage;

/// US dollars per million tokens, as the configuration gives them.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    input: Number,
    output: Number,
    cached_input: Option<Number>,
    cache_write: Option<Number>,
    reasoning: Option<Number>,
}

impl Prices {
    /// Reads a `ModelCostProfile`.
    ///
    /// # Errors
    /// `CONFIGURATION_ERROR` with the field.
    pub fn read(value: &Value<'_>, field: &str) -> Result<Prices, Error> {
        let wrong = |name: &str| Error::new(Reason::ConfigurationError).at_field(&format!("{field}.{name}"));
        let object = value.as_object().ok_or_else(|| Error::new(Reason::ConfigurationError).at_field(field))?;
        const KNOWN: &[&str] = &[
            "input_usd_per_mtok",
            "output_usd_per_mtok",
            "cached_input_usd_per_mtok",
            "cache_write_usd_per_mtok",
            "reasoning_usd_per_mtok",
            "source",
            "as_of",
        ];
        if let Some((name, _)) = object.iter().find(|(name, _)| !KNOWN.contains(name)) {
            return Err(wrong(name));
        }
        let price = |name: &str| match object.get(name) {
            None => Ok(None),
            Some(Value::Number(number)) if number.as_f64() >= 0.0 && number.as_f64() <= 1e9 => Ok(Some(*number)),
            Some(_) => Err(wrong(name)),
        };
        Ok(Prices {
            input: price("input_usd_per_mtok")?.ok_or_else(|| wrong("input_usd_per_mtok"))?,
            output: price("output_usd_per_mtok")?.ok_or_else(|| wrong("output_usd_per_mtok"))?,
            cached_input: price("cached_input_usd_per_mtok")?,
            cache_write: price("cache_write_usd_per_mtok")?,
            reasoning: price("reasoning_usd_per_mtok")?,
        })
    }

    /// Whether nothing costs anything, whatever is used. A class without a price of its own is not known to be free.
    #[must_use]
    pub fn is_free(&self) -> bool {
        [Some(self.input), Some(self.output), self.cached_input, self.cache_write]
            .into_iter()
            .all(|price| price.is_some_and(|price| price.as_f64() == 0.0))
            && self.reasoning.is_none_or(|price| price.as_f64() == 0.0)
    }

    /// The cost of a usage in nano-USD, rounded up once; `None` when a class with tokens in it has no price, or totals are not reported.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Option<u128> {
        let (input, output) = (usage.input_tokens?, usage.output_tokens?);
        let (cached, written) = (usage.cached_input_tokens.unwrap_or(0), usage.cache_write_tokens.unwrap_or(0));
        let reasoning = usage.reasoning_tokens.unwrap_or(0);
        let fresh = input.checked_sub(cached)?.checked_sub(written)?;
        let spoken = output.checked_sub(reasoning)?;
        let classes = [
            (fresh, Some(self.input)),
            (cached, self.cached_input),
            (written, self.cache_write),
            (spoken, Some(self.output)),
            (reasoning, Some(self.reasoning.unwrap_or(self.output))),
        ];
        let mut total: u128 = 0;
        for (tokens, price) in classes.into_iter().filter(|(tokens, _)| *tokens > 0) {
            // Price in nano-USD per million tokens: the division by a million comes last.
            total = total.checked_add(crate::budget::nano_usd(price?)?.checked_mul(u128::from(tokens))?)?;
        }
        Some(total.div_ceil(1_000_000))
    }
}
