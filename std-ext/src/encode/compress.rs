//! The third stage: compressors that this build has, and errors that name the feature for those it lacks.

use tgm_core::descriptor::ByteOrder;
use tgm_core::szip;

use crate::codec::{self, CodecError};
use crate::encode::plan::{Compressor, failure};
use crate::error::{Result, TensogramError};
use crate::options::CompressionBackend;
use crate::threads::Threads;

/// What a compressor may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Means {
    pub(crate) backend: CompressionBackend,
    /// Threads that one object may use.
    pub(crate) threads: Threads,
}

/// A compressed payload.
#[derive(Debug)]
pub(crate) struct Compressed {
    pub(crate) payload: Vec<u8>,
    /// The bits at which szip's intervals start.
    pub(crate) offsets: Option<Vec<u64>>,
}

/// Compresses `bytes`, which are values in `order` for compressors that code values.
///
/// # Errors
/// [`TensogramError::Encoding`] naming the codec.
pub(crate) fn compress(compressor: &Compressor, bytes: &[u8], order: ByteOrder, means: Means) -> Result<Compressed> {
    let payload = match compressor {
        Compressor::None => bytes.to_vec(),
        Compressor::Szip(params) => {
            let (payload, offsets) = szip(bytes, params, means.backend).map_err(|error| failure("szip", error))?;
            return Ok(Compressed { payload, offsets: Some(offsets) });
        }
        Compressor::Zstd { level } => zstd(bytes, *level, means.threads).map_err(|error| failure("zstd", error))?,
        Compressor::Lz4 => lz4(bytes).map_err(|error| failure("lz4", error))?,
        Compressor::Blosc2 { codec, level, typesize } => {
            blosc2(bytes, *codec, *level, *typesize, means.threads).map_err(|error| failure("blosc2", error))?
        }
        Compressor::Zfp(mode) => {
            codec::zfp::compress_values(&values(bytes, order)?, *mode).map_err(|error| failure("zfp", error))?
        }
        Compressor::Sz3(bound) => sz3(&values(bytes, order)?, *bound).map_err(|error| failure("sz3", error))?,
        Compressor::Rle => codec::rle::compress(bytes).map_err(|error| failure("rle", error))?,
        Compressor::Roaring => roaring(bytes).map_err(|error| failure("roaring", error))?,
    };
    Ok(Compressed { payload, offsets: None })
}

/// The numbers that `bytes` are.
fn values(bytes: &[u8], order: ByteOrder) -> Result<Vec<f64>> {
    let (values, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(TensogramError::encoding(format!("data length {} is not a multiple of 8", bytes.len())));
    }
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
) -> std::result::Result<(Vec<u8>, Vec<u64>), CodecError> {
    match backend {
        #[cfg(feature = "szip")]
        CompressionBackend::Ffi => codec::szip::libaec::compress(bytes, params),
        _ => codec::szip::compress(bytes, params),
    }
}

#[cfg(feature = "blosc2")]
pub(crate) use codec::blosc2::{compress as blosc2, compress_mask as blosc2_mask};
#[cfg(feature = "lz4")]
pub(crate) use codec::lz4::compress as lz4;
#[cfg(feature = "roaring")]
pub(crate) use codec::roaring::{append_bitmap as roaring_mask, compress as roaring};
#[cfg(feature = "sz3-decode")]
use codec::sz3::compress as sz3;
#[cfg(feature = "zstd")]
pub(crate) use codec::zstd::compress as zstd;
