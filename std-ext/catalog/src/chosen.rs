//! The messages and objects for which a query holds.

use tgm_std::Result;
use tgm_std::codec::threads::Threads;
use tgm_std::metadata::query::Query;
use tgm_std::metadata::query::alias::names;

use crate::Catalog;
use crate::leaf::Leaf;
use crate::select::{Level, for_each_row, mask};

impl Catalog {
    /// The objects for which a query holds, each as the numbers of its message and of the object in it, in order. The
    /// same as [`file::query`](tgm_std::file::query) finds in the covered messages.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`](tgm_std::TensogramError::Metadata) if the catalogue lacks a key of the query, or is damaged.
    pub fn select(&self, query: &Query) -> Result<Vec<(usize, usize)>> {
        let found = self.map_leaves(query, |leaf| {
            let mask = mask(leaf, query, Level::Objects)?;
            let first = leaf.covers.first;
            let mut found = Vec::new();
            match leaf.first_objects()? {
                None => for_each_row(&mask, |row| found.push((first + row, 0))),
                Some(firsts) => {
                    let mut message = 0_usize;
                    let at = |message: usize| firsts.get(message).map_or(usize::MAX, |first| *first as usize);
                    for_each_row(&mask, |row| {
                        while at(message + 1) <= row {
                            message += 1;
                        }
                        // It is the last message that begins at or before the row.
                        found.push((first + message, row - at(message)));
                    });
                }
            }
            Ok(found)
        })?;
        Ok(found.concat())
    }

    /// The messages for which a query holds, as [`Query::matches`] says it of their metadata.
    ///
    /// # Errors
    /// As [`Self::select`].
    pub fn select_messages(&self, query: &Query) -> Result<Vec<usize>> {
        let found = self.map_leaves(query, |leaf| {
            let first = leaf.covers.first;
            let mut found = Vec::new();
            for_each_row(&mask(leaf, query, Level::Messages)?, |row| found.push(first + row));
            Ok(found)
        })?;
        Ok(found.concat())
    }

    fn map_leaves<R: Send>(&self, query: &Query, f: impl Fn(&Leaf) -> Result<R> + Sync) -> Result<Vec<R>> {
        let is_known = |key: &str| self.keys.iter().any(|known| known == key) || key == "version";
        if let Some(key) = query.keys().find(|key| !names(key).any(is_known)) {
            return Err(self.unknown(key));
        }
        let bytes = self.object_count() as u64;
        let threads = Threads::resolve(self.options.threads, bytes, self.options.parallel_threshold_bytes)?;
        threads.map(&self.leaves, f)
    }
}
