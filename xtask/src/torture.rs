//! `torture`, `acceptance guard` and `acceptance aimock`: unsafe and legal streams against the SDKs in `benches/torture`, over HTTP, without and with the guard.
//! The guard is the one of the installed tarball; the SDKs are those of the committed lock file.
use anyhow::Result;

use crate::shell::{command, read, root, run, sha256_hex, stage, tee, write};
use crate::{build, npm, tools};

/// What is run.
#[derive(Clone, Copy)]
pub enum Program {
    /// The tables, kept in `results.md`.
    Tables,
    /// The same without tables.
    Check,
    /// A server that is not ours, read by our runtime and by the vendors' own parsers.
    Agreement,
    /// The same with a real model at `REAL_SERVER_URL`.
    RealServer,
}

/// Gives whether everything was right; the last line counts.
pub fn run_all(program: Program) -> Result<bool> {
    build::build_if_stale()?;
    npm::installed()?;
    install()?;
    let (file, option) = match program {
        Program::Tables => ("main.mjs", Some("--write")),
        Program::Check => ("main.mjs", Some("--check")),
        Program::Agreement => ("aimock.mjs", None),
        Program::RealServer => ("real-server.mjs", None),
    };
    let mut node = command(tools::node()?);
    node.arg(root().join("benches/torture").join(file)).args(option);
    Ok(tee(&mut node)?.1)
}

/// `npm ci` when the lock file is another one than that of `node_modules`. Scripts of the packages are not needed.
fn install() -> Result<()> {
    let home = root().join("benches/torture");
    let stamp = home.join("node_modules/.lock-digest");
    let digest = sha256_hex(&read(&home.join("package-lock.json"))?);
    if std::fs::read_to_string(&stamp).is_ok_and(|old| old == digest) {
        return Ok(());
    }
    stage("npm ci in benches/torture/", || {
        let mut npm = command(tools::npm()?);
        run(npm.current_dir(&home).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]))
    })?;
    write(&stamp, digest.as_bytes())
}
