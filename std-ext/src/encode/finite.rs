//! NaN and infinities: refused, or recorded in masks (PIPELINE §6.1, §6.2). The kernels find them.

use tgm_codec::kernels::finite::{self, Component, NotAllowed, PackedMasks, all_finite};
use tgm_codec::threads::Threads;
use tgm_core::descriptor::{ByteOrder, Dtype, MaskKind};
use tgm_core::mask::pattern;

use crate::base::error::{Result, TensogramError};
use crate::base::hint::Hint;
use crate::base::options::EncodeOptions;

/// Finds NaN and infinities in `data`, which are whole elements of `dtype` in `order`. Integer types are not scanned. There are
/// no masks for complex elements that these would change, if the options say so.
///
/// # Errors
/// [`TensogramError::Encoding`] naming the first element that the options do not allow.
pub(crate) fn find(
    data: &[u8],
    dtype: Dtype,
    order: ByteOrder,
    options: &EncodeOptions,
    threads: Threads,
) -> Result<PackedMasks> {
    let allowed = |kind| match kind {
        MaskKind::Nan => options.allow_nan,
        MaskKind::PosInf | MaskKind::NegInf => options.allow_inf,
    };
    let masks = finite::find(data, dtype, order, threads, allowed).map_err(|found| not_allowed(found, dtype))?;
    let is_complex = matches!(dtype, Dtype::Complex64 | Dtype::Complex128);
    if options.complex_as_they_are && is_complex && !masks.is_empty() && !is_restored(data, dtype, order) {
        return Ok(PackedMasks::new());
    }
    Ok(masks)
}

/// Whether masks give complex elements back as they are: both parts of each one that is not finite have the bits that a mask
/// stands for.
fn is_restored(data: &[u8], dtype: Dtype, order: ByteOrder) -> bool {
    let part_width = dtype.swap_unit_size();
    let is_canonical = |part: &[u8]| {
        let bits = |all: u64, byte: &u8| all << 8 | u64::from(*byte);
        let bits = match order {
            ByteOrder::Big => part.iter().fold(0, bits),
            ByteOrder::Little => part.iter().rev().fold(0, bits),
        };
        MaskKind::ALL.into_iter().any(|kind| pattern(kind, dtype) == Some(bits))
    };
    data.chunks_exact(2 * part_width).all(|element| {
        let (real, imaginary) = element.split_at(part_width);
        all_finite(element, dtype, order) || (real == imaginary && is_canonical(real))
    })
}

/// The error for an element that is not allowed.
fn not_allowed(found: NotAllowed, dtype: Dtype) -> TensogramError {
    let NotAllowed { index, kind, component } = found;
    let component = match component {
        None => "",
        Some(Component::Real) => " (real component)",
        Some(Component::Imaginary) => " (imaginary component)",
    };
    let (check, what, hint) = match kind {
        MaskKind::Nan => ("NaN", "NaN", Hint::AllowNan),
        MaskKind::PosInf => ("Inf", "+Inf", Hint::AllowInf),
        MaskKind::NegInf => ("Inf", "-Inf", Hint::AllowInf),
    };
    TensogramError::encoding(format!(
        "strict-{check} check: {what} at element {index} of {dtype} array{component}; {hint}"
    ))
}

#[cfg(test)]
mod tests {
    use zerocopy::IntoBytes as _;

    use super::*;
    use crate::{DataObjectDescriptor, DecodeOptions, GlobalMetadata, decode, encode};

    /// Each kind of element comes back with its bits, in either order. Masks are kept where they do that.
    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "parts of the narrow type")]
    fn complex_elements_keep_their_bits_on_demand() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let odd = f64::from_bits(0xfff8_0000_0000_0001);
        let elements = [
            ([1.0, inf], false),
            ([nan, 2.0], false),
            ([nan, inf], false),
            ([inf, -inf], false),
            ([odd, odd], false),
            ([-0.0, 1.0], false),
            ([nan, nan], true),
            ([-inf, -inf], true),
        ];
        let options =
            EncodeOptions { allow_nan: true, allow_inf: true, complex_as_they_are: true, ..EncodeOptions::default() };
        for (parts, has_masks) in elements {
            let wide = [[1.0, 2.0], parts].concat();
            let narrow: Vec<f32> = wide.iter().map(|part| *part as f32).collect();
            for order in [ByteOrder::Little, ByteOrder::Big] {
                let in_order = |bytes: &[u8], width: usize| -> Vec<u8> {
                    let turn = |part: &[u8]| part.iter().rev().copied().collect::<Vec<u8>>();
                    if order == ByteOrder::NATIVE {
                        bytes.to_vec()
                    } else {
                        bytes.chunks(width).flat_map(turn).collect()
                    }
                };
                for (dtype, bytes) in [
                    (Dtype::Complex128, in_order(wide.as_bytes(), 8)),
                    (Dtype::Complex64, in_order(narrow.as_bytes(), 4)),
                ] {
                    let descriptor = DataObjectDescriptor::new(dtype, order, &[2]);
                    let message = encode(&GlobalMetadata::default(), &[(&descriptor, &bytes)], &options).unwrap();
                    let as_stored = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
                    let (_, found) = decode(&message, &as_stored).unwrap();
                    assert_eq!(found[0].1, bytes, "{parts:?} {dtype} {order:?}");
                    assert_eq!(found[0].0.masks.is_some(), has_masks, "{parts:?} {dtype}");
                }
            }
        }
    }
}
