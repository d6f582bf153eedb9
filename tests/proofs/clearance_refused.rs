//! No model call without a cleared budget (B-04).
use turnkeep::budget::Clearance;

fn main() {
    let clearance = Clearance { remaining_ms: None };
    drop::<Clearance>(clearance);
}
