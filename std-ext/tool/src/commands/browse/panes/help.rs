//! The help.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear};

use super::Looks;
use crate::commands::browse::bindings::HELP;

/// Draws the keys over the other panes.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, looks: Looks) {
    let width = HELP.iter().map(|(keys, _)| keys.chars().count()).max().unwrap_or(0);
    let lines: Vec<String> = HELP.iter().map(|(keys, what)| format!(" {keys:<width$}  {what} ")).collect();
    let wide = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let room = |count: usize| u16::try_from(count + 2).unwrap_or(u16::MAX);
    let (width, height) = (room(wide).min(area.width), room(lines.len()).min(area.height));
    let place = Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    let block = Block::bordered().title(" keys ").border_style(looks.border(true));
    let inner = block.inner(place);
    frame.render_widget(Clear, place);
    frame.render_widget(block, place);
    for (line, area) in lines.into_iter().zip(inner.rows()) {
        frame.render_widget(Line::raw(line), area);
    }
}
