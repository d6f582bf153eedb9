//! The run machine, driven as a host drives it: every output in order, every append acknowledged.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
use serde_json::{Value, json};
use turnkeep::run::Run;

#[path = "support/host.rs"]
mod host;
use host::{Host, codes, config, kinds, open_limits, redigested, reply, tool_turn, turn};

#[test]
fn a_call_is_claimed_run_receipted_and_answered_once() {
    let mut host = Host::started(&config(open_limits()));
    let outputs = host.calls(&[("c1", "shop:refund")]);
    assert_eq!(kinds(&outputs), ["append", "batch", "append", "execute_tool"]);
    let asked = outputs.last().unwrap();
    assert_eq!(asked["name"], "shop:refund");
    assert_eq!(asked["input_json"], "{}");
    assert_eq!(asked["side_effecting"], true);
    let outputs = host.result("c1", r#"{"refund":9}"#);
    assert_eq!(kinds(&outputs), ["append", "settled", "ready"]);
    assert_eq!(host.results(), [("c1".to_owned(), json!({"ok": true, "output": {"refund": 9}}))]);
    host.clear();
    host.answer(&reply("Done."));
    let done = host.done();
    assert_eq!((done["outcome"].as_str(), done["final_text"].as_str()), (Some("completed"), Some("Done.")));
    let kinds: Vec<&str> = host.entries.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["run_created", "turn_received", "effect_claimed", "receipt", "turn_received", "stopped"]);
}

#[test]
fn f_05_entries_and_receipts_are_chained_by_hashes_that_can_be_recomputed() {
    let mut host = Host::started(&config(open_limits()));
    host.calls(&[("c1", "shop:refund"), ("c2", "shop:refund")]);
    host.result("c1", "1");
    host.result("c2", "2");
    let check = |tag: &str, items: &[Value]| {
        let mut prev = items[0]["prev"].clone();
        for item in items {
            assert_eq!(item["prev"], prev);
            let mut bare = item.clone();
            bare.as_object_mut().unwrap().remove("hash");
            let text = bare.to_string();
            let value = turnkeep::json::parse_with_depth(&text, 80).unwrap();
            assert_eq!(item["hash"].as_str().unwrap(), turnkeep::json::hash(tag, &[&value]));
            prev = item["hash"].clone();
        }
        items.len()
    };
    assert_eq!(check("turnkeep/entry/v1", &host.entries), 6);
    let receipts: Vec<Value> = host
        .entries
        .iter()
        .filter(|entry| entry["kind"] == "receipt")
        .map(|entry| entry["body"]["receipt"].clone())
        .collect();
    assert_eq!(check("turnkeep/receipt/v1", &receipts), 2);
    assert_ne!(receipts[0]["idempotency_key"], receipts[1]["idempotency_key"]);
    assert_eq!(receipts[0]["action_hash"], receipts[1]["action_hash"]);
}

#[test]
fn l_02_a_batch_that_does_not_fit_runs_nothing_and_every_call_is_answered() {
    let mut own = config(open_limits());
    own["max_tool_calls_per_session"] = json!(2);
    let mut host = Host::started(&own);
    let outputs = host.calls(&[("a", "shop:lookup"), ("b", "shop:refund"), ("c", "shop:lookup")]);
    assert_eq!(kinds(&outputs), ["append", "append", "batch", "settled", "settled", "settled", "ready"]);
    let ids: Vec<String> = host.results().iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert!(host.results().iter().all(|(_, result)| result["code"] == "LIMIT_EXCEEDED" && result["ok"] == false));
    assert!(host.steps()[1..].iter().all(|step| step["status"] == "denied"));
    // Refused calls do not count as used, and the loop goes on.
    assert_eq!(host.spend()["tool_calls"], 0);
    assert_eq!(kinds(&host.calls(&[("d", "shop:lookup"), ("e", "shop:lookup")])).last(), Some(&"execute_tool"));
}

#[test]
fn l_03_after_a_throw_the_remaining_calls_are_not_executed() {
    let mut host = Host::started(&config(open_limits()));
    host.calls(&[("a", "shop:refund"), ("b", "shop:refund"), ("c", "shop:gone")]);
    let failed = json!({"type": "tool_failed", "key": "tool:a", "code": "TOOL_FAILED", "message": "boom", "threw": true, "effect": "unknown"});
    assert_eq!(kinds(&host.push(&failed)), ["append", "settled", "append", "settled", "append", "settled", "ready"]);
    assert_eq!(codes(&host), ["TOOL_FAILED", "NOT_EXECUTED", "NOT_EXECUTED"]);
    let (_, first) = &host.results()[0];
    assert!(first["message"].as_str().unwrap().contains("may have happened"));
    assert_eq!(host.history().len(), 5);
}

