//! The facts that a catalogue has, for those who make datasets of them.

use std::ops::Range;

use tgm_std::Result;
use tgm_std::codec::threads::Threads;

use super::column::Column;
use super::leaf::Leaf;
use super::told::{ToldHead, Untold};
use super::{Catalog, bad, range};

/// The facts of a run of messages.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FactsOfLeaf {
    /// For each object the number of its message, its number in that message, and where its frame is in the data.
    pub objects: Vec<(usize, usize, Range<u64>)>,
    /// The facts, each with a code for each object.
    pub columns: Vec<FactColumn>,
    /// Bytes before and between the messages, which belong to none.
    pub lost: Vec<Range<u64>>,
}

/// The values of a fact.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FactColumn {
    /// The path of the fact.
    pub path: String,
    /// The distinct values.
    pub values: Vec<Vec<u8>>,
    codes: Column,
}

impl FactColumn {
    /// The position of the value of an object, by the position of the object in [`FactsOfLeaf::objects`]. `None` if it does not
    /// have the fact.
    pub fn code(&self, object: usize) -> Option<usize> {
        let code = usize::try_from(self.codes.get(object)?).ok()?;
        (code < self.values.len()).then_some(code)
    }
}

impl Catalog {
    /// Whether it has the facts of all objects: [`Self::facts`].
    pub fn has_facts(&self) -> bool {
        self.leaves.iter().all(|leaf| leaf.facts.is_ok())
    }

    /// Whether it lacks facts that it would have if it were built anew: an older release wrote it.
    pub fn lacks_facts(&self) -> bool {
        self.leaves.iter().any(|leaf| leaf.facts.as_ref().is_err_and(|why| *why == Untold::Old))
    }

    /// What all objects say, leaf by leaf, in the order of the data. It is what a dataset needs to know of the messages.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] if the catalogue does not have facts ([`Self::has_facts`]), or is damaged.
    pub fn facts(&self) -> Result<Vec<FactsOfLeaf>> {
        let facts = |leaf: &Leaf| {
            let heads = leaf.facts.as_ref().map_err(|why| {
                bad(match why {
                    Untold::Old => {
                        "it was written by an older release, and does not say what objects are: build it anew"
                    }
                    Untold::Unfit => "messages say something of themselves, which it does not have",
                })
            })?;
            // A small file can claim very many.
            if (heads.len() as u64).saturating_mul(leaf.covers.objects as u64) > leaf.covers.end - leaf.covers.start {
                return Err(bad("objects say more than the data have bytes"));
            }
            let places = leaf.places()?;
            let mut objects = Vec::with_capacity(leaf.covers.objects);
            for message in 0..leaf.covers.messages {
                for (number, row) in leaf.objects_of(message)?.enumerate() {
                    objects.push((leaf.covers.first + message, number, range(places.objects.get(row))?));
                }
            }
            let column = |head: &ToldHead| {
                let codes = leaf.fact_column(head)?;
                Ok(FactColumn { path: head.path.clone(), values: head.values.clone(), codes })
            };
            let columns = heads.iter().map(column).collect::<Result<_>>()?;
            let ends =
                [leaf.covers.start].into_iter().chain(places.messages.iter().map(|(offset, length)| offset + length));
            let lost = ends.zip(&places.messages).map(|(end, (offset, _))| end..*offset).filter(|it| !it.is_empty());
            let lost = lost.collect();
            Ok(FactsOfLeaf { objects, columns, lost })
        };
        let bytes = self.object_count() as u64 * 64;
        Threads::resolve(self.options.threads, bytes, self.options.parallel_threshold_bytes)?.map(&self.leaves, facts)
    }
}
