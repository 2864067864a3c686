//! Flags of commands that decode: the limit of an object, and threads.

use clap::Args;
use tgm_std::{DecodeBudget, DecodeOptions};

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

    /// The options for boxes of a dataset, whose values get this machine's byte order. All processors work on them, if nothing
    /// else was asked for.
    pub(crate) fn of_boxes(&self) -> DecodeOptions {
        DecodeOptions { limits: self.limit.of_object(), threads: self.threads.of_library(), ..DecodeOptions::default() }
    }

    /// How many threads work on messages. With a limit for a whole file it is one: what objects take is counted from the first
    /// one on.
    pub(crate) fn threads(&self, budget: &DecodeBudget) -> usize {
        if budget.max_file_bytes.is_some() { 1 } else { self.threads.of_messages() }
    }
}
