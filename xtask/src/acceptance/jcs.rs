//! A5: RFC 8785 files and the published sequence of numbers.
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use turnkeep::json::{canonical, parse_bytes};

use super::{Figure, halves, hex_bytes};
use crate::shell::{files_below, read};

pub fn run(dir: &Path) -> Result<Figure> {
    let mut figure = Figure::default();
    let (mut files, mut numbers) = (0, 0);
    for half in halves(dir.join("vectors/jcs"), "")? {
        for input in files_below(&half.join("input"), ".json")? {
            files += 1;
            let name = input.file_name().context("a file without a name")?;
            let bytes = read(&input)?;
            let got = canonical(&parse_bytes(&bytes).map_err(|error| anyhow!("{}: {error:?}", input.display()))?);
            let wanted = read(&half.join("output").join(name))?;
            figure.check(got.as_bytes() == wanted.trim_ascii_end(), || format!("{}: {got}", input.display()));
            let hex = half.join("outhex").join(name).with_extension("txt");
            let wanted = hex_bytes(&String::from_utf8(read(&hex)?)?)?;
            figure
                .check(got.as_bytes() == wanted, || format!("{}: other bytes than {}", input.display(), hex.display()));
        }
        for list in files_below(&half, ".txt")?
            .iter()
            .filter(|file| file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("es6-numbers")))
        {
            for line in String::from_utf8(read(list)?)?.lines().filter(|line| !line.is_empty()) {
                numbers += 1;
                check_number(line, &mut figure)?;
            }
        }
    }
    println!("    {files} files, {numbers} numbers");
    figure.check(files > 0 && numbers > 0, || format!("{files} files, {numbers} numbers"));
    Ok(figure)
}

/// `hex bits,ECMAScript text`: that text, and Rust's own text of the double, must both read back to it.
fn check_number(line: &str, figure: &mut Figure) -> Result<()> {
    let (bits, text) = line.split_once(',').with_context(|| format!("not `bits,text`: {line}"))?;
    let double = f64::from_bits(u64::from_str_radix(bits, 16).with_context(|| format!("not bits: {line}"))?);
    for spelling in [text.to_owned(), format!("{double:e}")] {
        let read = parse_bytes(spelling.as_bytes()).map(|value| canonical(&value));
        figure.check(read.as_deref() == Ok(text), || format!("{line}: `{spelling}` became {read:?}"));
    }
    Ok(())
}
