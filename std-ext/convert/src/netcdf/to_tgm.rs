//! From NetCDF to Tensogram.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use ciborium::Value;
use netcdf::{Extent, Group, Variable};
use tgm_core::descriptor::{ByteOrder, Dtype, Key};
use tgm_std::file::SourceName;
use tgm_std::internal::reserve;
use tgm_std::{
    DataObjectDescriptor, DecodeLimits, EncodeOptions, GlobalMetadata, Hint, Result, StreamingEncoder, TensogramError,
};
use zerocopy::IntoBytes as _;

use super::attributes::{self, Attributes};
use super::dimensions::Unlimited;
use super::packed::{Scaling, mask_floats, unpack};
use super::{NETCDF, RECORD, TYPE, TYPES, failed, guarded, types};
use crate::error::encoding;
use crate::note::Note;
use crate::streamed::{compress, encode_options};

/// How deep groups lie within groups.
const MAX_DEPTH: usize = 64;

/// What becomes a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// The file.
    #[default]
    File,
    /// Each index of the unlimited dimension, with the variables that have it as their first dimension. The variables
    /// without it are in a message before.
    Record,
}

/// Options of the conversion from NetCDF.
#[derive(Clone, Debug)]
pub struct NetcdfOptions {
    /// What becomes a message.
    pub split: Split,
    /// The level of zstd for the objects, whose bytes are shuffled before. `None` stores values as they are.
    pub zstd_level: Option<i32>,
    /// Options for encoding. NaN and infinities are always allowed.
    pub encode: EncodeOptions,
    /// Limits on the values of a variable, for which the whole file counts as stored bytes, and on the number of records.
    pub limits: DecodeLimits,
}

impl Default for NetcdfOptions {
    fn default() -> Self {
        Self { split: Split::File, zstd_level: Some(3), encode: encode_options(), limits: DecodeLimits::default() }
    }
}

/// Converts a file, and returns how many messages were written. What is left out is given to `report`.
///
/// # Errors
/// [`TensogramError::Encoding`] if the libraries cannot read the file; [`TensogramError::Io`] of the sink, with which the
/// last message has no end.
pub fn to_tensogram(
    path: &Path,
    options: &NetcdfOptions,
    sink: &mut dyn Write,
    report: &mut dyn FnMut(Note),
) -> Result<u64> {
    guarded(path, || convert(path, options, sink, report))
}

fn convert(path: &Path, options: &NetcdfOptions, sink: &mut dyn Write, report: &mut dyn FnMut(Note)) -> Result<u64> {
    let len = std::fs::metadata(path).map_err(|error| TensogramError::io(path, &error))?.len();
    let file = netcdf::open(path).map_err(|error| failed(SourceName::of(path), error))?;
    let (mut extra, mut groups, mut types_of_groups) = (BTreeMap::new(), Vec::new(), Vec::new());
    let of_file = Attributes::read(file.attributes(), "the file", report);
    each_group(&file, &mut |path, group| {
        let own = Attributes::read(group.attributes(), path, report);
        push_map(&mut groups, path, own.entries);
        push_map(&mut types_of_groups, path, own.types);
    })?;
    let mut more = Vec::new();
    push_map(&mut more, TYPES, of_file.types);
    push_map(&mut more, "groups", types_of_groups);
    for (key, entries) in [("attributes", of_file.entries), ("groups", groups), (NETCDF, more)] {
        if !entries.is_empty() {
            extra.insert(key.to_string(), Value::Map(entries));
        }
    }
    let mut dimensions = Unlimited::default();
    dimensions.add("", file.dimensions());
    each_group(&file, &mut |path, group| dimensions.add(path, group.dimensions()))?;
    let (mut unlimited, mut records) = (Vec::new(), 0);
    each_variable(&file, &mut |path, variable| {
        for (index, dimension) in variable.dimensions().iter().enumerate() {
            let Some(path) = dimensions.path(path, &dimension.name()) else { continue };
            let path = Value::from(path);
            if !unlimited.contains(&path) {
                unlimited.push(path);
            }
            if index == 0 {
                records = records.max(dimension.len());
            }
        }
        Ok(())
    })?;
    if !unlimited.is_empty() {
        extra.insert("unlimited".to_string(), Value::Array(unlimited));
    }
    let mut writer = Writer { file: &file, unlimited: dimensions, extra, options, len, sink };
    if options.split == Split::File {
        writer.write(Part::All, report)?;
        return Ok(1);
    }
    if records > options.limits.max_objects {
        let max = options.limits.max_objects;
        return Err(failed(
            SourceName::of(path),
            format!("{records} records exceed {}, which is {max}", Hint::MaxObjects.text()),
        ));
    }
    writer.write(Part::Fixed, report)?;
    (0..records).try_for_each(|record| writer.write(Part::Record(record), report))?;
    Ok(1 + records as u64)
}

