//! Elements in the byte order of the machine as numbers of one type.

use tgm_core::descriptor::Dtype;
use tgm_std::Result;
use tgm_std::deps::half::{bf16, f16};

use crate::archive::bad;

/// Elements of any type of real numbers as floats. Truth values are 0 and 1, a byte each.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for complex numbers.
#[expect(clippy::cast_precision_loss, reason = "the nearest float is asked for")]
pub(crate) fn floats(dtype: Dtype, bytes: &[u8]) -> Result<Vec<f64>> {
    Ok(match dtype {
        Dtype::Float16 => each(bytes, |it| f16::from_ne_bytes(it).to_f64()),
        Dtype::Bfloat16 => each(bytes, |it| bf16::from_ne_bytes(it).to_f64()),
        Dtype::Float32 => each(bytes, |it| f64::from(f32::from_ne_bytes(it))),
        Dtype::Float64 => each(bytes, f64::from_ne_bytes),
        Dtype::Uint64 => each(bytes, |it| u64::from_ne_bytes(it) as f64),
        Dtype::Int64 => each(bytes, |it| i64::from_ne_bytes(it) as f64),
        _ => return whole(dtype, bytes).map(|numbers| numbers.into_iter().map(|number| number as f64).collect()),
    })
}

/// Elements of whole numbers.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for other types, and for numbers beyond 63 bits.
pub(crate) fn whole(dtype: Dtype, bytes: &[u8]) -> Result<Vec<i64>> {
    Ok(match dtype {
        Dtype::Int8 => each(bytes, |it| i8::from_ne_bytes(it).into()),
        Dtype::Uint8 | Dtype::Bitmask => each(bytes, |it| u8::from_ne_bytes(it).into()),
        Dtype::Int16 => each(bytes, |it| i16::from_ne_bytes(it).into()),
        Dtype::Uint16 => each(bytes, |it| u16::from_ne_bytes(it).into()),
        Dtype::Int32 => each(bytes, |it| i32::from_ne_bytes(it).into()),
        Dtype::Uint32 => each(bytes, |it| u32::from_ne_bytes(it).into()),
        Dtype::Int64 => each(bytes, i64::from_ne_bytes),
        Dtype::Uint64 => {
            let numbers = each(bytes, |it| i64::try_from(u64::from_ne_bytes(it)).ok());
            numbers.into_iter().collect::<Option<_>>().ok_or_else(|| bad("a number is beyond 63 bits"))?
        }
        _ => return Err(bad(format!("elements of type {} are not real numbers", dtype.name()))),
    })
}

fn each<const W: usize, T>(bytes: &[u8], f: impl Fn([u8; W]) -> T) -> Vec<T> {
    bytes.as_chunks::<W>().0.iter().map(|element| f(*element)).collect()
}
