//! NaN and infinities: refused, or replaced by zeros and remembered in masks (PIPELINE §6.1, §6.2).

use std::borrow::Cow;

use tgm_core::descriptor::{ByteOrder, Dtype, MaskKind};

use crate::error::{Result, TensogramError};
#[cfg(target_arch = "x86_64")]
use crate::kernels::simd::Level;
use crate::kernels::simd::Simd;
use crate::options::EncodeOptions;

/// Bytes that are looked at in one go for whether there is anything to find.
const BLOCK: usize = 16 << 10;

/// Data without NaN and infinities, and where they were: packed bits, element 0 in the highest bit of byte 0.
#[derive(Debug)]
pub(crate) struct Finite<'a> {
    pub(crate) data: Cow<'a, [u8]>,
    pub(crate) masks: Vec<(MaskKind, Vec<u8>)>,
}

/// Looks for NaN and infinities in `data`, whole elements of `dtype` in `order`.
///
/// One pass over the data, which stays borrowed if it has none. Types that have none are not looked at.
///
/// # Errors
/// [`TensogramError::Encoding`] naming the first that the options do not allow.
pub(crate) fn substitute<'a>(
    data: &'a [u8],
    dtype: Dtype,
    order: ByteOrder,
    options: &EncodeOptions,
) -> Result<Finite<'a>> {
    let Some(scalar) = Scalar::of(dtype) else { return Ok(Finite { data: Cow::Borrowed(data), masks: Vec::new() }) };
    let (width, simd) = (dtype.byte_width(), Simd::best());
    let mut found = Found { data, width, copy: None, masks: [None, None, None] };
    for (block, bytes) in data.chunks(BLOCK).enumerate() {
        if scalar.all_finite(simd, bytes, order) {
            continue;
        }
        for (i, element) in bytes.chunks_exact(width).enumerate() {
            let index = block * (BLOCK / width) + i;
            if let Some(kind) = scalar.classify(element, order).kind() {
                check_allowed(scalar.classify(element, order), index, dtype, options)?;
                found.record(kind, index);
            }
        }
    }
    let data = found.copy.map_or(Cow::Borrowed(data), Cow::Owned);
    let masks = MaskKind::ALL.into_iter().zip(found.masks).filter_map(|(kind, mask)| Some((kind, mask?))).collect();
    Ok(Finite { data, masks })
}

/// What has been found so far.
struct Found<'a> {
    data: &'a [u8],
    width: usize,
    copy: Option<Vec<u8>>,
    masks: [Option<Vec<u8>>; MaskKind::ALL.len()],
}

impl Found<'_> {
    /// Makes element `index` zero and sets its bit in the mask of `kind`.
    fn record(&mut self, kind: MaskKind, index: usize) {
        let copy = self.copy.get_or_insert_with(|| self.data.to_vec());
        let start = index * self.width;
        copy.get_mut(start..start + self.width).unwrap_or_default().fill(0);
        let len = (self.data.len() / self.width).div_ceil(8);
        let mask = self.masks.iter_mut().zip(MaskKind::ALL).find(|(_, of)| *of == kind);
        if let Some((mask, _)) = mask
            && let Some(byte) = mask.get_or_insert_with(|| vec![0; len]).get_mut(index / 8)
        {
            *byte |= 0x80 >> (index % 8);
        }
    }
}

/// What an element is; of a complex one, its real and its imaginary part.
#[derive(Clone, Copy)]
struct Classes {
    real: Option<MaskKind>,
    imaginary: Option<MaskKind>,
    is_complex: bool,
}

impl Classes {
    /// The one kind that an element counts as: NaN in either part, else +∞, else −∞.
    fn kind(self) -> Option<MaskKind> {
        MaskKind::ALL.into_iter().find(|kind| self.real == Some(*kind) || self.imaginary == Some(*kind))
    }
}

fn check_allowed(classes: Classes, index: usize, dtype: Dtype, options: &EncodeOptions) -> Result<()> {
    let allowed = |kind: MaskKind| match kind {
        MaskKind::Nan => options.allow_nan,
        MaskKind::PosInf | MaskKind::NegInf => options.allow_inf,
    };
    let Some(kind) = classes.kind().filter(|kind| !allowed(*kind)) else { return Ok(()) };
    let component = match (classes.is_complex, classes.real == Some(kind)) {
        (false, _) => "",
        (true, true) => " (real component)",
        (true, false) => " (imaginary component)",
    };
    let (check, what, option) = match kind {
        MaskKind::Nan => ("NaN", "NaN", "allow_nan"),
        MaskKind::PosInf => ("Inf", "+Inf", "allow_inf"),
        MaskKind::NegInf => ("Inf", "-Inf", "allow_inf"),
    };
    Err(TensogramError::encoding(format!(
        "strict-{check} check: {what} at element {index} of {dtype} array{component}; pass {option}=true to substitute \
         with 0.0 and record positions in a mask"
    )))
}

