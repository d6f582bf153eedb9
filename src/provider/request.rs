//! Requests (P-09, P-10, P-13): native tool definitions, history with its calls, one result per call. The key never comes here: a request
//! says which header the bindings must add it to.

use super::Protocol;
use crate::config::ModelProfile;
use crate::error::{Error, Reason};
use crate::json::{Object, Value, array, canonical, object, parse, quote};
use crate::message::Message;
use crate::tools::{ToolDefinition, read_catalog, wire_name};
use crate::turn::{Block, Call, StateBlock};
use std::collections::BTreeMap;

/// The pinned version of the Messages protocol (P-10).
pub const ANTHROPIC_VERSION: &str = "2023-06-01";

/// A request without its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The full URL.
    pub url: String,
    /// Headers but the key's.
    pub headers: Vec<(&'static str, &'static str)>,
    /// Name of the key's header, and what stands before the key.
    pub auth: (&'static str, &'static str),
    /// JSON text.
    pub body: String,
    /// Governed names by the names in the body.
    pub names: BTreeMap<String, String>,
    /// Deprecated inputs that were ignored (P-09).
    pub warnings: Vec<&'static str>,
}

impl Request {
    /// The object of the border as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let pairs = |items: Vec<(&str, &str)>| {
            let members: Vec<String> =
                items.into_iter().map(|(name, value)| format!("{}:{}", quote(name), quote(value))).collect();
            format!("{{{}}}", members.join(","))
        };
        let warnings: Vec<String> = self.warnings.iter().map(|text| quote(text)).collect();
        format!(
            "{{\"method\":\"POST\",\"url\":{},\"headers\":{},\"auth\":{{\"header\":{},\"scheme\":{}}},\"body\":{},\"names\":{},\"warnings\":[{}]}}",
            quote(&self.url),
            pairs(self.headers.clone()),
            quote(self.auth.0),
            quote(self.auth.1),
            quote(&self.body),
            pairs(self.names.iter().map(|(wire, governed)| (wire.as_str(), governed.as_str())).collect()),
            warnings.join(","),
        )
    }
}

/// Builds the request of one turn from a profile and the input of `execute-turn`.
///
/// # Errors
/// `INVALID_INPUT`, `TOOL_NAME_COLLISION`, `TOOL_NAME_RESERVED` with the field.
pub fn build_request(profile: &ModelProfile, model_profile: &str, input: &Object<'_>) -> Result<Request, Error> {
    const KNOWN: &[&str] =
        &["session_id", "model_profile", "messages", "tool_catalog", "stream", "limits", "intent_catalog"];
    if let Some((name, _)) = input.iter().find(|(name, _)| !KNOWN.contains(name)) {
        return Err(Error::new(Reason::InvalidInput).at_field(name));
    }
    let messages = Message::read_all(input.get("messages"), "messages")?;
    let (tools, names) = read_catalog(input, "tool_catalog")?;
    let stream = match input.get("stream") {
        None | Some(Value::Null) => true,
        Some(Value::Bool(stream)) => *stream,
        Some(_) => return Err(Error::new(Reason::InvalidInput).at_field("stream")),
    };
    let warnings = if input.get("intent_catalog").is_some() {
        vec!["intent_catalog is deprecated and ignored (P-09)"]
    } else {
        Vec::new()
    };
    let sender = Sender { profile, model_profile };
    let mut members = vec![format!("\"model\":{}", quote(&profile.model))];
    match profile.protocol {
        Protocol::Chat => sender.chat(&messages, &tools, stream, &mut members),
        Protocol::Messages => sender.messages(&messages, &tools, stream, &mut members),
    }
    for (name, value) in profile.request.iter() {
        members.push(format!("{}:{}", quote(name), canonical(value)));
    }
    let base = profile.base_url.trim_end_matches('/');
    let accept = ("accept", if stream { "text/event-stream" } else { "application/json" });
    let content = ("content-type", "application/json");
    let (path, headers, auth) = match profile.protocol {
        Protocol::Chat => ("/chat/completions", vec![content, accept], ("authorization", "Bearer ")),
        Protocol::Messages => {
            ("/messages", vec![content, accept, ("anthropic-version", ANTHROPIC_VERSION)], ("x-api-key", ""))
        }
    };
    Ok(Request {
        url: format!("{base}{path}"),
        headers,
        auth,
        body: format!("{{{}}}", members.join(",")),
        names,
        warnings,
    })
}

