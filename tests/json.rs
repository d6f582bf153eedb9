//! N-01 and N-02 against the committed groups of equal, different and refused texts, and duplicate keys at every
//! distance.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use serde_json::Value;
use turnkeep::json::{JsonErrorKind, canonical, parse};

fn texts(group: &Value) -> Vec<&str> {
    group["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

fn form(text: &str) -> Option<String> {
    parse(text).ok().map(|value| canonical(&value))
}

#[test]
fn equal_different_and_refused_texts() {
    let groups: Vec<Value> = serde_json::from_str(include_str!("vectors/own/hash-equality.json")).unwrap();
    let mut checked = 0;
    for group in &groups {
        let id = group["id"].as_str().unwrap();
        let forms: Vec<Option<String>> = texts(group).iter().map(|text| form(text)).collect();
        checked += forms.len();
        match group["expect"].as_str().unwrap() {
            "reject" => assert!(forms.iter().all(Option::is_none), "{id}: {forms:?}"),
            expect => {
                assert!(forms.iter().all(Option::is_some), "{id}: {forms:?}");
                let mut distinct = forms.clone();
                distinct.sort();
                distinct.dedup();
                assert_eq!(distinct.len(), if expect == "same" { 1 } else { forms.len() }, "{id}: {forms:?}");
            }
        }
        if let (Some(wanted), "same") = (group["canonical"].as_str(), group["expect"].as_str().unwrap()) {
            assert_eq!(forms[0].as_deref(), Some(wanted), "{id}");
        }
        for one in forms.iter().flatten() {
            assert_eq!(form(one).as_ref(), Some(one), "{id}: a canonical text reads back to itself");
        }
    }
    println!("{} groups, {checked} texts", groups.len());
    assert!(checked >= 28, "only {checked} texts");
}

#[test]
fn a_duplicate_key_is_refused_however_far_apart() {
    let mut checked = 0;
    for members in [2, 3, 8, 9, 16, 17, 64, 300] {
        for first in [0, members / 2, members - 2] {
            let mut keys: Vec<String> = (0..members).map(|n| format!("k{n}")).collect();
            let last = members - 1;
            if first == last {
                continue;
            }
            assert!(form(&object(&keys)).is_some());
            // The second spelling is an escape: keys are compared after unescaping.
            keys[last] = keys[first].replace('k', "\\u006b");
            let refused = parse(&object(&keys)).unwrap_err();
            assert_eq!(refused.kind, JsonErrorKind::DuplicateKey, "{members} members, the last as number {first}");
            checked += 1;
        }
    }
    assert_eq!(checked, 23);
}

fn object(keys: &[String]) -> String {
    let members: Vec<String> = keys.iter().map(|key| format!("\"{key}\":1")).collect();
    format!("{{{}}}", members.join(","))
}
