//! Aligned tables for people.
//!
//! Long cells are cut in the middle, because paths and names often differ at their end. JSON output has them whole.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::Range;

use compact_str::{CompactString, ToCompactString as _};

use crate::show::output::{Out, Style};
use crate::show::text::{self, cut, escape, escaped, is_plain, width};

/// Rows that are laid out together. Widths never shrink from one block to the next. So short tables are aligned
/// throughout, and long ones need memory for one block only.
const BLOCK: usize = 1024;
/// Range of cell widths: the greatest where output is not a terminal, the least on a terminal.
const CELL: Range<usize> = 40..100;
/// The width of rows, in characters, from which on columns are left out that can be.
const WIDTH: usize = 100;
/// The least width of a column that is made narrower.
const NARROWEST: usize = 12;
/// Blanks before the rest of a row that was broken.
const GOING_ON: usize = 4;
/// The last cell of a row may be this many times wider, because nothing follows it.
const SPREAD: usize = 4;

/// The cell of what cannot be read.
const UNREADABLE: &str = "(unreadable)";

/// A column: its title and alignment.
#[expect(clippy::struct_excessive_bools, reason = "each is a property of its own")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    title: &'static str,
    right: bool,
    optional: bool,
    hidden: bool,
    whole: bool,
    differing: bool,
    /// How soon the column is left out where rows are wider than [`WIDTH`]: the highest rank first. 0 stays.
    spare: u8,
}

impl Column {
    const NONE: Self =
        Self { title: "", right: false, optional: false, hidden: false, whole: false, differing: false, spare: 0 };

    /// A column of text.
    pub(crate) const fn left(title: &'static str) -> Self {
        Self { title, ..Self::NONE }
    }

    /// A column of numbers.
    pub(crate) const fn right(title: &'static str) -> Self {
        Self { title, right: true, ..Self::NONE }
    }

    /// This column, hidden if it is empty in the first block.
    pub(crate) const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    /// This column, hidden unless it has different values in the first block.
    pub(crate) const fn differing(self) -> Self {
        Self { differing: true, ..self }
    }

    /// This column, left out where rows are wider than [`WIDTH`], or than the terminal if that is wider: those with the highest rank
    /// first.
    pub(crate) const fn spare(self, rank: u8) -> Self {
        Self { spare: rank, ..self }
    }

    /// This column, whose cells are of no use if they are cut.
    pub(crate) const fn whole(self) -> Self {
        Self { whole: true, ..self }
    }
}

/// A cell: one column of one row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    /// Short texts, as most are, need no memory of their own.
    text: CompactString,
    /// The number of its characters.
    width: usize,
    style: Style,
    /// The cell extends over the following columns.
    spread: bool,
}

impl Cell {
    /// A cell in a style.
    pub(crate) fn styled(style: Style, text: &str) -> Self {
        Self { style, ..Self::plain(escape(text)) }
    }

    /// A cell that ends its row and may be wider than its column.
    pub(crate) fn spread(style: Style, text: &str) -> Self {
        Self { spread: true, ..Self::styled(style, text) }
    }

    /// The cell that ends the row of something that cannot be read.
    pub(crate) fn unreadable() -> Self {
        Self::spread(Style::Bad, UNREADABLE)
    }

    fn is_unreadable(&self) -> bool {
        self.spread && self.style == Style::Bad && self.text == UNREADABLE
    }

    /// A cell of text that needs no escapes.
    fn plain(text: impl Into<CompactString>) -> Self {
        let text = text.into();
        Self { width: width(&text), text, style: Style::Plain, spread: false }
    }

