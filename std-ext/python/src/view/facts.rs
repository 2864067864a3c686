//! What an object is, by its descriptor.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tgm_std::core::descriptor::{ByteOrder, Compression, Descriptor, Encoding, Filter};
use tgm_std::core::object::DataObject;
use tgm_std::{Dtype, Result};

/// Bytes of values that are worth a request of their own.
const CHUNK: u64 = 4 << 20;

/// What the descriptor says.
pub(super) struct Facts {
    /// The type of the values. Packed values are float64.
    pub(super) dtype: Dtype,
    pub(super) shape: Vec<u64>,
    pub(super) element_count: u64,
    /// The number of bytes of the payload.
    pub(super) payload_len: usize,
    /// The number of bytes of the values.
    pub(super) decoded_len: u64,
    /// Where the values lie in the memory, if no stage stands between the payload and them. Where the memory has an
    /// outline, that is where they would lie.
    pub(super) stored: Option<usize>,
    /// Whether stored values are in the order of other machines.
    pub(super) is_swapped: bool,
    /// The names of the stages between the values and the payload, in this order.
    pub(super) stages: Vec<String>,
    /// The fewest elements that are worth reading by themselves. `None` if a part costs as much as the whole.
    grain: Option<u64>,
}

impl Facts {
    /// The facts about an object of a message that begins at byte `message_start` of its memory.
    pub(super) fn read(object: &DataObject<'_>, message_start: usize) -> Result<Self> {
        let descriptor = object.descriptor();
        let dtype = match descriptor.encoding().known() {
            Some(Encoding::SimplePacking) => Dtype::Float64,
            _ => descriptor.dtype(),
        };
        let decoded_len = dtype.byte_len(descriptor.element_count());
        // The view checks that no stage stands between, and that the payload is as long as the shape says.
        let offset = object.view_any().ok().and_then(|_| usize::try_from(object.region_offset()).ok());
        let stages =
            [descriptor.encoding().to_string(), descriptor.filter().to_string(), descriptor.compression().to_string()];
        Ok(Self {
            dtype,
            shape: descriptor.shape().into_iter().collect(),
            element_count: descriptor.element_count(),
            payload_len: object.payload().len(),
            decoded_len: decoded_len.map_or_else(|| descriptor.decoded_len(), Ok)?,
            stored: offset.and_then(|offset| message_start.checked_add(offset)),
            is_swapped: descriptor.byte_order() != ByteOrder::NATIVE && dtype.byte_width() > 1,
            stages: stages.into_iter().filter(|stage| stage != "none").collect(),
            grain: grain(descriptor),
        })
    }

    /// The dtype and shape of an array over the values as they lie in the message. Bits are flat, as their bytes are.
    pub(super) fn stored_form(&self) -> (Dtype, Vec<u64>) {
        match self.dtype {
            Dtype::Bitmask => (Dtype::Uint8, vec![self.decoded_len]),
            dtype => (dtype, self.shape.clone()),
        }
    }

    /// The shape as a tuple of Python.
    pub(super) fn shape_tuple<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// The shape of boxes that cost about as much to read as they hold. It is the whole shape where a part costs as much
    /// as the whole, and for few values.
    pub(super) fn chunks(&self) -> Vec<u64> {
        let width = self.decoded_len.checked_div(self.element_count).unwrap_or(1).max(1);
        let Some(grain) = self.grain.filter(|_| self.decoded_len > CHUNK) else { return self.shape.clone() };
        let wanted = (CHUNK / width).max(grain).max(1);
        let mut chunks = self.shape.clone();
        // From the slowest dimension on: what lies together stays together.
        for (axis, &dim) in self.shape.iter().enumerate() {
            let inner: u64 = self.shape.iter().skip(axis.saturating_add(1)).product();
            let here = wanted.checked_div(inner).unwrap_or(dim).clamp(1, dim.max(1));
            if let Some(chunk) = chunks.get_mut(axis) {
                *chunk = here;
            }
            // One index of this dimension holds more than is wanted: the next one is cut too.
            if inner <= wanted {
                break;
            }
        }
        chunks
    }
}

/// The fewest elements that are worth reading by themselves.
fn grain(descriptor: &Descriptor<'_>) -> Option<u64> {
    if descriptor.filter().known() != Some(Filter::None) {
        return None;
    }
    match descriptor.compression().known()? {
        Compression::None | Compression::Blosc2 => Some(1),
        known => tgm_std::codec::find(known)?.divisible()?.grain(descriptor),
    }
}
