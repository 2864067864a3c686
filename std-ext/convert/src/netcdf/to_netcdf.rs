//! From Tensogram to NetCDF 4.

mod cubes;
mod pieces;
mod texts;
mod times;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use ciborium::Value;
use netcdf::{AttributeValue, Extent, FileMut};
use tgm_core::Message;
use tgm_core::descriptor::Dtype;
use tgm_core::object::DataObject;
use tgm_std::file::SourceName;
use tgm_std::{DecodeOptions, GlobalMetadata, Result, TensogramError, check_message, decode_descriptors};

use self::pieces::Pieced;
use super::attributes::{attribute, get};
#[cfg(feature = "grib")]
use super::grids::{Grid, Grids};
use super::names::safe;
use super::values::{Attribute, Values, ZARR, groups_of_zarr, metadata, of_zarr, put};
use super::{DIMENSIONS, NETCDF, RECORD, TYPES, complex, failed, guarded, refused, types};
use crate::axes::{Axes, Objects};
use crate::dimensions::{Dimension, Dimensions, Wanted, group_of, path_in};
use crate::error::encoding;
#[cfg(feature = "grib")]
use crate::grib2::places;
use crate::names::{Names, above, leaf, of_object, unnamed};
use crate::note::Note;
use crate::texts::{Texts, Written};
use tgm_dataset::reading::FILL;

/// Options of the conversion to NetCDF.
#[derive(Clone, Debug)]
pub struct ToNetcdfOptions {
    /// The level of DEFLATE, from 1 to 9, for the values of each variable, whose bytes are shuffled before. `None` stores
    /// values as they are.
    pub deflate_level: Option<u8>,
    /// The key of an object that names its variable. `None` takes the first that it has of name, mars.param,
    /// mars.shortName, shortName, param and variable.
    pub name_key: Option<String>,
    /// Whether [`NetcdfWriter::write_datasets`] writes packed values as `float64`. Otherwise they are rounded to `float32`
    /// where that tells all packed numbers apart.
    pub float64: bool,
    /// Options for decoding.
    pub decode: DecodeOptions,
}

impl Default for ToNetcdfOptions {
    fn default() -> Self {
        Self { deflate_level: Some(4), name_key: None, float64: false, decode: DecodeOptions::default() }
    }
}

/// Writes messages to a file of NetCDF 4.
///
/// The file is made by [`Self::create`] and is complete after [`Self::finish`].
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use tgm_std::TensogramFile;
/// use tgm_convert::netcdf::{NetcdfWriter, ToNetcdfOptions};
///
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("fields.nc");
/// let file = TensogramFile::open("../../tests/data/multi/three.tgm")?;
/// let mut writer = NetcdfWriter::create(&path, ToNetcdfOptions::default())?;
/// for message in 0..file.message_count()? {
///     writer.write(&file.read_message(message)?, &mut |note| eprintln!("{note}"))?;
/// }
/// writer.finish()?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct NetcdfWriter {
    file: FileMut,
    path: PathBuf,
    options: ToNetcdfOptions,
    names: Names,
    dimensions: Dimensions,
    /// The labels of the message that is written.
    axes: Axes,
    records: Records,
    texts: Written,
    #[cfg(feature = "grib")]
    grids: Grids,
    /// Attributes of the file and of groups that are written, with the path of the group.
    attributes: BTreeMap<(String, String), Value>,
    messages: usize,
    /// Values that are not written yet.
    waiting: Vec<Waiting>,
    waiting_bytes: usize,
}

/// Bytes of values that are written together.
const TOGETHER: usize = 64 << 20;
/// The key under which metadata has what comes from GRIB.
#[cfg(feature = "grib")]
const GRIB: &str = "grib";

/// Values of a variable.
#[derive(Debug)]
struct Waiting {
    path: String,
    dtype: Dtype,
    bytes: Vec<u8>,
    extents: Vec<Extent>,
}

/// Variables to which the next records are added.
#[derive(Debug, Default)]
struct Records {
    /// Names in the file, by the names of the messages' dimensions.
    dimensions: BTreeMap<String, String>,
    variables: BTreeMap<String, Recorded>,
}

