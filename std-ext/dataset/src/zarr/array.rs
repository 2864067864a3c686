//! A variable or a coordinate as an array of Zarr.

use std::borrow::Cow;
use std::num::NonZeroU64;

use serde_json::{Value as Json, json};
use tgm_core::descriptor::Dtype;
use tgm_std::metadata::json::base64;
use tgm_std::{DecodeOptions, Result};

use crate::archive::bad;
use crate::dataset::Dataset;
use crate::indices::Indices;
use crate::model::{Attribute, Attributes, Coordinate, Hole, Values, Variable, product, text_attribute};
use crate::read::width;
use crate::reading::FILL;
use crate::references::{NotFinite, is_real, joined_texts, number_of};
use crate::times::{NUMPY_DTYPE, time_of};
use crate::written::Written;
use crate::zarr_form::{self, readable};

/// Bytes of small objects that make a chunk together: of an array of one dimension, and of any other.
const JOINED: (u64, u64) = (1 << 20, 1 << 16);

/// An array.
#[derive(Debug)]
pub(super) struct Array {
    /// Its description, as JSON.
    pub(super) description: String,
    shape: Vec<u64>,
    /// The lengths of a chunk. None is 0.
    chunk: Vec<u64>,
    content: Content,
}

/// Where the values of an array are.
#[derive(Debug)]
enum Content {
    /// Elements of this type in objects. If each chunk is one object, a missing object is a missing chunk.
    Objects { dtype: Dtype, is_each_one: bool },
    /// The only chunk.
    Here(Vec<u8>),
}

/// What an array is, without its values.
struct Form<'a> {
    shape: &'a [u64],
    chunk: &'a [u64],
    dims: &'a [String],
    data_type: &'a str,
    codecs: Json,
    fill: Json,
}

impl Form<'_> {
    fn description(&self, attributes: &Attributes) -> String {
        let Self { shape, chunk, dims, data_type, codecs, fill } = self;
        let (grid, keys) = (zarr_form::regular(chunk), zarr_form::keys());
        // The text of attributes is JSON already.
        format!(
            r#"{{"zarr_format":3,"node_type":"array","shape":{},"data_type":{},"chunk_grid":{grid},"chunk_key_encoding":{keys},"fill_value":{fill},"codecs":{codecs},"dimension_names":{},"attributes":{},"storage_transformers":[]}}"#,
            json!(shape),
            json!(data_type),
            json!(dims),
            NotFinite::Quoted.attributes(attributes, None),
        )
    }
}

impl Array {
    /// The array of a variable, or why there is none.
    pub(super) fn of_variable(dataset: &Dataset, variable: &Variable) -> std::result::Result<Self, String> {
        let mut attributes = dataset.attributes_beside(variable);
        let shape = &variable.shape;
        if let Some(texts) = variable.texts() {
            // xarray opens no store in which texts have a fill value.
            attributes.retain(|(name, _)| name != FILL);
            let texts = joined_texts(&variable.name, texts).map_err(|error| error.to_string())?;
            return Ok(Self::of_texts((shape, &variable.dims), &attributes, texts));
        }
        let dtype = variable.dtype().ok_or("it has no values")?;
        let is_time = text_attribute(&variable.attributes, NUMPY_DTYPE).and_then(time_of).is_some();
        name_fill(&mut attributes, dtype, is_time);
        let is_refused = variable.hole_count() > 0 && variable.hole() == Some(&Hole::Refused);
        let (chunk, is_each_one) = chunk_of(variable, width(dtype) as u64, !is_refused);
        let form = Form {
            shape,
            chunk: &chunk,
            dims: &variable.dims,
            data_type: zarr_form::name(readable(dtype)),
            codecs: plain(dtype),
            fill: fill_of(variable, dtype),
        };
        let description = form.description(&attributes);
        let is_each_one = is_each_one && !is_refused;
        Ok(Self { description, shape: shape.clone(), chunk, content: Content::Objects { dtype, is_each_one } })
    }

    /// The array of a coordinate of fields.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] if its values do not fit its dimensions.
    pub(super) fn of_coordinate(dataset: &Dataset, coordinate: &Coordinate) -> Result<Self> {
        let shape = dataset.shape_of(coordinate)?;
        let (written, mut attributes) = coordinate.written();
        let (dtype, bytes): (_, Vec<u8>) = match written {
            Written::Texts(texts) => {
                let texts = joined_texts(&coordinate.name, &texts)?;
                return Ok(Self::of_texts((&shape, &coordinate.dims), &attributes, texts));
            }
            Written::Integers(numbers) => {
                name_fill(&mut attributes, Dtype::Int64, matches!(coordinate.values, Values::Times(_)));
                (Dtype::Int64, numbers.iter().flat_map(|number| number.to_ne_bytes()).collect())
            }
            Written::Floats(numbers) => {
                (Dtype::Float64, numbers.iter().flat_map(|number| number.to_ne_bytes()).collect())
            }
        };
        let fill = if dtype == Dtype::Float64 { "NaN".into() } else { 0.into() };
        let chunk = whole(&shape);
        let form = Form {
            shape: &shape,
            chunk: &chunk,
            dims: &coordinate.dims,
            data_type: zarr_form::name(readable(dtype)),
            codecs: plain(dtype),
            fill,
        };
        let description = form.description(&attributes);
        Ok(Self { description, shape, chunk, content: Content::Here(bytes) })
    }

