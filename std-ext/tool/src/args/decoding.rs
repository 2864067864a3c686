//! Flags of commands that decode: the limit of an object, and threads.

use clap::Args;
use tgm_std::DecodeOptions;

use crate::args::limits::ObjectLimit;
use crate::args::threads::Threads;
use crate::read::values::as_stored;

/// How objects are decoded.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct Decoding {
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    limit: ObjectLimit,
}

impl Decoding {
    /// The options for one object, whose values keep their byte order.
    pub(crate) fn options(&self) -> DecodeOptions {
        DecodeOptions { limits: self.limit.of_object(), threads: self.threads.count(), ..as_stored() }
    }

    /// How many threads work. 0 stands for all processors.
    pub(crate) const fn threads(&self) -> u32 {
        self.threads.count()
    }
}
