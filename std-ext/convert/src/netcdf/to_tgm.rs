//! From NetCDF to Tensogram.

mod messages;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use ciborium::Value;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::file::SourceName;
use tgm_std::{DataObjectDescriptor, DecodeLimits, Hint, Result, TensogramError};

use self::messages::Source;
use super::tree::{Attribute, Kind, Layout, Tree, Variable, value_of};
use super::{
    COMPOUND, DIMENSIONS, ENUM, NETCDF, PACKING, TEXTS, TYPE, TYPES, attributes, classic, failed, guarded, hdf5,
    refused, types,
};
use crate::arrays::pack_bools;
use crate::given::RECORD;
use crate::maps::{Entries, push_map};
use crate::names::leaf;
use crate::note::Note;
use crate::pieces::{Chunks, Piece, piece_shape};
use crate::streamed::{ReadOptions as NetcdfOptions, Split, Subject, encoded};
use crate::texts::{CHARACTERS, DIMENSION, ENCODING, LATIN, LENGTH};
use tgm_dataset::coordinates_by;
use tgm_dataset::reading::{Fate, Packed, Reading};

/// Bytes of a variable that becomes one object without being asked.
const WHOLE: u64 = 16 << 20;

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
    guarded(path, || {
        with_tree(path, &options.limits, report, |len, tree, report| write((path, len), tree, options, sink, report))
    })
}

/// What `with` makes of the length of a file and of what it holds.
pub(super) fn with_tree<T>(
    path: &Path,
    limits: &DecodeLimits,
    report: &mut dyn FnMut(Note),
    with: impl FnOnce(u64, &Tree<'_>, &mut dyn FnMut(Note)) -> Result<T>,
) -> Result<T> {
    let io = |error| TensogramError::io(path, &error);
    let metadata = std::fs::metadata(path).map_err(io)?;
    if !metadata.is_file() {
        return Err(refused(path, "it is not a file: the libraries read files alone"));
    }
    let len = metadata.len();
    let limits = (len, limits);
    match form(path).map_err(io)? {
        Some(Form::Classic) => {
            let source = std::io::BufReader::new(File::open(path).map_err(io)?);
            let header = classic::check(source, len).map_err(|error| failed(SourceName::of(path), error))?;
            let (name, _held) = text_name(path).map_err(io)?;
            let file = netcdf::open(&*name).map_err(|error| failed(SourceName::of(path), error))?;
            with(len, &classic::read(&file, &header, limits, report), report)
        }
        Some(Form::Hdf5) => {
            let (name, _held) = text_name(path).map_err(io)?;
            let file = hdf5_metno::File::open(&*name).map_err(|error| failed(SourceName::of(path), error))?;
            with(len, &hdf5::read(path, &file, limits, report)?, report)
        }
        None => Err(refused(path, "it begins neither like HDF5 nor like NetCDF")),
    }
}

/// A name of the file that is text, which the libraries ask for, and what keeps that name.
fn text_name(path: &Path) -> std::io::Result<(Cow<'_, Path>, Option<File>)> {
    #[cfg(target_os = "linux")]
    if path.to_str().is_none() {
        use std::os::fd::AsRawFd as _;
        let file = File::open(path)?;
        return Ok((std::path::PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())).into(), Some(file)));
    }
    Ok((Cow::Borrowed(path), None))
}

/// How a file is read.
enum Form {
    Classic,
    Hdf5,
}

/// The form of a file, by its first bytes. HDF5 can have other things in front, of a length that is a power of two.
fn form(path: &Path) -> std::io::Result<Option<Form>> {
    let mut file = File::open(path)?;
    let len = file.metadata()?.len();
    let mut start = 0_u64;
    while start < len {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        (&file).take(8).read_to_end(&mut bytes)?;
        if bytes == b"\x89HDF\r\n\x1a\n" {
            return Ok(Some(Form::Hdf5));
        }
        if start == 0 && bytes.starts_with(b"CDF") {
            return Ok(Some(Form::Classic));
        }
        start = if start == 0 { 512 } else { start.saturating_mul(2) };
    }
    Ok(None)
}