/// Calls `visit` with each group below the root and its path, groups before what they hold.
fn each_group(file: &netcdf::File, visit: &mut dyn FnMut(&str, &Group<'_>)) -> Result<()> {
    fn walk(group: &Group<'_>, above: &str, depth: usize, visit: &mut dyn FnMut(&str, &Group<'_>)) {
        let path = if above.is_empty() { group.name() } else { format!("{above}/{}", group.name()) };
        visit(&path, group);
        if depth < MAX_DEPTH {
            group.groups().for_each(|inner| walk(&inner, &path, depth + 1, visit));
        }
    }
    // Older forms of NetCDF have no groups.
    if file.root().is_some() {
        for group in file.groups().map_err(|error| failed("groups", error))? {
            walk(&group, "", 0, visit);
        }
    }
    Ok(())
}

/// Calls `visit` with each variable and its path.
fn each_variable(file: &netcdf::File, visit: &mut dyn FnMut(&str, &Variable<'_>) -> Result<()>) -> Result<()> {
    for variable in file.variables() {
        visit(&variable.name(), &variable)?;
    }
    let mut done = Ok(());
    each_group(file, &mut |path, group| {
        for variable in group.variables() {
            if done.is_ok() {
                done = visit(&format!("{path}/{}", variable.name()), &variable);
            }
        }
    })?;
    done
}

/// What a message holds of the variables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    All,
    /// Those without records.
    Fixed,
    /// One record of the others.
    Record(usize),
}

struct Writer<'a> {
    file: &'a netcdf::File,
    unlimited: Unlimited,
    extra: BTreeMap<String, Value>,
    options: &'a NetcdfOptions,
    /// Bytes of the file.
    len: u64,
    sink: &'a mut dyn Write,
}

/// The values of a variable as an object.
struct Object {
    entry: BTreeMap<String, Value>,
    descriptor: DataObjectDescriptor,
    values: Vec<u8>,
}

impl Writer<'_> {
    fn write(&mut self, part: Part, report: &mut dyn FnMut(Note)) -> Result<()> {
        let options = EncodeOptions { allow_nan: true, allow_inf: true, ..self.options.encode.clone() };
        let mut extra = self.extra.clone();
        if let Part::Record(record) = part {
            extra.insert("record".to_string(), (record as u64).into());
        }
        // What is the file's is told once, not for each record.
        let is_first = !matches!(part, Part::Record(1..));
        let global = GlobalMetadata { extra, ..GlobalMetadata::default() };
        let mut encoder = StreamingEncoder::new(&mut *self.sink, &global, &options)?;
        let (limits, level, len) = (&self.options.limits, self.options.zstd_level, self.len);
        let unlimited = &self.unlimited;
        each_variable(self.file, &mut |path, variable| {
            let first = variable.dimensions().first();
            let has_records = first.is_some_and(|first| unlimited.path(path, &first.name()).is_some());
            let record = match part {
                Part::Fixed if has_records => return Ok(()),
                Part::All | Part::Fixed => None,
                Part::Record(record) if has_records && record < first.map_or(0, netcdf::Dimension::len) => Some(record),
                Part::Record(_) => return Ok(()),
            };
            let mut tell = |note: Note| {
                if is_first || note.is_failure() {
                    report(note);
                }
            };
            match object(path, variable, record, (len, limits, level), &mut tell) {
                Ok(Some(Object { entry, descriptor, values })) => {
                    encoder.write_preceder(entry)?;
                    encoder.write_object(&descriptor, &values)
                }
                Ok(None) => Ok(()),
                Err(error) => {
                    report(Note::failed(path, error));
                    Ok(())
                }
            }
        })?;
        encoder.finish()?;
        Ok(())
    }
}

