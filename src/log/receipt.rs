//! Receipts of side-effecting calls: a chain of their own, keyed by call id and action hash.

use super::{RunRef, canonical_text};
use crate::json::{hash_array, object, quote, text_or_null};
use crate::step::timestamp;

/// What one side-effecting call did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The call.
    pub call_id: String,
    /// The governed name.
    pub tool: String,
    /// The hash of what ran.
    pub action_hash: String,
    /// Of the tool's definition.
    pub definition_digest: Option<String>,
    /// What the tool was given to recognise a repeat.
    pub idempotency_key: String,
    /// `completed` or `failed`.
    pub outcome: &'static str,
    /// `done`, `none` or `unknown`.
    pub effect: &'static str,
    /// The code of a failure.
    pub code: Option<&'static str>,
    /// The output, canonical.
    pub output_json: Option<String>,
    /// Milliseconds since the epoch.
    pub started_at: u64,
    /// Milliseconds since the epoch.
    pub ended_at: u64,
}

/// The receipts of a run, in order, as canonical texts.
#[derive(Debug, Clone)]
pub struct Receipts {
    run: RunRef,
    head: String,
    texts: Vec<String>,
}

impl Receipts {
    /// None yet.
    #[must_use]
    pub fn new(run: RunRef) -> Receipts {
        let head = run.tagged("turnkeep/receipts/v1");
        Receipts { run, head, texts: Vec::new() }
    }

    /// Goes on after those of a checkpoint.
    #[must_use]
    pub fn resumed(run: RunRef, head: Option<String>, texts: Vec<String>) -> Receipts {
        let mut receipts = Receipts::new(run);
        receipts.head = head.unwrap_or(receipts.head);
        receipts.texts = texts;
        receipts
    }

    /// Adds a receipt; gives its canonical text and its hash.
    pub fn add(&mut self, receipt: &Receipt) -> (String, String) {
        let output_hash = hash_array("turnkeep/output/v1", &[receipt.output_json.as_deref().unwrap_or("null")]);
        let fields = |hash: Option<&str>| {
            let mut members = vec![
                ("v", "1".to_owned()),
                ("seq", self.texts.len().to_string()),
                ("tenant_subject", quote(&self.run.tenant_subject)),
                ("task_id", quote(&self.run.task_id)),
                ("call_id", quote(&receipt.call_id)),
                ("attempt", "1".to_owned()),
                ("tool", quote(&receipt.tool)),
                ("action_hash", quote(&receipt.action_hash)),
                ("definition_digest", text_or_null(receipt.definition_digest.as_deref())),
                ("idempotency_key", quote(&receipt.idempotency_key)),
                ("outcome", quote(receipt.outcome)),
                ("effect", quote(receipt.effect)),
                ("code", text_or_null(receipt.code)),
                ("output_json", text_or_null(receipt.output_json.as_deref())),
                ("output_ref", "null".to_owned()),
                ("output_hash", quote(&output_hash)),
                ("approval_id", "null".to_owned()),
                ("started_at", quote(&timestamp(receipt.started_at))),
                ("ended_at", quote(&timestamp(receipt.ended_at))),
                ("prev", quote(&self.head)),
            ];
            members.extend(hash.map(|hash| ("hash", quote(hash))));
            canonical_text(&object(&members))
        };
        let hash = hash_array("turnkeep/receipt/v1", &[&fields(None)]);
        let text = fields(Some(&hash));
        self.head.clone_from(&hash);
        self.texts.push(text.clone());
        (text, hash)
    }

    /// The canonical texts, in order.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.texts
    }
}
