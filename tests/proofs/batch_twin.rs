//! The twin: a batch comes from admission.
use turnkeep::admission::{AdmittedBatch, RunnableTurn, admit};

fn made(turn: RunnableTurn) -> Option<AdmittedBatch> {
    admit(turn, 0, 1).ok()
}

fn main() {
    let _: fn(RunnableTurn) -> Option<AdmittedBatch> = made;
}
