//! Digests of bytes, and parameters of packing.

use std::ffi::c_char;

use tgm_std::simple_packing::compute_params;
use tgm_std::{TensogramError, parse_hash_name};

use crate::args;
use crate::buffers::{TgmBytes, give};
use crate::call::call;
use crate::error::{Code, ENCODING, Failure, Report, invalid};

/// The digest of bytes: 16 hexadecimal digits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_compute_hash(
    data: *const u8,
    data_len: usize,
    algo: *const c_char,
    out: *mut TgmBytes,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (data, algo, out) =
            unsafe { (args::slice_or_empty(data, data_len)?, args::optional_text(algo, "algo")?, args::place(out)?) };
        // All names of the format give the one algorithm that it has, "none" included.
        parse_hash_name(algo).map_err(|error| invalid(error.to_string()))?;
        out.put(give(tgm_std::compute_hash(data).into_bytes())?);
        Ok(())
    })
}

/// The greatest width of a packed value, in bits.
const MAX_BITS: u32 = u64::BITS;

/// The parameters with which fields of some bits hold values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_simple_packing_compute_params(
    values: *const f64,
    num_values: usize,
    bits_per_value: u32,
    decimal_scale_factor: i32,
    out_reference_value: *mut f64,
    out_binary_scale_factor: *mut i32,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (values, reference, scale) = unsafe {
            (args::slice(values, num_values)?, args::place(out_reference_value)?, args::place(out_binary_scale_factor)?)
        };
        if bits_per_value > MAX_BITS {
            let text = format!("bits_per_value {bits_per_value} exceeds maximum of {MAX_BITS}");
            return Err(Report::new(ENCODING, text).into());
        }
        let params = compute_params(values, bits_per_value, decimal_scale_factor).map_err(without_prefix)?;
        reference.put(params.reference_value);
        scale.put(params.binary_scale_factor);
        Ok(())
    })
}

/// The error with its reason alone. This is the one function whose texts have no prefix.
fn without_prefix(error: TensogramError) -> Failure {
    match error {
        TensogramError::Encoding(reason) => Report::new(ENCODING, reason.as_str()).into(),
        other => other.into(),
    }
}
