//! NaN and infinities: found, recorded in masks and replaced by zeros (PIPELINE §6.1, §6.2).
//!
//! ```text
//! plainly:  for each element: if it is NaN, +∞ or −∞, refuse it, or set its bit in the mask of that kind
//! trick:    for each block of 16 KiB, then for each row of 64 elements in it: skip it if all numbers are finite
//!           otherwise one pass over the row makes three words of 64 bits, one for each kind
//! ```
//!
//! Most data is finite. Then each byte is read once, by vector instructions and without a branch for each element. Where
//! values are missing here and there, the time goes into branches that are guessed wrong: rows are looked at, and elements
//! set to zero, without any.

use std::convert::Infallible;

use tgm_core::descriptor::{ByteOrder, Dtype, MaskKind};

#[cfg(target_arch = "x86_64")]
use super::simd::Level;
use super::simd::Simd;
use crate::threads::Threads;

/// Bytes of a block. A block of finite numbers is skipped.
const BLOCK: usize = 16 << 10;
/// Elements of a row. A row of finite numbers is skipped. The mask bits of a row are one word.
const ROW: usize = 64;
/// Bytes that a thread looks at before it takes the next ones.
const PART: usize = 64 * BLOCK;

/// Masks as packed bits, one for each kind of non-finite element that occurs. Element 0 is the highest bit of byte 0.
pub type PackedMasks = Vec<(MaskKind, Vec<u8>)>;

/// An element that is not finite, of a kind that is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAllowed {
    /// The index of the element.
    pub index: usize,
    /// What it counts as.
    pub kind: MaskKind,
    /// The part of a complex number that is of this kind. `None` for other numbers.
    pub component: Option<Component>,
}

/// A part of a complex number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// The first number.
    Real,
    /// The second number.
    Imaginary,
}

/// Finds NaN and infinities in `data`, which are whole elements of `dtype` in `order`. Integer types are not scanned.
///
/// Several threads only ask whether all numbers are finite, as they mostly are. If some are not, the calling thread finds them.
///
/// # Errors
/// [`NotAllowed`] for the first element of a kind that is not `allowed`.
pub fn find(
    data: &[u8],
    dtype: Dtype,
    order: ByteOrder,
    threads: Threads,
    allowed: impl Fn(MaskKind) -> bool,
) -> Result<PackedMasks, NotAllowed> {
    let Some(scalar) = Scalar::of(dtype) else { return Ok(PackedMasks::new()) };
    let (width, simd) = (dtype.byte_width(), Simd::best());
    if !threads.is_one() {
        let parts: Vec<&[u8]> = data.chunks(PART).collect();
        let Ok::<_, Infallible>(are_finite) = threads.map(&parts, |part| Ok(scalar.all_finite(simd, part, order)));
        if !are_finite.contains(&false) {
            return Ok(PackedMasks::new());
        }
    }
    let mut found = MaskBuilder { len: (data.len() / width).div_ceil(8), masks: [None, None, None] };
    let mut was_finite = true;
    for (block, bytes) in data.chunks(BLOCK).enumerate() {
        // After a block that is not finite, the next one mostly is not either, and its rows are asked at once.
        if was_finite && scalar.all_finite(simd, bytes, order) {
            continue;
        }
        was_finite = true;
        for (i, row) in bytes.chunks(ROW * width).enumerate() {
            if scalar.all_finite(simd, row, order) {
                continue;
            }
            was_finite = false;
            let (index, kinds) = (block * (BLOCK / width) + i * ROW, scalar.kinds(simd, row, order));
            check_allowed(scalar, row, order, index, kinds, &allowed)?;
            found.record(kinds, index / 8);
        }
    }
    Ok(MaskKind::ALL.into_iter().zip(found.masks).filter_map(|(kind, mask)| Some((kind, mask?))).collect())
}

/// Whether all elements of `data` are finite. Integer types are not scanned.
#[inline]
pub fn all_finite(data: &[u8], dtype: Dtype, order: ByteOrder) -> bool {
    Scalar::of(dtype).is_none_or(|scalar| scalar.all_finite(Simd::best(), data, order))
}

