//! The twin: a clearance comes from the budget.
use turnkeep::budget::{Budget, Clearance};

fn main() {
    let Ok(clearance) = Budget::default().clear(true) else { return };
    drop::<Clearance>(clearance);
}
