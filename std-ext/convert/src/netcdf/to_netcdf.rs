//! From Tensogram to NetCDF 4.

mod attributes;
mod texts;
mod times;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use netcdf::types::NcVariableType;
use netcdf::{AttributeValue, Extent, FileMut, VariableMut};
use tgm_core::descriptor::Dtype;
use tgm_core::object::DataObject;
use tgm_dataset::Dataset;
use tgm_dataset::reading::FILL;
use tgm_std::codec::threads::Threads;
use tgm_std::file::SourceName;
use tgm_std::{Result, TensogramError};

#[cfg(feature = "grib")]
use super::DIMENSIONS;
use super::attributes::attribute;
use super::complex::Character;
#[cfg(feature = "grib")]
use super::grids::Grids;
use super::names::safe;
use super::values::{self, Values, put};
use super::{complex, failed, guarded, refused, types};
use crate::cubes::Boxed;
use crate::dimensions::{Dimension, group_of};
use crate::given::Given;
#[cfg(feature = "grib")]
use crate::grib2::places;
use crate::names::{above, leaf};
use crate::note::{Note, Notes};
use crate::texts::Texts;
use crate::tree::{Array, ArrayWriter, Axis, BoxOf, Made, OfField, OfObject, Target, Tree, WriteOptions, Writer};

/// Writes messages to a file of NetCDF 4.
///
/// The file is made by [`Self::create`] and is complete after [`ArrayWriter::finish`].
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use tgm_std::TensogramFile;
/// use tgm_convert::ArrayWriter as _;
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
pub struct NetcdfWriter(Writer<Nc>);

/// A file that is written.
#[derive(Debug)]
struct Nc {
    file: FileMut,
    path: PathBuf,
    options: WriteOptions,
    #[cfg(feature = "grib")]
    grids: Grids,
    /// Attributes of the file and of groups that are written, with the path of the group.
    attributes: BTreeMap<(String, String), ciborium::Value>,
    /// Values that are not written yet.
    waiting: Vec<Waiting>,
    waiting_bytes: usize,
}

/// Bytes of values that are written together.
const TOGETHER: usize = 64 << 20;
/// The convention that a file of datasets follows.
const CONVENTIONS: (&str, &str) = ("Conventions", "CF-1.7");
/// Labels of a coordinate, from which on they are compressed.
const MANY: u64 = 4096;
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

impl NetcdfWriter {
    /// Makes the file. One that exists is replaced.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] if the libraries cannot make it.
    pub fn create(path: &Path, options: WriteOptions) -> Result<Self> {
        let file = guarded(path, || netcdf::create(path).map_err(at(path)))?;
        let (path, waiting, attributes) = (path.to_path_buf(), Vec::new(), BTreeMap::new());
        #[cfg(feature = "grib")]
        let grids = Grids::default();
        let target = Nc {
            file,
            path,
            options,
            #[cfg(feature = "grib")]
            grids,
            attributes,
            waiting,
            waiting_bytes: 0,
        };
        Ok(Self(Writer::new(target, safe)))
    }
}

impl ArrayWriter for NetcdfWriter {
    fn write(&mut self, message: &[u8], report: &mut dyn FnMut(Note)) -> Result<()> {
        let path = self.0.target.path.clone();
        guarded(&path, || self.0.write(message, report))
    }

    fn write_datasets(&mut self, datasets: &[Dataset], report: &mut dyn FnMut(Note)) -> Result<()> {
        let path = self.0.target.path.clone();
        guarded(&path, || {
            self.0.target.put_conventions(&mut Notes { place: "the file".to_string(), report: &mut *report });
            self.0.write_datasets(datasets, report)
        })
    }

    fn finish(self) -> Result<()> {
        let mut target = self.0.target;
        let path = target.path.clone();
        guarded(&path, || {
            target.put_waiting()?;
            target.file.close().map_err(at(&path))
        })
    }
}

impl Target for Nc {
    /// The path of a variable.
    type Handle = String;
    type Values<'m> = Values<'m>;
    const OWN_GROUPS: bool = false;
    const NO_LINKS: &'static str = "links: NetCDF has one name for each variable";

