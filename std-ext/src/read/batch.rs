//! The same question to several messages: what they need is fetched together.

use super::gather::{Gather, Gathered};
use super::known_bytes::KnownBytes;
use super::missing_ranges::MissingRanges;
use super::read_task::{Progress, ReadTask};
use crate::base::error::Result;

/// Gatherings that go on side by side. Their wants are planned as one.
#[derive(Debug)]
pub(crate) struct Batch {
    gathers: Vec<(Gather, Option<Gathered>)>,
}

impl Batch {
    pub(crate) fn new(gathers: impl IntoIterator<Item = Gather>) -> Self {
        Self { gathers: gathers.into_iter().map(|gather| (gather, None)).collect() }
    }

    /// The gatherings, each with what it gathered once [`ReadTask::step`] is done.
    pub(crate) fn into_gathers(self) -> impl Iterator<Item = (Gather, Option<Gathered>)> {
        self.gathers.into_iter()
    }
}

impl ReadTask for Batch {
    type Output = ();

    fn step(&mut self, known: &KnownBytes, wants: &mut MissingRanges) -> Result<Progress<()>> {
        let mut is_done = true;
        for (gather, gathered) in &mut self.gathers {
            if gathered.is_some() {
                continue;
            }
            match gather.step(known, wants)? {
                Progress::Done(found) => *gathered = Some(found),
                Progress::Wait => is_done = false,
            }
        }
        Ok(if is_done { Progress::Done(()) } else { Progress::Wait })
    }
}
