//! `acceptance ID`: one figure on the last line, with the number of checks and the seed. No checks is a failure.
mod corpus;
mod fuzz;
mod hostile;
mod judge;
mod keys;
mod module;
mod vectors;

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
pub use turnkeep_checks::Figure;

use crate::shell::{Missing, Usage, stage};

/// The seed of every random part, printed with the figure.
const SEED: u64 = 20_260_101;

/// What only B1 has.
#[derive(Debug, Default)]
pub struct Options {
    pub seconds: Option<u64>,
    pub keep: bool,
}

pub fn run(id: &str, options: &Options) -> Result<bool> {
    match id {
        "guard" => return crate::torture::run_all(crate::torture::Program::Check),
        "real-server" => return crate::torture::run_all(crate::torture::Program::RealServer),
        "B4" => return keys::run(),
        "aimock" => return crate::torture::run_all(crate::torture::Program::Agreement),
        _ => {}
    }
    let needs_data = |title: &str, figure: fn(&Path) -> Result<Figure>| {
        let dir = data_dir()?;
        stage(&format!("{id}: {title}"), || figure(&dir))
    };
    let figure = match id {
        "A1" => needs_data("cases, renamed too", corpus::cases)?,
        "A2" => needs_data("recordings", corpus::recordings)?,
        "http" => needs_data("recordings over HTTP", corpus::over_http)?,
        "A3" => needs_data("event streams", vectors::sse)?,
        "A4" => needs_data("JSON and UTF-8", vectors::json)?,
        "A5" => needs_data("canonical form", vectors::jcs)?,
        "A6" => stage("A6: generated values and turns", judge::run)?,
        "B1" => stage("B1: fuzz targets", || fuzz::run(options.seconds, options.keep))?,
        "B2" => stage("B2: hostile answers", hostile::run)?,
        _ => {
            bail!(Usage(format!("no acceptance figure `{id}`: A1 to A6, B1, B2, B4, http, guard, aimock, real-server")))
        }
    };
    for wrong in figure.wrong.iter().take(40) {
        println!("    FAIL {wrong}");
    }
    let right = figure.checks - figure.wrong.len().min(figure.checks);
    let share = if figure.checks == 0 { 0.0 } else { right as f64 * 100.0 / figure.checks as f64 };
    println!("{id} {share:.3} % right, {} checks, {} wrong, seed {SEED}", figure.checks, figure.wrong.len());
    Ok(figure.checks > 0 && figure.wrong.is_empty())
}

/// The data. These figures are nothing without it.
fn data_dir() -> Result<PathBuf> {
    let given = std::env::var_os("CONFORMANCE_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    match given {
        Some(dir) if dir.is_dir() => Ok(dir),
        Some(dir) => bail!(Missing(format!("{}, from CONFORMANCE_DIR", dir.display()))),
        None => bail!(Missing("CONFORMANCE_DIR, the folder that holds cases/, corpus/ and vectors/".into())),
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
