//! B4: keys that mean something to JavaScript, through the installed tarball. The test is that of the fast tier, with more inputs.
use anyhow::{Context, Result};

use super::SEED;
use crate::shell::{command, root, tee};
use crate::{build, npm, tools};

const INPUTS: usize = 10_000;

/// Gives whether everything was right; the last line counts.
pub fn run() -> Result<bool> {
    build::build_if_stale()?;
    npm::installed()?;
    let mut node = command(tools::node()?);
    node.args(["--test", "--test-reporter=tap"]).arg(root().join("tests/js/hostile-keys.test.mjs"));
    node.env("HOSTILE_INPUTS", INPUTS.to_string()).env("SEED", SEED.to_string());
    let (text, good) = tee(&mut node)?;
    let line = text.lines().find_map(|line| line.strip_prefix("# B4 ")).context("the test has counted nothing")?;
    println!("B4 {line}");
    Ok(good && line.starts_with(&format!("{INPUTS} inputs, ")))
}
