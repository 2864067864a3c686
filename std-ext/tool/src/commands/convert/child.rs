//! The whole command in a process of its own, for inputs that libraries of C read.
//!
//! A damaged file can crash HDF5 and netCDF-C, take all memory, or keep HDF5 busy for ever. Here only the child ends, and this process
//! reports the signal that ended it as an error. The output is not touched then, as the child did not finish it. The child itself ends where a library
//! finds no end. What comes by a pipe is read without a child, because its start was looked at here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tgm_std::file::SourceName;

use crate::read::pipes;
use crate::show::output::Out;
use crate::show::progress;
use crate::write::interrupt::give_up;

/// The environment variable that the child has. People who set it have no child, as debuggers and profilers like it.
const IN_PROCESS: &str = "TGM_IN_PROCESS";
/// Its value in a child.
#[cfg(unix)]
const OF_CHILD: &str = "child";
/// The time in which what a file holds is listed, however short the file is, and for each mebibyte of it.
const PATIENCE: (Duration, Duration) = (Duration::from_mins(1), Duration::from_secs(1));

/// Runs the command line in a child, and ends as the child did. Returns if there is no child, because it is one already,
/// or after a signal ended the child that this process did not pass on, which is reported.
pub(super) fn did_all(paths: &[PathBuf], out: &mut Out) -> bool {
    #[cfg(unix)]
    {
        let set = std::env::var_os(IN_PROCESS);
        if let Some(value) = set {
            if value == OF_CHILD {
                // Who kills the parent alone means the child.
                #[cfg(target_os = "linux")]
                let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
            }
            return false;
        }
        if paths.iter().any(|path| pipes::is_once(path)) {
            return false;
        }
        let Some(signal) = unix::run() else { return false };
        let names: Vec<String> = paths.iter().map(|path| SourceName::of(path).to_string()).collect();
        out.problem(&format!("{}: {}", names.join(", "), unix::what(signal)));
        true
    }
    #[cfg(not(unix))]
    {
        let _ = (paths, out);
        false
    }
}

/// A clock for the listing of what a file holds. Ends the program if [`Self::stop`] is not called in time.
pub(super) struct Clock(std::sync::mpsc::Sender<()>);

impl Clock {
    /// Starts it for the file at `path`.
    pub(super) fn start(path: &Path) -> Self {
        let mebibytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len() >> 20);
        let time = PATIENCE.0.saturating_add(PATIENCE.1.saturating_mul(u32::try_from(mebibytes).unwrap_or(u32::MAX)));
        let (stop, stopped) = std::sync::mpsc::channel();
        let name = SourceName::of(path).to_string();
        // Without the thread there is no clock.
        let _ = std::thread::Builder::new().name("clock".into()).spawn(move || {
            // The other end is gone when the file was read, or failed.
            if stopped.recv_timeout(time) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let time = time.as_secs();
                give_up(&format!("{name}: what it holds cannot be listed within {time} s: the file is damaged"));
            }
        });
        Self(stop)
    }

    /// Stops it: everything is listed.
    pub(super) fn stop(&self) {
        // This fails if the clock was stopped before, which changes nothing.
        let _ = self.0.send(());
    }
}

/// What passes on what is written, and stops a clock by the first of it.
pub(super) struct Timed<'a> {
    pub(super) sink: &'a mut dyn std::io::Write,
    pub(super) clock: Clock,
}

impl std::io::Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.clock.stop();
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(unix)]
mod unix {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Child, Command, exit};

    use rustix::process::{Pid, Signal, kill_process};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use super::{IN_PROCESS, OF_CHILD, progress};
    use crate::show::arguments;
    use crate::write::interrupt::awaited;

    /// The signals by which a program ends itself, because it did what no program may do.
    const CRASHES: [i32; 5] = [libc::SIGSEGV, libc::SIGABRT, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

    /// What a signal says of the child that it ended.
    pub(super) fn what(signal: i32) -> String {
        let text = match signal {
            signal if CRASHES.contains(&signal) => "the library that reads it crashed, as damaged files can make it",
            libc::SIGKILL => "the process that reads it was killed, as the system does when memory runs out",
            _ => "the process that reads it was ended by the system",
        };
        format!("{text} (signal {signal})")
    }

    /// Whether who starts this program means a signal for it: one of those that are passed on, or a reader of the output that is gone.
    fn is_for_both(signal: i32) -> bool {
        signal == libc::SIGPIPE || awaited().contains(&signal)
    }

    /// Runs the command line in a child. Returns the signal that ended it and was not for both, and nothing if there was no child.
    pub(super) fn run() -> Option<i32> {
        let arguments = arguments::all();
        // In a program that calls this library the file of the program is another one.
        if !arguments.iter().eq(&std::env::args_os().collect::<Vec<_>>()) {
            return None;
        }
        let program = std::env::current_exe().ok()?;
        let signals = Signals::new(awaited()).ok()?;
        let mut child = Command::new(program).args(arguments.iter().skip(1)).env(IN_PROCESS, OF_CHILD).spawn().ok()?;
        // The child shows it.
        progress::forget();
        pass_on(signals, &child);
        match end(&mut child) {
            (Some(code), _) => exit(code),
            (None, Some(signal)) if !is_for_both(signal) => Some(signal),
            (None, signal) => {
                let _ = emulate_default_handler(signal.unwrap_or(libc::SIGTERM));
                exit(1)
            }
        }
    }

    /// The exit code of a child, or the signal that ended it.
    fn end(child: &mut Child) -> (Option<i32>, Option<i32>) {
        child.wait().map_or((Some(1), None), |status| (status.code(), status.signal()))
    }

    /// Gives the child the signals that would end this process.
    fn pass_on(mut signals: Signals, child: &Child) {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        // Without the thread the signals do nothing until the child has ended.
        let _ = std::thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                if let Some((pid, signal)) = pid.zip(Signal::from_named_raw(signal)) {
                    let _ = kill_process(pid, signal);
                }
            }
        });
    }
}
