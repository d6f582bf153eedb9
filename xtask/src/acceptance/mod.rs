//! `acceptance ID`: one figure on the last line, with the number of checks and the seed. No checks is a failure.
mod corpus;
mod judge;
mod keys;
mod module;
mod vectors;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
pub use turnkeep_checks::Figure;

use crate::shell::{Missing, Usage, in_ci, stage};

/// The seed of every random part, printed with the figure.
const SEED: u64 = 20_260_101;

pub fn run(id: &str) -> Result<bool> {
    // These need packages and no data set.
    match id {
        "guard" => return crate::torture::run_all(crate::torture::Program::Check),
        "real-server" => return crate::torture::run_all(crate::torture::Program::RealServer),
        "B4" => return keys::run(),
        "aimock" => return crate::torture::run_all(crate::torture::Program::Agreement),
        _ => {}
    }
    if id == "A6" {
        return report(id, &stage("A6: generated values and turns", judge::run)?);
    }
    let (title, figure): (&str, fn(&Path) -> Result<Figure>) = match id {
        "A1" => ("cases, renamed too", corpus::cases),
        "A2" => ("recordings", corpus::recordings),
        "http" => ("recordings over HTTP", corpus::over_http),
        "A3" => ("event streams", vectors::sse),
        "A4" => ("JSON and UTF-8", vectors::json),
        "A5" => ("canonical form", vectors::jcs),
        _ => bail!(Usage(format!("no acceptance figure `{id}`: A1 to A6, B4, http, guard, aimock, real-server"))),
    };
    let Some(dir) = data_dir()? else {
        println!("{id} NOT CHECKED");
        bail!(Missing("CONFORMANCE_DIR, the folder that holds cases/, corpus/ and vectors/".into()));
    };
    let figure = stage(&format!("{id}: {title}"), || figure(&dir))?;
    report(id, &figure)
}

fn report(id: &str, figure: &Figure) -> Result<bool> {
    for wrong in figure.wrong.iter().take(40) {
        println!("    FAIL {wrong}");
    }
    let right = figure.checks - figure.wrong.len().min(figure.checks);
    let share = if figure.checks == 0 { 0.0 } else { right as f64 * 100.0 / figure.checks as f64 };
    println!("{id} {share:.3} % right, {} checks, {} wrong, seed {SEED}", figure.checks, figure.wrong.len());
    Ok(figure.checks > 0 && figure.wrong.is_empty())
}

/// The data, if any. A path that was given, or CI, makes missing data a failure.
fn data_dir() -> Result<Option<PathBuf>> {
    let given = std::env::var_os("CONFORMANCE_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    match given {
        Some(dir) if dir.is_dir() => Ok(Some(dir)),
        Some(dir) => bail!(Missing(format!("{}, from CONFORMANCE_DIR", dir.display()))),
        None if in_ci() => bail!(Missing("CONFORMANCE_DIR, the folder that holds cases/, corpus/ and vectors/".into())),
        None => Ok(None),
    }
}

/// The halves of a set that are there, `open` and `held`; none is a failure.
fn halves(base: PathBuf, ending: &str) -> Result<Vec<PathBuf>> {
    let found: Vec<PathBuf> =
        ["open", "held"].iter().map(|half| base.join(format!("{half}{ending}"))).filter(|path| path.exists()).collect();
    if found.is_empty() {
        bail!(Missing(format!("{}/open{ending}", base.display())));
    }
    Ok(found)
}