    fn options(&self) -> &WriteOptions {
        &self.options
    }

    fn begin(&mut self, tree: &mut Tree<Self>, given: &Given<'_>, notes: &mut Notes<'_>) -> Result<bool> {
        self.write_attributes(given.global, notes);
        self.write_dimensions(tree, given).map(|()| false)
    }

    fn dimension_name(wanted: &str) -> String {
        safe(wanted)
    }

    fn is_renamed(wanted: &str, path: &str) -> bool {
        wanted != path
    }

    fn dtype(dtype: Dtype) -> Option<Dtype> {
        match dtype {
            Dtype::Float16 | Dtype::Bfloat16 => Some(Dtype::Float32),
            Dtype::Bitmask => Some(Dtype::Int8),
            dtype => types::of_file(dtype).map(|_| dtype),
        }
    }

    /// Such as a full disk. A variable may have too many dimensions, and the others are written.
    fn is_end(_: &TensogramError, is_defined: bool) -> bool {
        is_defined
    }

    fn add_group(&mut self, path: &str) -> Result<()> {
        // The library asks for a group within groups that are there.
        for path in above(path).chain((!path.is_empty()).then_some(path)) {
            if self.file.group(path).map_err(at(&self.path))?.is_none() {
                self.file.add_group(path).map_err(at(&self.path))?;
            }
        }
        Ok(())
    }

    fn add_dimension(&mut self, path: &str, dimension: Dimension) -> Result<()> {
        let added = if dimension.is_unlimited {
            self.file.add_unlimited_dimension(path)
        } else {
            self.file.add_dimension(path, usize::try_from(dimension.len).map_err(at(&self.path))?)
        };
        added.map(drop).map_err(at(&self.path))
    }

    fn add_records(&mut self, name: &str, known: Option<u64>) -> Result<()> {
        let unlimited = Dimension { len: 0, is_unlimited: true, labels: None };
        if known.is_some() { Ok(()) } else { self.add_dimension(name, unlimited) }
    }

    /// The grid of a field that was made from GRIB, if metadata name no dimensions.
    #[cfg(feature = "grib")]
    fn own_dimensions(
        &mut self,
        tree: &mut Tree<Self>,
        given: &Given<'_>,
        index: usize,
        notes: &mut Notes<'_>,
    ) -> Result<crate::tree::OwnDimensions> {
        // Metadata is walked from its start for each object, so objects of other formats are found before.
        let is_from_grib = given.global.extra.contains_key(GRIB);
        let entry = given.entry(index).filter(|entry| is_from_grib || entry.contains_key(GRIB));
        if entry.is_none_or(|entry| entry.contains_key(DIMENSIONS)) {
            return Ok(crate::tree::OwnDimensions::default());
        }
        let shape = given.shape(index);
        let found = places(&given.message.metadata()?, index, &shape, &given.decode.limits).unwrap_or_else(|error| {
            notes.not_kept(format!("where its points are: {error}"));
            None
        });
        let Some(found) = found.filter(|_| matches!(shape.len(), 1 | 2)) else {
            return Ok(crate::tree::OwnDimensions::default());
        };
        let place = (&mut self.file, &mut tree.names, &mut tree.dimensions);
        self.grids.take(&shape, found, place).map_err(at(&self.path))
    }