#[test]
fn l_03_a_timeout_counts_as_a_throw_and_a_returned_failure_does_not() {
    let failed = |code: &str| json!({"type": "tool_failed", "key": "tool:a", "code": code, "message": "m", "threw": false, "effect": "unknown"});
    let mut host = Host::started(&config(open_limits()));
    host.calls(&[("a", "shop:lookup"), ("b", "shop:lookup")]);
    assert_eq!(kinds(&host.push(&failed("TOOL_TIMEOUT"))).last(), Some(&"ready"));
    assert_eq!(codes(&host), ["TOOL_TIMEOUT", "NOT_EXECUTED"]);
    let mut host = Host::started(&config(open_limits()));
    host.calls(&[("a", "shop:lookup"), ("b", "shop:lookup")]);
    assert_eq!(kinds(&host.push(&failed("TOOL_FAILED"))).last(), Some(&"execute_tool"));
}

/// L-05 (declared order), T-04 (one step and one status for each call).
#[test]
fn l_06_refused_calls_are_answered_and_the_batch_goes_on() {
    let mut host = Host::started(&config(open_limits()));
    let calls = [
        ("a", "shop:classed"),
        ("b", "shop:odd"),
        ("c", "shop:broken"),
        ("d", "shop:gone"),
        ("e", "nowhere"),
        ("f", "shop:lookup"),
    ];
    let outputs = host.calls(&calls);
    assert_eq!(outputs.last().unwrap()["call_id"], "f");
    host.result("f", "null");
    // G-07, C-04, K-06, P-15
    assert_eq!(
        codes(&host),
        ["APPROVAL_REQUIRED", "POLICY_DENIED", "POLICY_DENIED", "TOOL_NOT_FOUND", "TOOL_NOT_FOUND"]
    );
    let statuses: Vec<Value> = host.steps()[1..].iter().map(|step| step["status"].clone()).collect();
    assert_eq!(json!(statuses), json!(["denied", "denied", "denied", "failed", "failed", "completed"]));
}

#[test]
fn c_04_a_default_class_holds_side_effecting_tools_without_a_class() {
    let mut own = config(open_limits());
    own["default_class"] = json!("money");
    let mut host = Host::started(&own);
    host.calls(&[("a", "shop:refund"), ("b", "shop:lookup")]);
    assert_eq!(codes(&host), ["APPROVAL_REQUIRED"]);
}