    /// Cuts this cell to `limit`.
    fn cut(&mut self, limit: usize) {
        if self.width > limit {
            let Self { text, style, spread, .. } = std::mem::take(self);
            *self = Self { style, spread, ..Self::plain(cut(text.into(), limit)) };
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::styled(Style::Plain, text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::plain(escaped(text))
    }
}

impl From<Cow<'static, str>> for Cell {
    fn from(text: Cow<'static, str>) -> Self {
        match text {
            Cow::Borrowed(text) if is_plain(text) => Self::plain(text),
            text => Self::from(text.into_owned()),
        }
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::plain(number.to_compact_string())
    }
}

impl From<usize> for Cell {
    fn from(number: usize) -> Self {
        Self::plain(number.to_compact_string())
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
    /// Characters of a row on a terminal.
    room: Option<usize>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        let columns = columns.into_iter().map(|column| (column, column.title.to_string())).collect();
        let room = Out::columns();
        Self { columns, rows: Vec::new(), widths: Vec::new(), shown: Vec::new(), indent: "", limit: limit(room), room }
    }

    /// This table with more columns of text, whose titles the user gave.
    pub(crate) fn with_titles<'t>(mut self, titles: impl IntoIterator<Item = &'t String>) -> Self {
        let limit = self.limit;
        self.columns.extend(titles.into_iter().map(|title| (Column::left(""), cut(escape(title), limit))));
        self
    }

