//! The payload of integers that section 7 has in another form: simple packing, as a stream of szip where that is shorter.
//!
//! szip takes samples of 8, 16, 24 and 32 bits. So integers of 12 bits become samples of 16 bits, which stand for the same
//! values: the length of a stream hardly depends on the width. Points without a value repeat the integer before them, and
//! the first ones the first integer. A stream holds differences, which are 0 there, and runs of them take almost nothing.

use std::borrow::Cow;

use ciborium::Value;
use tgm_codec::szip::{RSI, compress};
use tgm_core::descriptor::{Compression, Dtype, Filter, Key};
use tgm_core::szip::{Params, flags};
use tgm_std::internal::reserve;
use tgm_std::pipeline::encode_pipeline;
use tgm_std::{DataObjectDescriptor, EncodeOptions, Result};

use super::codes::{Writer, containers_len, packed, packed_len, put_container, to_containers};
use crate::error::encoding_by;

/// Samples in a block, as encoders of GRIB have it.
const BLOCK_SIZE: u32 = 32;
/// Shorter blocks. Where gaps begin and end within a block, the samples of a gap take as many bits as the others.
const BLOCK_SIZES: [u32; 3] = [8, 16, BLOCK_SIZE];
/// Bytes of samples that say which block size is best.
const TRIED: usize = 1 << 18;
/// Bytes that a descriptor takes for the parameters of a stream, and for each offset of an interval.
const PARAMETERS: usize = 80;
const OFFSET: usize = 5;
/// Integers that fit samples.
const WIDTHS: std::ops::RangeInclusive<u32> = 1..=32;

/// Packs an integer of at most `bits` bits for each of `points` points, and makes `descriptor` say how. `None` is a point
/// without a value.
///
/// Returns the payload, and the mask of the points without a value: a bit for each point, 1 where it has none. The mask
/// is `None` if all points have a value. Memory for a sample for each point is taken beside the payload.
///
/// # Errors
/// [`Encoding`](tgm_std::TensogramError::Encoding) if memory runs out.
pub(super) fn pack<I>(
    integers: I,
    points: u64,
    bits: u32,
    descriptor: &mut DataObjectDescriptor,
) -> Result<(Vec<u8>, Option<Vec<u8>>)>
where
    I: Iterator<Item = Option<u64>> + Clone,
{
    let gaps = gaps(integers.clone(), points)?;
    let filled = filled(integers);
    if WIDTHS.contains(&bits) {
        let width = bits.next_multiple_of(u8::BITS);
        let container = params(width, BLOCK_SIZE)?.container_size();
        let mut samples = reserve(containers_len(points, container)?)?;
        samples.chunks_exact_mut(container).zip(filled.clone()).for_each(|(to, from)| put_container(from, to));
        let block_size = if gaps.is_some() { best_block_size(&samples, width)? } else { BLOCK_SIZE };
        if let Some(stream) = stream_below(packed_len(points, bits)?, &samples, (width, block_size), descriptor)? {
            return Ok((stream, gaps));
        }
    }
    descriptor.set_param(Key::SpBitsPerValue, bits);
    Ok((packed(filled.map(Some), points, bits)?, gaps))
}

/// The payload of integers of `bits` bits that are dense already, one for each of `points` points: a stream of szip where that is
/// shorter, which `descriptor` then says, and `dense` itself otherwise.
///
/// # Errors
/// As [`pack`].
pub(super) fn pack_dense<'d>(
    dense: &'d [u8],
    points: u64,
    bits: u32,
    descriptor: &mut DataObjectDescriptor,
) -> Result<Cow<'d, [u8]>> {
    if !WIDTHS.contains(&bits) {
        return Ok(dense.into());
    }
    let width = bits.next_multiple_of(u8::BITS);
    let container = params(width, BLOCK_SIZE)?.container_size();
    // Integers of whole bytes are samples as they are.
    let is_samples = u32::try_from(container * 8) == Ok(bits);
    let samples = if is_samples { Cow::Borrowed(dense) } else { to_containers(dense, bits, points, container)?.into() };
    let stream = stream_below(dense.len(), &samples, (width, BLOCK_SIZE), descriptor)?;
    Ok(stream.map_or(Cow::Borrowed(dense), Cow::Owned))
}

