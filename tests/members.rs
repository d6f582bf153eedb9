//! Each member of a checkpoint and of an input of a run is read as what it must be; a missing or a wrong one is refused by its name, even
//! where the rest holds.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
use serde_json::{Value, json};
use turnkeep::run::Run;

#[path = "support/host.rs"]
mod host;
use host::{Host, config, open_limits, redigested};

/// Takes the member away when there is no value for it.
fn put(object: &mut Value, path: &str, value: Option<&Value>) {
    let (outer, name) = path.rsplit_once('.').unwrap_or(("", path));
    let object = if outer.is_empty() { object } else { &mut object[outer] };
    match value {
        Some(value) => object[name] = value.clone(),
        None => drop(object.as_object_mut().unwrap().remove(name).unwrap()),
    }
}

#[test]
fn b_05_a_checkpoint_with_a_wrong_member_is_refused_even_with_a_new_digest() {
    let mut host = Host::started(&config(open_limits()));
    host.calls(&[("a", "shop:refund")]);
    host.result("a", "1");
    let whole: Value = serde_json::from_str(&host.run.checkpoint_json()).unwrap();
    let refused = |changed: Value| {
        let mut own = config(open_limits());
        own["resume"] = redigested(changed);
        let error = Run::open(&own.to_string()).err()?;
        Some((error.code(), error.place().field.clone().unwrap_or_default()))
    };
    assert_eq!(refused(whole.clone()), None);
    let mut checked = 0;
    for path in [
        "tenant_subject",
        "task_id",
        "pending",
        "autonomy",
        "steps",
        "receipts",
        "spend",
        "history_json",
        "revision",
        "head",
        "head.seq",
        "head.hash",
    ] {
        for value in [None, Some(json!(null)), Some(json!(-1)), Some(json!(true))] {
            let mut changed = whole.clone();
            put(&mut changed, path, value.as_ref());
            assert_eq!(refused(changed), Some(("CHECKPOINT_INCONSISTENT", path.to_owned())), "{value:?}");
            checked += 1;
        }
    }
    assert_eq!(checked, 48);
}

#[test]
fn k_03_an_input_with_a_wrong_member_is_refused_by_its_name_and_changes_nothing() {
    let error = json!({"code": "STREAM_TRUNCATED", "retriable": false});
    let failed = json!({"type": "turn_failed", "key": "model:0", "error": error, "cost": "zero"});
    let result = json!({"type": "tool_result", "key": "tool:a", "output_json": "1"});
    let threw =
        json!({"type": "tool_failed", "key": "tool:a", "code": "TOOL_FAILED", "message": "m", "effect": "none"});
    let looked = json!({"type": "input_checked", "key": "check:a", "ok": true});
    let mut checked = 0;
    for (input, paths) in [
        (failed, &["type", "key", "error", "error.code", "cost"][..]),
        (result, &["type", "key", "output_json"]),
        (threw, &["type", "key", "code", "message", "effect"]),
        (looked, &["type", "key", "ok"]),
        (json!({"type": "appended", "seq": 1}), &["type", "seq"]),
        (json!({"type": "disconnect", "side": "consumer"}), &["type", "side"]),
    ] {
        for path in paths {
            for value in [None, Some(json!(null)), Some(json!(-1)), Some(json!([]))] {
                let mut host = Host::started(&config(open_limits()));
                host.clear();
                let before = host.run.checkpoint_json();
                let mut changed = input.clone();
                put(&mut changed, path, value.as_ref());
                let told = host.push(&changed);
                let name = path.rsplit('.').next().unwrap();
                let error = &told[0]["error"];
                assert_eq!(
                    (&error["code"], &error["at"]["field"]),
                    (&json!("INVALID_INPUT"), &json!(name)),
                    "{changed}"
                );
                assert_eq!((told.len(), host.run.checkpoint_json()), (1, before), "{changed}");
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 80);
}
