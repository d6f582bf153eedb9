//! The `agent_runtime` object of a host's configuration: models, limits, approval classes, policies. Unknown members are refused.

use crate::cost::Prices;
use crate::error::{Error, Reason};
use crate::json::{Object, Value};
use crate::limits::{MAX_OUTPUT_TOKENS, ProviderLimits};
use crate::provider::{Protocol, Quirks};

/// One entry of `agent_runtime.models`.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelProfile {
    /// The protocol of its endpoint.
    pub protocol: Protocol,
    /// The provider's model name.
    pub model: String,
    /// Up to and without `/chat/completions` or `/messages`.
    pub base_url: String,
    /// Output tokens asked for (P-10).
    pub max_output_tokens: u64,
    /// The Chat member that carries them.
    pub max_tokens_field: &'static str,
    /// Normalisations of its quirk profile.
    pub quirks: Quirks,
    /// Trusted prices.
    pub prices: Option<Prices>,
    /// More members of the body.
    pub request: Object<'static>,
}

fn wrong(field: &str) -> Error {
    Error::new(Reason::ConfigurationError).at_field(field)
}

fn known(object: &Object<'_>, field: &str, names: &[&str]) -> Result<(), Error> {
    match object.iter().find(|(name, _)| !names.contains(name)) {
        Some((name, _)) => Err(wrong(&format!("{field}.{name}"))),
        None => Ok(()),
    }
}

fn text<'v>(object: &'v Object<'_>, name: &str, field: &str) -> Result<&'v str, Error> {
    match object.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        _ => Err(wrong(&format!("{field}.{name}"))),
    }
}

impl ModelProfile {
    /// Reads a profile.
    ///
    /// # Errors
    /// `CONFIGURATION_ERROR` with the field.
    pub fn read(value: &Value<'_>, field: &str) -> Result<ModelProfile, Error> {
        let object = value.as_object().ok_or_else(|| wrong(field))?;
        let at = |name: &str| format!("{field}.{name}");
        known(
            object,
            field,
            &["protocol", "model", "base_url", "max_output_tokens", "max_tokens_field", "quirks", "prices", "request"],
        )?;
        let protocol = Protocol::of_word(text(object, "protocol", field)?).ok_or_else(|| wrong(&at("protocol")))?;
        let base_url = text(object, "base_url", field)?;
        if !(base_url.starts_with("https://") || base_url.starts_with("http://"))
            || base_url.chars().any(char::is_whitespace)
        {
            return Err(wrong(&at("base_url")));
        }
        let max_output_tokens = match object.get("max_output_tokens") {
            None => MAX_OUTPUT_TOKENS,
            Some(value) => value.as_u64().filter(|count| *count > 0).ok_or_else(|| wrong(&at("max_output_tokens")))?,
        };
        let max_tokens_field = match object.get("max_tokens_field").map(Value::as_str) {
            None | Some(Some("max_completion_tokens")) => "max_completion_tokens",
            Some(Some("max_tokens")) => "max_tokens",
            Some(_) => return Err(wrong(&at("max_tokens_field"))),
        };
        let quirks = match object.get("quirks") {
            None => Some(Quirks::default()),
            Some(name) => name.as_str().and_then(|name| Quirks::of_profile(name, protocol)),
        };
        let quirks = quirks.ok_or_else(|| wrong(&at("quirks")))?;
        Ok(ModelProfile {
            protocol,
            model: text(object, "model", field)?.to_owned(),
            base_url: base_url.to_owned(),
            max_output_tokens,
            max_tokens_field,
            quirks,
            prices: object.get("prices").map(|value| Prices::read(value, &at("prices"))).transpose()?,
            request: request(object.get("request"), protocol, &at("request"))?,
        })
    }
}

