//! Decoding an object's uncompressed bytes to its values, into the caller's buffer (PIPELINE §2 to §4).
//!
//! ```text
//! payload ─ decompress ─────► stored bytes ─► unshuffle ─► unpack or swap ─► values ─► restore masked ones
//!           (szip: values.rs; └────────────────── here ──────────────────┘             (object.rs)
//!           others: std-ext)
//! ```
//!
//! [`DataObject::stored`](crate::object::DataObject::stored) refuses a compressed payload.
//! [`DataObject::decode_floats_into`](crate::object::DataObject::decode_floats_into) undoes szip and everything after it.
//!
//! If an object has both a filter and an encoding, bytes are unshuffled block by block into a buffer on the stack, and
//! unpacked from there. So nothing is allocated, and the cost of a range depends on its length alone.

use core::ops::Range;

use crate::byteswap;
use crate::descriptor::Descriptor;
#[cfg(feature = "packing")]
use crate::error::Error;
use crate::error::{ErrorKind, Result};
use crate::names::{ByteOrder, Dtype, Encoding, Filter, Stage};
#[cfg(feature = "packing")]
use crate::packing::{Packing, Unpack, unpack_bytes_into, unpack_into};
#[cfg(feature = "shuffle")]
use crate::shuffle::unshuffle_range_into;

/// How many packed values the buffer for unshuffled bytes holds.
///
/// A block has 8 values fewer. Packed values start on a byte only at multiples of 8, so up to 7 values before the first
/// wanted one are unshuffled too.
#[cfg(all(feature = "packing", feature = "shuffle"))]
const BLOCK: usize = 64;

/// The bytes of an object after decompression, and how to decode them.
///
/// Holding a `Stored` means: encoding and filter are known, their parameters are in range, and the number of bytes is what
/// shape, dtype and encoding imply. The frame's digest says whether the bytes are undamaged: see
/// [`crate::object::DataObject::payload`].
///
/// ```
/// # #[cfg(feature = "packing")] {
/// # let bytes: &[u8] = include_bytes!("../samples/bits16.tgm");
/// let object = tgm_core::Message::parse(bytes)?.object(0)?;
/// let stored = object.stored()?; // the payload is not compressed
/// let mut values = [0.0_f32; 3];
/// stored.unpack_into(1, &mut values)?; // elements 1, 2 and 3
/// # }
/// # Ok::<(), tgm_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    bytes: &'a [u8],
    /// How many uncompressed bytes come before `bytes`: 0 unless this is a window.
    origin: u64,
    element_count: u64,
    dtype: Dtype,
    order: ByteOrder,
    layout: Layout,
    /// The element size of the shuffle filter; 1 without the filter.
    element_size: u64,
}

/// The form of the bytes before the filter rearranged them.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Elements,
    #[cfg(feature = "packing")]
    Packed(Packing),
}

impl<'a> Stored<'a> {
    /// Joins the uncompressed `bytes` of an object with its descriptor. O(1).
    ///
    /// # Errors
    /// [`ErrorKind::NeedsDecoding`] for an encoding or filter that is unknown or not compiled in; the errors of the stages'
    /// parameters; [`ErrorKind::DtypeMismatch`] for simple_packing of another dtype than float64;
    /// [`ErrorKind::PayloadSize`] at 0 if the number of bytes differs from [`stored_len`].
    pub fn new(descriptor: &Descriptor<'_>, bytes: &'a [u8]) -> Result<Self> {
        let stored = Self::unchecked(descriptor, bytes, 0)?;
        if stored_len(descriptor)? != bytes.len() as u64 {
            return Err(ErrorKind::PayloadSize.at(0));
        }
        let size = usize::try_from(stored.element_size).ok();
        if !bytes.is_empty() && size.and_then(|size| bytes.len().checked_rem(size)) != Some(0) {
            return Err(ErrorKind::ElementSize.at(0));
        }
        Ok(stored)
    }

