//! Compressing: a codec whose parameters are read and checked.

use std::fmt;

use tgm_core::descriptor::ByteOrder;

use super::Blosc2Codec;
use super::about::CodecResources;
use crate::error::{CodecError, Result};
use crate::memory;

/// A codec with its parameters, ready to compress an object.
pub trait Compress: fmt::Debug + Send + Sync {
    /// Compresses `bytes`, which went through all stages before, and appends the result to `out`. Codecs of numbers read them as
    /// values in `order`.
    ///
    /// Returns where parts begin in the result, in bits, if readers want to know: szip's intervals.
    ///
    /// # Errors
    /// [`CodecError`], without the codec's name, for bytes that the codec cannot hold, and for want of memory.
    fn append(
        &self,
        bytes: &[u8],
        order: ByteOrder,
        resources: CodecResources,
        out: &mut Vec<u8>,
    ) -> Result<Option<Vec<u64>>>;

    /// Whether [`Self::append_made`] works, which takes bytes piece by piece: then bytes that are computed need not lie in memory
    /// together. A piece begins at a multiple of this many bytes.
    ///
    /// # Errors
    /// [`CodecError`] if the backend's name is wrong.
    fn piecewise(&self, _means: CodecResources) -> Result<Option<usize>> {
        Ok(None)
    }

    /// [`Self::append`] of `len` bytes that `make` writes, in pieces and on several threads. It gets the number of the first byte,
    /// and all of the place for a piece.
    ///
    /// # Errors
    /// As [`Self::append`]; always if [`Self::piecewise`] is `None`.
    fn append_made(
        &self,
        _len: usize,
        _make: &(dyn Fn(usize, &mut [u8]) + Sync),
        _means: CodecResources,
        _out: &mut Vec<u8>,
    ) -> Result<Option<Vec<u64>>> {
        Err(CodecError::new("does not compress piece by piece"))
    }
}

/// How masks are stored.
#[derive(Clone, Copy, Debug, Default)]
pub struct MaskSettings {
    /// The level, if one was asked for.
    pub level: Option<i32>,
    /// The codec inside of Blosc2 frames.
    pub codec: Blosc2Codec,
}

/// Appends the output of a compressor that has a buffer of its own.
pub(super) fn append_made(made: Vec<u8>, out: &mut Vec<u8>) -> Result<()> {
    if out.is_empty() {
        *out = made;
        return Ok(());
    }
    memory::reserve(out, made.len())?;
    out.extend_from_slice(&made);
    Ok(())
}

/// The float64 numbers in `bytes`, as they are stored.
pub(super) fn stored_numbers(bytes: &[u8]) -> Result<&[[u8; 8]]> {
    let (numbers, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(CodecError::new(format!("data length {} is not a multiple of 8", bytes.len())));
    }
    Ok(numbers)
}

/// The float64 numbers in `bytes`.
#[cfg(feature = "sz3-decode")]
pub(super) fn numbers(bytes: &[u8], order: ByteOrder) -> Result<Vec<f64>> {
    let stored = stored_numbers(bytes)?;
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(stored.len()).map_err(|_| CodecError::no_memory(bytes.len()))?;
    match order {
        ByteOrder::Big => numbers.extend(stored.iter().map(|value| f64::from_be_bytes(*value))),
        ByteOrder::Little => numbers.extend(stored.iter().map(|value| f64::from_le_bytes(*value))),
    }
    Ok(numbers)
}
