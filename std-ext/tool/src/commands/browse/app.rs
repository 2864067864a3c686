//! The state of the browser: what the user has chosen, and what was read so far. Keys and the news of threads change it,
//! and the panes draw it.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::commands::browse::bindings::{Command, command};
use crate::commands::browse::fetch::{Answer, Detail, Drawn, ObjectDetail, PictureOf, Request, Row};
use crate::commands::browse::search::{Pattern, Search};
use crate::commands::browse::slice::Slice;
use crate::commands::browse::source::Known;
use crate::commands::plot::Depth;

/// The most rows of the list that are kept in memory.
const ROWS: usize = 4096;
/// The most messages that are kept in full.
const DETAILS: usize = 16;
/// The most bytes of a typed text.
const TYPED: usize = 1000;

/// The panes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pane {
    Messages,
    Objects,
    Metadata,
    Frames,
    Picture,
}

/// The panes in the order of the Tab key.
pub(super) const PANES: [Pane; 5] = [Pane::Messages, Pane::Objects, Pane::Metadata, Pane::Frames, Pane::Picture];

/// What the text that is being typed is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptKind {
    Number,
    Pattern,
}

/// What a key asks the main loop to do.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    Quit,
    Redraw,
    Open(usize),
    Search { pattern: Box<Pattern>, start: usize, is_backward: bool },
    StopSearch,
}

/// What a thread reports. The first number is the number of the file.
#[derive(Debug)]
pub(super) enum News {
    Known(usize, Known),
    Read(usize, Answer),
    Searched(usize, Search),
}

/// The state of the browser.
#[derive(Debug)]
pub(super) struct App {
    names: Vec<String>,
    file: usize,
    pub(super) depth: Depth,
    pub(super) known: Known,
    pub(super) selected: usize,
    /// The first visible message, and the number of visible messages. Drawing sets the latter.
    pub(super) top: usize,
    pub(super) visible: usize,
    object: usize,
    pub(super) focus: Pane,
    pub(super) is_zoomed: bool,
    pub(super) is_help: bool,
    /// The first visible line of a pane of text. Drawing sets the last possible one and the size of a page.
    pub(super) scroll: usize,
    pub(super) scroll_end: usize,
    pub(super) page: usize,
    pub(super) slice: Slice,
    /// The text being typed, and what it is for.
    pub(super) typed: Option<(PromptKind, String)>,
    /// A line for the user.
    pub(super) notice: String,
    pattern: Option<Pattern>,
    pub(super) is_searching: bool,
    /// The message to select when the scan has found it. `usize::MAX` stands for the last one.
    target: Option<usize>,
    rows: HashMap<usize, Row>,
    details: VecDeque<(usize, Detail)>,
    picture: Option<(PictureOf, Result<Box<Drawn>, String>)>,
}

impl App {
    /// The state before anything was read.
    pub(super) fn new(names: Vec<String>, depth: Depth) -> Self {
        Self {
            names,
            file: 0,
            depth,
            known: Known::default(),
            selected: 0,
            top: 0,
            visible: 0,
            object: 0,
            focus: Pane::Messages,
            is_zoomed: false,
            is_help: false,
            scroll: 0,
            scroll_end: 0,
            page: 1,
            slice: Slice::default(),
            typed: None,
            notice: String::new(),
            pattern: None,
            is_searching: false,
            target: None,
            rows: HashMap::new(),
            details: VecDeque::new(),
            picture: None,
        }
    }

    /// The number of the file that is shown.
    pub(super) const fn file(&self) -> usize {
        self.file
    }

    /// The name of the file that is shown, and how many there are.
    pub(super) fn name(&self) -> (&str, usize) {
        (self.names.get(self.file).map_or("", String::as_str), self.names.len())
    }

    /// The numbers of the visible messages.
    pub(super) fn numbers(&self) -> Range<usize> {
        self.top..self.known.count.min(self.top + self.visible)
    }

    /// The line of a message, if it was read.
    pub(super) fn row(&self, index: usize) -> Option<&Row> {
        self.rows.get(&index)
    }

