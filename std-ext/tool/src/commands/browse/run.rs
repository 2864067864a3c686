//! The loop between keys, threads and the screen.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use ratatui::crossterm::event::{self, Event, KeyEventKind};

use crate::commands::browse::app::{App, Effect, News};
use crate::commands::browse::fetch::{Desk, Reading, Request, work};
use crate::commands::browse::panes;
use crate::commands::browse::screen::Screen;
use crate::commands::browse::search::search;
use crate::commands::browse::source::Source;

/// What wakes the loop.
enum Wake {
    /// A key, or another size of the terminal.
    Input(io::Result<Event>),
    /// News for the state.
    News(News),
}

/// Shows the state until the user ends it.
///
/// # Errors
/// The errors of the terminal.
pub(super) fn run(app: App, sources: &[Arc<Source>], reading: &Reading) -> io::Result<()> {
    let mut screen = Screen::enter()?;
    let (sender, wakes) = mpsc::channel();
    let input = sender.clone();
    thread::Builder::new().name("keys".into()).spawn(move || {
        loop {
            let event = event::read();
            let is_last = event.is_err();
            if input.send(Wake::Input(event)).is_err() || is_last {
                return;
            }
        }
    })?;
    let mut threads = Threads { sources: sources.to_vec(), sender, stop: Arc::default(), lists: None, pictures: None };
    threads.start(reading)?;
    let done = follow(app, &mut screen, &mut threads, &wakes);
    threads.stop.store(true, Ordering::Relaxed);
    done
}

fn follow(mut app: App, screen: &mut Screen, threads: &mut Threads, wakes: &Receiver<Wake>) -> io::Result<()> {
    threads.open(app.file())?;
    loop {
        threads.wish(&app);
        screen.draw(|frame| panes::draw(frame, &mut app))?;
        // The first frame has set the sizes of the panes.
        threads.wish(&app);
        let Ok(first) = wakes.recv() else { return Ok(()) };
        // All that has come is taken in before the next frame.
        let mut next = Some(first);
        while let Some(wake) = next.take() {
            let effect = match wake {
                Wake::News(news) => {
                    app.hear(news);
                    None
                }
                Wake::Input(Err(error)) => return Err(error),
                Wake::Input(Ok(Event::Key(key))) if key.kind != KeyEventKind::Release => app.press(key),
                Wake::Input(Ok(_)) => None,
            };
            match effect {
                None => {}
                Some(Effect::Quit) => return Ok(()),
                Some(Effect::Redraw) => screen.clear()?,
                Some(Effect::Open(file)) => threads.open(file)?,
                Some(Effect::Search { pattern, start, is_backward }) => {
                    threads.search(app.file(), *pattern, start, is_backward)?;
                }
                Some(Effect::StopSearch) => threads.stop.store(true, Ordering::Relaxed),
            }
            next = wakes.try_recv().ok();
        }
    }
}

/// The threads that work for the screen.
struct Threads {
    sources: Vec<Arc<Source>>,
    sender: Sender<Wake>,
    /// Stops the search that runs.
    stop: Arc<AtomicBool>,
    /// Rows and messages are read by one thread, pictures by another, which may take longer.
    lists: Option<Arc<Desk>>,
    pictures: Option<Arc<Desk>>,
}

impl Threads {
    fn start(&mut self, reading: &Reading) -> io::Result<()> {
        for desk in [&mut self.lists, &mut self.pictures] {
            let new = Arc::new(Desk::default());
            *desk = Some(Arc::clone(&new));
            let (sources, sender, reading) = (self.sources.clone(), self.sender.clone(), reading.clone());
            thread::Builder::new().name("reader".into()).spawn(move || {
                work(&new, &sources, &reading, |file, answer| {
                    sender.send(Wake::News(News::Read(file, answer))).is_ok()
                });
            })?;
        }
        Ok(())
    }

    /// Puts down what the screen misses.
    fn wish(&self, app: &App) {
        let (pictures, lists): (Vec<_>, Vec<_>) =
            app.misses().into_iter().partition(|request| matches!(request, Request::Picture(_)));
        for (desk, requests) in [(&self.lists, lists), (&self.pictures, pictures)] {
            if let Some(desk) = desk {
                desk.put(app.file(), requests);
            }
        }
    }

    /// Scans a file, if that was not done.
    fn open(&self, file: usize) -> io::Result<()> {
        let Some(source) = self.sources.get(file).cloned() else { return Ok(()) };
        if !source.begin_scan() {
            let known = source.known();
            // The receiver lives as long as the loop.
            let _ = self.sender.send(Wake::News(News::Known(file, known)));
            return Ok(());
        }
        let sender = self.sender.clone();
        thread::Builder::new().name("scan".into()).spawn(move || {
            let tell = || sender.send(Wake::News(News::Known(file, source.known()))).is_ok();
            source.scan(tell);
            tell();
        })?;
        Ok(())
    }

    fn search(
        &mut self,
        file: usize,
        pattern: crate::commands::browse::search::Pattern,
        start: usize,
        is_backward: bool,
    ) -> io::Result<()> {
        // The search before, if it still runs, has a flag of its own.
        self.stop.store(true, Ordering::Relaxed);
        let stop = Arc::new(AtomicBool::new(false));
        self.stop = Arc::clone(&stop);
        let Some(source) = self.sources.get(file).cloned() else { return Ok(()) };
        let sender = self.sender.clone();
        thread::Builder::new().name("search".into()).spawn(move || {
            search(&source, &pattern, (start, is_backward), &stop, |news| {
                // A search that was stopped has nothing to say: another one may run by now.
                if !stop.load(Ordering::Relaxed) {
                    let _ = sender.send(Wake::News(News::Searched(file, news)));
                }
            });
        })?;
        Ok(())
    }
}
