//! Provider state over a tool loop (S-16, S-17): for every recording whose turn goes on, the next request holds the provider's own members, as
//! a reader that knows nothing of the core collects them from the recording.
use anyhow::{Context, Result, anyhow};
use serde_json::{Map, Value, json};
use turnkeep::config::ModelProfile;
use turnkeep::json::parse;
use turnkeep::provider::{Decoder, DecoderConfig, End, Outcome, Protocol, build_request};

use super::data::Recording;

#[derive(Debug, Default)]
pub struct Tally {
    /// Recordings with state.
    pub messages: usize,
    pub chat: usize,
    pub wrong: Vec<String>,
}

pub fn check(recordings: &[Recording]) -> Result<Tally> {
    let mut tally = Tally::default();
    for recording in recordings {
        let success = recording.job.status.is_none_or(|status| (200..300).contains(&status));
        let protocol = Protocol::of_word(&recording.job.protocol).context("a protocol")?;
        let mut decoder = Decoder::new(DecoderConfig {
            model_profile: "main".into(),
            model: "m".into(),
            ..DecoderConfig::new(protocol, recording.job.stream)
        });
        decoder.feed(&recording.job.body);
        let Outcome::Turn(turn) = decoder.finish(End::Eof) else { continue };
        if !success || !matches!(turn.status().word(), "reply" | "tool_request") {
            continue;
        }
        let turn: Value = serde_json::from_str(&turn.to_json())?;
        let payloads = payloads(recording)?;
        let expected = match protocol {
            Protocol::Chat => chat_state(&payloads),
            Protocol::Messages => messages_state(&payloads),
        };
        let sent = sent(protocol, &turn).map_err(|error| anyhow!("{}: {error}", recording.file))?;
        let got = match protocol {
            Protocol::Chat => own_members(&sent),
            Protocol::Messages => Value::Array(
                sent["content"].as_array().into_iter().flatten().filter(|block| is_thinking(block)).cloned().collect(),
            ),
        };
        let any = expected
            .as_object()
            .map_or_else(|| expected.as_array().is_some_and(|list| !list.is_empty()), |own| !own.is_empty());
        if any {
            *match protocol {
                Protocol::Chat => &mut tally.chat,
                Protocol::Messages => &mut tally.messages,
            } += 1;
        }
        if got != expected {
            tally.wrong.push(format!("{}: sent {} instead of {}", recording.file, brief(&got), brief(&expected)));
        }
    }
    Ok(tally)
}

fn brief(value: &Value) -> String {
    value.to_string().chars().take(300).collect()
}

/// The assistant message of the next request, made from the decoded turn.
fn sent(protocol: Protocol, turn: &Value) -> Result<Value> {
    let profile = json!({"protocol": protocol.word(), "model": "m", "base_url": "https://models.test/v1"}).to_string();
    let profile = parse(&profile).map_err(|error| anyhow!("{error:?}"))?;
    let profile = ModelProfile::read(&profile, "model").map_err(|error| anyhow!("{}", error.message()))?;
    let mut messages = vec![json!({"role": "user", "content": "Hi"})];
    messages.push(json!({"role": "assistant", "content_blocks": turn["content_blocks"]}));
    for call in turn["requested_tools"].as_array().into_iter().flatten() {
        messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": "{\"ok\":true,\"output\":1}", "is_error": false}));
    }
    messages.push(json!({"role": "user", "content": "Go on"}));
    let input =
        json!({"session_id": "s", "model_profile": "main", "messages": messages, "tool_catalog": []}).to_string();
    let input = parse(&input).map_err(|error| anyhow!("{error:?}"))?;
    let input = input.as_object().context("an object")?;
    let request = build_request(&profile, "main", input).map_err(|error| anyhow!("{}", error.message()))?;
    let body: Value = serde_json::from_str(&request.body)?;
    let assistant = body["messages"].as_array().into_iter().flatten().find(|message| message["role"] == "assistant");
    Ok(assistant.cloned().unwrap_or_default())
}

