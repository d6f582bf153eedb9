//! Budgets of one run (B-01..B-10): integers inside, checked before each model call, used >= limit stops.
//!
//! Knows nothing of tools or providers. Only [`Budget::clear`] makes a [`Clearance`], and nothing calls a model without one.

use crate::error::{Error, Reason};
use crate::json::{Number, Object, Value, number_text, object};

/// 2^53 - 1: what a JavaScript number holds exactly.
const MAX_SAFE: u64 = 9_007_199_254_740_991;
const NANO: u32 = 9;
const MILLI: u32 = 3;

/// The number times 10^places, exactly; `None` when it is negative, too large or finer. `up` rounds finer digits up instead.
fn scaled(number: Number, places: u32, up: bool) -> Option<u128> {
    let text = number_text(number);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let exponent: i64 = exponent.trim_start_matches('+').parse().ok()?;
    let shift = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(i64::from(places))?;
    let power = |by: i64| u32::try_from(by).ok().and_then(|by| 10_u128.checked_pow(by));
    if shift >= 0 {
        return digits.checked_mul(power(shift)?);
    }
    let Some(divisor) = power(shift.checked_neg()?) else {
        return match (digits, up) {
            (0, _) => Some(0),
            (_, true) => Some(1),
            (_, false) => None,
        };
    };
    let (quotient, rest) = (digits.checked_div(divisor)?, digits.checked_rem(divisor)?);
    match (rest, up) {
        (0, _) => Some(quotient),
        (_, true) => quotient.checked_add(1),
        (_, false) => None,
    }
}

/// USD of a cost as nano-USD, rounded up (K-05). Negative is unknown.
#[must_use]
pub fn nano_usd(number: Number) -> Option<u128> {
    scaled(number, NANO, true)
}

/// Seconds as whole milliseconds; finer is none.
#[must_use]
pub fn milliseconds(number: Number) -> Option<u64> {
    scaled(number, MILLI, false).and_then(|ms| u64::try_from(ms).ok())
}

/// The JSON number of an integer in units of 10^-places.
#[must_use]
pub fn decimal(value: u128, places: u32) -> String {
    let text = format!("{value:0>width$}", width = usize::try_from(places).unwrap_or(0).saturating_add(1));
    let point = text.len().saturating_sub(usize::try_from(places).unwrap_or(0));
    let (whole, fraction) = text.split_at_checked(point).unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") }
}

/// Nano-USD as a JSON number in USD.
#[must_use]
pub fn usd(nano: u128) -> String {
    decimal(nano, NANO)
}

/// Which budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitName {
    /// Model calls and dispatched tool calls (B-01).
    Steps,
    /// US dollars (B-02).
    Cost,
    /// Active seconds (B-03).
    Duration,
}

impl LimitName {
    /// The field of the public API.
    #[must_use]
    pub fn field(self) -> &'static str {
        match self {
            LimitName::Steps => "max_steps",
            LimitName::Cost => "max_cost_usd",
            LimitName::Duration => "max_duration_s",
        }
    }

    fn places(self) -> u32 {
        match self {
            LimitName::Steps => 0,
            LimitName::Cost => NANO,
            LimitName::Duration => MILLI,
        }
    }
}

/// The limits of a run in whole units; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    steps: Option<u128>,
    cost: Option<u128>,
    duration: Option<u128>,
}

/// One limit as given.
enum Given {
    Missing,
    None,
    Value(u128),
}

fn given(object: Option<&Object<'_>>, name: LimitName, place: &str) -> Result<Given, Error> {
    let wrong = || Error::new(Reason::LimitInvalid).at_field(&format!("{place}.{}", name.field()));
    match object.and_then(|object| object.get(name.field())) {
        None => Ok(Given::Missing),
        Some(Value::Null) => Ok(Given::None),
        Some(Value::Number(number)) if number.as_f64() <= MAX_SAFE as f64 && number.is_js_safe() => {
            scaled(*number, name.places(), false).map(Given::Value).ok_or_else(wrong)
        }
        Some(_) => Err(wrong()),
    }
}

