//! The code registry, its page and the TypeScript union are one (D4): `UPDATE=1 cargo test --test registry` writes the page anew.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic)]
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use turnkeep::error::{Error, Reason};

fn page() -> String {
    let mut codes: BTreeMap<&str, Vec<Reason>> = BTreeMap::new();
    for reason in Reason::ALL {
        codes.entry(reason.code()).or_default().push(*reason);
    }
    let mut out = String::from(
        "# Errors\n\nWritten by `UPDATE=1 cargo test --test registry` from the registry in `src/error.rs`. Branch on the code; the reason is finer and may change in a\n\
         minor version. `blame` says who must act, the rule is in `rules.md`. Messages hold no payload, key or header bytes.\n",
    );
    for (code, reasons) in codes {
        let first = reasons.first().unwrap();
        out.push_str(&format!("\n## {code}\n\nBlame: {}.\n\n| reason | rule | what happened | what to do | ask again |\n|---|---|---|---|---|\n", first.blame().word()));
        for reason in reasons {
            let again = if reason.retriable() { "can help" } else { "no" };
            out.push_str(&format!(
                "| `{}` | {} | {} | {} | {again} |\n",
                reason.word(),
                reason.rule(),
                reason.what(),
                reason.remedy()
            ));
        }
    }
    out
}

#[test]
fn the_page_is_the_registry() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/errors.md");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    assert!(std::fs::read_to_string(&path).unwrap() == page(), "run: UPDATE=1 cargo test --test registry");
}

#[test]
fn the_typescript_union_holds_every_code() {
    let types =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("bindings/types/errors.d.ts")).unwrap();
    let union: BTreeSet<&str> = types
        .split('"')
        .filter(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
        .collect();
    let missing: Vec<&str> =
        Reason::ALL.iter().map(|reason| reason.code()).filter(|code| !union.contains(code)).collect();
    assert!(missing.is_empty() && union.len() > 80, "{missing:?} of {} words", union.len());
}

/// The case files' own list of reasons: each is in the registry with the same code, rule and blame.
#[test]
fn the_cases_list_of_reasons_is_in_the_registry() {
    let list: Vec<serde_json::Value> = serde_json::from_str(include_str!("cases/codes.json")).unwrap();
    for row in &list {
        let word = row.get("reason").and_then(serde_json::Value::as_str).unwrap();
        let reason = Reason::of_word(word).unwrap_or_else(|| panic!("{word}"));
        let own = serde_json::json!({"reason": word, "code": reason.code(), "rule": reason.rule(), "blame": reason.blame().word()});
        assert_eq!(&own, row);
    }
    assert!(list.len() > 70);
    let words: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.word()).collect();
    assert_eq!(words.len(), Reason::ALL.len(), "no word twice");
    assert!(Reason::ALL.iter().all(|reason| Error::new(*reason).message().starts_with(reason.code())));
}