struct Sender<'p> {
    profile: &'p ModelProfile,
    model_profile: &'p str,
}

impl Sender<'_> {
    fn chat(&self, messages: &[Message], tools: &[ToolDefinition], stream: bool, members: &mut Vec<String>) {
        let items: Vec<String> = messages.iter().map(|message| self.chat_message(message)).collect();
        members.push(format!("\"messages\":[{}]", items.join(",")));
        members.push(format!("\"{}\":{}", self.profile.max_tokens_field, self.profile.max_output_tokens));
        members.push(format!("\"stream\":{stream}"));
        if stream {
            members.push("\"stream_options\":{\"include_usage\":true}".to_owned());
        }
        members.extend(definitions(tools, |tool| {
            format!("{{\"type\":\"function\",\"function\":{}}}", described(tool, "parameters"))
        }));
    }

    fn chat_message(&self, message: &Message) -> String {
        match message {
            Message::System(text) => format!("{{\"role\":\"system\",\"content\":{}}}", quote(text)),
            Message::User(text) => format!("{{\"role\":\"user\",\"content\":{}}}", quote(text)),
            Message::Tool { call_id, content, .. } => {
                format!("{{\"role\":\"tool\",\"tool_call_id\":{},\"content\":{}}}", quote(call_id), quote(content))
            }
            Message::Assistant(blocks) => self.chat_assistant(blocks),
        }
    }

    fn chat_assistant(&self, blocks: &[Block]) -> String {
        let state = self.state(blocks);
        let state = state.first().and_then(Value::as_object);
        let member = |name: &str| state.and_then(|object| object.get(name));
        let mut text = String::new();
        let mut calls = Vec::new();
        for block in blocks {
            match block {
                Block::Text(more) => text.push_str(more),
                Block::Call(call) => calls.push(chat_call(call, member("tool_calls").and_then(Value::as_object))),
                Block::State(_) => {}
            }
        }
        let content = match member("content").and_then(Value::as_array) {
            Some(parts) => {
                let mut items: Vec<String> = parts.iter().map(crate::json::ordered).collect();
                if !text.is_empty() {
                    items.push(format!("{{\"type\":\"text\",\"text\":{}}}", quote(&text)));
                }
                format!("[{}]", items.join(","))
            }
            None if text.is_empty() && !calls.is_empty() => "null".to_owned(),
            None => quote(&text),
        };
        let mut out = format!("{{\"role\":\"assistant\",\"content\":{content}");
        for name in ["reasoning", "reasoning_content", "reasoning_details"] {
            if let Some(value) = member(name) {
                out.push_str(&format!(",\"{name}\":{}", crate::json::ordered(value)));
            }
        }
        if !calls.is_empty() {
            out.push_str(&format!(",\"tool_calls\":[{}]", calls.join(",")));
        }
        out.push('}');
        out
    }

    fn messages(&self, messages: &[Message], tools: &[ToolDefinition], stream: bool, members: &mut Vec<String>) {
        let system: Vec<String> = messages
            .iter()
            .filter_map(|message| match message {
                Message::System(text) if !text.is_empty() => {
                    Some(format!("{{\"type\":\"text\",\"text\":{}}}", quote(text)))
                }
                _ => None,
            })
            .collect();
        if !system.is_empty() {
            members.push(format!("\"system\":[{}]", system.join(",")));
        }
        members.push(format!("\"messages\":[{}]", self.messages_history(messages).join(",")));
        members.push(format!("\"max_tokens\":{}", self.profile.max_output_tokens));
        members.push(format!("\"stream\":{stream}"));
        members.extend(definitions(tools, |tool| described(tool, "input_schema")));
    }

    /// All results of one turn stand in one `user` message (P-13).
    fn messages_history(&self, messages: &[Message]) -> Vec<String> {
        let mut out = Vec::new();
        let mut results: Vec<String> = Vec::new();
        let flush = |results: &mut Vec<String>, out: &mut Vec<String>| {
            if !results.is_empty() {
                out.push(format!("{{\"role\":\"user\",\"content\":[{}]}}", results.join(",")));
                results.clear();
            }
        };
        for message in messages {
            if let Message::Tool { call_id, content, is_error } = message {
                let flag = if *is_error { ",\"is_error\":true" } else { "" };
                results.push(format!(
                    "{{\"type\":\"tool_result\",\"tool_use_id\":{},\"content\":{}{flag}}}",
                    quote(call_id),
                    quote(content)
                ));
                continue;
            }
            flush(&mut results, &mut out);
            match message {
                Message::User(text) => out.push(format!("{{\"role\":\"user\",\"content\":{}}}", quote(text))),
                Message::Assistant(blocks) => {
                    let items: Vec<String> = blocks.iter().filter_map(|block| self.messages_block(block)).collect();
                    if !items.is_empty() {
                        out.push(format!("{{\"role\":\"assistant\",\"content\":[{}]}}", items.join(",")));
                    }
                }
                Message::System(_) | Message::Tool { .. } => {}
            }
        }
        flush(&mut results, &mut out);
        out
    }

    fn messages_block(&self, block: &Block) -> Option<String> {
        match block {
            // The protocol refuses empty text blocks.
            Block::Text(text) if text.is_empty() => None,
            Block::Text(text) => Some(format!("{{\"type\":\"text\",\"text\":{}}}", quote(text))),
            Block::Call(call) => Some(format!(
                "{{\"type\":\"tool_use\",\"id\":{},\"name\":{},\"input\":{}}}",
                quote(&call.id),
                quote(&wire_name(&call.name)),
                call.input_json
            )),
            Block::State(state) => self.owns(state).then(|| state.json.clone()),
        }
    }

    /// State goes back only to the model it came from (S-17).
    fn owns(&self, state: &StateBlock) -> bool {
        state.protocol == self.profile.protocol
            && state.model_profile == self.model_profile
            && state.model == self.profile.model
    }

    fn state<'b>(&self, blocks: &'b [Block]) -> Vec<Value<'b>> {
        blocks
            .iter()
            .filter_map(|block| match block {
                Block::State(state) if self.owns(state) => parse(&state.json).ok(),
                _ => None,
            })
            .collect()
    }
}

/// The member `tools`, when there are any.
fn definitions(tools: &[ToolDefinition], one: impl Fn(&ToolDefinition) -> String) -> Option<String> {
    (!tools.is_empty()).then(|| format!("\"tools\":{}", array(tools.iter().map(one))))
}

/// Name, description and schema of a tool; the protocols differ in the schema's member.
fn described(tool: &ToolDefinition, schema: &str) -> String {
    let mut members = vec![("name", quote(&wire_name(&tool.name)))];
    members.extend(tool.description.as_ref().map(|text| ("description", quote(text))));
    members.push((schema, tool.input_schema.clone()));
    object(&members)
}

fn chat_call(call: &Call, extras: Option<&Object<'_>>) -> String {
    let mut out = format!(
        "{{\"id\":{},\"type\":\"function\",\"function\":{{\"name\":{},\"arguments\":{}}}",
        quote(&call.id),
        quote(&wire_name(&call.name)),
        quote(&call.input_json)
    );
    if let Some(Value::Object(own)) = extras.and_then(|object| object.get(&call.id)) {
        for (name, value) in own.iter() {
            out.push_str(&format!(",{}:{}", quote(name), crate::json::ordered(value)));
        }
    }
    out.push('}');
    out
}