    /// Joins a part of an object's uncompressed bytes with its descriptor. The part begins with byte `origin`.
    ///
    /// [`window_of`] says which part holds the wanted elements. Other elements are out of range.
    ///
    /// # Errors
    /// The errors of [`Self::new`]; [`ErrorKind::NeedsDecoding`] for a filter, which spreads each element over all bytes.
    pub fn window(descriptor: &Descriptor<'_>, bytes: &'a [u8], origin: u64) -> Result<Self> {
        let stored = Self::unchecked(descriptor, bytes, origin)?;
        if stored.element_size > 1 {
            return Err(ErrorKind::NeedsDecoding(Stage::Filter(descriptor.filter().known())).at(descriptor.offset()));
        }
        let stored_len = stored_len(descriptor)?;
        let end = origin.checked_add(bytes.len() as u64).filter(|&end| end <= stored_len);
        end.map(|_| stored).ok_or(ErrorKind::PayloadSize.at(0))
    }

    fn unchecked(descriptor: &Descriptor<'_>, bytes: &'a [u8], origin: u64) -> Result<Self> {
        let layout = layout(descriptor)?;
        let element_size = element_size(descriptor)?;
        Ok(Self {
            bytes,
            origin,
            element_count: descriptor.element_count(),
            dtype: descriptor.dtype(),
            order: descriptor.byte_order(),
            layout,
            element_size,
        })
    }

    /// The type of the values.
    pub const fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The number of values.
    pub const fn element_count(&self) -> u64 {
        self.element_count
    }

