//! The state table of a run. Each transition queues at most one append, and the next transition waits for its acknowledgement.

use super::Tick;
use super::config::Config;
use super::input::{Input, Model, Tool, turn_key};
use super::output::{Item, Output, Wait};
use super::retry::Hope;
use super::settle::{Batch, intents};
use crate::admission::{RunnableTurn, admit};
use crate::approval::Gate;
use crate::budget::{Budget, Clearance, Exhausted};
use crate::cost::Prices;
use crate::error::{Error, Reason};
use crate::json::{Value, array, object, parse_with_depth, quote, text_or_null};
use crate::log::{Log, Receipts, RunRef};
use crate::message::{Message, history_json};
use crate::provider::Status;
use crate::step::{Kind, Step, StepStatus, step_id};
use crate::turn::{Block, Turn};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Where a run stands. Each state owns what is legal in it.
#[derive(Debug)]
pub(super) enum Phase {
    New,
    Ready,
    Clearing,
    AskingModel {
        step: u64,
        started_at: u64,
    },
    TurnIn {
        turn: Box<Turn>,
    },
    Calls(Box<Batch>),
    /// All calls of a batch are settled; whether one was dispatched.
    BatchOver {
        dispatched: bool,
    },
    Stopping(Box<Ending>),
    Done,
}

/// How a run ends.
#[derive(Debug)]
pub(super) struct Ending {
    pub(super) outcome: &'static str,
    pub(super) limit: Option<&'static str>,
    /// Members of the result that only this outcome has.
    pub(super) members: Vec<(&'static str, String)>,
    pub(super) final_text: String,
    pub(super) logged: bool,
}

impl Ending {
    pub(super) fn new(outcome: &'static str, members: Vec<(&'static str, String)>) -> Ending {
        Ending { outcome, limit: None, members, final_text: String::new(), logged: false }
    }
}

/// One bounded task.
#[derive(Debug)]
pub struct Run {
    pub(super) run: RunRef,
    pub(super) actor_ref: String,
    pub(super) budget: Budget,
    max_tool_calls: u64,
    has_cost: bool,
    checkpoints: bool,
    pub(super) gate: Gate,
    pub(super) tools: BTreeMap<String, Tool>,
    model: Option<Model>,
    pub(super) phase: Phase,
    pub(super) queue: VecDeque<Item>,
    wait: Wait,
    pub(super) log: Log,
    pub(super) receipts: Receipts,
    pub(super) history: Vec<Message>,
    pub(super) steps: Vec<Step>,
    pub(super) next_step: u64,
    model_calls: u64,
    used_ids: BTreeSet<String>,
    pub(super) pending_turn: Option<String>,
    pub(super) revision: u64,
    created: bool,
    resumed: bool,
    /// The loop was told to end; the run ends where nothing is under way.
    pub(super) leaving: Option<Ending>,
    /// Failed attempts at the model call under way.
    pub(super) failed_attempts: u64,
    pub(super) tick: Tick,
}

impl Run {
    /// Opens a run.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `LIMIT_INVALID`, `LIMIT_ABOVE_CEILING`, `CONFIGURATION_ERROR`, `CHECKPOINT_*`.
    pub fn open(config_json: &str) -> Result<Run, Error> {
        let config = Config::read(config_json)?;
        let run = config.run;
        let gate = Gate { tools: BTreeMap::new(), classes: config.classes, default_class: config.default_class };
        let mut machine = Run {
            log: Log::new(run.clone()),
            receipts: Receipts::new(run.clone()),
            run,
            actor_ref: config.actor_ref,
            budget: Budget { limits: config.limits, ..Budget::default() },
            max_tool_calls: config.max_tool_calls,
            has_cost: config.has_cost,
            checkpoints: config.checkpoints,
            gate,
            tools: BTreeMap::new(),
            model: None,
            phase: Phase::New,
            queue: VecDeque::new(),
            wait: Wait::Nothing,
            history: Vec::new(),
            steps: Vec::new(),
            next_step: 0,
            model_calls: 0,
            used_ids: BTreeSet::new(),
            pending_turn: None,
            revision: 0,
            created: false,
            resumed: false,
            leaving: None,
            failed_attempts: 0,
            tick: Tick::default(),
        };
        if let Some(saved) = config.saved {
            machine.resumed = true;
            machine.created = true;
            machine.log = Log::resumed(machine.run.clone(), saved.head.0, saved.head.1);
            machine.receipts = Receipts::resumed(machine.run.clone(), saved.receipt_head, saved.receipts);
            machine.budget.spend = saved.spend;
            machine.next_step = saved.steps.last().map_or(0, |step| step.index.saturating_add(1));
            machine.model_calls = machine.next_step;
            machine.steps = saved.steps;
            machine.history = saved.history;
            machine.revision = saved.revision;
            machine.used_ids = call_ids(&machine.history);
        }
        Ok(machine)
    }

