//! `--mutate SEED`: other call ids, tool names and argument values, of equal length, equal ones staying equal; the
//! cases in another order. A core that knows the case files by heart fails here.
//!
//! Words are replaced in the bytes, where they stand between quotes, so that malformed bodies are renamed too. A word
//! that also has a meaning in the protocol, or that a case cuts in two, is left alone.
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Result, bail};
use serde_json::Value;

use super::data::{CaseFile, read_case};
use crate::support::rng::Rng;

/// Words that a protocol gives a meaning: never renamed, never made.
const PROTOCOL_WORDS: &str = "\
    assistant auto call chat content content_filter custom delta direct end_turn error function \
    function_call id index input length max_tokens message model name null pause_turn ping refusal role \
    stop stop_sequence system text thinking tool tool_calls tool_use type usage user";

fn is_protocol_word(word: &str) -> bool {
    PROTOCOL_WORDS.split_whitespace().any(|known| known == word)
}

#[derive(Default)]
pub struct Renamed {
    cases: usize,
    ids: usize,
    names: usize,
    values: usize,
}

impl fmt::Display for Renamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "renamed {} ids, {} names, {} values in {} cases", self.ids, self.names, self.values, self.cases)
    }
}

/// Renames in every case and shuffles them.
pub fn all(cases: &mut [CaseFile], seed: u64) -> Result<Renamed> {
    let mut count = Renamed::default();
    for file in cases.iter_mut() {
        let mut rng = Rng::for_text(seed, &file.case.id);
        let words = words(&file.json);
        let bytes = file.case.job.body.clone();
        let mut taken: BTreeSet<String> = PROTOCOL_WORDS.split_whitespace().map(str::to_owned).collect();
        let mut table = BTreeMap::new();
        for (word, kind) in &words {
            if is_protocol_word(word) || !stands_quoted(&bytes, word) {
                continue;
            }
            if let Some(other) = other_word(word, &bytes, &taken, &mut rng) {
                match kind {
                    Kind::Id => count.ids += 1,
                    Kind::Name => count.names += 1,
                    Kind::Value => count.values += 1,
                }
                taken.insert(other.clone());
                table.insert(word.clone(), other);
            }
        }
        if table.is_empty() {
            continue;
        }
        count.cases += 1;
        let body = replace_quoted(&bytes, &table);
        let mut json = file.json.clone();
        rename_expected(&mut json["expect"]["calls"], &table);
        if let Some(text) = json["expect"]["text"].as_str() {
            let text = String::from_utf8(replace_quoted(text.as_bytes(), &table))?;
            json["expect"]["text"] = Value::String(text);
        }
        let mut renamed = read_case(json)?;
        renamed.case.job.body = body;
        *file = renamed;
    }
    if !cases.is_empty() && (count.ids == 0 || count.names == 0 || count.values == 0) {
        bail!("--mutate found nothing to rename: {count}");
    }
    Rng::new(seed).shuffle(cases);
    Ok(count)
}

#[derive(Clone, Copy)]
enum Kind {
    Id,
    Name,
    Value,
}

/// Ids, names and string values of the calls a case expects, and the ids and names of whatever its events carry.
fn words(file: &Value) -> BTreeMap<String, Kind> {
    let mut words = BTreeMap::new();
    for call in list(&file["expect"]["calls"]) {
        for text in strings(&call["input"]) {
            words.insert(text, Kind::Value);
        }
        if let Some(Ok(input)) = call["input_json"].as_str().map(serde_json::from_str::<Value>) {
            for text in strings(&input) {
                words.insert(text, Kind::Value);
            }
        }
    }
    for tool in list(&file["requested"]["tools"]) {
        let name = tool.as_str().or_else(|| tool["name"].as_str());
        words.extend(name.map(|name| (name.to_owned(), Kind::Name)));
    }
    for call in list(&file["expect"]["calls"]) {
        words.extend(call["name"].as_str().map(|name| (name.to_owned(), Kind::Name)));
        words.extend(call["id"].as_str().map(|id| (id.to_owned(), Kind::Id)));
    }
    for event in events(file) {
        call_ids(&event, &mut words);
    }
    words.retain(|word, _| !word.is_empty() && word.chars().any(|c| c.is_ascii_alphanumeric()));
    words
}

/// The JSON values that a body or its events hold, as far as they parse.
fn events(file: &Value) -> Vec<Value> {
    let texts = list(&file["chunks"]).iter().chain(std::iter::once(&file["body"])).filter_map(Value::as_str);
    texts
        .flat_map(str::lines)
        .map(|line| line.strip_prefix("data:").unwrap_or(line).trim())
        .filter_map(|text| serde_json::from_str(text).ok())
        .collect()
}