    /// The selected message, if it was read.
    pub(super) fn detail(&self) -> Option<&Detail> {
        self.details.iter().find(|(index, _)| *index == self.selected).map(|(_, detail)| detail)
    }

    /// The number of the selected object. If the message has fewer objects, this is its last one.
    pub(super) fn object(&self) -> usize {
        let count = self.detail().map_or(usize::MAX, |detail| detail.objects.len());
        self.object.min(count.saturating_sub(1))
    }

    /// The selected object, if it was read.
    pub(super) fn object_detail(&self) -> Option<&ObjectDetail> {
        self.detail()?.objects.get(self.object())
    }

    /// The part of the selected object that is to be drawn. `None` if the message was not read yet, if it has no objects,
    /// and if the object cannot be read.
    pub(super) fn wanted_picture(&self) -> Option<PictureOf> {
        let object = self.object_detail()?;
        let fits = object.error.is_none() && !object.dtype.is_empty();
        let mut slice = self.slice.clone();
        slice.fit(&object.shape);
        fits.then(|| PictureOf { message: self.selected, object: self.object(), picks: slice.picks() })
    }

    /// The picture of what is selected, if it was drawn.
    pub(super) fn picture(&self) -> Option<Result<&Drawn, &str>> {
        let wanted = self.wanted_picture()?;
        let (of, drawn) = self.picture.as_ref()?;
        (*of == wanted).then(|| drawn.as_ref().map(|drawn| &**drawn).map_err(String::as_str))
    }

    /// What the screen needs and was not read yet. Rows come as one range, from the first missing one to the last.
    pub(super) fn misses(&self) -> Vec<Request> {
        let mut misses = Vec::new();
        let numbers = self.numbers();
        let missing = |index: &usize| !self.rows.contains_key(index);
        if let (Some(first), Some(last)) = (numbers.clone().find(missing), numbers.rev().find(missing)) {
            misses.push(Request::Rows(first..last + 1));
        }
        if self.selected < self.known.count && self.detail().is_none() {
            misses.push(Request::Message(self.selected));
        }
        if let Some(wanted) = self.wanted_picture().filter(|_| self.picture().is_none()) {
            misses.push(Request::Picture(wanted));
        }
        misses
    }

    /// Takes over what a thread reports. News about another file are ignored, and news of a search that was stopped.
    pub(super) fn hear(&mut self, news: News) {
        match news {
            News::Known(file, known) if file == self.file => {
                self.known = known;
                self.follow_target();
            }
            News::Read(file, answer) if file == self.file => self.take(answer),
            News::Searched(file, search) if file == self.file && self.is_searching => self.searched(search),
            _ => {}
        }
    }

    fn take(&mut self, answer: Answer) {
        match answer {
            Answer::Row(index, row) => {
                if self.rows.len() >= ROWS {
                    // Forget all rows but those near the screen.
                    let near = self.top.saturating_sub(ROWS / 4)..self.top.saturating_add(ROWS / 4);
                    self.rows.retain(|index, _| near.contains(index));
                }
                self.rows.insert(index, row);
            }
            Answer::Message(index, detail) => {
                self.details.retain(|(known, _)| *known != index);
                self.details.push_back((index, *detail));
                if self.details.len() > DETAILS {
                    self.details.pop_front();
                }
                self.fit_slice();
            }
            Answer::Picture(of, drawn) => self.picture = Some((of, drawn)),
        }
    }

    fn fit_slice(&mut self) {
        if let Some(shape) = self.object_detail().map(|object| object.shape.clone()) {
            self.slice.fit(&shape);
        }
    }

    fn searched(&mut self, search: Search) {
        match search {
            Search::At(index) => self.notice = format!("searching: message {index}; Esc stops it"),
            Search::Found(index, is_around) => {
                self.is_searching = false;
                self.notice = if is_around { "found after going around".into() } else { String::new() };
                self.select(index);
            }
            Search::Nothing => {
                self.is_searching = false;
                self.notice = "no message matches".into();
            }
            Search::Stopped => self.is_searching = false,
        }
    }

