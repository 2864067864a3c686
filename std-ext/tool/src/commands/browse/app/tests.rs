use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::*;
use crate::commands::browse::panes;

fn app(count: usize) -> App {
    let mut app = App::new(vec!["a.tgm".into(), "b.tgm".into()], Depth::Plain);
    app.hear(News::Known(0, known(count, true)));
    app
}

fn known(count: usize, is_done: bool) -> Known {
    Known { count, is_done, scanned: 50, length: 100, ..Known::default() }
}

fn press(app: &mut App, text: &str) -> Option<Effect> {
    let mut last = None;
    for c in text.chars() {
        let code = match c {
            '\n' => KeyCode::Enter,
            '\t' => KeyCode::Tab,
            '\u{1b}' => KeyCode::Esc,
            '↓' => KeyCode::Down,
            '⇟' => KeyCode::PageDown,
            '⇤' => KeyCode::Home,
            '⇥' => KeyCode::End,
            '⌫' => KeyCode::Backspace,
            other => KeyCode::Char(other),
        };
        last = app.press(KeyEvent::new(code, KeyModifiers::NONE));
    }
    last
}

fn screen(app: &mut App, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| panes::draw(frame, app)).unwrap();
    terminal.backend().to_string()
}

fn row(step: usize) -> Row {
    Row {
        offset: 568 * step as u64,
        length: 568,
        objects: "1".into(),
        about: vec!["2t".into(), String::new(), String::new(), step.to_string()],
        first: ["float32".into(), "2x3".into(), "none".into()],
        error: (step == 3).then(|| "damaged".to_string()),
    }
}

fn detail(objects: usize) -> Detail {
    let object = ObjectDetail {
        name: "2t".into(),
        dtype: "float32".into(),
        shape: vec![5, 2, 3],
        metadata: (0..50).map(|line| format!("key{line}  value")).collect(),
        ..ObjectDetail::default()
    };
    Detail { metadata: vec!["the end".into()], objects: vec![object; objects], ..Detail::default() }
}

#[test]
fn only_what_is_visible_is_wanted() {
    let mut app = app(1_000_000);
    screen(&mut app, 100, 30);
    assert_eq!(app.visible, 10);
    assert_eq!(app.misses(), [Request::Rows(0..10), Request::Message(0)]);
    for index in 0..10 {
        app.hear(News::Read(0, Answer::Row(index, row(index))));
    }
    app.hear(News::Read(0, Answer::Message(0, Box::new(detail(2)))));
    let wanted = PictureOf { message: 0, object: 0, picks: "0, :, :".into() };
    assert_eq!(app.misses(), [Request::Picture(wanted.clone())]);
    app.hear(News::Read(0, Answer::Picture(wanted, Err("wrong digest".into()))));
    assert_eq!(app.misses(), []);
    let text = screen(&mut app, 100, 30);
    assert!(text.contains("a.tgm (1 of 2): 1000000 messages") && text.contains("wrong digest"), "{text}");
    assert!(text.contains("damaged") && text.contains("float32"), "{text}");
    // News of another file is ignored.
    app.hear(News::Known(1, known(5, true)));
    assert_eq!(app.known.count, 1_000_000);
    press(&mut app, "⇥");
    screen(&mut app, 100, 30);
    assert_eq!(
        (app.selected, app.misses()),
        (999_999, vec![Request::Rows(999_990..1_000_000), Request::Message(999_999)])
    );
    // However far one goes, memory is bounded.
    for index in 0..100_000 {
        app.hear(News::Read(0, Answer::Row(index, row(index))));
    }
    assert!(app.rows.len() <= ROWS);
}

#[test]
fn keys_move_the_selection() {
    let mut app = app(100);
    screen(&mut app, 100, 30);
    press(&mut app, "↓↓j");
    assert_eq!((app.selected, app.top), (3, 0));
    press(&mut app, "⇟");
    assert_eq!((app.selected, app.top), (12, 3));
    press(&mut app, "k⇤k");
    assert_eq!((app.selected, app.top), (0, 0));
    press(&mut app, "G↓");
    assert_eq!((app.selected, app.top), (99, 90));
    press(&mut app, "g5x⌫0\n");
    assert_eq!((app.selected, app.top), (50 - 50, 0));
    press(&mut app, ":57\n");
    assert_eq!(app.selected, 57);
    press(&mut app, ":100\n");
    assert_eq!((app.selected, app.notice.as_str()), (57, "there is no such message: there are 100"));
    press(&mut app, ":99999999999999999999999\n");
    assert_eq!(app.selected, 57);
    press(&mut app, ":1\u{1b}");
    assert_eq!((app.selected, app.typed.is_none()), (57, true));
}

#[test]
fn a_message_that_is_not_known_yet_is_selected_when_it_is() {
    let mut app = App::new(vec!["a".into()], Depth::Plain);
    press(&mut app, ":500\n");
    assert!(app.notice.contains("the scan goes on"));
    app.hear(News::Known(0, known(100, false)));
    assert_eq!(app.selected, 99);
    app.hear(News::Known(0, known(1000, false)));
    assert_eq!((app.selected, app.notice.as_str()), (500, ""));
    press(&mut app, "G");
    app.hear(News::Known(0, known(2000, false)));
    assert_eq!(app.selected, 1999);
    app.hear(News::Known(0, known(3000, true)));
    assert_eq!(app.selected, 2999);
    // Esc stays where one is.
    let mut app = App::new(vec!["a".into()], Depth::Plain);
    app.hear(News::Known(0, known(10, false)));
    press(&mut app, "G\u{1b}");
    app.hear(News::Known(0, known(20, true)));
    assert_eq!(app.selected, 9);
}

