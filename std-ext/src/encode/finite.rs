//! NaN and infinities: refused, or recorded in masks (PIPELINE §6.1, §6.2). The kernels find them.

use tgm_codec::kernels::finite::{self, Component, NotAllowed, PackedMasks};
use tgm_codec::threads::Threads;
use tgm_core::descriptor::{ByteOrder, Dtype, MaskKind};

use crate::base::error::{Result, TensogramError};
use crate::base::hint::Hint;
use crate::base::options::EncodeOptions;

/// Finds NaN and infinities in `data`, which are whole elements of `dtype` in `order`. Integer types are not scanned.
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
    finite::find(data, dtype, order, threads, allowed).map_err(|found| not_allowed(found, dtype))
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