/// The JSON of a body, or of each event.
fn payloads(recording: &Recording) -> Result<Vec<Value>> {
    let text = std::str::from_utf8(&recording.job.body)?;
    if !recording.job.stream {
        return Ok(vec![serde_json::from_str(text)?]);
    }
    let data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    data.filter(|data| !data.is_empty() && *data != "[DONE]").map(|data| Ok(serde_json::from_str(data)?)).collect()
}

fn is_thinking(block: &Value) -> bool {
    matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"))
}

fn messages_state(payloads: &[Value]) -> Value {
    let mut blocks: Vec<Value> = Vec::new();
    for event in payloads {
        if let Some(content) = event["content"].as_array() {
            return Value::Array(content.iter().filter(|block| is_thinking(block)).cloned().collect());
        }
        let at = usize::try_from(event["index"].as_u64().unwrap_or(0)).unwrap_or(0);
        match event["type"].as_str() {
            Some("content_block_start") => blocks.push(event["content_block"].clone()),
            Some("content_block_delta") => {
                let delta = &event["delta"];
                if let Some(more) = delta["thinking"].as_str() {
                    let text = format!("{}{more}", blocks[at]["thinking"].as_str().unwrap_or(""));
                    blocks[at]["thinking"] = json!(text);
                }
                if delta["type"] == "signature_delta" {
                    blocks[at]["signature"] = delta["signature"].clone();
                }
            }
            _ => {}
        }
    }
    Value::Array(blocks.into_iter().filter(is_thinking).collect())
}

/// Members of a Chat message that are the provider's own.
fn own_members(message: &Value) -> Value {
    let mut own = Map::new();
    for name in ["reasoning", "reasoning_content", "reasoning_details"] {
        if let Some(value) = message.get(name) {
            own.insert(name.to_owned(), value.clone());
        }
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let rest: Map<String, Value> = unknown_members(call);
        if !rest.is_empty() {
            own.insert(format!("call {}", call["id"]), Value::Object(rest));
        }
    }
    Value::Object(own)
}

fn unknown_members(call: &Value) -> Map<String, Value> {
    let known = |name: &str| matches!(name, "id" | "type" | "function" | "index");
    let members = call.as_object().into_iter().flatten();
    members
        .filter(|(name, value)| !known(name) && !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn chat_state(payloads: &[Value]) -> Value {
    let mut whole = Map::new();
    let mut details: Vec<Value> = Vec::new();
    let mut calls: Vec<Value> = Vec::new();
    for chunk in payloads {
        let choice = &chunk["choices"][0];
        let said = if choice["message"].is_object() { &choice["message"] } else { &choice["delta"] };
        for name in ["reasoning", "reasoning_content"] {
            if let Some(more) = said[name].as_str() {
                let old = whole.get(name).and_then(Value::as_str).unwrap_or("").to_owned();
                whole.insert(name.to_owned(), json!(old + more));
            }
        }
        for detail in said["reasoning_details"].as_array().into_iter().flatten() {
            let same = |old: &&mut Value| {
                !detail["index"].is_null() && old["index"] == detail["index"] && old["type"] == detail["type"]
            };
            let Some(old) = details.iter_mut().find(same) else {
                details.push(detail.clone());
                continue;
            };
            for (name, value) in detail.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
                let grows = matches!(name.as_str(), "text" | "summary" | "data");
                old[name] = match (grows, old[name].as_str(), value.as_str()) {
                    (true, Some(before), Some(more)) => json!(format!("{before}{more}")),
                    _ => value.clone(),
                };
            }
        }
        for item in said["tool_calls"].as_array().into_iter().flatten() {
            let known = calls.iter().position(|call| !item["index"].is_null() && call["index"] == item["index"]);
            let at = known.unwrap_or_else(|| {
                calls.push(json!({"index": item["index"]}));
                calls.len() - 1
            });
            if item["id"].as_str().is_some_and(|id| !id.is_empty()) {
                calls[at]["id"] = item["id"].clone();
            }
            for (name, value) in unknown_members(item) {
                calls[at][name] = value;
            }
        }
    }
    if !details.is_empty() {
        whole.insert("reasoning_details".to_owned(), Value::Array(details));
    }
    whole.insert("tool_calls".to_owned(), Value::Array(calls));
    own_members(&Value::Object(whole))
}
