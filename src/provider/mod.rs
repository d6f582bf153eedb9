//! What providers send, made into turns. Two protocols, each as a body and as a stream.
//!
//! Knows frames, limits and the tables of its protocol; nothing of runs, budgets or transport.

mod chat;
mod decoder;
mod failure;
mod finish;
mod messages;
mod meter;
mod quirks;
mod request;
mod usage;

pub use decoder::{Decoder, DecoderConfig, Delta, DeltaKind, End, Hold, Outcome};
pub use failure::{Cause, http_error};
pub use finish::{FinishReason, Status, Unified};
pub use quirks::{PROFILES, Profile, Quirks, profiles_json};
pub use request::{ANTHROPIC_VERSION, Request, build_request};

pub use usage::Usage;

pub(crate) use failure::provider_error;

/// A wire protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub enum Protocol {
    /// Chat Completions-style (P-11).
    #[default]
    Chat,
    /// Messages-style (P-12).
    Messages,
}

impl Protocol {
    /// The word in configuration and records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Protocol::Chat => "chat",
            Protocol::Messages => "messages",
        }
    }

    /// The protocol of that word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Protocol> {
        match word {
            "chat" => Some(Protocol::Chat),
            "messages" => Some(Protocol::Messages),
            _ => None,
        }
    }
}
