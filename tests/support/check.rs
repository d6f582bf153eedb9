//! A case checked in every way of reading it, and the count of what was checked.
use super::case::Case;
use super::verdict::Verdict;
use super::{native, score, splits};

/// The seed of the random splits in the committed tests.
pub const SEED: u64 = 20_260_101;
/// The committed set. Fewer is a broken checkout, not a pass.
pub const MIN_CASES: usize = 121;

#[derive(Debug, Default)]
pub struct Tally {
    pub cases: usize,
    pub runs: usize,
    /// `id: what is wrong`.
    pub wrong: Vec<(String, String)>,
}

impl Tally {
    /// Runs one case file on the core in this process.
    pub fn check(&mut self, name: &str, text: &str) {
        self.cases += 1;
        match check_native(text) {
            Ok((runs, wrong)) => {
                self.runs += runs;
                self.wrong.extend(wrong.into_iter().map(|wrong| (id_of(name), wrong)));
            }
            Err(error) => self.wrong.push((id_of(name), error)),
        }
    }

    /// Fails unless exactly the known failures fail and enough cases ran.
    ///
    /// # Errors
    /// Says what is wrong, one line each.
    pub fn verdict(&self, known: &str) -> Result<(), String> {
        let known = known_failures(known)?;
        let mut lines = Vec::new();
        for (id, wrong) in &self.wrong {
            if !known.contains(id) {
                lines.push(format!("{id}: {wrong}"));
            }
        }
        for id in &known {
            if !self.wrong.iter().any(|(failed, _)| failed == id) {
                lines.push(format!("{id}: listed as a known failure, but right"));
            }
        }
        if self.cases < MIN_CASES {
            lines.push(format!("only {} cases, {MIN_CASES} are committed", self.cases));
        }
        if self.runs < self.cases {
            lines.push(format!("only {} runs of {} cases", self.runs, self.cases));
        }
        if lines.is_empty() { Ok(()) } else { Err(lines.join("\n")) }
    }
}

/// Ids of the committed list of known failures.
///
/// # Errors
/// An entry without id, rule and reason.
pub fn known_failures(text: &str) -> Result<Vec<String>, String> {
    let list: Vec<serde_json::Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    list.iter()
        .map(|entry| match (entry["id"].as_str(), entry["rule"].as_str(), entry["reason"].as_str()) {
            (Some(id), Some(_), Some(_)) => Ok(id.to_owned()),
            _ => Err(format!("a known failure has id, rule and reason: {entry}")),
        })
        .collect()
}

fn id_of(name: &str) -> String {
    name.trim_end_matches(".json").to_owned()
}

fn check_native(text: &str) -> Result<(usize, Vec<String>), String> {
    let case = Case::parse(text)?;
    let mut verdicts = Vec::new();
    for cuts in splits::of_case(&case, SEED) {
        verdicts.push((native::run(&case.job, &cuts)?, cuts));
    }
    Ok((verdicts.len(), judge(&case, &verdicts)))
}

/// The first reading is scored; every other must give the same verdict.
pub fn judge(case: &Case, verdicts: &[(Verdict, splits::Cuts)]) -> Vec<String> {
    let Some((first, _)) = verdicts.first() else {
        return vec!["the case was not run".into()];
    };
    let mut wrong = score::differences(&case.expect, first);
    if let Some((other, cuts)) = verdicts.iter().find(|(verdict, _)| verdict != first) {
        let count = verdicts.iter().filter(|(verdict, _)| verdict != first).count();
        let shown = &cuts[..cuts.len().min(8)];
        wrong.push(format!(
            "{count} of {} readings differ: `{}` as in the file, `{}` when cut at {shown:?}",
            verdicts.len(),
            first.brief(),
            other.brief()
        ));
    }
    wrong
}