#[derive(Debug)]
struct Recorded {
    path: String,
    dtype: Dtype,
    /// The shape of a record.
    shape: Vec<u64>,
    /// The number of records.
    count: u64,
}

impl NetcdfWriter {
    /// Makes the file. One that exists is replaced.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] if the libraries cannot make it.
    pub fn create(path: &Path, options: ToNetcdfOptions) -> Result<Self> {
        let file = guarded(path, || netcdf::create(path).map_err(at(path)))?;
        Ok(Self {
            file,
            path: path.to_path_buf(),
            options,
            names: Names::new(safe),
            dimensions: Dimensions::default(),
            axes: Axes::default(),
            records: Records::default(),
            texts: Written::default(),
            #[cfg(feature = "grib")]
            grids: Grids::default(),
            attributes: BTreeMap::new(),
            messages: 0,
            waiting: Vec::new(),
            waiting_bytes: 0,
        })
    }

    /// Writes the objects of a message. What cannot be written is left out and given to `report`.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] and [`TensogramError::Metadata`] for bytes that are not a message; the errors of
    /// [`check_message`] with `verify_hash`; [`TensogramError::Encoding`] of the libraries, such as a full disk.
    pub fn write(&mut self, message: &[u8], report: &mut dyn FnMut(Note)) -> Result<()> {
        if self.options.decode.verify_hash {
            // Shapes and names come from metadata, so the digests of all frames count.
            check_message(message)?;
        }
        let path = self.path.clone();
        // The complete metadata: a streamed message has them in its footer.
        let (global, _) = decode_descriptors(message)?;
        let message = Message::parse(message)?;
        guarded(&path, || self.write_message(&message, &global, report))
    }

    /// Completes the file.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] of the libraries.
    pub fn finish(mut self) -> Result<()> {
        let path = self.path.clone();
        guarded(&path, || {
            self.put_waiting()?;
            self.file.close().map_err(at(&path))
        })
    }

    fn write_message(
        &mut self,
        message: &Message<'_>,
        global: &GlobalMetadata,
        report: &mut dyn FnMut(Note),
    ) -> Result<()> {
        let number = self.messages;
        self.messages += 1;
        let objects = message.objects().map(|object| Ok(object?)).collect::<Result<Vec<_>>>()?;
        let pieces = crate::pieces::of_objects(global, &objects);
        let all = Objects { global, objects: &objects, pieces: &pieces, name_key: self.options.name_key.as_deref() };
        self.axes = Axes::of(all, &self.options.decode);
        for (index, doubt) in &self.axes.doubts {
            report(Note::not_kept(format!("message {number}, object {index}"), doubt));
        }
        let record = global.extra.get(RECORD).and_then(Value::as_integer).and_then(|record| u64::try_from(record).ok());
        if record.is_none() {
            self.dimensions.end_records();
        }
        // A message with variables along the unlimited dimension is a whole file: no records follow.
        let is_whole = record.is_none()
            && objects.iter().enumerate().any(|(index, object)| {
                let shape: Vec<u64> = object.descriptor().shape().iter().collect();
                let names = names_of_dimensions((global, &self.axes), index, &shape);
                matches!(names.first(), Some(Named::Wanted(_, first, _)) if first.is_unlimited && first.len > 0)
            });
        self.write_attributes(global, &format!("message {number}"), report);
        self.write_dimensions(global)?;
        self.write_texts(global, &format!("message {number}"), report)?;
        if record == Some(0) {
            self.records = Records::default();
        }
        let mut arrays = Pieced::of(&pieces);
        for (index, object) in objects.iter().enumerate() {
            let place = format!("message {number}, object {index}");
            if let Some(Some((first, piece))) = pieces.get(index)
                && let Some(array) = arrays.get_mut(first)
            {
                self.write_piece((object, piece), (global, &objects), &place, array, report)?;
                continue;
            }
            let own = global.base.get(index);
            let shape: Vec<u64> = object.descriptor().shape().iter().collect();
            if let Some(texts) = own.and_then(|own| Texts::of_object(own, &shape)) {
                let name = of_object(global, index, self.options.name_key.as_deref());
                let name = name.unwrap_or_else(|| format!("object_{number}_{index}"));
                self.write_text((&name, Some(index)), &texts, global, &place, report)?;
                continue;
            }
            let values = match self.values(object, (global, index), true) {
                Ok(values) => values,
                Err(error) => {
                    report(Note::failed(place, error));
                    continue;
                }
            };
            let name = of_object(global, index, self.options.name_key.as_deref());
            let name = name.unwrap_or_else(|| format!("object_{number}_{index}"));
            let dimension = values.more.and_then(|more| get(more, RECORD)).and_then(Value::as_text);
            if let (Some(record), Some(dimension)) = (record, dimension) {
                self.write_record((&name, &place), values, (record, dimension), (global, index), report)?;
            } else {
                let grid = self.grid((message, index), (global, &place), &values.shape, report)?;
                let names = match &grid {
                    Some(grid) => grid.dimensions.iter().map(|name| Named::Made(name.clone(), name.clone())).collect(),
                    None => names_of_dimensions((global, &self.axes), index, &values.shape),
                };
                let path = match self.add_variable((&name, &place), &values, (names, None), (global, index), report) {
                    Ok(path) => path,
                    // Such as too many dimensions. The other objects are written.
                    Err(error) => {
                        report(Note::failed(place, error));
                        continue;
                    }
                };
                if let Some(variables) = grid.and_then(|grid| grid.variables) {
                    self.say_where(&path, &variables, &place, report)?;
                }
                let extents = values.shape.iter().map(|len| extent(0, *len)).collect();
                self.put(path, values, extents)?;
            }
        }
        if is_whole {
            self.dimensions.end_records();
        }
        Ok(())
    }

