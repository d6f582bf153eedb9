//! `demo`: the example against the packed package, as a user's project would import it.
use std::ffi::OsString;

use anyhow::{Result, bail};

use crate::shell::{Missing, command, root, show};
use crate::{build, npm, tools};

pub fn run(args: Vec<OsString>) -> Result<bool> {
    let main = root().join("examples/demo/main.mjs");
    println!("==> demo: {}", main.display());
    if !main.is_file() {
        bail!(Missing(format!("{}", main.display())));
    }
    build::build_if_stale()?;
    npm::installed()?;
    let mut node = command(tools::node()?);
    node.arg(&main).args(args).stdin(std::process::Stdio::inherit());
    println!("==> {}", show(&node));
    Ok(node.status()?.success())
}