/// The stream of samples, if it is shorter than `len` bytes with what `descriptor` then says of it.
fn stream_below(
    len: usize,
    samples: &[u8],
    (width, block_size): (u32, u32),
    descriptor: &mut DataObjectDescriptor,
) -> Result<Option<Vec<u8>>> {
    let (stream, offsets) = streamed(samples, width, block_size)?;
    if stream.len() + PARAMETERS + offsets.len() * OFFSET >= len {
        return Ok(None);
    }
    describe_stream(descriptor, block_size);
    descriptor.set_param(Key::SzipBlockOffsets, offsets.into_iter().map(Value::from).collect::<Vec<_>>());
    descriptor.set_param(Key::SpBitsPerValue, width);
    Ok(Some(stream))
}

/// The payload of floats of `bits` bits, one for each point. A point without a value repeats the one before it. The bytes are shuffled
/// and become a stream of szip where that is shorter, which `descriptor` then says: gaps take almost nothing in it.
///
/// # Errors
/// As [`pack`].
pub(super) fn floats<I>(each: I, points: u64, bits: u32, descriptor: &mut DataObjectDescriptor) -> Result<Vec<u8>>
where
    I: Iterator<Item = Option<u64>> + Clone,
{
    let dense = packed(filled(each).map(Some), points, bits)?;
    // Integers of their bits, because encoders refuse NaN.
    let dtype = if descriptor.dtype == Dtype::Float32 { Dtype::Uint32 } else { Dtype::Uint64 };
    let mut staged = DataObjectDescriptor::new(dtype, descriptor.byte_order, &descriptor.shape);
    staged.filter = Filter::Shuffle.name().to_string();
    staged.set_param(Key::ShuffleElementSize, bits / u8::BITS);
    let streams = BLOCK_SIZES.map(|block_size| {
        describe_stream(&mut staged, block_size);
        encode_pipeline(&staged, &dense, &EncodeOptions::default())
    });
    let streams = streams.into_iter().collect::<Result<Vec<_>>>()?;
    let Some((staged, stream)) = streams.into_iter().min_by_key(|(_, stream)| stream.len()) else { return Ok(dense) };
    let offsets = staged.params.get(Key::SzipBlockOffsets.name()).and_then(Value::as_array).map_or(0, Vec::len);
    if stream.len() + PARAMETERS + offsets * OFFSET >= dense.len() {
        return Ok(dense);
    }
    (descriptor.filter, descriptor.compression) = (staged.filter, staged.compression);
    descriptor.params.extend(staged.params);
    Ok(stream)
}

/// The integers, and for each point without one the integer before it, or the first.
fn filled(integers: impl Iterator<Item = Option<u64>> + Clone) -> impl Iterator<Item = u64> + Clone {
    let first = integers.clone().flatten().next().unwrap_or(0);
    integers.scan(first, |held, integer| {
        *held = integer.unwrap_or(*held);
        Some(*held)
    })
}

/// Makes a descriptor say that the last stage is szip.
fn describe_stream(descriptor: &mut DataObjectDescriptor, block_size: u32) {
    descriptor.compression = Compression::Szip.name().to_string();
    descriptor.set_param(Key::SzipRsi, RSI);
    descriptor.set_param(Key::SzipBlockSize, block_size);
    descriptor.set_param(Key::SzipFlags, flags::PREPROCESS);
}

fn params(width: u32, block_size: u32) -> Result<Params> {
    let params = Params::new(width, block_size, RSI, flags::PREPROCESS | flags::MSB);
    params.map_err(|kind| encoding_by("szip", kind.at(0)))
}

/// The stream of samples, and the bits at which its intervals begin.
fn streamed(samples: &[u8], width: u32, block_size: u32) -> Result<(Vec<u8>, Vec<u64>)> {
    Ok(compress(samples, &params(width, block_size)?).map_err(|error| error.in_codec("szip"))?)
}

/// The block size that makes the samples shortest, by a part from their middle.
fn best_block_size(samples: &[u8], width: u32) -> Result<u32> {
    // A multiple of each width of a container.
    let len = samples.len().min(TRIED) / 12 * 12;
    let start = (samples.len() - len) / 2 / 12 * 12;
    let part = samples.get(start..start + len).unwrap_or_default();
    let lengths = BLOCK_SIZES.map(|size| streamed(part, width, size).map(|(stream, _)| (stream.len(), size)));
    let lengths = lengths.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(lengths.into_iter().min().map_or(BLOCK_SIZE, |(_, size)| size))
}

