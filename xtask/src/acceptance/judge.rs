//! A6: generated values and wire turns, natively, in wasm32, and by the naive reader of `tests/judge`, which knows the rules and not the core.
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::{Figure, SEED, module};
use crate::shell::{command, root, run as run_command, stage, target_dir, write};
use crate::tools;

const VALUES: usize = 100_000;
const TURNS: usize = 20_000;
/// Generated at once.
const SLICE: usize = 1_000;

/// Needs no data, but Python and one package.
pub fn run() -> Result<Figure> {
    let python = tools::python_rfc8785()?;
    let module = module::build()?;
    let mut figure = Figure::default();
    for (kind, count) in [("values", VALUES), ("turns", TURNS)] {
        let native = stage(&format!("{count} {kind}, natively"), || natively(kind, count))?;
        let wasm = stage(&format!("{count} {kind}, in wasm"), || in_wasm(&module, kind, count))?;
        let judged = stage(&format!("{count} {kind}, by the naive reader"), || judge(&python, kind))?;
        figure.add(compare(kind, count, &native, &wasm, &judged)?);
    }
    Ok(figure)
}

fn file(kind: &str, who: &str) -> PathBuf {
    target_dir().join(format!("a6/{kind}.{who}.jsonl"))
}

fn natively(kind: &str, count: usize) -> Result<String> {
    let mut lines = String::new();
    for from in (0..count).step_by(SLICE) {
        let slice = SLICE.min(count - from);
        lines.push_str(&turnkeep_checks::answers(kind, from, slice, SEED).map_err(anyhow::Error::msg)?);
    }
    write(&file(kind, "native"), lines.as_bytes())?;
    Ok(lines)
}

/// Through files: a pipe that nobody reads fills up.
fn to_file(program: &mut std::process::Command, out: &Path) -> Result<String> {
    run_command(program.stdout(File::create(out)?))?;
    Ok(std::fs::read_to_string(out)?)
}

fn in_wasm(module: &Path, kind: &str, count: usize) -> Result<String> {
    let mut node = command(tools::node()?);
    node.arg(root().join("tests/js/lib/answers.mjs"))
        .arg(module)
        .arg(kind)
        .arg(count.to_string())
        .arg(SEED.to_string());
    to_file(&mut node, &file(kind, "wasm"))
}

fn judge(python: &Path, kind: &str) -> Result<String> {
    let mut judge = command(python);
    judge.arg("-B").arg(root().join("tests/judge/judge.py")).arg(kind).stdin(File::open(file(kind, "native"))?);
    to_file(&mut judge, &file(kind, "judge"))
}

fn compare(kind: &str, count: usize, native: &str, wasm: &str, judged: &str) -> Result<Figure> {
    let lines = [native, wasm, judged].map(|text| text.lines().count());
    if lines != [count; 3] {
        bail!("{count} {kind} were generated; lines natively, in wasm, by the reader: {lines:?}");
    }
    let mut figure = Figure::default();
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for (number, ((ours, wasm), judged)) in native.lines().zip(wasm.lines()).zip(judged.lines()).enumerate() {
        figure.check(ours == wasm, || format!("{kind} {number}: natively {ours}, in wasm {wasm}"));
        let line: Value = serde_json::from_str(ours).context("a line of ours is no JSON")?;
        let judged: Value = serde_json::from_str(judged).context("a line of the reader is no JSON")?;
        let said = &line["ours"];
        let word = said["code"].as_str().or(said["outcome"].as_str()).unwrap_or("accepted");
        *outcomes.entry(word.to_owned()).or_default() += 1;
        let right = match judged["codes"].as_array() {
            None => *said == judged,
            Some(codes) => {
                if codes.len() > 1 {
                    *open.entry(judged["codes"].to_string()).or_default() += 1;
                }
                codes.contains(&said["code"])
            }
        };
        figure.check(right, || format!("{kind} {number}: {said} instead of {judged}: {}", shown(&line)));
    }
    let list = |counts: &BTreeMap<String, usize>| {
        counts.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
    };
    println!("    {kind}: {}", list(&outcomes));
    println!("    {} of them where the rules leave the code open: {}", open.values().sum::<usize>(), list(&open));
    Ok(figure)
}

/// What was read, for a person.
fn shown(line: &Value) -> String {
    let Some(hex) = line["body"].as_str() else {
        return line["text"].to_string();
    };
    let byte = |at: usize| hex.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok()).unwrap_or(b'?');
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
    format!("{} {} {}", line["protocol"], line["what"], String::from_utf8_lossy(&bytes))
}
