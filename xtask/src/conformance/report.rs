//! What a conformance run prints and writes.
use std::collections::BTreeMap;
use std::ops::AddAssign;

use anyhow::{Result, anyhow};
use serde::Serialize;
use serde_json::Value;

use super::cases::CaseResult;
use super::data::Recording;
use super::recordings::RecordingResult;
use crate::shell::{read_json, root, sha256_hex};
use crate::support::check::known_failures;
use crate::support::native;
use crate::support::verdict::Verdict;

#[derive(Debug, Default, Clone, Copy)]
pub struct Total {
    pub passed: usize,
    pub failed: usize,
    pub skipped: usize,
}

impl AddAssign for Total {
    fn add_assign(&mut self, other: Total) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// One line of the output file.
#[derive(Debug, Serialize)]
pub struct Line {
    id: String,
    outcome: Option<String>,
    code: Option<String>,
    reason: Option<String>,
    rule: Option<String>,
    calls: Vec<LineCall>,
    text_sha256: Option<String>,
    usage: Option<Value>,
}

#[derive(Debug, Serialize)]
struct LineCall {
    id: String,
    name: String,
    input_json: String,
}

impl Line {
    /// `None`: the runner gave no verdict.
    pub fn new(id: &str, verdict: Option<&Verdict>) -> Line {
        let verdict_or_none = verdict.cloned().unwrap_or_default();
        Line {
            id: id.to_owned(),
            outcome: verdict.map(|verdict| verdict.outcome.clone()),
            code: verdict_or_none.code,
            reason: verdict_or_none.reason,
            rule: verdict_or_none.rule,
            calls: verdict_or_none
                .calls
                .into_iter()
                .map(|call| LineCall { id: call.id, name: call.name, input_json: call.input_json })
                .collect(),
            text_sha256: Some(verdict_or_none.text)
                .filter(|text| !text.is_empty())
                .map(|text| sha256_hex(text.as_bytes())),
            usage: verdict_or_none.usage,
        }
    }
}

pub fn json_lines(lines: &mut [Line]) -> Result<String> {
    lines.sort_by(|a, b| a.id.cmp(&b.id));
    let mut text = String::new();
    for line in lines {
        text.push_str(&serde_json::to_string(line)?);
        text.push('\n');
    }
    Ok(text)
}

pub fn cases(results: &[CaseResult]) -> Result<Total> {
    let known = known_failures(&read_json(&root().join("tests/known-failures.json"))?.to_string())
        .map_err(|error| anyhow!("tests/known-failures.json: {error}"))?;
    let mut total = Total::default();
    for result in results {
        match (result.wrong.is_empty(), known.contains(&result.id)) {
            (true, false) => total.passed += 1,
            (false, true) => total.skipped += 1,
            (false, false) => {
                total.failed += 1;
                println!("    FAIL {}: {}", result.id, result.wrong.join("; "));
            }
            (true, true) => {
                total.failed += 1;
                println!("    FAIL {}: listed in tests/known-failures.json, but right", result.id);
            }
        }
    }
    for id in known.iter().filter(|id| !results.is_empty() && !results.iter().any(|result| result.id == **id)) {
        println!("    note: known failure {id} is not among these cases");
    }
    let share = |name: &str, of: &dyn Fn(&CaseResult) -> bool| {
        let all = results.iter().filter(|result| of(result)).count();
        let right = results.iter().filter(|result| of(result) && result.wrong.is_empty()).count();
        println!("    {name:<28} {right:>4} of {all:>4}  {:>6.1} %", percent(right, all));
    };
    let runs: usize = results.iter().map(|result| result.runs).sum();
    println!("cases right ({runs} ways of reading)");
    share("all", &|_| true);
    share("expected tool_request", &|result| result.expected == "tool_request");
    share("expected reply", &|result| result.expected == "reply");
    let stray: usize = results.iter().map(|result| result.stray_calls).sum();
    println!("    calls that should not be     {stray:>4}");
    if stray > 0 && total.failed == 0 {
        total.failed += 1;
    }
    Ok(total)
}

pub fn recordings(recordings: &[Recording], results: &[RecordingResult]) -> Result<Total> {
    let listed = super::recordings::listed_differences()?;
    let mut total = Total::default();
    for result in results {
        let listed = listed.contains(&result.file);
        match (&result.trouble, result.differs(), listed) {
            (Some(trouble), _, _) => {
                total.failed += 1;
                println!("    FAIL {}: {trouble}", result.file);
            }
            (None, false, false) => total.passed += 1,
            (None, true, true) => total.skipped += 1,
            (None, true, false) => {
                total.failed += 1;
                println!(
                    "    FAIL {}: {} instead of {} ({})",
                    result.file,
                    result.brief(),
                    result.expected,
                    result.why
                );
            }
            (None, false, true) => {
                total.failed += 1;
                println!("    FAIL {}: listed in tests/recording-differences.json, but agrees", result.file);
            }
        }
    }
    if results.is_empty() {
        return Ok(total);
    }
    hint_table(recordings, results);
    rule_table(results);
    strictness(recordings, results);
    total.failed += under_profiles(recordings, results)?;
    let differing = results.iter().filter(|result| result.differs()).count();
    println!("recordings that differ from their hint: {differing} of {}, at most 12 may", results.len());
    if differing > 12 && total.failed == 0 {
        total.failed += 1;
    }
    Ok(total)
}

fn hint_table(recordings: &[Recording], results: &[RecordingResult]) {
    let mut rows: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    for (recording, result) in recordings.iter().zip(results) {
        let hint = &recording.entry["outcome_hint"];
        let text = match hint["reason"].as_str() {
            Some(reason) => format!("{} ({reason})", hint["outcome"].as_str().unwrap_or("-")),
            None => hint["outcome"].as_str().unwrap_or("-").to_owned(),
        };
        *rows.entry((text, result.expected.clone(), result.outcome().to_owned())).or_default() += 1;
    }
    println!("recordings by hint\n    {:<46} {:<16} {:<16} {:>5}", "hint", "means", "got", "count");
    for ((hint, means, got), count) in &rows {
        let mark = if means == got { "" } else { "  <-" };
        println!("    {hint:<46} {means:<16} {got:<16} {count:>5}{mark}");
    }
}

fn rule_table(results: &[RecordingResult]) {
    let mut rules: BTreeMap<(String, String), usize> = BTreeMap::new();
    for verdict in results.iter().filter_map(|result| result.verdict.as_ref()) {
        if verdict.outcome == "rejected" {
            let word = |part: &Option<String>| part.clone().unwrap_or_else(|| "-".into());
            *rules.entry((word(&verdict.rule), word(&verdict.reason))).or_default() += 1;
        }
    }
    println!("rejected recordings by rule");
    for ((rule, reason), count) in &rules {
        println!("    {rule:<6} {reason:<40} {count:>5}");
    }
}

const OUT_OF_SCOPE: [&str; 4] = ["P-04", "P-11", "P-12", "P-16"];

/// The share of real, unedited, successful answers within the contract's scope that strictness refuses.
fn strictness(recordings: &[Recording], results: &[RecordingResult]) {
    println!(
        "strict rejects of wire recordings with a 2xx status, out of scope ({}) left out",
        OUT_OF_SCOPE.join(", ")
    );
    for (protocol, most) in [("chat", 4.0), ("messages", 1.0)] {
        let (mut all, mut rejected) = (0, 0);
        for (recording, result) in recordings.iter().zip(results) {
            let success = recording.job.status.is_some_and(|status| (200..300).contains(&status));
            if recording.job.protocol != protocol || recording.entry["fidelity"] != "wire" || !success {
                continue;
            }
            let Some(verdict) = &result.verdict else { continue };
            let is_reject = verdict.outcome == "rejected";
            let rule = verdict.rule.as_deref().unwrap_or_default();
            // Blocks that only a beta sends are out of scope too (P-12); they are unknown blocks to us.
            let beta = verdict.reason.as_deref() == Some("content_block_unknown");
            if is_reject && (beta || OUT_OF_SCOPE.contains(&rule)) {
                continue;
            }
            all += 1;
            rejected += usize::from(is_reject);
        }
        println!("    {protocol:<10} {rejected:>3} of {all:>4}  {:>5.1} %  (bar {most} %)", percent(rejected, all));
    }
}

/// Rules that no profile may touch; N has its codes under S-21.
fn is_untouchable(rule: &str) -> bool {
    let number = |prefix: &str| rule.strip_prefix(prefix).and_then(|number| number.parse::<u32>().ok());
    match (number("P-"), number("S-"), number("N-")) {
        (Some(number), _, _) => (1..=8).contains(&number) || (18..=20).contains(&number),
        (_, Some(number), _) => (1..=15).contains(&number) || number == 21,
        (_, _, number) => number.is_some(),
    }
}

/// What of the strict rejects in scope is still rejected under the provider's profile: only by rules that no profile may touch. Gives the
/// number of others.
fn under_profiles(recordings: &[Recording], results: &[RecordingResult]) -> Result<usize> {
    let table = read_json(&root().join("tests/provider-profiles.json"))?;
    println!("the same recordings under the profile of their provider (tests/provider-profiles.json)");
    let (mut accepted, mut kept, mut wrong) = (0, 0, 0);
    for (recording, result) in recordings.iter().zip(results) {
        let Some(strict) = result.verdict.as_ref().filter(|verdict| verdict.outcome == "rejected") else { continue };
        let success = recording.job.status.is_some_and(|status| (200..300).contains(&status));
        let beta = strict.reason.as_deref() == Some("content_block_unknown");
        let out = beta || OUT_OF_SCOPE.contains(&strict.rule.as_deref().unwrap_or_default());
        if recording.entry["fidelity"] != "wire" || !success || out {
            continue;
        }
        let provider = recording.entry["provider"].as_str().unwrap_or("unknown");
        let profile = table[provider].as_str().unwrap_or("strict");
        let now =
            native::run_as(&recording.job, &[], profile).map_err(|error| anyhow!("{}: {error}", recording.file))?;
        let rule = now.rule.as_deref().unwrap_or_default();
        let good = now.outcome != "rejected" || is_untouchable(rule);
        accepted += usize::from(now.outcome != "rejected");
        kept += usize::from(now.outcome == "rejected");
        wrong += usize::from(!good);
        println!("    {} {provider:<20} {profile:<16} {}", if good { "    " } else { "FAIL" }, now.brief());
    }
    println!("    {accepted} accepted, {kept} still rejected, {wrong} of them by a rule that a profile could touch");
    Ok(wrong)
}

fn percent(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { part as f64 * 100.0 / all as f64 }
}
