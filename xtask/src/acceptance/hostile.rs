//! B2: hostile answers. Codes and heap in the test binary that counts allocations, codes and memory in wasm, and here how time grows.
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use cpu_time::ThreadTime;
use turnkeep_checks::support::hostile::{GENERATORS, Row, recipes, run as decode};

use super::Figure;
use crate::shell::{cargo, root, stage, target_dir, tee, write};

/// Ten times the bytes may take so many times the time.
const MOST: f64 = 15.0;
/// The best of so many runs counts, and a ratio that is too high is measured so often before it counts: the machine has other work too.
const RUNS: usize = 3;
const ATTEMPTS: usize = 3;
/// Below this a clock says nothing.
const LEAST: Duration = Duration::from_micros(50);

pub fn run() -> Result<Figure> {
    let mut figure = stage("codes and heap, native", native)?;
    figure.add(stage("time against size", times)?);
    figure.add(stage("codes and memory, wasm in Node", wasm)?);
    Ok(figure)
}

/// A suite of its own counts as one check more, which is wrong when it fails or counts nothing.
fn native() -> Result<Figure> {
    let mut test = cargo();
    test.args(["test", "--package", "turnkeep-checks", "--test", "hostile", "--", "--nocapture"]);
    let (text, good) = tee(&mut test)?;
    let mut figure = Figure::default();
    for line in text.lines().filter_map(|line| line.split_once("hostile ")) {
        let Some(line) = line.1.split_once(" checks, ").map(|(count, _)| count) else {
            continue;
        };
        figure.checks += line.parse::<usize>().context("a count")?;
    }
    let counted = figure.checks;
    figure.check(good && counted > 0, || format!("native: {counted} checks, see above"));
    Ok(figure)
}

fn wasm() -> Result<Figure> {
    let file = target_dir().join("hostile.json");
    write(&file, recipes().map_err(|error| anyhow!(error))?.as_bytes())?;
    let script = root().join("tests/js/hostile-core.mjs");
    let count = crate::fast::js_file(&script, &[("HOSTILE_RECIPES", &file)])?;
    let mut figure = Figure { checks: usize::try_from(count.passed + count.failed)?, wrong: Vec::new() };
    let counted = figure.checks;
    figure.check(count.failed == 0 && count.passed > 0, || format!("wasm: {} of {counted} fail", count.failed));
    Ok(figure)
}

fn times() -> Result<Figure> {
    let mut figure = Figure::default();
    let mut worst = (0.0, String::new());
    for generator in GENERATORS {
        let rows = |n| (generator.rows)(n).into_iter().filter(|row| row.scales).collect::<Vec<_>>();
        let (small, large) = (rows(generator.small), rows(generator.small * 10));
        figure.check(!small.is_empty() && small.len() == large.len(), || format!("{}: nothing grows", generator.id));
        for (one, ten) in small.iter().zip(&large) {
            let (mut least, mut most, mut ratio) = (Duration::MAX, Duration::MAX, f64::MAX);
            for _ in 0..ATTEMPTS {
                (least, most) = (least.min(best(one)?), most.min(best(ten)?));
                ratio = most.as_secs_f64() / least.max(LEAST).as_secs_f64();
                if ratio <= MOST {
                    break;
                }
            }
            figure
                .check(ratio <= MOST, || format!("{}: {ratio:.1} times the time, {least:?} and {most:?}", one.label()));
            if ratio > worst.0 {
                worst = (ratio, one.label());
            }
        }
    }
    println!("    {} checks; the worst ratio: {:.1}, {}", figure.checks, worst.0, worst.1);
    Ok(figure)
}

/// The time in the decoder alone, of this thread: by the clock on the wall a long run pays for what else the machine does, a short one does not.
fn best(row: &Row) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let mut time = Duration::ZERO;
        decode(row, &mut |work| {
            let start = ThreadTime::now();
            let more = work();
            time += start.elapsed();
            more
        })
        .map_err(|error| anyhow!(error))?;
        best = best.min(time);
    }
    Ok(best)
}
