//! Records of files, which were messages each: arrays that grow along the unlimited dimension.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use ciborium::Value;
use serde_json::{Value as Json, json};
use tgm_std::GlobalMetadata;

use super::{Array, ZarrWriter, chunk_shape, describe};
use crate::error::encoding;
use crate::note::Note;
use crate::zarr::Result;

/// The key of a message for the number of its record, and of an object below `netcdf` for the dimension of records.
const RECORD: &str = "record";
/// Bytes of a chunk of small records. Each record that is added writes its chunk again.
const CHUNK: u64 = 64 << 10;

/// The arrays that grow.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// Names in the store, by the names of the messages' dimensions.
    dimensions: BTreeMap<String, String>,
    /// The arrays of the file whose records come, by the names of the objects.
    growing: BTreeMap<String, Growing>,
    /// The arrays of files before.
    grown: Vec<Growing>,
    /// Lengths of dimensions, by their names in the store.
    lens: BTreeMap<String, u64>,
    /// The unlimited dimensions of the message that is written.
    unlimited: BTreeSet<String>,
    /// Whether that message is a whole file: a variable has such a dimension first.
    is_whole: bool,
}

/// An array that grows.
#[derive(Debug)]
pub(super) struct Growing {
    pub(super) dimension: String,
    pub(super) folder: PathBuf,
    pub(super) json: Json,
    pub(super) array: Array,
    /// The number of records.
    pub(super) count: u64,
}

/// A record that an object is: its number, and the name that its message has for the dimension of records.
pub(super) type Record<'m> = (u64, &'m str);

/// The record that an object is.
pub(super) fn of_object(global: &GlobalMetadata, index: usize) -> Option<Record<'_>> {
    let number = u64::try_from(global.extra.get(RECORD)?.as_integer()?).ok()?;
    let own = global.base.get(index)?.get("netcdf")?.as_map()?;
    let dimension = own.iter().find(|(key, _)| key.as_text() == Some(RECORD))?.1.as_text()?;
    Some((number, dimension))
}

/// The shape of an array of records, and of its chunks.
pub(super) fn shape_of(record: u64, own: &[u64], width: usize, chunks: Option<&[u64]>) -> (Vec<u64>, Vec<u64>) {
    let joined = |first: u64, rest: &[u64]| std::iter::once(first).chain(rest.iter().copied()).collect::<Vec<u64>>();
    let bytes = own.iter().fold(width as u64, |bytes, len| bytes.saturating_mul(*len)).max(1);
    let asked = chunks.and_then(|chunks| chunks.len().checked_sub(own.len() + 1).and_then(|at| chunks.get(at)));
    let rows = asked.copied().unwrap_or(CHUNK / bytes).max(1);
    (joined(record.saturating_add(1), own), joined(rows, &chunk_shape(own, chunks)))
}

impl ZarrWriter {
    /// Prepares for the records of a message, or for those that follow it.
    pub(super) fn come_to(&mut self, global: &GlobalMetadata) {
        let unlimited = global.extra.get("unlimited").and_then(Value::as_array).into_iter().flatten();
        self.records.unlimited = unlimited.filter_map(Value::as_text).map(str::to_string).collect();
        self.records.is_whole = false;
        let record = global.extra.get(RECORD).and_then(Value::as_integer);
        if record.is_none() {
            self.dimensions.end_records();
        }
        if record.is_none_or(|record| record == 0.into()) {
            let records = &mut self.records;
            records.dimensions.clear();
            records.grown.extend(std::mem::take(&mut records.growing).into_values());
        }
    }

    /// Ends a message: no records follow a file that is whole.
    pub(super) fn leave(&mut self) {
        if self.records.is_whole {
            self.dimensions.end_records();
        }
    }

    /// Notes the name that a dimension of the root got, of which records may follow.
    pub(super) fn note_unlimited(&mut self, name: &str, taken: &str, is_first: bool) {
        if self.records.unlimited.contains(name) {
            self.records.is_whole |= is_first;
            self.dimensions.expect_records(name, taken);
        }
    }

    /// The name of the dimension of records that these messages call `wanted`.
    pub(super) fn dimension_of_records(&mut self, wanted: &str) -> String {
        if let Some(name) = self.records.dimensions.get(wanted) {
            return name.clone();
        }
        let (name, len) = self.dimensions.take_records(wanted, &self.names);
        self.records.dimensions.insert(wanted.to_string(), name.clone());
        self.records.lens.insert(name.clone(), len.unwrap_or_default());
        name
    }

    /// Adds a record to the array of this name, if it is there. Returns whether it was.
    pub(super) fn add_record(
        &mut self,
        name: &str,
        (record, own, array): (u64, &[u64], &[u8]),
        place: &str,
        report: &mut dyn FnMut(Note),
    ) -> Result<bool> {
        let Some(mut growing) = self.records.growing.remove(name) else { return Ok(false) };
        let shape: Vec<u64> = std::iter::once(1).chain(own.iter().copied()).collect();
        let bytes = own.iter().fold(growing.array.element.size() as u64, |bytes, len| bytes.saturating_mul(*len));
        let written = if record < growing.count {
            report(Note::failed(place, encoding(format!("{name} has a record {record} already"))));
            Ok(())
        } else if growing.array.shape.get(1..) != Some(own) || bytes != array.len() as u64 {
            let what = format!("{name}: its type or shape differs from that of the records before");
            report(Note::failed(place, encoding(what)));
            Ok(())
        } else {
            growing.count = record.saturating_add(1);
            if let Some(len) = growing.array.shape.first_mut() {
                *len = growing.count;
            }
            let origin: Vec<u64> = std::iter::once(record).chain(own.iter().map(|_| 0)).collect();
            self.write_box(&growing.folder, &growing.array, (&shape, &origin), array)
        };
        self.records.growing.insert(name.to_string(), growing);
        written.map(|()| true)
    }

    /// Takes an array whose first record comes next.
    pub(super) fn grow(&mut self, name: &str, growing: Growing) {
        self.records.growing.insert(name.to_string(), growing);
    }

    /// Describes the arrays that have grown. Those along one dimension have one length.
    pub(super) fn end_growth(&mut self) -> Result<()> {
        let records = std::mem::take(&mut self.records);
        let mut lens = records.lens;
        let all: Vec<Growing> = records.grown.into_iter().chain(records.growing.into_values()).collect();
        for Growing { dimension, count, .. } in &all {
            let len = lens.entry(dimension.clone()).or_default();
            *len = (*len).max(*count);
        }
        for Growing { dimension, folder, mut json, .. } in all {
            if let Some(first) = json.pointer_mut("/shape/0") {
                *first = json!(lens.get(&dimension).copied().unwrap_or_default());
            }
            describe(&folder, &json)?;
        }
        Ok(())
    }
}
