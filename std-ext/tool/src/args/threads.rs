//! The flag for threads that decode.

use clap::Args;

/// How many threads decode.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Threads {
    /// How many threads work [default: one for an object; all processors where many messages are gone through]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: u32,
}

impl Threads {
    /// The number of threads.
    pub(crate) const fn count(self) -> u32 {
        self.threads
    }
}
