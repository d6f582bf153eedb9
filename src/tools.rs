//! The catalog of a run: governed names, their names on the wire (P-14), definitions, policies (K-06), digests.

use crate::error::{Error, Reason};
use crate::json::{Object, Value, canonical, hash};
use std::collections::BTreeMap;

/// Names on the wire are at most this long.
const MAX_WIRE_NAME: usize = 64;
/// Of a longer name so many characters are kept, before the hash.
const KEPT: usize = 48;

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// The governed name (`pack:tool`).
    pub name: String,
    /// What it does, for the model.
    pub description: Option<String>,
    /// Canonical JSON Schema text of its input.
    pub input_schema: String,
}

/// What a tool's manifest declares (K-06), as far as this version acts on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPolicy {
    /// The approval class it needs.
    pub approval_class: Option<String>,
    /// Whether it changes something; absent counts as true.
    pub side_effecting: bool,
    /// Its deadline in milliseconds.
    pub timeout_ms: u64,
    /// Whether it reads integers beyond 2^53 - 1 from the input text itself (N-04).
    pub big_integers: bool,
}

impl Default for ToolPolicy {
    fn default() -> Self {
        ToolPolicy {
            approval_class: None,
            side_effecting: true,
            timeout_ms: crate::limits::TOOL_TIMEOUT_MS,
            big_integers: false,
        }
    }
}

impl ToolPolicy {
    /// Reads the object of the public API. Unknown members are refused: a misspelt one must not loosen anything.
    ///
    /// # Errors
    /// `CONFIGURATION_ERROR` with the field.
    pub fn read(value: &Value<'_>, field: &str) -> Result<ToolPolicy, Error> {
        let wrong = |name: &str| Error::new(Reason::ConfigurationError).at_field(&format!("{field}.{name}"));
        let object = value.as_object().ok_or_else(|| Error::new(Reason::ConfigurationError).at_field(field))?;
        let mut policy = ToolPolicy::default();
        for (name, member) in object.iter() {
            match (name, member) {
                (_, Value::Null) => return Err(wrong(name)),
                ("approval_class", Value::String(class)) if !class.is_empty() => {
                    policy.approval_class = Some(class.to_string())
                }
                ("side_effecting", Value::Bool(flag)) => policy.side_effecting = *flag,
                ("big_integers", Value::Bool(flag)) => policy.big_integers = *flag,
                ("timeout_s", member) => policy.timeout_ms = seconds(member).ok_or_else(|| wrong(name))?,
                ("effect_deadline_s", member) => {
                    seconds(member).ok_or_else(|| wrong(name))?;
                }
                ("in_doubt", Value::String(word))
                    if matches!(word.as_ref(), "ask" | "retry_same_key" | "reconcile") => {}
                ("on_throw", Value::String(word)) if matches!(word.as_ref(), "failed" | "in_doubt") => {}
                _ => return Err(wrong(name)),
            }
        }
        Ok(policy)
    }
}

/// Positive seconds, at most a week, as milliseconds.
fn seconds(value: &Value<'_>) -> Option<u64> {
    const WEEK_MS: u64 = 604_800_000;
    let Value::Number(number) = value else {
        return None;
    };
    crate::budget::milliseconds(*number).filter(|ms| (1..=WEEK_MS).contains(ms))
}

impl ToolDefinition {
    /// Reads the object of the public API.
    ///
    /// # Errors
    /// `INVALID_INPUT` with the field, `TOOL_NAME_RESERVED`.
    pub fn read(value: &Value<'_>, field: &str) -> Result<ToolDefinition, Error> {
        let wrong = |name: &str| Error::new(Reason::InvalidInput).at_field(&format!("{field}.{name}"));
        let object = value.as_object().ok_or_else(|| Error::new(Reason::InvalidInput).at_field(field))?;
        let name =
            object.get("name").and_then(Value::as_str).filter(|name| !name.is_empty()).ok_or_else(|| wrong("name"))?;
        if name.starts_with("agent-runtime:") {
            return Err(Error::new(Reason::ToolNameReserved).at_field(&format!("{field}.name")));
        }
        let description = match object.get("description") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.to_string()),
            Some(_) => return Err(wrong("description")),
        };
        let input_schema = match object.get("input_schema") {
            None | Some(Value::Null) => "{\"properties\":{},\"type\":\"object\"}".to_owned(),
            Some(schema @ Value::Object(_)) => canonical(schema),
            Some(_) => return Err(wrong("input_schema")),
        };
        Ok(ToolDefinition { name: name.to_owned(), description, input_schema })
    }
}

/// The hash an approval, a claim and a receipt are bound to.
#[must_use]
pub fn action_hash(name: &str, input: &Value<'_>) -> String {
    hash("turnkeep/action/v1", &[&Value::text(name), input])
}

/// The name of a tool on the wire: characters a protocol forbids become `_`, long names keep their beginning and a hash.
#[must_use]
pub fn wire_name(governed: &str) -> String {
    let safe: String = governed
        .chars()
        .map(|one| if one.is_ascii_alphanumeric() || matches!(one, '_' | '-') { one } else { '_' })
        .collect();
    if safe.len() <= MAX_WIRE_NAME {
        return safe;
    }
    let digest = hash("turnkeep/name/v1", &[&Value::text(governed)]);
    let short: String = digest.chars().skip("sha256:".len()).take(8).collect();
    let kept: String = safe.chars().take(KEPT).collect();
    format!("{kept}{short}")
}

/// Governed names by wire name; two tools with one wire name are refused (P-14).
///
/// # Errors
/// `TOOL_NAME_COLLISION` with the later tool's field.
pub fn name_table<'n>(names: impl Iterator<Item = &'n str>, field: &str) -> Result<BTreeMap<String, String>, Error> {
    let mut table = BTreeMap::new();
    for (at, name) in names.enumerate() {
        if table.insert(wire_name(name), name.to_owned()).is_some() {
            return Err(Error::new(Reason::ToolNameCollision).at_field(&format!("{field}[{at}].name")));
        }
    }
    Ok(table)
}

/// Reads `tool_catalog` or `tools`; absent is none.
///
/// # Errors
/// As [`ToolDefinition::read`] and [`name_table`].
pub fn read_catalog(
    object: &Object<'_>,
    member: &str,
) -> Result<(Vec<ToolDefinition>, BTreeMap<String, String>), Error> {
    let items = match object.get(member) {
        None | Some(Value::Null) => &[],
        Some(Value::Array(items)) => items.as_slice(),
        Some(_) => return Err(Error::new(Reason::InvalidInput).at_field(member)),
    };
    let tools = items
        .iter()
        .enumerate()
        .map(|(at, item)| ToolDefinition::read(item, &format!("{member}[{at}]")))
        .collect::<Result<Vec<_>, _>>()?;
    let names = name_table(tools.iter().map(|tool| tool.name.as_str()), member)?;
    Ok((tools, names))
}