impl Limits {
    /// Reads the limits of a run under its ceilings (B-09).
    ///
    /// # Errors
    /// `LIMIT_INVALID`, `LIMIT_ABOVE_CEILING`, with the field.
    pub fn read(limits: &Object<'_>, ceilings: Option<&Object<'_>>) -> Result<Limits, Error> {
        if let Some((name, _)) =
            limits.iter().find(|(name, _)| !["max_steps", "max_cost_usd", "max_duration_s"].contains(name))
        {
            return Err(Error::new(Reason::LimitUnknown).at_field(&format!("limits.{name}")));
        }
        let read = |name: LimitName| -> Result<Option<u128>, Error> {
            let field = format!("limits.{}", name.field());
            let ceiling = given(ceilings, name, "packLimits")?;
            match (given(Some(limits), name, "limits")?, ceiling) {
                (Given::Missing, Given::Missing) => Err(Error::new(Reason::LimitMissing).at_field(&field)),
                (Given::None, Given::Value(_)) => Err(Error::new(Reason::LimitInvalid).at_field(&field)),
                (Given::Value(value), Given::Value(max)) if value > max => Err(Error::new(Reason::LimitAboveCeiling)
                    .at_field(&field)
                    .with("ceiling", Value::text(&decimal(max, name.places())))),
                (Given::Missing, Given::Value(max)) => Ok(Some(max)),
                (Given::Value(value), _) => Ok(Some(value)),
                (Given::None | Given::Missing, _) => Ok(None),
            }
        };
        Ok(Limits {
            steps: read(LimitName::Steps)?,
            cost: read(LimitName::Cost)?,
            duration: read(LimitName::Duration)?,
        })
    }

    /// Whether there is a cost cap.
    #[must_use]
    pub fn has_cost_cap(&self) -> bool {
        self.cost.is_some()
    }

    /// The limits as the object of the public API.
    #[must_use]
    pub fn to_json(&self) -> String {
        let member = |value: Option<u128>, name: LimitName| {
            (name.field(), value.map_or("null".to_owned(), |value| decimal(value, name.places())))
        };
        object(&[
            member(self.cost, LimitName::Cost),
            member(self.duration, LimitName::Duration),
            member(self.steps, LimitName::Steps),
        ])
    }
}

/// What a run has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spend {
    /// Sum of the known costs, nano-USD.
    pub cost: u128,
    /// Steps of unknown cost.
    pub unknown_cost_steps: u64,
    /// Steps that count (B-04).
    pub steps: u64,
    /// Calls of admitted batches.
    pub tool_calls: u64,
    /// As reported.
    pub input_tokens: u64,
    /// As reported.
    pub output_tokens: u64,
    /// Active milliseconds.
    pub elapsed_ms: u64,
}

impl Spend {
    /// The object of the public API as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        object(&[
            ("cost_usd", usd(self.cost)),
            ("unknown_cost_steps", self.unknown_cost_steps.to_string()),
            ("steps", self.steps.to_string()),
            ("tool_calls", self.tool_calls.to_string()),
            ("input_tokens", self.input_tokens.to_string()),
            ("output_tokens", self.output_tokens.to_string()),
            ("elapsed_s", decimal(u128::from(self.elapsed_ms), MILLI)),
        ])
    }

    /// Reads the object of the public API.
    #[must_use]
    pub fn read(value: &Value<'_>) -> Option<Spend> {
        let object = value.as_object()?;
        let count = |name: &str| object.get(name).and_then(Value::as_u64);
        let number = |name: &str| match object.get(name) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        };
        Some(Spend {
            cost: scaled(number("cost_usd")?, NANO, false)?,
            unknown_cost_steps: count("unknown_cost_steps")?,
            steps: count("steps")?,
            tool_calls: count("tool_calls")?,
            input_tokens: count("input_tokens")?,
            output_tokens: count("output_tokens")?,
            elapsed_ms: milliseconds(number("elapsed_s")?)?,
        })
    }
}

