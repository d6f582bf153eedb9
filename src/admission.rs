//! Whole batches or nothing (L-01, L-02). Only [`admit`] makes an [`AdmittedBatch`], and no call runs without one.

use crate::provider::Status;
use crate::turn::{Call, Turn};

/// A turn whose status is `tool_request`: the only kind that can be admitted (P-20).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnableTurn(Vec<Call>);

impl RunnableTurn {
    /// The calls of a runnable turn; `None` for every other status.
    #[must_use]
    pub fn of(turn: &Turn) -> Option<RunnableTurn> {
        (turn.status() == Status::ToolRequest).then(|| RunnableTurn(turn.calls().into_iter().cloned().collect()))
    }

    /// The calls.
    #[must_use]
    pub fn calls(&self) -> &[Call] {
        &self.0
    }
}

/// Calls that fit as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmittedBatch(Vec<Call>);

impl AdmittedBatch {
    /// The calls, in declared order (L-05).
    #[must_use]
    pub fn calls(&self) -> &[Call] {
        &self.0
    }
}

/// A batch that does not fit: none of its calls runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedBatch {
    /// Its calls.
    pub calls: Vec<Call>,
    /// How many of the session are left.
    pub left: u64,
    /// How many the session may have.
    pub max: u64,
}

/// Admits all calls of a turn, or none. Refused calls do not count as used.
///
/// # Errors
/// The batch, with what was left.
pub fn admit(turn: RunnableTurn, used: u64, max: u64) -> Result<AdmittedBatch, RefusedBatch> {
    let left = max.saturating_sub(used);
    let asked = u64::try_from(turn.0.len()).unwrap_or(u64::MAX);
    if asked > left { Err(RefusedBatch { calls: turn.0, left, max }) } else { Ok(AdmittedBatch(turn.0)) }
}
