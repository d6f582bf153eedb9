//! Every number in the product with its default (S-01..S-07, S-10, S-23). A host may raise or lower each, never remove it.

use crate::error::{Error, Reason};
use crate::json::{MAX_DEPTH, Object, Value};

macro_rules! provider_limits {
    ($($name:ident $default:literal $what:literal;)*) => {
        /// Bounds on what a provider sends in one response.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct ProviderLimits { $(#[doc = $what] pub $name: u64,)* }

        impl Default for ProviderLimits {
            fn default() -> Self { ProviderLimits { $($name: $default,)* } }
        }

        impl ProviderLimits {
            /// Takes the members that are given; a missing one keeps its value.
            ///
            /// # Errors
            /// `LIMIT_INVALID` for a member that is not a positive integer, `CONFIGURATION_ERROR` for an unknown one.
            pub fn read(mut self, object: &Object<'_>, field: &str) -> Result<Self, Error> {
                for (name, value) in object.iter() {
                    match name {
                        // Envelopes and the stack must hold what one text may nest: this bound can only be lowered.
                        "max_json_depth" if value.as_u64().is_none_or(|depth| depth > u64::from(MAX_DEPTH)) => {
                            return Err(Error::new(Reason::LimitInvalid).at_field(&format!("{field}.{name}")));
                        }
                        $(stringify!($name) => self.$name = positive(value, &format!("{field}.{name}"))?,)*
                        _ => return Err(Error::new(Reason::ConfigurationError).at_field(&format!("{field}.{name}"))),
                    }
                }
                Ok(self)
            }

            /// The limits as a JSON text.
            #[must_use]
            pub fn to_json(&self) -> String {
                let members = [$(format!("\"{}\":{}", stringify!($name), self.$name),)*];
                format!("{{{}}}", members.join(","))
            }
        }
    };
}

provider_limits! {
    max_response_bytes 8_388_608 "Bytes of a body that is not a stream (S-01).";
    max_stream_bytes 33_554_432 "Bytes of a stream (S-02).";
    max_event_bytes 4_194_304 "Bytes kept of one unfinished event (S-03).";
    max_events 200_000 "Events of a stream (S-03).";
    max_snapshots 100_000 "Deltas of a stream, whether or not anybody listens (S-04).";
    max_content_blocks 256 "Content blocks of a turn (S-05).";
    max_tool_calls 128 "Tool calls of a turn (S-06).";
    max_tool_argument_bytes 1_048_576 "UTF-8 bytes of arguments of a turn, all calls together (S-07).";
    max_json_depth 64 "Containers that may stand in one another (N-01).";
    drain_ms 250 "Milliseconds from the terminal marker to the end of the drain (S-10).";
    head_timeout_ms 60_000 "Milliseconds to the response head (S-23).";
    idle_timeout_ms 60_000 "Milliseconds between two reads (S-23).";
    call_timeout_ms 600_000 "Milliseconds of one model call (S-23).";
}

/// Calls of one run, resumes included, unless the host says otherwise (L-01).
pub const MAX_TOOL_CALLS_PER_SESSION: u64 = 1000;
/// Output tokens asked for unless the profile says otherwise (P-10).
pub const MAX_OUTPUT_TOKENS: u64 = 4096;
/// A tool's deadline unless its policy says otherwise, in milliseconds.
pub const TOOL_TIMEOUT_MS: u64 = 120_000;
/// The largest tool output, in bytes of JSON text.
pub const MAX_TOOL_OUTPUT_BYTES: usize = 4_194_304;

fn positive(value: &Value<'_>, field: &str) -> Result<u64, Error> {
    match value.as_u64() {
        Some(number) if number > 0 && number <= 9_007_199_254_740_991 => Ok(number),
        _ => Err(Error::new(Reason::LimitInvalid).at_field(field)),
    }
}
