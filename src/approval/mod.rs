//! Who may run (C-04, G-07, K-06, P-15). Only [`decide`] makes a [`Permit`], and no tool runs without one.
//!
//! This version raises no approvals: a call that must be asked for is refused.

use crate::admission::AdmittedBatch;
use crate::error::Reason;
use crate::json::parse;
use crate::tools::{ToolPolicy, action_hash};
use crate::turn::Call;
use std::collections::BTreeMap;

/// What the host says of a tool in the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Declared {
    /// Its policy.
    Policy(ToolPolicy),
    /// `toolPolicy` gave nothing: the tool does not exist in this run.
    Nothing,
    /// `toolPolicy` threw: denied.
    Failed,
}

/// The tools of a run and what decides about them.
#[derive(Debug, Clone, Default)]
pub struct Gate {
    /// By governed name.
    pub tools: BTreeMap<String, Declared>,
    /// Names of the approval classes that exist.
    pub classes: Vec<String>,
    /// The class of side-effecting tools that declare none (C-04).
    pub default_class: Option<String>,
}

/// Proof that a call of an admitted batch may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permit {
    call: Call,
    action_hash: String,
    policy: ToolPolicy,
}

impl Permit {
    /// The call.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// The hash of exactly what runs.
    #[must_use]
    pub fn action_hash(&self) -> &str {
        &self.action_hash
    }

    /// The tool's policy.
    #[must_use]
    pub fn policy(&self) -> &ToolPolicy {
        &self.policy
    }
}

/// Decides about one call of an admitted batch.
///
/// # Errors
/// Why it does not run: `TOOL_NOT_FOUND`, `POLICY_DENIED`, `APPROVAL_REQUIRED`, `INVALID_TOOL_INPUT`.
pub fn decide(gate: &Gate, batch: &AdmittedBatch, position: usize) -> Result<Permit, Reason> {
    let call = batch.calls().get(position).ok_or(Reason::Internal)?;
    let policy = match gate.tools.get(&call.name) {
        None | Some(Declared::Nothing) => return Err(Reason::ToolNotFound),
        Some(Declared::Failed) => return Err(Reason::PolicyDenied),
        Some(Declared::Policy(policy)) => policy,
    };
    let by_default = gate.default_class.as_ref().filter(|_| policy.side_effecting);
    if let Some(class) = policy.approval_class.as_ref().or(by_default) {
        let known = gate.classes.contains(class);
        return Err(if known { Reason::ApprovalRequired } else { Reason::PolicyDenied });
    }
    let input = parse(&call.input_json).map_err(|_| Reason::InvalidToolInput)?;
    if !policy.big_integers && !input.is_js_safe() {
        return Err(Reason::InvalidToolInput);
    }
    Ok(Permit { call: call.clone(), action_hash: action_hash(&call.name, &input), policy: policy.clone() })
}
