//! `test`: the fast tier. Every stage runs, also after a failure, and the table says how long each took.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::shell::{Missing, cargo, command, read_json, root, seconds, target_dir, tee, write};
use crate::{build, npm, size, tools};

/// What a stage found.
#[derive(Debug, Default)]
pub struct Count {
    pub passed: u64,
    pub failed: u64,
}

impl Count {
    fn one(passed: bool) -> Count {
        Count { passed: u64::from(passed), failed: u64::from(!passed) }
    }
}

struct Row {
    name: &'static str,
    count: Count,
    time: Duration,
    note: String,
}

#[derive(Default)]
struct Table(Vec<Row>);

impl Table {
    /// Runs a stage. A missing tool ends the whole run, since it is no verdict on the code.
    fn stage(&mut self, name: &'static str, work: impl FnOnce() -> Result<Count>) -> Result<bool> {
        println!("==> {name}");
        let start = Instant::now();
        let (count, note) = match work() {
            Ok(count) if count.passed + count.failed == 0 => (Count::one(false), "nothing was checked".to_owned()),
            Ok(count) => (count, String::new()),
            Err(error) if error.downcast_ref::<Missing>().is_some() => return Err(error),
            Err(error) => (Count::one(false), format!("{error:#}")),
        };
        let good = count.failed == 0;
        println!("    {}: {name}, {} {note}", if good { "done" } else { "FAILED" }, seconds(start.elapsed()));
        self.0.push(Row { name, count, time: start.elapsed(), note });
        Ok(good)
    }

    fn print(&self) -> bool {
        println!("\n{:<44} {:>7} {:>7} {:>9}", "stage", "passed", "failed", "time");
        for row in &self.0 {
            let note = row.note.lines().next().unwrap_or_default();
            println!(
                "{:<44} {:>7} {:>7} {:>9}  {note}",
                row.name,
                row.count.passed,
                row.count.failed,
                seconds(row.time)
            );
        }
        let sum = |of: fn(&Count) -> u64| self.0.iter().map(|row| of(&row.count)).sum::<u64>();
        let (passed, failed) = (sum(|count| count.passed), sum(|count| count.failed));
        let time: Duration = self.0.iter().map(|row| row.time).sum();
        println!("in {}", seconds(time));
        println!("{passed} passed, {failed} failed");
        failed == 0 && passed > 0
    }
}

pub fn run(bless: bool) -> Result<bool> {
    // First, so that a missing tool is said at once and not after minutes.
    let tools = Tools::find()?;
    let mut table = Table::default();
    let built = table.stage("build", || build::build().map(|()| Count::one(true)))?;
    table.stage("rustfmt", || check(cargo().args(["fmt", "--all", "--check"])))?;
    table.stage("clippy, native", || {
        check(cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    })?;
    table.stage("clippy, wasm32 with feature js", || {
        let args = ["clippy", "-p", "turnkeep", "--lib", "--test", "web", "--features", "js", "--target"];
        check(cargo().args(args).args([tools::WASM_TARGET, "--", "-D", "warnings"]))
    })?;
    table.stage("cargo test, doctests too", || rust_tests(cargo().args(["test", "--workspace", "--no-fail-fast"])))?;
    table.stage("tsc strict, the bindings", || check_types(&[root().join("bindings/tsconfig.json")]))?;
    table.stage("eslint", eslint)?;
    if built {
        let packed = npm::pack();
        table.stage("packed file list", || {
            file_list(packed.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))?, bless)
        })?;
        table.stage("size budget", || Ok(Count::one(size::over_budget()?.is_empty())))?;
        table.stage("publint", publint)?;
        table.stage("install the tarball", || {
            npm::install_tarball(packed.as_ref().map_err(|error| anyhow::anyhow!("{error:#}"))?)
                .map(|_| Count::one(true))
        })?;
        table.stage("tsc strict, a user's projects", user_types)?;
        table.stage("node --test on the tarball", node_tests)?;
        table.stage("workerd, one request", workerd)?;
    }
    table.stage("Chromium through wasm-pack", || browser(&tools))?;
    Ok(table.print())
}

struct Tools {
    browser: tools::Browser,
    wasm_pack: std::path::PathBuf,
    wasm_bindgen: std::path::PathBuf,
}

impl Tools {
    fn find() -> Result<Tools> {
        println!("==> tools");
        tools::node()?;
        tools::npm()?;
        tools::wasm_target()?;
        let tools = Tools {
            browser: tools::browser()?,
            wasm_pack: tools::wasm_pack()?,
            wasm_bindgen: tools::wasm_bindgen_cli()?,
        };
        println!(
            "    {}, {}, wasm-pack in {}, wasm-bindgen in {}",
            tools.browser.chrome.display(),
            tools.browser.driver.display(),
            tools.wasm_pack.display(),
            tools.wasm_bindgen.display()
        );
        Ok(tools)
    }
}

/// One check: did the command end well?
fn check(command: &mut std::process::Command) -> Result<Count> {
    Ok(Count::one(tee(command)?.1))
}

/// Sums `test result: ok. 3 passed; 0 failed; ...`.
fn rust_tests(command: &mut std::process::Command) -> Result<Count> {
    let (text, good) = tee(command)?;
    let mut count = Count::default();
    for line in text.lines().filter(|line| line.starts_with("test result:")) {
        let number = |word: &str| {
            let before = line.split(word).next().unwrap_or_default();
            before.split_whitespace().last().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0)
        };
        count.passed += number(" passed");
        count.failed += number(" failed");
    }
    if !good && count.failed == 0 {
        count.failed = 1;
    }
    Ok(count)
}

