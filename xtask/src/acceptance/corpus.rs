//! A1 and A2: the cases under 20 renamings, and the recordings, natively and in Node from the packed tarball; and over HTTP.
use std::path::Path;

use anyhow::Result;

use super::{Figure, SEED};
use crate::conformance::{cases, data, mutate, node::Node, recordings, runner::Native, runner::Runner};
use crate::support::{rng::Rng, splits, verdict::Verdict};

/// Renamings on each runner; Node is the slower one, and renaming tests the core, not the runner.
const NATIVE_SEEDS: u64 = 20;
const NODE_SEEDS: u64 = 2;

/// Every case right in every way of reading, as it stands and renamed with 20 seeds.
pub fn cases(dir: &Path) -> Result<Figure> {
    let mut figure = Figure::default();
    let mut runners: [(&str, u64, Box<dyn Runner>); 2] =
        [("native", NATIVE_SEEDS, Box::new(Native)), ("node", NODE_SEEDS, Box::new(Node::start()?))];
    for (name, seeds, runner) in &mut runners {
        for seed in 0..=*seeds {
            let mut files = data::read_all_cases(dir)?;
            if seed > 0 {
                mutate::all(&mut files, seed)?;
            }
            for result in cases::run(&files, runner.as_mut(), SEED + seed)? {
                figure.check(result.wrong.is_empty() && result.stray_calls == 0, || {
                    format!("{} on {name}, seed {seed}: {}", result.id, result.wrong.join("; "))
                });
            }
        }
        println!("    {name}: {} checks so far", figure.checks);
    }
    Ok(figure)
}

/// Every recording as its hint means or listed, the same on both runners.
pub fn recordings(dir: &Path) -> Result<Figure> {
    let mut figure = Figure::default();
    let all = data::read(dir)?.recordings;
    let listed = recordings::listed_differences()?;
    let native = recordings::run(&all, &mut Native, SEED)?;
    let node = recordings::run(&all, &mut Node::start()?, SEED)?;
    for (native, node) in native.iter().zip(&node) {
        let trouble = native.trouble.as_ref().or(node.trouble.as_ref());
        let right = trouble.is_none() && native.differs() == listed.contains(&native.file);
        figure.check(right, || match trouble {
            Some(trouble) => format!("{}: {trouble}", native.file),
            None => format!("{}: {}, listed: {}", native.file, native.brief(), listed.contains(&native.file)),
        });
        figure.check(native.verdict == node.verdict, || {
            format!("{}: {} natively, {} in Node", native.file, native.brief(), node.brief())
        });
    }
    Ok(figure)
}

/// Every recording with a 2xx over real HTTP, in one piece and in random pieces: the outcome of our runtime is the native one, and the guard
/// hands over the same bytes or the same code.
pub fn over_http(dir: &Path) -> Result<Figure> {
    let mut figure = Figure::default();
    let mut http = Node::over_http()?;
    let mut pieces = 0;
    for recording in data::read(dir)?.recordings {
        if recording.job.status.is_some_and(|status| !(200..300).contains(&status)) {
            continue;
        }
        let mut rng = Rng::for_text(SEED, &recording.file);
        let plans = [Vec::new(), splits::random(recording.job.body.len(), &mut rng)];
        pieces += plans[1].len();
        let native = Native.run(&recording.job, &plans)?;
        let over_http = http.run(&recording.job, &plans)?;
        figure.check(native.is_ok() && native == over_http, || match (&native, &over_http) {
            (Ok(native), Ok(http)) => {
                let pair = native.iter().zip(http).find(|(native, http)| native != http);
                let brief =
                    |(native, http): (&Verdict, &Verdict)| format!("{} natively, {}", native.brief(), http.brief());
                format!("{}: {} over HTTP", recording.file, pair.map(brief).unwrap_or_default())
            }
            (Err(trouble), _) | (_, Err(trouble)) => format!("{}: {trouble}", recording.file),
        });
    }
    println!("    {} recordings, two ways each, {pieces} cuts", figure.checks);
    Ok(figure)
}
