//! The conductor: one bounded task as a sans-IO machine. It has no rule of its own, only order: budgets clear, the provider's turn is
//! checked, the batch admitted, each call permitted, claimed, run, receipted, settled. Nothing is visible before the append it depends on
//! is acknowledged.
//!
//! The drive loop, which is law for every host:
//!
//! ```
//! # use turnkeep::run::{Run, Tick};
//! let mut run = Run::open(r#"{"task_id":"t","tenant_subject":"acme","actor_ref":"me","governed":true,
//!   "limits":{"max_steps":5,"max_cost_usd":null,"max_duration_s":60},"has_cost":false,"classes":[],"checkpoints":false}"#).unwrap();
//! let tick = Tick { now_ms: 0, mono_ms: 0 };
//! run.handle_input(tick, r#"{"type":"start","messages":[{"role":"user","content":"Hi"}],"tools":[],"model":null}"#);
//! run.handle_input(tick, r#"{"type":"clear"}"#);
//! let mut seen = Vec::new();
//! while let Some(output) = run.poll_output() {
//!     // Acknowledge what must be durable before anything that follows it.
//!     if let Some(seq) = output.append_seq() {
//!         run.handle_input(tick, &format!(r#"{{"type":"appended","seq":{seq}}}"#));
//!     }
//!     seen.push(output.kind());
//! }
//! assert_eq!(seen, ["event", "append", "event", "call_model"]);
//! ```

mod config;
mod input;
mod machine;
mod output;
mod readers;
mod retry;
mod settle;

pub use machine::Run;
pub use output::Output;

/// The host's clocks at one input (design law 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tick {
    /// Milliseconds since the epoch.
    pub now_ms: u64,
    /// Milliseconds of a clock that does not go back.
    pub mono_ms: u64,
}
