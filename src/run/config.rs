//! What a run is opened with (K-03, B-09). Everything is checked before anything happens.

use crate::budget::Limits;
use crate::config::{check_pack_limits, tool_calls_per_session};
use crate::error::{Error, Reason};
use crate::json::{Object, Value, parse_with_depth};
use crate::log::{RunRef, Saved};

/// Names of tenant, task and actor are at most this long.
const MAX_NAME_BYTES: usize = 512;

const KNOWN: &[&str] = &[
    "task_id",
    "tenant_subject",
    "actor_ref",
    "governed",
    "limits",
    "pack_limits",
    "max_tool_calls_per_session",
    "has_cost",
    "has_gate",
    "classes",
    "default_class",
    "checkpoints",
    "resume",
    "settle_cost_usd",
];

/// A checked configuration.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) run: RunRef,
    pub(super) actor_ref: String,
    pub(super) limits: Limits,
    pub(super) max_tool_calls: u64,
    pub(super) has_cost: bool,
    pub(super) classes: Vec<String>,
    pub(super) default_class: Option<String>,
    pub(super) checkpoints: bool,
    pub(super) saved: Option<Saved>,
}

fn wrong(field: &str) -> Error {
    Error::new(Reason::InvalidInput).at_field(field)
}

fn name(object: &Object<'_>, field: &str) -> Result<String, Error> {
    match object.get(field) {
        Some(Value::String(text)) if !text.is_empty() && text.len() <= MAX_NAME_BYTES => Ok(text.to_string()),
        _ => Err(wrong(field)),
    }
}

impl Config {
    pub(super) fn read(text: &str) -> Result<Config, Error> {
        let value = parse_with_depth(text, crate::json::ENVELOPE_DEPTH).map_err(|_| wrong("options"))?;
        let given = value.as_object().ok_or_else(|| wrong("options"))?;
        // A misspelt member must not loosen anything, a missing `governed` least of all.
        if let Some((name, _)) = given.iter().find(|(name, _)| !KNOWN.contains(name)) {
            return Err(wrong(name));
        }
        let flag = |name: &str| matches!(given.get(name), Some(Value::Bool(true)));
        let governed = match given.get("governed") {
            None | Some(Value::Bool(true)) => true,
            Some(Value::Bool(false)) => false,
            Some(_) => return Err(wrong("governed")),
        };
        let run = RunRef { tenant_subject: name(given, "tenant_subject")?, task_id: name(given, "task_id")? };
        let actor_ref = name(given, "actor_ref")?;
        let pack = match given.get("pack_limits") {
            None | Some(Value::Null) => None,
            Some(value) => {
                check_pack_limits(value, "packLimits")?;
                value.as_object()
            }
        };
        let limits = match given.get("limits") {
            _ if !governed => Limits::default(),
            Some(Value::Object(limits)) => Limits::read(limits, pack)?,
            _ => return Err(Error::new(Reason::LimitInvalid).at_field("limits")),
        };
        let own = given.get("max_tool_calls_per_session").filter(|value| !value.is_null());
        let ceiling = pack.and_then(|pack| pack.get("max_tool_calls_per_session"));
        let most = tool_calls_per_session(ceiling, "packLimits")?;
        let max_tool_calls = match own {
            None => most,
            Some(_) => match tool_calls_per_session(own, "options")? {
                asked if ceiling.is_some() && asked > most => {
                    return Err(Error::new(Reason::LimitAboveCeiling).at_field("options.max_tool_calls_per_session"));
                }
                asked => asked,
            },
        };
        let mut saved = match given.get("resume") {
            None | Some(Value::Null) => None,
            Some(checkpoint) => Some(Saved::read(checkpoint, &run)?),
        };
        if let Some(settled) = given.get("settle_cost_usd").and_then(Value::as_object) {
            settle(saved.as_mut().ok_or_else(|| wrong("settle_cost_usd"))?, settled)?;
        }
        let classes = given.get("classes").and_then(Value::as_array).unwrap_or_default();
        Ok(Config {
            run,
            actor_ref,
            limits,
            max_tool_calls,
            has_cost: flag("has_cost"),
            classes: classes.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            default_class: given.get("default_class").and_then(Value::as_str).map(str::to_owned),
            checkpoints: flag("checkpoints"),
            saved,
        })
    }
}

/// Gives steps of unknown cost the cost a person found out (T-03).
fn settle(saved: &mut Saved, costs: &Object<'_>) -> Result<(), Error> {
    for (id, cost) in costs.iter() {
        let field = format!("settle_cost_usd.{id}");
        let nano = crate::step::cost_of(Some(cost)).ok_or_else(|| wrong(&field))?;
        let step =
            saved.steps.iter_mut().find(|step| step.id() == id && step.cost.is_none()).ok_or_else(|| wrong(&field))?;
        step.cost = Some(nano);
        saved.spend.cost = saved.spend.cost.saturating_add(nano);
        saved.spend.unknown_cost_steps = saved.spend.unknown_cost_steps.saturating_sub(1);
    }
    Ok(())
}
