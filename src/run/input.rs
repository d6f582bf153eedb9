//! What a host tells a run. Texts come over the border, so each is read strictly.

use super::retry::Hope;
use crate::error::{Error, Reason};
use crate::json::{Object, Value, canonical};
use crate::message::Message;
use crate::provider::Protocol;
use crate::tools::{ToolDefinition, ToolPolicy, name_table};
use crate::turn::Turn;
use crate::{approval::Declared, cost::Prices};

/// The model of a run, as far as the core knows it.
#[derive(Debug, Clone)]
pub(super) struct Model {
    pub(super) prices: Option<Prices>,
    pub(super) json: String,
}

/// A tool with what the host declares of it.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) definition: ToolDefinition,
    pub(super) declared: Declared,
    /// The host can check its inputs and is asked to (P-17).
    pub(super) checked: bool,
}

#[derive(Debug)]
pub(super) enum Input {
    Start {
        messages: Vec<Message>,
        system: Option<String>,
        tools: Vec<Tool>,
        model: Option<Model>,
    },
    Clear,
    Appended(u64),
    Saved,
    Turn {
        key: String,
        turn: Box<Turn>,
        cost: Option<u128>,
    },
    TurnFailed {
        key: String,
        error: Failure,
        free: bool,
    },
    /// What the host says of an input (P-17): why it is refused, if it is.
    Checked {
        key: String,
        refusal: Option<String>,
    },
    ToolResult {
        key: String,
        output: Output,
        cost: Option<u128>,
    },
    ToolFailed {
        key: String,
        code: Reason,
        message: String,
        threw: bool,
        effect_none: bool,
        cost: Option<u128>,
    },
    Cancel,
    Disconnect(&'static str),
}

/// The output of a tool: canonical text, or the fact that it is not JSON.
#[derive(Debug)]
pub(super) enum Output {
    Json(String),
    Invalid,
}

/// A failed model call: the record and the words of it that are kept.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: String,
    pub(super) json: String,
    pub(super) hope: Hope,
}

fn wrong(field: &str) -> Error {
    Error::new(Reason::InvalidInput).at_field(field)
}

fn text<'v>(given: &'v Object<'_>, name: &str) -> Result<&'v str, Error> {
    given.get(name).and_then(Value::as_str).ok_or_else(|| wrong(name))
}

impl Input {
    pub(super) fn read(value: &Value<'_>) -> Result<Input, Error> {
        let given = value.as_object().ok_or_else(|| wrong("input"))?;
        let key = || text(given, "key").map(str::to_owned);
        // A tool without a reported cost costs 0 (T-03); a reported one that is no number is unknown.
        let tool_cost =
            || if given.get("cost_usd").is_none() { Some(0) } else { crate::step::cost_of(given.get("cost_usd")) };
        match text(given, "type")? {
            "start" => start(given),
            "clear" => Ok(Input::Clear),
            "saved" => Ok(Input::Saved),
            "appended" => given.get("seq").and_then(Value::as_u64).map(Input::Appended).ok_or_else(|| wrong("seq")),
            "turn" => Ok(Input::Turn {
                key: key()?,
                turn: Box::new(Turn::check(text(given, "turn_json")?)?),
                cost: crate::step::cost_of(given.get("cost_usd")),
            }),
            "turn_failed" => {
                let error = given.get("error").and_then(Value::as_object).ok_or_else(|| wrong("error"))?;
                let code = text(error, "code")?.to_owned();
                let json = canonical(&Value::Object(error.clone()));
                let retriable = matches!(error.get("retriable"), Some(Value::Bool(true)));
                let hope = Hope::of(&code, retriable, error.get("retry_after_ms").and_then(Value::as_u64));
                Ok(Input::TurnFailed {
                    key: key()?,
                    error: Failure { code, json, hope },
                    free: text(given, "cost")? == "zero",
                })
            }
            "input_checked" => {
                let refusal = match (given.get("ok"), given.get("message").and_then(Value::as_str)) {
                    (Some(Value::Bool(true)), _) => None,
                    (Some(Value::Bool(false)), message) => Some(message.unwrap_or_default().to_owned()),
                    _ => return Err(wrong("ok")),
                };
                Ok(Input::Checked { key: key()?, refusal })
            }
            "tool_result" => {
                let output = text(given, "output_json")?;
                let output = match crate::json::parse(output) {
                    Ok(value) if output.len() <= crate::limits::MAX_TOOL_OUTPUT_BYTES => {
                        Output::Json(canonical(&value))
                    }
                    _ => Output::Invalid,
                };
                Ok(Input::ToolResult { key: key()?, output, cost: tool_cost() })
            }
            "tool_failed" => Ok(Input::ToolFailed {
                key: key()?,
                code: match text(given, "code")? {
                    "TOOL_FAILED" => Reason::ToolFailed,
                    "TOOL_TIMEOUT" => Reason::ToolTimeout,
                    "TOOL_OUTPUT_INVALID" => Reason::ToolOutputInvalid,
                    "INVALID_TOOL_INPUT" => Reason::InvalidToolInput,
                    _ => return Err(wrong("code")),
                },
                message: text(given, "message")?.to_owned(),
                threw: matches!(given.get("threw"), Some(Value::Bool(true))),
                effect_none: text(given, "effect")? == "none",
                cost: tool_cost(),
            }),
            "cancel" => Ok(Input::Cancel),
            "disconnect" => {
                Ok(Input::Disconnect(if text(given, "side")? == "consumer" { "consumer" } else { "provider" }))
            }
            _ => Err(wrong("type")),
        }
    }
}

fn start(given: &Object<'_>) -> Result<Input, Error> {
    let mut tools = Vec::new();
    let items = match given.get("tools") {
        None | Some(Value::Null) => &[],
        Some(Value::Array(items)) => items.as_slice(),
        Some(_) => return Err(wrong("tools")),
    };
    for (at, item) in items.iter().enumerate() {
        let field = format!("tools[{at}]");
        let definition = ToolDefinition::read(item, &field)?;
        let member = |name: &str| item.as_object().and_then(|object| object.get(name));
        let declared = match (member("policy_failed"), member("policy")) {
            (Some(Value::Bool(true)), _) => Declared::Failed,
            (_, None | Some(Value::Null)) => Declared::Nothing,
            (_, Some(policy)) => Declared::Policy(ToolPolicy::read(policy, &format!("{field}.policy"))?),
        };
        let checked = matches!(member("checked"), Some(Value::Bool(true)));
        tools.push(Tool { definition, declared, checked });
    }
    name_table(tools.iter().map(|tool| tool.definition.name.as_str()), "tools")?;
    let model = match given.get("model") {
        None | Some(Value::Null) => None,
        Some(model) => {
            let object = model.as_object().ok_or_else(|| wrong("model"))?;
            text(object, "protocol").ok().and_then(Protocol::of_word).ok_or_else(|| wrong("model.protocol"))?;
            let prices = object.get("prices").filter(|value| !value.is_null());
            let prices = prices.map(|value| Prices::read(value, "model.prices")).transpose()?;
            Some(Model { prices, json: canonical(model) })
        }
    };
    let system = given.get("system").filter(|value| !value.is_null());
    Ok(Input::Start {
        messages: Message::read_all(given.get("messages"), "messages")?,
        system: system.map(|value| value.as_str().map(str::to_owned).ok_or_else(|| wrong("system"))).transpose()?,
        tools,
        model,
    })
}

/// Whether an input, read or not, is meant to be a turn.
pub(super) fn turn_key<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    let object = value.as_object()?;
    if object.get("type")?.as_str()? == "turn" { object.get("key")?.as_str() } else { None }
}