    /// Handles a key.
    pub(super) fn press(&mut self, key: KeyEvent) -> Option<Effect> {
        // Ctrl-C quits even while a text is being typed.
        let is_interrupt = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        if let Some((asked, text)) = self.typed.take().filter(|_| !is_interrupt) {
            return self.type_key(key, asked, text);
        }
        let command = command(key)?;
        if self.is_help {
            self.is_help = false;
            return (command == Command::Quit).then_some(Effect::Quit);
        }
        if !self.is_searching {
            self.notice.clear();
        }
        self.run(command)
    }

    fn run(&mut self, command: Command) -> Option<Effect> {
        match command {
            Command::Quit => return Some(Effect::Quit),
            Command::Redraw => return Some(Effect::Redraw),
            Command::Help => self.is_help = true,
            Command::Move(by) => self.go(by),
            Command::Page(by) => {
                let lines = if self.focus == Pane::Messages { self.visible } else { self.page };
                self.go(by.saturating_mul(i64::try_from(lines.saturating_sub(1).max(1)).unwrap_or(1)));
            }
            Command::First => self.go(i64::MIN),
            Command::Last => self.go_last(),
            Command::NextPane => self.turn(1),
            // One pane back is the same as all but one forward.
            Command::LastPane => self.turn(PANES.len() - 1),
            Command::Zoom => self.is_zoomed = !self.is_zoomed,
            Command::GoTo => self.typed = Some((PromptKind::Number, String::new())),
            Command::Search => self.typed = Some((PromptKind::Pattern, String::new())),
            Command::FindNext => return self.find(false),
            Command::FindBefore => return self.find(true),
            Command::Cancel => return self.cancel(),
            Command::Object(by) => self.go_object(by),
            Command::File(by) => return self.go_file(by),
            Command::Step(by) => self.slice.step(by),
            Command::Dimension => self.slice.next_dimension(),
            Command::Plane => self.slice.next_plane(),
        }
        None
    }

