//! A3, A4, A5: published vectors. Each job runs natively and in wasm32 under Node, through the same code.
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Figure, SEED, halves, module};
use crate::build::base64;
use crate::shell::{files_below, read, read_json, root};

/// Lines of numbers in one job.
const NUMBERS: usize = 500;

/// One call of `turnkeep_checks::check`.
pub struct Job {
    pub kind: &'static str,
    pub input: Value,
}

/// A3: event streams.
pub fn sse(dir: &Path) -> Result<Figure> {
    let mut jobs = Vec::new();
    for file in halves(dir.join("vectors/sse"), ".json")? {
        for vector in read_json(&file)?.as_array().context("the sse vectors are no list")? {
            jobs.push(Job { kind: "sse", input: vector.clone() });
        }
    }
    println!("    {} vectors", jobs.len());
    both(&jobs)
}

/// A4: JSONTestSuite (what it leaves open is in `tests/json-i-table.json`) and the UTF-8 set.
pub fn json(dir: &Path) -> Result<Figure> {
    let table = read_json(&root().join("tests/json-i-table.json"))?;
    let mut jobs = Vec::new();
    for half in halves(dir.join("vectors/json-parsing"), "")? {
        for file in files_below(&half, ".json")? {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let ours = match &table["files"][name.as_ref()] {
                Value::Null => Value::Null,
                entry => json!(entry["ours"].as_str().with_context(|| format!("{name}: no `ours` in the table"))?),
            };
            let input = json!({ "name": name, "bytes": base64(&read(&file)?), "ours": ours });
            jobs.push(Job { kind: "json", input });
        }
    }
    let files = jobs.len();
    for file in halves(dir.join("vectors/utf8"), ".json")? {
        for line in read_json(&file)?.as_array().context("the UTF-8 set is no list")? {
            jobs.push(Job { kind: "utf8", input: line.clone() });
        }
    }
    let lines = jobs.len() - files;
    println!("    {files} JSON files, {lines} UTF-8 sequences");
    let mut figure = both(&jobs)?;
    figure.check(files > 0 && lines > 0, || format!("{files} JSON files, {lines} UTF-8 sequences"));
    Ok(figure)
}

/// A5: RFC 8785 files and the published sequence of numbers.
pub fn jcs(dir: &Path) -> Result<Figure> {
    let mut jobs = Vec::new();
    let mut numbers = Vec::new();
    for half in halves(dir.join("vectors/jcs"), "")? {
        for input in files_below(&half.join("input"), ".json")? {
            let name = input.file_name().context("a file without a name")?;
            let output = read(&half.join("output").join(name))?;
            let hex = String::from_utf8(read(&half.join("outhex").join(name).with_extension("txt"))?)?;
            let name = input.display().to_string();
            let input = json!({ "name": name, "input": base64(&read(&input)?), "output": base64(&output), "hex": hex });
            jobs.push(Job { kind: "jcs", input });
        }
        for list in files_below(&half, ".txt")?
            .iter()
            .filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("es6-numbers")))
        {
            let text = String::from_utf8(read(list)?)?;
            numbers.extend(text.lines().filter(|line| !line.is_empty()).map(str::to_owned));
        }
    }
    println!("    {} files, {} numbers", jobs.len(), numbers.len());
    let enough = !jobs.is_empty() && !numbers.is_empty();
    jobs.extend(numbers.chunks(NUMBERS).map(|lines| Job { kind: "numbers", input: json!(lines) }));
    let mut figure = both(&jobs)?;
    figure.check(enough, || "no files, or no numbers".to_owned());
    Ok(figure)
}

/// Natively and in wasm. Both must have checked the same number of things; which side is wrong stands in each line.
fn both(jobs: &[Job]) -> Result<Figure> {
    let mut native = Figure::default();
    for job in jobs {
        let found = turnkeep_checks::check(job.kind, job.input.to_string().as_bytes(), SEED);
        native.add(found.map_err(|trouble| anyhow::anyhow!(trouble))?);
    }
    let wasm = module::run(jobs, SEED)?;
    println!(
        "    native: {} checks, {} wrong; wasm: {} checks, {} wrong",
        native.checks,
        native.wrong.len(),
        wasm.checks,
        wasm.wrong.len()
    );
    let (same, counts) = (native.checks == wasm.checks, (native.checks, wasm.checks));
    let said = |side: &str, wrong: Vec<String>| wrong.into_iter().map(move |line| format!("{side}: {line}")).collect();
    let mut figure = Figure { checks: native.checks, wrong: said("native", native.wrong) };
    figure.add(Figure { checks: wasm.checks, wrong: said("wasm", wasm.wrong) });
    figure.check(same, || format!("{} checks natively, {} in wasm", counts.0, counts.1));
    Ok(figure)
}
