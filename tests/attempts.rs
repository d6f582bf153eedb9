//! Failed model calls are made again where that can help (L-09); inputs are checked by the host before anything is claimed (P-17).
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
use serde_json::{Value, json};

#[path = "support/host.rs"]
mod host;
use host::{Host, codes, config, kinds, open_limits, reply, tool_turn};

fn error(code: &str, retriable: bool, after: Option<u64>) -> Value {
    let mut record = json!({"code": code, "blame": "provider", "reason": "r", "rule": "S-24", "message": "m", "at": {}, "details": {}, "retriable": retriable});
    if let Some(after) = after {
        record["retry_after_ms"] = json!(after);
    }
    record
}

/// Fails the call under way; gives the wait before the next attempt.
fn fail(host: &mut Host, record: &Value, cost: &str) -> Option<u64> {
    let key = host.key();
    let outputs = host.push(&json!({"type": "turn_failed", "key": key, "error": record, "cost": cost}));
    let told = outputs.iter().find(|output| output["event"]["type"] == "turn_rejected").expect("it is told");
    let wait =
        outputs.iter().find(|output| output["type"] == "retry").map(|output| output["after_ms"].as_u64().unwrap());
    assert_eq!(told["event"]["retry_in_ms"], json!(wait), "the listener and the loop hear the same");
    wait
}

#[test]
fn l_09_a_failure_that_can_pass_is_tried_twice_more_with_a_growing_wait() {
    for code in [
        "PROVIDER_RATE_LIMITED",
        "PROVIDER_OVERLOADED",
        "PROVIDER_UNAVAILABLE",
        "PROVIDER_TRANSPORT",
        "PROVIDER_TIMEOUT",
        "TOOL_ARGUMENTS_INVALID",
    ] {
        let mut host = Host::started(&config(open_limits()));
        let record = error(code, true, None);
        let mut waits = Vec::new();
        let mut keys = Vec::new();
        for _ in 0..3 {
            assert!(kinds(&host.clear()).contains(&"call_model"));
            keys.push(host.key());
            waits.push(fail(&mut host, &record, "zero"));
        }
        assert_eq!(waits, [Some(500), Some(1000), None], "{code}");
        assert_eq!(
            (host.done()["outcome"].as_str(), host.done()["error"]["code"].as_str()),
            (Some("failed"), Some(code))
        );
        keys.dedup();
        assert_eq!(
            (keys.len(), host.history().len(), host.steps().len()),
            (3, 1, 3),
            "each attempt is a step of its own"
        );
        assert_eq!(host.spend()["steps"], 3);
        let attempts: Vec<&Value> = host
            .entries
            .iter()
            .filter(|entry| entry["kind"] == "turn_failed")
            .map(|entry| &entry["body"]["attempt"])
            .collect();
        assert_eq!(attempts, [&json!(1), &json!(2), &json!(3)]);
    }
}

#[test]
fn l_09_what_asking_again_cannot_mend_is_not_asked_again() {
    for (code, retriable) in [
        ("PROVIDER_AUTH", false),
        ("PROVIDER_BAD_REQUEST", false),
        ("STREAM_TRUNCATED", true),
        ("POST_TERMINAL_DATA", true),
        ("CALL_ID_DUPLICATE", true),
        ("TOOL_ARGUMENTS_NOT_OBJECT", true),
        ("TOOL_ARGUMENTS_INVALID", false),
        ("HOOK_FAILED", true),
    ] {
        let mut host = Host::started(&config(open_limits()));
        host.clear();
        assert_eq!(fail(&mut host, &error(code, retriable, None), "zero"), None, "{code}");
        assert_eq!(host.done()["error"]["code"], code);
    }
}

#[test]
fn l_09_the_providers_own_time_is_kept_and_a_long_one_is_the_hosts() {
    for (after, wait) in
        [(Some(20), Some(500)), (Some(2500), Some(2500)), (Some(60_000), Some(60_000)), (Some(60_001), None)]
    {
        let mut host = Host::started(&config(open_limits()));
        host.clear();
        assert_eq!(fail(&mut host, &error("PROVIDER_RATE_LIMITED", true, after), "zero"), wait);
    }
}

