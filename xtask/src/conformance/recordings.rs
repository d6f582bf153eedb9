//! The recordings: no panic, no hang, one verdict however they are read, and the outcome their hint means.
use anyhow::{Context, Result, bail};

use super::data::Recording;
use super::report::Line;
use super::runner::Runner;
use crate::shell::{read_json, root};
use crate::support::rng::Rng;
use crate::support::splits::{self, Cuts};
use crate::support::verdict::Verdict;

/// Random splits of each recording, besides whole and byte by byte.
const RANDOM: usize = 8;

pub struct RecordingResult {
    pub file: String,
    /// The outcome the hint means in today's words, and why.
    pub expected: String,
    pub why: String,
    pub verdict: Option<Verdict>,
    /// A panic, a hang, or verdicts that depend on the reads: never excused by a list.
    pub trouble: Option<String>,
}

impl RecordingResult {
    pub fn line(&self) -> Line {
        Line::new(&self.file, self.verdict.as_ref())
    }

    pub fn outcome(&self) -> &str {
        self.verdict.as_ref().map_or("none", |verdict| &verdict.outcome)
    }

    pub fn differs(&self) -> bool {
        self.outcome() != self.expected
    }

    pub fn brief(&self) -> String {
        self.verdict.as_ref().map_or_else(|| "none".into(), Verdict::brief)
    }
}

pub fn run(recordings: &[Recording], runner: &mut dyn Runner, seed: u64) -> Result<Vec<RecordingResult>> {
    recordings.iter().map(|recording| run_one(recording, runner, seed)).collect()
}

fn run_one(recording: &Recording, runner: &mut dyn Runner, seed: u64) -> Result<RecordingResult> {
    let (expected, why) = meaning(recording)?;
    let len = recording.job.body.len();
    let mut rng = Rng::for_text(seed, &recording.file);
    let mut plans: Vec<Cuts> = vec![Vec::new(), (1..len).collect()];
    plans.extend((0..RANDOM).map(|_| splits::random(len, &mut rng)));
    let (verdict, trouble) = match runner.run(&recording.job, &plans)? {
        Err(trouble) => (None, Some(trouble)),
        Ok(verdicts) => {
            let changed = verdicts.iter().find(|verdict| Some(*verdict) != verdicts.first()).map(|other| {
                let whole = verdicts.first().map(Verdict::brief).unwrap_or_default();
                format!("`{whole}` when read whole, `{}` when split", other.brief())
            });
            (verdicts.into_iter().next(), changed)
        }
    };
    Ok(RecordingResult { file: recording.file.clone(), expected, why, verdict, trouble })
}

/// The hint in today's words, by the table of the cases' README.
fn meaning(recording: &Recording) -> Result<(String, String)> {
    let hint = &recording.entry["outcome_hint"];
    let outcome = hint["outcome"].as_str().with_context(|| format!("{}: no outcome_hint", recording.file))?;
    let reason = hint["reason"].as_str();
    let has_server_tools = recording.entry["features"]["server_tools"].as_array().is_some_and(|list| !list.is_empty());
    if recording.job.status.is_some_and(|status| !(200..300).contains(&status)) {
        return Ok(("provider_error".into(), "the status is an HTTP error, S-24".into()));
    }
    if has_server_tools && outcome != "error" {
        return Ok(("rejected".into(), "blocks of server tools outrank the reason, P-12".into()));
    }
    if recording.job.stream && outcome != "reject" && outcome != "error" && !ends_with_blank_line(&recording.job.body) {
        return Ok(("rejected".into(), "it ends before the blank line of its marker, S-20".into()));
    }
    let today = match (outcome, reason) {
        ("message", _) => "reply",
        ("reject", _) => "rejected",
        ("error", _) => "provider_error",
        ("tool_request" | "incomplete" | "refused", _) => outcome,
        ("policy", Some("server_tools_present" | "programmatic_tool_call")) => "rejected",
        ("policy", Some("multiple_choices" | "tool_type_custom")) => "rejected",
        ("policy", Some("tool_request_with_empty_arguments" | "tool_request_with_index_missing")) => "tool_request",
        (other, reason) => bail!("{}: no meaning for the hint {other} ({reason:?})", recording.file),
    };
    let said = reason.map_or_else(|| outcome.to_owned(), |reason| format!("{outcome}, {reason}"));
    Ok((today.into(), format!("hint: {said}")))
}

/// The last event is only complete with the blank line after it.
fn ends_with_blank_line(body: &[u8]) -> bool {
    let mut lines = 0;
    let mut rest = body;
    while let Some((last, before)) = rest.split_last() {
        match last {
            b'\n' => {
                lines += 1;
                rest = before.strip_suffix(b"\r").unwrap_or(before);
            }
            b'\r' => {
                lines += 1;
                rest = before;
            }
            _ => break,
        }
        if lines == 2 {
            return true;
        }
    }
    false
}

/// Files of the committed list of differences: `{file, rule, reason}`.
pub fn listed_differences() -> Result<Vec<String>> {
    let path = root().join("tests/recording-differences.json");
    let list = read_json(&path)?;
    let mut files = Vec::new();
    for entry in list.as_array().context("tests/recording-differences.json is no list")? {
        let word = |name: &str| entry[name].as_str().filter(|text| !text.is_empty());
        match (word("file"), word("rule"), word("reason")) {
            (Some(file), Some(_), Some(_)) => files.push(file.to_owned()),
            _ => bail!("tests/recording-differences.json: an entry has file, rule and reason: {entry}"),
        }
    }
    if files.len() > 12 {
        bail!("tests/recording-differences.json lists {} files, at most 12 may differ", files.len());
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::ends_with_blank_line;

    #[test]
    fn blank_lines_of_every_line_end() {
        for body in ["data: x\n\n", "data: x\r\n\r\n", "data: x\r\r", "data: x\n\n\n"] {
            assert!(ends_with_blank_line(body.as_bytes()), "{body:?}");
        }
        for body in ["", "data: x", "data: x\n", "data: x\r\n", "\n"] {
            assert!(!ends_with_blank_line(body.as_bytes()), "{body:?}");
        }
    }
}
