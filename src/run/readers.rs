//! What a host may read of a run at any time. Nothing here changes it.

use super::machine::Run;
use crate::json::array;
use crate::log::Checkpoint;
use crate::message::history_json;
use crate::step::Step;

impl Run {
    /// The history, as a JSON array of messages.
    #[must_use]
    pub fn messages_json(&self) -> String {
        history_json(&self.history)
    }

    /// The steps, in start order (T-02).
    #[must_use]
    pub fn steps_json(&self) -> String {
        array(self.steps.iter().map(Step::to_json))
    }

    /// What the run has used.
    #[must_use]
    pub fn spend_json(&self) -> String {
        self.budget.spend.to_json()
    }

    /// The snapshot of the run as it stands.
    #[must_use]
    pub fn checkpoint_json(&self) -> String {
        Checkpoint {
            run: &self.run,
            actor_ref: &self.actor_ref,
            revision: self.revision,
            steps: &self.steps,
            receipts: self.receipts.texts(),
            spend: self.budget.spend,
            history: &self.history,
            pending_turn: self.pending_turn.clone(),
            claim: self.claim_json(),
            head: self.log.head(),
        }
        .to_json()
    }

    /// The name of the run in a store.
    #[must_use]
    pub fn key(&self) -> String {
        self.run.key()
    }
}
