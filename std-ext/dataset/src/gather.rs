//! What the metadata of all objects say, read by several threads.
//!
//! Keys and values become numbers. A value is what CBOR has for it, so that equal values have equal numbers.

use std::collections::BTreeSet;

use tgm_core::Message;
use tgm_core::cbor::{Kind, Value};
use tgm_core::descriptor::{Descriptor, Dtype, Encoding};
use tgm_core::metadata::ObjectMetadata;
use tgm_grid::{GridSection, Octets};
use tgm_std::file::{Data, TensogramFile};
use tgm_std::internal::{Threads, hash};
use tgm_std::{MessageLayout, Result, interrupt};

use crate::archive::{Entry, bad};
use crate::intern::Interner;
use crate::options::OpenOptions;

/// The type of an object's elements.
pub(crate) const DTYPE: &str = "#dtype";
/// The shape of an object, as numbers of 8 bytes, the lowest byte first.
pub(crate) const SHAPE: &str = "#shape";
/// Section 3 of GRIB.
pub(crate) const GRID: &str = "#grid";
/// What stands before keys of messages.
pub(crate) const EXTRA: &str = "_extra_.";

/// Keys whose values are taken whole, whatever they are.
const WHOLE: [&str; 8] = ["area", "attributes", "dim_names", "dimensions", "netcdf", "place", "time", "zarr"];
/// The same, of messages.
const WHOLE_OF_MESSAGES: [&str; 9] =
    ["attributes", "dim_names", "dimensions", "groups", "netcdf", "record", "texts", "unlimited", "zarr"];
/// Keys of GRIB that tell fields apart, or name them. The others say how a field is stored.
const OF_GRIB: [&str; 20] = [
    "date",
    "derivedForecast",
    "discipline",
    "level",
    "paramId",
    "parameterCategory",
    "parameterName",
    "parameterNumber",
    "parameterUnits",
    "percentileValue",
    "perturbationNumber",
    "probabilityType",
    "quantileValue",
    "scaledValueOfLowerLimit",
    "scaledValueOfSecondFixedSurface",
    "scaledValueOfUpperLimit",
    "stepRange",
    "time",
    "typeOfLevel",
    "typeOfStatisticalProcessing",
];

/// Numbers of keys, each with the number of its value. In the order of the keys.
pub(crate) type Cells = Vec<(u32, u32)>;

/// An object.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) entry: Entry,
    pub(crate) cells: Cells,
}

/// A message that says something of itself.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) source: u32,
    pub(crate) message: u32,
    pub(crate) cells: Cells,
}

/// All objects.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) keys: Interner,
    pub(crate) values: Interner,
    pub(crate) rows: Vec<Row>,
    pub(crate) abouts: Vec<About>,
    /// Keys that are not read, if options ask for them.
    pub(crate) unread: BTreeSet<String>,
}

/// The value of a key.
pub(crate) fn cell(cells: &Cells, key: u32) -> Option<u32> {
    let found = cells.binary_search_by_key(&key, |(key, _)| *key).ok()?;
    cells.get(found).map(|(_, value)| *value)
}

impl Gathered {
    /// Reads the metadata of a source.
    ///
    /// # Errors
    /// The errors of reading, and of the first message whose structure or metadata has an error.
    pub(crate) fn add(&mut self, file: &TensogramFile, source: u32, options: &OpenOptions) -> Result<()> {
        let decode = &options.decode;
        let data = Data::from(file);
        let layouts = data.layouts()?;
        let bytes = layouts.iter().map(|layout| layout.length).sum();
        let threads = Threads::resolve(decode.threads, bytes, decode.parallel_threshold_bytes)?;
        let runs = data.map_runs(&layouts, threads, |number, run| {
            let mut found = Found { list_unread: options.list_unused, ..Found::default() };
            run.for_each(|index, layout, bytes| {
                interrupt::check()?;
                let message = number + index;
                found.add(source, message, (layout, bytes), options).map_err(|error| error.in_message(message))
            })?;
            Ok(found.gathered)
        });
        for run in runs.map_err(|error| error.within(file.name()))? {
            self.join(run);
        }
        Ok(())
    }

