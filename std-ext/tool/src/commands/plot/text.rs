//! Pictures of characters, for terminals.

use std::io::{self, Write};

use crate::commands::plot::Depth;
use crate::show::output::{Out, Style};
use crate::show::wrap::wrapped;
use tgm_plot::axis::{Axis, Tick};
use tgm_plot::coast;
use tgm_plot::field::Field;
use tgm_plot::palette::{Rgb, of_256};
use tgm_plot::picture::{Cell, Counts, Drawn, Picture, Sheet};
use tgm_plot::ticks::number;

/// Lines of a line's picture.
const LINES: usize = 16;
/// Characters for values from the least to the greatest. A blank is a missing value.
const DENSITIES: &[u8] = b".:-=+*#%@";

/// Draws with characters, `width` in a line. A character has two pixels, one above the other.
pub(crate) fn draw_text(out: &mut Out, picture: &Picture, width: usize, depth: Depth) -> io::Result<()> {
    // A few characters have no room for words.
    let words = width.max(40);
    out.styled(Style::Heading, &wrapped(&picture.title, words))?;
    writeln!(out)?;
    if !picture.caption.is_empty() {
        writeln!(out, "{}", wrapped(&picture.caption, words))?;
    }
    match &picture.drawn {
        Drawn::Field(sheet) => draw_field(out, picture, sheet, width, depth),
        Drawn::Line(line, axis) => draw_line(out, picture, (line, axis), width),
        Drawn::Histogram(counts) => draw_histogram(out, picture, counts, width),
    }
}

/// A character of a picture, with its colour and that of its ground. Without colours, the terminal's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Glyph {
    pub(crate) character: char,
    pub(crate) colour: Option<Rgb>,
    pub(crate) ground: Option<Rgb>,
}

impl Glyph {
    const BLANK: Self = Self { character: ' ', colour: None, ground: None };
}

/// A field in lines of glyphs. With colours, a glyph has two pixels, or the dots of a coast on the mean of both. Without colours it is one
/// pixel, and coasts are not drawn.
pub(crate) fn glyphs(
    picture: &Picture,
    sheet: &Sheet,
    (columns, lines): (usize, usize),
    depth: Depth,
) -> Vec<Vec<Glyph>> {
    if depth == Depth::Plain {
        let small = sheet.resized(lines, columns);
        let glyph =
            |row: usize, column: usize| Glyph { character: density(picture, small.cell(row, column)), ..Glyph::BLANK };
        return (0..lines).map(|row| (0..columns).map(|column| glyph(row, column)).collect()).collect();
    }
    let small = sheet.resized(2 * lines, columns);
    let coast = Dots::of_coast(sheet, columns, lines);
    let glyph = |line: usize, column: usize| {
        let [upper, lower] = [2 * line, 2 * line + 1].map(|row| picture.colour(small.cell(row, column)));
        match (coast.get(line, column), upper, lower) {
            (None, Some(upper), _) => Glyph { character: '▀', colour: Some(upper), ground: lower },
            (None, None, Some(lower)) => Glyph { character: '▄', colour: Some(lower), ground: None },
            (None, None, None) => Glyph::BLANK,
            (Some(character), upper, lower) => {
                let ground = upper.zip(lower).map(|(upper, lower)| mean(upper, lower)).or(upper).or(lower);
                Glyph { character, colour: ground.map(over), ground }
            }
        }
    };
    (0..lines).map(|line| (0..columns).map(|column| glyph(line, column)).collect()).collect()
}

fn mean(one: Rgb, other: Rgb) -> Rgb {
    let [red, green, blue] = one;
    let [other_red, other_green, other_blue] = other;
    [red.midpoint(other_red), green.midpoint(other_green), blue.midpoint(other_blue)]
}

/// A colour that is seen on another one: black or white.
fn over([red, green, blue]: Rgb) -> Rgb {
    let light = 2 * u32::from(red) + 5 * u32::from(green) + u32::from(blue);
    if light > 8 * 110 { [0; 3] } else { [255; 3] }
}

/// Dots of a picture, of which a character has two beside and four above each other.
struct Dots {
    columns: usize,
    bits: Vec<u8>,
}

impl Dots {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "few dots"
    )]
    fn of_coast(sheet: &Sheet, columns: usize, lines: usize) -> Self {
        let mut dots = Self { columns, bits: vec![0; columns * lines] };
        let Some(map) = &sheet.map else { return dots };
        let (width, height) = ((2 * columns) as f64, (4 * lines) as f64);
        for line in coast::within(map, map.degrees() / width) {
            for &[from, to] in line.array_windows() {
                let steps = ((to.0 - from.0).abs() * width).max((to.1 - from.1).abs() * height).ceil().max(1.0);
                for step in 0..=steps as usize {
                    let share = step as f64 / steps;
                    let at = |from: f64, to: f64, count: f64| {
                        ((from + (to - from) * share) * count).clamp(0.0, count - 1.0) as usize
                    };
                    dots.set(at(from.0, to.0, width), at(from.1, to.1, height));
                }
            }
        }
        dots
    }

    /// Marks a dot, by the bit that braille has for it (Unicode, U+2800).
    fn set(&mut self, x: usize, y: usize) {
        const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
        let bit = BITS.get(y % 4).and_then(|row| row.get(x % 2)).copied().unwrap_or_default();
        if let Some(bits) = self.bits.get_mut(y / 4 * self.columns + x / 2) {
            *bits |= bit;
        }
    }

    fn get(&self, line: usize, column: usize) -> Option<char> {
        let bits = self.bits.get(line * self.columns + column).copied().filter(|bits| *bits != 0)?;
        char::from_u32(0x2800 + u32::from(bits))
    }
}

