//! A1 and A2: the cases under 20 renamings, and the recordings, natively and in Node from the packed tarball.
use std::path::Path;

use anyhow::Result;

use super::{Figure, SEED};
use crate::conformance::{cases, data, mutate, node::Node, recordings, runner::Native, runner::Runner};

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
