//! Pictures of characters, for terminals.

use std::io::{self, Write};

use crate::commands::plot::Depth;
use crate::commands::plot::picture::{Counts, Drawn, Picture, number};
use crate::read::picture::Field;
use crate::show::colour_map::{Rgb, of_256};
use crate::show::output::{Out, Style};

/// Lines of a line's picture.
const LINES: usize = 16;
/// Characters for values from the least to the greatest. A blank is a missing value.
const DENSITIES: &[u8] = b".:-=+*#%@";

/// Draws with characters, `width` in a line. A character has two pixels, one above the other.
pub(crate) fn draw_text(out: &mut Out, picture: &Picture, width: usize, depth: Depth) -> io::Result<()> {
    out.styled(Style::Heading, &picture.title)?;
    writeln!(out)?;
    match &picture.drawn {
        Drawn::Field(field) => draw_field(out, picture, field, width, depth),
        Drawn::Line(line) => draw_line(out, picture, line, width),
        Drawn::Histogram(counts) => draw_histogram(out, picture, counts, width),
    }
}

/// Draws a field, and the bar of its colours.
fn draw_field(out: &mut Out, picture: &Picture, field: &Field, width: usize, depth: Depth) -> io::Result<()> {
    let columns = field.columns().min(width);
    let rows = (field.rows() * columns).div_ceil(field.columns()).clamp(1, 2 * width);
    if depth == Depth::Plain {
        // A character is twice as high as wide, and has one pixel here.
        let small = field.resized(rows.div_ceil(2), columns);
        for row in 0..small.rows() {
            let line: String = (0..columns).map(|column| density(picture, small.get(row, column))).collect();
            writeln!(out, "{}", line.trim_end())?;
        }
    } else {
        let small = field.resized(rows.next_multiple_of(2), columns);
        for row in (0..small.rows()).step_by(2) {
            for column in 0..columns {
                let [upper, lower] = [row, row + 1].map(|row| picture.colour(small.get(row, column)));
                write!(out, "{}▀", code(upper, lower, depth))?;
            }
            writeln!(out, "\x1b[0m")?;
        }
    }
    let (low, high) = picture.range;
    let [least, greatest] = [low, high].map(|bound| picture.label(bound));
    // The labels stand beside the bar, with a blank each.
    let room = width.saturating_sub(least.chars().count() + greatest.chars().count() + 2);
    let bar = room.clamp(1, 24);
    write!(out, "{least} ")?;
    for step in 0..bar {
        #[expect(clippy::cast_precision_loss, reason = "few steps")]
        let value = picture.at((step as f64 + 0.5) / bar as f64);
        if depth == Depth::Plain {
            write!(out, "{}", density(picture, Some(value)))?;
        } else {
            let colour = picture.colour(Some(value));
            write!(out, "{}▀", code(colour, colour, depth))?;
        }
    }
    let end = if depth == Depth::Plain { "" } else { "\x1b[0m" };
    writeln!(out, "{end} {greatest}")
}

/// The character of a value.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "9 characters"
)]
pub(crate) fn density(picture: &Picture, value: Option<f64>) -> char {
    let Some(value) = value else { return ' ' };
    let place = (picture.share(value) * DENSITIES.len() as f64) as usize;
    DENSITIES.get(place.min(DENSITIES.len() - 1)).map_or(' ', |byte| char::from(*byte))
}

/// The escape sequence for a colour of the upper pixel and one of the lower pixel.
fn code(upper: Rgb, lower: Rgb, depth: Depth) -> String {
    if depth == Depth::True {
        let numbers = |[red, green, blue]: Rgb| format!("2;{red};{green};{blue}");
        return format!("\x1b[38;{};48;{}m", numbers(upper), numbers(lower));
    }
    format!("\x1b[38;5;{};48;5;{}m", of_256(upper), of_256(lower))
}

/// Draws a line of means.
fn draw_line(out: &mut Out, picture: &Picture, line: &Field, width: usize) -> io::Result<()> {
    let (low, high) = picture.range;
    writeln!(out, "{}", picture.label(high))?;
    for row in line_rows(picture, line, width, LINES) {
        writeln!(out, "{row}")?;
    }
    writeln!(out, "{}", picture.label(low))
}

/// A line of means in `lines` rows of characters, with blocks of half a character.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "few lines")]
pub(crate) fn line_rows(picture: &Picture, line: &Field, width: usize, lines: usize) -> Vec<String> {
    let columns = line.columns().min(width);
    let small = line.resized(1, columns);
    let height = (2 * lines).saturating_sub(1);
    let level = |value: f64| (picture.share(value) * height as f64).round() as usize;
    // Each column reaches from its own level to the one beside the level of the column before.
    let mut reach: Vec<Option<(usize, usize)>> = Vec::new();
    let mut before = None;
    for column in 0..columns {
        let own = small.get(0, column).map(level);
        reach.push(own.map(|own| match before {
            Some(last) if last + 1 < own => (last + 1, own),
            Some(last) if last > own + 1 => (own, last - 1),
            _ => (own, own),
        }));
        before = own;
    }
    let has = |column: &Option<(usize, usize)>, level| column.is_some_and(|(from, to)| (from..=to).contains(&level));
    let row = |line: usize| {
        let text: String = reach
            .iter()
            .map(|column| match (has(column, 2 * line + 1), has(column, 2 * line)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            })
            .collect();
        text.trim_end().to_string()
    };
    (0..lines).rev().map(row).collect()
}

/// Draws a bar for each part of the range, in eighths of a character. Before it stands where the part begins, behind it
/// the count.
#[expect(clippy::cast_precision_loss, reason = "few parts")]
fn draw_histogram(out: &mut Out, picture: &Picture, histogram: &Counts, width: usize) -> io::Result<()> {
    let counts = &histogram.counts;
    let begins: Vec<_> =
        (0..counts.len()).map(|part| number(picture.at(part as f64 / counts.len() as f64), 5)).collect();
    let before = begins.iter().map(String::len).max().unwrap_or_default();
    let most = histogram.most();
    let room = width.saturating_sub(before + most.to_string().len() + 2).max(1);
    for (begin, count) in begins.iter().zip(counts) {
        let bar = bar(*count, most, room);
        writeln!(out, "{begin:>before$} {bar}{}{count}", if bar.is_empty() { "" } else { " " })?;
    }
    writeln!(out, "{:>before$}", picture.label(picture.range.1))?;
    histogram.rest().map_or(Ok(()), |rest| writeln!(out, "{rest}"))
}

/// A bar of at most `room` characters. A count that is not 0 has one eighth of a character at least.
fn bar(count: u64, most: u64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (u128::from(count) * room as u128 * 8).div_ceil(u128::from(most));
    let whole = usize::try_from(eighths / 8).unwrap_or(room).min(room);
    let rest = usize::try_from(eighths % 8).ok().and_then(|rest| EIGHTHS.get(rest)).copied().unwrap_or_default();
    format!("{}{rest}", "█".repeat(whole))
}
