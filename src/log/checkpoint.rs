//! The portable snapshot of a run (B-05, B-08). Its digest covers every field, so a changed one is refused.

use super::{RunRef, canonical_text};
use crate::budget::Spend;
use crate::error::{Error, Reason};
use crate::json::{
    ENVELOPE_DEPTH, Object, Value, array, canonical, hash_array, object, parse_with_depth, quote, text_or_null,
};
use crate::message::{Message, history_json};
use crate::step::Step;
use std::collections::BTreeSet;

/// What goes into a snapshot.
pub struct Checkpoint<'r> {
    /// The run.
    pub run: &'r RunRef,
    /// On whose behalf.
    pub actor_ref: &'r str,
    /// Grows with every checkpoint.
    pub revision: u64,
    /// All steps.
    pub steps: &'r [Step],
    /// All receipts, canonical.
    pub receipts: &'r [String],
    /// The use.
    pub spend: Spend,
    /// The history.
    pub history: &'r [Message],
    /// The turn whose calls are not all settled.
    pub pending_turn: Option<String>,
    /// The effect that is claimed and not yet receipted, as JSON text.
    pub claim: Option<String>,
    /// Entries so far, and the hash of the last.
    pub head: (u64, &'r str),
}

impl Checkpoint<'_> {
    /// Canonical JSON text with its digest.
    #[must_use]
    pub fn to_json(&self) -> String {
        let fields = |digest: Option<&str>| {
            let mut members = vec![
                ("schema_version", "1".to_owned()),
                ("tenant_subject", quote(&self.run.tenant_subject)),
                ("task_id", quote(&self.run.task_id)),
                ("actor_ref", quote(self.actor_ref)),
                ("revision", self.revision.to_string()),
                ("steps", array(self.steps.iter().map(Step::to_json))),
                ("receipts", array(self.receipts.iter().cloned())),
                ("spend", self.spend.to_json()),
                ("history_json", quote(&canonical_text(&history_json(self.history)))),
                (
                    "pending",
                    object(&[
                        ("turn_json", text_or_null(self.pending_turn.as_deref())),
                        ("approvals", "[]".to_owned()),
                        ("claims", array(self.claim.clone())),
                    ]),
                ),
                ("autonomy", quote("ask_gated")),
                ("head", object(&[("seq", self.head.0.to_string()), ("hash", quote(self.head.1))])),
            ];
            members.extend(digest.map(|digest| ("digest", quote(digest))));
            canonical_text(&object(&members))
        };
        let digest = hash_array("turnkeep/checkpoint/v1", &[&fields(None)]);
        fields(Some(&digest))
    }
}

/// What a snapshot gives back.
#[derive(Debug, Clone)]
pub struct Saved {
    /// Its revision.
    pub revision: u64,
    /// All steps.
    pub steps: Vec<Step>,
    /// Receipts, canonical.
    pub receipts: Vec<String>,
    /// The hash of the last receipt.
    pub receipt_head: Option<String>,
    /// The use.
    pub spend: Spend,
    /// The history.
    pub history: Vec<Message>,
    /// Entries so far, and the hash of the last.
    pub head: (u64, String),
}

