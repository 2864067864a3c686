//! The parameters of packing in descriptors: read, and completed by those that the values determine (FORMAT §4.2).

use tgm_core::descriptor::{ByteOrder, Key};
use tgm_core::packing::Packing;

use super::check;
use super::derive::derive_on;
use super::values::Values;
use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;
use crate::base::threads::Threads;
use crate::model::params::{Params, metadata, required};
use crate::model::types::DataObjectDescriptor;

/// Reads the four parameters, which must all be present.
///
/// # Errors
/// [`TensogramError::Metadata`] for parameters that are missing, of a wrong type or not finite;
/// [`TensogramError::Encoding`] for more than 64 bits.
pub(crate) fn read(params: Params<'_>) -> Result<Packing> {
    let reference_value = required(params.f64(Key::SpReferenceValue)?, Key::SpReferenceValue)?;
    check::reference(reference_value)?;
    let bits_per_value = required(params.u32(Key::SpBitsPerValue)?, Key::SpBitsPerValue)?;
    check::bits(bits_per_value)?;
    Ok(Packing {
        reference_value,
        binary_scale_factor: required(params.i32(Key::SpBinaryScaleFactor)?, Key::SpBinaryScaleFactor)?,
        decimal_scale_factor: required(params.i32(Key::SpDecimalScaleFactor)?, Key::SpDecimalScaleFactor)?,
        bits_per_value,
    })
}

/// Derives the parameters that the caller left out, and writes them into the descriptor. `data` holds the values in
/// `order`.
///
/// Returns whether all values were looked at, and so are known to be finite.
///
/// # Errors
/// [`TensogramError::Metadata`] if the number of bits is missing, and if only one of reference value and binary scale
/// is there; those of [`derive`].
pub(crate) fn complete(
    descriptor: &mut DataObjectDescriptor,
    data: &[u8],
    order: ByteOrder,
    threads: Threads,
) -> Result<bool> {
    let params = Params(&descriptor.params);
    let bits = params.u32(Key::SpBitsPerValue)?.ok_or_else(|| metadata("simple_packing requires sp_bits_per_value"))?;
    let decimal = params.i32(Key::SpDecimalScaleFactor)?.unwrap_or(0);
    let derives = match (params.get(Key::SpReferenceValue), params.get(Key::SpBinaryScaleFactor)) {
        (Some(_), Some(_)) => false,
        (None, None) => true,
        _ => {
            return Err(metadata(
                "simple_packing needs both of sp_reference_value and sp_binary_scale_factor, or none of them to \
                 auto-compute both",
            ));
        }
    };
    if derives {
        let packing = derive_on(threads, Values::new(data, order), bits, decimal)?;
        descriptor.set_param(Key::SpReferenceValue, packing.reference_value);
        descriptor.set_param(Key::SpBinaryScaleFactor, packing.binary_scale_factor);
    }
    descriptor.set_param(Key::SpDecimalScaleFactor, decimal);
    // With fields of no bits, the values were not looked at.
    Ok(derives && bits > 0)
}