#[test]
fn n_04_long_integers_need_a_tool_that_takes_them() {
    let mut host = Host::started(&config(open_limits()));
    host.clear();
    let long = tool_turn(&[("a", "shop:lookup"), ("b", "shop:long")], json!({"id": 9_007_199_254_740_993_u64}));
    let outputs = host.answer(&long);
    assert_eq!(codes(&host), ["INVALID_TOOL_INPUT"]);
    assert_eq!(outputs.last().unwrap()["input_json"], r#"{"id":9007199254740993}"#);
}

#[test]
fn b_01_steps_stop_when_used_reaches_the_limit() {
    let mut host = Host::started(&config(json!({"max_steps": 2, "max_cost_usd": null, "max_duration_s": null})));
    host.calls(&[("a", "shop:lookup")]);
    host.result("a", "1");
    host.clear();
    let done = host.done();
    assert_eq!(done["outcome"], "budget_exhausted");
    assert_eq!(done["reason_code"], "budget_exhausted");
    assert_eq!(done["limit"], "max_steps");
    assert_eq!(done["details"], json!({"reason": "reached", "used": 2, "max": 2}));
}

#[test]
fn b_04_a_batch_of_which_nothing_ran_counts_once() {
    let mut host = Host::started(&config(open_limits()));
    host.calls(&[("a", "nowhere"), ("b", "nowhere")]);
    assert_eq!(host.spend()["steps"], 2);
    host.calls(&[("c", "shop:lookup"), ("d", "nowhere")]);
    host.result("c", "1");
    assert_eq!(host.spend()["steps"], 4);
}

#[test]
fn b_02_ten_times_a_tenth_meets_one_dollar_exactly() {
    let mut own = config(json!({"max_steps": null, "max_cost_usd": 1.0, "max_duration_s": null}));
    own["has_cost"] = json!(true);
    let mut host = Host::started(&own);
    for turn in 0..10 {
        assert_eq!(kinds(&host.clear()).last(), Some(&"call_model"), "turn {turn}");
        let key = host.key();
        let id = format!("c{turn}");
        let text = tool_turn(&[(&id, "nowhere")], json!({})).to_string();
        host.push(&json!({"type": "turn", "key": key, "turn_json": text, "cost_usd": 0.1}));
    }
    host.clear();
    let done = host.done();
    assert_eq!(done["details"], json!({"reason": "reached", "used": 1, "max": 1}));
    assert_eq!(done["limit"], "max_cost_usd");
}

#[test]
fn b_06_an_unknown_cost_stops_under_a_cap_and_only_there() {
    let capped = json!({"max_steps": null, "max_cost_usd": 5, "max_duration_s": null});
    let stop = json!({"reason": "cost_unknown", "used": null, "max": 5});
    // A profile without prices: before the first call.
    let mut host = Host::open(&config(capped.clone()));
    host.start(&Value::Null);
    host.clear();
    assert_eq!(host.done()["details"], stop);
    // A turn without usage: before the next call, never a silent continue.
    let mut host = Host::started(&config(capped));
    host.clear();
    let mut silent = tool_turn(&[("a", "shop:lookup")], json!({}));
    silent["usage"] = Value::Null;
    host.answer(&silent);
    host.result("a", "1");
    host.clear();
    assert_eq!(host.done()["details"], stop);
    assert_eq!(host.done()["spend"]["unknown_cost_steps"], 1);
    assert_eq!(host.steps()[0]["cost_usd"], Value::Null);
    // Without a cap the run goes on.
    let mut host = Host::open(&config(open_limits()));
    host.start(&Value::Null);
    assert_eq!(kinds(&host.clear()).last(), Some(&"call_model"));
}

#[test]
fn b_03_duration_is_active_time_and_a_clock_that_goes_back_adds_nothing() {
    let mut host = Host::started(&config(json!({"max_steps": null, "max_cost_usd": null, "max_duration_s": 2.5})));
    let asked = host.clear();
    assert_eq!(asked.last().unwrap()["timeout_ms"], 2500);
    host.tick.mono_ms += 2000;
    host.answer(&tool_turn(&[("a", "shop:lookup")], json!({})));
    host.tick.mono_ms -= 500;
    host.result("a", "1");
    host.tick.mono_ms += 100;
    let asked = host.clear();
    // B-10: the next call may take what is left.
    assert_eq!(asked.last().unwrap()["timeout_ms"], 400);
    host.tick.mono_ms += 400;
    host.answer(&tool_turn(&[("b", "nowhere")], json!({})));
    host.clear();
    assert_eq!(host.done()["details"], json!({"reason": "reached", "used": 2.5, "max": 2.5}));
}

#[test]
fn b_09_limits_are_checked_against_ceilings_at_creation() {
    let refused = |limits: Value, pack: Value| {
        let mut own = config(limits);
        own["pack_limits"] = pack;
        Run::open(&own.to_string()).err().map(|error| (error.code(), error.place().field.clone().unwrap_or_default()))
    };
    let field = |code: &'static str, name: &str| Some((code, format!("limits.{name}")));
    let all = json!({"max_steps": 5, "max_cost_usd": 1, "max_duration_s": 60});
    assert_eq!(refused(json!({}), all.clone()), None);
    assert_eq!(refused(json!({"max_steps": 6}), all.clone()), field("LIMIT_ABOVE_CEILING", "max_steps"));
    assert_eq!(refused(json!({"max_cost_usd": null}), all.clone()), field("LIMIT_INVALID", "max_cost_usd"));
    assert_eq!(refused(json!({"max_cost_usd": 1}), Value::Null), field("LIMIT_INVALID", "max_steps"));
    assert_eq!(refused(json!({"max_step": 1}), all.clone()), field("LIMIT_INVALID", "max_step"));
    for bad in [
        json!(-1),
        json!(1.5),
        json!("5"),
        json!([5]),
        json!(true),
        json!(9_007_199_254_740_993_u64),
        json!(1e300),
        json!({"$invalid": "NaN"}),
    ] {
        assert_eq!(refused(json!({"max_steps": bad}), all.clone()), field("LIMIT_INVALID", "max_steps"), "{bad}");
    }
    assert_eq!(refused(json!({"max_cost_usd": 0.000_000_000_1}), all.clone()), field("LIMIT_INVALID", "max_cost_usd"));
    assert_eq!(refused(json!({"max_duration_s": 0.0001}), all.clone()), field("LIMIT_INVALID", "max_duration_s"));
    // 0 is accepted and stops before the first call.
    let mut host = Host::started(&config(json!({"max_steps": 0, "max_cost_usd": null, "max_duration_s": null})));
    host.clear();
    assert_eq!(host.done()["details"], json!({"reason": "reached", "used": 0, "max": 0}));
}

#[test]
fn p_01_a_hosts_own_turn_is_held_to_the_contract() {
    let base = tool_turn(&[("a", "shop:lookup"), ("b", "shop:refund")], json!({"n": 1}));
    let rejected = |change: &dyn Fn(&mut Value)| {
        let mut host = Host::started(&config(open_limits()));
        host.clear();
        let mut turn = base.clone();
        change(&mut turn);
        host.answer(&turn);
        assert!(host.seen.iter().all(|output| output["type"] != "execute_tool"), "{turn}");
        host.done()["error"]["code"].as_str().unwrap().to_owned()
    };
    let swap = |turn: &mut Value| turn["requested_tools"].as_array_mut().unwrap().swap(0, 1);
    assert_eq!(rejected(&swap), "CALLS_MISMATCH");
    assert_eq!(rejected(&|turn| turn["requested_tools"][0]["input"]["n"] = json!(2)), "CALLS_MISMATCH");
    assert_eq!(rejected(&|turn| turn["requested_tools"][0]["name"] = json!("shop:refund")), "CALLS_MISMATCH");
    assert_eq!(rejected(&|turn| turn["requested_tools"] = json!([])), "CALLS_MISMATCH");
    assert_eq!(rejected(&|turn| turn["requested_tool"] = json!({})), "INVALID_INPUT");
    assert_eq!(rejected(&|turn| turn["status"] = json!("reply")), "FINISH_REASON_MISMATCH");
    assert_eq!(rejected(&|turn| turn["assistant_text"] = json!("other")), "INVALID_INPUT");
    assert_eq!(rejected(&|turn| turn["finish_reason"]["unified"] = json!("length")), "FINISH_REASON_MISMATCH");
    assert_eq!(rejected(&|turn| turn["dropped_calls"] = json!(1)), "FINISH_REASON_MISMATCH");
    let bare = |turn: &mut Value| {
        turn["requested_tools"][0]["input"] = json!("text");
        turn["content_blocks"][1]["input"] = json!("text");
    };
    assert_eq!(rejected(&bare), "TOOL_ARGUMENTS_NOT_OBJECT");
    let twice = |turn: &mut Value| {
        turn["requested_tools"][1]["id"] = json!("a");
        turn["content_blocks"][2]["id"] = json!("a");
    };
    assert_eq!(rejected(&twice), "CALL_ID_DUPLICATE");
    let empty = |turn: &mut Value| {
        turn["requested_tools"][1]["id"] = json!("");
        turn["content_blocks"][2]["id"] = json!("");
    };
    assert_eq!(rejected(&empty), "CALL_ID_MISSING");
    // Equal as parsed values: another spelling of the same number is the same input.
    let mut host = Host::started(&config(open_limits()));
    host.clear();
    let text = base.to_string().replacen("\"n\":1", "\"n\":1.0", 1);
    let key = host.key();
    let outputs = host.push(&json!({"type": "turn", "key": key, "turn_json": text, "cost_usd": null}));
    assert_eq!(outputs.last().unwrap()["type"], "execute_tool");
}

#[test]
fn r_04_a_call_id_of_an_earlier_turn_is_rejected() {
    let mut host = Host::started(&config(open_limits()));
    host.calls(&[("a", "shop:lookup")]);
    host.result("a", "1");
    // One retry (L-09): the model may say it better.
    assert_eq!(kinds(&host.calls(&[("a", "shop:lookup")])), ["append", "retry"]);
    host.calls(&[("a", "shop:lookup")]);
    assert_eq!(host.done()["error"]["code"], "CALL_ID_REUSED");
    assert_eq!(host.history().len(), 3);
    // T-03: what the rejected turn cost is known.
    assert_eq!(host.steps()[2]["cost_usd"], json!(0.002));
}

#[test]
fn p_20_other_statuses_end_the_run_and_keep_only_text() {
    for (status, unified, outcome) in [("incomplete", "length", "incomplete"), ("refused", "refusal", "refused")] {
        let mut host = Host::started(&config(open_limits()));
        host.clear();
        let mut cut = turn(status, unified, "raw", json!([{"type": "text", "text": "Half"}]), json!([]), "Half");
        cut["dropped_calls"] = json!(1);
        host.answer(&cut);
        let done = host.done();
        assert_eq!(
            (&done["outcome"], &done["dropped_calls"], &done["final_text"]),
            (&json!(outcome), &json!(1), &json!("Half"))
        );
        assert_eq!(host.history()[1]["content_blocks"], json!([{"type": "text", "text": "Half"}]));
    }
}

#[test]
fn l_08_a_failed_model_call_ends_the_run_and_leaves_history_alone() {
    let mut host = Host::started(&config(open_limits()));
    host.clear();
    let error = json!({"code": "STREAM_TRUNCATED", "blame": "provider", "reason": "eof_without_done", "rule": "S-20", "message": "m", "at": {}, "details": {}, "retriable": false});
    let key = host.key();
    host.push(&json!({"type": "turn_failed", "key": key, "error": error, "cost": "unknown"}));
    let done = host.done();
    assert_eq!((&done["outcome"], &done["error"]["code"]), (&json!("failed"), &json!("STREAM_TRUNCATED")));
    assert_eq!(host.history().len(), 1);
    assert_eq!(done["spend"]["unknown_cost_steps"], 1);
    // T-03: an attempt answered by an HTTP error costs a known 0.
    let mut host = Host::started(&config(open_limits()));
    host.clear();
    let key = host.key();
    host.push(&json!({"type": "turn_failed", "key": key, "error": error, "cost": "zero"}));
    assert_eq!(host.steps()[0]["cost_usd"], 0);
}

#[test]
fn l_04_a_cancel_inside_a_batch_answers_every_call_before_the_end() {
    let mut host = Host::started(&config(open_limits()));
    host.calls(&[("a", "shop:refund"), ("b", "shop:refund")]);
    assert!(host.push(&json!({"type": "cancel"})).is_empty(), "a running effect is awaited first");
    host.result("a", "1");
    assert_eq!(host.done()["outcome"], "cancelled");
    assert_eq!(codes(&host), ["NOT_EXECUTED"]);
    assert_eq!(host.results().len(), 2);
}

#[test]
fn l_08_a_cancel_while_the_model_is_asked_ends_cancelled() {
    let mut host = Host::started(&config(open_limits()));
    host.clear();
    host.push(&json!({"type": "cancel"}));
    let mut cut = json!({"status": "cancelled", "requested_tools": [], "content_blocks": [], "assistant_text": "Hal", "usage": null, "dropped_calls": 0});
    host.answer(&cut);
    assert_eq!(host.done()["outcome"], "cancelled");
    assert_eq!(host.history().len(), 1);
    cut["status"] = json!("client_disconnect");
    cut["details"] = json!({"side": "provider"});
    let mut host = Host::started(&config(open_limits()));
    host.clear();
    host.answer(&cut);
    for _ in 0..2 {
        // A body that broke off is asked for again (S-13, L-09).
        host.clear();
        host.answer(&cut);
    }
    assert_eq!(
        (&host.done()["outcome"], &host.done()["details"]["side"]),
        (&json!("client_disconnect"), &json!("provider"))
    );
}

/// T-02 (start order), T-05 (intent and summary).
#[test]
fn t_01_step_records_are_whole_and_in_start_order() {
    let mut host = Host::started(&config(open_limits()));
    host.clear();
    let input = json!({"order": "7", "deep": {"list": [1, {"x": null}]}});
    host.answer(&tool_turn(&[("a", "shop:lookup")], input));
    host.tick.now_ms += 1500;
    host.result("a", "1");
    let steps = host.steps();
    assert_eq!(steps.len(), 2);
    assert_eq!(
        steps[1],
        json!({"step_id": "step-1", "index": 1, "kind": "tool_call", "intent_text": "Let me see.",
            "action_summary": "tool(shop:lookup) deep.list[0]=1 deep.list[1].x=null order=\"7\"", "status": "completed", "evidence_refs": [], "cost_usd": 0,
            "started_at": "2026-01-01T00:00:00.000Z", "ended_at": "2026-01-01T00:00:01.500Z", "replayed": false})
    );
    // 1000 input and 500 output tokens at 1 and 2 USD per million.
    assert_eq!(steps[0]["cost_usd"], json!(0.002));
    for step in &steps {
        let text = step.to_string();
        turnkeep::step::Step::read(&turnkeep::json::parse(&text).unwrap()).unwrap();
    }
    let broken = steps[1].to_string().replace("\"replayed\"", "\"replay\"");
    assert!(turnkeep::step::Step::read(&turnkeep::json::parse(&broken).unwrap()).is_err());
}

#[test]
fn b_08_a_checkpoint_resumes_spend_steps_time_and_history() {
    let limits = json!({"max_steps": 2, "max_cost_usd": 1, "max_duration_s": 60});
    let mut host = Host::started(&config(limits));
    host.calls(&[("a", "shop:refund")]);
    host.tick.mono_ms += 1250;
    host.result("a", "1");
    host.clear();
    assert_eq!(host.done()["limit"], "max_steps");
    let checkpoint: Value = serde_json::from_str(&host.run.checkpoint_json()).unwrap();
    let mut own = config(json!({"max_steps": 3, "max_cost_usd": 1, "max_duration_s": 60}));
    own["resume"] = checkpoint.clone();
    let mut again = Host::open(&own);
    let messages = again.run.messages_json();
    assert_eq!(messages, host.run.messages_json());
    let start = json!({"type": "start", "messages": serde_json::from_str::<Value>(&messages).unwrap(), "tools": [],
        "model": {"model_profile": "main", "protocol": "chat", "model": "m", "prices": {"input_usd_per_mtok": 1, "output_usd_per_mtok": 2}}});
    again.push(&start);
    assert_eq!(again.spend()["elapsed_s"], json!(1.25));
    let asked = again.clear();
    assert_eq!(asked.last().unwrap()["step_id"], "step-2");
    again.answer(&reply("Done."));
    let done = again.done();
    assert_eq!(
        (&done["outcome"], &done["spend"]["steps"], &done["steps"].as_array().unwrap().len()),
        (&json!("completed"), &json!(3), &3)
    );

    // R-05: any change is refused, whatever it is; so are another tenant and another task.
    let refused = |checkpoint: &Value, tenant: &str, task: &str| {
        let mut own = config(open_limits());
        own["resume"] = checkpoint.clone();
        own["tenant_subject"] = json!(tenant);
        own["task_id"] = json!(task);
        Run::open(&own.to_string()).err().map(|error| error.code())
    };
    assert_eq!(refused(&checkpoint, "acme", "t"), None);
    assert_eq!(refused(&checkpoint, "other", "t"), Some("TENANT_SUBJECT_MISMATCH"));
    assert_eq!(refused(&checkpoint, "acme", "u"), Some("CHECKPOINT_FOREIGN"));
    for path in [
        "/spend/steps",
        "/receipts/0/output_json",
        "/history_json",
        "/steps/0/status",
        "/revision",
        "/digest",
        "/head/hash",
    ] {
        let mut changed = checkpoint.clone();
        *changed.pointer_mut(path).unwrap() = json!("x");
        assert_eq!(refused(&changed, "acme", "t"), Some("CHECKPOINT_INCONSISTENT"), "{path}");
    }
    let mut newer = checkpoint.clone();
    newer["schema_version"] = json!(2);
    assert_eq!(refused(&newer, "acme", "t"), Some("CHECKPOINT_VERSION"));
    let mut more = checkpoint;
    more["extra"] = json!(1);
    assert_eq!(refused(&more, "acme", "t"), Some("CHECKPOINT_VERSION"));
}

#[test]
fn t_03_an_unknown_cost_is_settled_on_resume() {
    let mut host = Host::started(&config(json!({"max_steps": null, "max_cost_usd": 1, "max_duration_s": null})));
    host.clear();
    let mut silent = tool_turn(&[("a", "shop:lookup")], json!({}));
    silent["usage"] = Value::Null;
    host.answer(&silent);
    host.result("a", "1");
    host.clear();
    let mut own = config(json!({"max_steps": null, "max_cost_usd": 1, "max_duration_s": null}));
    own["resume"] = serde_json::from_str(&host.run.checkpoint_json()).unwrap();
    own["settle_cost_usd"] = json!({"step-0": 0.25});
    let again = Host::open(&own);
    assert_eq!(
        (again.spend()["cost_usd"].clone(), again.spend()["unknown_cost_steps"].clone()),
        (json!(0.25), json!(0))
    );
    assert_eq!(again.steps()[0]["cost_usd"], 0.25);
    own["settle_cost_usd"] = json!({"step-1": 0.25});
    assert_eq!(Run::open(&own.to_string()).unwrap_err().code(), "INVALID_INPUT");
}

#[test]
fn a_checkpoint_inside_a_batch_is_not_resumed_by_this_version() {
    let mut host = Host::started(&config(open_limits()));
    host.calls(&[("a", "shop:refund")]);
    let mut own = config(open_limits());
    own["resume"] = serde_json::from_str(&host.run.checkpoint_json()).unwrap();
    assert_eq!(Run::open(&own.to_string()).unwrap_err().code(), "CHECKPOINT_INCONSISTENT");
}

#[test]
fn r_06_a_claim_is_checkpointed_before_its_effect_starts() {
    let mut own = config(open_limits());
    own["checkpoints"] = json!(true);
    let mut host = Host::started(&own);
    let outputs = host.calls(&[("a", "shop:refund")]);
    assert_eq!(kinds(&outputs), ["append", "batch", "append", "checkpoint"]);
    let checkpoint: Value = serde_json::from_str(&host.run.checkpoint_json()).unwrap();
    assert_eq!(checkpoint["pending"]["claims"][0]["call_id"], "a");
    assert!(host.clear()[0]["error"]["code"] == "INVALID_STATE", "nothing goes on before the checkpoint is saved");
    assert_eq!(kinds(&host.push(&json!({"type": "saved"}))), ["execute_tool"]);
}

#[test]
fn b_10_a_call_cut_by_the_duration_ends_in_the_budget() {
    let mut host = Host::started(&config(json!({"max_steps": null, "max_cost_usd": null, "max_duration_s": 2})));
    host.clear();
    let error = json!({"code": "PROVIDER_TIMEOUT"});
    let key = host.key();
    host.tick.mono_ms += 2000;
    host.push(&json!({"type": "turn_failed", "key": key, "error": error, "cost": "unknown"}));
    assert_eq!(
        (&host.done()["outcome"], &host.done()["limit"]),
        (&json!("budget_exhausted"), &json!("max_duration_s"))
    );
}

#[test]
fn r_05_a_changed_receipt_chain_is_refused_even_with_a_new_digest() {
    let mut host = Host::started(&config(open_limits()));
    for id in ["a", "b", "c"] {
        host.calls(&[(id, "shop:refund")]);
        host.result(id, "1");
    }
    let whole: Value = serde_json::from_str(&host.run.checkpoint_json()).unwrap();
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut changed = whole.clone();
        change(&mut changed);
        let mut own = config(open_limits());
        own["resume"] = redigested(changed);
        Run::open(&own.to_string()).err().map(|error| error.code())
    };
    let receipts =
        |value: &mut Value, change: &dyn Fn(&mut Vec<Value>)| change(value["receipts"].as_array_mut().unwrap());
    assert_eq!(refused(&|_| {}), None);
    assert_eq!(refused(&|value| value["receipts"][1]["output_json"] = json!("2")), Some("CHAIN_CHANGED"));
    assert_eq!(refused(&|value| receipts(value, &|all| drop(all.remove(0)))), Some("CHAIN_GAP"));
    assert_eq!(refused(&|value| receipts(value, &|all| drop(all.remove(1)))), Some("CHAIN_GAP"));
    assert_eq!(refused(&|value| receipts(value, &|all| all.swap(0, 1))), Some("CHAIN_GAP"));
    assert_eq!(refused(&|value| receipts(value, &|all| all.push(all[2].clone()))), Some("CHAIN_GAP"));
    let renumbered = |value: &mut Value| {
        receipts(value, &|all| {
            all.remove(1);
            all[1]["seq"] = json!(1);
        });
    };
    assert_eq!(refused(&renumbered), Some("CHAIN_BROKEN"));
    assert_eq!(refused(&|value| value["receipts"][0]["tenant_subject"] = json!("other")), Some("CHECKPOINT_FOREIGN"));
    assert_eq!(refused(&|value| value["receipts"] = json!([1, "x"])), Some("CHAIN_CHANGED"));
    let inconsistent = Some("CHECKPOINT_INCONSISTENT");
    assert_eq!(refused(&|value| value["spend"]["cost_usd"] = json!(0)), inconsistent);
    assert_eq!(refused(&|value| value["spend"]["unknown_cost_steps"] = json!(1)), inconsistent);
    assert_eq!(refused(&|value| value["steps"].as_array_mut().unwrap().swap(0, 1)), inconsistent);
    assert_eq!(refused(&|value| value["autonomy"] = json!("auto")), inconsistent);
    assert_eq!(refused(&|value| value["pending"]["approvals"] = json!([{"status": "approved"}])), inconsistent);
}

