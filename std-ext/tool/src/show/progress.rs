//! Progress of long work on standard error: a bar for people, lines of JSON for programs.
//!
//! All reading of files counts in one [`meter`], wherever it happens. A thread looks at the meter and shows it, so that
//! the line moves while a command decodes one large object, and commands need not call anything. Work of less than a
//! second shows no bar.
//!
//! It does without a crate for bars: the counting and the forms are most of the code, and the bar is one line of text.

mod line;
pub(crate) mod meter;

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::show::progress::line::{bar, json};
use crate::show::progress::meter::snapshot;

/// Shorter work shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two updates of the bar.
const PACE: Duration = Duration::from_millis(200);
/// Time between two lines of JSON.
const JSON_PACE: Duration = Duration::from_secs(1);
/// Width of the bar's line where the terminal does not tell its own.
const WIDTH: usize = 80;

/// The form of progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// A bar on terminals, for work of more than a second
    #[default]
    Auto,
    /// A bar from the start, wherever standard error goes
    Bar,
    /// Lines of JSON, one each second and one at the end
    Json,
    /// Nothing
    None,
}

/// What is shown at present.
struct Shown {
    /// What is done: the name of the command.
    what: String,
    form: Form,
    start: Instant,
    /// Whether the cursor stands after a bar.
    is_drawn: bool,
}

static SHOWN: Mutex<Option<Shown>> = Mutex::new(None);
static ENDED: Condvar = Condvar::new();
/// Whether a bar may be on the terminal: looked at before the lock is taken.
static HAS_BAR: AtomicBool = AtomicBool::new(false);

fn shown() -> MutexGuard<'static, Option<Shown>> {
    // A panic in another thread leaves at worst a bar on the screen.
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to show the progress of the command `what`, in the form that the user wants. A quiet command shows it only if it is
/// asked to.
pub(crate) fn begin(what: &str, asked: Form, is_quiet: bool) {
    let is_dumb = || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let form = match asked {
        Form::Auto if is_quiet || !io::stderr().is_terminal() || is_dumb() => Form::None,
        asked => asked,
    };
    if form == Form::None {
        return;
    }
    *shown() = Some(Shown { what: what.to_string(), form, start: Instant::now(), is_drawn: false });
    HAS_BAR.store(form != Form::Json, Ordering::Relaxed);
    // Without the thread nothing is shown but the last line.
    let _ = thread::Builder::new().name("progress".into()).spawn(move || watch(form));
}

/// Shows the meter again and again, until [`end`].
fn watch(form: Form) {
    let mut pause = match form {
        Form::Auto => PATIENCE,
        Form::Json => JSON_PACE,
        _ => PACE,
    };
    let mut guard = shown();
    loop {
        let (next, _) = ENDED.wait_timeout(guard, pause).unwrap_or_else(PoisonError::into_inner);
        guard = next;
        match &mut *guard {
            Some(shown) => shown.show(false),
            None => return,
        }
        pause = if form == Form::Json { JSON_PACE } else { PACE };
    }
}

impl Shown {
    fn show(&mut self, is_end: bool) {
        let counts = snapshot(self.start.elapsed());
        // A command that reads no file has no progress, and one that waits for its first byte has none yet.
        if counts.work == 0 && !is_end {
            return;
        }
        let mut stderr = io::stderr().lock();
        // A failure to show progress does not matter.
        let _ = match self.form {
            Form::Json => writeln!(stderr, "{}", json(&self.what, &counts, is_end)),
            _ => write!(stderr, "\r{}\x1b[K", bar(&self.what, &counts, columns())).and_then(|()| stderr.flush()),
        };
        self.is_drawn = self.form != Form::Json;
    }

    fn erase(&mut self) {
        if self.is_drawn {
            self.is_drawn = false;
            let _ = write!(io::stderr().lock(), "\r\x1b[K");
        }
    }
}

/// Writes to standard error without a bar in the way. It comes back with its next update.
pub(crate) fn aside<T>(write: impl FnOnce() -> T) -> T {
    let mut guard = shown();
    if let Some(shown) = &mut *guard {
        shown.erase();
    }
    write()
}

/// Ends a bar, because a listing begins on the terminal, which is its own progress.
pub(crate) fn make_room() {
    if HAS_BAR.swap(false, Ordering::Relaxed) {
        finish(false);
    }
}

/// Ends all progress without a last line, because another process shows its own.
#[cfg(all(unix, feature = "netcdf"))]
pub(crate) fn forget() {
    finish(false);
}

/// Ends all progress: removes the bar, or writes the last line of JSON.
pub(crate) fn end() {
    finish(true);
}

fn finish(is_end: bool) {
    let mut guard = shown();
    if let Some(mut shown) = guard.take() {
        if shown.form == Form::Json && is_end {
            shown.show(true);
        }
        shown.erase();
        ENDED.notify_all();
    }
}

/// Width of the terminal at standard error.
#[cfg(unix)]
fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
    if size > 0 { size } else { WIDTH }
}

/// Width of the terminal: unknown on this system.
#[cfg(not(unix))]
const fn columns() -> usize {
    WIDTH
}
