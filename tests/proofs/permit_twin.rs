//! The twin: a permit comes from the gate.
use turnkeep::admission::AdmittedBatch;
use turnkeep::approval::{Gate, Permit, decide};

fn made(batch: AdmittedBatch) -> Option<Permit> {
    decide(&Gate::default(), &batch, 0).ok()
}

fn main() {
    let _: fn(AdmittedBatch) -> Option<Permit> = made;
}