#[test]
fn b_05_a_run_with_a_deep_call_resumes() {
    let mut host = Host::started(&config(open_limits()));
    let mut deep = json!(1);
    for _ in 0..63 {
        deep = json!([deep]);
    }
    host.clear();
    host.answer(&tool_turn(&[("a", "shop:lookup")], json!({"d": deep})));
    host.result("a", "1");
    let mut own = config(open_limits());
    own["resume"] = serde_json::from_str(&host.run.checkpoint_json()).unwrap();
    assert!(Run::open(&own.to_string()).is_ok());
}

#[test]
fn b_08_a_resumed_run_keeps_its_own_history() {
    let mut host = Host::started(&config(open_limits()));
    host.calls(&[("a", "shop:lookup")]);
    host.result("a", "1");
    let mut own = config(open_limits());
    own["resume"] = serde_json::from_str(&host.run.checkpoint_json()).unwrap();
    let start = |messages: Value| {
        let mut again = Host::open(&own);
        let outputs = again.push(&json!({"type": "start", "messages": messages, "tools": [], "model": null}));
        (outputs[0]["error"]["at"]["field"].clone(), again.history().len())
    };
    let kept = Value::Array(host.history());
    assert_eq!(start(kept.clone()), (Value::Null, 3));
    assert_eq!(start(json!([{"role": "user", "content": "Something else"}])).0, "messages");
    let mut more = kept;
    more.as_array_mut().unwrap().push(json!({"role": "user", "content": "And now?"}));
    assert_eq!(start(more), (Value::Null, 4));
}

