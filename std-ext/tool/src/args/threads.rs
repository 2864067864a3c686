//! The flag for threads that decode.

use clap::Args;

use crate::read::threads::thread_count;

/// How many threads decode.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Threads {
    /// How many threads work [default: one for an object; all processors where many messages are gone through]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: u32,
}

impl Threads {
    /// The number of threads for work on many messages: all processors, if nothing else was asked for.
    pub(crate) fn of_messages(self) -> usize {
        thread_count(self.threads)
    }

    /// [`Self::of_messages`] for options of the library.
    pub(crate) fn of_library(self) -> u32 {
        u32::try_from(self.of_messages()).unwrap_or(u32::MAX)
    }

    /// The number of threads for one object.
    pub(crate) const fn count(self) -> u32 {
        self.threads
    }
}
