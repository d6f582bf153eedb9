//! The border, wasm32 only (design law 6): bytes, numbers and JSON text. Nothing throws; a refusal is JSON.

mod decoder;
mod functions;
mod run;

pub use decoder::Decoder;
pub use functions::*;
pub use run::Run;

use functions::refusal;
