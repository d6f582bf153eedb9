//! The text of a number by RFC 8785, which takes it from ECMAScript (N-02).

use super::Number;

/// The one text of a number: integers of 64 bits keep their digits, doubles are written as ECMAScript writes them.
#[must_use]
pub fn number_text(number: Number) -> String {
    match number {
        Number::Int(n) => n.to_string(),
        Number::Uint(n) => n.to_string(),
        Number::Double(n) => double_text(n),
    }
}

/// serde_json finds the shortest digits that read back to the same double; ECMAScript only lays them out differently.
fn double_text(double: f64) -> String {
    if double == 0.0 || !double.is_finite() {
        return "0".to_owned();
    }
    let shortest = serde_json::to_string(&double.abs()).unwrap_or_default();
    let (mantissa, exponent) = shortest.split_once(['e', 'E']).unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let leading = all.len().saturating_sub(all.trim_start_matches('0').len());
    let digits = all.trim_matches('0');
    // The value is 0.DIGITS x 10^point.
    let point = i32::try_from(whole.len())
        .unwrap_or(i32::MAX)
        .saturating_add(exponent)
        .saturating_sub(i32::try_from(leading).unwrap_or(i32::MAX));
    let sign = if double < 0.0 { "-" } else { "" };
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or(0));
    if (count..=21).contains(&point) {
        return format!("{sign}{digits}{}", zeros(point.saturating_sub(count)));
    }
    if (1..=21).contains(&point) {
        let (before, after) = digits.split_at_checked(usize::try_from(point).unwrap_or(0)).unwrap_or((digits, ""));
        return format!("{sign}{before}.{after}");
    }
    if (-5..=0).contains(&point) {
        return format!("{sign}0.{}{digits}", zeros(point.saturating_neg()));
    }
    let power = point.saturating_sub(1);
    let power_sign = if power < 0 { '-' } else { '+' };
    let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
    let dot = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{dot}{rest}e{power_sign}{}", power.unsigned_abs())
}