fn check_types(projects: &[std::path::PathBuf]) -> Result<Count> {
    let tsc = root().join("bindings/node_modules/typescript/bin/tsc");
    let mut count = Count::default();
    for project in projects {
        let good = tee(command(tools::node()?).arg(&tsc).arg("--noEmit").arg("--project").arg(project))?.1;
        count.passed += u64::from(good);
        count.failed += u64::from(!good);
    }
    Ok(count)
}

/// Each project under `tests/types`, against the types in the installed tarball.
fn user_types() -> Result<Count> {
    let projects = crate::shell::files_below(&root().join("tests/types"), "tsconfig.json")?;
    if projects.is_empty() { Ok(Count::one(true)) } else { check_types(&projects) }
}

fn eslint() -> Result<Count> {
    let bindings = root().join("bindings");
    let eslint = bindings.join("node_modules/eslint/bin/eslint.js");
    let mut lint = command(tools::node()?);
    lint.current_dir(root()).arg(eslint).args([
        "--config",
        "bindings/eslint.config.js",
        "--max-warnings",
        "0",
        "--no-error-on-unmatched-pattern",
    ]);
    check(
        lint.args(
            ["bindings", "tests/js", "tests/runtimes", "examples", "benches"]
                .iter()
                .filter(|dir| root().join(dir).exists()),
        ),
    )
}

/// Exactly the committed list: a file that slips in or out of the package is a change to review.
fn file_list(packed: &npm::Packed, bless: bool) -> Result<Count> {
    let path = root().join("tests/packed-files.txt");
    let text = packed.files.join("\n") + "\n";
    if bless {
        write(&path, text.as_bytes())?;
        println!("    wrote tests/packed-files.txt");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let (old, new): (Vec<&str>, Vec<&str>) = (committed.lines().collect(), text.lines().collect());
    for gone in old.iter().filter(|file| !new.contains(file)) {
        println!("    no longer packed: {gone}");
    }
    for added in new.iter().filter(|file| !old.contains(file)) {
        println!("    newly packed: {added}");
    }
    if old == new {
        println!("    {} files", new.len());
        Ok(Count::one(true))
    } else {
        bail!("the package holds other files than tests/packed-files.txt (accept with --bless)")
    }
}

fn publint() -> Result<Count> {
    let publint = root().join("bindings/node_modules/publint/src/cli.js");
    check(command(tools::node()?).arg(publint).args(["--strict", "pkg"]))
}

/// Node's own runner over every `tests/js/*.test.mjs`; `turnkeep` there is the installed tarball.
fn node_tests() -> Result<Count> {
    run_node_tests(&crate::shell::files_below(&root().join("tests/js"), ".test.mjs")?)
}

/// `js FILTER`: some of those files alone, with a count.
pub fn js(filter: &str) -> Result<bool> {
    build::build_if_stale()?;
    npm::installed()?;
    let mut files = crate::shell::files_below(&root().join("tests/js"), ".test.mjs")?;
    files.retain(|file| file.file_name().is_some_and(|name| name.to_string_lossy().contains(filter)));
    let count = run_node_tests(&files)?;
    println!("{} passed, {} failed", count.passed, count.failed);
    Ok(count.failed == 0 && count.passed > 0)
}

/// One file outside the fast tier, on the packed package.
pub fn js_file(file: &Path, env: &[(&str, &Path)]) -> Result<Count> {
    build::build_if_stale()?;
    npm::installed()?;
    node_test(command(tools::node()?).envs(env.iter().copied()), &[file.to_path_buf()])
}

fn run_node_tests(files: &[PathBuf]) -> Result<Count> {
    if files.is_empty() {
        return Ok(Count::default());
    }
    node_test(&mut command(tools::node()?), files)
}

fn node_test(node: &mut Command, files: &[PathBuf]) -> Result<Count> {
    let (text, good) = tee(node.args(["--test", "--test-reporter=tap"]).args(files))?;
    let number = |word: &str| -> u64 {
        let line = text.lines().rev().find_map(|line| line.strip_prefix(word));
        line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
    };
    let mut count = Count { passed: number("# pass "), failed: number("# fail ") };
    if !good && count.failed == 0 {
        count.failed = 1;
    }
    Ok(count)
}

/// One request to the packed package in workerd, without wrangler or Miniflare.
fn workerd() -> Result<Count> {
    check(command(tools::node()?).arg(root().join("tests/runtimes/workerd/run.mjs")).arg(target_dir().join("workerd")))
}

fn browser(tools: &Tools) -> Result<Count> {
    let mut config = read_json(&root().join("webdriver.json"))?;
    config["goog:chromeOptions"]["binary"] = tools.browser.chrome.display().to_string().into();
    let file = target_dir().join("webdriver.json");
    write(&file, config.to_string().as_bytes())?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(tools.wasm_bindgen.clone()).chain(std::env::split_paths(&path)))?;
    let mut pack = command(tools.wasm_pack.join("wasm-pack"));
    pack.args(["test", "--headless", "--chrome", "--chromedriver"]).arg(&tools.browser.driver);
    pack.args([".", "--test", "web", "--", "--nocapture"]).env("PATH", path);
    pack.env("WASM_BINDGEN_USE_BROWSER", "1").env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", &file);
    pack.env("WASM_BINDGEN_TEST_TIMEOUT", "300").env("WASM_PACK_CACHE", tools::cache_dir().join("wasm-pack-cache"));
    rust_tests(&mut pack)
}
