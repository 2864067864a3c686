//! The parameters of packing in descriptors: read, and completed by those that the values determine (FORMAT §4.2).

use tgm_codec::threads::Threads;
use tgm_core::descriptor::{ByteOrder, Key};
use tgm_core::packing::Packing;

use super::check;
use super::derive::derive_on;
use super::values::Values;
use crate::base::error::{Result, TensogramError};
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
/// is there; the errors of [`derive`].
pub(crate) fn complete(
    descriptor: &mut DataObjectDescriptor,
    data: &[u8],
    order: ByteOrder,
    threads: Threads,
) -> Result<bool> {
    let params = Params(&descriptor.params);
    let bits = params.u32(Key::SpBitsPerValue)?.ok_or_else(|| {
        metadata(
            "simple_packing requires sp_bits_per_value: the encoder can auto-compute sp_reference_value and \
             sp_binary_scale_factor, but not this",
        )
    })?;
    let decimal = params.i32(Key::SpDecimalScaleFactor)?.unwrap_or(0);
    let derives = match (params.get(Key::SpReferenceValue), params.get(Key::SpBinaryScaleFactor)) {
        (Some(_), Some(_)) => false,
        (None, None) => true,
        (Some(_), None) => return Err(lone(Key::SpReferenceValue, Key::SpBinaryScaleFactor)),
        (None, Some(_)) => return Err(lone(Key::SpBinaryScaleFactor, Key::SpReferenceValue)),
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

/// The error for one of two parameters without the other.
fn lone(given: Key, absent: Key) -> TensogramError {
    metadata(format!("simple_packing has {given} but not {absent}: give both, or neither to auto-compute them"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::types::Dtype;

    /// The caller looks at all values again where it is not said that they are finite.
    #[test]
    fn values_whose_least_and_greatest_were_found_are_known_to_be_finite() {
        let is_known = |bits: u32, reference: Option<f64>| {
            let mut descriptor = DataObjectDescriptor::new(Dtype::Float64, ByteOrder::Little, &[2]);
            descriptor.set_param(Key::SpBitsPerValue, bits);
            if let Some(reference) = reference {
                descriptor.set_param(Key::SpReferenceValue, reference);
                descriptor.set_param(Key::SpBinaryScaleFactor, 0);
            }
            complete(&mut descriptor, &[0; 16], ByteOrder::Little, Threads::NONE).unwrap()
        };
        assert!(is_known(1, None) && is_known(12, None));
        assert!(!is_known(0, None), "fields of no bits need no values");
        assert!(!is_known(12, Some(1.5)), "nothing is searched for");
    }
}
