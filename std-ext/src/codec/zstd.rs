//! zstd: one or more Zstandard frames, usually without a content size (PIPELINE §5.1).

use std::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::ops::Range;

use tgm_core::descriptor::{Compression, Descriptor};
use zstd::bulk::Decompressor;
use zstd::stream::write::Encoder;

use super::{Codec, CodecError, Parts, Workspace};
use crate::base::memory;
use crate::base::threads::Threads;

thread_local! {
    /// libzstd's decoder state, some 100 KiB, is made once a thread.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// The smallest window that a decoder can be held to.
const LEAST_WINDOW: u64 = 1 << 10;

/// The backend, on libzstd.
pub(super) struct Zstd;

impl Codec for Zstd {
    fn name(&self) -> &'static str {
        Compression::Zstd.name()
    }

    fn decompress_into(&self, payload: &[u8], _: &Descriptor<'_>, out: &mut [u8]) -> Result<(), CodecError> {
        decompress(payload, out)
    }

    fn open_parts<'a>(
        &self,
        payload: &'a [u8],
        _: &Descriptor<'a>,
        total: u64,
        end: u64,
        _work: &'a mut Workspace,
    ) -> Result<Option<Box<dyn Parts + 'a>>, CodecError> {
        // A frame can be left before its end, not entered behind its start. Memory is made for no window of more than twice the data.
        if end > total / 2 {
            return Ok(None);
        }
        Ok(prefix(payload, total, end).map(|prefix| Box::new(Prefix(prefix)) as Box<dyn Parts>))
    }
}

/// The first bytes of what a payload decompresses to.
struct Prefix(Vec<u8>);

impl Parts for Prefix {
    fn end_of_block(&mut self, part: &Range<u64>) -> Result<u64, CodecError> {
        Ok(part.end)
    }

    fn read_into(&mut self, start: u64, out: &mut [u8]) -> Result<(), CodecError> {
        let part = usize::try_from(start).ok().and_then(|start| self.0.get(start..start.checked_add(out.len())?));
        let part = part.ok_or_else(|| CodecError::new("a part reaches beyond what was opened"))?;
        out.copy_from_slice(part);
        Ok(())
    }
}

/// The first `end` of `total` bytes; `None` if they cannot be had without the others, for whatever reason.
fn prefix(payload: &[u8], total: u64, end: u64) -> Option<Vec<u8>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(payload).ok()?;
    decoder.window_log_max(total.saturating_mul(2).max(LEAST_WINDOW).ilog2()).ok()?;
    let mut bytes = Vec::new();
    let len = usize::try_from(end).ok()?;
    bytes.try_reserve_exact(len).ok()?;
    decoder.take(end).read_to_end(&mut bytes).ok()?;
    (bytes.len() == len).then_some(bytes)
}

/// Appends one frame without a content size. If threads were asked for, even one, libzstd cuts the data into jobs, and
/// does write the size.
pub(crate) fn append(data: &[u8], level: i32, threads: Threads, out: &mut Vec<u8>) -> Result<(), CodecError> {
    let room = memory::reserve(out, zstd::zstd_safe::compress_bound(data.len()));
    room.map_err(|error| CodecError::new(error.to_string()))?;
    let compress = || {
        let mut encoder = Encoder::new(out, level)?;
        #[cfg(not(feature = "parallel"))]
        let _ = threads;
        #[cfg(feature = "parallel")]
        if threads != Threads::NONE {
            encoder.multithread(threads.count())?;
            encoder.set_pledged_src_size(Some(data.len() as u64))?;
        }
        encoder.write_all(data)?;
        encoder.finish().map(|_| ())
    };
    compress().map_err(|error: std::io::Error| CodecError::new(error.to_string()))
}

/// Decompresses into all of `out`. Into one whole buffer, libzstd needs no window of its own, whatever a frame asks for.
pub(super) fn decompress(payload: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
    // libzstd takes no bytes for no frames; there is one at least, be it of no values.
    if payload.is_empty() {
        return Err(CodecError::new("the payload is empty: a frame is missing"));
    }
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
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    /// A program that links c-blosc2 has two, and the bytes of this one are those of the reference.
    #[test]
    fn the_zstd_that_runs_is_the_one_of_the_zstd_crate() {
        assert_eq!(zstd::zstd_safe::version_string(), "1.5.7");
    }

    #[test]
    fn a_payload_of_no_bytes_is_no_frame() {
        assert!(super::decompress(&[], &mut []).is_err());
        let mut frame = Vec::new();
        super::append(&[], 3, crate::base::threads::Threads::NONE, &mut frame).unwrap();
        assert!(super::decompress(&frame, &mut []).is_ok());
    }
}
