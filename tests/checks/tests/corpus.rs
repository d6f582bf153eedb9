//! The fuzz corpus on stable: every kept input, and every committed case as the fuzzer's seeds have it, against the same promises.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use turnkeep_checks::fuzz::{TARGETS, run, seeds};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Files of a folder by name; none is a failure of whoever expects some.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn every_input_of_the_corpus_keeps_the_promises() {
    for (target, _) in TARGETS {
        let inputs = files(&root().join("fuzz/corpus").join(target));
        for (name, input) in &inputs {
            println!("{target}/{name}");
            run(target, input);
        }
        println!("{target}: {} inputs", inputs.len());
        assert!(!inputs.is_empty(), "no corpus for {target}");
    }
}

#[test]
fn every_case_keeps_them_too_under_each_limit_and_hold() {
    let cases = files(&root().join("tests/cases/turns"));
    let mut count = 0;
    for (name, text) in cases.iter().filter(|(name, _)| name.ends_with(".json")) {
        for (target, input) in
            seeds(std::str::from_utf8(text).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"))
        {
            run(target, &input);
            count += 1;
        }
    }
    println!("{count} seeds");
    assert!(count > 0, "no cases");
}
