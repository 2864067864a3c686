//! References of kerchunk: the objects of a dataset as chunks of Zarr 2 that lie in files, without a copy.

mod elements;
mod json;

use std::io::{self, Write};
use std::ops::Range;
use std::path::absolute;

use serde_json::{Value as Json, json};
use tgm_core::descriptor::Dtype;
use tgm_std::codec::threads::Threads;
use tgm_std::file::SourceName;
use tgm_std::metadata::json::base64;
use tgm_std::{Archive, DecodeOptions, Result};

use self::elements::{fill_of, filters, letters, typed, width};
pub(crate) use self::json::{NotFinite, is_real, number_of};
use self::json::{fill_of_attribute, take_time};
use crate::archive::bad;
use crate::dataset::Dataset;
use crate::indices::Indices;
use crate::model::{Attribute, Attributes, Content, Coordinate, Values, Variable, product};
use crate::reading::FILL;
use crate::written::Written;
use crate::zarr_form;

/// Bytes of labels that are written down, where their objects are not chunks.
const WRITTEN_DOWN: u64 = 1 << 16;
/// Why an array is not written.
pub(crate) const NOT_A_KEY: &str = "its name cannot be a key of Zarr";

/// References to the objects of a dataset. [`Dataset::references`] makes them.
#[derive(Debug)]
pub struct References {
    /// The attributes of the group: the JSON of `.zattrs`.
    pub attributes: String,
    /// Arrays.
    pub arrays: Vec<Referenced>,
    /// Variables that are not among the arrays, each with the reason.
    pub refused: Vec<(String, String)>,
    /// The addresses of the sources.
    pub addresses: Vec<String>,
}

/// An array whose chunks are known.
#[derive(Debug)]
pub struct Referenced {
    /// Its name.
    pub name: String,
    /// What it is: the JSON of `.zarray`.
    pub description: String,
    /// Its dimensions and attributes: the JSON of `.zattrs`.
    pub attributes: String,
    /// The numbers of chunks along each dimension.
    pub counts: Vec<u64>,
    /// Its chunks by their row-major numbers, in order. A chunk that is missing is a hole.
    pub chunks: Vec<(u64, Chunk)>,
}

/// A chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// Its bytes.
    Here(Vec<u8>),
    /// The number of a source, and the bytes there.
    There(usize, Range<u64>),
}

/// What an array is, without its chunks.
struct Form<'a> {
    shape: &'a [u64],
    chunks: &'a [u64],
    dtype: String,
    filters: Vec<Json>,
    fill: Json,
}

impl Form<'_> {
    fn description(&self) -> String {
        let Self { shape, chunks, dtype, filters, fill } = self;
        // All codecs are filters: VirtualiZarr takes no compressor.
        let filters = if filters.is_empty() { Json::Null } else { filters.clone().into() };
        let chunks: Vec<u64> = chunks.iter().map(|chunk| (*chunk).max(1)).collect();
        let described = json!({
            "zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": dtype, "order": "C", "filters": filters,
            "compressor": null, "fill_value": fill,
        });
        described.to_string()
    }
}

impl Referenced {
    /// The key of a chunk after the name: its index along each dimension, with dots.
    pub fn key(&self, number: u64) -> String {
        let mut rest = number;
        let mut index: Vec<String> = self
            .counts
            .iter()
            .rev()
            .map(|count| {
                let at = rest % (*count).max(1);
                rest /= (*count).max(1);
                at.to_string()
            })
            .collect();
        index.reverse();
        if index.is_empty() { "0".into() } else { index.join(".") }
    }

    /// An array whose only chunk is written down.
    fn here(name: &str, form: &Form<'_>, attributes: String, bytes: Vec<u8>) -> Self {
        let is_empty = form.shape.contains(&0);
        let counts = form.shape.iter().map(|len| (*len).min(1)).collect();
        let chunks = if is_empty { Vec::new() } else { vec![(0, Chunk::Here(bytes))] };
        Self { name: name.into(), description: form.description(), attributes, counts, chunks }
    }
}

