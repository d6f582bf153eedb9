//! One batch, call by call (L-02..L-06): each declared call gets exactly one paired result and one step, run or not.

use super::input::Output as ToolOutput;
use super::machine::{Phase, Run};
use super::output::{Item, Output};
use crate::admission::{AdmittedBatch, RefusedBatch};
use crate::approval::{Permit, decide};
use crate::error::{Error, Reason, bounded};
use crate::json::{Value, array, hash, object, parse, quote};
use crate::log::Receipt;
use crate::message::Message;
use crate::step::{Kind, Step, StepStatus, step_id};
use crate::turn::{Block, Call, Turn};

/// A tool's own words in a result, in bytes.
const MAX_MESSAGE_BYTES: usize = 2000;

/// Where a batch stands.
#[derive(Debug)]
pub(super) struct Batch {
    calls: AdmittedBatch,
    intents: Vec<String>,
    next: usize,
    /// A tool threw: the calls after it are not executed (L-03).
    thrown: bool,
    dispatched: bool,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Deciding,
    /// The host is asked whether the input fits its schema (P-17).
    Checking(u64),
    /// It does.
    Checked(u64),
    /// The claim is logged: the effect may start.
    Claimed(Permit, u64),
    /// The claim was given back: the effect never starts.
    Released(Call, u64),
    Running(Permit, u64, u64),
}

impl Batch {
    pub(super) fn new(calls: AdmittedBatch, intents: Vec<String>) -> Batch {
        Batch { calls, intents, next: 0, thrown: false, dispatched: false, stage: Stage::Deciding }
    }
}

/// For each call the text that stands before it (T-05).
pub(super) fn intents(turn: &Turn) -> Vec<String> {
    let (mut text, mut all) = (String::new(), Vec::new());
    for block in turn.blocks() {
        match block {
            Block::Text(more) => text.push_str(more),
            Block::Call(_) => all.push(crate::step::intent(&text)),
            Block::State(_) => {}
        }
    }
    all
}

/// How a call came out.
struct Settled<'c> {
    call: &'c Call,
    index: u64,
    started_at: u64,
    status: StepStatus,
    code: Option<Reason>,
    result: String,
    cost: Option<u128>,
}

/// The canonical text of a failure as the model reads it.
fn failure(code: &str, message: &str) -> String {
    object(&[("code", quote(code)), ("message", quote(message)), ("ok", "false".to_owned())])
}

fn status_of(reason: Reason) -> StepStatus {
    match reason {
        Reason::ApprovalRequired | Reason::PolicyDenied | Reason::LimitExceeded => StepStatus::Denied,
        _ => StepStatus::Failed,
    }
}

/// What the model is told about a call that did not run.
fn told(reason: Reason) -> &'static str {
    match reason {
        Reason::ToolNotFound => "There is no such tool. Nothing was run.",
        Reason::ApprovalRequired => "This tool needs an approval that cannot be asked for here. Nothing was run.",
        Reason::PolicyDenied => "Policy denies this call. Nothing was run.",
        Reason::InvalidToolInput => {
            "A number in the input has more digits than this tool can take; send it as a string. Nothing was run."
        }
        Reason::NotExecuted => "Not executed: an earlier call of this turn failed, or the run was ended.",
        _ => "Nothing was run.",
    }
}