    fn values<'m>(
        &self,
        given: &Given<'m>,
        (array, index): (&mut Array<Self>, usize),
        _: &mut Notes<'_>,
    ) -> Result<Values<'m>> {
        let of = |object: &DataObject<'_>, packs| values::of_object(given, (object, array.first), packs);
        // What one piece needs to be packed, another may lack. What cannot be read is reported when its turn comes.
        let fits = |object| of(object, true).map_or(true, |values| values.is_packed_as_told);
        let packs = array.packs;
        let packs = packs.unwrap_or_else(|| given.piece(index).is_none() || given.objects_of(array.first).all(fits));
        let object = given.objects.get(index).ok_or_else(|| refused(&self.path, "an object is not there"))?;
        let values = of(object, packs);
        array.packs = Some(packs);
        values
    }

    fn form<'v>(values: &'v Values<'_>) -> (Dtype, &'v [u64]) {
        (values.dtype, &values.shape)
    }

    fn define(&mut self, made: &Made<'_>, of: OfObject<'_, '_, Self>, notes: &mut Notes<'_>) -> Result<String> {
        let path = self.path.clone();
        let (kind, mut variable) = self.add_variable(made, of.values.dtype, made.chunk, true)?;
        attributes::put(&mut variable, (of.given.global, of.first), (of.values, kind), notes);
        if !of.values.is_packed_as_told {
            notes.not_kept("its packing: the values are stored");
        }
        if let Some(variables) = of.coordinates {
            // An attribute of the object stays.
            if variable.attribute("coordinates").is_some() {
                notes.not_kept(format!("attribute coordinates {variables:?}: there is one of this name already"));
            } else {
                variable.put_attribute("coordinates", variables).map_err(at(&path))?;
            }
        }
        Ok(made.path.to_string())
    }

    /// Takes values for a variable. They wait for others: each time that values follow the definition of a variable, the
    /// library writes the definitions of all variables.
    fn put(&mut self, path: &mut String, BoxOf { origin, shape }: BoxOf<'_>, values: Values<'_>) -> Result<()> {
        let Values { dtype, bytes, .. } = values;
        if bytes.is_empty() {
            return Ok(());
        }
        self.waiting_bytes += bytes.len();
        self.waiting.push(Waiting { path: path.clone(), dtype, bytes, extents: extents(origin, shape) });
        if self.waiting_bytes < TOGETHER { Ok(()) } else { self.put_waiting() }
    }

    fn define_field(&mut self, made: &Made<'_>, of: OfField<'_>, notes: &mut Notes<'_>) -> Result<String> {
        let is_large = made.chunk.is_some() || made.shape.iter().product::<u64>() >= MANY;
        let path = self.path.clone();
        let (_, mut variable) = self.add_variable(made, of.dtype, made.chunk, is_large)?;
        let fill = match of.dtype {
            Dtype::Float32 => AttributeValue::Float(f32::NAN),
            _ => AttributeValue::Double(f64::NAN),
        };
        if of.has_nan {
            variable.put_attribute(FILL, fill).map_err(at(&path))?;
        }
        if of.is_bool {
            variable.put_attribute("dtype", "bool").map_err(at(&path))?;
        }
        for (key, value) in of.attributes {
            let Some(name) = key.as_text().filter(|name| *name != FILL) else { continue };
            attributes::put_one(&mut variable, (name, &name), attribute(value, None), notes);
        }
        Ok(made.path.to_string())
    }

    fn put_boxes(&mut self, path: &String, dtype: Dtype, boxes: &[Boxed], _: Threads) -> Result<()> {
        let place = self.path.clone();
        let mut variable = self.variable(path)?;
        for Boxed { origin, shape, bytes } in boxes.iter().filter(|found| !found.bytes.is_empty()) {
            put(dtype, bytes, &mut variable, extents(origin, shape)).map_err(at(&place))?;
        }
        Ok(())
    }

    /// Makes a variable of texts, or of characters if the file had these.
    fn define_texts(
        &mut self,
        tree: &mut Tree<Self>,
        &Made { path, dims, .. }: &Made<'_>,
        texts: &Texts<'_>,
        notes: &mut Notes<'_>,
    ) -> Result<String> {
        let mut names: Vec<String> = dims.to_vec();
        let characters = texts.characters.filter(|_| texts.bytes().is_some());
        if texts.characters.is_some() && characters.is_none() {
            notes.not_kept(format!("{path} as characters: a text is longer than their dimension"));
        }
        if let Some((of, len)) = characters.and_then(|characters| characters.length) {
            let name = of.map_or_else(|| format!("string{len}"), |of| leaf(of).to_string());
            let axis = Axis { name, place: of.map(group_of).map(str::to_string), len, ..Axis::default() };
            names.push(tree.dimension(self, (group_of(path), None), &axis, notes)?);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let file = self.path.clone();
        if characters.is_some() {
            let added = self.file.add_variable_with_type(path, &names, &NcVariableType::Char);
            let all = texts.attributes_of_characters();
            texts::put_attributes(&mut added.map_err(at(&file))?, all, path, notes);
        } else {
            let mut added = self.file.add_string_variable(path, &names).map_err(at(&file))?;
            texts::put_attributes(&mut added, texts.attributes(), path, notes);
        }
        Ok(path.to_string())
    }

    fn put_texts(&mut self, path: &String, texts: &Texts<'_>, notes: &mut Notes<'_>) -> Result<()> {
        let file = self.path.clone();
        let mut variable = self.variable(path)?;
        if variable.vartype() != NcVariableType::Char {
            return texts::put_texts(&mut variable, texts, notes).map_err(at(&file));
        }
        let bytes: Vec<Character> = texts.bytes().unwrap_or_default().into_iter().map(Character).collect();
        if bytes.is_empty() {
            return Ok(());
        }
        // Records are there once they are written, so their number is said.
        let length = texts.characters.and_then(|characters| characters.length).map(|(_, len)| len);
        let lens: Vec<u64> = texts.shape.iter().copied().chain(length).collect();
        variable.put_values(&bytes, extents(&vec![0; lens.len()], &lens)).map_err(at(&file))
    }
}

