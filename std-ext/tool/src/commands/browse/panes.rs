//! Drawing the state.

mod help;
mod list;
mod messages;
mod objects;
mod picture;
mod texts;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};

use crate::commands::browse::app::{App, Pane, PromptKind};
use crate::commands::plot::Depth;
use crate::show::text::{cut, escape};

/// The least width of a screen with a picture beside the other panes.
const WIDE: u16 = 70;
/// The least height of a screen with several panes.
const HIGH: u16 = 14;

/// Looks of the parts of the screen. Without colours they are bold, reversed or plain.
#[derive(Clone, Copy, Debug)]
struct Looks {
    has_colours: bool,
}

impl Looks {
    fn of(app: &App) -> Self {
        Self { has_colours: app.depth != Depth::Plain }
    }

    const fn title() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    const fn selected() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    const fn bad(self) -> Style {
        if self.has_colours { Style::new().fg(Color::Red) } else { Style::new().add_modifier(Modifier::BOLD) }
    }

    const fn border(self, has_focus: bool) -> Style {
        match (has_focus, self.has_colours) {
            (true, true) => Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD),
            (true, false) => Style::new().add_modifier(Modifier::BOLD),
            (false, _) => Style::new().add_modifier(Modifier::DIM),
        }
    }
}

/// Draws all of the screen.
pub(super) fn draw(frame: &mut Frame<'_>, app: &mut App) {
    let [title, body, status] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)]).areas(frame.area());
    let looks = Looks::of(app);
    frame.render_widget(Line::styled(title_text(app, usize::from(title.width)), Looks::title()), title);
    draw_panes(frame, app, body);
    if app.is_help {
        help::draw(frame, body, looks);
    }
    draw_status(frame, app, status);
}

fn draw_panes(frame: &mut Frame<'_>, app: &mut App, area: Rect) {
    if app.is_zoomed || area.height < HIGH {
        return draw_pane(frame, app, app.focus, area);
    }
    let [upper, lower] = Layout::vertical([Constraint::Percentage(45), Constraint::Min(1)]).areas(area);
    draw_pane(frame, app, Pane::Messages, upper);
    let left = if matches!(app.focus, Pane::Messages) { Pane::Objects } else { app.focus };
    if area.width < WIDE {
        return draw_pane(frame, app, left, lower);
    }
    let [first, second] = Layout::horizontal([Constraint::Percentage(50), Constraint::Min(1)]).areas(lower);
    draw_pane(frame, app, if left == Pane::Picture { Pane::Objects } else { left }, first);
    draw_pane(frame, app, Pane::Picture, second);
}

fn draw_pane(frame: &mut Frame<'_>, app: &mut App, pane: Pane, area: Rect) {
    match pane {
        Pane::Messages => messages::draw(frame, app, area),
        Pane::Objects => objects::draw(frame, app, area),
        Pane::Metadata => texts::draw_metadata(frame, app, area),
        Pane::Frames => texts::draw_frames(frame, app, area),
        Pane::Picture => picture::draw(frame, app, area),
    }
}

/// The frame of a pane, and the area in it.
fn boxed(frame: &mut Frame<'_>, app: &App, pane: Pane, title: String, area: Rect) -> Rect {
    let looks = Looks::of(app);
    let title = cut(title, usize::from(area.width.saturating_sub(4)));
    let block = Block::bordered().title(title).border_style(looks.border(app.focus == pane));
    let inner = block.inner(area);
    frame.render_widget(Clear, area);
    frame.render_widget(block, area);
    inner
}

/// The file, and how much of it is known.
fn title_text(app: &App, width: usize) -> String {
    let (name, files) = app.name();
    let known = &app.known;
    let number = if files > 1 { format!(" ({} of {files})", app.file() + 1) } else { String::new() };
    let mut facts = format!("{number}: {} messages", known.count);
    if !known.is_done {
        let percent = if known.length > 0 {
            format!(" {} %", u128::from(known.scanned) * 100 / u128::from(known.length))
        } else {
            String::new()
        };
        facts.extend([", scanning", &*percent]);
    }
    if known.lost > 0 {
        facts.extend([", ", &*known.lost.to_string(), " bytes belong to no message"]);
    }
    // The name gives way to the facts.
    let room = width.saturating_sub(facts.chars().count() + 1).max(8);
    cut(format!(" {}{facts}", cut(escape(name), room)), width)
}

/// The last line: what is typed, a notice, or the most important keys.
fn draw_status(frame: &mut Frame<'_>, app: &App, area: Rect) {
    let looks = Looks::of(app);
    let width = usize::from(area.width);
    let (text, style) = match (&app.typed, &app.known.error) {
        (Some((asked, text)), _) => {
            let prompt = match asked {
                PromptKind::Number => "go to message: ",
                PromptKind::Pattern => "search (text, or filter as step>=24): ",
            };
            // The end of what is typed is seen.
            let room = width.saturating_sub(prompt.len() + 1);
            let skipped = text.chars().count().saturating_sub(room);
            (format!("{prompt}{}_", escape(&text.chars().skip(skipped).collect::<String>())), Style::new())
        }
        (None, _) if !app.notice.is_empty() => (escape(&app.notice), Looks::title()),
        (None, Some(error)) => (format!("the scan ended: {}", escape(error)), looks.bad()),
        (None, None) => ("? help  q quit  / search  g go to  Tab pane  Enter zoom".to_string(), Style::new()),
    };
    frame.render_widget(Paragraph::new(Line::styled(text, style)), area);
}