    /// This table with more columns that are not shown. Rows are sorted by them.
    pub(crate) fn with_hidden<'t>(mut self, titles: impl IntoIterator<Item = &'t str>) -> Self {
        let hidden = Column { hidden: true, ..Column::left("") };
        self.columns.extend(titles.into_iter().map(|title| (hidden, title.to_string())));
        self
    }

    /// The titles of the columns.
    pub(crate) fn titles(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(_, title)| title.as_str())
    }

    /// This table, indented.
    pub(crate) fn indented(mut self, indent: &'static str) -> Self {
        self.indent = indent;
        self
    }

    /// Adds a row; columns beyond its cells stay empty.
    pub(crate) fn row(&mut self, out: &mut Out, cells: Vec<Cell>) -> io::Result<()> {
        out.note_row(!cells.iter().any(Cell::is_unreadable) && cells.iter().any(|cell| !cell.text.is_empty()));
        let is_sorted = !out.form().sort.is_empty();
        if !is_sorted && !out.admits_one() {
            return Ok(());
        }
        self.push(cells, out.is_csv());
        if self.rows.len() >= BLOCK && !is_sorted { self.write_rows(out) } else { Ok(()) }
    }

    /// Adds a row after all others, whatever they are sorted by. CSV has no such row.
    pub(crate) fn footer(&mut self, out: &mut Out, cells: Vec<Cell>) -> io::Result<()> {
        self.arrange(out);
        if !out.is_csv() {
            self.push(cells, false);
        }
        self.write_rows(out)
    }

    fn push(&mut self, mut cells: Vec<Cell>, is_csv: bool) {
        if !is_csv {
            let last = self.columns.len().saturating_sub(1);
            for (index, cell) in cells.iter_mut().enumerate() {
                let is_wide = cell.spread || index == last;
                cell.cut(if is_wide { self.limit * SPREAD } else { self.limit });
            }
        }
        self.rows.push(cells);
    }

    /// Writes the rows that have not been written yet, because no other will come for a while. Rows that are to be sorted
    /// wait for the end.
    pub(crate) fn pause(&mut self, out: &mut Out) -> io::Result<()> {
        if out.form().sort.is_empty() { self.write_rows(out) } else { Ok(()) }
    }

    /// Writes the rows that have not been written yet.
    pub(crate) fn finish(&mut self, out: &mut Out) -> io::Result<()> {
        self.arrange(out);
        self.write_rows(out)
    }

    /// Sorts the rows as the user wants them.
    fn arrange(&mut self, out: &mut Out) {
        if self.rows.is_empty() {
            return;
        }
        let form = out.form().clone();
        let mut columns = Vec::new();
        for sort in &form.sort {
            let Some(column) = self.titles().position(|title| title == sort.key) else {
                let titles = self.titles().collect::<Vec<_>>().join(", ");
                out.problem(&format!("cannot sort by {}: the columns are {titles}", sort.key));
                return;
            };
            columns.push(column);
        }
        let told = form.arrange(&mut self.rows, |row, key| {
            let cell = columns.get(key).and_then(|&column| row.get(column));
            cell.map_or(String::new(), |cell| cell.text.to_string())
        });
        for told in &told {
            out.problem(told);
        }
    }

    fn write_rows(&mut self, out: &mut Out) -> io::Result<()> {
        let rows = std::mem::take(&mut self.rows);
        if out.is_csv() {
            return self.write_csv(out, &rows);
        }
        if rows.is_empty() {
            return Ok(());
        }
        let is_first = self.shown.is_empty();
        if is_first {
            self.choose_columns(&rows);
        }
        self.widen(&rows);
        if is_first {
            self.leave_out_spare();
        }
        if is_first {
            let titles = self.columns.iter().map(|(_, title)| Cell::styled(Style::Heading, title)).collect::<Vec<_>>();
            let widths = self.fitted(out);
            out.write_all(self.lay_out(out, &titles, &widths, String::new()).as_bytes())?;
        }
        let widths = self.fitted(out);
        let mut line = String::new();
        for row in &rows {
            line = self.lay_out(out, row, &widths, line);
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    /// Characters of a row, if it goes to a terminal whose width is kept.
    fn room(&self, out: &Out) -> Option<usize> {
        self.room.filter(|_| out.breaks_lines())
    }

    /// The widths of the columns on this terminal. If a row has no room, the widest columns of text become narrower. If
    /// even that is not enough, all stay as they are, and the rows are broken: cells that are cut would be lost for
    /// nothing. Numbers are never cut.
    fn fitted(&self, out: &Out) -> Vec<usize> {
        let Some(room) = self.room(out) else { return self.widths.clone() };
        let mut widths = self.widths.clone();
        let is_shown = |index: usize| self.shown.get(index).copied().unwrap_or_default();
        let shown = || (0..widths.len()).filter(|index| is_shown(*index));
        let gaps = 2 * shown().count().saturating_sub(1) + self.indent.len();
        let taken = shown().filter_map(|index| widths.get(index)).sum::<usize>() + gaps;
        for _ in room..taken {
            let columns = self.columns.iter().zip(&mut widths).enumerate();
            let can_shrink = columns.filter(|(index, ((column, title), width))| {
                let least = NARROWEST.max(title.chars().count());
                is_shown(*index) && !column.right && !column.whole && **width > least
            });
            match can_shrink.max_by_key(|(_, (_, width))| **width) {
                Some((_, (_, width))) => *width -= 1,
                None => return self.widths.clone(),
            }
        }
        widths
    }

    fn choose_columns(&mut self, rows: &[Vec<Cell>]) {
        let is_used = |index: usize| rows.iter().any(|row| row.get(index).is_some_and(|cell| !cell.text.is_empty()));
        let columns = self.columns.iter().enumerate();
        let text = |row: &Vec<Cell>, index: usize| row.get(index).map(|cell| cell.text.clone()).unwrap_or_default();
        let differs = |index: usize| {
            let first = rows.first().map(|row| text(row, index));
            rows.iter().any(|row| first.as_ref() != Some(&text(row, index)))
        };
        let is_shown = |(index, column): (usize, &Column)| {
            !column.hidden && (!column.optional || is_used(index)) && (!column.differing || differs(index))
        };
        self.shown = columns.map(|(index, (column, _))| is_shown((index, column))).collect();
        self.widths = self.columns.iter().map(|(_, title)| title.chars().count()).collect();
    }

    /// Leaves out columns that can be, until a row has room.
    fn leave_out_spare(&mut self) {
        let room = self.room.map_or(WIDTH, |room| room.max(WIDTH));
        loop {
            let shown = || self.widths.iter().zip(&self.shown).filter(|(_, shown)| **shown).map(|(width, _)| width + 2);
            if shown().sum::<usize>() <= room + 2 {
                return;
            }
            let columns = self.columns.iter().zip(&mut self.shown);
            let spare = columns.filter(|((column, _), shown)| **shown && column.spare > 0);
            match spare.max_by_key(|((column, _), _)| column.spare) {
                Some((_, shown)) => *shown = false,
                None => return,
            }
        }
    }

    fn widen(&mut self, rows: &[Vec<Cell>]) {
        for row in rows {
            for (width, cell) in self.widths.iter_mut().zip(row).filter(|(_, cell)| !cell.spread) {
                *width = cell.width.max(*width);
            }
        }
    }

    /// Writes rows with commas between values. All columns are there, also empty ones, so that files are alike.
    fn write_csv(&mut self, out: &mut Out, rows: &[Vec<Cell>]) -> io::Result<()> {
        let shown: Vec<_> =
            self.columns.iter().enumerate().filter(|(_, (column, _))| !column.hidden).map(|(index, _)| index).collect();
        if self.shown.is_empty() {
            self.shown = vec![true; self.columns.len()];
            let titles: Vec<_> = shown.iter().filter_map(|&index| self.columns.get(index)).map(|(_, t)| t).collect();
            csv_row(out, titles.into_iter().map(String::as_str))?;
        }
        rows.iter().try_for_each(|row| {
            csv_row(out, shown.iter().map(|&index| row.get(index).map_or("", |cell| cell.text.as_str())))
        })
    }

    /// The line of a row, or the lines. It takes the memory of `line`, an earlier one.
    fn lay_out(&self, out: &Out, cells: &[Cell], widths: &[usize], mut line: String) -> String {
        line.clear();
        line.push_str(self.indent);
        let room = self.room(out);
        // Blanks and breaks are written only if text follows, so that no line ends with blanks.
        let (mut blanks, mut at, mut is_broken) = (0, self.indent.len(), false);
        let columns = self.columns.iter().zip(widths).zip(&self.shown).zip(cells);
        for (((column, width), _), cell) in columns.filter(|((_, shown), _)| **shown) {
            // Rows that have no room are broken before the same column, so that what goes on is aligned too.
            let is_beyond = room.is_some_and(|room| at > self.indent.len() && at + width > room);
            if is_beyond && !cell.spread {
                (at, blanks, is_broken) = (self.indent.len() + GOING_ON, self.indent.len() + GOING_ON, true);
            }
            at += width + 2;
            // Columns are mostly as wide as their widest cell, so few cells are cut, and the others need no copy.
            let cut = (!cell.spread && cell.width > *width).then(|| {
                let mut cell = cell.clone();
                cell.cut(*width);
                cell
            });
            let cell = cut.as_ref().unwrap_or(cell);
            let padding = width.saturating_sub(cell.width);
            let (before, after) = if column.0.right && !cell.spread { (padding, 0) } else { (0, padding) };
            if cell.text.is_empty() {
                blanks += padding + 2;
            } else {
                if std::mem::take(&mut is_broken) {
                    line.push('\n');
                }
                let (begin, end) = out.codes(cell.style);
                line.extend(text::blanks(blanks + before));
                line.push_str(begin);
                line.push_str(&cell.text);
                line.push_str(end);
                blanks = after + 2;
            }
        }
        line.push('\n');
        line
    }
}

/// Writes values with commas between them. A value with a comma or a quote stands in quotes.
pub(crate) fn csv_row<'t>(out: &mut Out, values: impl IntoIterator<Item = &'t str>) -> io::Result<()> {
    for (index, value) in values.into_iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        if value.contains([',', '"']) {
            write!(out, "{comma}\"{}\"", value.replace('"', "\"\""))?;
        } else {
            write!(out, "{comma}{value}")?;
        }
    }
    writeln!(out)
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
