//! The picture of the selected object, and its numbers.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Color, Style};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};

use super::{Looks, boxed};
use crate::commands::browse::app::{App, Pane};
use crate::commands::browse::fetch::{BARS, Drawn};
use crate::commands::plot::Depth;
use crate::commands::plot::text::{Glyph, glyphs, line_rows};
use tgm_plot::palette::{Rgb, of_256};
use tgm_plot::picture::Sheet;
use tgm_plot::picture::{Drawn as Values, Picture};

/// Characters for a bar of the histogram, from an empty bar to the highest one.
const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws the picture, with its numbers below. Without a picture, shows the error, or that the object is being decoded.
pub(super) fn draw(frame: &mut Frame<'_>, app: &mut App, area: Rect) {
    let slice = app.slice.text();
    let at = if slice.is_empty() { String::new() } else { format!(" at {slice}") };
    let title = format!(" picture of object {}{at} ", app.object());
    let inner = boxed(frame, app, Pane::Picture, title, area);
    let looks = Looks::of(app);
    let drawn = match app.picture() {
        Some(Ok(drawn)) => drawn,
        Some(Err(error)) => return say(frame, error, looks.bad(), inner),
        None => {
            let error = app.object_detail().and_then(|object| object.error.clone());
            return match error {
                Some(error) => say(frame, &error, looks.bad(), inner),
                None if app.wanted_picture().is_some() => say(frame, "decoding", Style::new(), inner),
                None => {}
            };
        }
    };
    let lines = numbers(drawn, usize::from(inner.width));
    let height = inner.height.saturating_sub(u16::try_from(lines.len()).unwrap_or(0));
    let field = Rect { height, ..inner };
    let depth = app.depth;
    match &drawn.picture.drawn {
        Values::Line(line, _) => {
            let rows = line_rows(&drawn.picture, line, usize::from(field.width), usize::from(field.height));
            for (row, area) in rows.into_iter().zip(field.rows()) {
                frame.render_widget(Line::raw(row), area);
            }
        }
        Values::Field(sheet) => draw_field(frame, (&drawn.picture, sheet), depth, field),
        // Nothing to draw: the numbers below the picture end with a histogram.
        Values::Histogram(_) => {}
    }
    for (line, row) in lines.into_iter().zip(inner.rows().skip(usize::from(height))) {
        frame.render_widget(Line::raw(line), row);
    }
}

/// Shows a text in the place of the picture.
fn say(frame: &mut Frame<'_>, text: &str, style: Style, area: Rect) {
    frame.render_widget(Paragraph::new(text.to_string()).style(style).wrap(Wrap { trim: true }), area);
}

/// Draws a field as large as the area allows.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "few characters"
)]
fn draw_field(frame: &mut Frame<'_>, (picture, sheet): (&Picture, &Sheet), depth: Depth, area: Rect) {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    if width == 0 || height == 0 {
        return;
    }
    // The sides keep their ratio. A character is twice as high as wide, so half of it is a square.
    let columns = width.min((2.0 * height as f64 * sheet.ratio()).ceil() as usize).max(1);
    let lines = ((columns as f64 / sheet.ratio()).ceil() as usize).clamp(1, 2 * height).div_ceil(2);
    let rows = glyphs(picture, sheet, (columns, lines), depth);
    for (line, glyphs) in (0_u16..).zip(rows) {
        for (column, Glyph { character, colour: ink, ground }) in (0_u16..).zip(glyphs) {
            let at = Position { x: area.x.saturating_add(column), y: area.y.saturating_add(line) };
            if let Some(cell) = frame.buffer_mut().cell_mut(at) {
                cell.set_char(character);
                ink.map(|ink| cell.set_fg(colour(ink, depth)));
                ground.map(|ground| cell.set_bg(colour(ground, depth)));
            }
        }
    }
}

const fn rgb([red, green, blue]: Rgb) -> Color {
    Color::Rgb(red, green, blue)
}

fn colour(colour: Rgb, depth: Depth) -> Color {
    if depth == Depth::True { rgb(colour) } else { Color::Indexed(of_256(colour)) }
}

/// Four lines: the title of the picture; which values it shows; its least value, mean and greatest value; a histogram if there is room for
/// it.
fn numbers(drawn: &Drawn, width: usize) -> Vec<String> {
    let picture = &drawn.picture;
    let (low, high) = picture.range;
    let missing = if drawn.missing > 0 { format!(", {} missing", drawn.missing) } else { String::new() };
    let mean = picture.label(drawn.mean);
    let extremes = format!("min {}, mean {mean}, max {}{missing}", picture.label(low), picture.label(high));
    let most = drawn.histogram.iter().copied().max().unwrap_or(0).max(1);
    let bar = |count: usize| {
        // Rounded up, so a bar with a single value is visible.
        let level = (count * (LEVELS.len() - 1)).div_ceil(most);
        LEVELS.get(level).copied().unwrap_or('█')
    };
    let histogram: String = drawn.histogram.iter().map(|count| bar(*count)).collect();
    let histogram = if width >= BARS + 2 { format!("|{histogram}|") } else { String::new() };
    vec![picture.title.clone(), picture.caption.clone(), extremes, histogram]
}
