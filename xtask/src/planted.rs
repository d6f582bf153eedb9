//! `planted`: each bug of `tests/planted/*.patch` is put into a copy of the last commit, and its check must turn red.
//!
//! The first line of a patch names the check: `# check: cargo test --test cases`.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::shell::{capture, command, files_below, root, run, seconds, stage, target_dir};

struct Planted {
    name: String,
    check: String,
    verdict: &'static str,
    red: bool,
    time: String,
}

pub fn run_all(filter: Option<&str>) -> Result<bool> {
    let patches: Vec<PathBuf> = files_below(&root().join("tests/planted"), ".patch")?
        .into_iter()
        .filter(|path| filter.is_none_or(|filter| path.to_string_lossy().contains(filter)))
        .collect();
    if patches.is_empty() {
        bail!("no patches in tests/planted{}", filter.map(|filter| format!(" with `{filter}`")).unwrap_or_default());
    }
    let copy = Copy::new()?;
    let mut rows = Vec::new();
    let mut clean: Vec<(String, bool)> = Vec::new();
    for patch in &patches {
        let text = std::fs::read_to_string(patch)?;
        let check = text
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("# check:"))
            .with_context(|| format!("{}: the first line names no check", patch.display()))?
            .trim()
            .to_owned();
        // A check that is red without the bug shows nothing.
        if !clean.iter().any(|(known, _)| *known == check) {
            let green = copy.check(&check)?;
            clean.push((check.clone(), green == Answer::Green));
        }
        let green_before = clean.iter().any(|(known, green)| *known == check && *green);
        rows.push(copy.plant(patch, check, green_before)?);
    }
    println!("\n{:<44} {:<9} {:>9}  check", "planted bug", "verdict", "time");
    for row in &rows {
        println!("{:<44} {:<9} {:>9}  {}", row.name, row.verdict, row.time, row.check);
    }
    let red = rows.iter().filter(|row| row.red).count();
    println!("{red} passed, {} failed", rows.len() - red);
    Ok(red == rows.len())
}

/// What a check says. A bug that the compiler finds shows nothing about the check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Green,
    Red,
    NotCompiled,
}

/// A worktree of the last commit, removed at the end.
struct Copy {
    at: PathBuf,
}

impl Copy {
    fn new() -> Result<Copy> {
        let copy = Copy { at: target_dir().join("planted/copy") };
        copy.remove();
        stage("a copy of the last commit", || {
            run(command("git").args(["worktree", "add", "--quiet", "--detach", "--force"]).arg(&copy.at).arg("HEAD"))
        })?;
        Ok(copy)
    }

    fn remove(&self) {
        // The result does not matter: the folder may not be there.
        drop(capture(command("git").args(["worktree", "remove", "--force"]).arg(&self.at)));
        drop(std::fs::remove_dir_all(&self.at));
        drop(capture(command("git").args(["worktree", "prune"])));
    }

    fn plant(&self, patch: &Path, check: String, green_before: bool) -> Result<Planted> {
        let name = patch.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let start = Instant::now();
        let apply = |extra: &[&str]| capture(self.git("apply").args(extra).arg("--").arg(patch));
        let verdict = if !green_before {
            "RED-CLEAN"
        } else if let Err(error) = apply(&[]) {
            println!("    {name}: {error:#}");
            "NO-APPLY"
        } else {
            let answer = self.check(&check)?;
            apply(&["--reverse"])?;
            match answer {
                Answer::Green => "GREEN",
                Answer::Red => "red",
                Answer::NotCompiled => "NO-COMPILE",
            }
        };
        Ok(Planted { name, check, verdict, red: verdict == "red", time: seconds(start.elapsed()) })
    }

    /// Runs the check in the copy.
    fn check(&self, check: &str) -> Result<Answer> {
        stage(&format!("in the copy: {check}"), || {
            let mut shell = Command::new("sh");
            shell.args(["-c", check]).current_dir(&self.at).stdin(std::process::Stdio::null());
            for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO", "CARGO_PKG_NAME"] {
                shell.env_remove(name);
            }
            // The same target folder: packages at another path are built beside ours, dependencies are shared.
            shell.env("CARGO_TARGET_DIR", target_dir());
            if let Some(dir) = std::env::var_os("CONFORMANCE_DIR") {
                shell.env("CONFORMANCE_DIR", std::path::absolute(dir)?);
            }
            let output = shell.output()?;
            let text = String::from_utf8_lossy(&output.stdout);
            let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
            println!("    {}: {last}", output.status);
            let broken = String::from_utf8_lossy(&output.stderr).contains("error: could not compile");
            Ok(match (output.status.success(), broken) {
                (true, _) => Answer::Green,
                (false, false) => Answer::Red,
                (false, true) => Answer::NotCompiled,
            })
        })
    }

    fn git(&self, verb: &str) -> Command {
        let mut git = Command::new("git");
        git.current_dir(&self.at).arg(verb);
        git
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        self.remove();
    }
}