impl Saved {
    /// Reads a snapshot: version and unknown fields, digest, tenant, task, then its parts.
    ///
    /// # Errors
    /// `CHECKPOINT_VERSION`, `CHECKPOINT_INCONSISTENT`, `TENANT_SUBJECT_MISMATCH`, `CHECKPOINT_FOREIGN`.
    pub fn read(value: &Value<'_>, run: &RunRef) -> Result<Saved, Error> {
        const FIELDS: &[&str] = &[
            "schema_version",
            "tenant_subject",
            "task_id",
            "actor_ref",
            "revision",
            "steps",
            "receipts",
            "spend",
            "history_json",
            "pending",
            "autonomy",
            "head",
            "digest",
            "seal",
        ];
        let given = value.as_object().ok_or_else(|| Error::new(Reason::CheckpointVersion))?;
        if given.get("schema_version").and_then(Value::as_u64) != Some(1) {
            return Err(Error::new(Reason::CheckpointVersion).at_field("schema_version"));
        }
        if let Some((name, _)) = given.iter().find(|(name, _)| !FIELDS.contains(name)) {
            return Err(Error::new(Reason::CheckpointVersion).at_field(name));
        }
        let wrong = |field: &str| Error::new(Reason::CheckpointInconsistent).at_field(field);
        let mut signed = Object::default();
        for (name, member) in given.iter().filter(|(name, _)| !matches!(*name, "digest" | "seal")) {
            signed.set(name, member.clone());
        }
        let digest = hash_array("turnkeep/checkpoint/v1", &[&canonical(&Value::Object(signed))]);
        if given.get("digest").and_then(Value::as_str) != Some(digest.as_str()) {
            return Err(wrong("digest"));
        }
        let text = |name: &str| given.get(name).and_then(Value::as_str).ok_or_else(|| wrong(name));
        if text("tenant_subject")? != run.tenant_subject {
            return Err(Error::new(Reason::CheckpointTenant));
        }
        if text("task_id")? != run.task_id {
            return Err(Error::new(Reason::CheckpointForeign));
        }
        // Calls still open, approvals and claims need the stored log: nothing of them is guessed, and no approval is ever taken from here.
        if given.get("pending").map(canonical).as_deref() != Some(NOTHING_PENDING) {
            return Err(wrong("pending"));
        }
        if text("autonomy")? != "ask_gated" {
            return Err(wrong("autonomy"));
        }
        let list = |name: &str| given.get(name).and_then(Value::as_array).ok_or_else(|| wrong(name));
        let steps = list("steps")?.iter().map(Step::read).collect::<Result<Vec<_>, _>>().map_err(|_| wrong("steps"))?;
        let receipts = list("receipts")?;
        let receipt_head = verify(receipts, run)?;
        let spend = given.get("spend").and_then(Spend::read).ok_or_else(|| wrong("spend"))?;
        check_sums(&steps, &spend)?;
        let history = parse_with_depth(text("history_json")?, ENVELOPE_DEPTH).map_err(|_| wrong("history_json"))?;
        let head = given.get("head").and_then(Value::as_object).ok_or_else(|| wrong("head"))?;
        Ok(Saved {
            revision: given.get("revision").and_then(Value::as_u64).ok_or_else(|| wrong("revision"))?,
            receipts: receipts.iter().map(canonical).collect(),
            receipt_head,
            spend,
            history: Message::read_all(Some(&history), "history_json").map_err(|_| wrong("history_json"))?,
            head: (
                head.get("seq").and_then(Value::as_u64).ok_or_else(|| wrong("head.seq"))?,
                head.get("hash").and_then(Value::as_str).ok_or_else(|| wrong("head.hash"))?.to_owned(),
            ),
            steps,
        })
    }
}

/// `pending` of a run with nothing open, canonical.
const NOTHING_PENDING: &str = "{\"approvals\":[],\"claims\":[],\"turn_json\":null}";

/// Walks the receipt chain: each links to the one before, belongs to this run, and has the hash of its own fields. Gives the
/// hash of the last.
fn verify(receipts: &[Value<'_>], run: &RunRef) -> Result<Option<String>, Error> {
    let mut prev = run.tagged("turnkeep/receipts/v1");
    let mut last = None;
    let mut keys = BTreeSet::new();
    for (seq, receipt) in receipts.iter().enumerate() {
        let wrong = |reason: Reason| Error::new(reason).at_field(&format!("receipts[{seq}]"));
        let fields = receipt.as_object().ok_or_else(|| wrong(Reason::ChainChanged))?;
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("tenant_subject") != run.tenant_subject || text("task_id") != run.task_id {
            return Err(wrong(Reason::CheckpointForeign));
        }
        if fields.get("seq").and_then(Value::as_u64) != u64::try_from(seq).ok() {
            return Err(wrong(Reason::ChainGap));
        }
        if text("prev") != prev {
            return Err(wrong(Reason::ChainBroken));
        }
        let mut signed = Object::default();
        for (name, member) in fields.iter().filter(|(name, _)| *name != "hash") {
            signed.set(name, member.clone());
        }
        let hash = hash_array("turnkeep/receipt/v1", &[&canonical(&Value::Object(signed))]);
        if text("hash") != hash {
            return Err(wrong(Reason::ChainChanged));
        }
        if !keys.insert((
            text("call_id").to_owned(),
            text("action_hash").to_owned(),
            fields.get("attempt").and_then(Value::as_u64),
        )) {
            return Err(wrong(Reason::ChainDuplicate));
        }
        prev.clone_from(&hash);
        last = Some(hash);
    }
    Ok(last)
}

/// Steps stand in order, and what was spent is the sum of what they cost.
fn check_sums(steps: &[Step], spend: &Spend) -> Result<(), Error> {
    let wrong = |field: &str| Err(Error::new(Reason::CheckpointInconsistent).at_field(field));
    let mut sum: u128 = 0;
    let mut unknown: u64 = 0;
    let mut position: u64 = 0;
    for step in steps {
        if step.index != position {
            return wrong("steps");
        }
        position = position.saturating_add(1);
        match step.cost {
            Some(cost) => sum = sum.saturating_add(cost),
            None => unknown = unknown.saturating_add(1),
        }
    }
    if sum != spend.cost || unknown != spend.unknown_cost_steps {
        return wrong("spend");
    }
    Ok(())
}
