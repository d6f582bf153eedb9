//! Sizes of the core and of each entry with all that it imports, held by the committed budget.
use anyhow::{Context, Result, bail};

use crate::build::pkg;
use crate::shell::{capture, command, read_json, root};
use crate::tools;

/// Prints the sizes and gives what is over the budget. A build goes on; the fast tier fails.
pub fn over_budget() -> Result<Vec<String>> {
    let budget = read_json(&pkg().join("size-budget.json"))?;
    let text = capture(command(tools::node()?).arg(root().join("bindings/scripts/sizes.mjs")))?;
    let sizes: serde_json::Value = serde_json::from_str(&text).context("sizes.mjs gave no JSON")?;
    let rows = sizes.as_array().context("sizes.mjs gave no list")?;
    println!("    {:<24} {:>10} {:>10} {:>10} {:>10}", "bytes", "raw", "gzip", "brotli", "budget");
    let mut over = Vec::new();
    for row in rows {
        let name = row["name"].as_str().context("a size without a name")?;
        let kind = if name == "core.wasm" { name } else { "entry" };
        let limit = budget[kind].as_u64().with_context(|| format!("size-budget.json has no `{kind}`"))?;
        let number = |field: &str| row[field].as_u64().with_context(|| format!("{name}: no {field}"));
        let (raw, gzip, brotli) = (number("raw")?, number("gzip")?, number("brotli")?);
        println!("    {name:<24} {raw:>10} {gzip:>10} {brotli:>10} {limit:>10}");
        if gzip > limit {
            over.push(format!("{name}: {gzip} > {limit}"));
        }
    }
    if rows.is_empty() {
        bail!("no sizes measured");
    }
    for row in &over {
        println!("    OVER THE BUDGET: {row}");
    }
    Ok(over)
}