/// Members that are ours, and those that would leave the contract (P-13), are refused.
fn request(value: Option<&Value<'_>>, protocol: Protocol, field: &str) -> Result<Object<'static>, Error> {
    const OURS: &[&str] = &[
        "model",
        "messages",
        "system",
        "stream",
        "stream_options",
        "tools",
        "max_tokens",
        "max_completion_tokens",
        "n",
        "functions",
        "function_call",
        "betas",
        "mcp_servers",
        "container",
        "web_search_options",
    ];
    let object = match value {
        None => return Ok(Object::default()),
        Some(Value::Object(object)) => object,
        Some(_) => return Err(wrong(field)),
    };
    for (name, value) in object.iter() {
        let named_choice = name == "tool_choice" && protocol == Protocol::Chat && value.as_str().is_none();
        if OURS.contains(&name) || named_choice {
            return Err(wrong(&format!("{field}.{name}")));
        }
    }
    match Value::Object(object.clone()).into_owned() {
        Value::Object(object) => Ok(object),
        _ => Err(wrong(field)),
    }
}

/// Checks a whole configuration.
///
/// # Errors
/// `CONFIGURATION_ERROR`, `LIMIT_INVALID`, with the field.
pub fn check_config(value: &Value<'_>) -> Result<(), Error> {
    let object = value.as_object().ok_or_else(|| wrong("agent_runtime"))?;
    known(object, "agent_runtime", &["limits", "models", "approval_classes", "policies"])?;
    if let Some(limits) = object.get("limits") {
        check_pack_limits(limits, "agent_runtime.limits")?;
    }
    let models = object.get("models").and_then(Value::as_object).ok_or_else(|| wrong("agent_runtime.models"))?;
    for (name, profile) in models.iter() {
        ModelProfile::read(profile, &format!("agent_runtime.models.{name}"))?;
    }
    if let Some(classes) = object.get("approval_classes") {
        check_classes(classes, "agent_runtime.approval_classes")?;
    }
    match object.get("policies") {
        None => {}
        Some(Value::Array(policies)) => {
            for (at, policy) in policies.iter().enumerate() {
                check_policy(policy, &format!("agent_runtime.policies[{at}]"))?;
            }
        }
        Some(_) => return Err(wrong("agent_runtime.policies")),
    }
    Ok(())
}

/// Checks `PackLimits` and gives its provider bounds.
///
/// # Errors
/// `CONFIGURATION_ERROR`, `LIMIT_INVALID`, with the field.
pub fn check_pack_limits(value: &Value<'_>, field: &str) -> Result<ProviderLimits, Error> {
    let object = value.as_object().ok_or_else(|| wrong(field))?;
    known(object, field, &["max_steps", "max_cost_usd", "max_duration_s", "max_tool_calls_per_session", "provider"])?;
    // The ceilings themselves must be usable numbers: read as limits of a run that gives none of its own.
    let mut own = Object::default();
    for name in ["max_steps", "max_cost_usd", "max_duration_s"] {
        own.set(name, object.get(name).cloned().unwrap_or(Value::Null).into_owned());
    }
    crate::budget::Limits::read(&own, None)?;
    tool_calls_per_session(object.get("max_tool_calls_per_session"), field)?;
    match object.get("provider") {
        None => Ok(ProviderLimits::default()),
        Some(Value::Object(limits)) => ProviderLimits::default().read(limits, &format!("{field}.provider")),
        Some(_) => Err(wrong(&format!("{field}.provider"))),
    }
}

/// Reads `max_tool_calls_per_session` (L-01).
///
/// # Errors
/// `LIMIT_INVALID` with the field.
pub fn tool_calls_per_session(value: Option<&Value<'_>>, field: &str) -> Result<u64, Error> {
    match value {
        None => Ok(crate::limits::MAX_TOOL_CALLS_PER_SESSION),
        Some(value) => value
            .as_u64()
            .filter(|count| *count <= 9_007_199_254_740_991)
            .ok_or_else(|| Error::new(Reason::LimitInvalid).at_field(&format!("{field}.max_tool_calls_per_session"))),
    }
}

/// Checks `approval_classes` (C-01).
///
/// # Errors
/// `CONFIGURATION_ERROR` with the field.
pub fn check_classes(value: &Value<'_>, field: &str) -> Result<(), Error> {
    let classes = value.as_object().ok_or_else(|| wrong(field))?;
    let mut defaults = 0_u32;
    for (name, class) in classes.iter() {
        let place = format!("{field}.{name}");
        let object = class.as_object().ok_or_else(|| wrong(&place))?;
        for (member, value) in object.iter() {
            let fits = match member {
                "auto_approve_allowed" | "distinct_approver" | "default_for_side_effects" => {
                    matches!(value, Value::Bool(_))
                }
                "expires_in_s" => is_positive_seconds(value),
                "title" => matches!(value, Value::String(_)),
                _ => false,
            };
            if !fits {
                return Err(wrong(&format!("{place}.{member}")));
            }
        }
        if matches!(object.get("default_for_side_effects"), Some(Value::Bool(true))) {
            defaults = defaults.saturating_add(1);
        }
    }
    if defaults > 1 { Err(wrong(&format!("{field}.*.default_for_side_effects"))) } else { Ok(()) }
}

/// Checks one narrower policy (C-02): it can ask, deny or shorten, never allow.
///
/// # Errors
/// `CONFIGURATION_ERROR` with the field.
pub fn check_policy(value: &Value<'_>, field: &str) -> Result<(), Error> {
    let object = value.as_object().ok_or_else(|| wrong(field))?;
    for (member, value) in object.iter() {
        let fits = match member {
            "tenant_subject" | "tool" | "approval_class" => matches!(value, Value::String(_)),
            "verdict" => matches!(value.as_str(), Some("ask" | "deny")),
            "expires_in_s" => is_positive_seconds(value),
            _ => false,
        };
        if !fits {
            return Err(wrong(&format!("{field}.{member}")));
        }
    }
    Ok(())
}

fn is_positive_seconds(value: &Value<'_>) -> bool {
    matches!(value, Value::Number(number) if crate::budget::milliseconds(*number).is_some_and(|ms| ms > 0))
}
