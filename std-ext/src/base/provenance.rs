//! The time and the uuid of a new message, as texts (FORMAT §3.4).
//!
//! A system call for the 16 bytes of a uuid takes a tenth of the time that a small message takes. So each thread
//! fetches random bytes for 32 uuids at once. No bytes are used twice, not even in a copy of the process:
//!
//! | copy | what keeps its uuids different |
//! |---|---|
//! | `fork` | a hook of the C library runs in the child, which then drops the bytes it has |
//! | copies unknown to the C library: a bare `clone`, a virtual machine that is resumed twice | the nanosecond of the clock, which is mixed in |
//!
//! Each thread also keeps the text of the time until the second is over.

use crate::base::error::{Result, TensogramError};

/// Calls `f` with the time, `YYYY-MM-DDThh:mm:ssZ`, and a new uuid, in lower case with hyphens.
///
/// # Errors
/// [`TensogramError::Encoding`] on a machine without a clock or random bytes.
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub(crate) fn with_new<T>(_: impl FnOnce(&str, &str) -> T) -> Result<T> {
    Err(TensogramError::encoding(format!("this machine has no clock: {}", crate::base::hint::Hint::SetProvenance)))
}

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub(crate) use machine::with_new;

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod machine {
    use std::cell::RefCell;
    use std::io::Write as _;
    use std::time::{SystemTime, UNIX_EPOCH};

    use super::{Result, TensogramError};

    /// The number of uuids that random bytes are fetched for at once.
    const AT_ONCE: usize = 32;
    /// Bytes of a uuid.
    const UUID_LEN: usize = 16;
    /// An odd number with about as many ones as zeros. It spreads the clock's bits over all bits of a uuid.
    const SPREAD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

    thread_local! {
        static STOCK: RefCell<Stock> = const { RefCell::new(Stock::EMPTY) };
    }

    /// The text of the time and the random bytes that a thread keeps.
    struct Stock {
        /// The second of `time`, in seconds since 1970. `None` before the first use.
        second: Option<u64>,
        time: [u8; 20],
        random: [[u8; UUID_LEN]; AT_ONCE],
        /// The number of unused entries, which are at the front of `random`.
        left: usize,
        /// The number of forks when `random` was fetched.
        forks: usize,
    }

    impl Stock {
        const EMPTY: Self = Self { second: None, time: [0; 20], random: [[0; UUID_LEN]; AT_ONCE], left: 0, forks: 0 };

        /// The text of a time.
        fn time(&mut self, now: SystemTime) -> &str {
            let second = now.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs());
            if second.is_none() || second != self.second {
                // A year of more than four digits does not fit, and the text is cut off.
                let _ = write!(&mut self.time[..], "{}", humantime::format_rfc3339_seconds(now));
                self.second = second;
            }
            // Digits and signs of ASCII, or zeros.
            std::str::from_utf8(&self.time).unwrap_or_default()
        }

        /// Random bytes that are given out only once.
        fn random(&mut self) -> Result<u128> {
            let forks = super::forks::count();
            if self.left == 0 || forks.is_none() || forks != Some(self.forks) {
                let filled = getrandom::fill(self.random.as_flattened_mut());
                filled.map_err(|error| TensogramError::encoding(format!("no random bytes for a uuid: {error}")))?;
                (self.left, self.forks) = (AT_ONCE, forks.unwrap_or(0));
            }
            self.left -= 1;
            let bytes = self.random.get_mut(self.left).map(std::mem::take);
            let bytes = bytes.ok_or_else(|| TensogramError::encoding("no random bytes are left for a uuid"))?;
            Ok(u128::from_ne_bytes(bytes))
        }
    }

    /// Calls `f` with the time, `YYYY-MM-DDThh:mm:ssZ`, and a new uuid, in lower case with hyphens.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] on a machine without random bytes.
    pub(crate) fn with_new<T>(f: impl FnOnce(&str, &str) -> T) -> Result<T> {
        let now = SystemTime::now();
        let (mut time, mut text) = ([0; 20], [0; uuid::fmt::Hyphenated::LENGTH]);
        let random = STOCK.with_borrow_mut(|stock| {
            let text = stock.time(now).as_bytes();
            time.iter_mut().zip(text).for_each(|(out, byte)| *out = *byte);
            stock.random()
        })?;
        let nanosecond = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let mixed = random ^ nanosecond.wrapping_mul(SPREAD);
        let uuid = uuid::Builder::from_random_bytes(mixed.to_ne_bytes()).into_uuid();
        // As in the stock.
        Ok(f(std::str::from_utf8(&time).unwrap_or_default(), uuid.hyphenated().encode_lower(&mut text)))
    }

    #[cfg(test)]
    #[allow(clippy::unwrap_used, reason = "tests may panic")]
    mod tests {
        use std::collections::BTreeSet;
        use std::time::Duration;

        use super::*;

        #[test]
        fn uuids_are_random_ones_and_all_different_on_all_threads() {
            let some = || (0..100).map(|_| with_new(|_, uuid| uuid.to_string()).unwrap()).collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(some)).collect();
            let uuids: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
            for text in &uuids {
                let uuid = uuid::Uuid::try_parse(text).unwrap();
                assert_eq!((uuid.get_version_num(), &uuid.to_string()), (4, text));
            }
            assert_eq!(uuids.iter().collect::<BTreeSet<_>>().len(), 400);
        }

        #[test]
        fn bytes_are_not_used_again_once_they_are_used_or_there_was_a_fork() {
            let mut stock = Stock::EMPTY;
            stock.random().unwrap();
            assert_eq!((stock.left, stock.random[AT_ONCE - 1]), (AT_ONCE - 1, [0; UUID_LEN]));
            let next = stock.random[AT_ONCE - 2];
            stock.forks += 1;
            assert_ne!(stock.random().unwrap(), u128::from_ne_bytes(next));
            assert_eq!(stock.left, AT_ONCE - 1);
        }

        #[test]
        fn the_time_is_that_of_the_clock() {
            let mut stock = Stock::EMPTY;
            for (seconds, text) in [(0, "1970-01-01T00:00:00Z"), (1_000_000_000, "2001-09-09T01:46:40Z")] {
                let now = UNIX_EPOCH + Duration::from_secs(seconds);
                assert_eq!(stock.time(now), text);
                assert_eq!(stock.time(now + Duration::from_millis(999)), text);
            }
        }
    }
}