    /// Takes one input. What it leads to is read with [`Run::poll_output`]; misuse is an output of its own.
    pub fn handle_input(&mut self, tick: Tick, input_json: &str) {
        match parse_with_depth(input_json, crate::json::ENVELOPE_DEPTH.saturating_add(4)) {
            Ok(value) => self.handle_value(tick, &value),
            Err(error) => {
                let offset = u64::try_from(error.offset).unwrap_or(u64::MAX);
                self.misuse(&Error::new(Reason::InvalidInput).at_field("input").at_byte(offset));
            }
        }
    }

    /// As [`Run::handle_input`], for an input that is read already.
    pub fn handle_value(&mut self, tick: Tick, value: &Value<'_>) {
        // Active time: from the start to the end, and a clock that goes back adds nothing (B-08).
        if !matches!(self.phase, Phase::New | Phase::Done) {
            let passed = tick.mono_ms.saturating_sub(self.tick.mono_ms);
            self.budget.spend.elapsed_ms = self.budget.spend.elapsed_ms.saturating_add(passed);
        }
        self.tick = tick;
        if let Err(error) = self.accept(value) {
            self.misuse(&error);
        }
    }

    fn accept(&mut self, value: &Value<'_>) -> Result<(), Error> {
        let input = match Input::read(value) {
            Ok(input) => input,
            // A turn that breaks the contract is the provider's failure, not the caller's: the model call failed.
            Err(error) if turn_key(value).is_some_and(|key| self.asks(key)) => {
                return self.turn_failed(
                    error.code(),
                    &error.to_json(),
                    Hope::of_error(&error),
                    self.cost_of_unknown(),
                );
            }
            Err(error) => return Err(error),
        };
        let invalid = || Err(Error::new(Reason::InvalidState));
        match input {
            Input::Start { messages, system, tools, model } => self.start(messages, system, tools, model),
            Input::Clear => match self.phase {
                Phase::Ready => {
                    self.phase = Phase::Clearing;
                    Ok(())
                }
                Phase::Done => Err(Error::new(Reason::RunEnded)),
                _ => invalid(),
            },
            Input::Appended(seq) if self.wait == Wait::Append(seq) => {
                self.wait = Wait::Nothing;
                Ok(())
            }
            Input::Saved if self.wait == Wait::Saved => {
                self.wait = Wait::Nothing;
                Ok(())
            }
            Input::Turn { key, turn, cost } if self.asks(&key) => self.turn(*turn, cost),
            Input::TurnFailed { key, error, free } if self.asks(&key) => self.turn_failed(
                &error.code,
                &error.json,
                error.hope,
                free.then_some(0).or_else(|| self.cost_of_unknown()),
            ),
            Input::Checked { key, refusal } => self.input_checked(&key, refusal),
            Input::ToolResult { key, output, cost } => self.tool_result(&key, output, cost),
            Input::ToolFailed { key, code, message, threw, effect_none, cost } => {
                self.tool_failed(&key, code, &message, threw, effect_none, cost)
            }
            Input::Cancel => self.leave(Ending::new("cancelled", Vec::new())),
            Input::Disconnect(side) => {
                self.leave(Ending::new("client_disconnect", vec![("details", object(&[("side", quote(side))]))]))
            }
            _ => invalid(),
        }
    }

    fn misuse(&mut self, error: &Error) {
        self.queue.push_front(Item::Out(Output::new("error", &[("error", error.to_json())])));
    }

    fn asks(&self, key: &str) -> bool {
        matches!(self.phase, Phase::AskingModel { .. }) && key == self.model_key()
    }

    fn model_key(&self) -> String {
        format!("model:{}", self.model_calls)
    }

    /// The run ends now if nothing is under way, else after what is.
    fn leave(&mut self, ending: Ending) -> Result<(), Error> {
        match self.phase {
            Phase::New | Phase::Ready | Phase::Clearing => self.phase = Phase::Stopping(Box::new(ending)),
            Phase::Done | Phase::Stopping(_) => {}
            _ => self.leaving = Some(self.leaving.take().unwrap_or(ending)),
        }
        Ok(())
    }

