//! Pictures of fields and lines: characters for terminals, and SVG.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::commands::plot::Depth;
use crate::read::picture::Field;
use crate::show::colour_map::{MISSING, Rgb, of_256, viridis};
use crate::show::output::{Out, Style};

/// Values to draw, and what stands beside them.
pub(crate) struct Picture {
    /// The values: one row of a line.
    pub(crate) field: Field,
    /// Whether it is a line.
    pub(crate) is_line: bool,
    /// The values of the first and the last colour, or of the bottom and the top of a line.
    pub(crate) range: (f64, f64),
    /// The title.
    pub(crate) title: String,
    /// The units of the values.
    pub(crate) units: String,
}

impl Picture {
    /// Where a value lies in the range: 0 is the least one.
    fn share(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        // Halves, so that a range over all floats does not overflow.
        let width = high / 2.0 - low / 2.0;
        if width > 0.0 { ((value / 2.0 - low / 2.0) / width).clamp(0.0, 1.0) } else { 0.5 }
    }

    fn colour(&self, value: Option<f64>) -> Rgb {
        value.map_or(MISSING, |value| viridis(self.share(value)))
    }

    /// A bound of the range as text, with its unit.
    fn label(&self, value: f64) -> String {
        let text = format!("{value:.5e}").parse::<f64>().map_or_else(|_| value.to_string(), |short| short.to_string());
        format!("{text} {}", self.units).trim_end().to_string()
    }
}

/// Lines of a line's picture.
const LINES: usize = 16;
/// Characters for values from the least to the greatest. A blank is a missing value.
const DENSITIES: &[u8] = b".:-=+*#%@";

/// Draws with characters, `width` in a line. A character has two pixels, one above the other.
pub(crate) fn draw_text(out: &mut Out, picture: &Picture, width: usize, depth: Depth) -> io::Result<()> {
    out.styled(Style::Heading, &picture.title)?;
    writeln!(out)?;
    let field = &picture.field;
    if picture.is_line {
        return draw_line(out, picture, width);
    }
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
    let bar = 24.min(width);
    write!(out, "{} ", picture.label(low))?;
    for step in 0..bar {
        #[expect(clippy::cast_precision_loss, reason = "few steps")]
        let value = low + (high / bar as f64 - low / bar as f64) * (step as f64 + 0.5);
        if depth == Depth::Plain {
            write!(out, "{}", density(picture, Some(value)))?;
        } else {
            let colour = picture.colour(Some(value));
            write!(out, "{}▀", code(colour, colour, depth))?;
        }
    }
    let end = if depth == Depth::Plain { "" } else { "\x1b[0m" };
    writeln!(out, "{end} {}", picture.label(high))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "9 characters"
)]
fn density(picture: &Picture, value: Option<f64>) -> char {
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

/// Draws a line of means, with blocks of half a character.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "few lines")]
fn draw_line(out: &mut Out, picture: &Picture, width: usize) -> io::Result<()> {
    let columns = picture.field.columns().min(width);
    let small = picture.field.resized(1, columns);
    let height = 2 * LINES - 1;
    let level = |value: f64| (picture.share(value) * height as f64).round() as usize;
    // Each column reaches from its own level to next to that of the column before.
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
    let (low, high) = picture.range;
    writeln!(out, "{}", picture.label(high))?;
    for line in (0..LINES).rev() {
        let has =
            |column: &Option<(usize, usize)>, level| column.is_some_and(|(from, to)| (from..=to).contains(&level));
        let text: String = reach
            .iter()
            .map(|column| match (has(column, 2 * line + 1), has(column, 2 * line)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            })
            .collect();
        writeln!(out, "{}", text.trim_end())?;
    }
    writeln!(out, "{}", picture.label(low))
}

/// Width of a picture in SVG, without its margins.
const WIDTH: usize = 720;
/// Values of a row in SVG at most. A cell is then four units wide, and a field takes about a megabyte.
const CELLS: usize = 180;

/// Draws SVG: the field or line with a title, and a colour bar or bounds with units.
pub(crate) fn draw_svg(out: &mut Out, picture: &Picture) -> io::Result<()> {
    let field = &picture.field;
    let columns = field.columns().min(if picture.is_line { WIDTH } else { CELLS });
    let rows = if picture.is_line { 1 } else { (field.rows() * columns).div_ceil(field.columns()).clamp(1, 4 * CELLS) };
    let height = if picture.is_line { 240 } else { (WIDTH * rows).div_ceil(columns).clamp(8, 4 * WIDTH) };
    let small = field.resized(rows, columns);
    let whole = height + 100;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {whole}\" font-family=\"sans-serif\" \
         font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
        WIDTH + 40
    )?;
    writeln!(out, "<text x=\"20\" y=\"25\" font-size=\"16\">{}</text>", xml(&picture.title))?;
    if picture.is_line {
        svg_line(out, picture, &small, height)?;
    } else {
        svg_field(out, picture, &small, height)?;
    }
    let (low, high) = picture.range;
    let y = height + 85;
    writeln!(out, "<text x=\"20\" y=\"{y}\">{}</text>", xml(&picture.label(low)))?;
    writeln!(out, "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\">{}</text>", WIDTH + 20, xml(&picture.label(high)))?;
    writeln!(out, "</svg>")
}

