//! `simple_packing` by itself, without descriptors and messages, under the names of the crate `tensogram-encodings`.
//!
//! The arithmetic is that of [`encode()`](crate::encode()) and [`decode()`](crate::decode()), to the bit (PIPELINE §3).

use tgm_codec::kernels::packing::unpack_into;
use tgm_codec::memory;
use tgm_core::descriptor::ByteOrder;
pub use tgm_core::packing::Packing as SimplePackingParams;
use zerocopy::IntoBytes as _;

use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve;
use crate::encode::packing::{Packer, Values, derive, derive_within, first_non_finite};

/// The parameters with which fields of `bits_per_value` bits hold all `values`.
///
/// The reference is the least value. The binary scale is the smallest with which the greatest value still fits.
/// `decimal_scale_factor` D scales values by 10^D first; 0 is usual. Reads all values once; with 0 bits it reads none.
///
/// # Errors
/// [`TensogramError::Encoding`] for more than 64 bits, and for the first value that is not finite, with its index.
///
/// Format: PIPELINE §3.2.
///
/// ```
/// use tgm_std::simple_packing::{SimplePackingParams, compute_params, decode, encode};
///
/// let values = [250.0, 251.3, 252.7];
/// let params = compute_params(&values, 16, 0)?;
/// let expected = SimplePackingParams {
///     reference_value: 250.0,
///     binary_scale_factor: -14,
///     decimal_scale_factor: 0,
///     bits_per_value: 16,
/// };
/// assert_eq!(params, expected);
/// let packed = encode(&values, &params)?;
/// assert_eq!(packed, [0x00, 0x00, 0x53, 0x33, 0xac, 0xcd]);
/// assert!((decode(&packed, 3, &params)?[1] - 251.3).abs() < 1e-4);
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn compute_params(values: &[f64], bits_per_value: u32, decimal_scale_factor: i32) -> Result<SimplePackingParams> {
    derive(Values::new(values.as_bytes(), ByteOrder::NATIVE), bits_per_value, decimal_scale_factor)
}

/// The parameters of the fewest bits with which every value stays within `error` of itself.
///
/// # Errors
/// [`TensogramError::Encoding`] for values that are not finite, for an `error` that is not positive, and if 64 bits are too few.
///
/// ```
/// let params = tgm_std::simple_packing::params_within(&[250.0, 251.3, 252.7], 0.01)?;
/// assert_eq!((params.bits_per_value, params.binary_scale_factor), (8, -6));
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn params_within(values: &[f64], error: f64) -> Result<SimplePackingParams> {
    derive_within(Values::new(values.as_bytes(), ByteOrder::NATIVE), error)
}

/// Packs `values` into fields of `params.bits_per_value` bits.
///
/// The first value takes the highest bits of the first byte. The last byte is filled up with zeros. A value out of the
/// fields' range becomes the nearest one that fits.
///
/// # Errors
/// [`TensogramError::Encoding`] for parameters out of range, and for the first value that is not finite, with its
/// index.
///
/// Format: PIPELINE §3.3.
pub fn encode(values: &[f64], params: &SimplePackingParams) -> Result<Vec<u8>> {
    if let Some(error) = first_non_finite(values.iter().copied()) {
        return Err(error);
    }
    let packer = Packer::new(params)?;
    let mut out = reserve(packer.packed_len(values.len()))?;
    packer.pack_into(Values::new(values.as_bytes(), ByteOrder::NATIVE), &mut out);
    Ok(out)
}

/// Unpacks the first `num_values` values of `packed`.
///
/// # Errors
/// [`TensogramError::Encoding`] if `packed` holds fewer values, for more than 64 bits, and without memory. Fields of 0
/// bits take no bytes, so any number of values may be asked for.
///
/// Format: PIPELINE §3.4.
pub fn decode(packed: &[u8], num_values: usize, params: &SimplePackingParams) -> Result<Vec<f64>> {
    let needed = params.packed_len(num_values as u64);
    if needed.is_none_or(|needed| needed > packed.len() as u64) {
        let (bits, len) = (params.bits_per_value, packed.len());
        return Err(TensogramError::encoding(format!("{num_values} values of {bits} bits are not in {len} bytes")));
    }
    let mut values = memory::zeros(num_values)?;
    unpack_into(packed, params, 0, &mut values)?;
    Ok(values)
}
