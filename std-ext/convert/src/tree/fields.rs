//! Datasets of fields as arrays.

use tgm_core::descriptor::Dtype;
use tgm_dataset::Dataset;
use tgm_std::Result;
use tgm_std::codec::threads::Threads;

use super::{Made, OfField, Target, Writer};
use crate::cubes::{self, Boxed, Content, Labels, Plan, Planned, chunk_of, each_batch};
use crate::dimensions::Dimension;
use crate::note::{Note, Notes};
use crate::texts::Texts;

/// Bytes of a box that touches several chunks, at most.
const BOX: u64 = 128 << 20;

impl<T: Target> Writer<T> {
    /// Writes each variable of these datasets as one array, with its coordinates. Values are read and written box by box. What
    /// cannot be written is left out and given to `report`. Fields that are missing are NaN.
    ///
    /// # Errors
    /// The errors of the format.
    pub(crate) fn write_datasets(&mut self, datasets: &[Dataset], report: &mut dyn FnMut(Note)) -> Result<()> {
        let (names, dimensions) = (&mut self.tree.names, &self.tree.dimensions);
        let mut free = |wanted: &str| loop {
            // A path would be a group.
            let name = names.take(&wanted.replace('/', "_"));
            if !dimensions.is_there(&name) {
                return name;
            }
        };
        let mut target = cubes::Target { free: &mut free, dtype: T::dtype, float64: self.target.options().float64 };
        let Plan { dims, coordinates, variables, .. } = Plan::of(datasets, &mut target, report);
        let notes = &mut Notes { place: String::new(), report };
        for (name, len) in &dims {
            self.tree.dimensions.add_own(name, *len);
            self.target.add_dimension(name, Dimension { len: *len, is_unlimited: false, labels: None })?;
        }
        // All definitions come before all values: NetCDF writes the definitions each time that values follow them.
        let labels = coordinates.iter().map(|labels| self.define_labels(labels, &dims, &mut notes.at(&labels.name)));
        let labels = labels.collect::<Result<Vec<_>>>()?;
        let handles = variables.iter().map(|planned| self.define_planned(planned, &mut notes.at(&planned.name)));
        let handles = handles.collect::<Result<Vec<_>>>()?;
        for (Labels { name, content, attributes, .. }, (handle, shape)) in coordinates.into_iter().zip(labels) {
            match content {
                Content::Numbers(dtype, bytes) => {
                    let values = Boxed { origin: vec![0; shape.len()], shape, bytes };
                    self.target.put_boxes(&handle, dtype, &[values], Threads::NONE)?;
                }
                Content::Texts(texts) => {
                    let texts = Texts::of_labels(&texts, &shape, &attributes);
                    self.target.put_texts(&handle, &texts, &mut notes.at(name))?;
                }
            }
        }
        variables.iter().zip(handles).try_for_each(|(planned, handle)| self.put_planned(planned, &handle, notes.report))
    }

    /// Makes the array of a coordinate. Returns its shape too.
    fn define_labels(
        &mut self,
        Labels { name, dims, content, attributes }: &Labels,
        all: &[(String, u64)],
        notes: &mut Notes<'_>,
    ) -> Result<(T::Handle, Vec<u64>)> {
        let len = |dim: &String| all.iter().find(|(name, _)| name == dim).map_or(1, |(_, len)| *len);
        let shape: Vec<u64> = dims.iter().map(len).collect();
        let made = Made { path: name, dims, shape: &shape, chunk: None };
        let handle = match content {
            Content::Texts(texts) => {
                let texts = Texts::of_labels(texts, &shape, attributes);
                self.target.define_texts(&mut self.tree, &made, &texts, notes)?
            }
            Content::Numbers(dtype, bytes) => {
                let mut values = bytes.as_chunks().0.iter();
                let has_nan = *dtype == Dtype::Float64 && values.any(|value| f64::from_ne_bytes(*value).is_nan());
                let of = OfField { dtype: *dtype, attributes, is_bool: false, has_nan };
                self.target.define_field(&made, of, notes)?
            }
        };
        Ok((handle, shape))
    }

    /// The chunks of a variable, without the dimensions that only the file has, and whether they are its objects.
    fn chunk(&self, planned: &Planned<'_>) -> (Vec<u64>, bool) {
        let usual = chunk_of(planned.variable, width(planned.dtype));
        let chunk = self.target.chunk_of_field(&planned.variable.shape, &usual);
        let is_usual = chunk == usual;
        (chunk, is_usual)
    }

    fn define_planned(&mut self, planned: &Planned<'_>, notes: &mut Notes<'_>) -> Result<T::Handle> {
        let Planned { variable, name, dims, dtype, attributes, .. } = planned;
        let is_bool = variable.dtype() == Some(Dtype::Bitmask);
        let has_nan = matches!(dtype, Dtype::Float32 | Dtype::Float64);
        let (shape, chunk) = (in_file(planned, &variable.shape, 1), in_file(planned, &self.chunk(planned).0, 1));
        let made = Made { path: name, dims, shape: &shape, chunk: Some(&chunk) };
        self.target.define_field(&made, OfField { dtype: *dtype, attributes, is_bool, has_nan }, notes)
    }

    fn put_planned(&mut self, planned: &Planned<'_>, handle: &T::Handle, report: &mut dyn FnMut(Note)) -> Result<()> {
        let (chunk, is_usual) = self.chunk(planned);
        let lens = if is_usual { chunk } else { box_of(planned, &chunk) };
        let decode = self.target.options().decode.clone();
        // Boxes that share a chunk are written one after the other.
        let threads = Threads::resolve(if is_usual { decode.threads } else { 1 }, u64::MAX, Some(0))?;
        let put = &mut |mut boxes: Vec<Boxed>| {
            for it in &mut boxes {
                it.origin = in_file(planned, &it.origin, 0);
                it.shape = in_file(planned, &it.shape, 1);
            }
            self.target.put_boxes(handle, planned.dtype, &boxes, threads)
        };
        each_batch(planned, &lens, &decode, report, put)
    }
}

/// What a variable has for each of its dimensions, after the same number for each dimension that it has in the file alone.
fn in_file(planned: &Planned<'_>, of_variable: &[u64], first: u64) -> Vec<u64> {
    let more = planned.dims.len().saturating_sub(of_variable.len());
    std::iter::repeat_n(first, more).chain(of_variable.iter().copied()).collect()
}

/// Bytes of an element in memory.
fn width(dtype: Dtype) -> u64 {
    dtype.byte_width().max(1) as u64
}

/// Boxes that hold whole chunks, where they are not too large, and otherwise an object each.
fn box_of(planned: &Planned<'_>, chunk: &[u64]) -> Vec<u64> {
    let (shape, leading) = (&planned.variable.shape, planned.variable.leading());
    let inner = || shape.iter().skip(leading).copied();
    let whole: Vec<u64> = chunk.iter().take(leading).copied().chain(inner()).collect();
    let bytes = whole.iter().fold(width(planned.dtype), |bytes, len| bytes.saturating_mul(*len));
    if bytes <= BOX { whole } else { std::iter::repeat_n(1, leading).chain(inner()).collect() }
}