/// Replaces the masked elements of `data` by zeros. Elements have `width` bytes. The first element of `data` belongs to
/// the highest bit of byte `first` in each mask.
pub fn zero_masked(data: &mut [u8], width: usize, masks: &[(MaskKind, Vec<u8>)], first: usize) {
    for (_, mask) in masks {
        let mask = mask.get(first..).unwrap_or_default();
        match width {
            2 => zero::<2>(data, mask),
            4 => zero::<4>(data, mask),
            8 => zero::<8>(data, mask),
            _ => zero::<16>(data, mask),
        }
    }
}

/// Replaces the elements of `N` bytes whose bits are set in `mask` by zeros.
fn zero<const N: usize>(data: &mut [u8], mask: &[u8]) {
    let (groups, rest) = data.as_chunks_mut().0.as_chunks_mut::<8>();
    let last = mask.get(groups.len()).copied().unwrap_or_default();
    for (group, bits) in groups.iter_mut().zip(mask) {
        // Values are mostly there, or missing in large areas. Between these, a branch for each element would mostly be guessed
        // wrong, so all are written.
        match *bits {
            0 => {}
            0xFF => *group = [[0; N]; 8],
            bits => zero_some(group, bits),
        }
    }
    zero_some(rest, last);
}

/// Replaces the elements whose bits are set by zeros, at most eight. The first element belongs to the highest bit.
#[inline(always)]
#[expect(clippy::inline_always, reason = "eight elements are a constant number only inside of the caller")]
fn zero_some<const N: usize>(elements: &mut [[u8; N]], bits: u8) {
    for (element, kept) in elements.iter_mut().zip(kept_bytes(bits)) {
        for byte in element {
            *byte &= kept;
        }
    }
}

/// For each bit, the highest first: 0 if it is set, else 255.
///
/// Computed for all bits at once, because the compiler makes branches of a test for each:
///
/// ```text
/// one bit in each byte:      repeat the byte eight times, and keep another bit of each
/// the top bit, if any is:    add 127 to each byte that is not 128 already
/// all bits, where it is not: the top bit as 0 or 1, times 255, inverted
/// ```
const fn kept_bytes(bits: u8) -> [u8; 8] {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let bit = (bits as u64).wrapping_mul(ONES) & 0x0102_0408_1020_4080;
    let top = ((bit & !(ONES << 7)) + 127 * ONES) | bit;
    (!((top >> 7 & ONES) * 255)).to_le_bytes()
}

/// For each kind of [`MaskKind::ALL`], which elements of a row have it. The first element is the highest bit.
type Kinds = [u64; MaskKind::ALL.len()];

/// The masks found so far. A mask exists once an element of its kind was found.
struct MaskBuilder {
    /// The size of a mask in bytes.
    len: usize,
    masks: [Option<Vec<u8>>; MaskKind::ALL.len()],
}

impl MaskBuilder {
    /// Puts the bits of a row into the masks, at byte `start` of each.
    fn record(&mut self, kinds: Kinds, start: usize) {
        for (mask, bits) in self.masks.iter_mut().zip(kinds).filter(|(_, bits)| *bits != 0) {
            let mask = mask.get_or_insert_with(|| vec![0; self.len]);
            let bytes = mask.get_mut(start..).unwrap_or_default();
            bytes.iter_mut().zip(bits.to_be_bytes()).for_each(|(out, byte)| *out = byte);
        }
    }
}

/// What the parts of an element are. `None` is a finite part. An element that is not complex has only a real part.
#[derive(Clone, Copy)]
struct Classes {
    real: Option<MaskKind>,
    imaginary: Option<MaskKind>,
    is_complex: bool,
}

impl Classes {
    /// The kind that the element counts as: NaN if either part is NaN, else +∞, else −∞.
    fn kind(self) -> Option<MaskKind> {
        MaskKind::ALL.into_iter().find(|kind| self.real == Some(*kind) || self.imaginary == Some(*kind))
    }
}

