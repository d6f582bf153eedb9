//! Whether a verdict is what a case expects, by the scoring of the cases' README.
use serde_json::Value;

use super::verdict::Verdict;

/// Everything that is wrong; empty when the case is right.
pub fn differences(expect: &Value, got: &Verdict) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut word = |name: &str, got: Option<&str>| {
        if let Some(expected) = expect[name].as_str()
            && got != Some(expected)
        {
            wrong.push(format!("{name}: {} instead of {expected}", got.unwrap_or("nothing")));
        }
    };
    word("outcome", Some(&got.outcome));
    word("code", got.code.as_deref());
    word("reason", got.reason.as_deref());
    word("rule", got.rule.as_deref());
    word("text", Some(&got.text));
    word("reasoning_text", reasoning_text(got).as_deref());
    if expect["outcome"].as_str().is_none() {
        wrong.push("the case expects no outcome".into());
    }
    wrong.extend(calls(&expect["calls"], got));
    let mut value = |name: &str, got: Option<Value>| {
        if !expect[name].is_null() && !got.as_ref().is_some_and(|got| same(&expect[name], got)) {
            wrong.push(format!("{name}: {} instead of {}", got.unwrap_or(Value::Null), expect[name]));
        }
    };
    value("usage", got.usage.clone());
    value("provider_state", states(got).map(Value::Array));
    value("reasoning", member(got, "reasoning_details"));
    wrong
}

fn calls(expect: &Value, got: &Verdict) -> Vec<String> {
    let Some(expected) = expect.as_array() else {
        return Vec::new();
    };
    if expected.len() != got.calls.len() {
        return vec![format!("{} calls instead of {}", got.calls.len(), expected.len())];
    }
    let mut wrong = Vec::new();
    for (place, (expected, got)) in expected.iter().zip(&got.calls).enumerate() {
        if expected["id"].as_str() != Some(&got.id) {
            wrong.push(format!("call {place}: id {} instead of {}", got.id, expected["id"]));
        }
        if expected["name"].as_str() != Some(&got.name) {
            wrong.push(format!("call {place}: name {} instead of {}", got.name, expected["name"]));
        }
        let right = match expected["input_json"].as_str() {
            Some(text) => text == got.input_json,
            None => serde_json::from_str(&got.input_json).is_ok_and(|input: Value| same(&expected["input"], &input)),
        };
        if !right {
            wrong.push(format!("call {place}: input {} instead of {expected}", got.input_json));
        }
    }
    wrong
}

/// Equal as parsed values: members in any order, numbers by value.
pub fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_i128(), b.as_i128()) {
            (Some(a), Some(b)) => a == b,
            _ => a.as_f64() == b.as_f64(),
        },
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn states(got: &Verdict) -> Option<Vec<Value>> {
    got.provider_state.iter().map(|text| serde_json::from_str(text).ok()).collect()
}

/// A member of the Chat state.
fn member(got: &Verdict, name: &str) -> Option<Value> {
    states(got)?.into_iter().find_map(|state| state.get(name).cloned())
}

fn reasoning_text(got: &Verdict) -> Option<String> {
    ["reasoning", "reasoning_content"].iter().find_map(|name| member(got, name)?.as_str().map(str::to_owned))
}
