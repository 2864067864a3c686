//! Files whose messages follow each other in one source, as `cat` and a conversion of several files write them.
//!
//! A file says each variable, each record and each piece once. So one that comes again begins the next file, with its whole message.

use std::collections::HashSet;

use super::arrays::list_entry;
use crate::gather::{EXTRA, Gathered};

/// The name of an object, the record, the part and the first index that it is of, as they are stored.
type Said<'g> = (&'g [u8], [&'g [u8]; 3]);

/// The messages at which another file of their source begins: source and number, in order.
#[derive(Default)]
pub(crate) struct Starts(Vec<(u32, u32)>);

impl Starts {
    /// The starts in the sources of an archive.
    pub(crate) fn of(gathered: &Gathered) -> Self {
        let mut starts = Vec::new();
        let mut known: HashSet<Said<'_>> = HashSet::new();
        let (mut source, mut message) = (0, Vec::new());
        for rows in
            gathered.rows.chunk_by(|a, b| (a.entry.source, a.entry.message) == (b.entry.source, b.entry.message))
        {
            let Some(first) = rows.first() else { continue };
            if first.entry.source != source {
                source = first.entry.source;
                known.clear();
            }
            let about = gathered.about(&first.entry);
            let of_message = |key: &str| {
                let value = about.and_then(|about| gathered.value(about, &format!("{EXTRA}{key}")));
                value.map_or(&[][..], |value| value.as_encoded())
            };
            let (record, part) = (of_message("record"), of_message("part"));
            message.clear();
            message.extend(rows.iter().filter_map(|row| {
                let name = gathered.value(&row.cells, "name")?.as_encoded();
                let origin = ["netcdf", "zarr"].iter().find_map(|map| list_entry(gathered, row, map, "origin"));
                Some((name, [record, part, origin.map_or(&[][..], |it| it.as_encoded())]))
            }));
            if message.iter().any(|it| known.contains(it)) {
                starts.push((first.entry.source, first.entry.message));
                known.clear();
            }
            known.extend(message.iter().copied());
        }
        Self(starts)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of the file that a message is of, counted over all sources.
    pub(super) fn file(&self, source: u32, message: u32) -> usize {
        self.0.partition_point(|start| *start <= (source, message))
    }
}
