//! One run. `push` handles an input and drains the machine, so that no loop can forget to poll.

use crate::error::{Error, Reason};
use crate::json::{Value, parse_with_depth};
use crate::run::{self, Tick};
use wasm_bindgen::prelude::wasm_bindgen;

/// A bounded task.
#[wasm_bindgen]
pub struct Run {
    inner: Result<run::Run, Error>,
}

/// Splits `{"now_ms", "mono_ms", "input"}` without reading the input twice into memory.
fn tick(value: &Value<'_>) -> Option<Tick> {
    let given = value.as_object()?;
    let time = |name: &str| given.get(name).and_then(Value::as_u64);
    Some(Tick { now_ms: time("now_ms")?, mono_ms: time("mono_ms")? })
}

#[wasm_bindgen]
impl Run {
    /// A run; `error_json` tells whether the configuration was refused.
    #[wasm_bindgen(constructor)]
    pub fn new(config_json: &str) -> Run {
        Run { inner: run::Run::open(config_json) }
    }

    /// Empty, or the record of the refusal.
    pub fn error_json(&self) -> String {
        self.inner.as_ref().err().map_or_else(String::new, Error::to_json)
    }

    /// Handles one input; gives the JSON array of all outputs.
    pub fn push(&mut self, json: &str) -> String {
        let refused = |error: &Error| format!("[{{\"type\":\"error\",\"error\":{}}}]", error.to_json());
        let run = match &mut self.inner {
            Ok(run) => run,
            Err(error) => return refused(error),
        };
        let depth = crate::json::ENVELOPE_DEPTH.saturating_add(8);
        let Ok(value) = parse_with_depth(json, depth) else {
            return refused(&Error::new(Reason::InvalidInput).at_field("input"));
        };
        let (Some(tick), Some(input)) = (tick(&value), value.as_object().and_then(|given| given.get("input"))) else {
            return refused(&Error::new(Reason::InvalidInput).at_field("input"));
        };
        run.handle_value(tick, input);
        let mut outputs = Vec::new();
        while let Some(output) = run.poll_output() {
            outputs.push(output.to_json().to_owned());
        }
        crate::json::array(outputs)
    }

    /// The history.
    pub fn messages_json(&self) -> String {
        self.read(run::Run::messages_json)
    }

    /// The steps.
    pub fn steps_json(&self) -> String {
        self.read(run::Run::steps_json)
    }

    /// What was used.
    pub fn spend_json(&self) -> String {
        self.read(run::Run::spend_json)
    }

    /// The snapshot.
    pub fn checkpoint_json(&self) -> String {
        self.read(run::Run::checkpoint_json)
    }

    /// The name in a store.
    pub fn key(&self) -> String {
        self.read(run::Run::key)
    }

    fn read(&self, reader: fn(&run::Run) -> String) -> String {
        self.inner.as_ref().map_or_else(|error| error.to_json(), reader)
    }
}