/// Checks that every element of a row is allowed. `index` is the index of the row's first element.
///
/// # Errors
/// [`NotAllowed`] for the first element that is not.
fn check_allowed(
    scalar: Scalar,
    row: &[u8],
    order: ByteOrder,
    index: usize,
    kinds: Kinds,
    allowed: impl Fn(MaskKind) -> bool,
) -> Result<(), NotAllowed> {
    let refused = MaskKind::ALL.into_iter().zip(kinds).filter(|(kind, _)| !allowed(*kind));
    let refused = refused.fold(0, |refused, (_, bits)| refused | bits);
    if refused == 0 {
        return Ok(());
    }
    let (i, width) = (refused.leading_zeros() as usize, scalar.element_width());
    let classes = scalar.classify(row.get(i * width..(i + 1) * width).unwrap_or_default(), order);
    let kind = classes.kind().unwrap_or(MaskKind::Nan);
    let is_real = classes.real == Some(kind);
    let component = classes.is_complex.then_some(if is_real { Component::Real } else { Component::Imaginary });
    Err(NotAllowed { index: index + i, kind, component })
}

/// The form of the floating-point numbers in an element.
#[derive(Clone, Copy)]
struct Scalar {
    /// The bits of the exponent. All of them are set in NaN and infinities.
    exponent: u64,
    /// Bytes of one number. A complex element has two numbers.
    width: usize,
    is_complex: bool,
}

impl Scalar {
    /// The form of a type's numbers. `None` for integers and bitmasks, which are always finite.
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

    /// Bytes of one element.
    const fn element_width(self) -> usize {
        if self.is_complex { 2 * self.width } else { self.width }
    }

    /// Whether all numbers in `bytes` are finite. Uses the widest instructions that `simd` has.
    #[allow(unsafe_code, reason = "instructions that not every processor has")]
    fn all_finite(self, simd: Simd, bytes: &[u8], order: ByteOrder) -> bool {
        #[cfg(test)]
        LOOKS.set(LOOKS.get() + 1);
        match simd.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `simd` is only made after the processor was asked for the instructions of its level.
            Level::Avx2 => unsafe { all_finite_avx2(self, bytes, order) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `simd` is only made after the processor was asked for the instructions of its level.
            Level::Avx512 => unsafe { all_finite_avx512(self, bytes, order) },
            _ => self.all_finite_here(bytes, order),
        }
    }

    /// The loops of [`Self::all_finite`]. A number is finite if its exponent has a bit that is 0.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "compiled with the instructions of its caller")]
    #[expect(clippy::cast_possible_truncation, reason = "the exponent's bits lie within the width of the number")]
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

    /// Which elements of a row have which kind. Uses the widest instructions that `simd` has.
    #[allow(unsafe_code, reason = "instructions that not every processor has")]
    fn kinds(self, simd: Simd, row: &[u8], order: ByteOrder) -> Kinds {
        match simd.level() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `simd` is only made after the processor was asked for the instructions of its level.
            Level::Avx2 => unsafe { kinds_avx2(self, row, order) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `simd` is only made after the processor was asked for the instructions of its level.
            Level::Avx512 => unsafe { kinds_avx512(self, row, order) },
            _ => self.kinds_here(row, order),
        }
    }

    /// The loops of [`Self::kinds`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "compiled with the instructions of its caller")]
    fn kinds_here(self, row: &[u8], order: ByteOrder) -> Kinds {
        match (self.width, order) {
            (2, ByteOrder::Big) => self.kinds_of(row, |b| u16::from_be_bytes(b).into()),
            (2, ByteOrder::Little) => self.kinds_of(row, |b| u16::from_le_bytes(b).into()),
            (4, ByteOrder::Big) => self.kinds_of(row, |b| u32::from_be_bytes(b).into()),
            (4, ByteOrder::Little) => self.kinds_of(row, |b| u32::from_le_bytes(b).into()),
            (_, ByteOrder::Big) => self.kinds_of(row, u64::from_be_bytes),
            (_, ByteOrder::Little) => self.kinds_of(row, u64::from_le_bytes),
        }
    }

