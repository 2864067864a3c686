//! Distinct sets of labels, by their numbers.

use std::collections::HashMap;

use tgm_std::Result;

use crate::archive::bad;
use crate::label::Label;

/// Sets of labels. Equal sets have equal numbers, and a set is a sorted list of numbers of labels.
#[derive(Debug, Default)]
pub(super) struct Sets<'c> {
    labels: HashMap<&'c Label, u32>,
    numbers: HashMap<Vec<u32>, usize>,
    all: Vec<Vec<u32>>,
}

impl<'c> Sets<'c> {
    /// The number of the set of these labels.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for more than 2^32 labels.
    pub(super) fn number(&mut self, labels: &'c [Label]) -> Result<usize> {
        let mut set: Vec<u32> = Vec::with_capacity(labels.len());
        for label in labels {
            let next = u32::try_from(self.labels.len()).map_err(|_| bad("there are more than 2^32 labels"))?;
            set.push(*self.labels.entry(label).or_insert(next));
        }
        set.sort_unstable();
        if let Some(known) = self.numbers.get(&set) {
            return Ok(*known);
        }
        let number = self.all.len();
        self.all.push(set.clone());
        self.numbers.insert(set, number);
        Ok(number)
    }

    /// Whether all labels of one set are in another.
    pub(super) fn is_within(&self, part: usize, whole: usize) -> bool {
        let (Some(of_part), Some(of_whole)) = (self.all.get(part), self.all.get(whole)) else { return false };
        part == whole || of_part.len() < of_whole.len() && of_part.iter().all(|it| of_whole.binary_search(it).is_ok())
    }
}
