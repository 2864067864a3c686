//! The third stage: the compressors of this build. For a compressor that is not compiled in, the error names the
//! feature.

use tgm_codec::CodecError;
use tgm_codec::memory;
use tgm_codec::threads::Threads;
use tgm_core::descriptor::ByteOrder;
use tgm_core::szip;

use crate::base::error::TensogramError;
use crate::base::options::{Blosc2Codec, CompressionBackend, EncodeOptions};
use crate::encode::packing::Values;
use crate::encode::plan::{Compressor, Plan, failure};
use crate::encode::region::Payload;
use crate::model::types::DataObjectDescriptor;

/// The backend and the threads that a compressor may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Means {
    pub(crate) backend: CompressionBackend,
    /// The threads for one object.
    pub(crate) threads: Threads,
}

/// Compresses `bytes` and appends the result to `out`. Compressors of numbers read them as values in `order`. For szip,
/// returns the bit offsets of its intervals.
///
/// # Errors
/// [`TensogramError::Encoding`] naming the codec.
fn compress(
    compressor: &Compressor,
    bytes: &[u8],
    order: ByteOrder,
    means: Means,
    out: &mut Vec<u8>,
) -> Result<Option<Vec<u64>>, TensogramError> {
    match compressor {
        Compressor::None => out.extend_from_slice(bytes),
        Compressor::Szip(params) => {
            let backend = means.backend.resolve()?;
            return szip(bytes, params, backend, means.threads, out).map(Some).map_err(|error| failure("szip", error));
        }
        Compressor::Zstd { level } => {
            zstd(bytes, *level, means.threads, out).map_err(|error| failure("zstd", error))?;
        }
        Compressor::Lz4 => lz4(bytes, out).map_err(|error| failure("lz4", error))?,
        Compressor::Blosc2 { codec, level, typesize } => {
            blosc2(bytes, *codec, *level, *typesize, means.threads, out).map_err(|error| failure("blosc2", error))?;
        }
        Compressor::Zfp(mode) => {
            let stream = tgm_codec::zfp::compress_on(means.threads, stored_values(bytes)?, order, *mode);
            append(stream.map_err(|error| failure("zfp", error))?, out)?;
        }
        Compressor::Sz3(bound) => {
            append(sz3(&values(bytes, order)?, *bound).map_err(|error| failure("sz3", error))?, out)?;
        }
        Compressor::Rle => append(tgm_codec::rle::compress(bytes).map_err(|error| failure("rle", error))?, out)?,
        Compressor::Roaring => append(roaring(bytes).map_err(|error| failure("roaring", error))?, out)?,
    }
    Ok(None)
}

/// Compresses bytes that went through all other stages of an object with this descriptor.
///
/// # Errors
/// The errors of the descriptor; [`TensogramError::Encoding`] naming the codec.
pub(crate) fn compress_alone(
    descriptor: &DataObjectDescriptor,
    bytes: &[u8],
    options: &EncodeOptions,
) -> Result<Vec<u8>, TensogramError> {
    let threads = Threads::resolve(options.threads, bytes.len() as u64, options.parallel_threshold_bytes)?;
    let means = Means { backend: options.compression_backend, threads };
    let mut out = Vec::new();
    compress(&Plan::new(descriptor)?.compressor, bytes, descriptor.byte_order, means, &mut out)?;
    Ok(out)
}

/// Appends the output of a compressor that has a buffer of its own.
fn append(made: Vec<u8>, out: &mut Vec<u8>) -> Result<(), CodecError> {
    if out.is_empty() {
        *out = made;
        return Ok(());
    }
    memory::reserve(out, made.len())?;
    out.extend_from_slice(&made);
    Ok(())
}

/// Computes the payload, compresses it and appends the result to `out`. For szip, returns the bit offsets of its
/// intervals.
///
/// szip in Rust packs values interval by interval, so that there is never a buffer with all packed values. On several
/// threads, each packs the values that it codes.
///
/// # Errors
/// [`TensogramError::Encoding`] naming the codec.
pub(crate) fn compress_payload(
    compressor: &Compressor,
    payload: Payload<'_>,
    order: ByteOrder,
    means: Means,
    out: &mut Vec<u8>,
) -> Result<Option<Vec<u64>>, TensogramError> {
    if let (Compressor::Szip(params), Payload::Packed { bytes, order, packer, len, .. }) = (compressor, &payload)
        && !matches!(means.backend.resolve()?, CompressionBackend::Ffi)
    {
        let (values, width) = (Values::new(bytes, *order), params.container_size());
        let pack = |start: usize, out: &mut [u8]| packer.pack_into(values.part(start / width, out.len() / width), out);
        let made = tgm_codec::szip::append_made(means.threads, *len, params, pack, out);
        return made.map(Some).map_err(|error| failure("szip", error));
    }
    compress(compressor, &payload.into_bytes()?, order, means, out)
}

/// The float64 numbers in `bytes`, as they are stored.
fn stored_values(bytes: &[u8]) -> Result<&[[u8; 8]], TensogramError> {
    let (values, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(TensogramError::encoding(format!("data length {} is not a multiple of 8", bytes.len())));
    }
    Ok(values)
}

/// The float64 numbers in `bytes`.
fn values(bytes: &[u8], order: ByteOrder) -> Result<Vec<f64>, TensogramError> {
    let values = stored_values(bytes)?;
    let mut numbers = Vec::new();
    numbers
        .try_reserve_exact(values.len())
        .map_err(|_| TensogramError::encoding(format!("cannot allocate {} bytes", bytes.len())))?;
    match order {
        ByteOrder::Big => numbers.extend(values.iter().map(|value| f64::from_be_bytes(*value))),
        ByteOrder::Little => numbers.extend(values.iter().map(|value| f64::from_le_bytes(*value))),
    }
    Ok(numbers)
}

