//! Step records (T-01..T-05): one for each model call and each declared tool call.

use crate::error::{Error, Reason, bounded};
use crate::json::{Object, Value, array, canonical, object, quote};

/// Characters of `intent_text`.
const MAX_INTENT: usize = 500;
/// Characters of `action_summary`.
const MAX_SUMMARY: usize = 200;

/// What a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One attempt at one turn.
    ModelCall,
    /// One declared call, run or not.
    ToolCall,
}

impl Kind {
    /// The word in records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::ModelCall => "model_call",
            Kind::ToolCall => "tool_call",
        }
    }
}

/// How it ended (T-04).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepStatus {
    /// It worked.
    Completed,
    /// It failed.
    Failed,
    /// It was not allowed.
    Denied,
    /// Nobody decided in time.
    Expired,
}

impl StepStatus {
    const ALL: [StepStatus; 4] = [StepStatus::Completed, StepStatus::Failed, StepStatus::Denied, StepStatus::Expired];

    /// The word in records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            StepStatus::Completed => "completed",
            StepStatus::Failed => "failed",
            StepStatus::Denied => "denied",
            StepStatus::Expired => "expired",
        }
    }
}

/// One record.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// From 0, in start order.
    pub index: u64,
    /// What it is.
    pub kind: Kind,
    /// Untrusted text before the call.
    pub intent_text: String,
    /// `tool(name) path=value ...`.
    pub action_summary: String,
    /// How it ended.
    pub status: StepStatus,
    /// `code:X`, `receipt:<hash>`, `quirk:<name>`.
    pub evidence_refs: Vec<String>,
    /// Nano-USD; `None` is unknown (T-03).
    pub cost: Option<u128>,
    /// Milliseconds since the epoch.
    pub started_at: u64,
    /// Milliseconds since the epoch.
    pub ended_at: u64,
    /// Whether a stored result was returned instead of running.
    pub replayed: bool,
}

impl Step {
    /// `step-<index>`.
    #[must_use]
    pub fn id(&self) -> String {
        step_id(self.index)
    }

    /// The record of the public API as JSON text.
    #[must_use]
    pub fn to_json(&self) -> String {
        object(&[
            ("step_id", quote(&self.id())),
            ("index", self.index.to_string()),
            ("kind", quote(self.kind.word())),
            ("intent_text", quote(&self.intent_text)),
            ("action_summary", quote(&self.action_summary)),
            ("status", quote(self.status.word())),
            ("evidence_refs", array(self.evidence_refs.iter().map(|one| quote(one)))),
            ("cost_usd", self.cost.map_or("null".to_owned(), crate::budget::usd)),
            ("started_at", quote(&timestamp(self.started_at))),
            ("ended_at", quote(&timestamp(self.ended_at))),
            ("replayed", self.replayed.to_string()),
        ])
    }

    /// Reads a record and refuses anything that is not one (T-01): unknown members too.
    ///
    /// # Errors
    /// `INVALID_INPUT` with the field.
    pub fn read(value: &Value<'_>) -> Result<Step, Error> {
        const KNOWN: &[&str] = &[
            "step_id",
            "index",
            "kind",
            "intent_text",
            "action_summary",
            "status",
            "evidence_refs",
            "cost_usd",
            "started_at",
            "ended_at",
            "replayed",
        ];
        let wrong = |field: &str| Error::new(Reason::InvalidInput).at_field(field);
        let record = value.as_object().ok_or_else(|| wrong("step"))?;
        if let Some((name, _)) = record.iter().find(|(name, _)| !KNOWN.contains(name)) {
            return Err(wrong(name));
        }
        let text = |name: &str| record.get(name).and_then(Value::as_str).ok_or_else(|| wrong(name));
        let index = record
            .get("index")
            .and_then(Value::as_u64)
            .filter(|n| *n <= 9_007_199_254_740_991)
            .ok_or_else(|| wrong("index"))?;
        if text("step_id")? != step_id(index) {
            return Err(wrong("step_id"));
        }
        let within = |name: &str, max: usize| {
            text(name).and_then(|text| if text.chars().count() <= max { Ok(text) } else { Err(wrong(name)) })
        };
        let status = text("status")?;
        let refs = record.get("evidence_refs").and_then(Value::as_array).ok_or_else(|| wrong("evidence_refs"))?;
        let evidence_refs = refs
            .iter()
            .map(|one| one.as_str().map(str::to_owned).ok_or_else(|| wrong("evidence_refs")))
            .collect::<Result<_, _>>()?;
        let time = |name: &str| text(name).and_then(|text| read_timestamp(text).ok_or_else(|| wrong(name)));
        Ok(Step {
            index,
            kind: match text("kind")? {
                "model_call" => Kind::ModelCall,
                "tool_call" => Kind::ToolCall,
                _ => return Err(wrong("kind")),
            },
            intent_text: within("intent_text", MAX_INTENT)?.to_owned(),
            action_summary: within("action_summary", MAX_SUMMARY)?.to_owned(),
            status: StepStatus::ALL.into_iter().find(|one| one.word() == status).ok_or_else(|| wrong("status"))?,
            evidence_refs,
            cost: match record.get("cost_usd") {
                Some(Value::Null) => None,
                Some(Value::Number(number)) => Some(crate::budget::nano_usd(*number).ok_or_else(|| wrong("cost_usd"))?),
                _ => return Err(wrong("cost_usd")),
            },
            started_at: time("started_at")?,
            ended_at: time("ended_at")?,
            replayed: match record.get("replayed") {
                Some(Value::Bool(replayed)) => *replayed,
                _ => return Err(wrong("replayed")),
            },
        })
    }
}

