//! What came out of one response, in the words of the conformance run.
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub struct SeenCall {
    pub id: String,
    pub name: String,
    /// Canonical text.
    pub input_json: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verdict {
    pub outcome: String,
    pub code: Option<String>,
    pub reason: Option<String>,
    pub rule: Option<String>,
    /// Only of a `tool_request`.
    pub calls: Vec<SeenCall>,
    pub text: String,
    /// The provider's own usage object.
    pub usage: Option<Value>,
    /// The provider's state, one JSON text each.
    pub provider_state: Vec<String>,
}

impl Verdict {
    /// One line for a person.
    pub fn brief(&self) -> String {
        let word = |part: &Option<String>| part.clone().unwrap_or_else(|| "-".into());
        match self.calls.len() {
            0 => format!("{} {} {} {}", self.outcome, word(&self.code), word(&self.reason), word(&self.rule)),
            n => format!("{} with {n} calls", self.outcome),
        }
    }
}