impl Dataset {
    /// The lengths of the dimensions of a coordinate.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] if they do not make as many places as it has values.
    pub fn shape_of(&self, coordinate: &Coordinate) -> Result<Vec<u64>> {
        let count = coordinate.values.len() as u64;
        if let [_] = &coordinate.dims[..] {
            return Ok(vec![count]);
        }
        let dims = self.dims();
        let mut unknown = 0;
        let mut shape: Vec<u64> = Vec::new();
        for dim in &coordinate.dims {
            let len = dims.iter().find(|(name, _)| name == dim).map(|(_, len)| *len);
            let own = || self.coordinate(dim).filter(|it| it.dims.len() == 1).map(|it| it.values.len() as u64);
            let len = len.or_else(own);
            unknown += usize::from(len.is_none());
            shape.push(len.unwrap_or(1));
        }
        // A dimension that no variable has, such as that of bounds, takes what the others leave.
        let known = product(&shape).filter(|known| *known > 0);
        if let (1, Some(known)) = (unknown, known) {
            for (dim, len) in coordinate.dims.iter().zip(&mut shape) {
                if self.coordinate(dim).is_none() && !dims.iter().any(|(name, _)| name == dim) {
                    *len = count.checked_div(known).unwrap_or(0);
                }
            }
        }
        if product(&shape) == Some(count) {
            return Ok(shape);
        }
        Err(bad(format!("coordinate {}: it has {count} values, and dimensions of lengths {shape:?}", coordinate.name)))
    }

    /// References to the objects of the dataset. Objects whose bytes are chunks of Zarr as they lie are referenced: plain ones, and
    /// ones that are shuffled, or compressed by zstd or lz4. Coordinates and texts are written down. Other variables are listed
    /// with the reason. Reads the descriptor of each object.
    ///
    /// Addresses are shown without user, password, query and fragment. Paths of this machine are absolute, with `file://`.
    ///
    /// # Errors
    /// The errors of reading; [`tgm_std::TensogramError::Metadata`] for a path that is not UTF-8.
    pub fn references(&self, options: &DecodeOptions) -> Result<References> {
        let sources = self.archive.sources.iter();
        let addresses = sources.map(|source| address_of(source.archive())).collect::<Result<_>>()?;
        let mut found = References {
            attributes: NotFinite::Bare.attributes(&self.attributes, None),
            arrays: Vec::new(),
            refused: Vec::new(),
            addresses,
        };
        for variable in &self.variables {
            match self.referenced(variable, options)? {
                Ok(array) => found.arrays.push(array),
                Err(why) => found.refused.push((variable.name.clone(), why)),
            }
        }
        for coordinate in &self.coordinates {
            if self.variable(&coordinate.name).is_some() {
                continue;
            }
            if is_key(&coordinate.name) {
                found.arrays.push(self.written_down(coordinate)?);
            } else {
                found.refused.push((coordinate.name.clone(), NOT_A_KEY.into()));
            }
        }
        Ok(found)
    }

    /// A variable as an array, or why it is not one.
    fn referenced(
        &self,
        variable: &Variable,
        options: &DecodeOptions,
    ) -> Result<std::result::Result<Referenced, String>> {
        let name = &variable.name;
        if !is_key(name) {
            return Ok(Err(NOT_A_KEY.into()));
        }
        if let Some(texts) = variable.texts() {
            return texts_written_down(name, &variable.shape, texts, &self.attributes_of(variable)).map(Ok);
        }
        let Some(dtype) = variable.dtype() else { return Ok(Err("it has no values".into())) };
        let Some(letters) = letters(dtype) else {
            return Ok(Err(format!("Zarr has no type {}", dtype.name())));
        };
        let why = match self.form_of(variable, dtype, options)? {
            Ok((order, filters)) => match fill_of(variable, dtype) {
                Ok(fill) => return self.lying(variable, (typed(order, letters), filters, fill), options).map(Ok),
                Err(why) => why,
            },
            Err(why) => why,
        };
        let bytes = product(&variable.shape).and_then(|count| count.checked_mul(width(dtype)));
        let is_held = matches!(variable.content, Content::Held(_));
        let Some(bytes) = bytes.filter(|bytes| *bytes <= WRITTEN_DOWN && (variable.shape.len() <= 1 || is_held)) else {
            return Ok(Err(why));
        };
        // Labels of dimensions are few.
        let mut values = tgm_std::internal::reserve(usize::try_from(bytes).unwrap_or(0))?;
        let all: Vec<Indices> = variable.shape.iter().map(|len| Indices::all(*len)).collect();
        if let Err(error) = self.read_into(name, &all, options, &mut values) {
            return Ok(Err(error.to_string()));
        }
        let order = if cfg!(target_endian = "big") { ">" } else { "<" };
        let fill = fill_of_attribute(&variable.attributes, dtype)
            .unwrap_or_else(|| if is_real(dtype) { "NaN".into() } else { Json::Null });
        let shape = &variable.shape;
        let form = Form { shape, chunks: shape, dtype: typed(order, letters), filters: Vec::new(), fill };
        Ok(Ok(Referenced::here(name, &form, self.attributes_of(variable), values)))
    }

