//! `bench`: the stream harness of the conformance data with our two lanes, from the packed tarball.
//!
//! Timings are no tests: a bar that is not met is said and ends well. What cannot be measured is an error.
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::shell::{
    Missing, Usage, capture, command, files_below, read, root, run, sha256_hex, stage, target_dir, write,
};
use crate::{build, npm, tools};

/// Ours, the reference, the floors, and what our users would pick instead.
const LANES: &str = "ours:,bare:eventsource-parser,bare:hand-js,floor:,openai-sdk:,anthropic-sdk:,ai-sdk:";
const SCALE: &str = "ours:,bare:eventsource-parser,floor:json.parse";
const MAIN_QUICK: &str = "openai:text-10k@8k,anthropic:text-10k@8k,openai:args-64k@8k,anthropic:args-64k@8k,openai:text-10k@event,anthropic:text-10k@event";
const MEMORY: &str = "openai:args-4m@8k,anthropic:args-4m@8k";

pub struct Options {
    pub quick: bool,
    pub lanes: Option<String>,
}

pub fn run_all(options: &Options) -> Result<bool> {
    let data = data()?;
    build::build_if_stale()?;
    let packed = stage("pack", npm::pack)?;
    let home = stage("the harness in target/bench", || harness(&data, &packed.tarball))?;
    for old in ["streams.json", "scale.json", "hash.json", "memory.json"] {
        // Only what this run measures may stand in its report.
        drop(std::fs::remove_file(home.join(old)));
    }
    let node = || -> Result<std::process::Command> {
        let mut node = command(tools::node()?);
        node.current_dir(&home).env("EXTRA_LANES", "ours.mjs");
        Ok(node)
    };
    stage("lanes give the right message", || {
        let mut check = node()?;
        check.env("LANES", "ours:").args(["try.mjs", "openai:callsx-8@7b", "anthropic:think-4@event"]);
        let text = capture(&mut check)?;
        print!("{text}");
        let good = text.lines().filter(|line| line.trim_start().starts_with("ok ours:")).count();
        if good != 4 || text.contains("FAIL") {
            bail!("{good} of 4 runs of our lanes gave the right message");
        }
        Ok(())
    })?;
    let lanes = options.lanes.as_deref().unwrap_or(LANES);
    let harness = |name: &str, args: &[&str]| {
        stage(name, || run(node()?.args(["run.mjs", "--slow", "3000", "--timeout", "30"]).args(args)))
    };
    if options.quick {
        let rounds = ["--rounds", "3", "--workloads", MAIN_QUICK];
        harness("streams", &[&["--json", "streams.json", "--suite", "main", "--lanes", lanes], &rounds[..]].concat())?;
    } else {
        let rounds = ["--rounds", "7"];
        harness(
            "streams",
            &[&["--json", "streams.json", "--suite", "main,deltas", "--lanes", lanes], &rounds[..]].concat(),
        )?;
    }
    // Only the lanes that a bar compares: the slow ones would take most of an hour to 4 MiB.
    harness("scaling and latency", &["--json", "scale.json", "--suite", "scale,latency", "--lanes", SCALE])?;
    stage("canonical form and hash", || run(node()?.arg("hash.mjs")))?;
    stage("memory", || {
        run(node()?.args(["memory.mjs", MEMORY, "ours:counts", "ours:records", "bare:eventsource-parser"]))
    })?;
    // A short run, or one of some lanes, is no result to keep.
    let whole = !options.quick && options.lanes.is_none();
    let out = if whole { root().join("benches/streams/results.md") } else { target_dir().join("bench/results.md") };
    run(node()?.arg("report.mjs").arg(&out).arg(versions(&home)?))?;
    println!("{}", out.display());
    Ok(true)
}

/// The harness is data: always wanted, never skipped.
fn data() -> Result<PathBuf> {
    let dir = std::env::var_os("CONFORMANCE_DIR")
        .filter(|dir| !dir.is_empty())
        .ok_or_else(|| Usage("set CONFORMANCE_DIR to the folder that holds bench/".into()))?;
    let bench = std::path::absolute(Path::new(&dir).join("bench"))?;
    if bench.join("run.mjs").is_file() { Ok(bench) } else { bail!(Missing(format!("{}/run.mjs", bench.display()))) }
}

/// A copy of the harness with our lanes, the locked peers, and the tarball.
fn harness(data: &Path, tarball: &Path) -> Result<PathBuf> {
    let home = target_dir().join("bench");
    let mut peers = String::new();
    for file in files_below(data, "")? {
        let inside = file.strip_prefix(data)?;
        write(&home.join(inside), &read(&file)?)?;
    }
    let ours = root().join("benches/streams");
    for file in files_below(&ours, ".mjs")? {
        let name = file.file_name().context("a file without a name")?;
        let name = if name == "lane.mjs" { "ours.mjs".as_ref() } else { name };
        write(&home.join(name), &read(&file)?)?;
    }
    for file in [home.join("package.json"), ours.join("package-lock.json"), tarball.to_path_buf()] {
        peers.push_str(&sha256_hex(&read(&file)?));
    }
    let stamp = home.join("node_modules/.digest");
    if !std::fs::read_to_string(&stamp).is_ok_and(|old| old == peers) {
        write(&home.join("package-lock.json"), &read(&ours.join("package-lock.json"))?)?;
        let npm = |args: &[&str]| -> Result<std::process::Command> {
            let mut npm = command(tools::npm()?);
            npm.current_dir(&home).args(args).args(["--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"]);
            Ok(npm)
        };
        run(&mut npm(&["ci"])?)?;
        run(npm(&["install", "--no-save", "--install-links", "--prefer-offline"])?.arg(tarball))?;
        write(&stamp, peers.as_bytes())?;
    }
    Ok(home)
}

fn versions(home: &Path) -> Result<String> {
    let mut said =
        vec![format!("Node {}", capture(command(tools::node()?).arg("--version"))?.trim().trim_start_matches('v'))];
    for name in ["turnkeep", "eventsource-parser", "openai", "@anthropic-ai/sdk", "ai", "canonicalize"] {
        let manifest = crate::shell::read_json(&home.join("node_modules").join(name).join("package.json"))?;
        said.push(format!("{name} {}", manifest["version"].as_str().unwrap_or("?")));
    }
    let commit = capture(command("git").args(["rev-parse", "--short", "HEAD"])).unwrap_or_default();
    if !commit.trim().is_empty() {
        said.push(format!("commit {}", commit.trim()));
    }
    Ok(said.join(", "))
}
