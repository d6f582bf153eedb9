//! A5: RFC 8785 files, and numbers of the published sequence (N-02).
use serde_json::Value;
use turnkeep::json::{canonical, parse_bytes};

use crate::{Figure, bytes, hex_bytes, word};

/// `{name, input, output, hex}`, the first two as base64: the canonical form as text and as bytes.
pub fn file(job: &Value, figure: &mut Figure) -> Result<(), String> {
    let name = word(job, "name")?;
    let input = bytes(job, "input")?;
    let got = canonical(&parse_bytes(&input).map_err(|error| format!("{name}: {error:?}"))?);
    figure.check(got.as_bytes() == bytes(job, "output")?.trim_ascii_end(), || format!("{name}: {got}"));
    let wanted = hex_bytes(word(job, "hex")?)?;
    figure.check(got.as_bytes() == wanted, || format!("{name}: other bytes than its hex file"));
    Ok(())
}

/// A list of lines.
pub fn numbers(job: &Value, figure: &mut Figure) -> Result<(), String> {
    for line in job.as_array().ok_or("numbers are a list")? {
        number(line.as_str().ok_or("a line is no text")?, figure)?;
    }
    Ok(())
}

/// `hex bits,ECMAScript text`: that text, and Rust's own text of the double, must both read back to it.
fn number(line: &str, figure: &mut Figure) -> Result<(), String> {
    let (bits, text) = line.split_once(',').ok_or_else(|| format!("not `bits,text`: {line}"))?;
    let double = f64::from_bits(u64::from_str_radix(bits, 16).map_err(|_| format!("not bits: {line}"))?);
    for spelling in [text.to_owned(), format!("{double:e}")] {
        let read = parse_bytes(spelling.as_bytes()).map(|value| canonical(&value));
        figure.check(read.as_deref() == Ok(text), || format!("{line}: `{spelling}` became {read:?}"));
    }
    Ok(())
}