impl Nc {
    /// A variable that is there.
    fn variable(&mut self, path: &str) -> Result<VariableMut<'_>> {
        let place = self.path.clone();
        self.file.variable_mut(path).ok_or_else(|| refused(&place, &format!("{path} is not there")))
    }

    /// Adds a variable without values and attributes. Returns the name of its type too. One without dimensions has neither chunks
    /// nor compression.
    fn add_variable(
        &mut self,
        Made { path, dims, .. }: &Made<'_>,
        dtype: Dtype,
        chunk: Option<&[u64]>,
        is_compressed: bool,
    ) -> Result<(&'static str, VariableMut<'_>)> {
        let failed = || at(&self.path);
        let dims: Vec<&str> = dims.iter().map(String::as_str).collect();
        let found = types::of_file(dtype);
        let (name, kind) = found.ok_or_else(|| refused(&self.path, &format!("{dtype} has no type")))?;
        complex::define(&mut self.file, &kind).map_err(failed())?;
        let mut variable = self.file.add_variable_with_type(path, &dims, &kind).map_err(failed())?;
        if let Some(chunk) = chunk.filter(|_| !dims.is_empty()) {
            let chunk = chunk.iter().map(|len| usize::try_from(*len)).collect::<Result<Vec<_>, _>>();
            variable.set_chunking(&chunk.map_err(at(&self.path))?).map_err(failed())?;
        }
        if let Some(level) = self.options.deflate_level.filter(|_| is_compressed && !dims.is_empty()) {
            variable.set_compression(level.into(), true).map_err(failed())?;
        }
        Ok((name, variable))
    }

    /// Writes the values that wait.
    fn put_waiting(&mut self) -> Result<()> {
        self.waiting_bytes = 0;
        let place = self.path.clone();
        for Waiting { path, dtype, bytes, extents } in std::mem::take(&mut self.waiting) {
            put(dtype, &bytes, &mut self.variable(&path)?, extents).map_err(at(&place))?;
        }
        Ok(())
    }
}

/// Makes an error of what the libraries say of the file.
fn at<E: std::error::Error + Send + Sync + 'static>(path: &Path) -> impl FnOnce(E) -> TensogramError {
    move |error| failed(SourceName::of(path), error)
}

/// Where a box of a variable is.
fn extents(origin: &[u64], shape: &[u64]) -> Vec<Extent> {
    // What is larger than addresses is larger than the values in memory.
    let index = |value: &u64| usize::try_from(*value).unwrap_or(usize::MAX);
    let extent = |(start, count)| Extent::SliceCount { start: index(start), count: index(count), stride: 1 };
    origin.iter().zip(shape).map(extent).collect()
}
