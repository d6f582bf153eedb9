//! B1: each fuzz target for a while, from the committed corpus and the seeds that the cases give. Its own finds go below target/.
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use turnkeep_checks::fuzz::{TARGETS, seeds};

use super::Figure;
use crate::shell::{Missing, capture, command, files_below, root, sha256_hex, show, stage, target_dir, write};
use crate::tools;

const SECONDS: u64 = 20;
/// S-01 to S-07 keep what is held small; the fuzzer's own maps are in it too.
const MEMORY_MIB: u32 = 512;
const TIMEOUT_S: u32 = 2;

/// Runs each target for so many seconds, one after another. With `keep` the minimised inputs become the committed corpus.
pub fn run(seconds: Option<u64>, keep: bool) -> Result<Figure> {
    let programs = build()?;
    let home = target_dir().join("fuzz");
    write_seeds(&home.join("seeds"))?;
    let mut figure = Figure::default();
    for (target, _) in TARGETS {
        let executions = fuzz(&programs.join(target), target, &home, seconds.unwrap_or(SECONDS), &mut figure)?;
        println!("    {target}: {executions} executions");
        if executions == 0 {
            figure.wrong.push(format!("{target}: nothing was executed"));
        }
        figure.checks += usize::try_from(executions)?;
        if keep {
            minimise(&programs.join(target), target, &home)?;
        }
    }
    Ok(figure)
}

fn build() -> Result<PathBuf> {
    let known = capture(command("rustup").args(["toolchain", "list"]))?;
    if !known.lines().any(|line| line.starts_with("nightly")) {
        bail!(Missing("a nightly compiler for the fuzzer: rustup toolchain install nightly".into()));
    }
    let bin = tools::cargo_fuzz()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(bin).chain(std::env::split_paths(&path)))?;
    let out = target_dir().join("fuzz/build");
    stage("cargo fuzz build", || {
        // Our code has no `unsafe`, so a sanitizer would only cost executions.
        let mut build = command("rustup");
        build.args(["run", "nightly", "cargo", "fuzz", "build", "--sanitizer", "none", "--target-dir"]).arg(&out);
        crate::shell::run(build.env("PATH", path).env_remove("CARGO").current_dir(root()))
    })?;
    let host = capture(command("rustup").args(["run", "nightly", "rustc", "--print", "host-tuple"]))?;
    Ok(out.join(host.trim()).join("release"))
}

fn write_seeds(home: &Path) -> Result<()> {
    for case in files_below(&root().join("tests/cases/turns"), ".json")? {
        let text = std::fs::read_to_string(&case)?;
        let inputs = seeds(&text).map_err(|error| anyhow::anyhow!("{}: {error}", case.display()))?;
        for (target, input) in inputs {
            write(&home.join(target).join(&sha256_hex(&input)[..16]), &input)?;
        }
    }
    Ok(())
}

fn fuzz(program: &Path, target: &str, home: &Path, seconds: u64, figure: &mut Figure) -> Result<u64> {
    let [found, artifacts] = ["found", "artifacts"].map(|name| home.join(name).join(target));
    for dir in [&found, &artifacts] {
        std::fs::create_dir_all(dir)?;
    }
    let mut fuzzer = command(program);
    fuzzer.args([&found, &committed(target), &home.join("seeds").join(target)]);
    fuzzer.arg(format!("-artifact_prefix={}/", artifacts.display()));
    fuzzer.arg(format!("-dict={}", root().join("fuzz/provider.dict").display()));
    fuzzer.args([
        format!("-max_total_time={seconds}"),
        format!("-rss_limit_mb={MEMORY_MIB}"),
        format!("-timeout={TIMEOUT_S}"),
    ]);
    fuzzer.args(["-print_final_stats=1", "-verbosity=0", "-seed=20260101"]);
    let (said, good) = told(fuzzer.env("RUST_BACKTRACE", "0"))?;
    if !good {
        let what = said.lines().find(|line| line.contains("panicked") || line.contains("ERROR")).unwrap_or("no word");
        figure.wrong.push(format!("{target}: {what}; the input is in {}", artifacts.display()));
    }
    let count = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    count.map_or(Ok(0), |count| count.trim().parse().context("a count of executions"))
}

/// What a fuzzer says, which it does on standard error, and whether it ended well.
fn told(fuzzer: &mut std::process::Command) -> Result<(String, bool)> {
    let output = fuzzer.output().with_context(|| format!("cannot start {}", show(fuzzer)))?;
    Ok((String::from_utf8_lossy(&output.stderr).into_owned(), output.status.success()))
}

fn committed(target: &str) -> PathBuf {
    root().join("fuzz/corpus").join(target)
}

/// Of the committed inputs, the seeds and the finds, as few small ones as reach the same code.
fn minimise(program: &Path, target: &str, home: &Path) -> Result<()> {
    /// Larger inputs are found again from these.
    const MAX_BYTES: u32 = 512;
    let least = home.join("least").join(target);
    drop(std::fs::remove_dir_all(&least));
    std::fs::create_dir_all(&least)?;
    let mut merge = command(program);
    // Code reached once or a hundred times is the same code: the corpus stays small.
    merge.args(["-merge=1", "-verbosity=0", "-use_counters=0"]).arg(format!("-max_len={MAX_BYTES}"));
    merge.args([&least, &committed(target), &home.join("found").join(target), &home.join("seeds").join(target)]);
    let (said, good) = told(&mut merge)?;
    if !good {
        bail!("the corpus of {target} could not be minimised\n{said}");
    }
    drop(std::fs::remove_dir_all(committed(target)));
    for file in files_below(&least, "")? {
        let input = crate::shell::read(&file)?;
        write(&committed(target).join(&sha256_hex(&input)[..16]), &input)?;
    }
    Ok(())
}
