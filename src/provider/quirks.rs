//! Quirk profiles: named normalisations that a model entry may switch on. The default is strict.
//!
//! No profile weakens what calls are and when they may run: P-01 to P-08, P-18 to P-20, S-01 to S-15, S-21 and N hold under each.

use super::Protocol;
use crate::json::{object, quote};
use std::collections::BTreeMap;

/// `arguments` is an object instead of its text; its canonical text stands for it.
pub(crate) const OBJECT_ARGUMENTS: &str = "object_arguments";
/// Every call has index 0 and its own id and name.
pub(crate) const REPEATED_INDEX: &str = "repeated_index";
/// The stream ends after its reason without `[DONE]`.
pub(crate) const MISSING_DONE: &str = "missing_done";

/// Each normalisation and what it does.
const QUIRKS: &[(&str, &str)] = &[
    (OBJECT_ARGUMENTS, "arguments that are a JSON object are read as its canonical text"),
    (REPEATED_INDEX, "calls that all have index 0, each with its own id and name, are told apart by their ids"),
    (MISSING_DONE, "a stream that ends by itself after its finish reason needs no [DONE]"),
];

/// A named set of them.
#[derive(Debug, Clone, Copy)]
pub struct Profile {
    /// The name in a model entry.
    pub name: &'static str,
    /// The protocol it belongs to; a profile without a quirk of either serves both.
    pub protocol: Option<Protocol>,
    /// Names of its normalisations.
    pub quirks: &'static [&'static str],
    /// Where the behaviour was seen.
    pub seen_at: &'static str,
}

/// The one table.
pub const PROFILES: &[Profile] = &[
    Profile { name: "strict", protocol: None, quirks: &[], seen_at: "the default" },
    Profile {
        name: "gemini-compat",
        protocol: Some(Protocol::Chat),
        quirks: &[REPEATED_INDEX],
        seen_at: "reported of Gemini through its OpenAI-compatible endpoint: parallel calls all have index 0",
    },
    Profile {
        name: "ollama",
        protocol: Some(Protocol::Chat),
        quirks: &[REPEATED_INDEX, OBJECT_ARGUMENTS],
        seen_at: "reported of Ollama and front ends that hand its native arguments on",
    },
    Profile {
        name: "openrouter",
        protocol: Some(Protocol::Chat),
        quirks: &[REPEATED_INDEX],
        seen_at: "reported of OpenRouter: streams of upstream models that number every call 0",
    },
    Profile {
        name: "litellm",
        protocol: Some(Protocol::Chat),
        quirks: &[MISSING_DONE, REPEATED_INDEX],
        seen_at: "reported of LiteLLM and gateways that end the body instead of sending [DONE]",
    },
    Profile {
        name: "perplexity",
        protocol: Some(Protocol::Chat),
        quirks: &[MISSING_DONE],
        seen_at: "Perplexity, recorded: the stream ends after its reason without [DONE]",
    },
    Profile {
        name: "writer",
        protocol: Some(Protocol::Chat),
        quirks: &[MISSING_DONE],
        seen_at: "Writer, recorded: the stream ends after its reason without [DONE]",
    },
    Profile {
        name: "llama-cpp",
        protocol: Some(Protocol::Chat),
        quirks: &[OBJECT_ARGUMENTS],
        seen_at: "reported of llama.cpp servers and bindings that send arguments as an object",
    },
];

/// The normalisations that are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quirks {
    /// [`OBJECT_ARGUMENTS`].
    pub(crate) object_arguments: bool,
    /// [`REPEATED_INDEX`].
    pub(crate) repeated_index: bool,
    /// [`MISSING_DONE`].
    pub(crate) missing_done: bool,
}

impl Quirks {
    /// Those of a profile; none when there is no such profile or it belongs to the other protocol.
    #[must_use]
    pub fn of_profile(name: &str, protocol: Protocol) -> Option<Quirks> {
        let profile = PROFILES.iter().find(|profile| profile.name == name)?;
        if profile.protocol.is_some_and(|only| only != protocol) {
            return None;
        }
        let on = |quirk: &str| profile.quirks.contains(&quirk);
        Some(Quirks {
            object_arguments: on(OBJECT_ARGUMENTS),
            repeated_index: on(REPEATED_INDEX),
            missing_done: on(MISSING_DONE),
        })
    }
}

/// One more use of a normalisation.
pub(crate) fn count(counted: &mut BTreeMap<String, u64>, quirk: &str) {
    let times = counted.entry(quirk.to_owned()).or_insert(0);
    *times = times.saturating_add(1);
}

/// The table as the public API gives it: `QuirkProfile[]`.
#[must_use]
pub fn profiles_json() -> String {
    let sentence = |name: &str| QUIRKS.iter().find(|(quirk, _)| *quirk == name).map_or("", |(_, text)| *text);
    crate::json::array(PROFILES.iter().map(|profile| {
        let quirks: Vec<(&str, String)> = profile.quirks.iter().map(|quirk| (*quirk, quote(sentence(quirk)))).collect();
        object(&[
            ("name", quote(profile.name)),
            ("protocol", quote(profile.protocol.unwrap_or_default().word())),
            ("quirks", object(&quirks)),
            ("seen_at", quote(profile.seen_at)),
        ])
    }))
}