    /// The values of an object, described as the object `described` is.
    fn values<'m>(
        &self,
        object: &DataObject<'_>,
        (global, described): (&'m GlobalMetadata, usize),
        packs: bool,
    ) -> Result<Values<'m>> {
        let own = global.base.get(described);
        let map = |key| own.and_then(|entry| entry.get(key)).and_then(Value::as_map).map(Vec::as_slice);
        let of_array = || of_zarr(global, object.descriptor().dtype()).filter(|_| map(NETCDF).is_none());
        let attributes = map("attributes").or_else(of_array).unwrap_or_default();
        Values::of(object, (attributes, map(NETCDF)), packs, &self.options.decode)
    }

    /// Names the variables that hold the latitude and the longitude of each point of a variable. An attribute of the object
    /// stays.
    fn say_where(&mut self, path: &str, variables: &str, place: &str, report: &mut dyn FnMut(Note)) -> Result<()> {
        let Some(mut variable) = self.file.variable_mut(path) else { return Ok(()) };
        if variable.attribute("coordinates").is_some() {
            report(Note::not_kept(
                place,
                format!("attribute coordinates {variables:?}: there is one of this name already"),
            ));
            return Ok(());
        }
        variable.put_attribute("coordinates", variables).map(drop).map_err(at(&self.path))
    }

    /// Writes the attributes of the file and of groups, each once.
    fn write_attributes(&mut self, global: &GlobalMetadata, place: &str, report: &mut dyn FnMut(Note)) {
        let map = |value: Option<&Value>| value.and_then(Value::as_map).cloned().unwrap_or_default();
        let more = map(global.extra.get(NETCDF));
        let mut all = vec![(String::new(), map(global.extra.get("attributes")), map(get(&more, TYPES)))];
        let types_of_groups = map(get(&more, "groups"));
        for (key, entries) in map(global.extra.get("groups")) {
            if let Some(path) = key.as_text() {
                let path: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(safe).collect();
                let types = key.as_text().and_then(|key| get(&types_of_groups, key));
                all.push((path.join("/"), map(Some(&entries)), map(types)));
            }
        }
        // Attributes of the groups above an array of Zarr. The root's path is empty.
        for (key, entries) in groups_of_zarr(global) {
            if let Some(path) = key.as_text() {
                let path: Vec<String> = path.split('/').filter(|part| !part.is_empty()).map(safe).collect();
                all.push((path.join("/"), map(Some(entries)), Vec::new()));
            }
        }
        for (group, entries, types) in all {
            if let Err(error) = self.add_group(&group) {
                report(Note::not_kept(place, format!("group {group}: {error}")));
                continue;
            }
            for (key, value) in entries {
                let Some(name) = key.as_text() else {
                    report(Note::not_kept(place, "an attribute whose name is not text"));
                    continue;
                };
                let known = self.attributes.entry((group.clone(), safe(name))).or_insert(Value::Null);
                if is_same(known, &value) {
                    continue;
                }
                if *known != Value::Null {
                    report(Note::not_kept(place, format!("attribute {name}: the file has another value for it")));
                    continue;
                }
                *known = value.clone();
                let kind = get(&types, name).and_then(Value::as_text);
                let written = match attribute(&value, kind) {
                    None => Err("NetCDF has no such attributes".to_string()),
                    Some(value) => put_attribute(&mut self.file, &group, name, value),
                };
                if let Err(what) = written {
                    report(Note::not_kept(place, format!("attribute {name}: {what}")));
                }
            }
        }
    }

    /// Makes the dimensions that no variable has.
    fn write_dimensions(&mut self, global: &GlobalMetadata) -> Result<()> {
        let dimensions = global.extra.get(DIMENSIONS).and_then(Value::as_map).map_or(&[][..], Vec::as_slice);
        let unlimited = global.extra.get("unlimited").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (path, len) in dimensions {
            let len = len.as_integer().and_then(|len| u64::try_from(len).ok());
            if let (Some(path), Some(len)) = (path.as_text(), len) {
                let is_unlimited = unlimited.iter().any(|it| it.as_text() == Some(path));
                let dimension = Dimension { len, is_unlimited, labels: self.axes.labels(None, path, len) };
                let group = group_of(path).to_string();
                let wanted = Named::Wanted(leaf(path).to_string(), dimension, Some(group.clone()));
                self.dimension(&group, wanted, "", &mut |_| {})?;
            }
        }
        Ok(())
    }

    /// Makes a group, and those above it, if they are not there.
    fn add_group(&mut self, path: &str) -> Result<(), netcdf::Error> {
        // The library asks for a group within groups that are there.
        for path in above(path).chain((!path.is_empty()).then_some(path)) {
            if self.file.group(path)?.is_none() {
                self.file.add_group(path)?;
            }
        }
        Ok(())
    }

    /// The grid of a field that was made from GRIB, if metadata name no dimensions.
    #[cfg(feature = "grib")]
    fn grid(
        &mut self,
        (message, index): (&Message<'_>, usize),
        (global, place): (&GlobalMetadata, &str),
        shape: &[u64],
        report: &mut dyn FnMut(Note),
    ) -> Result<Option<Grid>> {
        // Metadata is walked from its start for each object, so objects of other formats are told apart before.
        let is_from_grib =
            |entry: &BTreeMap<String, Value>| entry.contains_key(GRIB) || global.extra.contains_key(GRIB);
        if global.base.get(index).is_none_or(|entry| entry.contains_key("dimensions") || !is_from_grib(entry)) {
            return Ok(None);
        }
        let found = places(&message.metadata()?, index, shape, &self.options.decode.limits);
        let found = found.unwrap_or_else(|error| {
            report(Note::not_kept(place, format!("where its points are: {error}")));
            None
        });
        let Some(found) = found.filter(|_| matches!(shape.len(), 1 | 2)) else { return Ok(None) };
        let place = (&mut self.file, &mut self.names, &mut self.dimensions);
        self.grids.take(shape, found, place).map(Some).map_err(at(&self.path))
    }

    #[cfg(not(feature = "grib"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "no field is made from GRIB")]
    fn grid(
        &mut self,
        _: (&Message<'_>, usize),
        _: (&GlobalMetadata, &str),
        _: &[u64],
        _: &mut dyn FnMut(Note),
    ) -> Result<Option<Grid>> {
        Ok(None)
    }

    /// Adds a record to its variable, which the first one makes.
    fn write_record(
        &mut self,
        (name, place): (&str, &str),
        values: Values<'_>,
        (record, dimension): (u64, &str),
        (global, index): (&GlobalMetadata, usize),
        report: &mut dyn FnMut(Note),
    ) -> Result<()> {
        if !self.records.variables.contains_key(name) {
            let mut names = names_of_dimensions((global, &self.axes), index, &values.shape);
            names.insert(0, Named::Made(self.dimension_of_records(dimension)?, dimension.to_string()));
            let path = self.add_variable((name, place), &values, (names, None), (global, index), report)?;
            let made = Recorded { path, dtype: values.dtype, shape: values.shape.clone(), count: 0 };
            self.records.variables.insert(name.to_string(), made);
        }
        let Some(recorded) = self.records.variables.get_mut(name) else { return Ok(()) };
        if record < recorded.count {
            report(Note::failed(place, encoding(format!("{name} has a record {record} already"))));
            return Ok(());
        }
        if (recorded.dtype, &recorded.shape) != (values.dtype, &values.shape) {
            let what = format!("{name}: its type or shape differs from that of the records before");
            report(Note::failed(place, encoding(what)));
            return Ok(());
        }
        recorded.count = record + 1;
        let path = recorded.path.clone();
        let extents =
            std::iter::once(extent(record, 1)).chain(values.shape.iter().map(|len| extent(0, *len))).collect();
        self.put(path, values, extents)
    }

    /// The dimension of records that these messages call `wanted`.
    fn dimension_of_records(&mut self, wanted: &str) -> Result<String> {
        if let Some(name) = self.records.dimensions.get(wanted) {
            return Ok(name.clone());
        }
        let (name, known) = self.dimensions.take_records(&safe(wanted), &self.names);
        if known.is_none() {
            self.file.add_unlimited_dimension(&name).map_err(at(&self.path))?;
        }
        self.records.dimensions.insert(wanted.to_string(), name.clone());
        Ok(name)
    }

    /// The wanted name of a dimension of a variable in `group`, and its name. One that is not there is made.
    fn dimension(
        &mut self,
        group: &str,
        named: Named,
        place: &str,
        report: &mut dyn FnMut(Note),
    ) -> Result<(String, String)> {
        let (wanted, dimension, place_of_dimension) = match named {
            Named::Made(name, wanted) => return Ok((wanted, name)),
            Named::Wanted(wanted, dimension, place) => (wanted, dimension, place),
        };
        // A variable sees the dimensions of its own group and of those above.
        let own =
            place_of_dimension.filter(|own| own.is_empty() || own == group || group.starts_with(&format!("{own}/")));
        let asked = Wanted { group, place: own.as_deref(), name: &safe(&wanted), dimension, has_variable: true };
        let taken = self.dimensions.take(&asked, &mut self.names);
        if let Some(path) = &taken.make {
            self.add_group(group_of(path)).map_err(at(&self.path))?;
            let added = if dimension.is_unlimited {
                self.file.add_unlimited_dimension(path).map(drop)
            } else {
                let len = usize::try_from(dimension.len).map_err(at(&self.path))?;
                self.file.add_dimension(path, len).map(drop)
            };
            added.map_err(at(&self.path))?;
        }
        if dimension.is_unlimited && own.as_deref().is_none_or(str::is_empty) {
            self.dimensions.expect_records(&safe(&wanted), &taken.name);
        }
        if let Some(told) = taken.told {
            report(Note::not_kept(place, told));
        }
        Ok((wanted, taken.name))
    }

    /// Takes the path of a variable, makes its group and its dimensions, and returns their wanted names and their names too.
    fn take_path(
        &mut self,
        (name, place): (&str, &str),
        dimensions: Vec<Named>,
        report: &mut dyn FnMut(Note),
    ) -> Result<(String, Vec<(String, String)>)> {
        let group = group_of(&self.names.path_of(name)).to_string();
        self.add_group(&group).map_err(at(&self.path))?;
        let names = dimensions.into_iter().map(|named| self.dimension(&group, named, place, report));
        let names = names.collect::<Result<Vec<_>>>()?;
        let path = self.dimensions.take_path(name, &names, &mut self.names);
        if path != name.trim_matches('/') {
            report(Note::not_kept(place, format!("the name {name:?}: it becomes {path:?}")));
        }
        Ok((path, names))
    }

    /// Adds a variable without values, and returns its path.
    fn add_variable(
        &mut self,
        (name, place): (&str, &str),
        values: &Values<'_>,
        (dimensions, chunk): (Vec<Named>, Option<&[u64]>),
        (global, index): (&GlobalMetadata, usize),
        report: &mut dyn FnMut(Note),
    ) -> Result<String> {
        let is_scalar = dimensions.is_empty();
        let (path, names) = self.take_path((name, place), dimensions, report)?;
        let names: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
        let (kind, type_of_file) = types::of_file(values.dtype)
            .ok_or_else(|| refused(&self.path, &format!("{} has no type", values.dtype)))?;
        complex::define(&mut self.file, &type_of_file).map_err(at(&self.path))?;
        let mut variable = self.file.add_variable_with_type(&path, &names, &type_of_file).map_err(at(&self.path))?;
        if let Some(chunk) = chunk.filter(|_| !is_scalar) {
            let chunk = chunk.iter().map(|len| usize::try_from(*len)).collect::<Result<Vec<_>, _>>();
            variable.set_chunking(&chunk.map_err(at(&self.path))?).map_err(at(&self.path))?;
        }
        if let Some(level) = self.options.deflate_level.filter(|_| !is_scalar) {
            variable.set_compression(level.into(), true).map_err(at(&self.path))?;
        }
        let times = times::of_object(global, index, values.dtype);
        let is_told = |it: &Attribute<'_>| times.is_empty() || !it.name.starts_with(times::PREFIX);
        let attributes = values.attributes(kind).into_iter().chain(metadata(global, index).into_iter().filter(is_told));
        let attributes = attributes.chain(times.iter().map(|(name, value)| Attribute {
            name: (*name).to_string(),
            value: Some(value),
            kind: (*name == FILL).then_some(kind),
        }));
        let truth = Value::from("bool");
        let is_bool = values.is_bool.then(|| Attribute { name: "dtype".to_string(), value: Some(&truth), kind: None });
        let attributes = is_bool.into_iter().chain(attributes.filter(|it| !(values.is_bool && it.name == "dtype")));
        let mut taken = HashSet::new();
        for Attribute { name, value, kind: own } in attributes {
            let written = match value.and_then(|value| attribute(value, own)) {
                // The later one would replace the earlier one.
                Some(_) if !taken.insert(safe(&name)) => Err("there is one of this name already".to_string()),
                // It has to have the type of the values.
                Some(value) if name == "_FillValue" && types::of_attribute(&value) != kind => {
                    Err(format!("it is not of type {kind}"))
                }
                Some(value) => variable.put_attribute(&safe(&name), value).map(drop).map_err(|error| error.to_string()),
                None => Err("NetCDF has no such attributes".to_string()),
            };
            if let Err(what) = written {
                report(Note::not_kept(place, format!("attribute {name}: {what}")));
            }
        }
        if !values.is_packed_as_told {
            report(Note::not_kept(place, "its packing: the values are stored"));
        }
        Ok(path)
    }

    /// Takes values for a variable. They wait for others: each time that values follow the definition of a variable, the
    /// library writes the definitions of all variables.
    fn put(&mut self, path: String, values: Values<'_>, extents: Vec<Extent>) -> Result<()> {
        let Values { dtype, bytes, .. } = values;
        if bytes.is_empty() {
            return Ok(());
        }
        self.waiting_bytes = self.waiting_bytes.saturating_add(bytes.len());
        self.waiting.push(Waiting { path, dtype, bytes, extents });
        if self.waiting_bytes < TOGETHER { Ok(()) } else { self.put_waiting() }
    }

    /// Writes the values that wait.
    fn put_waiting(&mut self) -> Result<()> {
        self.waiting_bytes = 0;
        for Waiting { path, dtype, bytes, extents } in std::mem::take(&mut self.waiting) {
            let variable = self.file.variable_mut(&path);
            let mut variable = variable.ok_or_else(|| refused(&self.path, &format!("{path} is not there")))?;
            put(dtype, &bytes, &mut variable, extents).map_err(at(&self.path))?;
        }
        Ok(())
    }
}

/// Makes an error of what the libraries say of the file.
fn at<E: std::error::Error + Send + Sync + 'static>(path: &Path) -> impl FnOnce(E) -> TensogramError {
    move |error| failed(SourceName::of(path), error)
}