/// Proof that the budgets allow one model call.
#[derive(Debug, PartialEq, Eq)]
pub struct Clearance {
    remaining_ms: Option<u64>,
}

impl Clearance {
    /// What is left of the duration: the model call is cut there (B-10).
    #[must_use]
    pub fn remaining_ms(&self) -> Option<u64> {
        self.remaining_ms
    }
}

/// A budget that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhausted {
    /// Which.
    pub limit: LimitName,
    /// Used so far; `None` when it is the cost that is not known (B-06).
    pub used: Option<u128>,
    /// The limit.
    pub max: u128,
}

impl Exhausted {
    /// `{reason, used, max}` of the public API as JSON text.
    #[must_use]
    pub fn details_json(&self) -> String {
        let number = |value: u128| decimal(value, self.limit.places());
        object(&[
            ("reason", if self.used.is_some() { "\"reached\"" } else { "\"cost_unknown\"" }.to_owned()),
            ("used", self.used.map_or("null".to_owned(), number)),
            ("max", number(self.max)),
        ])
    }
}

/// The budgets of a run and what it has used.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    /// The limits.
    pub limits: Limits,
    /// The use.
    pub spend: Spend,
}

impl Budget {
    /// Allows one model call, or names the budget that is used up (B-04, B-05, B-06).
    ///
    /// # Errors
    /// The budget. `price_known` is false where the core knows that the next call can have no known cost.
    pub fn clear(&self, price_known: bool) -> Result<Clearance, Exhausted> {
        let reached = |limit: LimitName, used: u128, max: Option<u128>| match max {
            Some(max) if used >= max => Err(Exhausted { limit, used: Some(used), max }),
            _ => Ok(()),
        };
        reached(LimitName::Steps, u128::from(self.spend.steps), self.limits.steps)?;
        if let Some(max) = self.limits.cost
            && (self.spend.unknown_cost_steps > 0 || !price_known)
        {
            return Err(Exhausted { limit: LimitName::Cost, used: None, max });
        }
        reached(LimitName::Cost, self.spend.cost, self.limits.cost)?;
        if let Some(exhausted) = self.out_of_time() {
            return Err(exhausted);
        }
        let elapsed = u128::from(self.spend.elapsed_ms);
        let remaining = self.limits.duration.map(|max| u64::try_from(max.saturating_sub(elapsed)).unwrap_or(u64::MAX));
        Ok(Clearance { remaining_ms: remaining })
    }

    /// The duration, when it is used up.
    #[must_use]
    pub fn out_of_time(&self) -> Option<Exhausted> {
        let (used, max) = (u128::from(self.spend.elapsed_ms), self.limits.duration?);
        (used >= max).then_some(Exhausted { limit: LimitName::Duration, used: Some(used), max })
    }

    /// Adds a cost; `None` is unknown.
    pub fn add_cost(&mut self, cost: Option<u128>) {
        match cost {
            Some(nano) => self.spend.cost = self.spend.cost.saturating_add(nano),
            None => self.spend.unknown_cost_steps = self.spend.unknown_cost_steps.saturating_add(1),
        }
    }

    /// What is left of each limit, as the object of the `budget` event.
    #[must_use]
    pub fn remaining_json(&self) -> String {
        let left = |max: Option<u128>, used: u128, name: LimitName| {
            (name.field(), max.map_or("null".to_owned(), |max| decimal(max.saturating_sub(used), name.places())))
        };
        object(&[
            left(self.limits.steps, u128::from(self.spend.steps), LimitName::Steps),
            left(self.limits.cost, self.spend.cost, LimitName::Cost),
            left(self.limits.duration, u128::from(self.spend.elapsed_ms), LimitName::Duration),
        ])
    }
}
