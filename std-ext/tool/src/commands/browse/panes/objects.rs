//! The objects of the selected message.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::list::aligned;
use super::{Looks, boxed};
use crate::commands::browse::app::{App, Pane};
use crate::show::summary::shape_text;

/// The columns.
const TITLES: [&str; 7] = ["object", "name", "dtype", "shape", "codec", "bytes", "stored"];

/// Draws the objects around the selected one.
pub(super) fn draw(frame: &mut Frame<'_>, app: &mut App, area: Rect) {
    let title = format!(" objects of message {} ", app.selected);
    let inner = boxed(frame, app, Pane::Objects, title, area);
    let looks = Looks::of(app);
    let mut areas = inner.rows().collect::<Vec<_>>().into_iter();
    let Some(detail) = app.detail() else { return };
    for error in &detail.errors {
        if let Some(area) = areas.next() {
            frame.render_widget(Line::styled(error.as_str(), looks.bad()), area);
        }
    }
    let Some(heading_area) = areas.next() else { return };
    if detail.objects.is_empty() {
        frame.render_widget(Line::raw("no objects"), heading_area);
        return;
    }
    let room = areas.len().max(1);
    let selected = app.object();
    let top = (selected + 1).saturating_sub(room);
    let shown: Vec<_> = detail.objects.iter().enumerate().skip(top).take(room).collect();
    let rows: Vec<Vec<String>> = shown
        .iter()
        .map(|(number, object)| {
            let mut cells = vec![number.to_string(), object.name.clone()];
            // Only the place of an object that cannot be read is known.
            if !object.dtype.is_empty() {
                let shape = shape_text(&object.shape);
                cells.extend([&object.dtype, &shape, &object.codec, &object.bytes, &object.stored].map(String::clone));
            }
            cells
        })
        .collect();
    let (heading, lines) = aligned(&TITLES, &rows, &[true, false, false, false, false, true, true]);
    frame.render_widget(Line::styled(heading, Looks::title()), heading_area);
    for (((number, object), line), area) in shown.into_iter().zip(lines).zip(areas) {
        let line = object.error.as_ref().map_or(line.clone(), |error| format!("{line}  {error}"));
        let style = if object.error.is_some() { looks.bad() } else { Style::new() };
        let style = if number == selected { style.patch(Looks::selected()) } else { style };
        let width = usize::from(area.width);
        frame.render_widget(Line::styled(format!("{line:width$}"), style), area);
    }
    app.page = room;
}
