//! Which key does what.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Quit,
    Help,
    /// Moves by lines.
    Move(i64),
    /// Moves by pages.
    Page(i64),
    First,
    Last,
    /// Goes to the next pane, or to the one before.
    NextPane,
    LastPane,
    /// Lets one pane fill the screen.
    Zoom,
    /// Asks for the number of a message.
    GoTo,
    /// Asks for a text or a filter.
    Search,
    FindNext,
    FindBefore,
    /// Stops what runs, and closes what is open.
    Cancel,
    /// Goes to another object, or file.
    Object(i64),
    File(i64),
    /// Moves along a dimension, or chooses another one.
    Step(i64),
    Dimension,
    Plane,
    Redraw,
}

/// The command of a key, where no text is being typed.
pub(super) fn command(key: KeyEvent) -> Option<Command> {
    use Command::{
        Cancel, Dimension, File, FindBefore, FindNext, First, GoTo, Help, Last, LastPane, Move, NextPane, Object, Page,
        Plane, Quit, Redraw, Search, Step, Zoom,
    };
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(Quit),
            KeyCode::Char('f') => Some(Page(1)),
            KeyCode::Char('b') => Some(Page(-1)),
            KeyCode::Char('l') => Some(Redraw),
            _ => None,
        };
    }
    match key.code {
        KeyCode::Char('q') => Some(Quit),
        KeyCode::Char('?') | KeyCode::F(1) => Some(Help),
        KeyCode::Down | KeyCode::Char('j') => Some(Move(1)),
        KeyCode::Up | KeyCode::Char('k') => Some(Move(-1)),
        KeyCode::PageDown | KeyCode::Char(' ') => Some(Page(1)),
        KeyCode::PageUp => Some(Page(-1)),
        KeyCode::Home => Some(First),
        KeyCode::End | KeyCode::Char('G') => Some(Last),
        KeyCode::Tab => Some(NextPane),
        KeyCode::BackTab => Some(LastPane),
        KeyCode::Enter | KeyCode::Char('z') => Some(Zoom),
        KeyCode::Char('g' | ':') => Some(GoTo),
        KeyCode::Char('/') => Some(Search),
        KeyCode::Char('n') => Some(FindNext),
        KeyCode::Char('N') => Some(FindBefore),
        KeyCode::Esc => Some(Cancel),
        KeyCode::Right | KeyCode::Char('l') => Some(Object(1)),
        KeyCode::Left | KeyCode::Char('h') => Some(Object(-1)),
        KeyCode::Char('>') => Some(File(1)),
        KeyCode::Char('<') => Some(File(-1)),
        KeyCode::Char(']' | '+') => Some(Step(1)),
        KeyCode::Char('[' | '-') => Some(Step(-1)),
        KeyCode::Char('d') => Some(Dimension),
        KeyCode::Char('x') => Some(Plane),
        _ => None,
    }
}

/// The help: keys, and what they do.
pub(super) const HELP: [(&str, &str); 16] = [
    ("q, Ctrl-C", "quit"),
    ("Up Down, k j", "line up, line down"),
    ("PageUp PageDown, Space", "page up, page down"),
    ("Home End, G", "first, last"),
    ("g, :", "go to a message by its number"),
    ("Left Right, h l", "object before, next object"),
    ("Tab, Shift-Tab", "next pane, pane before"),
    ("Enter, z", "one pane on the whole screen, and back"),
    ("/", "search a text, or a filter as of -w: step>=24"),
    ("n N", "next match, match before"),
    ("Esc", "stop the search, close what is open"),
    ("[ ]", "index before, next index, of three dimensions or more"),
    ("d", "let [ and ] change another dimension"),
    ("x", "draw two other dimensions"),
    ("< >", "file before, next file"),
    ("?", "this help, and back"),
];
