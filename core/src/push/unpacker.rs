//! Values from chunks of a payload that end anywhere.

use core::fmt;

use zerocopy::FromBytes;

use super::step::{copy, split_front};
use crate::descriptor::{ByteOrder, Compression, Descriptor, Dtype, Encoding, Filter, Stage};
use crate::error::{ErrorKind, Result};
#[cfg(feature = "packing")]
use crate::packing::{Formula, Packing, Unpack, unpack_into};
#[cfg(feature = "packing")]
use crate::stored::not_float64;
use crate::tensor::Element;

/// Bytes of the widest element.
const WIDEST: usize = 16;

/// Decodes values from chunks of a payload as they come. For objects without filter and compression, with encoding `none`
/// or `simple_packing`. For szip there is `SzipUnpacker`.
///
/// It keeps only a value that is not complete. A masked value comes as the encoder's placeholder, because masks come after
/// the payload. Packed values of 0 bits take no bytes: any chunk gives them, even an empty one.
///
/// ```
/// # #[cfg(feature = "packing")] {
/// use tgm_core::Message;
/// use tgm_core::push::Unpacker;
///
/// let bytes = include_bytes!("../../samples/bits16.tgm");
/// let object = Message::parse(bytes)?.object(0)?;
/// let mut unpacker = Unpacker::new(object.descriptor())?;
/// let (mut count, mut out) = (0, [0.0_f32; 4]);
/// for mut chunk in object.payload().chunks(3) {
///     while let new @ 1.. = unpacker.unpack_into(&mut chunk, &mut out)? {
///         count += new as u64; // values are out[..new]
///     }
/// }
/// assert_eq!((count, unpacker.remaining()), (object.descriptor().element_count(), 0));
/// # }
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Unpacker {
    dtype: Dtype,
    order: ByteOrder,
    /// Values still to come.
    remaining: u64,
    /// The first bytes of an element that is not complete.
    partial: [u8; WIDEST],
    partial_len: usize,
    #[cfg(feature = "packing")]
    packed: Option<Packed>,
}

/// The parameters of packed values, and the bits that were read but not used yet.
#[cfg(feature = "packing")]
#[derive(Clone, Copy)]
struct Packed {
    packing: Packing,
    formula: Formula,
    bits: u128,
    bit_count: u32,
}

impl Unpacker {
    /// An unpacker for the payload of the object that `descriptor` describes, from its first byte on.
    ///
    /// # Errors
    /// [`ErrorKind::NeedsDecoding`] with a stage that cannot be undone chunk by chunk; the errors of the packing's parameters;
    /// [`ErrorKind::DtypeMismatch`] for simple_packing of another dtype than float64.
    pub fn new(descriptor: &Descriptor<'_>) -> Result<Self> {
        let needs = |stage| Err(ErrorKind::NeedsDecoding(stage).at(descriptor.offset()));
        let (compression, filter) = (descriptor.compression().known(), descriptor.filter().known());
        if compression != Some(Compression::None) {
            return needs(Stage::Compression(compression));
        }
        if filter != Some(Filter::None) {
            return needs(Stage::Filter(filter));
        }
        #[cfg(feature = "packing")]
        let packed = match descriptor.encoding().known() {
            Some(Encoding::None) => None,
            Some(Encoding::SimplePacking) if descriptor.dtype() == Dtype::Float64 => {
                Some(Packed::new(descriptor.packing()?))
            }
            Some(Encoding::SimplePacking) => {
                return Err(not_float64(descriptor));
            }
            other => return needs(Stage::Encoding(other)),
        };
        #[cfg(not(feature = "packing"))]
        if descriptor.encoding().known() != Some(Encoding::None) {
            return needs(Stage::Encoding(descriptor.encoding().known()));
        }
        Ok(Self {
            dtype: descriptor.dtype(),
            order: descriptor.byte_order(),
            remaining: descriptor.element_count(),
            partial: [0; WIDEST],
            partial_len: 0,
            #[cfg(feature = "packing")]
            packed,
        })
    }

    /// The number of values still to come.
    pub const fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Writes the next elements to the front of `out`, takes their bytes from the front of `chunk`, and returns the number
    /// of elements. 0 means that the chunk is used up, or that all elements have come. O(elements), no allocation.
    ///
    /// # Errors
    /// [`ErrorKind::DtypeMismatch`] if the elements are not of type `T`, [`ErrorKind::NeedsDecoding`] if they are packed.
    pub fn elements_into<T: Element>(&mut self, chunk: &mut &[u8], out: &mut [T]) -> Result<usize> {
        if T::DTYPE != self.dtype {
            return Err(ErrorKind::DtypeMismatch { expected: T::DTYPE, found: self.dtype }.at(0));
        }
        #[cfg(feature = "packing")]
        if self.packed.is_some() {
            return Err(ErrorKind::NeedsDecoding(Stage::Encoding(Some(Encoding::SimplePacking))).at(0));
        }
        let mut out = wanted(self.remaining, out).iter_mut();
        let due = out.len();
        if self.partial_len > 0
            && let Some(slot) = out.next()
        {
            let Some(bytes) = self.complete::<T>(chunk) else { return Ok(0) };
            *slot = T::from_bytes(bytes, self.order);
        }
        while let Some(bytes) = split_element::<T>(chunk, out.len()) {
            let Some(slot) = out.next() else { break };
            *slot = T::from_bytes(bytes, self.order);
        }
        // A slot is left, so the chunk ends inside an element. If none is left, the chunk stays for the next call.
        if out.len() > 0 {
            self.partial_len = copy(chunk, &mut self.partial);
            *chunk = &[];
        }
        Ok(self.count(due.saturating_sub(out.len())))
    }