#[test]
fn l_04_history_is_paired_whenever_a_checkpoint_says_that_nothing_is_pending() {
    let mut own = config(open_limits());
    own["max_tool_calls_per_session"] = json!(1);
    let mut host = Host::started(&own);
    host.clear();
    let key = host.key();
    let text = tool_turn(&[("a", "shop:lookup"), ("b", "shop:lookup")], json!({})).to_string();
    host.run
        .handle_input(host.tick, &json!({"type": "turn", "key": key, "turn_json": text, "cost_usd": null}).to_string());
    // Before each acknowledgement the snapshot either says that a turn is pending, or its history pairs.
    let mut looked = 0;
    while let Some(output) = host.run.poll_output() {
        let checkpoint: Value = serde_json::from_str(&host.run.checkpoint_json()).unwrap();
        if checkpoint["pending"]["turn_json"].is_null() {
            let mut own = own.clone();
            own["resume"] = checkpoint;
            assert!(Run::open(&own.to_string()).is_ok(), "{}", output.to_json());
        }
        looked += 1;
        if let Some(seq) = output.append_seq() {
            host.run.handle_input(host.tick, &json!({"type": "appended", "seq": seq}).to_string());
        }
    }
    assert!(looked > 10);
}

#[test]
fn t_05_each_call_has_the_text_before_it() {
    let mut host = Host::started(&config(open_limits()));
    let call = |id: &str| json!({"type": "tool_call", "id": id, "name": "nowhere", "input": {}});
    let named = |id: &str| json!({"id": id, "name": "nowhere", "input": {}});
    let text = |text: &str| json!({"type": "text", "text": text});
    host.clear();
    let blocks = json!([text("A"), call("a"), text("B"), call("b")]);
    host.answer(&turn("tool_request", "tool_calls", "tool_use", blocks, json!([named("a"), named("b")]), "AB"));
    assert_eq!((&host.steps()[1]["intent_text"], &host.steps()[2]["intent_text"]), (&json!("A"), &json!("AB")));
}

