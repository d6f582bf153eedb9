//! The cases: scored as they stand in their file, and read in every other way for the same verdict.
use anyhow::Result;

use super::data::CaseFile;
use super::report::Line;
use super::runner::Runner;
use crate::support::check::judge;
use crate::support::splits;
use crate::support::verdict::Verdict;

pub struct CaseResult {
    pub id: String,
    pub expected: String,
    /// Calls that the case does not expect.
    pub stray_calls: usize,
    pub runs: usize,
    pub verdict: Option<Verdict>,
    pub wrong: Vec<String>,
}

impl CaseResult {
    pub fn line(&self) -> Line {
        Line::new(&self.id, self.verdict.as_ref())
    }
}

pub fn run(cases: &[CaseFile], runner: &mut dyn Runner, seed: u64) -> Result<Vec<CaseResult>> {
    cases.iter().map(|file| run_one(file, runner, seed)).collect()
}

fn run_one(file: &CaseFile, runner: &mut dyn Runner, seed: u64) -> Result<CaseResult> {
    let case = &file.case;
    let plans = splits::of_case(case, seed);
    let mut result = CaseResult {
        id: case.id.clone(),
        expected: case.expect["outcome"].as_str().unwrap_or_default().to_owned(),
        stray_calls: 0,
        runs: plans.len(),
        verdict: None,
        wrong: Vec::new(),
    };
    match runner.run(&case.job, &plans)? {
        Err(trouble) => result.wrong.push(trouble),
        Ok(verdicts) => {
            let pairs: Vec<_> = verdicts.into_iter().zip(plans).collect();
            result.wrong = judge(case, &pairs);
            result.stray_calls = pairs.iter().map(|(verdict, _)| stray_calls(case, verdict)).max().unwrap_or(0);
            result.verdict = pairs.into_iter().next().map(|(verdict, _)| verdict);
        }
    }
    Ok(result)
}

fn stray_calls(case: &crate::support::case::Case, verdict: &Verdict) -> usize {
    let expected = case.expect["calls"].as_array().map_or(&[][..], Vec::as_slice);
    let known = |id: &str, name: &str| {
        expected.iter().any(|call| call["id"].as_str() == Some(id) && call["name"].as_str() == Some(name))
    };
    verdict.calls.iter().filter(|call| !known(&call.id, &call.name)).count()
}