/// The cells of a field: runs of one colour are one rectangle. Below them, the colour bar.
#[expect(clippy::cast_precision_loss, reason = "few cells")]
fn svg_field(out: &mut Out, picture: &Picture, small: &Field, height: usize) -> io::Result<()> {
    let (columns, rows) = (small.columns(), small.rows());
    writeln!(
        out,
        "<g transform=\"translate(20 40) scale({} {})\" shape-rendering=\"crispEdges\">",
        WIDTH as f64 / columns as f64,
        height as f64 / rows as f64
    )?;
    let mut has_missing = false;
    for row in 0..rows {
        let mut start = 0;
        while start < columns {
            let colour = picture.colour(small.get(row, start));
            has_missing |= small.get(row, start).is_none();
            let same = (start..columns).take_while(|&column| picture.colour(small.get(row, column)) == colour).count();
            writeln!(out, "<rect x=\"{start}\" y=\"{row}\" width=\"{same}\" height=\"1\" fill=\"{}\"/>", hex(colour))?;
            start += same;
        }
    }
    writeln!(out, "</g>\n<g transform=\"translate(20 {})\" shape-rendering=\"crispEdges\">", height + 50)?;
    for step in 0..72_u8 {
        let colour = viridis((f64::from(step) + 0.5) / 72.0);
        let x = 10 * u32::from(step);
        writeln!(out, "<rect x=\"{x}\" width=\"10\" height=\"16\" fill=\"{}\"/>", hex(colour))?;
    }
    writeln!(out, "</g>")?;
    if has_missing {
        let (y, middle) = (height + 85, WIDTH / 2 + 20);
        let fill = hex(MISSING);
        writeln!(out, "<text x=\"{middle}\" y=\"{y}\" text-anchor=\"middle\" fill=\"{fill}\">grey: missing</text>")?;
    }
    Ok(())
}

/// A line in a frame. It is broken where values are missing.
#[expect(clippy::cast_precision_loss, reason = "few points")]
fn svg_line(out: &mut Out, picture: &Picture, small: &Field, height: usize) -> io::Result<()> {
    writeln!(out, "<rect x=\"20\" y=\"40\" width=\"{WIDTH}\" height=\"{height}\" fill=\"none\" stroke=\"#999\"/>")?;
    let mut path = String::new();
    let mut is_drawing = false;
    for column in 0..small.columns() {
        let Some(value) = small.get(0, column) else {
            is_drawing = false;
            continue;
        };
        let x = 20.0 + WIDTH as f64 * (column as f64 + 0.5) / small.columns() as f64;
        let y = 40.0 + height as f64 * (1.0 - picture.share(value));
        let _ = write!(path, "{}{x:.2} {y:.2}", if is_drawing { "L" } else { "M" });
        is_drawing = true;
    }
    writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-linecap=\"round\"/>", hex(viridis(0.3)))?;
    writeln!(out, "<text x=\"20\" y=\"{}\">bottom and top:</text>", height + 65)
}

fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Text in XML.
fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