    fn of_texts((shape, dims): (&[u64], &[String]), attributes: &Attributes, texts: Vec<u8>) -> Self {
        let chunk = whole(shape);
        let codecs = json!([{"name": zarr_form::TEXTS}]);
        let form = Form { shape, chunk: &chunk, dims, data_type: "string", codecs, fill: "".into() };
        let description = form.description(attributes);
        Self { description, shape: shape.to_vec(), chunk, content: Content::Here(texts) }
    }

    /// The index of a chunk at a key such as `c/0/1`. `None` if there is no such chunk.
    pub(super) fn index(&self, key: &str) -> Option<Vec<u64>> {
        let mut words = key.split('/');
        (words.next() == Some("c")).then_some(())?;
        // A number has one way to be written, so that a chunk has one key.
        let number = |word: &str| word.parse::<u64>().ok().filter(|number| number.to_string() == word);
        let index: Vec<u64> = words.map(number).collect::<Option<_>>()?;
        let counts = self.counts();
        (index.len() == counts.len() && index.iter().zip(&counts).all(|(at, count)| at < count)).then_some(index)
    }

    fn counts(&self) -> Vec<u64> {
        self.shape.iter().zip(&self.chunk).map(|(len, chunk)| len.div_ceil((*chunk).max(1))).collect()
    }

    /// A chunk. `None` if no object is there.
    pub(super) fn chunk(
        &self,
        dataset: &Dataset,
        name: &str,
        index: &[u64],
        options: &DecodeOptions,
    ) -> Result<Option<Cow<'_, [u8]>>> {
        let (dtype, is_each_one) = match &self.content {
            Content::Here(bytes) => return Ok(Some(Cow::Borrowed(bytes))),
            Content::Objects { dtype, is_each_one } => (*dtype, *is_each_one),
        };
        if is_each_one && !dataset.has_piece(name, number_of_chunk(index, &self.counts())?)? {
            return Ok(None);
        }
        let starts = index.iter().zip(&self.chunk).map(|(at, chunk)| at.checked_mul(*chunk));
        let starts = starts.collect::<Option<Vec<u64>>>().ok_or_else(|| bad("a chunk is beyond 2^64"))?;
        let lens = starts.iter().zip(&self.chunk).zip(&self.shape);
        let lens: Vec<u64> = lens.map(|((start, chunk), len)| len.saturating_sub(*start).min(*chunk)).collect();
        let picked = starts.iter().zip(&lens);
        let picked: Vec<Indices> = picked
            .map(|(start, count)| Indices::Range { start: *start, count: *count, step: NonZeroU64::MIN })
            .collect();
        let width = width(dtype);
        let mut values = tgm_std::internal::reserve(bytes_of(name, &lens, width)?)?;
        dataset.read_into(name, &picked, options, &mut values)?;
        let whole_len = bytes_of(name, &self.chunk, width)?;
        let values = if lens == self.chunk { values } else { padded(&values, (&lens, &self.chunk), width, whole_len)? };
        Ok(Some(Cow::Owned(if dtype == Dtype::Bfloat16 { widened(&values) } else { values })))
    }
}

/// The bytes of elements in memory.
fn bytes_of(name: &str, lens: &[u64], width: usize) -> Result<usize> {
    let count = product(lens).and_then(|count| usize::try_from(count).ok()?.checked_mul(width));
    count.ok_or_else(|| bad(format!("{name}: a chunk of {lens:?} values cannot be addressed")))
}

/// The row-major number of a chunk.
fn number_of_chunk(index: &[u64], counts: &[u64]) -> Result<u64> {
    let step = |number: u64, (at, count): (&u64, &u64)| number.checked_mul(*count)?.checked_add(*at);
    index.iter().zip(counts).try_fold(0, step).ok_or_else(|| bad("a variable has more than 2^64 chunks"))
}