    /// The bytes, if they are the values in [`Self::byte_order`]: without encoding and filter.
    pub const fn as_values(&self) -> Option<&'a [u8]> {
        if matches!(self.layout, Layout::Elements) && self.element_size <= 1 { Some(self.bytes) } else { None }
    }

    /// The bytes and the parameters, if the bytes are packed values without a filter. `None` for a window.
    #[cfg(feature = "packing")]
    pub const fn as_packed(&self) -> Option<(&'a [u8], Packing)> {
        match self.layout {
            Layout::Packed(packing) if self.element_size <= 1 && self.origin == 0 => Some((self.bytes, packing)),
            _ => None,
        }
    }

    /// [`Self::as_packed`], for a window too: also the number of the first value that the bytes hold.
    #[cfg(feature = "packing")]
    #[inline]
    pub fn as_packed_from(&self) -> Option<(&'a [u8], Packing, u64)> {
        match self.layout {
            Layout::Packed(packing) if self.element_size <= 1 => Some((self.bytes, packing, self.skipped(&packing))),
            _ => None,
        }
    }

    /// How many packed values come before `bytes`.
    #[cfg(feature = "packing")]
    #[inline]
    fn skipped(&self, packing: &Packing) -> u64 {
        self.origin.saturating_mul(8).checked_div(packing.bits_per_value.into()).unwrap_or(0)
    }

    /// The bytes and the filter's element size, if the bytes are shuffled elements without an encoding.
    #[cfg(feature = "shuffle")]
    pub const fn as_shuffled(&self) -> Option<(&'a [u8], u64)> {
        match self.layout {
            Layout::Elements if self.element_size > 1 => Some((self.bytes, self.element_size)),
            _ => None,
        }
    }

    /// The order of bytes in stored scalars. It means nothing for packed values.
    pub const fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// Bytes of the values of `elements`; for bitmasks ⌈count / 8⌉.
    ///
    /// # Errors
    /// [`ErrorKind::RangeOutOfBounds`] if the range ends before it starts or beyond the values.
    #[inline]
    pub fn output_len(&self, elements: &Range<u64>) -> Result<u64> {
        let count = elements.end.checked_sub(elements.start).filter(|_| elements.end <= self.element_count);
        count.and_then(|count| self.dtype.byte_len(count)).ok_or(ErrorKind::RangeOutOfBounds.at(0))
    }

    /// Writes the values of `elements` to `out`, as bytes in `order`. A masked value is the encoder's placeholder for it.
    /// O(`out.len()`), no allocation.
    ///
    /// The values of a bitmask begin at the first bit of `out`. A whole bitmask comes out exactly as it is stored. After a
    /// part of one, the bits after the last value are zero.
    ///
    /// # Errors
    /// [`ErrorKind::RangeOutOfBounds`]; [`ErrorKind::OutputLength`] if `out` is not [`Self::output_len`] long.
    pub fn decode_into(&self, elements: Range<u64>, order: ByteOrder, out: &mut [u8]) -> Result<()> {
        if self.output_len(&elements)? != out.len() as u64 {
            return Err(ErrorKind::OutputLength.at(0));
        }
        match self.layout {
            #[cfg(feature = "packing")]
            Layout::Packed(packing) => self.unpack(&packing, elements.start, out, &Bytes(order)),
            Layout::Elements if self.dtype == Dtype::Bitmask => self.bits_into(elements, out),
            Layout::Elements => {
                let start = elements.start.saturating_mul(self.dtype.byte_width() as u64);
                self.elements_into(start, order, out)
            }
        }
    }

    /// Unpacks values of simple_packing to `out`, beginning with element `start`.
    ///
    /// # Errors
    /// [`ErrorKind::NotPacked`] if the values are not packed; [`ErrorKind::RangeOutOfBounds`].
    #[cfg(feature = "packing")]
    pub fn unpack_into<T: Unpack>(&self, start: u64, out: &mut [T]) -> Result<()> {
        let Layout::Packed(packing) = self.layout else { return Err(ErrorKind::NotPacked.at(0)) };
        let end = start.checked_add(out.len() as u64).filter(|&end| end <= self.element_count);
        end.ok_or(ErrorKind::RangeOutOfBounds.at(0))?;
        self.unpack(&packing, start, out, &Values)
    }

    #[cfg(feature = "packing")]
    fn unpack<O>(&self, packing: &Packing, start: u64, out: &mut [O], sink: &impl Sink<O>) -> Result<()> {
        if self.element_size <= 1 {
            let start = start.checked_sub(self.skipped(packing)).ok_or(ErrorKind::RangeOutOfBounds.at(0))?;
            return sink.unpack(self.bytes, packing, start, out);
        }
        #[cfg(feature = "shuffle")]
        return self.unpack_shuffled(packing, start, out, sink);
        #[cfg(not(feature = "shuffle"))]
        Err(ErrorKind::NeedsDecoding(Stage::Filter(Some(Filter::Shuffle))).at(0))
    }

    /// Unshuffles and unpacks block by block.
    #[cfg(all(feature = "packing", feature = "shuffle"))]
    fn unpack_shuffled<O, S: Sink<O>>(&self, packing: &Packing, start: u64, out: &mut [O], sink: &S) -> Result<()> {
        let mut buffer = [0; BLOCK * size_of::<u64>()];
        let mut from = start;
        for block in out.chunks_mut(const { (BLOCK - 8) * S::SLOTS_PER_VALUE }) {
            let count = block.len().checked_div(S::SLOTS_PER_VALUE).unwrap_or(0) as u64;
            let aligned = from & !7;
            let first_byte = packing.packed_len(aligned).ok_or(ErrorKind::RangeOutOfBounds.at(0))?;
            let end_byte = packing.packed_len(from.saturating_add(count)).ok_or(ErrorKind::RangeOutOfBounds.at(0))?;
            let len = usize::try_from(end_byte.saturating_sub(first_byte)).unwrap_or(usize::MAX);
            let packed = buffer.get_mut(..len).ok_or(ErrorKind::OutputLength.at(0))?;
            unshuffle_range_into(self.bytes, self.element_size, first_byte, packed)?;
            sink.unpack(packed, packing, from.saturating_sub(aligned), block)?;
            from = from.saturating_add(count);
        }
        Ok(())
    }

    /// Writes plain elements, beginning with byte `start` of the unfiltered bytes.
    fn elements_into(&self, start: u64, order: ByteOrder, out: &mut [u8]) -> Result<()> {
        let unit = self.dtype.swap_unit_size();
        let swapped = order != self.order && unit > 1;
        if self.element_size <= 1 {
            let source = self.slice(start, out.len())?;
            return byteswap::swap_into(source, if swapped { unit } else { 1 }, out);
        }
        self.unshuffle_into(start, out)?;
        if swapped { byteswap::swap_in_place(out, unit) } else { Ok(()) }
    }

    /// Writes the bits of `elements`, beginning with the first bit of `out`.
    fn bits_into(&self, elements: Range<u64>, out: &mut [u8]) -> Result<()> {
        let shift = u32::try_from(elements.start & 7).unwrap_or(0);
        let first = elements.start >> 3;
        self.elements_into(first, self.order, out)?;
        if shift != 0 {
            // The last byte of `out` gets its lower bits from the byte after, if there is one.
            let mut next = [0];
            let after = first.saturating_add(out.len() as u64);
            if after < self.origin.saturating_add(self.bytes.len() as u64) {
                self.elements_into(after, self.order, &mut next)?;
            }
            shift_left(out, shift, next);
        }
        if elements != (0..self.element_count) {
            clear_padding(out, elements.end.saturating_sub(elements.start));
        }
        Ok(())
    }

    #[cfg(feature = "shuffle")]
    fn unshuffle_into(&self, start: u64, out: &mut [u8]) -> Result<()> {
        unshuffle_range_into(self.bytes, self.element_size, start, out)
    }

    #[cfg(not(feature = "shuffle"))]
    #[allow(clippy::unused_self, reason = "as with the feature")]
    fn unshuffle_into(&self, _start: u64, _out: &mut [u8]) -> Result<()> {
        Err(ErrorKind::NeedsDecoding(Stage::Filter(Some(Filter::Shuffle))).at(0))
    }

    fn slice(&self, start: u64, len: usize) -> Result<&'a [u8]> {
        let start = start.checked_sub(self.origin).and_then(|start| usize::try_from(start).ok());
        start.and_then(|start| self.bytes.get(start..start.checked_add(len)?)).ok_or(ErrorKind::RangeOutOfBounds.at(0))
    }
}

