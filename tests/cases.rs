//! The committed cases against the core, natively: each as in its file, whole, byte by byte, at every cut.
#![allow(clippy::unwrap_used, clippy::panic)]
mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use support::check::Tally;

#[path = "support/embedded.rs"]
mod embedded;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/turns")
}

fn files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".json") {
            files.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
    files
}

#[test]
fn every_case_is_right_however_it_is_read() {
    let mut tally = Tally::default();
    for (name, text) in files() {
        tally.check(&name, &text);
    }
    println!("{} cases, {} runs", tally.cases, tally.runs);
    let known = include_str!("known-failures.json");
    if let Err(wrong) = tally.verdict(known) {
        panic!("{} of {} cases\n{wrong}", tally.wrong.len(), tally.cases);
    }
}

/// The browser test holds every file: `cargo xtask generate` writes the list.
#[test]
fn the_embedded_list_is_the_folder() {
    let embedded: BTreeMap<String, String> =
        embedded::CASES.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    assert_eq!(embedded.keys().collect::<Vec<_>>(), files().keys().collect::<Vec<_>>(), "run: cargo xtask generate");
    assert_eq!(embedded, files());
}
