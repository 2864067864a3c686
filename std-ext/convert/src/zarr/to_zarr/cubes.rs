//! Datasets of fields as arrays of Zarr.

use serde_json::{Value as Json, json};
use tgm_dataset::Dataset;
use tgm_std::Result;
use tgm_std::codec::threads::Threads;

use super::{Array, Dtype, Element, ZarrWriter, chunk_shape, describe, directory, regular, usual_codecs};
use crate::cubes::{Boxed, Content, Entries, Labels, Plan, Planned, Target, chunk_of, each_batch};
use crate::error::encoding;
use crate::note::Note;
use crate::zarr::attributes::{of_map, teller};

/// The convention that the store follows.
const CONVENTIONS: (&str, &str) = ("Conventions", "CF-1.7");
/// Bytes of a box that touches several chunks, at most.
const BOX: u64 = 128 << 20;

impl ZarrWriter {
    /// Writes each variable of these datasets as one array, with its coordinates. What cannot be written is left out and given
    /// to `report`. Values are read and written box by box; fields that are missing are NaN.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Io`] of the directory.
    pub fn write_datasets(&mut self, datasets: &[Dataset], report: &mut dyn FnMut(Note)) -> Result<()> {
        if self.is_array {
            report(Note::failed("the fields", encoding("the store is the array of the first message")));
            return Ok(());
        }
        let names = &mut self.names;
        let mut free = |wanted: &str| names.take(&wanted.replace('/', "_"));
        let mut target = Target {
            free: &mut free,
            dtype: |dtype| Some(Element { dtype }.readable().dtype),
            float64: self.options.float64,
        };
        let plan = Plan::of(datasets, &mut target, report);
        let root = self.groups.entry(String::new()).or_default();
        root.entry(CONVENTIONS.0).or_insert_with(|| CONVENTIONS.1.into());
        for labels in &plan.coordinates {
            self.put_labels(labels, &plan, report)?;
        }
        plan.variables.iter().try_for_each(|planned| self.put_variable(planned, report))
    }

    fn put_labels(&self, labels: &Labels, plan: &Plan<'_>, report: &mut dyn FnMut(Note)) -> Result<()> {
        let len = |dim: &String| plan.dims.iter().find(|(name, _)| name == dim).map_or(1, |(_, len)| *len);
        let shape: Vec<u64> = labels.dims.iter().map(len).collect();
        let (dtype, bytes) = match &labels.content {
            Content::Numbers(dtype, bytes) => (dtype, bytes),
            Content::Texts(texts) => {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let attributes = of_map(&labels.attributes, Dtype::Uint8, &mut teller(&labels.name, report));
                return self.put_texts(&labels.name, (&shape, &texts), &labels.dims, &attributes);
            }
        };
        let element = Element { dtype: *dtype };
        let described = (element, &shape[..], &chunk_shape(&shape, None)[..]);
        let json = self.description(described, &labels.dims, (&labels.name, &labels.attributes), report);
        let array = Array::parse(&json)?;
        let folder = directory(&self.root, &labels.name);
        describe(&folder, &json)?;
        self.write_box(&folder, &array, (&shape, &vec![0; shape.len()]), bytes)
    }

    fn put_variable(&self, planned: &Planned<'_>, report: &mut dyn FnMut(Note)) -> Result<()> {
        let (shape, element) = (&planned.variable.shape, Element { dtype: planned.dtype });
        let usual = chunk_of(planned.variable, element.size() as u64);
        let chunk = self.options.chunks.as_deref().map_or_else(|| usual.clone(), |own| chunk_shape(shape, Some(own)));
        let described = (element, &shape[..], &chunk[..]);
        let json = self.description(described, &planned.dims, (&planned.name, &planned.attributes), report);
        let array = Array::parse(&json)?;
        let folder = directory(&self.root, &planned.name);
        describe(&folder, &json)?;
        let is_usual = chunk == usual;
        let lens = if is_usual { usual } else { box_of(planned, &chunk, element.size() as u64) };
        // Boxes that share a chunk are written one after the other.
        let asked = if is_usual { self.options.decode.threads } else { 1 };
        let threads = Threads::resolve(asked, u64::MAX, Some(0))?;
        each_batch(planned, &lens, &self.options.decode, report, &mut |boxes| {
            let write = |found: &Boxed| self.write_box(&folder, &array, (&found.shape, &found.origin), &found.bytes);
            threads.map(&boxes, write).map(drop)
        })
    }

    /// The description of an array.
    fn description(
        &self,
        (element, shape, chunk): (Element, &[u64], &[u64]),
        dims: &[String],
        (name, attributes): (&str, &Entries),
        report: &mut dyn FnMut(Note),
    ) -> Json {
        json!({
            "zarr_format": 3,
            "node_type": "array",
            "shape": shape,
            "data_type": element.name(),
            "chunk_grid": regular(chunk),
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": element.usual_fill(true),
            "codecs": usual_codecs(element, self.options.zstd_level),
            "attributes": of_map(attributes, element.dtype, &mut teller(name, report)),
            "dimension_names": dims,
        })
    }
}

/// Boxes that hold whole chunks, where they are not too large, and otherwise an object each.
fn box_of(planned: &Planned<'_>, chunk: &[u64], width: u64) -> Vec<u64> {
    let (shape, leading) = (&planned.variable.shape, planned.variable.leading());
    let inner = || shape.iter().skip(leading).copied();
    let whole: Vec<u64> = chunk.iter().take(leading).copied().chain(inner()).collect();
    let bytes = whole.iter().fold(width, |bytes, len| bytes.saturating_mul(*len));
    if bytes <= BOX { whole } else { std::iter::repeat_n(1, leading).chain(inner()).collect() }
}