/// Bytes of an object after decompression, before unshuffling and unpacking. A compressor was given this number of bytes.
///
/// # Errors
/// [`ErrorKind::ShapeOverflow`]; the errors of the encoding's name and parameters.
pub fn stored_len(descriptor: &Descriptor<'_>) -> Result<u64> {
    match layout(descriptor)? {
        Layout::Elements => descriptor.decoded_len(),
        #[cfg(feature = "packing")]
        Layout::Packed(packing) => {
            let len = packing.packed_len(descriptor.element_count());
            len.ok_or(ErrorKind::ShapeOverflow.at(descriptor.shape().offset()))
        }
    }
}

/// The uncompressed bytes of an object that hold the values of `elements`: what [`Stored::window`] needs. For objects
/// without a filter.
///
/// A packed value may begin inside a byte. So the window begins with the group of eight values that holds the first one,
/// because such a group begins on a byte.
///
/// # Errors
/// [`ErrorKind::RangeOutOfBounds`]; the errors of [`stored_len`].
pub fn window_of(descriptor: &Descriptor<'_>, elements: &Range<u64>) -> Result<Range<u64>> {
    let out_of_bounds = ErrorKind::RangeOutOfBounds.at(0);
    if elements.start > elements.end || elements.end > descriptor.element_count() {
        return Err(out_of_bounds);
    }
    let dtype = descriptor.dtype();
    let first = elements.start & !7;
    let window = match layout(descriptor)? {
        Layout::Elements if dtype == Dtype::Bitmask => dtype.byte_len(first).zip(dtype.byte_len(elements.end)),
        Layout::Elements => dtype.byte_len(elements.start).zip(dtype.byte_len(elements.end)),
        #[cfg(feature = "packing")]
        Layout::Packed(packing) => packing.packed_len(first).zip(packing.packed_len(elements.end)),
    };
    window.map(|(start, end)| start..end).ok_or(out_of_bounds)
}

