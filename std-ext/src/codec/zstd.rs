//! zstd: one or more Zstandard frames, usually without a content size (PIPELINE §5.1).

use std::cell::RefCell;

use tgm_core::descriptor::{Compression, Descriptor};
use zstd::bulk::Decompressor;

use super::{Codec, CodecError};

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