    /// The byte order of the objects of a variable, and the filters that decode them; or why they are not chunks.
    fn form_of(
        &self,
        variable: &Variable,
        dtype: Dtype,
        options: &DecodeOptions,
    ) -> Result<std::result::Result<(&'static str, Vec<Json>), String>> {
        let of = |text: &str| Ok(Err(text.to_string()));
        if variable.is_packed() {
            return of("its values are packed, by a scale of the conventions of CF");
        }
        if dtype == Dtype::Bitmask {
            return of("its truth values are bits");
        }
        if variable.seams().is_some() {
            return of("its chunks have other shapes in other files");
        }
        if variable.object_count() == 0 {
            return if variable.shape.contains(&0) { Ok(Ok(("<", Vec::new()))) } else { of("it has no objects") };
        }
        let is_even = |(len, chunk): (&u64, &u64)| len.checked_rem(*chunk).is_none_or(|rest| rest == 0);
        if !variable.shape.iter().zip(&*variable.piece_shape()).all(is_even) {
            return of("its last chunks are shorter than the others");
        }
        let Some(stored) = self.stored(&variable.name, options)? else {
            return of("its objects are stored in different ways");
        };
        Ok(filters(&stored, dtype))
    }

    /// A variable whose objects are chunks.
    fn lying(
        &self,
        variable: &Variable,
        (dtype, filters, fill): (String, Vec<Json>, Json),
        options: &DecodeOptions,
    ) -> Result<Referenced> {
        let name = &variable.name;
        let numbers = if variable.shape.contains(&0) { Vec::new() } else { self.piece_numbers(name)? };
        let threads = Threads::resolve(options.threads, 1, Some(0))?;
        let shares: Vec<&[u64]> = numbers.chunks(256).collect();
        let shares = threads.map(&shares, |share| {
            let place = |number: &u64| {
                let (source, bytes) = self
                    .piece_payload(name, *number)?
                    .ok_or_else(|| bad(format!("{name}: piece {number} is not there")))?;
                Ok((*number, Chunk::There(source, bytes)))
            };
            share.iter().map(place).collect::<Result<Vec<_>>>()
        })?;
        let form = Form { shape: &variable.shape, chunks: &variable.piece_shape(), dtype, filters, fill };
        Ok(Referenced {
            name: name.clone(),
            description: form.description(),
            attributes: self.attributes_of(variable),
            counts: self.piece_counts(name)?,
            chunks: shares.into_iter().flatten().collect(),
        })
    }

    /// The attributes of a variable as JSON, with its dimensions.
    fn attributes_of(&self, variable: &Variable) -> String {
        let mut attributes = self.attributes_beside(variable);
        // Zarr 2 has it as the fill value of an array.
        attributes.retain(|(name, _)| name != FILL);
        NotFinite::Bare.attributes(&attributes, Some(&variable.dims))
    }

    /// The attributes of a variable as Zarr has them, and the coordinates that are not labels of its dimensions.
    pub(crate) fn attributes_beside(&self, variable: &Variable) -> Attributes {
        let mut attributes = variable.attributes.clone();
        attributes.retain(|(name, _)| name != "_Encoding");
        take_time(&mut attributes);
        let is_aside = |it: &&Coordinate| {
            !variable.dims.contains(&it.name) && it.dims.iter().all(|dim| variable.dims.contains(dim))
        };
        let aside: Vec<&str> = self.coordinates.iter().filter(is_aside).map(|it| it.name.as_str()).collect();
        if !aside.is_empty() && !attributes.iter().any(|(name, _)| name == "coordinates") {
            attributes.push(("coordinates".into(), Attribute::Text(aside.join(" "))));
        }
        attributes
    }