/// The floating-point numbers that elements are made of.
#[derive(Clone, Copy)]
struct Scalar {
    /// Bits of the exponent, all of them set in what is not finite.
    exponent: u64,
    width: usize,
    is_complex: bool,
}

impl Scalar {
    const fn of(dtype: Dtype) -> Option<Self> {
        let (exponent, width, is_complex) = match dtype {
            Dtype::Float16 => (0x7C00, 2, false),
            Dtype::Bfloat16 => (0x7F80, 2, false),
            Dtype::Float32 => (0x7F80_0000, 4, false),
            Dtype::Complex64 => (0x7F80_0000, 4, true),
            Dtype::Float64 => (0x7FF0_0000_0000_0000, 8, false),
            Dtype::Complex128 => (0x7FF0_0000_0000_0000, 8, true),
            _ => return None,
        };
        Some(Self { exponent, width, is_complex })
    }

    /// Whether all numbers of a block are finite, as fast as the processor can see it.
    #[allow(unsafe_code, reason = "instructions that not every processor has")]
    fn all_finite(self, simd: Simd, bytes: &[u8], order: ByteOrder) -> bool {
        match simd.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has the level.
            Level::Avx2 => unsafe { all_finite_avx2(self, bytes, order) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the processor has the level.
            Level::Avx512 => unsafe { all_finite_avx512(self, bytes, order) },
            _ => self.all_finite_here(bytes, order),
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "compiled for what the caller may use")]
    #[expect(clippy::cast_possible_truncation, reason = "the exponent is that of a number of so many bytes")]
    fn all_finite_here(self, bytes: &[u8], order: ByteOrder) -> bool {
        let exponent = self.exponent;
        match (self.width, order) {
            (2, ByteOrder::Big) => all(bytes, |b| u16::from_be_bytes(b) & exponent as u16 != exponent as u16),
            (2, ByteOrder::Little) => all(bytes, |b| u16::from_le_bytes(b) & exponent as u16 != exponent as u16),
            (4, ByteOrder::Big) => all(bytes, |b| u32::from_be_bytes(b) & exponent as u32 != exponent as u32),
            (4, ByteOrder::Little) => all(bytes, |b| u32::from_le_bytes(b) & exponent as u32 != exponent as u32),
            (_, ByteOrder::Big) => all(bytes, |b| u64::from_be_bytes(b) & exponent != exponent),
            (_, ByteOrder::Little) => all(bytes, |b| u64::from_le_bytes(b) & exponent != exponent),
        }
    }

    fn classify(self, element: &[u8], order: ByteOrder) -> Classes {
        let (real, imaginary) = element.split_at_checked(self.width).unwrap_or((element, &[]));
        Classes {
            real: self.class(real, order),
            imaginary: if self.is_complex { self.class(imaginary, order) } else { None },
            is_complex: self.is_complex,
        }
    }

    /// What one number is, if it is not finite.
    fn class(self, number: &[u8], order: ByteOrder) -> Option<MaskKind> {
        let push = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
        let bits = match order {
            ByteOrder::Big => number.iter().fold(0, push),
            ByteOrder::Little => number.iter().rev().fold(0, push),
        };
        let sign = 1 << (8 * self.width - 1);
        match (bits & !sign).cmp(&self.exponent) {
            std::cmp::Ordering::Less => None,
            std::cmp::Ordering::Greater => Some(MaskKind::Nan),
            std::cmp::Ordering::Equal if bits & sign == 0 => Some(MaskKind::PosInf),
            std::cmp::Ordering::Equal => Some(MaskKind::NegInf),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn all_finite_avx2(scalar: Scalar, bytes: &[u8], order: ByteOrder) -> bool {
    scalar.all_finite_here(bytes, order)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
fn all_finite_avx512(scalar: Scalar, bytes: &[u8], order: ByteOrder) -> bool {
    scalar.all_finite_here(bytes, order)
}

/// Whether all numbers of a block are good; all of them are looked at, which vectorises.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for what the caller may use")]
fn all<const N: usize>(bytes: &[u8], good: impl Fn([u8; N]) -> bool) -> bool {
    bytes.as_chunks().0.iter().fold(true, |all, number| all & good(*number))
}
