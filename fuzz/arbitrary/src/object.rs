//! Objects that can be encoded.

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Error, Result, Unstructured};
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_core::half::{bf16, f16};
use tgm_std::deps::ciborium::Value;
use tgm_std::{DataObjectDescriptor, ObjectBuilder};

use crate::{Any, Pipeline, any, metadata, once_in, values};

/// An object that can be encoded.
///
/// ```
/// use tgm_arbitrary::arbitrary::{Arbitrary, Unstructured};
/// use tgm_arbitrary::{Object, any};
/// use tgm_std::{EncodeOptions, GlobalMetadata, encode};
///
/// let mut u = Unstructured::new(b"bytes of the fuzzer");
/// let (object, options) = (Object::arbitrary(&mut u)?, any::<EncodeOptions>(&mut u)?);
/// let message = encode(&GlobalMetadata::default(), &[(&object.descriptor, &object.data)], &options)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Object {
    /// What the encoder gets: type, shape, byte order and stages.
    pub descriptor: DataObjectDescriptor,
    /// The values in the descriptor's byte order. Floats may be NaN and infinite.
    pub data: Vec<u8>,
    /// The object's own metadata: its entry of `base`.
    pub metadata: BTreeMap<String, Value>,
    /// The stages that [`Self::descriptor`] names.
    pub pipeline: Pipeline,
}

impl<'a> Arbitrary<'a> for Object {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        // Most stages are for floats of 64 bits.
        let dtype = if u.ratio(2_u8, 5)? { Dtype::Float64 } else { any(u)? };
        let (order, pipeline, shape) = (any(u)?, Pipeline::for_dtype(dtype, u)?, values::shape(u)?);
        let pipeline = if pipeline.needs_elements() && shape.contains(&0) { Pipeline::PLAIN } else { pipeline };
        let mut plain = DataObjectDescriptor::new(dtype, order, &shape);
        if once_in(8, u)? {
            plain.params.insert("note".into(), metadata::value(2, u)?);
        }
        let metadata = metadata::entry(u)?;
        let count = plain.shape.iter().product();
        let data = values::values(dtype, order, count, pipeline, u)?;
        let object = Self::new(plain, data, pipeline).map_err(|_| Error::IncorrectFormat)?;
        Ok(Self { metadata, ..object })
    }
}

/// A descriptor of an object that can be encoded, before it is encoded: without masks and what the encoder adds.
impl<'a> Arbitrary<'a> for Any<DataObjectDescriptor> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(Object::arbitrary(u)?.descriptor))
    }
}

impl Object {
    /// An object of values that a program has: their descriptor, which names no stages yet, and their bytes. Encoding may
    /// refuse the values, unless the pipeline takes any ([`Pipeline::takes_any_values`]).
    ///
    /// # Errors
    /// The errors of [`Pipeline::apply`].
    pub fn new(plain: DataObjectDescriptor, data: Vec<u8>, pipeline: Pipeline) -> tgm_std::Result<Self> {
        let object = pipeline.apply(ObjectBuilder::from_parts(plain, &data[..]))?;
        let descriptor = object.descriptor().clone();
        Ok(Self { descriptor, data, metadata: BTreeMap::new(), pipeline })
    }

    /// Whether a decoded object is this one: with the same type, shape and values, up to what the pipeline may change.
    ///
    /// `values` are decoded in the byte order of `found`. All NaNs count as the same, and all complex numbers that are
    /// not finite: masks do not keep more.
    pub fn is_kept(&self, found: &DataObjectDescriptor, values: &[u8]) -> bool {
        let wanted = &self.descriptor;
        let is_same = (found.dtype, found.byte_order, &found.shape) == (wanted.dtype, wanted.byte_order, &wanted.shape);
        if !is_same || values.len() != self.data.len() {
            return false;
        }
        let (width, bound) = (wanted.dtype.byte_width(), self.pipeline.largest_change(found));
        if !wanted.dtype.is_float() {
            return values == self.data;
        }
        let kept = |(found, put_in): (&[u8], &[u8])| {
            let (found_parts, parts) = (parts(wanted, found), parts(wanted, put_in));
            if parts.iter().all(|part| part.is_finite()) {
                found == put_in || parts.iter().zip(found_parts).all(|(part, found)| is_near(found, *part, bound))
            } else if parts.len() > 1 {
                found_parts.iter().any(|part| !part.is_finite())
            } else {
                parts
                    .iter()
                    .zip(found_parts)
                    .all(|(part, found)| part.total_cmp(&found).is_eq() || part.is_nan() && found.is_nan())
            }
        };
        values.chunks_exact(width).zip(self.data.chunks_exact(width)).all(kept)
    }
}

/// Whether a value is near to what it was. A bound of 0 asks for the same bits, so the answer is no.
fn is_near(found: f64, put_in: f64, bound: Option<f64>) -> bool {
    match bound {
        Some(0.0) => false,
        Some(bound) => (found - put_in).abs() <= bound + put_in.abs() * 1e-14,
        None => found.is_finite(),
    }
}

/// The parts of an element: two of a complex number, one of any other float.
fn parts(descriptor: &DataObjectDescriptor, element: &[u8]) -> Vec<f64> {
    let order = descriptor.byte_order;
    match descriptor.dtype {
        Dtype::Float16 => each(element, |bytes| f16::from_bits(bits_16(order, bytes)).into()),
        Dtype::Bfloat16 => each(element, |bytes| bf16::from_bits(bits_16(order, bytes)).into()),
        Dtype::Float32 | Dtype::Complex64 => each(element, |bytes| match order {
            ByteOrder::Big => f32::from_be_bytes(bytes).into(),
            ByteOrder::Little => f32::from_le_bytes(bytes).into(),
        }),
        _ => each(element, |bytes| match order {
            ByteOrder::Big => f64::from_be_bytes(bytes),
            ByteOrder::Little => f64::from_le_bytes(bytes),
        }),
    }
}

fn each<const N: usize>(element: &[u8], read: impl Fn([u8; N]) -> f64) -> Vec<f64> {
    element.as_chunks().0.iter().map(|bytes| read(*bytes)).collect()
}

const fn bits_16(order: ByteOrder, bytes: [u8; 2]) -> u16 {
    match order {
        ByteOrder::Big => u16::from_be_bytes(bytes),
        ByteOrder::Little => u16::from_le_bytes(bytes),
    }
}