/// Counts how often this process is a fork of another.
#[cfg(all(unix, not(target_family = "wasm")))]
mod forks {
    #![allow(unsafe_code, reason = "a call of the system's C library")]

    use std::sync::OnceLock;
    // Not every machine has atomic integers of 64 bits.
    use std::sync::atomic::{AtomicUsize, Ordering};

    static FORKS: AtomicUsize = AtomicUsize::new(0);

    /// The number of forks between the first call of this function and this process. `None` if the hook cannot be set.
    pub(super) fn count() -> Option<usize> {
        static HOOKED: OnceLock<bool> = OnceLock::new();
        // SAFETY: the hook may run in the forked child of a process with threads. It only adds to an atomic integer,
        // which takes no lock and no memory. The function exists as long as the program runs.
        let hooked = *HOOKED.get_or_init(|| unsafe { libc::pthread_atfork(None, None, Some(in_child)) } == 0);
        hooked.then(|| FORKS.load(Ordering::Relaxed))
    }

    unsafe extern "C" fn in_child() {
        FORKS.fetch_add(1, Ordering::Relaxed);
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_child_knows_that_it_is_one() {
            let before = count();
            // SAFETY: the child calls only what a forked child of a process with threads may call.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let told = before.is_some() && count() == before.map(|forks| forks + 1);
                // SAFETY: ends the child at once.
                unsafe { libc::_exit(if told { 7 } else { 1 }) };
            }
            let mut status = 0;
            // SAFETY: `status` is a valid place to write an integer to.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 7);
            assert_eq!(count(), before);
        }
    }
}

#[cfg(not(any(unix, target_family = "wasm")))]
mod forks {
    /// Other systems do not copy processes.
    pub(super) const fn count() -> Option<usize> {
        Some(0)
    }
}

/// WASI and similar systems: the host can copy an instance, and the instance cannot notice it.
#[cfg(all(target_family = "wasm", not(target_os = "unknown")))]
mod forks {
    pub(super) const fn count() -> Option<usize> {
        None
    }
}
