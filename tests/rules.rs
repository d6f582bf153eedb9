//! Every rule id that this version claims stands in the code, in a case or a test, and in `docs/rules.md` (D5).
#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Lists of rules that hold none of them.
const LISTS: &[&str] = &["rules-later.json", "codes.json"];

/// Every text below a folder.
fn texts(folder: &str, endings: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(path) = open.pop() {
        for entry in std::fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "node_modules" && name != "generated" {
                open.push(path);
            } else if !LISTS.contains(&name.as_str()) && endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// Ids such as `S-10`; in names of tests they are written `s_10`. `P-01..P-08` names all between.
fn ids(texts: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for text in texts {
        let mut last: Option<(char, u32, usize)> = None;
        for (at, _) in text.char_indices() {
            let rest = text.get(at..).unwrap();
            let mut chars = rest.chars();
            let (Some(letter), Some(dash), Some(ten), Some(one)) =
                (chars.next(), chars.next(), chars.next(), chars.next())
            else {
                continue;
            };
            let own = text
                .get(..at)
                .and_then(|before| before.chars().next_back())
                .is_none_or(|before| !before.is_alphanumeric());
            let end = chars.next().is_none_or(|next| !next.is_ascii_digit());
            if own
                && end
                && letter.is_ascii_alphabetic()
                && (dash == '-' || dash == '_')
                && ten.is_ascii_digit()
                && one.is_ascii_digit()
            {
                let letter = letter.to_ascii_uppercase();
                let number = ten.to_digit(10).unwrap() * 10 + one.to_digit(10).unwrap();
                let from = match last {
                    Some((before, first, end)) if before == letter && text.get(end..at) == Some("..") => first,
                    _ => number,
                };
                found.extend((from..=number).map(|number| format!("{letter}-{number:02}")));
                last = Some((letter, number, at + 4));
            }
        }
    }
    found
}

#[test]
fn every_rule_of_this_version_is_in_code_and_in_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rules = ids(&[std::fs::read_to_string(root.join("docs/rules.md")).unwrap()]);
    let later: BTreeMap<String, String> =
        serde_json::from_str(&std::fs::read_to_string(root.join("tests/rules-later.json")).unwrap()).unwrap();
    let code = ids(&[texts("src", &[".rs"]), texts("bindings/src", &[".ts"])].concat());
    let tests = ids(&texts("tests", &[".rs", ".mjs", ".json", ".ts"]));
    assert!(rules.len() > 120, "{} rules were read", rules.len());
    let mut wrong = Vec::new();
    for rule in &rules {
        let (in_code, in_tests) = (code.contains(rule), tests.contains(rule));
        if !(later.contains_key(rule) || (in_code && in_tests)) {
            wrong.push(format!("{rule}: in code {in_code}, in a test {in_tests}"));
        }
    }
    wrong.extend(
        later
            .keys()
            .filter(|rule| !rules.contains(*rule))
            .map(|rule| format!("{rule} is listed as later and is no rule")),
    );
    println!("{} rules, {} of them for later", rules.len(), later.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