fn szip(
    bytes: &[u8],
    params: &szip::Params,
    backend: CompressionBackend,
    threads: Threads,
    out: &mut Vec<u8>,
) -> Result<Vec<u64>, CodecError> {
    match backend {
        #[cfg(feature = "libaec")]
        CompressionBackend::Ffi => {
            let (made, offsets) = tgm_codec::szip::libaec::compress(bytes, params)?;
            append(made, out)?;
            Ok(offsets)
        }
        _ => tgm_codec::szip::append_on(threads, bytes, params, out),
    }
}

#[cfg(feature = "lz4")]
pub(crate) use tgm_codec::lz4::append as lz4;
#[cfg(feature = "roaring")]
pub(crate) use tgm_codec::roaring::{append_bitmap as roaring_mask, compress as roaring};
#[cfg(feature = "sz3-decode")]
use tgm_codec::sz3::compress as sz3;
#[cfg(feature = "zstd")]
pub(crate) use tgm_codec::zstd::append as zstd;

#[cfg(feature = "blosc2")]
fn blosc2(
    bytes: &[u8],
    codec: Blosc2Codec,
    level: u8,
    typesize: u8,
    threads: Threads,
    out: &mut Vec<u8>,
) -> Result<(), CodecError> {
    let settings = tgm_codec::blosc2::Settings::payload(codec, level.into(), typesize.into())?;
    tgm_codec::blosc2::append(bytes, &settings.with_threads(threads.count()), out)
}

/// Appends a mask's bits, compressed by blosc2.
#[cfg(feature = "blosc2")]
pub(crate) fn blosc2_mask(bits: &[u8], codec: Blosc2Codec, level: i32, out: &mut Vec<u8>) -> Result<(), CodecError> {
    tgm_codec::blosc2::append(bits, &tgm_codec::blosc2::Settings::mask(codec, level.into()), out)
}

#[cfg(not(feature = "blosc2"))]
fn blosc2(_: &[u8], _: Blosc2Codec, _: u8, _: u8, _: Threads, _: &mut Vec<u8>) -> Result<(), CodecError> {
    Err(CodecError::not_compiled_in("blosc2", "blosc2"))
}

/// The error for masks without feature `blosc2`.
#[cfg(not(feature = "blosc2"))]
pub(crate) fn blosc2_mask(_: &[u8], _: Blosc2Codec, _: i32, _: &mut Vec<u8>) -> Result<(), CodecError> {
    Err(CodecError::not_compiled_in("blosc2", "blosc2"))
}

/// The error without feature `lz4`.
#[cfg(not(feature = "lz4"))]
pub(crate) fn lz4(_: &[u8], _: &mut Vec<u8>) -> Result<(), CodecError> {
    Err(CodecError::not_compiled_in("lz4", "lz4"))
}

#[cfg(not(feature = "roaring"))]
fn roaring(_: &[u8]) -> Result<Vec<u8>, CodecError> {
    Err(CodecError::not_compiled_in("roaring", "roaring"))
}

/// The error for masks without feature `roaring`.
#[cfg(not(feature = "roaring"))]
pub(crate) fn roaring_mask(_: &[u8], _: u64, _: &mut Vec<u8>) -> Result<(), CodecError> {
    Err(CodecError::not_compiled_in("roaring", "roaring"))
}

#[cfg(not(feature = "sz3-decode"))]
fn sz3(_: &[f64], _: tgm_codec::ErrorBound) -> Result<Vec<u8>, CodecError> {
    Err(CodecError::not_compiled_in("sz3", "sz3-decode"))
}

/// The error without feature `zstd`.
#[cfg(not(feature = "zstd"))]
pub(crate) fn zstd(_: &[u8], _: i32, _: Threads, _: &mut Vec<u8>) -> Result<(), CodecError> {
    Err(CodecError::not_compiled_in("zstd", "zstd"))
}

#[cfg(all(test, feature = "libaec"))]
mod tests {
    use super::*;
    use crate::ObjectBuilder;
    use crate::encode::encode;

    /// Both write the same bytes. But libaec refuses what it could not read back.
    #[test]
    fn szip_is_compressed_by_the_backend_that_is_asked_for() {
        let is_libaec = |object: ObjectBuilder<'_>, compression_backend| {
            let flags = szip::flags::PREPROCESS | szip::flags::NOT_ENFORCE;
            let object = object.szip().parameter("szip_block_size", 128).parameter("szip_flags", flags);
            let options = EncodeOptions { compression_backend, ..EncodeOptions::default() };
            let data = vec![0; 64 * 8];
            match encode(&crate::GlobalMetadata::default(), &[(object.descriptor(), &data)], &options) {
                Ok(_) => false,
                Err(error) if error.to_string().contains("libaec") => true,
                Err(error) => panic!("{error}"),
            }
        };
        for object in [
            || ObjectBuilder::new(&[128], &[0.0_f32; 128]).unwrap(),
            || ObjectBuilder::new(&[64], &[0.0_f64; 64]).unwrap().simple_packing(16),
        ] {
            assert!(is_libaec(object(), CompressionBackend::Ffi));
            assert!(!is_libaec(object(), CompressionBackend::Pure));
        }
    }
}