    /// A coordinate of fields as an array.
    fn written_down(&self, coordinate: &Coordinate) -> Result<Referenced> {
        let Coordinate { name, dims, values, .. } = coordinate;
        let (written, attributes) = coordinate.written();
        let attributes = NotFinite::Bare.attributes(&attributes, Some(dims));
        let shape = self.shape_of(coordinate)?;
        let form = |letters: &str, fill| Form {
            shape: &shape,
            chunks: &shape,
            dtype: typed("<", letters),
            filters: Vec::new(),
            fill,
        };
        Ok(match written {
            Written::Integers(numbers) => {
                let has_none = matches!(values, Values::Times(_)) && numbers.contains(&i64::MIN);
                let fill = if has_none { i64::MIN.into() } else { Json::Null };
                let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                Referenced::here(name, &form("i8", fill), attributes, bytes)
            }
            Written::Floats(numbers) => {
                let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                Referenced::here(name, &form("f8", "NaN".into()), attributes, bytes)
            }
            Written::Texts(texts) => texts_written_down(name, &shape, &texts, &attributes)?,
        })
    }
}

impl References {
    /// Writes the references as JSON of version 1: `{"version": 1, "refs": {key: text, "base64:…" or [address, offset, length]}}`.
    ///
    /// # Errors
    /// The errors of `sink`.
    pub fn write_json(&self, sink: &mut dyn Write) -> io::Result<()> {
        let quoted = |text: &str| Json::from(text).to_string();
        let addresses: Vec<String> = self.addresses.iter().map(|address| quoted(address)).collect();
        let group = quoted(r#"{"zarr_format":2}"#);
        write!(sink, r#"{{"version":1,"refs":{{".zgroup":{group},".zattrs":{}"#, quoted(&self.attributes))?;
        for array in &self.arrays {
            for (key, text) in [(".zarray", &array.description), (".zattrs", &array.attributes)] {
                write!(sink, ",\n{}:{}", quoted(&format!("{}/{key}", array.name)), quoted(text))?;
            }
            for (number, chunk) in &array.chunks {
                write!(sink, ",\n{}:", quoted(&format!("{}/{}", array.name, array.key(*number))))?;
                match chunk {
                    Chunk::Here(bytes) => write!(sink, "\"base64:{}\"", base64(bytes))?,
                    Chunk::There(source, bytes) => {
                        let address = addresses.get(*source).map_or("null", String::as_str);
                        write!(sink, "[{address},{},{}]", bytes.start, bytes.end - bytes.start)?;
                    }
                }
            }
        }
        sink.write_all(b"}}\n")
    }
}

/// Whether an array can have this name. Then its folder lies below the store, and nowhere else.
pub(crate) fn is_key(name: &str) -> bool {
    !(name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']))
}

/// The address of a source, as readers of references take it: nothing is quoted.
fn address_of(archive: &Archive<'_>) -> Result<String> {
    let place = archive.place();
    let Some(place) = &place else {
        return Err(bad(format!("{}: references lead to files and addresses", archive.name())));
    };
    let name = SourceName::of(place);
    let Ok(path) = name.to_write() else { return Ok(name.to_string()) };
    let path = absolute(path)?;
    let text = path.to_str().ok_or_else(|| bad(format!("{name}: references hold paths that are UTF-8")))?;
    Ok(format!("file://{text}"))
}

/// Texts as an array whose only chunk is written down.
///
/// # Errors
/// As [`joined_texts`].
fn texts_written_down(name: &str, shape: &[u64], texts: &[String], attributes: &str) -> Result<Referenced> {
    let bytes = joined_texts(name, texts)?;
    let filters = vec![json!({"id": zarr_form::TEXTS})];
    let form = Form { shape, chunks: shape, dtype: "|O".into(), filters, fill: "".into() };
    Ok(Referenced::here(name, &form, attributes.into(), bytes))
}

/// Texts as their codec has them.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for lengths beyond 2^32, which the codec cannot write.
pub(crate) fn joined_texts(name: &str, texts: &[String]) -> Result<Vec<u8>> {
    zarr_form::joined(texts).ok_or_else(|| bad(format!("{name}: texts beyond 2^32 cannot be written down")))
}