    fn start(
        &mut self,
        messages: Vec<Message>,
        system: Option<String>,
        tools: Vec<Tool>,
        model: Option<Model>,
    ) -> Result<(), Error> {
        if !matches!(self.phase, Phase::New) {
            return Err(Error::new(Reason::InvalidState));
        }
        let mut messages = messages;
        if let Some(system) = system.filter(|_| !self.resumed) {
            messages.insert(0, Message::System(system));
        }
        if self.resumed {
            // The history is the checkpoint's; a host may only add to it.
            let kept = self.history.len();
            if messages.get(..kept) != Some(self.history.as_slice()) {
                return Err(Error::new(Reason::InvalidInput).at_field("messages"));
            }
        }
        self.used_ids = call_ids(&messages);
        self.history = messages;
        for tool in tools {
            self.gate.tools.insert(tool.definition.name.clone(), tool.declared.clone());
            self.tools.insert(tool.definition.name.clone(), tool);
        }
        self.model = model;
        self.phase = Phase::Ready;
        self.emit("run_started", &[("run", self.run.to_json()), ("resumed", self.resumed.to_string())]);
        Ok(())
    }

    /// The next thing for the host to do. `None`: nothing until the next input.
    pub fn poll_output(&mut self) -> Option<Output> {
        loop {
            if self.wait != Wait::Nothing {
                // Misuse is told at once, whatever the run waits for.
                return match self.queue.front() {
                    Some(Item::Out(output)) if output.kind() == "error" => self.pop_output(),
                    _ => None,
                };
            }
            match self.queue.pop_front() {
                Some(Item::Out(output)) => {
                    self.wait = match (output.append_seq(), output.kind()) {
                        (Some(seq), _) => Wait::Append(seq),
                        (None, "checkpoint") => Wait::Saved,
                        _ => Wait::Nothing,
                    };
                    return Some(output);
                }
                Some(Item::Step(step)) => {
                    self.budget.add_cost(step.cost);
                    self.steps.push(*step);
                }
                Some(Item::Budget) => {
                    let members = [("spend", self.spend_json()), ("remaining", self.budget.remaining_json())];
                    return Some(Output::event("budget", &members));
                }
                Some(Item::Say(message)) => self.history.push(message),
                None => {
                    if !self.advance() {
                        return None;
                    }
                }
            }
        }
    }

    fn pop_output(&mut self) -> Option<Output> {
        match self.queue.pop_front() {
            Some(Item::Out(output)) => Some(output),
            _ => None,
        }
    }

    /// One transition; false when only an input can move the run.
    fn advance(&mut self) -> bool {
        match std::mem::replace(&mut self.phase, Phase::Ready) {
            Phase::Clearing => self.clear(),
            Phase::TurnIn { turn } => self.judge(*turn),
            Phase::Calls(batch) => return self.advance_batch(*batch),
            Phase::BatchOver { dispatched } => self.end_batch(dispatched),
            Phase::Stopping(ending) => self.stop(*ending),
            idle => {
                self.phase = idle;
                return false;
            }
        }
        true
    }

    fn clear(&mut self) {
        if !self.created {
            self.created = true;
            self.phase = Phase::Clearing;
            let model = self.model.as_ref().map_or("null".to_owned(), |model| model.json.clone());
            let tools = array(self.tools.values().map(|tool| quote(&tool.definition.name)));
            let body = object(&[
                ("limits", self.budget.limits.to_json()),
                ("model", model),
                ("actor_ref", quote(&self.actor_ref)),
                ("autonomy", quote("ask_gated")),
                ("messages_json", quote(&history_json(&self.history))),
                ("tools", tools),
                ("created_by", quote(env!("CARGO_PKG_VERSION"))),
            ]);
            return self.append("run_created", &body);
        }
        match self.budget.clear(self.price_known()) {
            Ok(clearance) => self.ask_model(&clearance),
            Err(exhausted) => self.exhausted(exhausted),
        }
    }

    /// Whether the next call can have a known cost, as far as the core can tell (B-06).
    pub(super) fn price_known(&self) -> bool {
        self.has_cost || self.model.as_ref().is_some_and(|model| model.prices.is_some())
    }

    /// What a call costs whose usage is not known: nothing where every price is zero, else that is not known either (T-03).
    fn cost_of_unknown(&self) -> Option<u128> {
        let prices = self.model.as_ref().and_then(|model| model.prices.as_ref());
        if !self.has_cost && prices.is_some_and(Prices::is_free) { Some(0) } else { None }
    }

