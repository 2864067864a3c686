//! Aligned columns.

use crate::show::text::cut;

/// The widest cell.
const WIDEST: usize = 40;

/// Rows of cells as lines. Each column is as wide as its widest cell, and text in it stands left or, where `right` says so,
/// right. Columns that are empty in all rows are left out.
pub(super) fn aligned(titles: &[&str], rows: &[Vec<String>], right: &[bool]) -> (String, Vec<String>) {
    let text = |row: &Vec<String>, column: usize| cut(row.get(column).cloned().unwrap_or_default(), WIDEST);
    let widths: Vec<usize> = (0..titles.len())
        .map(|column| rows.iter().map(|row| text(row, column).chars().count()).max().unwrap_or(0))
        .collect();
    let line = |cell: &dyn Fn(usize) -> String| {
        let mut line = String::new();
        for (column, width) in widths.iter().enumerate().filter(|(_, width)| **width > 0) {
            let width = (*width).max(titles.get(column).map_or(0, |title| title.chars().count()));
            let cell = cell(column);
            let is_right = right.get(column).copied().unwrap_or_default();
            let blanks = " ".repeat(width.saturating_sub(cell.chars().count()));
            let (before, after) = if is_right { (&*blanks, "") } else { ("", &*blanks) };
            line.extend([before, &*cell, after, "  "]);
        }
        line.trim_end().to_string()
    };
    let heading = line(&|column| titles.get(column).map_or(String::new(), |title| (*title).to_string()));
    (heading, rows.iter().map(|row| line(&|column| text(row, column))).collect())
}

#[cfg(test)]
mod tests {
    use super::aligned;

    #[test]
    fn empty_columns_are_left_out_and_numbers_stand_right() {
        let row = |cells: [&str; 3]| cells.map(str::to_string).to_vec();
        let (heading, lines) = aligned(&["n", "none", "name"], &[row(["1", "", "é"]), row(["100", "", ""])], &[true]);
        assert_eq!((heading.as_str(), lines), ("  n  name", vec!["  1  é".to_string(), "100".to_string()]));
    }
}