/// Draws a field with the labels of its axes, and the bar of its colours.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "few characters"
)]
fn draw_field(out: &mut Out, picture: &Picture, sheet: &Sheet, width: usize, depth: Depth) -> io::Result<()> {
    // Numbers of cells say little in a small picture.
    let has_axes = sheet.axes.iter().any(|axis| !matches!(axis, Axis::Cells(_))) && width >= 30;
    let [rows, columns] = &sheet.axes;
    let beside = if has_axes { rows.ticks(8) } else { Vec::new() };
    let margin = beside.iter().map(|(_, label)| label.chars().count() + 1).max().unwrap_or_default().min(width / 3);
    let room = width - margin;
    let count = if sheet.map.is_some() { room } else { sheet.field.columns().min(room) };
    let pixels = (count as f64 / sheet.ratio()).ceil().clamp(1.0, 2.0 * width as f64) as usize;
    let lines = pixels.div_ceil(2);
    for (line, glyphs) in glyphs(picture, sheet, (count, lines), depth).into_iter().enumerate() {
        let is_here = |(share, _): &&(f64, String)| ((share * lines as f64) as usize).min(lines - 1) == line;
        let label = beside.iter().find(is_here).map_or("", |(_, label)| label);
        if margin > 0 {
            write!(out, "{label:>before$} ", before = margin - 1)?;
        }
        if depth == Depth::Plain {
            let text: String = glyphs.iter().map(|glyph| glyph.character).collect();
            writeln!(out, "{}", text.trim_end())?;
            continue;
        }
        for glyph in glyphs {
            write!(out, "{}{}", code(glyph, depth), glyph.character)?;
        }
        writeln!(out, "\x1b[0m")?;
    }
    if has_axes {
        writeln!(out, "{}", below(columns, margin, count))?;
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
            write!(out, "{}", density(picture, Cell::Value(value)))?;
        } else {
            let colour = picture.colour(Cell::Value(value));
            write!(out, "{}▀", code(Glyph { character: '▀', colour, ground: colour }, depth))?;
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
fn density(picture: &Picture, cell: Cell) -> char {
    let Cell::Value(value) = cell else { return ' ' };
    let place = (picture.share(value) * DENSITIES.len() as f64) as usize;
    DENSITIES.get(place.min(DENSITIES.len() - 1)).map_or(' ', |byte| char::from(*byte))
}

/// The line of labels below `count` columns, of which each stands below its place.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "few characters"
)]
fn below(axis: &Axis, margin: usize, count: usize) -> String {
    let mut line = String::new();
    for (share, label) in axis.ticks((count / (axis.longest() + 4)).clamp(1, 12)) {
        let half = label.chars().count() / 2;
        let place = margin + ((share * count as f64) as usize).saturating_sub(half);
        let end = place.min((margin + count).saturating_sub(label.chars().count()));
        let before = line.chars().count();
        if before == 0 || end > before {
            line.extend(std::iter::repeat_n(' ', end.saturating_sub(before)));
            line.push_str(&label);
        }
    }
    line
}

/// The escape sequence for a glyph.
fn code(Glyph { colour, ground, .. }: Glyph, depth: Depth) -> String {
    let part = |what: &str, colour: Option<Rgb>| match (colour, depth) {
        (None, _) => format!("{what}9"),
        (Some([red, green, blue]), Depth::True) => format!("{what}8;2;{red};{green};{blue}"),
        (Some(colour), _) => format!("{what}8;5;{}", of_256(colour)),
    };
    format!("\x1b[{};{}m", part("3", colour), part("4", ground))
}

/// Draws a line of means.
fn draw_line(out: &mut Out, picture: &Picture, (line, axis): (&Field, &Axis), width: usize) -> io::Result<()> {
    let (low, high) = picture.range;
    if let Axis::Levels(name, levels) = axis {
        return draw_profile(out, picture, line, (name, levels), width);
    }
    writeln!(out, "{}", picture.label(high))?;
    for row in line_rows(picture, line, width, LINES) {
        writeln!(out, "{row}")?;
    }
    writeln!(out, "{}", picture.label(low))?;
    if let Axis::Labels(name, all) = axis
        && let (Some((_, first)), Some((_, last))) = (all.first(), all.last())
    {
        writeln!(out, "{name}: {first} … {last}")?;
    }
    Ok(())
}

/// Draws a dot for the value of each level, the topmost first. If there are many levels, for some of them.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few columns")]
fn draw_profile(
    out: &mut Out,
    picture: &Picture,
    line: &Field,
    (name, levels): (&str, &[Tick]),
    width: usize,
) -> io::Result<()> {
    let mut rows: Vec<(&Tick, Option<f64>)> = levels.iter().enumerate().map(|(at, it)| (it, line.get(0, at))).collect();
    rows.sort_by(|(one, _), (other, _)| one.0.total_cmp(&other.0));
    let step = rows.len().div_ceil(2 * LINES).max(1);
    let before = levels.iter().map(|(_, label)| label.chars().count()).max().unwrap_or_default();
    let room = width.saturating_sub(before + 2).max(1);
    writeln!(out, "{name}")?;
    for ((_, label), value) in rows.into_iter().step_by(step) {
        let place = value.map(|value| (picture.share(value) * (room - 1) as f64).round() as usize);
        let dot = place.map_or(String::new(), |place| format!("{}●", " ".repeat(place)));
        writeln!(out, "{}", format!("{label:>before$} {dot}").trim_end())?;
    }
    let (low, high) = picture.range;
    let [least, greatest] = [low, high].map(|bound| picture.label(bound));
    let between = room.saturating_sub(least.chars().count());
    writeln!(out, "{:before$} {least}{greatest:>between$}", "")
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

/// Draws a bar for each part of the range, in eighths of a character. Before it stands where the part begins, after it
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
