//! Numbers as the table shows them.

use tgm_std::metadata::query::compare::Number;

use crate::show::table::Cell;

pub(super) fn float_cell(value: Option<f64>) -> Cell {
    value.map_or("".into(), |value| float_text(value).into())
}

/// Integers with all digits, floats with seven.
pub(super) fn number_text(number: Number) -> String {
    match number {
        Number::Integer(integer) => integer.to_string(),
        Number::Float(float) => float_text(float),
    }
}

/// A number with seven significant digits, which float32 has.
pub(super) fn float_text(value: f64) -> String {
    let magnitude = value.abs();
    if value != 0.0 && !(1e-4..1e7).contains(&magnitude) {
        return format!("{value:.6e}");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from -4 to 7")]
    let decimals = if magnitude > 0.0 { (6.0 - magnitude.log10().floor()).max(0.0) as usize } else { 0 };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::float_text;

    #[test]
    fn numbers_have_seven_digits() {
        let texts = [(0.0, "0"), (1.5, "1.5"), (-273.15, "-273.15"), (1.0 / 3.0, "0.3333333"), (1e-9, "1.000000e-9")];
        for (value, text) in texts {
            assert_eq!(float_text(value), text);
        }
        assert_eq!((float_text(123_456.789), float_text(2e8)), ("123456.8".to_string(), "2.000000e8".to_string()));
    }
}