#[test]
fn r_06_a_claim_that_never_started_is_released() {
    let mut own = config(open_limits());
    own["checkpoints"] = json!(true);
    let mut host = Host::started(&own);
    host.calls(&[("a", "shop:refund")]);
    host.push(&json!({"type": "cancel"}));
    host.push(&json!({"type": "saved"}));
    let kinds: Vec<&str> = host.entries.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["run_created", "turn_received", "effect_claimed", "claim_released", "call_settled"]);
    assert!(host.seen.iter().all(|output| output["type"] != "execute_tool"));
}

#[test]
fn p_17_a_refused_input_never_had_an_effect() {
    let mut host = Host::started(&config(open_limits()));
    host.calls(&[("a", "shop:refund")]);
    let failed = json!({"type": "tool_failed", "key": "tool:a", "code": "INVALID_TOOL_INPUT", "message": "order: required", "threw": false, "effect": "unknown"});
    host.push(&failed);
    let receipt = &host.entries.iter().find(|entry| entry["kind"] == "receipt").unwrap()["body"]["receipt"];
    assert_eq!((&receipt["effect"], &receipt["outcome"]), (&json!("none"), &json!("failed")));
    assert_eq!(host.results()[0].1["message"], "order: required");
}

#[test]
fn b_09_session_calls_have_a_ceiling_and_options_are_known() {
    let refused = |name: &str, value: Value| {
        let mut own = config(open_limits());
        own["pack_limits"] = json!({"max_tool_calls_per_session": 10});
        own[name] = value;
        Run::open(&own.to_string()).err().map(|error| error.code())
    };
    assert_eq!(refused("max_tool_calls_per_session", json!(10)), None);
    assert_eq!(refused("max_tool_calls_per_session", json!(11)), Some("LIMIT_ABOVE_CEILING"));
    assert_eq!(refused("max_tool_calls_per_session", json!(-1)), Some("LIMIT_INVALID"));
    assert_eq!(refused("govern", json!(true)), Some("INVALID_INPUT"));
    assert_eq!(refused("governed", json!("yes")), Some("INVALID_INPUT"));
    // Without `governed` the budgets hold.
    let mut own = config(json!({"max_steps": 0, "max_cost_usd": null, "max_duration_s": null}));
    own.as_object_mut().unwrap().remove("governed");
    let mut host = Host::started(&own);
    host.clear();
    assert_eq!(host.done()["outcome"], "budget_exhausted");
    // K-05: a cost beyond all sense is unknown.
    let mut host = Host::started(&config(open_limits()));
    host.calls(&[("a", "shop:lookup")]);
    host.push(&json!({"type": "tool_result", "key": "tool:a", "output_json": "1", "cost_usd": 1e25}));
    assert_eq!(host.steps()[1]["cost_usd"], Value::Null);
}

