//! Model calls that failed: each attempt is a step inside the budgets, nothing of it enters history, and it is made again only where that can
//! help (L-09). Waiting is the host's: the core says how long.

use super::machine::{Ending, Phase, Run};
use super::output::{Item, Output};
use crate::budget::Budget;
use crate::error::{Error, Reason};
use crate::json::{Value, object, quote};
use crate::step::{Step, StepStatus};

/// A call is made at most this many times more.
const MAX_RETRIES: u64 = 2;
/// The first wait; each further one is twice as long.
const FIRST_WAIT_MS: u64 = 500;
/// A provider that asks for a longer wait is not waited for: the host gets its error, with the time in it.
const LONGEST_WAIT_MS: u64 = 60_000;

/// What of a failure decides whether the call is made again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hope {
    /// How many retries can help at most.
    retries: u64,
    retry_after_ms: Option<u64>,
}

impl Hope {
    /// Of a failed call's record.
    pub(super) fn of(code: &str, retriable: bool, retry_after_ms: Option<u64>) -> Hope {
        let retries = match code {
            _ if !retriable => 0,
            "CALL_ID_REUSED" => 1,
            "TOOL_ARGUMENTS_INVALID" => MAX_RETRIES,
            // The provider's own failures (S-24); a broken protocol is not made better by asking again.
            code if code.starts_with("PROVIDER_") => MAX_RETRIES,
            _ => 0,
        };
        Hope { retries, retry_after_ms }
    }

    /// Of an error of our own: only a provider's answer says when to come back.
    pub(super) fn of_error(error: &Error) -> Hope {
        Hope::of(error.code(), error.retriable(), None)
    }
}

impl Run {
    /// A model call failed or its turn was rejected.
    pub(super) fn turn_failed(
        &mut self,
        code: &str,
        error_json: &str,
        hope: Hope,
        cost: Option<u128>,
    ) -> Result<(), Error> {
        self.budget.spend.steps = self.budget.spend.steps.saturating_add(1);
        let step = self.model_step(StepStatus::Failed, cost, vec![format!("code:{code}")]);
        let attempt = self.failed_attempts.saturating_add(1).to_string();
        self.append(
            "turn_failed",
            &object(&[("step", step.to_json()), ("error", error_json.to_owned()), ("attempt", attempt)]),
        );
        let mut budget = self.budget.clone();
        budget.add_cost(cost);
        let wait = self.wait_before_retry(hope, &budget);
        let ended = step.to_json();
        self.push(Item::Step(Box::new(step.clone())));
        self.reject(&step, error_json, wait);
        self.emit("step_ended", &[("step", ended)]);
        self.emit_budget();
        if self.leaving.is_none()
            && code == Reason::ProviderTimeout.code()
            && let Some(exhausted) = self.budget.out_of_time()
        {
            // The call was cut because the run's duration was used up (B-10): the budget ended the run, not the provider.
            self.exhausted(exhausted);
            return Ok(());
        }
        match wait {
            Some(wait) => self.retry(wait),
            None => {
                let failed = Ending::new("failed", vec![("error", error_json.to_owned())]);
                let ending = self.leaving.take().unwrap_or(failed);
                self.phase = Phase::Stopping(Box::new(ending));
            }
        }
        Ok(())
    }

    /// The body of a response broke off (S-13): asked again while that can help. False when it cannot any more.
    pub(super) fn retry_disconnect(&mut self) -> bool {
        let error = Error::new(Reason::ProviderTransport).with("side", Value::text("provider"));
        let Some(wait) = self.wait_before_retry(Hope::of_error(&error), &self.budget) else {
            return false;
        };
        if let Some(step) = self.steps.last().cloned() {
            self.reject(&step, &error.to_json(), Some(wait));
        }
        self.retry(wait);
        true
    }

    /// Milliseconds to wait, when the call is to be made again. Where the budget would not clear it, the failure itself is the run's end.
    fn wait_before_retry(&self, hope: Hope, budget: &Budget) -> Option<u64> {
        if self.leaving.is_some() || self.failed_attempts >= hope.retries {
            return None;
        }
        budget.clear(self.price_known()).ok()?;
        let doubled = FIRST_WAIT_MS << self.failed_attempts.min(MAX_RETRIES);
        let wait = doubled.max(hope.retry_after_ms.unwrap_or(0));
        (wait <= LONGEST_WAIT_MS).then_some(wait)
    }

    /// Takes back whatever was shown of the attempt.
    fn reject(&mut self, step: &Step, error_json: &str, wait: Option<u64>) {
        let members = [
            ("step_id", quote(&step.id())),
            ("error", error_json.to_owned()),
            ("attempt", self.failed_attempts.saturating_add(1).to_string()),
            ("retry_in_ms", wait.map_or("null".to_owned(), |ms| ms.to_string())),
        ];
        self.emit("turn_rejected", &members);
    }

    fn retry(&mut self, wait: u64) {
        self.failed_attempts = self.failed_attempts.saturating_add(1);
        self.out(Output::new("retry", &[("after_ms", wait.to_string())]));
        self.phase = Phase::Ready;
    }
}
