//! Where the stages meet: from an object's payload to its values, sizes checked first.
//!
//! ```text
//! decode_values ──── a buffer ──┐                  ┌─ values ── masks restored
//! decode_values_into ───────────┴─ Source ─────────┤
//! decode_ranges ──── buffers ───┐                  │
//! decode_ranges_into ───────────┴─ RangeSource ────┘
//! ```
//!
//! Each takes an object that may be trusted: see [`super::trust`]. One allocation holds the values, or the caller's buffer does; what a decompressor writes for a filter or packing takes
//! the buffer of the scratch memory. Values that lie in the message as they are wanted are borrowed.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use tgm_core::ErrorKind;
use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Encoding, Filter};
use tgm_core::stored::{Stored, stored_len, window_of};
use tgm_core::tensor::Element;
use zerocopy::IntoBytes as _;

use super::Scratch;
use super::parts::AtHand;
use super::trust::Trusted;
use super::visits::{Visit, Visits};
use crate::base::error::{Result, TensogramError};
use crate::base::limits::{at_least, reserve};
use crate::base::options::DecodeOptions;
use crate::base::threads::Threads;
use crate::codec::{self, Codec, CodecError, Workspace};
use crate::decode::masks::Masks;
use crate::kernels::packing::Value;
use crate::kernels::{self, byteswap};

/// The byte order that values are wanted in.
pub(crate) fn target_order(descriptor: &Descriptor<'_>, options: &DecodeOptions) -> ByteOrder {
    if options.native_byte_order { ByteOrder::NATIVE } else { descriptor.byte_order() }
}

/// All values of an object, masked ones restored if the options say so.
pub(crate) fn decode_values<'a>(
    object: Trusted<'_, 'a>,
    options: &DecodeOptions,
    threads: Threads,
) -> Result<Cow<'a, [u8]>> {
    let order = target_order(object.descriptor(), options);
    let Scratch { mut bytes, mut masks, mut work, .. } = Scratch::default();
    let mut values = match Source::open(object, order, options, threads, &mut bytes, &mut work)? {
        Source::Values(values) => Cow::Borrowed(values),
        source => {
            let mut out = reserve(check_decoded_len(object, options)?)?;
            source.decode_into(object, order, threads, &mut work, &mut out)?;
            Cow::Owned(out)
        }
    };
    if must_restore(object, options) {
        Masks::read(object, options, &mut masks)?.restore_into(0, order, values.to_mut())?;
    }
    Ok(values)
}

