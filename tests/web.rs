//! The committed cases against the core as wasm, in a headless browser:
//! `wasm-pack test --headless --chrome . --test web` (or `cargo xtask test`, which finds the tools).
#![cfg(target_arch = "wasm32")]
#![allow(clippy::panic)]

#[path = "support/embedded.rs"]
mod embedded;
mod support;

use support::check::Tally;
use wasm_bindgen_test::{console_log, wasm_bindgen_test};

#[wasm_bindgen_test]
fn every_case_is_right_however_it_is_read() {
    let mut tally = Tally::default();
    for (name, text) in embedded::CASES {
        tally.check(name, text);
    }
    console_log!("{} cases, {} runs", tally.cases, tally.runs);
    if let Err(wrong) = tally.verdict(include_str!("known-failures.json")) {
        panic!("{} of {} cases\n{wrong}", tally.wrong.len(), tally.cases);
    }
}
