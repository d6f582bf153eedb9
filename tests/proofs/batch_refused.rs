//! No batch without admission (L-01).
use turnkeep::admission::AdmittedBatch;

fn main() {
    let batch = AdmittedBatch(Vec::new());
    drop::<AdmittedBatch>(batch);
}
