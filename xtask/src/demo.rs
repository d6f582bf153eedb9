//! `demo`: the example against the packed package, as a user's project would import it.
use std::ffi::OsString;

use anyhow::{Result, bail};

use crate::shell::{Missing, command, root, show};
use crate::{build, npm, tools};

/// Said before anything is built; `examples/demo/main.mjs --help` says the same.
const USAGE: &str = "\
demo                                              the scripted demonstration, both protocols
demo --provider URL --protocol chat|messages --model M [--extra JSON]
       [--max-output-tokens N] [--no-tools] [--no-stream]
                                                  the same task against any server; key in TURNKEEP_API_KEY
";

pub fn run(args: Vec<OsString>) -> Result<bool> {
    if args.iter().any(|arg| arg == "--help" || arg == "-h") {
        print!("{USAGE}");
        return Ok(true);
    }
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
