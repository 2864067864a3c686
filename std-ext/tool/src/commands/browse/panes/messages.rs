//! The list of messages.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::list::aligned;
use super::{Looks, boxed};
use crate::commands::browse::app::{App, Pane};

/// The columns.
const TITLES: [&str; 11] =
    ["message", "offset", "bytes", "objects", "name", "level", "date", "step", "dtype", "shape", "codec"];

/// Draws the visible part of the list.
pub(super) fn draw(frame: &mut Frame<'_>, app: &mut App, area: Rect) {
    let inner = boxed(frame, app, Pane::Messages, " messages ".to_string(), area);
    // One line is the heading.
    app.visible = usize::from(inner.height.saturating_sub(1));
    app.show_selected();
    let looks = Looks::of(app);
    if app.known.count == 0 {
        let text = if app.known.is_done { "there is no message" } else { "looking for messages" };
        frame.render_widget(Line::raw(text), inner);
        return;
    }
    let numbers = app.numbers();
    let rows: Vec<Vec<String>> = numbers.clone().map(|index| cells(app, index)).collect();
    let right = [true, true, true, true];
    let (heading, lines) = aligned(&TITLES, &rows, &right);
    let mut areas = inner.rows();
    if let Some(area) = areas.next() {
        frame.render_widget(Line::styled(heading, Looks::title()), area);
    }
    for ((index, line), area) in numbers.zip(lines).zip(areas) {
        let error = app.row(index).and_then(|row| row.error.as_ref());
        let line = error.map_or(line.clone(), |error| format!("{line}  {error}"));
        let style = if error.is_some() { looks.bad() } else { ratatui::style::Style::new() };
        let style = if index == app.selected { style.patch(Looks::selected()) } else { style };
        let width = usize::from(area.width);
        frame.render_widget(Line::styled(format!("{line:width$}"), style), area);
    }
}

fn cells(app: &App, index: usize) -> Vec<String> {
    let Some(row) = app.row(index) else { return vec![index.to_string(), "…".to_string()] };
    let mut cells = vec![index.to_string(), row.offset.to_string(), row.length.to_string(), row.objects.clone()];
    cells.extend(row.about.iter().cloned());
    cells.resize(8, String::new());
    cells.extend(row.first.iter().cloned());
    cells
}
