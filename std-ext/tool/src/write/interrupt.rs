//! Removal of temporary files when a signal ends the program.
//!
//! Ctrl-C and similar signals end a program at once, and its temporary files would stay. Here a thread waits for these
//! signals. It removes the temporary files, then lets the signal take its normal effect, so that the parent process
//! sees which signal it was.

#[cfg(any(unix, feature = "netcdf"))]
use tgm_std::file::replace::InFlight;

/// Begins to wait for signals when the first temporary file gets a name.
pub(crate) fn remove_on_signals() {
    #[cfg(unix)]
    InFlight::watched_by(watch::begin);
}

/// Ends the program with an error while other threads work: their temporary files are removed.
#[cfg(feature = "netcdf")]
pub(crate) fn give_up(problem: &str) -> ! {
    // Kept to the end, so no file is created between here and there.
    let _in_flight = InFlight::remove_all();
    crate::show::output::last_words(problem);
    std::process::exit(1)
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
            // Kept to the end, so no file is created between here and there.
            let _in_flight = super::InFlight::remove_all();
            let _ = emulate_default_handler(signal);
        }
    }

    #[expect(unsafe_code, reason = "no safe interface says what a signal does")]
    fn is_ignored(signal: c_int) -> bool {
        // SAFETY: zeroes are a valid `sigaction`, a struct of integers, and `action` is a live one that is written to only; no new
        // action is given, so that nothing is changed.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{read_dir, read_to_string, write};
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::ExitStatusExt as _;
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::time::Duration;
    use std::{env, io, thread};

    use tgm_std::file::replace::{Temporary, TemporaryFolder, make_folders};

    use super::*;

    /// The environment variable that tells the child process of the test below where to create its files.
    const PLACE: &str = "TGM_TEST_OF_SIGNALS";

    #[test]
    fn makes_files_with_names_and_waits() {
        let Some(place) = env::var_os(PLACE) else { return };
        let place = Path::new(&place);
        remove_on_signals();
        let _files = [(); 2].map(|()| Temporary::with_name(place).unwrap());
        let made = TemporaryFolder::new(&place.join("x.zarr"), |path| Ok::<_, io::Error>(path.to_path_buf()));
        let (_folder, path) = made.unwrap();
        // It fills the folder until the program ends.
        thread::spawn(move || {
            for number in 0_u64.. {
                let folder = path.join((number % 50).to_string());
                let _ = make_folders(&folder).and_then(|()| write(folder.join("chunk"), "1"));
                thread::sleep(Duration::from_millis(1));
            }
        });
        thread::sleep(Duration::from_millis(20));
        println!("\nready");
        thread::sleep(Duration::from_mins(1));
    }

    /// Whether this process ignores a signal: `nohup` and shells arrange that for what runs in the background. Its children
    /// ignore the signal as well.
    fn is_ignored(signal: i32) -> bool {
        let status = read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).unwrap());
        mask >> (signal - 1) & 1 == 1
    }

    #[test]
    fn signals_remove_files_and_folders_that_have_a_name() {
        let place = tempfile::tempdir().unwrap();
        let files = || read_dir(place.path()).unwrap().count();
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM, libc::SIGXCPU] {
            if is_ignored(signal) {
                continue;
            }
            let mut child = Command::new(env::current_exe().unwrap())
                .args(["--exact", "write::interrupt::tests::makes_files_with_names_and_waits", "--nocapture"])
                .env(PLACE, place.path())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            assert!(lines.map_while(Result::ok).any(|line| line == "ready"));
            assert_eq!(files(), 3);
            Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
            assert_eq!(child.wait().unwrap().signal(), Some(signal));
            assert_eq!(files(), 0, "signal {signal}");
        }
    }
}