    /// [`Self::kinds`] for numbers of `N` bytes. Bits say what a number is, without its sign:
    ///
    /// ```text
    /// bits < exponent    finite
    /// bits = exponent    infinite: the exponent is all ones, and the fraction is 0
    /// bits > exponent    NaN: the exponent is all ones, and the fraction is not 0
    /// ```
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "compiled with the instructions of its caller")]
    fn kinds_of<const N: usize>(self, row: &[u8], load: impl Fn([u8; N]) -> u64) -> Kinds {
        let (exponent, sign) = (self.exponent, 1 << (8 * self.width - 1));
        let (mut nan, mut pos_inf, mut neg_inf) = (0_u64, 0_u64, 0_u64);
        let mut look = |number: [u8; N], bit: u64| {
            let bits = load(number);
            nan |= if bits & !sign > exponent { bit } else { 0 };
            pos_inf |= if bits == exponent { bit } else { 0 };
            neg_inf |= if bits == exponent | sign { bit } else { 0 };
        };
        let numbers = row.as_chunks().0.iter().enumerate();
        if self.is_complex {
            numbers.for_each(|(i, number)| look(*number, 1 << 63 >> (i / 2)));
        } else {
            numbers.for_each(|(i, number)| look(*number, 1 << 63 >> i));
        }
        // The parts of a complex element share a bit, so it may have two kinds here. The first in this order counts.
        [nan, pos_inf & !nan, neg_inf & !pos_inf & !nan]
    }

    /// What the parts of one element are.
    fn classify(self, element: &[u8], order: ByteOrder) -> Classes {
        let (real, imaginary) = element.split_at_checked(self.width).unwrap_or((element, &[]));
        Classes {
            real: self.class(real, order),
            imaginary: if self.is_complex { self.class(imaginary, order) } else { None },
            is_complex: self.is_complex,
        }
    }

    /// The kind of one number. `None` if it is finite.
    fn class(self, number: &[u8], order: ByteOrder) -> Option<MaskKind> {
        let push = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
        // The bytes are read from the most significant one on.
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

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn kinds_avx2(scalar: Scalar, row: &[u8], order: ByteOrder) -> Kinds {
    scalar.kinds_here(row, order)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
fn kinds_avx512(scalar: Scalar, row: &[u8], order: ByteOrder) -> Kinds {
    scalar.kinds_here(row, order)
}

/// Whether `good` holds for all numbers. The loop has no early exit, so that it vectorises.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled with the instructions of its caller")]
fn all<const N: usize>(bytes: &[u8], good: impl Fn([u8; N]) -> bool) -> bool {
    bytes.as_chunks().0.iter().fold(true, |all, number| all & good(*number))
}

#[cfg(test)]
thread_local! {
    /// How often this thread has asked whether numbers are finite.
    static LOOKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_looks_at_blocks_and_several_take_longer_parts() {
        let data = vec![0; 2 * PART];
        let looks = |threads| {
            let before = LOOKS.get();
            let threads = Threads::resolve(threads, 1, Some(0)).unwrap();
            find(&data, Dtype::Float64, ByteOrder::Little, threads, |_| false).unwrap();
            LOOKS.get() - before
        };
        assert_eq!(looks(1), 2 * PART / BLOCK);
        // Another thread may have taken a part, or both.
        assert!(!cfg!(feature = "parallel") || looks(2) <= 2);
    }

    #[test]
    fn a_byte_is_kept_where_the_bit_is_not_set() {
        for bits in 0..=u8::MAX {
            let expected = [0, 1, 2, 3, 4, 5, 6, 7].map(|i| if bits << i & 0x80 == 0 { 255 } else { 0 });
            assert_eq!(kept_bytes(bits), expected, "{bits:08b}");
        }
    }

    /// Finite elements and elements of each kind stand at every place of a row.
    #[test]
    fn masks_and_zeros_agree_with_the_class_of_each_element() {
        for dtype in Dtype::ALL {
            let Some(scalar) = Scalar::of(dtype) else { continue };
            let width = dtype.byte_width();
            for order in [ByteOrder::Big, ByteOrder::Little] {
                let patterns = [0, 1, scalar.exponent - 1, scalar.exponent, scalar.exponent + 1].map(|bits| {
                    [bits, bits | 1 << (8 * scalar.width - 1)].map(|bits| match order {
                        ByteOrder::Big => bits.to_be_bytes()[8 - scalar.width..].to_vec(),
                        ByteOrder::Little => bits.to_le_bytes()[..scalar.width].to_vec(),
                    })
                });
                let patterns = patterns.as_flattened();
                // A hundred numbers of mixed patterns, then a hundred zeros, so that some rows are finite. Every pattern meets
                // every other one as the two parts of a complex element.
                let numbers = (0..9000).map(|i| {
                    let (dense, len) = (i / 200 * 100 + i % 200, patterns.len());
                    let part = if dense % 2 == 0 { dense / (2 * len) } else { dense / 2 };
                    &patterns[if i % 200 < 100 { part % len } else { 0 }]
                });
                let data: Vec<u8> = numbers.flatten().copied().take(4321 * width).collect();
                let mut zeroed = data.clone();
                let masks = find(&data, dtype, order, Threads::NONE, |_| true).unwrap();
                zero_masked(&mut zeroed, width, &masks, 0);
                assert_eq!(masks.len(), 3);
                for (i, (element, zeroed)) in data.chunks(width).zip(zeroed.chunks(width)).enumerate() {
                    let kind = scalar.classify(element, order).kind();
                    let found = masks.iter().filter(|(_, mask)| mask[i / 8] << (i % 8) & 0x80 != 0);
                    assert_eq!(found.map(|(kind, _)| *kind).collect::<Vec<_>>(), Vec::from_iter(kind), "{dtype} {i}");
                    assert!(if kind.is_some() { zeroed.iter().all(|byte| *byte == 0) } else { zeroed == element });
                }
            }
        }
    }

    /// Such data has no finite number anywhere that could tell a wrong test from a right one.
    #[test]
    fn data_of_nothing_but_one_kind_is_found() {
        for dtype in Dtype::ALL {
            let Some(scalar) = Scalar::of(dtype) else { continue };
            let sign = 1 << (8 * scalar.width - 1);
            let kinds = [
                (scalar.exponent | 1, MaskKind::Nan),
                (scalar.exponent | sign >> 1 | (sign - 1), MaskKind::Nan),
                (scalar.exponent, MaskKind::PosInf),
                (scalar.exponent | sign, MaskKind::NegInf),
            ];
            for (order, (bits, kind)) in [ByteOrder::Big, ByteOrder::Little].map(|o| kinds.map(|k| (o, k))).concat() {
                let number = match order {
                    ByteOrder::Big => bits.to_be_bytes()[8 - scalar.width..].to_vec(),
                    ByteOrder::Little => bits.to_le_bytes()[..scalar.width].to_vec(),
                };
                let data = number.repeat(200 * dtype.byte_width() / scalar.width);
                let masks = find(&data, dtype, order, Threads::NONE, |_| true).unwrap();
                assert_eq!(masks, [(kind, vec![0xFF; 25])], "{dtype} {order:?} {bits:x}");
                assert!(!all_finite(&data, dtype, order));
            }
            let ones = vec![1; 200 * dtype.byte_width()];
            assert!(all_finite(&ones, dtype, ByteOrder::NATIVE), "{dtype}");
            assert!(find(&ones, dtype, ByteOrder::NATIVE, Threads::NONE, |_| false).unwrap().is_empty());
        }
        assert!(all_finite(&[0xFF; 16], Dtype::Uint64, ByteOrder::NATIVE));
    }

    /// The numbers of several parts, of which one is not finite: in the last part, between two, in the first.
    #[test]
    fn several_threads_find_what_one_finds() {
        let two = Threads::resolve(2, u64::MAX, None).unwrap();
        let mut numbers = vec![1.5_f32; PART];
        let find = |numbers: &[f32], threads, allow_nan| {
            let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            find(&data, Dtype::Float32, ByteOrder::Little, threads, |_| allow_nan)
        };
        assert_eq!(find(&numbers, two, false), Ok(PackedMasks::new()));
        for at in [PART - 1, PART / 2, 0] {
            numbers[at] = f32::NAN;
            assert!(find(&numbers, two, true).is_ok_and(|masks| masks.len() == 1));
            for allow_nan in [false, true] {
                assert_eq!(find(&numbers, two, allow_nan), find(&numbers, Threads::NONE, allow_nan), "{at}");
            }
        }
    }
}
