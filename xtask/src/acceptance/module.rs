//! `turnkeep-checks` as a wasm32 module, run by Node: the core as wasm without the package around it, so that what the
//! border does not show (frames, raw bytes of JSON) can be checked there too.
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use wasm_bindgen_cli_support::Bindgen;

use super::Figure;
use super::vectors::Job;
use crate::shell::{capture, cargo, command, root, run as run_command, stage, target_dir, write};
use crate::tools;

/// The profile has its own folder: cargo would otherwise put this build's core where the package's is.
const PROFILE: &str = "checks";

/// The module for Node.
pub fn build() -> Result<PathBuf> {
    tools::wasm_target()?;
    stage("cargo build: the checks for wasm32", || {
        run_command(
            cargo()
                .args(["build", "--quiet", "--profile", PROFILE, "--lib", "-p", "turnkeep-checks"])
                .args(["--target", tools::WASM_TARGET]),
        )
    })?;
    let out = target_dir().join("checks");
    Bindgen::new()
        .input_path(target_dir().join(tools::WASM_TARGET).join(PROFILE).join("turnkeep_checks.wasm"))
        .nodejs(true)?
        .typescript(false)
        .generate(&out)?;
    Ok(out.join("turnkeep_checks.js"))
}

/// Every job, in one process.
pub fn run(jobs: &[Job], seed: u64) -> Result<Figure> {
    let module = build()?;
    let mut lines = String::new();
    for job in jobs {
        writeln!(lines, "{}", json!({ "kind": job.kind, "input": job.input.to_string() }))?;
    }
    let file = target_dir().join("checks/jobs.jsonl");
    write(&file, lines.as_bytes())?;
    let mut node = command(tools::node()?);
    node.arg(root().join("tests/js/lib/checks.mjs")).arg(&module).arg(&file).arg(seed.to_string());
    let text = capture(&mut node)?;
    let mut figure = Figure::default();
    let mut answers = 0;
    for line in text.lines() {
        let answer: Value = serde_json::from_str(line).context("the wasm checks gave no JSON")?;
        if let Some(trouble) = answer["trouble"].as_str() {
            bail!("a job in wasm: {trouble}");
        }
        answers += 1;
        let checks = answer["checks"].as_u64().context("an answer without a count")?;
        let wrong = answer["wrong"].as_array().context("an answer without a list")?;
        figure.add(Figure {
            checks: usize::try_from(checks)?,
            wrong: wrong.iter().map(|line| line.as_str().unwrap_or_default().to_owned()).collect(),
        });
    }
    if answers != jobs.len() {
        bail!("{answers} answers from wasm for {} jobs", jobs.len());
    }
    Ok(figure)
}
