//! zstd: one or more Zstandard frames, usually without a content size (PIPELINE §5.1).

use std::cell::RefCell;
use std::io::Write as _;

use tgm_core::descriptor::{Compression, Descriptor};
use zstd::bulk::Decompressor;
use zstd::stream::write::Encoder;

use super::{Codec, CodecError};
use crate::threads::Threads;

thread_local! {
    /// libzstd's decoder state, some 100 KiB, is made once a thread.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The backend, on libzstd.
pub(super) struct Zstd;

impl Codec for Zstd {
    fn name(&self) -> &'static str {
        Compression::Zstd.name()
    }

    fn decompress_into(&self, payload: &[u8], _: &Descriptor<'_>, out: &mut [u8]) -> Result<(), CodecError> {
        decompress(payload, out)
    }
}

/// Compresses to one frame without a content size. If threads were asked for, even one, libzstd cuts the data into jobs, and
/// does write the size.
pub(crate) fn compress(data: &[u8], level: i32, threads: Threads) -> Result<Vec<u8>, CodecError> {
    let compress = || {
        let mut encoder = Encoder::new(Vec::new(), level)?;
        #[cfg(feature = "parallel")]
        if threads != Threads::NONE {
            encoder.multithread(threads.count())?;
            encoder.set_pledged_src_size(Some(data.len() as u64))?;
        }
        encoder.write_all(data)?;
        encoder.finish()
    };
    compress().map_err(|error: std::io::Error| CodecError::new(error.to_string()))
}

/// Decompresses into all of `out`. Into one whole buffer, libzstd needs no window of its own, whatever a frame asks for.
pub(super) fn decompress(payload: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
    let written = DECOMPRESSOR
        .with_borrow_mut(|slot| {
            if slot.is_none() {
                *slot = Some(Decompressor::new()?);
            }
            let decompressor = slot.as_mut().ok_or(std::io::ErrorKind::Other)?;
            decompressor.decompress_to_buffer(payload, out)
        })
        .map_err(|error| CodecError::new(error.to_string()))?;
    if written == out.len() {
        Ok(())
    } else {
        Err(CodecError::new(format!("decompressed to {written} bytes, expected {}", out.len())))
    }
}

#[cfg(test)]
mod tests {
    /// A program that links c-blosc2 has two, and the bytes of this one are those of the reference.
    #[test]
    fn the_zstd_that_runs_is_the_one_of_the_zstd_crate() {
        assert_eq!(zstd::zstd_safe::version_string(), "1.5.7");
    }
}