#[test]
fn l_09_attempts_stand_inside_the_budgets_and_begin_anew_with_each_turn() {
    // What the budget would not clear is not tried again: the failure is the end, and says so.
    let mut host = Host::started(&config(json!({"max_steps": 2, "max_cost_usd": null, "max_duration_s": 600})));
    let record = error("PROVIDER_UNAVAILABLE", true, None);
    let waits: Vec<bool> = (0..2)
        .map(|_| {
            host.clear();
            fail(&mut host, &record, "zero").is_some()
        })
        .collect();
    assert_eq!((waits, host.done()["outcome"].as_str()), (vec![true, false], Some("failed")));
    // An unknown cost under a cap (B-06).
    let mut host = Host::started(&config(json!({"max_steps": 9, "max_cost_usd": 1, "max_duration_s": 600})));
    host.clear();
    assert_eq!(fail(&mut host, &record, "unknown"), None);
    assert_eq!(host.done()["outcome"], "failed");

    let mut host = Host::started(&config(open_limits()));
    for round in 0..3 {
        for _ in 0..2 {
            host.clear();
            assert!(fail(&mut host, &record, "zero").is_some(), "{round}");
        }
        host.clear();
        host.answer(&tool_turn(&[(&format!("c{round}"), "shop:lookup")], json!({})));
        host.result(&format!("c{round}"), "1");
    }
    host.clear();
    host.answer(&reply("Done."));
    assert_eq!(host.done()["outcome"], "completed");
}

#[test]
fn l_09_an_end_asked_for_meanwhile_comes_first() {
    let mut host = Host::started(&config(open_limits()));
    host.clear();
    host.push(&json!({"type": "cancel"}));
    assert_eq!(fail(&mut host, &error("PROVIDER_UNAVAILABLE", true, None), "zero"), None);
    assert_eq!(host.done()["outcome"], "cancelled");
    let mut host = Host::started(&config(open_limits()));
    host.clear();
    fail(&mut host, &error("PROVIDER_UNAVAILABLE", true, None), "zero");
    host.push(&json!({"type": "cancel"}));
    assert_eq!(host.done()["outcome"], "cancelled");
}

/// A run whose tools are all checked by the host.
fn checked() -> Host {
    let mut host = Host::open(&config(open_limits()));
    let tools = json!([
        {"name": "shop:refund", "policy": {}, "checked": true},
        {"name": "shop:lookup", "policy": {"side_effecting": false}, "checked": true},
        {"name": "shop:plain", "policy": {"side_effecting": false}},
    ]);
    host.push(
        &json!({"type": "start", "messages": [{"role": "user", "content": "Hi"}], "tools": tools, "model": null}),
    );
    host
}

fn say(host: &mut Host, id: &str, ok: bool, message: &str) -> Vec<Value> {
    host.push(&json!({"type": "input_checked", "key": format!("check:{id}"), "ok": ok, "message": message}))
}

#[test]
fn p_17_an_input_is_checked_before_anything_is_claimed() {
    let mut host = checked();
    let outputs = host.calls(&[("a", "shop:refund"), ("b", "shop:plain"), ("c", "shop:lookup")]);
    let asked = outputs.last().unwrap();
    assert_eq!(
        (asked["type"].as_str(), asked["name"].as_str(), asked["input_json"].as_str()),
        (Some("check_input"), Some("shop:refund"), Some("{}"))
    );
    assert!(host.entries.iter().all(|entry| entry["kind"] != "effect_claimed"));
    // Only the call asked about may be answered, and only once.
    assert_eq!(say(&mut host, "b", true, "")[0]["error"]["code"], "INVALID_STATE");
    let outputs = say(&mut host, "a", false, "amount: must be a number");
    assert!(host.entries.iter().all(|entry| entry["kind"] != "effect_claimed"));
    assert_eq!(outputs.last().unwrap()["name"], "shop:plain", "the batch goes on, and a tool that is not checked runs");
    assert_eq!(say(&mut host, "a", true, "")[0]["error"]["code"], "INVALID_STATE");
    let outputs = host.result("b", "1");
    assert_eq!(outputs.last().unwrap()["type"], "check_input");
    assert_eq!(kinds(&say(&mut host, "c", true, "")), ["execute_tool"]);
    host.result("c", "2");
    assert_eq!(codes(&host), ["INVALID_TOOL_INPUT"]);
    let (id, content) = host.results()[0].clone();
    assert_eq!((id.as_str(), content["code"].as_str()), ("a", Some("INVALID_TOOL_INPUT")));
    assert!(content["message"].as_str().unwrap().ends_with("amount: must be a number"));
    // A good input of a writing tool is claimed after its check.
    let outputs = host.calls(&[("d", "shop:refund")]);
    assert_eq!(kinds(&outputs).last(), Some(&"check_input"));
    assert_eq!(kinds(&say(&mut host, "d", true, "")), ["append", "execute_tool"]);
    assert_eq!(host.entries.last().unwrap()["kind"], "effect_claimed");
}

