//! Aligned tables for people.
//!
//! Long cells are cut in the middle, because paths and names often differ at their end. JSON output has them whole.

use std::io::{self, Write};
use std::ops::Range;

use crate::show::output::{Out, Style};
use crate::show::text::{cut, escape};

/// Rows that are laid out together. Widths never shrink from one block to the next. So short tables are aligned
/// throughout, and long ones need memory for one block only.
const BLOCK: usize = 1024;
/// Range of cell widths: the greatest where output is no terminal, the least on a terminal.
const CELL: Range<usize> = 40..100;
/// The last cell of a row may be this many times wider, because nothing follows it.
const SPREAD: usize = 4;

/// A column: its title and alignment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    title: &'static str,
    right: bool,
    optional: bool,
}

impl Column {
    /// A column of text.
    pub(crate) const fn left(title: &'static str) -> Self {
        Self { title, right: false, optional: false }
    }

    /// A column of numbers.
    pub(crate) const fn right(title: &'static str) -> Self {
        Self { title, right: true, optional: false }
    }

    /// This column, hidden if it is empty in the first block.
    pub(crate) const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }
}

/// A cell: one column of one row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    text: String,
    style: Style,
    /// The cell extends over the following columns.
    spread: bool,
}

impl Cell {
    /// A cell in a style.
    pub(crate) fn styled(style: Style, text: &str) -> Self {
        Self { text: escape(text), style, spread: false }
    }

    /// A cell that ends its row and may be wider than its column.
    pub(crate) fn spread(style: Style, text: &str) -> Self {
        Self { spread: true, ..Self::styled(style, text) }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }

    /// This cell, cut to `limit`.
    fn cut(self, limit: usize) -> Self {
        Self { text: cut(self.text, limit), ..self }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::styled(Style::Plain, text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::from(number.to_string())
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        Self::from(number.to_string())
    }
}

/// A table that is being filled.
pub(crate) struct Table {
    columns: Vec<(Column, String)>,
    rows: Vec<Vec<Cell>>,
    /// Widths of the shown columns. Empty before the first block.
    widths: Vec<usize>,
    shown: Vec<bool>,
    indent: &'static str,
    /// Characters of a cell.
    limit: usize,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        let columns = columns.into_iter().map(|column| (column, column.title.to_string())).collect();
        let limit = limit(Out::columns());
        Self { columns, rows: Vec::new(), widths: Vec::new(), shown: Vec::new(), indent: "", limit }
    }

    /// This table with more columns of text, whose titles the user gave.
    pub(crate) fn with_titles<'t>(mut self, titles: impl IntoIterator<Item = &'t String>) -> Self {
        let limit = self.limit;
        self.columns.extend(titles.into_iter().map(|title| (Column::left(""), cut(escape(title), limit))));
        self
    }

    /// This table, indented.
    pub(crate) fn indented(mut self, indent: &'static str) -> Self {
        self.indent = indent;
        self
    }

    /// Adds a row; columns beyond its cells stay empty.
    pub(crate) fn row(&mut self, out: &mut Out, cells: Vec<Cell>) -> io::Result<()> {
        let last = self.columns.len().saturating_sub(1);
        let limit = |index, is_spread| if is_spread || index == last { self.limit * SPREAD } else { self.limit };
        let cells = cells.into_iter().enumerate();
        self.rows.push(
            cells
                .map(|(index, cell)| {
                    let limit = limit(index, cell.spread);
                    cell.cut(limit)
                })
                .collect(),
        );
        if self.rows.len() >= BLOCK { self.finish(out) } else { Ok(()) }
    }

    /// Writes the rows that have not been written yet.
    pub(crate) fn finish(&mut self, out: &mut Out) -> io::Result<()> {
        let rows = std::mem::take(&mut self.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let is_first = self.shown.is_empty();
        if is_first {
            self.choose_columns(&rows);
        }
        self.widen(&rows);
        if is_first {
            let titles = self.columns.iter().map(|(_, title)| Cell::styled(Style::Heading, title)).collect::<Vec<_>>();
            self.write_row(out, &titles)?;
        }
        rows.iter().try_for_each(|row| self.write_row(out, row))
    }

    fn choose_columns(&mut self, rows: &[Vec<Cell>]) {
        let is_used = |index: usize| rows.iter().any(|row| row.get(index).is_some_and(|cell| !cell.text.is_empty()));
        let columns = self.columns.iter().enumerate();
        self.shown = columns.map(|(index, (column, _))| !column.optional || is_used(index)).collect();
        self.widths = self.columns.iter().map(|(_, title)| title.chars().count()).collect();
    }

    fn widen(&mut self, rows: &[Vec<Cell>]) {
        for row in rows {
            for (width, cell) in self.widths.iter_mut().zip(row).filter(|(_, cell)| !cell.spread) {
                *width = cell.width().max(*width);
            }
        }
    }

    fn write_row(&self, out: &mut Out, cells: &[Cell]) -> io::Result<()> {
        out.write_all(self.indent.as_bytes())?;
        // Blanks are written only if text follows, so that no line ends with blanks.
        let mut blanks = 0;
        let columns = self.columns.iter().zip(&self.widths).zip(&self.shown).zip(cells);
        for (((column, width), _), cell) in columns.filter(|((_, shown), _)| **shown) {
            let padding = width.saturating_sub(cell.width());
            let (before, after) = if column.0.right && !cell.spread { (padding, 0) } else { (0, padding) };
            if cell.text.is_empty() {
                blanks += padding + 2;
            } else {
                out.blanks(blanks + before)?;
                out.styled(cell.style, &cell.text)?;
                blanks = after + 2;
            }
        }
        writeln!(out)
    }
}

/// The cell limit: half a row on a terminal.
fn limit(columns: Option<usize>) -> usize {
    columns.map_or(CELL.end, |columns| (columns / 2).max(CELL.start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_take_half_of_a_terminal_and_are_not_cut_to_nothing() {
        assert_eq!([None, Some(300), Some(80), Some(1), Some(65_535)].map(limit), [100, 150, 40, 40, 32_767]);
    }
}