/// Writes what a file holds.
fn write(
    (path, len): (&Path, u64),
    tree: &Tree<'_>,
    options: &NetcdfOptions,
    sink: &mut dyn Write,
    report: &mut dyn FnMut(Note),
) -> Result<u64> {
    let extra = extra(tree);
    let coordinates = coordinates(tree);
    let source = Source { path, len, tree, extra, options, coordinates };
    if options.split == Split::File {
        source.write([Part::All].into_iter(), sink, report)?;
        return Ok(1);
    }
    let records = tree.variables.iter().filter_map(|variable| variable.dimensions.first());
    let records = records.filter(|first| first.is_unlimited).map(|first| first.len).max().unwrap_or_default();
    if records > options.limits.max_objects {
        let max = options.limits.max_objects;
        return Err(refused(path, &format!("{records} records exceed {}, which is {max}", Hint::MaxObjects.text())));
    }
    if records == 0 {
        // A record is where their variables would be.
        source.write([Part::All].into_iter(), sink, report)?;
        return Ok(1);
    }
    source.write([Part::Fixed].into_iter().chain((0..records).map(Part::Record)), sink, report)?;
    Ok(1 + records as u64)
}

/// What the messages say of the file.
fn extra(tree: &Tree<'_>) -> BTreeMap<String, Value> {
    let (entries, types) = maps(&tree.attributes);
    let (mut groups, mut types_of_groups, mut more) = (Vec::new(), Vec::new(), Vec::new());
    for (path, own) in &tree.groups {
        let (entries, types) = maps(own);
        // Groups without attributes are groups too.
        groups.push((path.as_str().into(), Value::Map(entries)));
        push_map(&mut types_of_groups, path, types);
    }
    push_map(&mut more, TYPES, types);
    push_map(&mut more, "groups", types_of_groups);
    let dimensions = tree.dimensions.iter().map(|(path, len, _)| (path.as_str().into(), (*len).into())).collect();
    let links = tree.links.iter().map(|(path, target)| (path.as_str().into(), target.as_str().into())).collect();
    let text = |text: &super::tree::Text| {
        let path = |dimension: &super::tree::Dimension| dimension.path().map_or(Value::Null, Value::from);
        let names = text.dimensions.iter().map(path).collect();
        let lens = text.dimensions.iter().map(|dimension| (dimension.len as u64).into()).collect();
        let values = text.values.iter().map(|text| text.as_str().into()).collect();
        let mut map = vec![
            ("dimensions".into(), Value::Array(names)),
            ("shape".into(), Value::Array(lens)),
            ("values".into(), Value::Array(values)),
        ];
        push_map(&mut map, "attributes", maps(&text.attributes).0);
        if let Some(characters) = &text.characters {
            map.push((TYPE.into(), "char".into()));
            let length = characters
                .length
                .as_ref()
                .map(|length| [(DIMENSION, path(length)), (LENGTH, (length.len as u64).into())]);
            let latin = characters.is_latin.then(|| (ENCODING, LATIN.into()));
            let all = length.into_iter().flatten().chain(latin);
            map.push((CHARACTERS.into(), Value::Map(all.map(|(key, value)| (key.into(), value)).collect())));
        }
        (text.path.as_str().into(), Value::Map(map))
    };
    let texts = tree.texts.iter().map(text).collect();
    let all = [
        ("attributes", entries),
        ("groups", groups),
        (DIMENSIONS, dimensions),
        ("links", links),
        (TEXTS, texts),
        (NETCDF, more),
    ];
    let mut extra = BTreeMap::new();
    for (key, entries) in all {
        if !entries.is_empty() {
            extra.insert(key.to_string(), Value::Map(entries));
        }
    }
    let dimensions = tree.variables.iter().flat_map(|variable| &variable.dimensions);
    let dimensions = dimensions.chain(tree.texts.iter().flat_map(|text| &text.dimensions));
    let alone = tree.dimensions.iter().filter(|(.., is_unlimited)| *is_unlimited).map(|(path, ..)| path.clone());
    let mut unlimited: BTreeSet<String> =
        dimensions.filter(|dimension| dimension.is_unlimited).filter_map(super::tree::Dimension::path).collect();
    unlimited.extend(alone);
    if !unlimited.is_empty() {
        extra.insert("unlimited".to_string(), Value::Array(unlimited.into_iter().map(Value::from).collect()));
    }
    extra
}

