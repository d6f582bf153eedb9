//! The twin: a batch comes from admission.
use turnkeep::admission::{AdmittedBatch, RunnableTurn, admit};

fn made(turn: RunnableTurn) -> Option<AdmittedBatch> {
    admit(turn, 0, 1).ok()
}

fn main() {
    let batch: fn(RunnableTurn) -> Option<AdmittedBatch> = made;
    drop::<fn(RunnableTurn) -> Option<AdmittedBatch>>(batch);
}