impl Run {
    /// No call of the turn runs; each gets its result (L-02).
    pub(super) fn refuse_batch(&mut self, refused: &RefusedBatch, intents: &[String]) {
        let asked = refused.calls.len();
        let (left, max) = (refused.left, refused.max);
        let message = format!(
            "None of the {asked} calls of this turn was run: {left} of {max} calls are left (max_tool_calls_per_session)."
        );
        let result = failure("LIMIT_EXCEEDED", &message);
        let mut steps = Vec::new();
        for (position, call) in refused.calls.iter().enumerate() {
            let index = self.begin_step("tool_call");
            let settled = Settled {
                call,
                index,
                started_at: self.tick.now_ms,
                status: StepStatus::Denied,
                code: Some(Reason::LimitExceeded),
                result: result.clone(),
                cost: Some(0),
            };
            let intent = intents.get(position).map_or("", String::as_str);
            steps.push(self.step(&settled, intent, None));
        }
        let pairs = |member: &'static str, value: fn(&str) -> String| {
            array(refused.calls.iter().map(|call| object(&[("call_id", quote(&call.id)), (member, value(&result))])))
        };
        let body = object(&[("steps", array(steps.iter().map(Step::to_json))), ("calls", pairs("result_json", quote))]);
        self.append("batch_refused", &body);
        let error = Error::new(Reason::LimitExceeded)
            .with("limit", Value::text("max_tool_calls_per_session"))
            .with_number("asked", u64::try_from(asked).unwrap_or(u64::MAX))
            .with_number("left", left)
            .with_number("max", max);
        let first = steps.first().map(Step::id).unwrap_or_default();
        let members = [("step_id", quote(&first)), ("calls", asked.to_string()), ("error", error.to_json())];
        self.emit("batch_refused", &members);
        self.out(Output::new(
            "batch",
            &[("admitted", "false".to_owned()), ("results", pairs("result", str::to_owned))],
        ));
        for (call, step) in refused.calls.iter().zip(steps) {
            self.tell_result(call, step, &result, true);
        }
        self.phase = Phase::BatchOver { dispatched: false };
    }

    /// One transition of a batch; false when only an input can move it.
    pub(super) fn advance_batch(&mut self, mut batch: Batch) -> bool {
        match std::mem::replace(&mut batch.stage, Stage::Deciding) {
            Stage::Running(permit, index, started_at) => {
                batch.stage = Stage::Running(permit, index, started_at);
                self.phase = Phase::Calls(Box::new(batch));
                return false;
            }
            Stage::Checking(index) => {
                batch.stage = Stage::Checking(index);
                self.phase = Phase::Calls(Box::new(batch));
                return false;
            }
            Stage::Checked(index) => self.decide(&mut batch, index),
            Stage::Claimed(permit, index) => {
                if self.leaving.is_some() {
                    // Claimed and not started: the run was told to end in between, and the claim must not read as in doubt.
                    let body = object(&[
                        ("call_id", quote(&permit.call().id)),
                        ("attempt", "1".to_owned()),
                        ("reason", quote("aborted")),
                    ]);
                    self.append("claim_released", &body);
                    batch.stage = Stage::Released(permit.call().clone(), index);
                } else {
                    self.execute(&mut batch, permit, index);
                }
            }
            Stage::Released(call, index) => {
                self.refuse(&mut batch, &call, index, Reason::NotExecuted, told(Reason::NotExecuted));
            }
            Stage::Deciding => {
                let Some(call) = batch.calls.calls().get(batch.next).cloned() else {
                    self.end_batch(batch.dispatched);
                    return true;
                };
                let index = self.begin_step("tool_call");
                let checked = self.tools.get(&call.name).is_some_and(|tool| tool.checked);
                if checked && !batch.thrown && self.leaving.is_none() {
                    let members = [
                        ("key", quote(&format!("check:{}", call.id))),
                        ("call_id", quote(&call.id)),
                        ("name", quote(&call.name)),
                        ("input_json", quote(&call.input_json)),
                    ];
                    self.out(Output::new("check_input", &members));
                    batch.stage = Stage::Checking(index);
                } else {
                    self.decide(&mut batch, index);
                }
            }
        }
        self.phase = Phase::Calls(Box::new(batch));
        true
    }

    /// What becomes of the next call: refused, claimed, or run at once when it only reads.
    fn decide(&mut self, batch: &mut Batch, index: u64) {
        let Some(call) = batch.calls.calls().get(batch.next).cloned() else {
            return;
        };
        let decision = if batch.thrown || self.leaving.is_some() {
            Err(Reason::NotExecuted)
        } else {
            decide(&self.gate, &batch.calls, batch.next)
        };
        match decision {
            Err(reason) => self.refuse(batch, &call, index, reason, told(reason)),
            Ok(permit) if permit.policy().side_effecting => {
                let body = object(&[
                    ("call_id", quote(&call.id)),
                    ("attempt", "1".to_owned()),
                    ("action_hash", quote(permit.action_hash())),
                    ("idempotency_key", quote(&self.idempotency_key(&call, permit.action_hash()))),
                    ("approval_id", "null".to_owned()),
                    ("retry", "false".to_owned()),
                ]);
                self.append("effect_claimed", &body);
                // Without a store the host's checkpoint is the only durable claim: a throw there, and the effect never starts.
                self.checkpoint("claim");
                batch.stage = Stage::Claimed(permit, index);
            }
            Ok(permit) => self.execute(batch, permit, index),
        }
    }

    /// The host has looked at the input of the call under way (P-17).
    pub(super) fn input_checked(&mut self, key: &str, refusal: Option<String>) -> Result<(), Error> {
        let invalid = || Err(Error::new(Reason::InvalidState).at_field("key"));
        let mut batch = match std::mem::replace(&mut self.phase, Phase::Ready) {
            Phase::Calls(batch) => batch,
            other => {
                self.phase = other;
                return invalid();
            }
        };
        let call = batch.calls.calls().get(batch.next).cloned();
        let (Stage::Checking(index), Some(call)) = (&batch.stage, call) else {
            self.phase = Phase::Calls(batch);
            return invalid();
        };
        let index = *index;
        if key != format!("check:{}", call.id) {
            self.phase = Phase::Calls(batch);
            return invalid();
        }
        match refusal {
            None => batch.stage = Stage::Checked(index),
            Some(why) => {
                batch.stage = Stage::Deciding;
                let why = format!(
                    "The input does not fit the schema of the tool. Nothing was run. {}",
                    bounded(&why, MAX_MESSAGE_BYTES)
                );
                self.refuse(&mut batch, &call, index, Reason::InvalidToolInput, why.trim_end());
            }
        }
        self.phase = Phase::Calls(batch);
        Ok(())
    }

    /// The claim under way, as the checkpoint shows it.
    pub(super) fn claim_json(&self) -> Option<String> {
        let Phase::Calls(batch) = &self.phase else {
            return None;
        };
        let (Stage::Claimed(permit, _) | Stage::Running(permit, ..)) = &batch.stage else {
            return None;
        };
        let call = permit.call();
        permit.policy().side_effecting.then(|| {
            object(&[
                ("call_id", quote(&call.id)),
                ("attempt", "1".to_owned()),
                ("tool", quote(&call.name)),
                ("input_json", quote(&call.input_json)),
                ("action_hash", quote(permit.action_hash())),
                ("idempotency_key", quote(&self.idempotency_key(call, permit.action_hash()))),
                ("claimed_at", quote(&crate::step::timestamp(self.tick.now_ms))),
            ])
        })
    }

    fn idempotency_key(&self, call: &Call, action_hash: &str) -> String {
        let action = Value::Array(vec![Value::text(&call.id), Value::text(action_hash)]);
        hash("turnkeep/effect/v1", &[&Value::text(&self.run.tenant_subject), &Value::text(&self.run.task_id), &action])
    }

    fn execute(&mut self, batch: &mut Batch, permit: Permit, index: u64) {
        let call = permit.call();
        let shown = object(&[("id", quote(&call.id)), ("name", quote(&call.name)), ("input", call.input_json.clone())]);
        let members = [
            ("key", quote(&format!("tool:{}", call.id))),
            ("step_id", quote(&step_id(index))),
            ("call_id", quote(&call.id)),
            ("name", quote(&call.name)),
            ("input_json", quote(&call.input_json)),
            ("action_hash", quote(permit.action_hash())),
            ("idempotency_key", quote(&self.idempotency_key(call, permit.action_hash()))),
            ("side_effecting", permit.policy().side_effecting.to_string()),
            ("timeout_ms", permit.policy().timeout_ms.to_string()),
        ];
        self.emit("tool_started", &[("step_id", quote(&step_id(index))), ("call", shown)]);
        self.out(Output::new("execute_tool", &members));
        self.budget.spend.steps = self.budget.spend.steps.saturating_add(1);
        batch.dispatched = true;
        batch.stage = Stage::Running(permit, index, self.tick.now_ms);
    }

    fn refuse(&mut self, batch: &mut Batch, call: &Call, index: u64, reason: Reason, message: &str) {
        let settled = Settled {
            call,
            index,
            started_at: self.tick.now_ms,
            status: status_of(reason),
            code: Some(reason),
            result: failure(reason.code(), message),
            cost: Some(0),
        };
        self.settle(batch, &settled, None);
    }

    /// Takes the running call, when the key is its.
    fn running(&mut self, key: &str) -> Result<(Batch, Permit, u64, u64), Error> {
        let invalid = || Error::new(Reason::InvalidState).at_field("key");
        let Phase::Calls(batch) = &self.phase else {
            return Err(invalid());
        };
        if !matches!(&batch.stage, Stage::Running(permit, ..) if key == format!("tool:{}", permit.call().id)) {
            return Err(invalid());
        }
        match std::mem::replace(&mut self.phase, Phase::Ready) {
            Phase::Calls(mut batch) => match std::mem::replace(&mut batch.stage, Stage::Deciding) {
                Stage::Running(permit, index, started_at) => Ok((*batch, permit, index, started_at)),
                _ => Err(invalid()),
            },
            _ => Err(invalid()),
        }
    }

    pub(super) fn tool_result(&mut self, key: &str, output: ToolOutput, cost: Option<u128>) -> Result<(), Error> {
        let output = match output {
            ToolOutput::Json(output) => output,
            ToolOutput::Invalid => {
                return self.tool_failed(
                    key,
                    Reason::ToolOutputInvalid,
                    "The output is not JSON, or too large.",
                    false,
                    false,
                    cost,
                );
            }
        };
        let (mut batch, permit, index, started_at) = self.running(key)?;
        let receipt = Receipt {
            output_json: Some(output.clone()),
            ..self.receipt(&permit, started_at, "completed", "done", None)
        };
        let settled = Settled {
            call: permit.call(),
            index,
            started_at,
            status: StepStatus::Completed,
            code: None,
            result: object(&[("ok", "true".to_owned()), ("output", output)]),
            cost,
        };
        self.settle(&mut batch, &settled, permit.policy().side_effecting.then_some(receipt));
        self.phase = Phase::Calls(Box::new(batch));
        Ok(())
    }

    pub(super) fn tool_failed(
        &mut self,
        key: &str,
        code: Reason,
        message: &str,
        threw: bool,
        effect_none: bool,
        cost: Option<u128>,
    ) -> Result<(), Error> {
        // An input that its schema refused never reached the tool (P-17).
        let effect_none = effect_none || code == Reason::InvalidToolInput;
        let (mut batch, permit, index, started_at) = self.running(key)?;
        batch.thrown |= threw || code == Reason::ToolTimeout;
        let effect = permit.policy().side_effecting;
        let message = bounded(message, MAX_MESSAGE_BYTES);
        let told = match (effect && !effect_none, code) {
            (true, Reason::ToolOutputInvalid) => format!("The tool ran, but its output cannot be shown: {message}"),
            (true, _) => format!("The tool failed and its effect may have happened: {message}"),
            (false, _) => message.to_owned(),
        };
        let word = match (effect_none, code) {
            (true, _) => "none",
            (false, Reason::ToolOutputInvalid) => "done",
            (false, _) => "unknown",
        };
        let outcome = if code == Reason::ToolOutputInvalid { "completed" } else { "failed" };
        let receipt = effect.then(|| self.receipt(&permit, started_at, outcome, word, Some(code.code())));
        let settled = Settled {
            call: permit.call(),
            index,
            started_at,
            status: StepStatus::Failed,
            code: Some(code),
            result: failure(code.code(), &told),
            cost,
        };
        self.settle(&mut batch, &settled, receipt);
        self.phase = Phase::Calls(Box::new(batch));
        Ok(())
    }

    fn receipt(
        &self,
        permit: &Permit,
        started_at: u64,
        outcome: &'static str,
        effect: &'static str,
        code: Option<&'static str>,
    ) -> Receipt {
        let call = permit.call();
        let definition = self.tools.get(&call.name).map(|tool| {
            let tool = &tool.definition;
            let schema = parse(&tool.input_schema).unwrap_or(Value::Null);
            let description = tool.description.as_deref().map_or(Value::Null, Value::text);
            hash("turnkeep/tool/v1", &[&Value::text(&tool.name), &description, &schema, &Value::Null])
        });
        Receipt {
            call_id: call.id.clone(),
            tool: call.name.clone(),
            action_hash: permit.action_hash().to_owned(),
            definition_digest: definition,
            idempotency_key: self.idempotency_key(call, permit.action_hash()),
            outcome,
            effect,
            code,
            output_json: None,
            started_at,
            ended_at: self.tick.now_ms,
        }
    }

    fn step(&self, settled: &Settled<'_>, intent: &str, receipt: Option<&str>) -> Step {
        let input = parse(&settled.call.input_json).unwrap_or(Value::Null);
        let mut evidence_refs: Vec<String> = settled.code.iter().map(|code| format!("code:{}", code.code())).collect();
        evidence_refs.extend(receipt.map(|hash| format!("receipt:{hash}")));
        Step {
            index: settled.index,
            kind: Kind::ToolCall,
            intent_text: intent.to_owned(),
            action_summary: crate::step::summary(&settled.call.name, &input),
            status: settled.status,
            evidence_refs,
            cost: settled.cost,
            started_at: settled.started_at,
            ended_at: self.tick.now_ms,
            replayed: false,
        }
    }

    /// Logs a call's one result; what follows becomes visible when the entry is acknowledged.
    fn settle(&mut self, batch: &mut Batch, settled: &Settled<'_>, receipt: Option<Receipt>) {
        let added = receipt.map(|receipt| self.receipts.add(&receipt));
        let intent = batch.intents.get(batch.next).map_or("", String::as_str);
        let step = self.step(settled, intent, added.as_ref().map(|(_, hash)| hash.as_str()));
        match &added {
            Some((text, _)) => self.append("receipt", &object(&[("receipt", text.clone()), ("step", step.to_json())])),
            None => self.append("call_settled", &self.settled_body(settled, &step)),
        }
        if let Some((text, _)) = added {
            self.emit("receipt", &[("receipt", text)]);
        }
        self.tell_result(settled.call, step, &settled.result, settled.status != StepStatus::Completed);
        self.emit_budget();
        batch.next = batch.next.saturating_add(1);
    }

    fn settled_body(&self, settled: &Settled<'_>, step: &Step) -> String {
        object(&[
            ("step", step.to_json()),
            ("call_id", quote(&settled.call.id)),
            ("status", quote(settled.status.word())),
            ("code", settled.code.map_or("null".to_owned(), |code| quote(code.code()))),
            ("result_json", quote(&settled.result)),
        ])
    }

    fn tell_result(&mut self, call: &Call, step: Step, result: &str, is_error: bool) {
        let (id, record) = (quote(&step.id()), step.to_json());
        self.push(Item::Step(Box::new(step)));
        self.push(Item::Say(Message::Tool { call_id: call.id.clone(), content: result.to_owned(), is_error }));
        self.emit(
            "tool_ended",
            &[
                ("step_id", id),
                ("call_id", quote(&call.id)),
                ("name", quote(&call.name)),
                ("result", result.to_owned()),
                ("replayed", "false".to_owned()),
            ],
        );
        self.emit("step_ended", &[("step", record)]);
        let members = [("call_id", quote(&call.id)), ("result", result.to_owned()), ("replayed", "false".to_owned())];
        self.out(Output::new("settled", &members));
    }
}