fn layout(descriptor: &Descriptor<'_>) -> Result<Layout> {
    match descriptor.encoding().known() {
        Some(Encoding::None) => Ok(Layout::Elements),
        #[cfg(feature = "packing")]
        Some(Encoding::SimplePacking) if descriptor.dtype() == Dtype::Float64 => {
            descriptor.packing().map(Layout::Packed)
        }
        #[cfg(feature = "packing")]
        Some(Encoding::SimplePacking) => Err(not_float64(descriptor)),
        other => Err(ErrorKind::NeedsDecoding(Stage::Encoding(other)).at(descriptor.offset())),
    }
}

/// The error of simple_packing with another dtype than float64.
#[cfg(feature = "packing")]
pub(crate) fn not_float64(descriptor: &Descriptor<'_>) -> Error {
    let mismatch = ErrorKind::DtypeMismatch { expected: Dtype::Float64, found: descriptor.dtype() };
    mismatch.at(descriptor.offset())
}

/// The shuffle filter's element size; 1 without the filter, because shuffling by 1 changes nothing.
fn element_size(descriptor: &Descriptor<'_>) -> Result<u64> {
    match descriptor.filter().known() {
        Some(Filter::None) => Ok(1),
        Some(Filter::Shuffle) if cfg!(feature = "shuffle") => descriptor.shuffle_element_size(),
        other => Err(ErrorKind::NeedsDecoding(Stage::Filter(other)).at(descriptor.offset())),
    }
}

/// The form in which unpacked values are written.
#[cfg(feature = "packing")]
trait Sink<O> {
    /// How many items of the output one value takes.
    #[cfg_attr(not(feature = "shuffle"), expect(dead_code, reason = "only blocks are counted"))]
    const SLOTS_PER_VALUE: usize;

    fn unpack(&self, packed: &[u8], packing: &Packing, start: u64, out: &mut [O]) -> Result<()>;
}

/// Values as bytes in a byte order.
#[cfg(feature = "packing")]
struct Bytes(ByteOrder);

#[cfg(feature = "packing")]
impl Sink<u8> for Bytes {
    const SLOTS_PER_VALUE: usize = size_of::<f64>();

    fn unpack(&self, packed: &[u8], packing: &Packing, start: u64, out: &mut [u8]) -> Result<()> {
        unpack_bytes_into(packed, packing, start, self.0, out)
    }
}

/// Values as floats.
#[cfg(feature = "packing")]
struct Values;

#[cfg(feature = "packing")]
impl<T: Unpack> Sink<T> for Values {
    const SLOTS_PER_VALUE: usize = 1;

    fn unpack(&self, packed: &[u8], packing: &Packing, start: u64, out: &mut [T]) -> Result<()> {
        unpack_into(packed, packing, start, out)
    }
}

/// Moves all bits to the front by `shift` places, 1 to 7. The first bits of `next` fill the end.
fn shift_left(bytes: &mut [u8], shift: u32, next: [u8; 1]) {
    let [mut next] = next;
    for byte in bytes.iter_mut().rev() {
        let both = u16::from_be_bytes([*byte, next]).wrapping_shl(shift);
        next = core::mem::replace(byte, both.to_be_bytes()[0]);
    }
}

/// Clears the bits after the first `count`.
fn clear_padding(bytes: &mut [u8], count: u64) {
    let used = u32::try_from(count & 7).unwrap_or(0);
    if let (Some(last), 1..) = (bytes.last_mut(), used) {
        *last &= 0xff_u8.wrapping_shl(8_u32.saturating_sub(used));
    }
}