/// Attributes as metadata: their values, and the names of types that a writer would not choose.
fn maps(list: &[Attribute]) -> (Entries, Entries) {
    let is_usual = |it: &&Attribute| {
        attributes::attribute(&it.value, None).is_some_and(|usual| types::of_attribute(&usual) == it.kind)
    };
    let entries = list.iter().map(|it| (it.name.as_str().into(), it.value.clone())).collect();
    let types = list.iter().filter(|it| !is_usual(it)).map(|it| (it.name.as_str().into(), it.kind.into())).collect();
    (entries, types)
}

/// The names of the variables that are coordinates, without the groups that have them.
fn coordinates<'t>(tree: &'t Tree<'_>) -> BTreeSet<&'t str> {
    let of_variable = |variable: &'t Variable<'_>| {
        let dims: Vec<_> = variable.dimensions.iter().map(|it| it.name.as_ref().map_or("", |(name, _)| name)).collect();
        let attribute = |key: &str| variable.attributes.iter().find(|it| it.name == key);
        coordinates_by(leaf(&variable.path), &dims, |key| attribute(key)?.value.as_text()).collect::<Vec<_>>()
    };
    tree.variables.iter().flat_map(of_variable).collect()
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

/// Values of a variable as an object.
struct Object {
    entry: BTreeMap<String, Value>,
    descriptor: DataObjectDescriptor,
    region: Vec<u8>,
    /// How many cells hold the number that NetCDF puts where nothing was written.
    default_fills: usize,
}

/// What an object has of a variable.
#[derive(Clone, Debug)]
enum Share {
    Whole,
    /// An index of the first dimension.
    Record(usize),
    /// A box, and the shape of such boxes.
    Piece(Vec<Range<usize>>, Vec<usize>),
}

impl Share {
    /// The box that it has.
    fn ranges(&self, variable: &Variable<'_>) -> Option<Vec<Range<usize>>> {
        match self {
            Self::Whole => None,
            Self::Record(record) => {
                let inner = variable.dimensions.iter().skip(1).map(|dimension| 0..dimension.len);
                Some(std::iter::once(*record..record.saturating_add(1)).chain(inner).collect())
            }
            Self::Piece(ranges, _) => Some(ranges.clone()),
        }
    }

    /// The shape of its object.
    fn shape(&self, variable: &Variable<'_>) -> Vec<u64> {
        let whole = variable.dimensions.iter().map(|dimension| dimension.len as u64);
        match self {
            Self::Whole => whole.collect(),
            Self::Record(_) => whole.skip(1).collect(),
            Self::Piece(ranges, _) => ranges.iter().map(|range| range.len() as u64).collect(),
        }
    }

    /// Where it is in the array that its variable becomes.
    fn place(&self, variable: &Variable<'_>) -> Option<Piece> {
        let Self::Piece(ranges, chunk) = self else { return None };
        Some(Piece {
            origin: ranges.iter().map(|range| range.start as u64).collect(),
            whole: variable.dimensions.iter().map(|dimension| dimension.len as u64).collect(),
            chunk: chunk.iter().map(|len| *len as u64).collect(),
        })
    }
}

/// How the numbers of a variable are read.
fn reading_of(variable: &Variable<'_>) -> Reading {
    let told: Vec<_> = variable.attributes.iter().map(|it| (it.name.as_str(), it.told())).collect();
    Reading::of(variable.kind.dtype(), &told)
}

/// The shape of the boxes of a variable that become objects. `None` if the variable becomes one, and if the limits do not allow all
/// of its values to a file of `file_len` bytes: then there is one error, and not one for each box.
fn cut(variable: &Variable<'_>, file_len: u64, options: &NetcdfOptions) -> Option<Vec<usize>> {
    let can_be_bits = match variable.kind {
        Kind::Bools => true,
        Kind::Numbers(Dtype::Int8) => is_told_bool(&variable.attributes),
        _ => false,
    };
    let shape: Vec<usize> = variable.dimensions.iter().map(|dimension| dimension.len).collect();
    let stored = variable.kind.dtype().byte_width();
    let width = if options.keep_packed { stored } else { reading_of(variable).dtype().byte_width().max(stored) };
    let len = shape.iter().fold(width as u64, |bytes, len| bytes.saturating_mul(*len as u64));
    let chunk = match &variable.layout {
        Layout::Whole => return None,
        Layout::Rows => None,
        Layout::Chunks(chunk) => Some(chunk.clone()),
    };
    let limits = DecodeLimits { max_decoded_bytes: u64::MAX, ..options.limits };
    limits.check_bytes(file_len, len).ok()?;
    let piece = match options.chunks {
        Chunks::Fit if len > WHOLE => {
            let chunk = chunk.unwrap_or_else(|| vec![1; shape.len()]);
            piece_shape(&shape, &chunk, width)
        }
        Chunks::Keep => {
            let chunk = chunk?;
            let counts = shape.iter().zip(&chunk).map(|(len, chunk)| len.div_ceil((*chunk).max(1)));
            let count = counts.fold(1, usize::saturating_mul);
            let is_few = count <= options.limits.max_objects;
            if is_few {
                chunk.iter().zip(&shape).map(|(chunk, len)| (*chunk).min(*len)).collect()
            } else {
                piece_shape(&shape, &chunk, width)
            }
        }
        Chunks::Fit | Chunks::Join => return None,
    };
    (!can_be_bits && piece != shape && piece.len() == shape.len() && !piece.contains(&0)).then_some(piece)
}

/// The object of a variable, or of a part of it.
fn object(
    variable: &Variable<'_>,
    part: &Share,
    subject: Subject,
    options: &NetcdfOptions,
    report: &mut dyn FnMut(Note),
) -> Result<Object> {
    let (path, is_record) = (variable.path.as_str(), matches!(part, Share::Record(_)));
    let dimensions = variable.dimensions.get(usize::from(is_record)..).unwrap_or_default();
    let shape = part.shape(variable);
    let reading = reading_of(variable);
    for not_applied in reading.not_applied() {
        report(Note::not_kept(path, format!("the meaning of attribute {}: {}", not_applied.name, not_applied.why)));
    }
    let is_kept = options.keep_packed && reading.is_packed();
    let is_scaled = is_kept || reading.is_scaled();
    let reading = if is_kept { reading.kept() } else { reading };
    let cells = reading.cells((variable.read)(part.ranges(variable).as_deref())?)?;
    let default_fills = cells.default_fills;
    let (mut values, mut dtype) = (cells.bytes, reading.dtype());
    let mut more = Vec::new();
    match &variable.kind {
        Kind::Bools => bools(&mut values, &mut dtype, &mut more),
        Kind::Numbers(Dtype::Int8) if is_told_bool(&variable.attributes) => bools(&mut values, &mut dtype, &mut more),
        Kind::Named(_, names) => {
            let names = names.iter().filter_map(|(name, value)| {
                let value = ciborium::value::Integer::try_from(*value).ok()?;
                Some((name.as_str().into(), Value::Integer(value)))
            });
            push_map(&mut more, ENUM, names.collect());
        }
        Kind::Numbers(_) => {}
    }
    if let Some(compound) = &variable.compound {
        more.push((COMPOUND.into(), compound.as_str().into()));
    }
    let descriptor = DataObjectDescriptor::new(dtype, ByteOrder::NATIVE, &shape);
    let packed = if options.stages.is_none() { Packed::of(&reading, &values) } else { None };
    let chosen = matches!(part, Share::Piece(..)).then_some(&variable.stages);
    let (descriptor, region) = encoded(options, subject, (descriptor, values), (packed, is_scaled), chosen)?;
    let (kept, packing) = attributes_of(variable, &reading);
    let (attributes, types) = maps(&kept);
    if let Some(dimension) = variable.dimensions.first().filter(|_| is_record) {
        more.push((RECORD.into(), dimension.value()));
    }
    if let Some(place) = part.place(variable) {
        more.extend(place.entries());
    }
    push_map(&mut more, PACKING, packing);
    push_map(&mut more, TYPES, types);
    // Groups hide the dimensions of groups above.
    if dimensions.iter().any(|dimension| dimension.name.as_ref().is_some_and(|(_, group)| !group.is_empty())) {
        let paths = dimensions.iter().map(|dimension| dimension.path().map_or(Value::Null, Value::from)).collect();
        more.push((DIMENSIONS.into(), Value::Array(paths)));
    }
    let mut entry = BTreeMap::from([("name".to_string(), path.into())]);
    if shape.is_empty() || dimensions.iter().any(|dimension| dimension.name.is_some()) {
        let names = dimensions.iter().map(super::tree::Dimension::value).collect();
        entry.insert(DIMENSIONS.to_string(), Value::Array(names));
    }
    for (key, entries) in [("attributes", attributes), (NETCDF, more)] {
        if !entries.is_empty() {
            entry.insert(key.to_string(), Value::Map(entries));
        }
    }
    Ok(Object { entry, descriptor, region, default_fills })
}

/// Truth values as bits, if there is nothing but zeros and ones.
fn bools(values: &mut Vec<u8>, dtype: &mut Dtype, more: &mut Vec<(Value, Value)>) {
    if values.iter().all(|value| *value <= 1) {
        *values = pack_bools(values);
        *dtype = Dtype::Bitmask;
        more.push((TYPE.into(), "bool".into()));
    }
}

/// Whether attributes say that bytes are truth values, as xarray writes it.
fn is_told_bool(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| it.name == "dtype" && it.value.as_text() == Some("bool"))
}