#[test]
fn misuse_is_refused_and_changes_nothing() {
    let mut host = Host::open(&config(open_limits()));
    let code = |outputs: &[Value]| outputs[0]["error"]["code"].as_str().map(str::to_owned);
    assert_eq!(code(&host.clear()).as_deref(), Some("INVALID_STATE"));
    host.start(&Value::Null);
    host.clear();
    assert_eq!(code(&host.clear()).as_deref(), Some("INVALID_STATE"));
    assert_eq!(code(&host.result("a", "1")).as_deref(), Some("INVALID_STATE"));
    assert_eq!(
        code(
            &host.push(
                &json!({"type": "turn", "key": "model:9", "turn_json": reply("x").to_string(), "cost_usd": null})
            )
        )
        .as_deref(),
        Some("INVALID_STATE")
    );
    assert_eq!(code(&host.push(&json!({"type": "nonsense"}))).as_deref(), Some("INVALID_INPUT"));
    host.answer(&reply("Done."));
    assert_eq!(code(&host.clear()).as_deref(), Some("RUN_ENDED"));
}

#[test]
fn x_05_and_p_14_names_are_checked_when_the_loop_starts() {
    let start = |names: &[&str]| {
        let mut host = Host::open(&config(open_limits()));
        let tools: Vec<Value> = names.iter().map(|name| json!({"name": name, "policy": {}})).collect();
        let outputs = host.push(&json!({"type": "start", "messages": [], "tools": tools, "model": null}));
        outputs[0]["error"]["code"].as_str().map(str::to_owned)
    };
    assert_eq!(start(&["agent-runtime:pause_turn"]).as_deref(), Some("TOOL_NAME_RESERVED"));
    assert_eq!(start(&["a:b", "a_b"]).as_deref(), Some("TOOL_NAME_COLLISION"));
    assert_eq!(start(&["a", "a"]).as_deref(), Some("TOOL_NAME_COLLISION"));
    assert_eq!(start(&[""]).as_deref(), Some("INVALID_INPUT"));
    assert_eq!(start(&["a:b", "__proto__", "café", "a c"]), None);
}
