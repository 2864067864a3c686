//! Records of files, which were messages each: arrays that grow along the unlimited dimension.

use std::collections::BTreeMap;

use tgm_core::descriptor::Dtype;
use tgm_std::Result;

use super::place::axes;
use super::{Axis, BoxOf, Made, OfObject, Target, Writer, settle};
use crate::error::encoding;
use crate::note::Notes;

/// The arrays that grow.
#[derive(Debug)]
pub(crate) struct Records<H> {
    /// Names of dimensions, by what the messages call them.
    dimensions: BTreeMap<String, String>,
    /// The arrays of the file whose records come, by the names of the objects.
    growing: BTreeMap<String, Recorded<H>>,
    /// The arrays of files before.
    grown: Vec<Recorded<H>>,
}

/// An array that grows.
#[derive(Debug)]
pub(crate) struct Recorded<H> {
    pub(crate) handle: H,
    /// The type and the shape of a record.
    form: (Dtype, Vec<u64>),
    /// The number of records.
    pub(crate) count: u64,
}

impl<H> Default for Records<H> {
    fn default() -> Self {
        Self { dimensions: BTreeMap::new(), growing: BTreeMap::new(), grown: Vec::new() }
    }
}

impl<H> Records<H> {
    /// Notes that the records of a file have all come.
    pub(super) fn end(&mut self) {
        self.dimensions.clear();
        self.grown.extend(std::mem::take(&mut self.growing).into_values());
    }

    /// All arrays that have grown.
    pub(crate) fn into_all(self) -> Vec<Recorded<H>> {
        self.grown.into_iter().chain(self.growing.into_values()).collect()
    }
}

impl<T: Target> Writer<T> {
    /// Makes the array of a record, if it is not there, along what the messages call `dimension`.
    pub(super) fn record(
        &mut self,
        (name, dimension): (&str, &str),
        of: OfObject<'_, '_, T>,
        notes: &mut Notes<'_>,
    ) -> Result<()> {
        if self.tree.records.growing.contains_key(name) {
            return Ok(());
        }
        let (dtype, shape) = T::form(of.values);
        let mut all = vec![Axis::made(self.dimension_of_records(dimension)?, dimension.to_string())];
        all.extend(axes(of.given, of.first, name, shape));
        let (path, dims) = self.place((name, Some(of.first)), all, notes)?;
        let handle = self.target.define(&Made { path: &path, dims: &dims, shape, chunk: None }, of, notes)?;
        let recorded = Recorded { handle, form: (dtype, shape.to_vec()), count: 0 };
        self.tree.records.growing.insert(name.to_string(), recorded);
        Ok(())
    }

    /// Adds a record to its array.
    pub(super) fn put_record(
        &mut self,
        made: Result<()>,
        (name, record): (&str, u64),
        values: T::Values<'_>,
        notes: &mut Notes<'_>,
    ) -> Result<()> {
        settle::<T>(made, false, notes)?;
        let Some(recorded) = self.tree.records.growing.get_mut(name) else { return Ok(()) };
        let (dtype, own) = T::form(&values);
        if record < recorded.count {
            notes.failed(encoding(format!("{name} has a record {record} already")));
            return Ok(());
        }
        if (recorded.form.0, &recorded.form.1[..]) != (dtype, own) {
            let what = format!("{name}: its type or shape differs from that of the records before");
            notes.failed(encoding(what));
            return Ok(());
        }
        recorded.count = record.saturating_add(1);
        let origin: Vec<u64> = std::iter::once(record).chain(own.iter().map(|_| 0)).collect();
        let shape: Vec<u64> = std::iter::once(1).chain(own.iter().copied()).collect();
        settle::<T>(
            self.target.put(&mut recorded.handle, BoxOf { origin: &origin, shape: &shape }, values),
            true,
            notes,
        )
    }

    /// The dimension of records that these messages call `wanted`.
    fn dimension_of_records(&mut self, wanted: &str) -> Result<String> {
        let Self { tree, target } = self;
        if let Some(name) = tree.records.dimensions.get(wanted) {
            return Ok(name.clone());
        }
        let (name, known) = tree.dimensions.take_records(&T::dimension_name(wanted), &tree.names);
        target.add_records(&name, known)?;
        tree.records.dimensions.insert(wanted.to_string(), name.clone());
        Ok(name)
    }
}