/// Stands in for the grid of a field from GRIB. A build without `grib` never makes one.
#[cfg(not(feature = "grib"))]
struct Grid {
    dimensions: Vec<String>,
    variables: Option<String>,
}

/// A dimension of a variable.
enum Named {
    /// One that is there: its name, and what it is called in the message.
    Made(String, String),
    /// One that is there or will be: its name, and the group that has it, if that is known.
    Wanted(String, Dimension, Option<String>),
}

/// The dimensions of an object.
fn names_of_dimensions((global, axes): (&GlobalMetadata, &Axes), index: usize, shape: &[u64]) -> Vec<Named> {
    let listed = |value: Option<&Value>| -> Option<Vec<Option<String>>> {
        Some(value?.as_array()?.iter().map(|name| name.as_text().map(str::to_string)).collect())
    };
    let entry = |key| global.base.get(index).and_then(|entry| entry.get(key));
    let own = listed(entry(DIMENSIONS)).filter(|names| names.len() == shape.len());
    let more = entry(NETCDF).and_then(Value::as_map);
    // Dimensions of a record begin with the dimension of records or do not.
    let paths = listed(more.and_then(|more| get(more, DIMENSIONS))).filter(|paths| paths.len() == shape.len());
    let unlimited = listed(global.extra.get("unlimited")).unwrap_or_default();
    // Groups of Zarr do not see the dimensions of groups above.
    let is_of_zarr = global.extra.contains_key(ZARR);
    let own_group = || group_of(entry("name").and_then(Value::as_text).unwrap_or_default()).to_string();
    let groups = || std::iter::once("").chain(entry("name").and_then(Value::as_text).into_iter().flat_map(above));
    let nameless = || vec![None; shape.len()];
    let own = own.unwrap_or_else(nameless).into_iter().zip(unnamed(shape));
    let own = own.map(|(name, unnamed)| name.unwrap_or(unnamed));
    let wanted = |((name, path), len): ((String, Option<String>), &u64)| {
        let is_unlimited = match &path {
            Some(path) => unlimited.contains(&Some(path.clone())),
            None => groups().any(|group| unlimited.contains(&Some(path_in(group, &name)))),
        };
        let place = path.map(|path| group_of(&path).to_string()).or_else(|| is_of_zarr.then(own_group));
        let labels = axes.labels(Some(index), &path_in(place.as_deref().unwrap_or_default(), &name), *len);
        Named::Wanted(name, Dimension { len: *len, is_unlimited, labels }, place)
    };
    own.zip(paths.unwrap_or_else(nameless)).zip(shape).map(wanted).collect()
}

/// Whether two values of metadata are the same, NaN being the same as NaN.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => one.to_bits() == other.to_bits(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        _ => one == other,
    }
}

/// Writes an attribute of the file, or of a group.
fn put_attribute(file: &mut FileMut, group: &str, name: &str, value: AttributeValue) -> Result<(), String> {
    let name = safe(name);
    let written = if group.is_empty() {
        file.add_attribute(&name, value).map(drop)
    } else {
        match file.group_mut(group) {
            Ok(Some(mut group)) => group.add_attribute(&name, value).map(drop),
            Ok(None) => return Err(format!("group {group} is not there")),
            Err(error) => Err(error),
        }
    };
    written.map_err(|error| error.to_string())
}

fn extent(start: u64, count: u64) -> Extent {
    // What is larger than addresses is larger than the values in memory.
    let index = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    Extent::SliceCount { start: index(start), count: index(count), stride: 1 }
}