/// A box at the start of a whole chunk, whose rest is zero: it lies beyond the array, and no reader looks at it.
fn padded(values: &[u8], (lens, chunk): (&[u64], &[u64]), width: usize, whole_len: usize) -> Result<Vec<u8>> {
    let mut out = tgm_std::internal::reserve(whole_len)?;
    let (last, outer) = lens.split_last().map_or((1, &[][..]), |(last, outer)| (*last, outer));
    let run = usize::try_from(last).ok().and_then(|last| last.checked_mul(width));
    let run = run.ok_or_else(|| bad("a row is too long"))?.max(1);
    let mut index = vec![0_u64; outer.len()];
    for row in values.chunks_exact(run) {
        let whole_row = number_of_chunk(&index, chunk)?.checked_mul(chunk.last().copied().unwrap_or(1));
        let start = whole_row.and_then(|start| usize::try_from(start).ok()?.checked_mul(width));
        let place = start.and_then(|start| out.get_mut(start..start.checked_add(run)?));
        place.ok_or_else(|| bad("a row lies beyond its chunk"))?.copy_from_slice(row);
        for (at, len) in index.iter_mut().zip(lens).rev() {
            *at += 1;
            if *at < *len {
                break;
            }
            *at = 0;
        }
    }
    Ok(out)
}

/// Floats of 16 bits with the exponent of `float32` as `float32`, as Zarr has no name for them.
fn widened(values: &[u8]) -> Vec<u8> {
    let (halves, _) = values.as_chunks::<2>();
    halves.iter().flat_map(|half| (u32::from(u16::from_ne_bytes(*half)) << 16).to_ne_bytes()).collect()
}

/// A chunk that holds a whole array.
fn whole(shape: &[u64]) -> Vec<u64> {
    shape.iter().map(|len| (*len).max(1)).collect()
}

/// The lengths of the chunks of a variable, and whether each is one object: the shape of an object, or of several small ones.
fn chunk_of(variable: &Variable, width: u64, may_join: bool) -> (Vec<u64>, bool) {
    let piece: Vec<u64> = variable.piece_shape().iter().map(|len| (*len).max(1)).collect();
    let mut chunk = piece.clone();
    let most = if variable.shape.len() == 1 { JOINED.0 } else { JOINED.1 };
    for at in (0..chunk.len()).rev().filter(|_| may_join) {
        let bytes = product(&chunk).and_then(|count| count.checked_mul(width));
        let times = bytes.and_then(|bytes| most.checked_div(bytes)).unwrap_or(0);
        let (Some(len), Some(whole)) = (chunk.get_mut(at), variable.shape.get(at)) else { break };
        if times > 1 && *len < *whole {
            *len = len.saturating_mul(times.min(whole.div_ceil(*len)));
        }
        // A dimension before it is joined only where this one is whole.
        if *len < *whole {
            break;
        }
    }
    let is_each_one = chunk == piece && variable.seams().is_none() && variable.object_count() > 0;
    (chunk, is_each_one)
}

/// The codec of elements as they are in memory.
fn plain(dtype: Dtype) -> Json {
    json!([zarr_form::bytes(width(dtype), if cfg!(target_endian = "big") { "big" } else { "little" })])
}

/// What stands where no object is.
fn fill_of(variable: &Variable, dtype: Dtype) -> Json {
    if let Some(Hole::Fill(element)) = variable.hole() {
        let number = number_of(dtype, element);
        if !number.is_null() {
            return number;
        }
    }
    match dtype {
        Dtype::Complex64 | Dtype::Complex128 => json!(["NaN", "NaN"]),
        Dtype::Bitmask => false.into(),
        real if is_real(real) => "NaN".into(),
        _ => 0.into(),
    }
}

/// Writes the fill value among attributes as xarray does for version 3: a float is the base64 of its 64 bits. Times have the least number,
/// which stands for a missing one.
fn name_fill(attributes: &mut Attributes, dtype: Dtype, is_time: bool) {
    if is_time && dtype == Dtype::Int64 {
        attributes.retain(|(name, _)| name != FILL);
        attributes.push((FILL.into(), Attribute::Integer(i64::MIN)));
        return;
    }
    let Some((_, told)) = attributes.iter_mut().find(|(name, _)| name == FILL) else { return };
    #[expect(clippy::cast_precision_loss, reason = "the nearest float is meant")]
    let floats = match told {
        Attribute::Integer(number) => vec![*number as f64],
        Attribute::Integers(numbers) => numbers.iter().map(|number| *number as f64).collect(),
        Attribute::Float(number) => vec![*number],
        Attribute::Floats(numbers) => numbers.clone(),
        _ => return,
    };
    let text = |number: f64| base64(&number.to_le_bytes());
    let first = floats.first().copied().unwrap_or(f64::NAN);
    match (dtype, &*told) {
        (Dtype::Complex64 | Dtype::Complex128, _) => {
            *told = Attribute::Texts(vec![text(first), text(floats.get(1).copied().unwrap_or(0.0))]);
        }
        (real, _) if is_real(real) => *told = Attribute::Text(text(first)),
        (_, Attribute::Integers(numbers)) => *told = Attribute::Integer(numbers.first().copied().unwrap_or(0)),
        _ => {}
    }
}
