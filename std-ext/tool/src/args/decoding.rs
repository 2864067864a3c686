//! Flags of commands that decode: limits and threads.

use clap::Args;
use tgm_std::{DecodeBudget, DecodeOptions};

use crate::args::limits::LimitFlags;
use crate::args::threads::Threads;
use crate::read::values::as_stored;

/// How objects are decoded.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Decoding {
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    limits: LimitFlags,
}

impl Decoding {
    /// The options for one object, whose values keep their byte order.
    pub(crate) fn options(&self) -> DecodeOptions {
        DecodeOptions { limits: self.limits.of_object(), threads: self.threads.count(), ..as_stored() }
    }

    /// How many threads work. 0 stands for all processors.
    pub(crate) const fn threads(&self) -> u32 {
        self.threads.count()
    }

    /// The limits of a message and of a file.
    pub(crate) const fn budget(&self) -> DecodeBudget {
        self.limits.budget()
    }
}
