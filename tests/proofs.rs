//! What must not compile: nothing makes a proof value but the room that gives the proof. Each refusal has a twin that makes the
#![cfg(not(target_arch = "wasm32"))]
//! value where it belongs and compiles, so that a typo cannot pass for a proof.

#[test]
fn proof_values_cannot_be_made_outside_their_room() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/proofs/*_refused.rs");
    cases.pass("tests/proofs/*_twin.rs");
    let files = std::fs::read_dir("tests/proofs").into_iter().flatten().flatten();
    assert_eq!(files.filter(|file| file.path().extension().is_some_and(|end| end == "rs")).count(), 6);
}