#[test]
fn p_17_a_run_that_ends_while_an_input_is_checked_does_not_start_the_call() {
    let mut host = checked();
    host.calls(&[("a", "shop:refund"), ("b", "shop:lookup")]);
    host.push(&json!({"type": "cancel"}));
    say(&mut host, "a", true, "");
    assert_eq!(
        (host.done()["outcome"].as_str(), codes(&host)),
        (Some("cancelled"), vec!["NOT_EXECUTED".to_owned(); 2])
    );
    assert!(host.entries.iter().all(|entry| entry["kind"] != "effect_claimed"));
}

/// T-03, B-06: where every price is zero, an attempt whose usage nobody knows costs nothing, and a cap does not stop its retry.
#[test]
fn t_03_an_attempt_of_unknown_usage_is_free_where_all_prices_are_zero() {
    let limits = json!({"max_steps": 50, "max_cost_usd": 1, "max_duration_s": 600});
    let free = json!({"input_usd_per_mtok": 0, "output_usd_per_mtok": 0, "cached_input_usd_per_mtok": 0, "cache_write_usd_per_mtok": 0});
    let mut partly = free.clone();
    partly["output_usd_per_mtok"] = json!(0.5);
    let mut silent = free.clone();
    silent.as_object_mut().unwrap().remove("cache_write_usd_per_mtok");
    let mut thinking = free.clone();
    thinking["reasoning_usd_per_mtok"] = json!(1);
    for (prices, known) in [(&free, true), (&partly, false), (&silent, false), (&thinking, false)] {
        let mut host = Host::open(&config(limits.clone()));
        host.start(prices);
        host.clear();
        let wait = fail(&mut host, &error("TOOL_ARGUMENTS_INVALID", true, None), "unknown");
        assert_eq!(wait, known.then_some(500), "{prices}");
        assert_eq!(host.steps()[0]["cost_usd"], if known { json!(0) } else { json!(null) }, "{prices}");
        if known {
            host.clear();
            let mut turn = reply("Hi");
            turn["usage"] = json!(null);
            host.answer(&turn);
            assert_eq!(
                (host.done()["outcome"].as_str(), host.spend()["cost_usd"].as_f64()),
                (Some("completed"), Some(0.0))
            );
        }
    }
    // A host that reckons costs itself is asked, and has none to give without usage.
    let mut own = config(limits);
    own["has_cost"] = json!(true);
    let mut host = Host::open(&own);
    host.start(&free);
    host.clear();
    assert_eq!(fail(&mut host, &error("TOOL_ARGUMENTS_INVALID", true, None), "unknown"), None);
}

/// K-03: an answer to another question, or to none, is a mistake of the host and not a failed model call.
#[test]
fn k_03_a_turn_under_another_key_is_misuse() {
    for key in [json!("model:9"), json!(null)] {
        for turn in [reply("Hi").to_string(), "{}".to_owned()] {
            let mut host = Host::started(&config(open_limits()));
            host.clear();
            let mut input = json!({"type": "turn", "turn_json": turn, "cost_usd": null});
            if !key.is_null() {
                input["key"] = key.clone();
            }
            let outputs = host.push(&input);
            assert!(!kinds(&outputs).contains(&"done") && host.steps().is_empty(), "{key} {turn}: {outputs:?}");
            assert!(
                outputs.iter().any(|output| output["type"] == "misuse" || output["error"].is_object()),
                "{outputs:?}"
            );
        }
    }
}