    /// Handles a key while a text is being typed. Takes the text, and puts it back unless the key ends the typing.
    fn type_key(&mut self, key: KeyEvent, asked: PromptKind, mut text: String) -> Option<Effect> {
        match key.code {
            KeyCode::Esc => return None,
            KeyCode::Enter => return self.typed(asked, &text),
            // This removes the last character. In an empty text, Backspace ends the typing.
            KeyCode::Backspace if text.pop().is_none() => return None,
            KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => text.clear(),
            KeyCode::Char(c) if !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) => {
                let fits = asked == PromptKind::Pattern || c.is_ascii_digit();
                if fits && text.len() < TYPED {
                    text.push(c);
                }
            }
            _ => {}
        }
        self.typed = Some((asked, text));
        None
    }

    fn typed(&mut self, asked: PromptKind, text: &str) -> Option<Effect> {
        self.notice.clear();
        match asked {
            PromptKind::Number if text.is_empty() => None,
            PromptKind::Number => {
                // A number beyond `usize` stands for a message that does not exist. `usize::MAX` would mean the last one.
                self.target = Some(text.parse().unwrap_or(usize::MAX - 1));
                self.follow_target();
                None
            }
            // An empty text repeats the last search.
            PromptKind::Pattern if text.is_empty() => self.find(false),
            PromptKind::Pattern => match text.parse() {
                Ok(pattern) => {
                    self.pattern = Some(pattern);
                    self.find(false)
                }
                Err(error) => {
                    self.notice = error;
                    None
                }
            },
        }
    }

    fn find(&mut self, is_backward: bool) -> Option<Effect> {
        let Some(pattern) = self.pattern.clone() else {
            self.notice = "nothing was searched for yet: / asks for it".into();
            return None;
        };
        self.is_searching = true;
        self.notice = "searching; Esc stops it".into();
        Some(Effect::Search { pattern: Box::new(pattern), start: self.selected, is_backward })
    }

    fn cancel(&mut self) -> Option<Effect> {
        self.target = None;
        if self.is_searching {
            self.is_searching = false;
            self.notice = "the search was stopped".into();
            return Some(Effect::StopSearch);
        }
        if self.is_zoomed {
            self.is_zoomed = false;
        } else {
            self.focus = Pane::Messages;
        }
        None
    }

    /// Moves the focus forward by `by` panes.
    fn turn(&mut self, by: usize) {
        let at = PANES.iter().position(|pane| *pane == self.focus).unwrap_or(0);
        self.focus = PANES.into_iter().cycle().nth(at + by).unwrap_or(Pane::Messages);
        self.scroll = 0;
    }

    /// Moves in the pane that has the focus.
    fn go(&mut self, by: i64) {
        let step = |at: usize| {
            at.saturating_add_signed(isize::try_from(by).unwrap_or(if by < 0 { isize::MIN } else { isize::MAX }))
        };
        match self.focus {
            Pane::Messages => {
                self.target = None;
                self.select(step(self.selected));
            }
            Pane::Objects => self.go_object(by),
            Pane::Metadata | Pane::Frames | Pane::Picture => self.scroll = step(self.scroll).min(self.scroll_end),
        }
    }

    fn go_last(&mut self) {
        if self.focus == Pane::Messages {
            self.target = Some(usize::MAX);
            self.follow_target();
        } else {
            self.go(i64::MAX);
        }
    }

    fn go_object(&mut self, by: i64) {
        let count = self.detail().map_or(0, |detail| detail.objects.len());
        let by = isize::try_from(by).unwrap_or(if by < 0 { isize::MIN } else { isize::MAX });
        self.object = self.object().saturating_add_signed(by).min(count.saturating_sub(1));
        self.scroll = if self.focus == Pane::Objects { self.scroll } else { 0 };
        self.fit_slice();
    }

    fn go_file(&mut self, by: i64) -> Option<Effect> {
        let last = self.names.len().saturating_sub(1);
        let file = self.file.saturating_add_signed(isize::try_from(by).unwrap_or(0)).min(last);
        if file == self.file {
            return None;
        }
        let names = std::mem::take(&mut self.names);
        let before = std::mem::replace(self, Self::new(names, self.depth));
        // What stays for the new file: the focus, the zoom, the sizes of panes, the slice, and the pattern of the last search.
        self.file = file;
        self.focus = before.focus;
        self.is_zoomed = before.is_zoomed;
        (self.visible, self.page) = (before.visible, before.page);
        (self.slice, self.pattern) = (before.slice, before.pattern);
        Some(Effect::Open(file))
    }

    /// Selects the target if the scan has found it. While the scan goes on, selects the last known message and keeps the
    /// target.
    fn follow_target(&mut self) {
        let Some(target) = self.target else { return };
        let count = self.known.count;
        if target < count {
            self.target = None;
            self.notice.clear();
            self.select(target);
        } else if self.known.is_done {
            self.target = None;
            self.notice.clear();
            if target == usize::MAX {
                self.select(usize::MAX);
            } else {
                self.notice = format!("there is no such message: there are {count}");
            }
        } else {
            self.select(usize::MAX);
            self.notice = format!("{count} messages are known, the scan goes on; Esc stays here");
        }
    }

    /// Selects a message, or the last known one if `index` is beyond it.
    fn select(&mut self, index: usize) {
        let index = index.min(self.known.count.saturating_sub(1));
        if index != self.selected {
            self.selected = index;
            self.scroll = 0;
            self.fit_slice();
        }
        self.show_selected();
    }

    /// Moves the list so that the selected message is visible.
    pub(super) fn show_selected(&mut self) {
        let visible = self.visible.max(1);
        if self.selected < self.top {
            self.top = self.selected;
        } else if self.selected >= self.top.saturating_add(visible) {
            self.top = self.selected.saturating_sub(visible - 1);
        }
        self.top = self.top.min(self.known.count.saturating_sub(visible));
    }
}

#[cfg(test)]
mod tests;