#[test]
fn a_search_is_asked_for_shown_stopped_and_repeated() {
    let mut app = app(100);
    assert!(press(&mut app, "n").is_none() && app.notice.contains("/ asks"));
    press(&mut app, "/step=2");
    assert!(screen(&mut app, 80, 24).contains("search (text, or filter as step>=24): step=2_"));
    let effect = press(&mut app, "\n");
    assert!(matches!(effect, Some(Effect::Search { start: 0, is_backward: false, .. })));
    assert!(matches!(app.pattern, Some(Pattern::Filter(_))));
    app.hear(News::Searched(0, Search::At(40)));
    assert_eq!(app.notice, "searching: message 40; Esc stops it");
    assert!(matches!(press(&mut app, "\u{1b}"), Some(Effect::StopSearch)));
    // What it finds afterwards does not count.
    app.hear(News::Searched(0, Search::Found(50, false)));
    assert_eq!(app.selected, 0);
    assert!(matches!(press(&mut app, "N"), Some(Effect::Search { is_backward: true, .. })));
    app.hear(News::Searched(0, Search::Found(50, true)));
    assert_eq!((app.selected, app.notice.as_str()), (50, "found after going around"));
    press(&mut app, "n");
    app.hear(News::Searched(0, Search::Nothing));
    assert_eq!((app.selected, app.notice.as_str()), (50, "no message matches"));
    assert!(press(&mut app, "/=\n").is_none());
    assert!(!app.notice.is_empty() && !app.is_searching);
}

#[test]
fn panes_objects_slices_and_files_are_chosen_by_keys() {
    let mut app = app(3);
    screen(&mut app, 100, 40);
    app.hear(News::Read(0, Answer::Message(0, Box::new(detail(2)))));
    press(&mut app, "ll");
    assert_eq!((app.object(), app.focus), (1, Pane::Messages));
    press(&mut app, "]]d");
    assert_eq!(app.wanted_picture().unwrap().picks, "2, :, :");
    press(&mut app, "x");
    assert_eq!(app.wanted_picture().unwrap().picks, ":, :, 0");
    assert!(screen(&mut app, 100, 40).contains("picture of object 1 at :, :, [0/3]"));
    press(&mut app, "\t\t");
    assert_eq!(app.focus, Pane::Metadata);
    let text = screen(&mut app, 100, 40);
    assert!(text.contains("metadata of message 0, object 1") && text.contains("key0"), "{text}");
    press(&mut app, "⇥");
    let text = screen(&mut app, 100, 40);
    assert!(text.contains("the end") && !text.contains("key0 "), "{text}");
    press(&mut app, "⇤\n");
    let text = screen(&mut app, 100, 40);
    assert!(text.contains("key30") && !text.contains(" messages ─"), "{text}");
    press(&mut app, "\u{1b}\u{1b}");
    assert_eq!((app.focus, app.is_zoomed), (Pane::Messages, false));
    press(&mut app, "?");
    assert!(screen(&mut app, 120, 40).contains("go to a message by its number"));
    assert!(press(&mut app, "j").is_none());
    assert_eq!((app.is_help, app.selected), (false, 0));
    assert!(matches!(press(&mut app, ">"), Some(Effect::Open(1))));
    assert_eq!((app.name(), app.known.count, app.file()), (("b.tgm", 2), 0, 1));
    assert!(press(&mut app, ">").is_none());
    assert!(matches!(press(&mut app, "<"), Some(Effect::Open(0))));
    assert!(matches!(press(&mut app, "q"), Some(Effect::Quit)));
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    press(&mut app, "/abc");
    assert!(matches!(app.press(interrupt), Some(Effect::Quit)));
}

#[test]
fn every_size_of_the_screen_can_be_drawn() {
    for count in [0, 1, 100] {
        let mut app = app(count);
        app.hear(News::Read(0, Answer::Message(0, Box::new(detail(3)))));
        for (width, height) in [(1, 1), (2, 3), (10, 5), (40, 10), (80, 24), (300, 100), (1, 100), (300, 2)] {
            for keys in ["", "\t", "\t", "\t", "\t", "\t", "?", "z"] {
                press(&mut app, keys);
                screen(&mut app, width, height);
            }
            press(&mut app, "z");
        }
    }
    let mut empty = App::new(Vec::new(), Depth::True);
    press(&mut empty, "]dxlh>G⇟\n");
    screen(&mut empty, 80, 24);
}

#[test]
fn a_screen_without_colours_has_none() {
    let mut app = app(3);
    app.hear(News::Read(0, Answer::Row(0, Row { error: Some("bad".into()), ..Row::default() })));
    let has_colours = |app: &mut App| {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| panes::draw(frame, app)).unwrap();
        let cells = terminal.backend().buffer().content();
        cells.iter().any(|cell| cell.fg != ratatui::style::Color::Reset || cell.bg != ratatui::style::Color::Reset)
    };
    assert!(!has_colours(&mut app));
    app.depth = Depth::Few;
    assert!(has_colours(&mut app));
}