/// `step-<index>`.
#[must_use]
pub fn step_id(index: u64) -> String {
    format!("step-{index}")
}

/// The first characters of a text.
fn cut(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}

/// The assistant text before a call, cut (T-05).
#[must_use]
pub fn intent(text: &str) -> String {
    cut(text, MAX_INTENT)
}

/// `tool(name) path=value ...`, cut (T-05).
#[must_use]
pub fn summary(name: &str, input: &Value<'_>) -> String {
    let mut out = format!("tool({})", bounded(name, MAX_SUMMARY));
    leaves(input, "", &mut out);
    cut(&out, MAX_SUMMARY)
}

fn leaves(value: &Value<'_>, path: &str, out: &mut String) {
    // What is past the cut need not be written.
    if out.len() > MAX_SUMMARY.saturating_mul(4) {
        return;
    }
    match value {
        Value::Object(object) if !object.is_empty() => members(object, path, out),
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                leaves(item, &format!("{path}[{at}]"), out);
            }
        }
        Value::String(text) => out.push_str(&format!(" {path}={}", quote(bounded(text, MAX_SUMMARY)))),
        _ if path.is_empty() => {}
        _ => out.push_str(&format!(" {path}={}", canonical(value))),
    }
}

fn members(object: &Object<'_>, path: &str, out: &mut String) {
    for (key, member) in object.iter() {
        let key = bounded(key, MAX_SUMMARY);
        let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        leaves(member, &path, out);
    }
}

/// RFC 3339, UTC, milliseconds.
#[must_use]
pub fn timestamp(epoch_ms: u64) -> String {
    const DAY_MS: u64 = 86_400_000;
    let (days, ms) = (epoch_ms / DAY_MS, epoch_ms % DAY_MS);
    // Civil from days, in the era of 400 years that begins on 1 March.
    let z = days.saturating_add(719_468);
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = doe.saturating_sub(doe / 1460).saturating_add(doe / 36_524).saturating_sub(doe / 146_096) / 365;
    let doy = doe.saturating_sub(yoe.saturating_mul(365).saturating_add(yoe / 4).saturating_sub(yoe / 100));
    let mp = doy.saturating_mul(5).saturating_add(2) / 153;
    let day = doy.saturating_sub(mp.saturating_mul(153).saturating_add(2) / 5).saturating_add(1);
    let month = if mp < 10 { mp.saturating_add(3) } else { mp.saturating_sub(9) };
    let year = yoe.saturating_add(era.saturating_mul(400)).saturating_add(u64::from(month <= 2));
    let (hour, minute, second, milli) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z")
}

/// Reads what [`timestamp`] writes, and nothing else.
#[must_use]
pub fn read_timestamp(text: &str) -> Option<u64> {
    let part = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second, milli) = (part(11, 13)?, part(14, 16)?, part(17, 19)?, part(20, 23)?);
    let shifted = year.checked_sub(u64::from(month <= 2))?;
    let (era, yoe) = (shifted / 400, shifted % 400);
    let mp = if month > 2 { month.checked_sub(3)? } else { month.checked_add(9)? };
    let doy = (mp.checked_mul(153)?.checked_add(2)? / 5).checked_add(day)?.checked_sub(1)?;
    let doe = yoe.checked_mul(365)?.checked_add(yoe / 4)?.checked_sub(yoe / 100)?.checked_add(doy)?;
    let days = era.checked_mul(146_097)?.checked_add(doe)?.checked_sub(719_468)?;
    let seconds = days
        .checked_mul(86_400)?
        .checked_add(hour.checked_mul(3600)?)?
        .checked_add(minute.checked_mul(60)?)?
        .checked_add(second)?;
    let epoch_ms = seconds.checked_mul(1000)?.checked_add(milli)?;
    // Writing it again finds every other spelling and every date that does not exist.
    (timestamp(epoch_ms) == text).then_some(epoch_ms)
}

/// Reads a cost in USD as nano-USD; anything that is no such number is unknown (K-05).
#[must_use]
pub fn cost_of(value: Option<&Value<'_>>) -> Option<u128> {
    match value {
        // Above a million US dollars a cost is a mistake of its unit, and its sum would lose digits as a JSON number.
        Some(Value::Number(number)) if number.as_f64() <= 1e6 => crate::budget::nano_usd(*number),
        _ => None,
    }
}