/// Ids and names of `tool_calls` entries and `tool_use` blocks anywhere in an event.
fn call_ids(value: &Value, words: &mut BTreeMap<String, Kind>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| call_ids(item, words)),
        Value::Object(members) => {
            for call in list(&value["tool_calls"]) {
                words.extend(call["id"].as_str().map(|id| (id.to_owned(), Kind::Id)));
                words.extend(call["function"]["name"].as_str().map(|name| (name.to_owned(), Kind::Name)));
            }
            if value["type"] == "tool_use" {
                words.extend(value["id"].as_str().map(|id| (id.to_owned(), Kind::Id)));
                words.extend(value["name"].as_str().map(|name| (name.to_owned(), Kind::Name)));
            }
            members.values().for_each(|member| call_ids(member, words));
        }
        _ => {}
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// String leaves; keys are no values.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(members) => members.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

/// Same length and kinds of letters, not in use anywhere in the body.
fn other_word(word: &str, body: &[u8], taken: &BTreeSet<String>, rng: &mut Rng) -> Option<String> {
    let letter = |c: char, rng: &mut Rng| match c {
        'a'..='z' => char::from(b'a' + rng.below(26) as u8),
        'A'..='Z' => char::from(b'A' + rng.below(26) as u8),
        '0'..='9' => char::from(b'0' + rng.below(10) as u8),
        other => other,
    };
    (0..200)
        .map(|_| word.chars().map(|c| letter(c, rng)).collect::<String>())
        .find(|other| other != word && !taken.contains(other) && !contains(body, other.as_bytes()))
}

fn contains(body: &[u8], word: &[u8]) -> bool {
    body.windows(word.len().max(1)).any(|window| window == word)
}

fn stands_quoted(body: &[u8], word: &str) -> bool {
    (0..body.len()).any(|at| quoted_at(body, at, word.as_bytes()))
}

/// Whether the word stands there between quotes; a quote inside of argument text is written `\"`.
fn quoted_at(body: &[u8], at: usize, word: &[u8]) -> bool {
    let Some(rest) = body.get(at..).filter(|rest| rest.starts_with(word)) else {
        return false;
    };
    let before = at.checked_sub(1).and_then(|at| body.get(at)) == Some(&b'"');
    let after = &rest[word.len()..];
    before && (after.starts_with(b"\"") || after.starts_with(b"\\\""))
}

fn replace_quoted(body: &[u8], table: &BTreeMap<String, String>) -> Vec<u8> {
    let mut out = body.to_vec();
    for at in 0..body.len() {
        for (word, other) in table {
            if quoted_at(body, at, word.as_bytes()) && !is_key(body, at + word.len()) {
                out[at..at + word.len()].copy_from_slice(other.as_bytes());
            }
        }
    }
    out
}

/// A quoted word before a colon is a member's name.
fn is_key(body: &[u8], end: usize) -> bool {
    let after = &body[end..];
    let after = after.strip_prefix(b"\\").unwrap_or(after);
    after.strip_prefix(b"\"").is_some_and(|rest| rest.trim_ascii_start().starts_with(b":"))
}

fn rename_expected(value: &mut Value, table: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            if let Some(other) = table.get(text.as_str()) {
                other.clone_into(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_expected(item, table)),
        Value::Object(members) => {
            if let Some(Ok(mut input)) = members.get("input_json").and_then(Value::as_str).map(serde_json::from_str) {
                rename_expected(&mut input, table);
                members.insert("input_json".into(), Value::String(canonical(&input)));
            }
            for (name, member) in members.iter_mut() {
                if name != "input_json" {
                    rename_expected(member, table);
                }
            }
        }
        _ => {}
    }
}

/// Renaming keeps lengths, so only the order of members could change; values do not take part in it.
fn canonical(value: &Value) -> String {
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_renamed_between_quotes_only() {
        let table = BTreeMap::from([("c1".to_owned(), "x7".to_owned()), ("Oslo".to_owned(), "Bqrt".to_owned())]);
        let body = br#"{"id":"cc-1","tool":"c1","arguments":"{\"city\":\"Oslo\",\"Oslo\":1}"}"#;
        let renamed = String::from_utf8(replace_quoted(body, &table)).unwrap();
        assert_eq!(renamed, r#"{"id":"cc-1","tool":"x7","arguments":"{\"city\":\"Bqrt\",\"Oslo\":1}"}"#);
    }
}