    fn join(&mut self, other: Self) {
        let keys: Vec<u32> = other.keys.iter().map(|key| self.keys.code(key)).collect();
        let values: Vec<u32> = other.values.iter().map(|value| self.values.code(value)).collect();
        self.unread.extend(other.unread);
        let at = |codes: &[u32], code: u32| usize::try_from(code).ok().and_then(|code| codes.get(code)).copied();
        let renew = |cells: Cells| {
            let cells = cells.into_iter().filter_map(|(key, value)| Some((at(&keys, key)?, at(&values, value)?)));
            let mut cells: Cells = cells.collect();
            cells.sort_unstable();
            cells
        };
        self.rows.extend(other.rows.into_iter().map(|row| Row { cells: renew(row.cells), ..row }));
        self.abouts.extend(other.abouts.into_iter().map(|about| About { cells: renew(about.cells), ..about }));
    }

    /// The bytes of a key's value.
    pub(crate) fn bytes(&self, cells: &Cells, key: &str) -> Option<&[u8]> {
        Some(self.values.get(cell(cells, self.keys.find(key.as_bytes())?)?))
    }

    /// The value of a key.
    pub(crate) fn value(&self, cells: &Cells, key: &str) -> Option<Value<'_>> {
        Value::parse(self.bytes(cells, key)?, 0).ok()
    }

    /// What a message says of itself.
    pub(crate) fn about(&self, entry: &Entry) -> Option<&Cells> {
        let place = (entry.source, entry.message);
        let found = self.abouts.binary_search_by_key(&place, |about| (about.source, about.message)).ok()?;
        self.abouts.get(found).map(|about| &about.cells)
    }
}

/// What one thread has found.
#[derive(Default)]
struct Found {
    gathered: Gathered,
    path: String,
    /// The last value of each key: neighbours are often equal.
    last: Vec<u32>,
    list_unread: bool,
}

impl Found {
    fn add(
        &mut self,
        source: u32,
        number: usize,
        (layout, bytes): (MessageLayout, &[u8]),
        options: &OpenOptions,
    ) -> Result<()> {
        let message = Message::parse(bytes)?;
        let metadata = hash::metadata(&message, &options.decode)?;
        let number = u32::try_from(number).map_err(|_| bad("it has more than 2^32 messages"))?;
        let (mut of_all, mut about) = (Vec::new(), Vec::new());
        for entry in metadata.frame().extra_entries() {
            let (key, value) = entry?;
            let Ok(key) = key.as_str() else { continue };
            if WHOLE_OF_MESSAGES.contains(&key) {
                self.path.clear();
                self.path.push_str(EXTRA);
                self.path.push_str(key);
                about.push(self.cell(value.as_encoded()));
            } else {
                self.add_entry(&mut of_all, key, &value)?;
            }
        }
        if !about.is_empty() {
            self.gathered.abouts.push(About { source, message: number, cells: sorted(about) });
        }
        let mut section = None;
        for (index, (about, object)) in metadata.objects().zip(message.objects()).enumerate() {
            let (about, object) = (about?, object?);
            let frame = object.frame();
            let mut cells = of_all.clone();
            self.add_object(&mut cells, &about, &mut section)?;
            let descriptor = object.descriptor();
            self.set_path(DTYPE);
            cells.push(self.cell(descriptor.dtype().name().as_bytes()));
            let shape: Vec<u8> = descriptor.shape().iter().flat_map(u64::to_le_bytes).collect();
            self.set_path(SHAPE);
            cells.push(self.cell(&shape));
            let entry = Entry {
                source,
                message: number,
                object: u32::try_from(index).map_err(|_| bad("it has more than 2^32 objects"))?,
                offset: layout.offset + frame.offset(),
                length: frame.total_length(),
                digest: frame.hash_slot(),
                fits_float32: fits_float32(descriptor),
            };
            self.gathered.rows.push(Row { entry, cells: sorted(cells) });
        }
        Ok(())
    }

