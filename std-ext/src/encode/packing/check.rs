//! What packing requires of types, parameters and values, and the texts of its errors.

use tgm_core::descriptor::{Dtype, Encoding};
use tgm_core::packing::Packing;

use crate::base::error::{Result, TensogramError};
use crate::base::hint::Hint;
use crate::model::params::metadata;
use crate::model::types::DataObjectDescriptor;

/// The widest field, in bits.
pub(super) const MAX_BITS: u32 = 64;
/// The greatest binary scale that is written, of either sign. Values that need a greater one, because they are very far
/// apart or very close, are most likely wrong.
pub(super) const MAX_BINARY_SCALE: u32 = 256;

/// Checks that packed values are float64. Readers refuse `simple_packing` of every other type.
///
/// Every new object passes here before it becomes a frame, whether its bytes are encoded here or come encoded.
///
/// # Errors
/// [`TensogramError::Encoding`] naming the type.
pub(crate) fn check_dtype(descriptor: &DataObjectDescriptor) -> Result<()> {
    let dtype = descriptor.dtype;
    if dtype == Dtype::Float64 || Encoding::from_name(&descriptor.encoding) != Some(Encoding::SimplePacking) {
        return Ok(());
    }
    Err(TensogramError::encoding(format!("simple_packing only supports float64, got {dtype}")))
}

/// Checks the width of fields.
///
/// # Errors
/// [`TensogramError::Encoding`] for more than 64 bits.
pub(super) fn bits(bits: u32) -> Result<()> {
    if bits <= MAX_BITS {
        return Ok(());
    }
    Err(TensogramError::encoding(format!("bits_per_value {bits} exceeds {MAX_BITS}")))
}

/// Checks the reference value.
///
/// # Errors
/// [`TensogramError::Metadata`] for NaN and infinities.
pub(super) fn reference(value: f64) -> Result<()> {
    if value.is_finite() {
        return Ok(());
    }
    Err(metadata(format!("sp_reference_value must be finite, got {value}")))
}

/// Checks all parameters, before values are packed with them.
///
/// # Errors
/// The errors of [`bits`] and [`reference`]; [`TensogramError::Encoding`] for a binary scale beyond ±256.
pub(super) fn parameters(packing: &Packing) -> Result<()> {
    bits(packing.bits_per_value)?;
    reference(packing.reference_value)?;
    let scale = packing.binary_scale_factor;
    if scale.unsigned_abs() <= MAX_BINARY_SCALE {
        return Ok(());
    }
    Err(TensogramError::encoding(format!(
        "invalid binary_scale_factor: value {scale} outside the reasonable range ±{MAX_BINARY_SCALE}: values this far \
         apart, or this close, cannot be packed"
    )))
}

/// The error that names the first value that is not finite. `None` if all values are finite.
pub(crate) fn first_non_finite(values: impl IntoIterator<Item = f64>) -> Option<TensogramError> {
    let (index, value) = values.into_iter().enumerate().find(|(_, value)| !value.is_finite())?;
    let kind = if value.is_nan() { "NaN" } else { "infinite" };
    Some(TensogramError::encoding(format!("{kind} value encountered at index {index}: {}", Hint::PackFinite)))
}