    fn ask_model(&mut self, clearance: &Clearance) {
        let step = self.begin_step("model_call");
        self.phase = Phase::AskingModel { step, started_at: self.tick.now_ms };
        self.model_calls = step;
        let timeout = clearance.remaining_ms().map_or("null".to_owned(), |ms| ms.to_string());
        let key = self.model_key();
        self.out(Output::new(
            "call_model",
            &[("key", quote(&key)), ("step_id", quote(&step_id(step))), ("timeout_ms", timeout)],
        ));
    }

    pub(super) fn exhausted(&mut self, exhausted: Exhausted) {
        let limit = exhausted.limit.field();
        let members = vec![
            ("reason_code", quote("budget_exhausted")),
            ("limit", quote(limit)),
            ("details", exhausted.details_json()),
        ];
        self.phase =
            Phase::Stopping(Box::new(Ending { limit: Some(limit), ..Ending::new("budget_exhausted", members) }));
    }

    /// Takes the next step number and announces it.
    pub(super) fn begin_step(&mut self, kind: &'static str) -> u64 {
        let index = self.next_step;
        self.next_step = index.saturating_add(1);
        let members = [("step_id", quote(&step_id(index))), ("index", index.to_string()), ("kind", quote(kind))];
        self.emit("step_started", &members);
        index
    }

    pub(super) fn model_step(&self, status: StepStatus, cost: Option<u128>, evidence_refs: Vec<String>) -> Step {
        let (index, started_at) = match self.phase {
            Phase::AskingModel { step, started_at } => (step, started_at),
            _ => (self.model_calls, self.tick.now_ms),
        };
        Step {
            index,
            kind: Kind::ModelCall,
            intent_text: String::new(),
            action_summary: "model_call".to_owned(),
            status,
            evidence_refs,
            cost,
            started_at,
            ended_at: self.tick.now_ms,
            replayed: false,
        }
    }

    /// A sealed turn came. Its cost is added before anything else is decided.
    fn turn(&mut self, turn: Turn, host_cost: Option<u128>) -> Result<(), Error> {
        let cost = match turn.usage() {
            None => self.cost_of_unknown(),
            Some(_) if self.has_cost => host_cost,
            Some(usage) => {
                self.model.as_ref().and_then(|model| model.prices.as_ref()).and_then(|prices| prices.cost(usage))
            }
        };
        if let Some(usage) = turn.usage() {
            let spend = &mut self.budget.spend;
            spend.input_tokens = spend.input_tokens.saturating_add(usage.input_tokens.unwrap_or(0));
            spend.output_tokens = spend.output_tokens.saturating_add(usage.output_tokens.unwrap_or(0));
        }
        if let Some(call) = turn.calls().into_iter().find(|call| self.used_ids.contains(&call.id)) {
            let error = Error::new(Reason::CallIdReused).with("call_id", Value::text(&call.id));
            return self.turn_failed(error.code(), &error.to_json(), Hope::of_error(&error), cost);
        }
        self.budget.spend.steps = self.budget.spend.steps.saturating_add(1);
        let status = if turn.status().is_cut() { StepStatus::Failed } else { StepStatus::Completed };
        let quirks = turn.quirks().keys().map(|name| format!("quirk:{name}")).collect();
        let step = self.model_step(status, cost, quirks);
        let turn_json = turn.to_json();
        let kind = if turn.status().is_cut() { "turn_failed" } else { "turn_received" };
        if !turn.status().is_cut() {
            self.failed_attempts = 0;
        }
        self.append(kind, &object(&[("step", step.to_json()), ("turn_json", quote(&turn_json))]));
        let ended = step.to_json();
        self.emit("turn", &[("step_id", quote(&step.id())), ("turn", turn_json.clone())]);
        self.push(Item::Step(Box::new(step)));
        self.emit("step_ended", &[("step", ended)]);
        self.emit_budget();
        self.used_ids.extend(turn.calls().into_iter().map(|call| call.id.clone()));
        self.phase = Phase::TurnIn { turn: Box::new(turn) };
        Ok(())
    }