    /// Adds what an object says. `section` is section 3 of the object before, which holds on.
    fn add_object<'a>(
        &mut self,
        cells: &mut Cells,
        about: &ObjectMetadata<'a>,
        section: &mut Option<&'a [u8]>,
    ) -> Result<()> {
        let mut is_of_grib = false;
        for entry in about.entries() {
            let (key, value) = entry?;
            let Ok(key) = key.as_str() else { continue };
            if key == "grib" && value.kind() == Kind::Map {
                for entry in &value.as_map()? {
                    let (key, value) = entry?;
                    let Ok(key) = key.as_str() else { continue };
                    if key == "sections" {
                        is_of_grib = true;
                        *section = section_of(&value)?.or(*section);
                    } else if OF_GRIB.binary_search(&key).is_ok() {
                        self.add_scalar(cells, "grib", key, &value);
                    } else {
                        self.leave("grib.", key);
                    }
                }
            } else {
                self.add_entry(cells, key, &value)?;
            }
        }
        if let Some(section) = section.filter(|_| is_of_grib) {
            self.set_path(GRID);
            cells.push(self.cell(section));
        }
        Ok(())
    }

    /// Adds a key at the top, and what its map holds.
    fn add_entry(&mut self, cells: &mut Cells, key: &str, value: &Value<'_>) -> Result<()> {
        if key == tgm_core::metadata::RESERVED_KEY || key.is_empty() {
            return Ok(());
        }
        match value.kind() {
            _ if WHOLE.contains(&key) && matches!(value.kind(), Kind::Map | Kind::Array) => {
                self.set_path(key);
                cells.push(self.cell(value.as_encoded()));
            }
            Kind::Map => {
                for entry in &value.as_map()? {
                    let (inner, value) = entry?;
                    if let Ok(inner) = inner.as_str() {
                        self.add_scalar(cells, key, inner, &value);
                    }
                }
            }
            Kind::Array | Kind::Bytes | Kind::Null => self.leave("", key),
            _ => {
                self.set_path(key);
                cells.push(self.cell(value.as_encoded()));
            }
        }
        Ok(())
    }

    /// Adds a key of a map. Bounds of a grid are the only list.
    fn add_scalar(&mut self, cells: &mut Cells, map: &str, key: &str, value: &Value<'_>) {
        let is_scalar = !matches!(value.kind(), Kind::Map | Kind::Array | Kind::Bytes | Kind::Null);
        if is_scalar || (key == "area" && value.kind() == Kind::Array) {
            self.set_path(map);
            self.path.push('.');
            self.path.push_str(key);
            cells.push(self.cell(value.as_encoded()));
        } else if self.list_unread {
            self.gathered.unread.insert(format!("{map}.{key}"));
        }
    }

    /// Notes a key that is not read.
    fn leave(&mut self, map: &str, key: &str) {
        if !self.list_unread {
            return;
        }
        self.set_path(map);
        self.path.push_str(key);
        if !self.gathered.unread.contains(&self.path) {
            self.gathered.unread.insert(self.path.clone());
        }
    }

    fn set_path(&mut self, path: &str) {
        self.path.clear();
        self.path.push_str(path);
    }

    /// The numbers of the key at `path`, and of its value.
    fn cell(&mut self, value: &[u8]) -> (u32, u32) {
        let key = self.gathered.keys.code(self.path.as_bytes());
        let at = key as usize;
        if let Some(last) = self.last.get(at)
            && self.gathered.values.get(*last) == value
        {
            return (key, *last);
        }
        let code = self.gathered.values.code(value);
        if self.last.len() <= at {
            self.last.resize(at + 1, code);
        }
        if let Some(last) = self.last.get_mut(at) {
            *last = code;
        }
        (key, code)
    }
}

/// Cells in the order of their keys. The last value of a key counts: values of an object come behind values of its message.
fn sorted(mut cells: Cells) -> Cells {
    cells.reverse();
    cells.sort_by_key(|(key, _)| *key);
    cells.dedup_by_key(|(key, _)| *key);
    cells
}

/// Section 3 of the sections that an object has.
fn section_of<'a>(sections: &Value<'a>) -> Result<Option<&'a [u8]>> {
    debug_assert_eq!(GridSection::SECTIONS, "grib.sections", "the key is the one of the grid's reader");
    for section in &sections.as_array()? {
        let Some(section) = section?.as_bytes()?.as_slice() else { continue };
        if Octets::new(section).u8(5) == Some(3) {
            return Ok(Some(section));
        }
    }
    Ok(None)
}

/// Whether packed values of 64 bits stay apart in 32: rounding moves none of them by more than a quarter of the distance to
/// the next.
fn fits_float32(descriptor: &Descriptor<'_>) -> bool {
    if descriptor.dtype() != Dtype::Float64 || descriptor.encoding().known() != Some(Encoding::SimplePacking) {
        return false;
    }
    let Ok(packing) = descriptor.packing() else { return false };
    let step = packing.scale();
    let last = packing.reference_value + step * (2_f64.powi(packing.bits_per_value.cast_signed()) - 1.0);
    let most = packing.reference_value.abs().max(last.abs());
    let is_normal = |number: f64| number < f64::from(f32::MAX) && number > 1e-30;
    match packing.bits_per_value {
        // One value for all.
        0 => most == 0.0 || is_normal(most),
        _ => is_normal(most) && is_normal(step) && most / 16_777_216.0 <= step / 4.0,
    }
}
