//! HTML for notebooks: tables, and texts in them.

use pyo3::prelude::*;

/// The number of characters of a value that are shown.
const SHOWN: usize = 400;

/// A table with these headings and rows.
pub(crate) fn table<const N: usize>(heads: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let head = heads.map(|head| format!("<th>{}</th>", escaped(head))).concat();
    let cell = |cell: String| format!("<td>{}</td>", escaped(&cell));
    let rows: Vec<String> = rows.map(|row| format!("<tr>{}</tr>", row.map(cell).concat())).collect();
    format!("<table><thead><tr>{head}</tr></thead><tbody>{}</tbody></table>", rows.concat())
}

/// The text of a value, as `str()` gives it, cut if it is long.
pub(crate) fn text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text = value.str()?.to_string_lossy().into_owned();
    Ok(match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    })
}

/// A number with commas between thousands: 1,234,567.
pub(crate) fn number(number: impl Into<u128>) -> String {
    let digits = number.into().to_string();
    let mut grouped = String::with_capacity(digits.len().saturating_mul(2));
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && digits.len().saturating_sub(at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A text with the characters replaced that HTML gives a meaning to.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