    /// The turn is logged: it enters history, and its status says what follows.
    fn judge(&mut self, turn: Turn) {
        let final_text = turn.assistant_text();
        let mut ending = match (turn.status(), turn.finish_reason()) {
            (Status::ToolRequest, _) => return self.admit(&turn),
            (Status::Cancelled, _) => Ending::new("cancelled", Vec::new()),
            (Status::ClientDisconnect, _) if turn.side == Some("provider") && self.retry_disconnect() => return,
            (Status::ClientDisconnect, _) => {
                let side = turn.side.unwrap_or("provider");
                Ending::new("client_disconnect", vec![("details", object(&[("side", quote(side))]))])
            }
            (status, finish) => {
                let (unified, raw) = finish.map_or(("stop", ""), |finish| (finish.unified.word(), finish.raw.as_str()));
                let mut members = vec![("finish_reason", object(&[("unified", quote(unified)), ("raw", quote(raw))]))];
                if status != Status::Reply {
                    members.push(("dropped_calls", turn.dropped_calls().to_string()));
                }
                let outcome = match status {
                    Status::Reply => "completed",
                    Status::Incomplete => "incomplete",
                    _ => "refused",
                };
                self.push(Item::Say(Message::Assistant(turn.blocks().to_vec())));
                Ending::new(outcome, members)
            }
        };
        ending.final_text = final_text;
        self.phase = Phase::Stopping(Box::new(ending));
    }

    fn admit(&mut self, turn: &Turn) {
        let Some(runnable) = RunnableTurn::of(turn) else {
            return;
        };
        let intents = intents(turn);
        self.pending_turn = Some(turn.to_json());
        // The assistant turn enters history before its results (L-04).
        self.history.push(Message::Assistant(turn.blocks().to_vec()));
        match admit(runnable, self.budget.spend.tool_calls, self.max_tool_calls) {
            Ok(batch) => {
                let count = u64::try_from(batch.calls().len()).unwrap_or(u64::MAX);
                self.budget.spend.tool_calls = self.budget.spend.tool_calls.saturating_add(count);
                self.out(Output::new("batch", &[("admitted", "true".to_owned()), ("results", "[]".to_owned())]));
                self.phase = Phase::Calls(Box::new(Batch::new(batch, intents)));
            }
            Err(refused) => self.refuse_batch(&refused, &intents),
        }
    }

    /// All calls of the turn are settled.
    pub(super) fn end_batch(&mut self, dispatched: bool) {
        self.pending_turn = None;
        if !dispatched {
            // Else a model that only asks for what it cannot have would never meet its step limit (B-04).
            self.budget.spend.steps = self.budget.spend.steps.saturating_add(1);
        }
        self.checkpoint("step");
        self.phase = match self.leaving.take() {
            Some(ending) => Phase::Stopping(Box::new(ending)),
            None => {
                self.out(Output::new("ready", &[]));
                Phase::Ready
            }
        };
    }

    fn stop(&mut self, mut ending: Ending) {
        if !ending.logged {
            ending.logged = true;
            let body = object(&[
                ("outcome", quote(ending.outcome)),
                ("reason", "null".to_owned()),
                ("limit", text_or_null(ending.limit)),
            ]);
            self.phase = Phase::Stopping(Box::new(ending));
            return self.append("stopped", &body);
        }
        self.checkpoint("stop");
        self.phase = Phase::Done;
        let mut members = vec![
            ("outcome", quote(ending.outcome)),
            ("tenant_subject", quote(&self.run.tenant_subject)),
            ("task_id", quote(&self.run.task_id)),
            ("final_text", quote(&ending.final_text)),
            ("steps", self.steps_json()),
            ("spend", self.spend_json()),
        ];
        members.extend(ending.members);
        let result = object(&members);
        self.emit("stopped", &[("result", result.clone())]);
        self.out(Output::new("done", &[("result", result)]));
    }

    pub(super) fn checkpoint(&mut self, cause: &'static str) {
        self.revision = self.revision.saturating_add(1);
        if self.checkpoints {
            self.out(Output::new("checkpoint", &[("cause", quote(cause))]));
        }
    }

    pub(super) fn append(&mut self, kind: &'static str, body: &str) {
        let entry = self.log.append(kind, self.tick.now_ms, body);
        self.out(Output::append(&entry));
    }

    pub(super) fn emit(&mut self, kind: &str, members: &[(&str, String)]) {
        self.out(Output::event(kind, members));
    }

    pub(super) fn emit_budget(&mut self) {
        self.push(Item::Budget);
    }

    pub(super) fn out(&mut self, output: Output) {
        self.push(Item::Out(output));
    }

    pub(super) fn push(&mut self, item: Item) {
        self.queue.push_back(item);
    }
}

fn call_ids(history: &[Message]) -> BTreeSet<String> {
    let blocks = history.iter().flat_map(|message| match message {
        Message::Assistant(blocks) => blocks.as_slice(),
        _ => &[],
    });
    blocks.filter_map(|block| if let Block::Call(call) = block { Some(call.id.clone()) } else { None }).collect()
}