/// [`decode_values`] in `order` into all of `out`.
pub(crate) fn decode_values_into(
    object: Trusted<'_, '_>,
    order: ByteOrder,
    options: &DecodeOptions,
    threads: Threads,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<()> {
    check_output(object.descriptor().decoded_len()?, out)?;
    let Scratch { bytes, masks, work, .. } = scratch;
    let source = Source::open(object, order, options, threads, bytes, work)?;
    source.decode_into(object, order, threads, work, out)?;
    if must_restore(object, options) {
        Masks::read(object, options, masks)?.restore_into(0, order, out)?;
    }
    Ok(())
}

/// As many packed values as `out` has, from element `start` on, masked ones restored if the options say so.
pub(crate) fn unpack_into<T: Element + Value>(
    object: Trusted<'_, '_>,
    start: u64,
    options: &DecodeOptions,
    threads: Threads,
    scratch: &mut Scratch,
    out: &mut [T],
) -> Result<()> {
    let count = out.len() as u64;
    let range = range_of(object.descriptor(), (start, count))?;
    if object.descriptor().encoding().known() == Some(Encoding::None) {
        return Err(ErrorKind::NotPacked.at(object.descriptor().offset()).into());
    }
    let Scratch { bytes, masks, work, .. } = scratch;
    let source = if range == (0..object.descriptor().element_count()) {
        RangeSource::All(stored_in(object, options, threads, bytes, work)?)
    } else {
        RangeSource::open(object, range.end, options, bytes, work)?
    };
    source.unpack_into(object, start, options, out)?;
    if must_restore(object, options) {
        let masks = Masks::read(object, options, masks)?.of_dtype(T::DTYPE);
        masks.restore_into(start, ByteOrder::NATIVE, out.as_mut_bytes())?;
    }
    Ok(())
}

/// Where an object's values come from, and what is still to be done to have them.
enum Source<'a, 's> {
    /// Nothing: they lie in the message as they are wanted.
    Values(&'a [u8]),
    /// They are stored or decompressed bytes, to be swapped, unshuffled or unpacked.
    Stored(Stored<'s>),
    /// They are what the payload decompresses to, but for the order of bytes.
    Compressed(&'static dyn Codec),
    /// The codec decompresses and unpacks in one pass.
    Packed(&'static dyn Codec),
}

impl<'a: 's, 's> Source<'a, 's> {
    /// Makes sure that the pipeline can be undone within the limits, and undoes what another stage stands behind, into
    /// `bytes`.
    fn open(
        object: Trusted<'_, 'a>,
        order: ByteOrder,
        options: &DecodeOptions,
        threads: Threads,
        bytes: &'s mut Vec<u8>,
        work: &mut Workspace,
    ) -> Result<Self> {
        let descriptor = object.descriptor();
        let compression = compression(descriptor)?;
        if compression == Compression::None {
            let stored = stored(object, object.payload())?;
            if let Some(values) = stored.as_values().filter(|_| !must_swap(descriptor, order)) {
                return Ok(Self::Values(values));
            }
            check_decoded_len(object, options)?;
            return Ok(Self::Stored(stored));
        }
        let backend = codec::codec(compression, options.compression_backend)?;
        check_decoded_len(object, options)?;
        if backend.unpacks(descriptor) {
            return Ok(Self::Packed(backend));
        }
        if is_plain(descriptor) {
            return Ok(Self::Compressed(backend));
        }
        Ok(Self::Stored(stored_in(object, options, threads, bytes, work)?))
    }

    /// Does what is left, into `out`, which is as long as the values are.
    fn decode_into(
        &self,
        object: Trusted<'_, 'a>,
        order: ByteOrder,
        threads: Threads,
        work: &mut Workspace,
        out: &mut [u8],
    ) -> Result<()> {
        let (descriptor, payload) = (object.descriptor(), object.payload());
        match self {
            Self::Values(values) => {
                check_output(values.len() as u64, out)?;
                out.copy_from_slice(values);
                Ok(())
            }
            Self::Stored(stored) => decode_stored(object, stored, order, threads, out),
            Self::Packed(backend) => {
                let unpacked = backend.unpack_into(payload, descriptor, order, out, threads);
                unpacked.map_err(|error| codec_error(*backend, &error))
            }
            Self::Compressed(backend) => {
                let decompressed = backend.decompress_on(threads, payload, descriptor, out, work);
                decompressed.map_err(|error| codec_error(*backend, &error))?;
                if must_swap(descriptor, order) {
                    let unit = descriptor.dtype().swap_unit_size();
                    threads.pieces(out, unit, |_, piece| byteswap::swap_in_place(piece, unit))?;
                }
                Ok(())
            }
        }
    }
}

/// The values of several ranges of elements, each in a buffer of its own; what they share is done once.
pub(crate) fn decode_ranges(
    object: Trusted<'_, '_>,
    ranges: &[(u64, u64)],
    options: &DecodeOptions,
) -> Result<Vec<Vec<u8>>> {
    let order = target_order(object.descriptor(), options);
    check_ranges(object, ranges, options)?;
    let mut parts = vec![Vec::new(); ranges.len()];
    decode_each_range(object, ranges, order, options, &mut Scratch::default(), |visit, len, decode| {
        let mut out = reserve(len)?;
        decode(&mut out)?;
        if let Some(part) = parts.get_mut(visit.index) {
            *part = out;
        }
        Ok(())
    })?;
    Ok(parts)
}

/// The values of ranges in `order` one after the other into all of `out`; each begins with a byte of its own.
pub(crate) fn decode_ranges_into(
    object: Trusted<'_, '_>,
    ranges: &[(u64, u64)],
    order: ByteOrder,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    out: &mut [u8],
) -> Result<()> {
    check_output(check_ranges(object, ranges, options)?, out)?;
    decode_each_range(object, ranges, order, options, scratch, |visit, len, decode| {
        let end = visit.offset.saturating_add(len);
        let part = out.get_mut(visit.offset..end);
        decode(part.ok_or_else(|| TensogramError::encoding("ranges are longer than they were found to be"))?)
    })
}

/// Calls `place` for each range, in ascending order, with its place among those given, the bytes of its values, and what
/// decodes them into a buffer of so many.
///
/// Every range of every function comes through here. All of them together cost no more than decoding everything once
/// (half as much again for szip, which has to be read to be found in), and what was asked for.
fn decode_each_range(
    object: Trusted<'_, '_>,
    ranges: &[(u64, u64)],
    order: ByteOrder,
    options: &DecodeOptions,
    scratch: &mut Scratch,
    mut place: impl FnMut(Visit, usize, &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()>,
) -> Result<()> {
    if ranges.is_empty() {
        return Ok(());
    }
    let descriptor = object.descriptor();
    let end = ranges.iter().map(|(start, count)| start.saturating_add(*count)).max().unwrap_or(0);
    let Scratch { bytes, masks, runs, visits, work, .. } = scratch;
    let len_of = |range| options.limits.check_bytes(u64::MAX, range_len(descriptor, range)?);
    let visits = Visits::new(ranges, visits, len_of)?;
    let mut source = RangeSource::open(object, end, options, bytes, work)?;
    let masks = if must_restore(object, options) { Masks::read(object, options, masks)? } else { Masks::none(object) };
    let mut masks = masks.in_order(runs);
    let mut behind = 0_usize;
    for number in 0..ranges.len() {
        let mut coming = visits.from(number);
        let (Some(given), Some(range)) = (visits.range(number), coming.next()) else { break };
        let (visit, len, next) = (visits.place(number, behind), len_of(given)?, coming.next().map(|next| next.start));
        behind = behind.saturating_add(len);
        place(visit, len, &mut |out| {
            source.decode_into(object, &range, visits.from(number), order, options, out)?;
            masks.restore_into(&range, next, order, out)
        })?;
    }
    masks.finish()
}

/// Where the values of ranges come from.
enum RangeSource<'s> {
    /// All uncompressed bytes: those of the message, or decompressed once for all ranges.
    All(Stored<'s>),
    /// A payload that is decompressed part by part.
    Parts(AtHand<'s>),
}

impl<'s> RangeSource<'s> {
    /// Opens an object for ranges that end with element `end` at the latest.
    fn open(
        object: Trusted<'s, '_>,
        end: u64,
        options: &DecodeOptions,
        bytes: &'s mut Vec<u8>,
        work: &'s mut Workspace,
    ) -> Result<Self> {
        let descriptor = object.descriptor();
        let compression = compression(descriptor)?;
        let is_filtered = descriptor.filter().known() != Some(Filter::None);
        if compression != Compression::None && !is_filtered && descriptor.encoding().known().is_some() {
            let backend = codec::codec(compression, options.compression_backend)?;
            let total = stored_len(descriptor)?;
            options.limits.check_bytes(object.payload().len() as u64, descriptor.decoded_len()?)?;
            let window = window_of(descriptor, &(0..end))?;
            let parts = backend.open_parts(object.payload(), descriptor, total, window.end, work);
            if let Some(parts) = parts.map_err(|error| codec_error(backend, &error))? {
                return Ok(Self::Parts(AtHand::new(backend, parts, bytes)));
            }
            // The workspace was for parts. Codecs without parts need none, or make one.
            return Ok(Self::All(stored_in(object, options, Threads::NONE, bytes, &mut Workspace::default())?));
        }
        Ok(Self::All(stored_in(object, options, Threads::NONE, bytes, work)?))
    }

    /// Writes the values of `range` in `order` to all of `out`. `coming` are this range and those behind it, in ascending
    /// order.
    fn decode_into(
        &mut self,
        object: Trusted<'_, '_>,
        range: &Range<u64>,
        coming: impl Iterator<Item = Range<u64>>,
        order: ByteOrder,
        options: &DecodeOptions,
        out: &mut [u8],
    ) -> Result<()> {
        let stored = self.stored(object, coming, options)?;
        kernels::decode_stored_into(&stored, range.clone(), order, out)
            .map_err(|e| e.shift(object.region_offset()).into())
    }

    /// Unpacks values from element `start` on, which the object has, to all of `out`.
    fn unpack_into<T: Value>(
        mut self,
        object: Trusted<'_, '_>,
        start: u64,
        options: &DecodeOptions,
        out: &mut [T],
    ) -> Result<()> {
        let range = start..start.saturating_add(out.len() as u64);
        let stored = self.stored(object, iter::once(range), options)?;
        let unpacked = match stored.as_packed() {
            Some((bytes, packing)) => kernels::packing::unpack_into(bytes, &packing, start, out),
            None => stored.unpack_into(start, out),
        };
        unpacked.map_err(|e| e.shift(object.region_offset()).into())
    }

    /// Uncompressed bytes that hold the values of the first range of `coming`.
    fn stored(
        &mut self,
        object: Trusted<'_, '_>,
        coming: impl Iterator<Item = Range<u64>>,
        options: &DecodeOptions,
    ) -> Result<Stored<'_>> {
        match self {
            Self::All(stored) => Ok(*stored),
            Self::Parts(parts) => parts.stored(object.descriptor(), coming, options),
        }
    }
}

/// The bytes of all ranges' values together, if the object has them and the limits allow them.
fn check_ranges(object: Trusted<'_, '_>, ranges: &[(u64, u64)], options: &DecodeOptions) -> Result<u64> {
    let descriptor = object.descriptor();
    ranges.iter().try_for_each(|&range| elements(range).map(drop))?;
    let add = |sum: u64, &range| Ok::<_, TensogramError>(sum.saturating_add(range_len(descriptor, range)?));
    let total = ranges.iter().try_fold(0, add)?;
    options.limits.check_bytes(u64::MAX, total)?;
    Ok(total)
}

/// The elements of a range given as start and count.
fn elements((start, count): (u64, u64)) -> Result<Range<u64>> {
    let end = start.checked_add(count);
    let end = end.ok_or_else(|| {
        TensogramError::encoding(format!("range (offset={start}, count={count}): range error: end overflows u64"))
    })?;
    Ok(start..end)
}

/// The elements of a range, which the object must have.
fn range_of(descriptor: &Descriptor<'_>, range: (u64, u64)) -> Result<Range<u64>> {
    let elements = elements(range)?;
    if elements.end <= descriptor.element_count() { Ok(elements) } else { Err(beyond(range)) }
}

/// Bytes of the values of a range, which the object must have.
fn range_len(descriptor: &Descriptor<'_>, range: (u64, u64)) -> Result<u64> {
    range_of(descriptor, range)?;
    descriptor.dtype().byte_len(range.1).ok_or_else(|| beyond(range))
}

fn beyond((start, count): (u64, u64)) -> TensogramError {
    TensogramError::encoding(format!(
        "range (offset={start}, count={count}): range error: range ({start}, {count}) exceeds payload size"
    ))
}

/// Whether masked values are to be restored.
fn must_restore(object: Trusted<'_, '_>, options: &DecodeOptions) -> bool {
    options.restore_non_finite && !object.descriptor().masks().is_empty()
}

/// Whether the values are what a compressor was given.
fn is_plain(descriptor: &Descriptor<'_>) -> bool {
    descriptor.encoding().known() == Some(Encoding::None) && descriptor.filter().known() == Some(Filter::None)
}

/// Bytes of all values, if the limits allow them.
fn check_decoded_len(object: Trusted<'_, '_>, options: &DecodeOptions) -> Result<usize> {
    options.limits.check_bytes(object.payload().len() as u64, object.descriptor().decoded_len()?)
}

/// Checks that the caller's buffer is as long as what is to be written to it.
fn check_output(expected: u64, out: &[u8]) -> Result<()> {
    let len = out.len();
    if len as u64 == expected {
        return Ok(());
    }
    Err(TensogramError::encoding(format!("output has {len} bytes, the values have {expected}")))
}

/// The compression's name, which must be one of the format.
fn compression(descriptor: &Descriptor<'_>) -> Result<Compression> {
    let name = descriptor.compression();
    name.known().ok_or_else(|| TensogramError::encoding(format!("unknown compression: {name}")))
}

/// Joins uncompressed bytes with what the descriptor says about them.
fn stored<'a>(object: Trusted<'_, '_>, bytes: &'a [u8]) -> Result<Stored<'a>> {
    let descriptor = object.descriptor();
    if descriptor.encoding().known().is_none() {
        return Err(TensogramError::encoding(format!("unknown encoding: {}", descriptor.encoding())));
    }
    if descriptor.filter().known().is_none() {
        return Err(TensogramError::encoding(format!("unknown filter: {}", descriptor.filter())));
    }
    Stored::new(descriptor, bytes).map_err(|error| match error.kind() {
        ErrorKind::PayloadSize => {
            let claimed = stored_len(descriptor).unwrap_or(u64::MAX);
            TensogramError::encoding(format!(
                "descriptor claims {claimed} decoded byte(s) but frame payload is {} byte(s) (encoding {}, dtype width {})",
                bytes.len(),
                descriptor.encoding(),
                descriptor.dtype().byte_width(),
            ))
        }
        _ => error.into(),
    })
}

fn must_swap(descriptor: &Descriptor<'_>, order: ByteOrder) -> bool {
    descriptor.byte_order() != order && descriptor.dtype().swap_unit_size() > 1
}

/// The uncompressed bytes of an object: those of the message, or decompressed into `bytes`. How many there must be is
/// known from the descriptor, so that nothing in the payload is believed.
fn stored_in<'a: 's, 's>(
    object: Trusted<'_, 'a>,
    options: &DecodeOptions,
    threads: Threads,
    bytes: &'s mut Vec<u8>,
    work: &mut Workspace,
) -> Result<Stored<'s>> {
    let descriptor = object.descriptor();
    let compression = compression(descriptor)?;
    if compression == Compression::None {
        return stored(object, object.payload());
    }
    let backend = codec::codec(compression, options.compression_backend)?;
    check_decoded_len(object, options)?;
    let len = options.limits.check_bytes(object.payload().len() as u64, stored_len(descriptor)?)?;
    let bytes = at_least(bytes, len)?;
    let decompressed = backend.decompress_on(threads, object.payload(), descriptor, bytes, work);
    decompressed.map_err(|error| codec_error(backend, &error))?;
    stored(object, bytes)
}

/// Swaps, unshuffles and unpacks all values.
fn decode_stored(
    object: Trusted<'_, '_>,
    stored: &Stored<'_>,
    order: ByteOrder,
    threads: Threads,
    out: &mut [u8],
) -> Result<()> {
    // Bits of a bitmask have no bytes of their own to start with.
    let (width, threads) = match object.descriptor().dtype().byte_width() {
        0 => (1, Threads::NONE),
        width => (width, threads),
    };
    let (len, count) = (out.len(), stored.element_count());
    threads.pieces(out, width, |start, piece| {
        let first = (start / width) as u64;
        let end = if piece.len() == len { count } else { first + (piece.len() / width) as u64 };
        kernels::decode_stored_into(stored, first..end, order, piece).map_err(|e| e.shift(object.region_offset()))
    })?;
    Ok(())
}

/// What a backend said, with its name.
pub(super) fn codec_error(backend: &dyn Codec, error: &CodecError) -> TensogramError {
    TensogramError::encoding(format!("{} compression: {error}", backend.name()))
}