/// The object of a variable, or of one record of it. `None` for types that are not kept.
fn object(
    path: &str,
    variable: &Variable<'_>,
    record: Option<usize>,
    (len, limits, zstd_level): (u64, &DecodeLimits, Option<i32>),
    report: &mut dyn FnMut(Note),
) -> Result<Option<Object>> {
    let Some(dtype) = types::dtype(&variable.vartype()) else {
        report(Note::not_kept(path, format!("the variable: its type is {}", types::not_kept(&variable.vartype()))));
        return Ok(None);
    };
    let Attributes { entries: attributes, types } = Attributes::read(variable.attributes(), path, report);
    let is_whole = record.is_none();
    let dimensions = variable.dimensions().get(usize::from(!is_whole)..).unwrap_or_default();
    let shape: Vec<u64> = dimensions.iter().map(|dimension| dimension.len() as u64).collect();
    let mut descriptor = DataObjectDescriptor::new(dtype, ByteOrder::NATIVE, &shape);
    let count = descriptor.num_elements()? as u64;
    // Packed values take eight bytes each.
    limits.check_bytes(len, count.saturating_mul(8))?;
    let bytes = count.saturating_mul(dtype.byte_width() as u64);
    let mut values = reserve(limits.check_bytes(len, bytes)?)?;
    if count > 0 {
        let whole =
            |dimension: &netcdf::Dimension<'_>| Extent::SliceCount { start: 0, count: dimension.len(), stride: 1 };
        let first = record.map(|record| Extent::SliceCount { start: record, count: 1, stride: 1 });
        let extents: Vec<Extent> = first.into_iter().chain(dimensions.iter().map(whole)).collect();
        variable.get_raw_values_into(&mut values, extents).map_err(|error| encoding(error.to_string()))?;
    }
    if dtype.is_float() {
        mask_floats(dtype, &mut values, &attributes);
    } else if let Some(scaling) = Scaling::of(&attributes) {
        descriptor = DataObjectDescriptor::new(Dtype::Float64, ByteOrder::NATIVE, &shape);
        let (unpacked, is_packed) = unpack(dtype, &values, scaling, &attributes, &mut descriptor)?;
        if !is_packed {
            report(Note::not_kept(
                path,
                "its packing: simple_packing would round differently, so the values are stored",
            ));
        }
        values = unpacked.as_bytes().to_vec();
    }
    if let Some(level) = zstd_level {
        let size = shuffled(&descriptor);
        compress(&mut descriptor, level, size);
    }
    let names = dimensions.iter().map(|dimension| dimension.name().into()).collect();
    let mut entry =
        BTreeMap::from([("name".to_string(), path.into()), ("dimensions".to_string(), Value::Array(names))]);
    let mut more = Vec::new();
    if let Some((name, _)) = types::of_file(dtype).filter(|_| descriptor.dtype != dtype) {
        more.push((TYPE.into(), name.into()));
    }
    if let Some(dimension) = variable.dimensions().first().filter(|_| !is_whole) {
        more.push((RECORD.into(), dimension.name().into()));
    }
    push_map(&mut more, TYPES, types);
    for (key, entries) in [("attributes", attributes), (NETCDF, more)] {
        if !entries.is_empty() {
            entry.insert(key.to_string(), Value::Map(entries));
        }
    }
    Ok(Some(Object { entry, descriptor, values }))
}

/// Adds a map, if it has entries.
fn push_map(map: &mut Vec<(Value, Value)>, key: &str, entries: Vec<(Value, Value)>) {
    if !entries.is_empty() {
        map.push((key.into(), Value::Map(entries)));
    }
}

/// The bytes that bits are shuffled by: the size of an element, or of a packed integer.
fn shuffled(descriptor: &DataObjectDescriptor) -> u64 {
    match descriptor.params.get(Key::SpBitsPerValue.name()).and_then(attributes::number) {
        Some(bits) if bits <= 8.0 => 1,
        Some(bits) if bits <= 16.0 => 2,
        Some(_) => 4,
        None => descriptor.dtype.byte_width() as u64,
    }
}
