//! No tool without a decision (G-07): a permit is not made from a call.
use turnkeep::approval::Permit;
use turnkeep::turn::Call;

fn made(call: Call) -> Permit {
    Permit { call, action_hash: String::new(), policy: Default::default() }
}

fn main() {
    let _: fn(Call) -> Permit = made;
}
