//! The terminal: a full screen, and the way back from it.
//!
//! The terminal is restored when the screen is dropped, when the program panics in any thread, and when a signal ends it.

use std::fs::File;
use std::io::{self, Write as _};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};

/// Whether the terminal is to be restored.
static IS_ENTERED: AtomicBool = AtomicBool::new(false);

/// The full screen.
#[derive(Debug)]
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<File>>,
}

impl Screen {
    /// Enters the full screen.
    ///
    /// # Errors
    /// The errors of the terminal.
    pub(super) fn enter() -> io::Result<Self> {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            restore();
            previous(panic);
            // The other threads would go on drawing.
            std::process::exit(101);
        }));
        #[cfg(unix)]
        watch::begin();
        let mut output = stdout()?;
        enable_raw_mode()?;
        IS_ENTERED.store(true, Ordering::SeqCst);
        let entered =
            execute!(output, EnterAlternateScreen).and_then(|()| Terminal::new(CrosstermBackend::new(output)));
        let terminal = entered.inspect_err(|_| restore())?;
        Ok(Self { terminal })
    }

    /// Draws a frame.
    ///
    /// # Errors
    /// The errors of the terminal.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(|_| ())
    }

    /// Draws all of the next frame again.
    ///
    /// # Errors
    /// The errors of the terminal.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.terminal.clear()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
        // The usual hook is in place again. A thread that panics must not ask for it.
        if !std::thread::panicking() {
            let _ = panic::take_hook();
        }
    }
}

/// Leaves the full screen, once.
fn restore() {
    if IS_ENTERED.swap(false, Ordering::SeqCst) {
        // Errors are ignored: if this fails, nothing else can restore the terminal.
        let _ = disable_raw_mode();
        if let Ok(mut output) = stdout() {
            let _ = execute!(output, LeaveAlternateScreen, Show);
            let _ = output.flush();
        }
    }
}

/// Standard output without its lock, which the main thread holds throughout.
#[cfg(unix)]
fn stdout() -> io::Result<File> {
    use std::os::fd::AsFd as _;
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(windows)]
fn stdout() -> io::Result<File> {
    use std::os::windows::io::AsHandle as _;
    io::stdout().as_handle().try_clone_to_owned().map(File::from)
}

#[cfg(not(any(unix, windows)))]
fn stdout() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
mod watch {
    use std::sync::Once;
    use std::thread;

    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// Lets signals that end the program restore the terminal first.
    pub(super) fn begin() {
        static BEGUN: Once = Once::new();
        BEGUN.call_once(|| {
            let ending = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];
            let Ok(mut signals) = Signals::new(ending) else { return };
            let handle = signals.handle();
            let waiting = thread::Builder::new().name("signals".into()).spawn(move || {
                for signal in signals.forever() {
                    super::restore();
                    let _ = emulate_default_handler(signal);
                }
            });
            // Without the thread, signals end the program at once.
            if waiting.is_err() {
                handle.close();
            }
        });
    }
}