fn gaps(integers: impl Iterator<Item = Option<u64>>, points: u64) -> Result<Option<Vec<u8>>> {
    let (mut gaps, mut has_gaps) = (Writer::new(packed_len(points, 1)?)?, false);
    for integer in integers {
        has_gaps |= integer.is_none();
        gaps.put(integer.is_none().into(), 1);
    }
    Ok(has_gaps.then(|| gaps.finish()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use tgm_core::descriptor::{ByteOrder, Dtype};

    use super::*;

    fn made(integers: &[Option<u64>], bits: u32) -> (DataObjectDescriptor, Vec<u8>, Option<Vec<u8>>) {
        let points = integers.len() as u64;
        let mut descriptor = DataObjectDescriptor::new(Dtype::Float64, ByteOrder::Little, &[points]);
        let (payload, gaps) = pack(integers.iter().copied(), points, bits, &mut descriptor).unwrap();
        (descriptor, payload, gaps)
    }

    #[test]
    fn points_without_a_value_repeat_the_one_before_and_the_first_ones_the_first() {
        let (descriptor, payload, gaps) = made(&[None, Some(5), None, Some(7), None], 4);
        assert_eq!((payload, gaps), (vec![0x55, 0x57, 0x70], Some(vec![0b1010_1000])));
        assert_eq!(descriptor.compression, "none");
        assert_eq!(made(&[None; 9], 4).1, [0; 5]);
        assert_eq!(made(&[Some(1); 9], 1).2, None);
    }

    #[test]
    fn what_a_stream_does_not_shorten_keeps_its_bits() {
        let smooth: Vec<_> = (0..5000).map(|i| (i % 17 != 3).then_some(2000 + i / 16)).collect();
        let noise: Vec<_> = (0..5000_u64).map(|i| Some(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52)).collect();
        let about = |integers: &[Option<u64>], bits: u32| {
            let (descriptor, payload, _) = made(integers, bits);
            let bits = descriptor.params[Key::SpBitsPerValue.name()].as_integer().unwrap();
            (descriptor.compression, u32::try_from(bits).unwrap(), payload.len())
        };
        let (compression, bits, len) = about(&smooth, 12);
        assert!((compression.as_str(), bits) == ("szip", 16) && len < 2000, "{compression} {bits} {len}");
        assert_eq!(about(&noise, 12), ("none".to_string(), 12, 7500));
        assert_eq!(about(&smooth, 33).0, "none");
    }

    #[test]
    fn floats_with_gaps_are_a_stream_where_that_is_shorter() {
        let made = |each: &[Option<u64>], (dtype, bits)| {
            let points = each.len() as u64;
            let mut descriptor = DataObjectDescriptor::new(dtype, ByteOrder::Big, &[points]);
            let region = floats(each.iter().copied(), points, bits, &mut descriptor).unwrap();
            let stages = (descriptor.filter.clone(), descriptor.compression.clone());
            // As integers, because one of them is NaN.
            descriptor.dtype = if bits == 32 { Dtype::Uint32 } else { Dtype::Uint64 };
            let back = tgm_std::pipeline::decode_pipeline(&descriptor, &region, &tgm_std::DecodeOptions::default());
            let as_stored = |each: &[u8]| match descriptor.byte_order {
                order if order == ByteOrder::NATIVE => each.to_vec(),
                _ => each.iter().rev().copied().collect(),
            };
            let back: Vec<u8> = back.unwrap().chunks(bits as usize / 8).flat_map(as_stored).collect();
            assert!(back == packed(filled(each.iter().copied()).map(Some), points, bits).unwrap(), "{stages:?}");
            (stages.0, stages.1, region.len())
        };
        for (dtype, bits) in [(Dtype::Float32, 32), (Dtype::Float64, 64)] {
            let noise = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits);
            let few: Vec<_> = (0..4000).map(|i| (i % 50 == 7).then(|| noise(i))).collect();
            let (filter, compression, len) = made(&few, (dtype, bits));
            assert!(
                (filter.as_str(), compression.as_str()) == ("shuffle", "szip") && len < 1000 * bits as usize / 8,
                "{len}"
            );
            let all: Vec<_> = (0..4000).map(|i| Some(noise(i))).collect();
            assert_eq!(made(&all, (dtype, bits)), ("none".into(), "none".into(), 500 * bits as usize));
        }
        let nan = f32::NAN.to_bits().into();
        assert_eq!(made(&vec![Some(nan); 4000], (Dtype::Float32, 32)).1, "szip");
    }
}
