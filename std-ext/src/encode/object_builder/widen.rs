//! Narrow floats as `float64`, which `simple_packing` packs.

use half::{bf16, f16};
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_core::tensor::{Element, Elements};

/// Elements of `dtype` in `order` as `f64` in the same order. `None` for `float64`, for types other than floats, and for
/// bytes that are not whole elements, which encoding reports.
pub(super) fn to_f64(dtype: Dtype, order: ByteOrder, data: &[u8]) -> Option<Vec<u8>> {
    match dtype {
        Dtype::Float16 => each::<f16>(data, order),
        Dtype::Bfloat16 => each::<bf16>(data, order),
        Dtype::Float32 => each::<f32>(data, order),
        _ => None,
    }
}

fn each<T: Element + Into<f64>>(data: &[u8], order: ByteOrder) -> Option<Vec<u8>> {
    let values = Elements::<T>::new(data, order).ok()?;
    let mut widened = vec![0; values.len() * size_of::<f64>()];
    for (place, value) in widened.as_chunks_mut().0.iter_mut().zip(values.iter()) {
        let value: f64 = value.into();
        *place = match order {
            ByteOrder::Big => value.to_be_bytes(),
            ByteOrder::Little => value.to_le_bytes(),
        };
    }
    Some(widened)
}