/// The attributes that stay beside the values, and the attributes of the encoding as the file has them, with the stored type.
fn attributes_of(variable: &Variable<'_>, reading: &Reading) -> (Vec<Attribute>, Vec<(Value, Value)>) {
    let of_packing: BTreeSet<&str> = reading.changed().collect();
    let mut kept = Vec::new();
    let mut become_others: BTreeSet<&str> = of_packing.clone();
    for attribute in &variable.attributes {
        become_others.remove(attribute.name.as_str());
        match reading.fate(&attribute.name) {
            Fate::Stays => kept.push(attribute.clone()),
            Fate::Dropped => {}
            Fate::Becomes(numbers) => {
                let (value, kind) = value_of(numbers);
                kept.push(Attribute { name: attribute.name.clone(), value, kind });
            }
        }
    }
    // A scale below zero makes a least value of a greatest one.
    for name in become_others {
        if let Fate::Becomes(numbers) = reading.fate(name) {
            let (value, kind) = value_of(numbers);
            kept.push(Attribute { name: name.to_string(), value, kind });
        }
    }
    if of_packing.is_empty() {
        return (kept, Vec::new());
    }
    let original: Vec<Attribute> =
        variable.attributes.iter().filter(|it| of_packing.contains(it.name.as_str())).cloned().collect();
    let (entries, types) = maps(&original);
    let mut packing = Vec::new();
    if let Some((name, _)) = types::of_file(variable.kind.dtype()) {
        packing.push((TYPE.into(), name.into()));
    }
    push_map(&mut packing, "attributes", entries);
    push_map(&mut packing, TYPES, types);
    (kept, packing)
}
