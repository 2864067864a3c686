//! Panes of text that can be scrolled: metadata and frames.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::boxed;
use super::list::aligned;
use crate::commands::browse::app::{App, Pane};

/// The columns of the table of frames.
const TITLES: [&str; 8] = ["frame", "type", "object", "offset", "length", "padding", "digest", "flags"];

/// Draws the metadata of the selected object, then that of its message.
pub(super) fn draw_metadata(frame: &mut Frame<'_>, app: &mut App, area: Rect) {
    let title = format!(" metadata of message {}, object {} ", app.selected, app.object());
    let object = app.object_detail().map(|object| object.metadata.clone()).unwrap_or_default();
    let message = app.detail().map(|detail| detail.metadata.clone()).unwrap_or_default();
    draw_lines(frame, app, (Pane::Metadata, title), &[object, message].concat(), area);
}

/// Draws the frames of the selected message.
pub(super) fn draw_frames(frame: &mut Frame<'_>, app: &mut App, area: Rect) {
    let title = format!(" frames of message {} ", app.selected);
    let rows: Vec<_> = app.detail().map_or(&[][..], |detail| &detail.frames).iter().map(|row| row.to_vec()).collect();
    let (heading, lines) = aligned(&TITLES, &rows, &[true, false, true, true, true, true]);
    draw_lines(frame, app, (Pane::Frames, title), &[vec![heading], lines].concat(), area);
}

fn draw_lines(frame: &mut Frame<'_>, app: &mut App, (pane, title): (Pane, String), lines: &[String], area: Rect) {
    let inner = boxed(frame, app, pane, title, area);
    let height = usize::from(inner.height);
    let end = lines.len().saturating_sub(height);
    if app.focus == pane {
        (app.page, app.scroll_end) = (height, end);
        app.scroll = app.scroll.min(end);
    }
    let top = if app.focus == pane { app.scroll } else { 0 };
    for (line, area) in lines.iter().skip(top).zip(inner.rows()) {
        frame.render_widget(Line::raw(line.as_str()), area);
    }
}
