//! Files that must not outlive the program, also where it is interrupted.
//!
//! Ctrl-C and its like end a program at once, and what it had begun stays behind. Here a thread waits for these signals: it
//! removes the temporary files that are in flight, and then lets the signal do what it does, so that the parent process sees
//! which signal it was. Creating, renaming and removing such files happens under one lock, which the thread takes for good:
//! after it nothing is created any more.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static IN_FLIGHT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The temporary files that have a name. While this is held no signal ends the program.
pub(crate) struct InFlight(MutexGuard<'static, Vec<PathBuf>>);

impl InFlight {
    /// Waits for its turn. From the first call on signals are waited for.
    pub(crate) fn lock() -> Self {
        #[cfg(unix)]
        watch::begin();
        Self(take())
    }

    /// Says that there is, or is about to be, a temporary file.
    pub(crate) fn add(&mut self, path: &Path) {
        self.0.push(path.to_path_buf());
    }

    /// Says that the file is in its place, or was never made.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.0.retain(|known| known != path);
    }

    /// Removes a file that is not wanted any more.
    pub(crate) fn remove(&mut self, path: &Path) {
        // A file that is gone already is as good.
        let _ = fs::remove_file(path);
        self.forget(path);
    }
}

fn take() -> MutexGuard<'static, Vec<PathBuf>> {
    // A list of paths is whole whatever happened to the thread that had it.
    IN_FLIGHT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(unix)]
mod watch {
    use std::ffi::c_int;
    use std::sync::Once;
    use std::{fs, ptr, thread};

    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// What ends a program from outside, and can be seen coming.
    const SIGNALS: [c_int; 6] =
        [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGXCPU, libc::SIGXFSZ];

    /// Begins to wait for signals, once.
    pub(super) fn begin() {
        static BEGUN: Once = Once::new();
        BEGUN.call_once(|| {
            // What `nohup` and shells have set to be ignored stays ignored.
            let awaited: Vec<_> = SIGNALS.into_iter().filter(|&signal| !is_ignored(signal)).collect();
            let Ok(signals) = Signals::new(awaited) else { return };
            let handle = signals.handle();
            // Without a thread signals do what they always do: files may stay behind, nothing else is lost.
            if thread::Builder::new().name("signals".into()).spawn(|| wait(signals)).is_err() {
                handle.close();
            }
        });
    }

    fn wait(mut signals: Signals) {
        for signal in signals.forever() {
            let mut in_flight = super::take();
            for path in in_flight.drain(..) {
                // A file that cannot be removed now cannot be removed at all.
                let _ = fs::remove_file(path);
            }
            // The lock is held to the end: nothing is made between here and there.
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
