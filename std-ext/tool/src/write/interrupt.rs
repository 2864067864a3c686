//! Removal of temporary files when a signal ends the program.
//!
//! Ctrl-C and similar signals end a program at once, and its temporary files would stay. Here a thread waits for these
//! signals. It removes the temporary files, then lets the signal take its normal effect, so that the parent process
//! sees which signal it was. Creating, renaming and removing temporary files happens under one lock. The thread takes
//! that lock and never releases it, so that no file is created afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static IN_FLIGHT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The named temporary files and folders. While this lock is held, no signal ends the program.
pub(crate) struct InFlight(MutexGuard<'static, Vec<PathBuf>>);

impl InFlight {
    /// Takes the lock. The first call starts the thread that waits for signals.
    pub(crate) fn lock() -> Self {
        #[cfg(unix)]
        watch::begin();
        Self(take())
    }

    /// Adds a temporary file, before it is created.
    pub(crate) fn add(&mut self, path: &Path) {
        self.0.push(path.to_path_buf());
    }

    /// Removes a file from the list, because it is in its place or was never created.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.0.retain(|known| known != path);
    }

    /// Deletes a temporary file or folder.
    pub(crate) fn remove(&mut self, path: &Path) {
        delete(path);
        self.forget(path);
    }
}

/// Ends the program with an error while other threads work: their temporary files are removed.
#[cfg(feature = "netcdf")]
pub(crate) fn give_up(problem: &str) -> ! {
    let mut in_flight = take();
    for path in in_flight.drain(..) {
        delete(&path);
    }
    crate::show::output::last_words(problem);
    // The lock is held to the end, so no file is created between here and there.
    std::process::exit(1)
}

/// Deletes a file, or a folder and all in it. A missing one is fine, and there is no second chance.
fn delete(path: &Path) {
    if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        let _ = fs::remove_dir_all(path);
    } else {
        let _ = fs::remove_file(path);
    }
}

fn take() -> MutexGuard<'static, Vec<PathBuf>> {
    // A panic in another thread cannot leave the list of paths invalid.
    IN_FLIGHT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(unix, feature = "netcdf"))]
pub(crate) use watch::awaited;

#[cfg(unix)]
mod watch {
    use std::ffi::c_int;
    use std::sync::Once;
    use std::{ptr, thread};

    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// The signals that end a program and can be caught.
    const SIGNALS: [c_int; 6] =
        [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGXCPU, libc::SIGXFSZ];

    /// The signals that end this program. Those that `nohup` or the shell set to be ignored stay ignored.
    pub(crate) fn awaited() -> Vec<c_int> {
        SIGNALS.into_iter().filter(|&signal| !is_ignored(signal)).collect()
    }

    /// Starts the thread, once.
    pub(super) fn begin() {
        static BEGUN: Once = Once::new();
        BEGUN.call_once(|| {
            let Ok(signals) = Signals::new(awaited()) else { return };
            let handle = signals.handle();
            // Without the thread, signals end the program as usual. Temporary files may stay behind.
            if thread::Builder::new().name("signals".into()).spawn(|| wait(signals)).is_err() {
                handle.close();
            }
        });
    }

    fn wait(mut signals: Signals) {
        for signal in signals.forever() {
            let mut in_flight = super::take();
            for path in in_flight.drain(..) {
                super::delete(&path);
            }
            // The lock is held to the end, so no file is created between here and there.
            let _ = emulate_default_handler(signal);
        }
    }

    #[expect(unsafe_code, reason = "no safe interface tells what a signal does")]
    fn is_ignored(signal: c_int) -> bool {
        // SAFETY: zeroes are a valid `sigaction`, a struct of integers, and `action` is a live one that is written to only; no new
        // action is given, so that nothing is changed.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
        }
    }
}
