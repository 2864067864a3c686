//! Whether a catalogue fits the data.

use tgm_std::Result;
use tgm_std::file::Data;

use crate::Catalog;
use crate::gather::{fingerprints, threads};
use crate::leaf::Leaf;
use crate::proof::Freshness;

impl Catalog {
    /// Whether the catalogue fits the data: reads the first bytes of the data, the last covered ones, and its length. That is
    /// enough for the file that was catalogued, if its size, its time of change and its inode are as they were. Otherwise all
    /// metadata are read and compared by a digest, as [`Self::check_all`] does.
    ///
    /// A file on a server that was catalogued there is fresh by its `ETag` (or else `Last-Modified`) and its size, without
    /// another request than for these; with another `ETag`, all metadata are read and compared. A file that was catalogued on this
    /// machine is fresh on a server that gives its size and its time of change, if the ends fit too: where it is served in its
    /// place, or was copied with its time (`rsync -t`). The answer is [`Freshness::NotChecked`] where the server does not tell, or
    /// tells the time of the copy, as stores of objects do; and where the time is in whole seconds, and
    /// was not over for a while when the file was catalogued.
    ///
    /// # Errors
    /// The errors of reading.
    pub fn check<'d>(&self, data: impl Into<Data<'d>>) -> Result<Freshness> {
        let data = data.into();
        let is_same = self.is_of_same_file(data);
        let was_there = self.leaves.last().is_some_and(|leaf| leaf.proof.is_of_server());
        if is_same == Some(true) && was_there && data.is_remote() {
            let (covered, size) = (self.covered(), data.length()?);
            return Ok(if size == covered { Freshness::Fresh } else { Freshness::Grown { covered, size } });
        }
        match self.check_ends(&data)? {
            found if is_same == Some(true) => Ok(found),
            Freshness::Fresh | Freshness::Grown { .. } if is_same.is_none() && data.is_remote() => {
                Ok(Freshness::NotChecked)
            }
            found => self.check_middle(&data, found),
        }
    }

    /// Whether the data are the file that was catalogued, unchanged since: what [`Self::check`] asks first. A file on a server
    /// is known by its `ETag`, or else by its time of change, and by its size; one that was catalogued on this machine by size and
    /// time of change, which the tags of nginx and Apache are made of. `None` if it does not show. Reads nothing but,
    /// from a server of which nothing was read, the first bytes.
    pub fn is_of_same_file<'d>(&self, data: impl Into<Data<'d>>) -> Option<bool> {
        self.leaves.last()?.proof.is_of_same_file(&data.into())
    }

    /// Whether the catalogue fits the data, by a digest over the metadata, descriptors and places of all covered messages. Reads
    /// these.
    ///
    /// # Errors
    /// The errors of reading.
    pub fn check_all<'d>(&self, data: impl Into<Data<'d>>) -> Result<Freshness> {
        let data = data.into();
        let found = self.check_ends(&data)?;
        self.check_middle(&data, found)
    }

    /// What the first and the last covered bytes tell.
    fn check_ends(&self, data: &Data<'_>) -> Result<Freshness> {
        if let Some(last) = self.leaves.last() {
            return last.proof.check(data, last.covers.end);
        }
        let size = data.length()?;
        Ok(if size == 0 { Freshness::Fresh } else { Freshness::Grown { covered: 0, size } })
    }

    /// What the metadata tell, if the ends tell `found`.
    fn check_middle(&self, data: &Data<'_>, found: Freshness) -> Result<Freshness> {
        if matches!(found, Freshness::Stale(_)) || self.leaves.is_empty() {
            return Ok(found);
        }
        let add = |sum: u64, leaf: &Leaf| leaf.proof.metadata.map(|metadata| sum.wrapping_add(metadata));
        let Some(expected) = self.leaves.iter().try_fold(0, add) else { return Ok(Freshness::NotChecked) };
        let mut layouts = data.layouts()?;
        // Another program may have appended to the file and to the catalogue since the file was opened.
        if layouts.last().is_none_or(|last| last.end() < self.covered()) {
            layouts = data.layouts_from(0)?.into();
        }
        let covered = layouts.partition_point(|layout| layout.offset < self.covered());
        let layouts = layouts.get(..covered).unwrap_or(&layouts);
        let is_same = fingerprints(data, layouts, threads(&self.options, layouts)?)? == Some(expected);
        let stale =
            || Freshness::Stale("the metadata or the places of messages differ from what the catalogue has".into());
        Ok(if is_same { found } else { stale() })
    }
}