    /// Completes the element whose first bytes came before. `None` if it is still not complete.
    fn complete<T: Element>(&mut self, chunk: &mut &[u8]) -> Option<T::Bytes> {
        let width = size_of::<T::Bytes>();
        // The chunk may be too short to complete the element: then it is used up all the same.
        let missing = split_front(chunk, width.saturating_sub(self.partial_len) as u64);
        let free = self.partial.get_mut(self.partial_len..).unwrap_or_default();
        self.partial_len = self.partial_len.saturating_add(copy(missing, free));
        let bytes = self.partial.get(..self.partial_len).and_then(|bytes| T::Bytes::read_from_bytes(bytes).ok())?;
        self.partial_len = 0;
        Some(bytes)
    }

    /// Unpacks the next values of `simple_packing` to the front of `out`, takes their bytes from the front of `chunk`, and
    /// returns the number of values. 0 means that the chunk is used up, or that all values have come. O(values), no
    /// allocation.
    ///
    /// # Errors
    /// [`ErrorKind::NotPacked`] if the values are not packed.
    #[cfg(feature = "packing")]
    pub fn unpack_into<T: Unpack>(&mut self, chunk: &mut &[u8], out: &mut [T]) -> Result<usize> {
        let Some(mut packed) = self.packed else { return Err(ErrorKind::NotPacked.at(0)) };
        let count = packed.unpack_into(chunk, wanted(self.remaining, out));
        self.packed = Some(packed);
        Ok(self.count(count?))
    }

    const fn count(&mut self, count: usize) -> usize {
        self.remaining = self.remaining.saturating_sub(count as u64);
        count
    }
}

/// The part of `out` that the `remaining` values can fill.
pub(super) fn wanted<T>(remaining: u64, out: &mut [T]) -> &mut [T] {
    let count = usize::try_from(remaining).unwrap_or(usize::MAX).min(out.len());
    out.get_mut(..count).unwrap_or_default()
}

/// Takes an element off the front of `chunk`, if an element is wanted and the chunk has all of it.
#[inline]
fn split_element<T: Element>(chunk: &mut &[u8], wanted: usize) -> Option<T::Bytes> {
    if wanted == 0 {
        return None;
    }
    let (bytes, rest) = T::Bytes::read_from_prefix(chunk).ok()?;
    *chunk = rest;
    Some(bytes)
}

#[cfg(feature = "packing")]
impl Packed {
    const fn new(packing: Packing) -> Self {
        Self { packing, formula: packing.formula(), bits: 0, bit_count: 0 }
    }

    fn unpack_into<T: Unpack>(&mut self, chunk: &mut &[u8], out: &mut [T]) -> Result<usize> {
        let total = out.len();
        let mut out = out;
        if self.packing.bits_per_value == 0 {
            unpack_into(&[], &self.packing, 0, out)?;
            return Ok(total);
        }
        while !out.is_empty() {
            out = self.unpack_groups(chunk, out)?;
            let Some((slot, rest)) = core::mem::take(&mut out).split_first_mut() else { break };
            let Some(q) = self.next_field(chunk) else { return Ok(total.saturating_sub(rest.len()).saturating_sub(1)) };
            #[allow(clippy::cast_precision_loss, reason = "the format's formula rounds q to f64")]
            let q = q as f64;
            *slot = T::from_f64(self.formula.value_of(q));
            out = rest;
        }
        Ok(total)
    }

    /// Unpacks whole groups of eight values, and returns the slots that are left. Such a group begins and ends on a byte.
    fn unpack_groups<'o, T: Unpack>(&self, chunk: &mut &[u8], out: &'o mut [T]) -> Result<&'o mut [T]> {
        let group_len = self.packing.bits_per_value as usize;
        let groups = (out.len() / 8).min(chunk.len().checked_div(group_len).unwrap_or(0));
        // Inside a byte the groups do not begin on one: the fields up to the next byte come one by one.
        if self.bit_count > 0 || groups == 0 {
            return Ok(out);
        }
        let (values, rest) = out.split_at_mut_checked(groups.saturating_mul(8)).unwrap_or_default();
        let packed = split_front(chunk, groups.saturating_mul(group_len) as u64);
        unpack_into(packed, &self.packing, 0, values)?;
        Ok(rest)
    }

    /// The next bit field. `None` if it is not complete.
    fn next_field(&mut self, chunk: &mut &[u8]) -> Option<u64> {
        let width = self.packing.bits_per_value;
        while self.bit_count < width {
            let (&byte, rest) = chunk.split_first()?;
            *chunk = rest;
            self.bits = self.bits << 8 | u128::from(byte);
            self.bit_count = self.bit_count.saturating_add(8);
        }
        self.bit_count = self.bit_count.saturating_sub(width);
        let field = self.bits.wrapping_shr(self.bit_count);
        self.bits &= 1_u128.wrapping_shl(self.bit_count).saturating_sub(1);
        // Bits above the field were used before, and cleared, so the field fits its width of at most 64.
        u64::try_from(field).ok()
    }
}

impl fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unpacker")
            .field("dtype", &self.dtype)
            .field("remaining", &self.remaining)
            .finish_non_exhaustive()
    }
}
