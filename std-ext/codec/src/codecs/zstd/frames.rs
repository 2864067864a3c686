//! Zstandard frames, by libzstd.

use std::cell::RefCell;
use std::io::{Error, ErrorKind, Read as _, Write as _};
use std::ops::Range;

use zstd::bulk::Decompressor;
use zstd::stream::write::Encoder;

use crate::codecs::PartReader;
use crate::error::CodecError;
use crate::interrupt;
use crate::memory;
use crate::threads::Threads;

thread_local! {
    /// The state of libzstd's decoder, about 100 KiB. Each thread makes it once.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Bytes that are compressed between two questions whether to go on. libzstd collects them in blocks, so that its output
/// does not depend on them.
const PIECE: usize = 128 << 10;
/// Fewer bytes than this are decompressed at once.
const LONG: usize = 8 << 20;
/// The most memory for a window, as a power of two, of long data that is decompressed in pieces.
const WINDOW_LOG: u32 = 27;

/// The smallest limit that a decoder accepts for a frame's window.
const LEAST_WINDOW: u64 = 1 << 10;

/// Opens a payload for parts up to byte `end` of `total`. `None` if they cost as much as the whole.
pub(super) fn open_parts<'a>(payload: &[u8], total: u64, end: u64) -> Option<Box<dyn PartReader + 'a>> {
    // Decoding a frame can stop early, but it can only begin at the frame's start. Beyond half of the data, the
    // whole is as cheap.
    if end > total / 2 {
        return None;
    }
    prefix(payload, total, end).map(|prefix| Box::new(Prefix(prefix)) as Box<dyn PartReader>)
}

/// The first bytes of what a payload decompresses to.
struct Prefix(Vec<u8>);

impl PartReader for Prefix {
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

/// The first `end` of `total` bytes. `None` if that fails for any reason: decoding the whole then says why.
///
/// A frame whose window is larger than twice the data is refused, so that a small payload cannot ask for much memory.
fn prefix(payload: &[u8], total: u64, end: u64) -> Option<Vec<u8>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(payload).ok()?;
    decoder.window_log_max(total.saturating_mul(2).max(LEAST_WINDOW).ilog2()).ok()?;
    let mut bytes = Vec::new();
    let len = usize::try_from(end).ok()?;
    bytes.try_reserve_exact(len).ok()?;
    decoder.take(end).read_to_end(&mut bytes).ok()?;
    (bytes.len() == len).then_some(bytes)
}

/// Appends one frame.
///
/// Without threads, as for [`Threads::NONE`], the frame has no content size. If threads are asked for, even one,
/// libzstd cuts the data into jobs, and writes the size.
///
/// # Errors
/// [`CodecError`] if libzstd fails, as for want of memory.
pub fn append(data: &[u8], level: i32, threads: Threads, out: &mut Vec<u8>) -> Result<(), CodecError> {
    memory::reserve(out, zstd::zstd_safe::compress_bound(data.len()))?;
    let compress = || {
        let mut encoder = Encoder::new(out, level)?;
        #[cfg(not(feature = "parallel"))]
        let _ = threads;
        #[cfg(feature = "parallel")]
        if threads != Threads::NONE {
            encoder.multithread(threads.count())?;
            encoder.set_pledged_src_size(Some(data.len() as u64))?;
        }
        for piece in data.chunks(PIECE) {
            if interrupt::is_stopped() {
                return Err(ErrorKind::Interrupted.into());
            }
            encoder.write_all(piece)?;
        }
        encoder.finish().map(|_| ())
    };
    compress().map_err(|error| of_io(&error))
}

fn of_io(error: &Error) -> CodecError {
    match error.kind() {
        ErrorKind::Interrupted => CodecError::interrupted(),
        _ => CodecError::new(error.to_string()),
    }
}

/// One frame that states the length of its content, as some readers demand.
///
/// # Errors
/// [`CodecError`] if libzstd fails, as for a level that it does not have.
pub fn compress_with_len(data: &[u8], level: i32) -> Result<Vec<u8>, CodecError> {
    zstd::bulk::compress(data, level).map_err(|error| CodecError::new(error.to_string()))
}

/// The release of libzstd.
pub(super) fn version() -> &'static str {
    zstd::zstd_safe::version_string()
}

/// Decompresses into all of `out`. As that is one buffer, libzstd needs no window of its own, whatever a frame asks
/// for.
///
/// # Errors
/// [`CodecError`] for a payload that is damaged or decompresses to another length.
pub fn decompress(payload: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
    // libzstd accepts an empty payload as zero frames. The format demands a frame, even for no values.
    if payload.is_empty() {
        return Err(CodecError::new("the payload is empty: a frame is missing"));
    }
    if out.len() >= LONG && interrupt::is_watched() && decompress_in_pieces(payload, out)? {
        return Ok(());
    }
    let written = DECOMPRESSOR
        .with_borrow_mut(|slot| {
            if slot.is_none() {
                *slot = Some(Decompressor::new()?);
            }
            let decompressor = slot.as_mut().ok_or(ErrorKind::Other)?;
            decompressor.decompress_to_buffer(payload, out)
        })
        .map_err(|error| CodecError::new(error.to_string()))?;
    if written == out.len() {
        Ok(())
    } else {
        Err(CodecError::new(format!("decompressed to {written} bytes, expected {}", out.len())))
    }
}

/// [`decompress`] in pieces, with a question before each. `false` if that fails for any reason: decompressing at once then
/// says why, and takes no window.
fn decompress_in_pieces(payload: &[u8], out: &mut [u8]) -> Result<bool, CodecError> {
    let Ok(mut decoder) = zstd::stream::read::Decoder::with_buffer(payload) else { return Ok(false) };
    if decoder.window_log_max(WINDOW_LOG).is_err() {
        return Ok(false);
    }
    for piece in out.chunks_mut(interrupt::BLOCK) {
        interrupt::check()?;
        if decoder.read_exact(piece).is_err() {
            return Ok(false);
        }
    }
    Ok(matches!(decoder.read(&mut [0]), Ok(0)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    /// A program that links c-blosc2 has two versions of libzstd. This one writes the same bytes as the reference.
    #[test]
    fn the_zstd_that_runs_is_the_one_of_the_zstd_crate() {
        assert_eq!(zstd::zstd_safe::version_string(), "1.5.7");
    }

    #[test]
    fn a_payload_of_no_bytes_is_no_frame() {
        assert!(super::decompress(&[], &mut []).is_err());
        let mut frame = Vec::new();
        super::append(&[], 3, crate::threads::Threads::NONE, &mut frame).unwrap();
        assert!(super::decompress(&frame, &mut []).is_ok());
    }
}
