//! Writes frames: header, hashed body, tail (FORMAT §1.4 to §1.8).

use tgm_codec::fresh::Make;
use tgm_core::wire::{
    DATA_OBJECT_FOOTER_SIZE, FRAME_ALIGNMENT, FRAME_COMMON_FOOTER_SIZE, FRAME_END, FRAME_HEADER_SIZE, FRAME_MAGIC,
    FrameFlags, FrameHeader, FrameTail, FrameType, ObjectTail,
};
use twox_hash::XxHash3_64;
use zerocopy::IntoBytes;
use zerocopy::big_endian::{U16, U64};

use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::base::span::{head, tail};
use crate::encode::sink::{Hashing, Sink};
use crate::model::cbor::Writer;

/// The version in the headers of all frames.
const FRAME_VERSION: u16 = 1;

/// How the frame of a data object is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameForm {
    /// Whether it gets a digest.
    pub(crate) hashing: bool,
    /// Whether the descriptor comes before the payload.
    pub(crate) descriptor_first: bool,
}

impl FrameForm {
    /// The form that the options ask for.
    pub(crate) const fn of(options: &EncodeOptions) -> Self {
        Self { hashing: options.hashing, descriptor_first: options.descriptor_first }
    }
}

/// A data object's frame that was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrittenFrame {
    /// Bytes of the frame, without the padding after it.
    pub(crate) len: u64,
    /// The digest, if one was written.
    pub(crate) digest: Option<u64>,
}

/// Bytes of a frame with a CBOR body.
pub(crate) const fn frame_len(cbor_len: u64) -> u64 {
    FRAME_HEADER_SIZE as u64 + cbor_len + FRAME_COMMON_FOOTER_SIZE as u64
}

/// Bytes of a data object's frame.
pub(crate) const fn object_frame_len(region_len: u64, cbor_len: u64) -> u64 {
    FRAME_HEADER_SIZE as u64 + region_len + cbor_len + DATA_OBJECT_FOOTER_SIZE as u64
}

/// Bytes of a frame of `len` bytes and the padding after it.
pub(crate) const fn padded(len: u64) -> u64 {
    len.next_multiple_of(FRAME_ALIGNMENT as u64)
}

/// Writes the padding after a frame of `len` bytes.
///
/// # Errors
/// The errors of the sink.
pub(crate) fn pad(sink: &mut impl Sink, len: u64) -> Result<()> {
    let zeros = [0; FRAME_ALIGNMENT];
    sink.write(head(&zeros, padded(len) - len))
}

/// Writes a frame with a CBOR body, and the padding after it. Returns the bytes of both.
///
/// # Errors
/// The errors of the sink.
pub(crate) fn write_frame(sink: &mut impl Sink, frame_type: FrameType, cbor: &[u8], hashing: bool) -> Result<u64> {
    let len = frame_len(cbor.len() as u64);
    let mut frame = FrameWriter::begin(sink, frame_type, 0, len, hashing)?;
    frame.write(cbor)?;
    frame.finish()?;
    pad(sink, len)?;
    Ok(padded(len))
}

/// Appends a frame with the CBOR that `write` writes, and the padding after it.
///
/// # Errors
/// The errors of `write`.
pub(crate) fn append_frame(
    out: &mut Vec<u8>,
    frame_type: FrameType,
    hashing: bool,
    write: impl FnOnce(&mut Writer<'_>) -> Result<()>,
) -> Result<()> {
    let frame = OpenFrame::begin(out);
    write(&mut Writer::new(out))?;
    let digest = frame.digest(out, hashing);
    out.extend_from_slice(FrameTail { hash: U64::new(digest.unwrap_or(0)), end: *FRAME_END }.as_bytes());
    let len = frame.finish(out, frame_type, 0, hashing);
    pad(out, len)
}

/// A frame in memory whose length is not known yet. Its body is appended first, and the header is filled in at the end.
pub(crate) struct OpenFrame {
    /// The first byte of the frame in the buffer.
    start: usize,
}

impl OpenFrame {
    /// Begins a frame, with room for the header.
    pub(crate) fn begin(out: &mut Vec<u8>) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; FRAME_HEADER_SIZE]);
        Self { start }
    }

    /// The digest of the body, which is everything appended so far, if `hashing`.
    fn digest(&self, out: &[u8], hashing: bool) -> Option<u64> {
        hashing.then(|| XxHash3_64::oneshot(tail(out, (self.start + FRAME_HEADER_SIZE) as u64)))
    }

    /// Fills in the header. Body and tail must be there. Returns the length of the frame.
    fn finish(self, out: &mut [u8], frame_type: FrameType, flags: u16, hashing: bool) -> u64 {
        let len = (out.len() - self.start) as u64;
        let header = header(frame_type, flags, len, hashing);
        if let Some(room) = out.get_mut(self.start..).and_then(|frame| frame.first_chunk_mut::<FRAME_HEADER_SIZE>()) {
            room.copy_from_slice(header.as_bytes());
        }
        len
    }

    /// Appends the tail of a data object, and fills in the header. The descriptor begins at byte `cbor_start` of `out`.
    pub(crate) fn finish_object(self, out: &mut Vec<u8>, cbor_start: usize, hashing: bool) -> WrittenFrame {
        let digest = self.digest(out, hashing);
        let cbor_offset = U64::new((cbor_start - self.start) as u64);
        let tail = ObjectTail { cbor_offset, hash: U64::new(digest.unwrap_or(0)), end: *FRAME_END };
        out.extend_from_slice(tail.as_bytes());
        let len = self.finish(out, FrameType::NTensorFrame, FrameFlags::CBOR_AFTER_PAYLOAD, hashing);
        WrittenFrame { len, digest }
    }
}

fn header(frame_type: FrameType, flags: u16, len: u64, hashing: bool) -> FrameHeader {
    FrameHeader {
        magic: *FRAME_MAGIC,
        frame_type: U16::new(frame_type.as_u16()),
        version: U16::new(FRAME_VERSION),
        flags: U16::new(if hashing { flags | FrameFlags::HASH_PRESENT } else { flags }),
        total_length: U64::new(len),
    }
}

/// A frame of known length whose body is being written.
pub(crate) struct FrameWriter<'s, S> {
    body: Hashing<'s, S>,
}

impl<'s, S: Sink> FrameWriter<'s, S> {
    /// Writes the header of a frame that will have `len` bytes, without padding.
    ///
    /// # Errors
    /// The errors of the sink.
    pub(crate) fn begin(sink: &'s mut S, frame_type: FrameType, flags: u16, len: u64, hashing: bool) -> Result<Self> {
        sink.write(header(frame_type, flags, len, hashing).as_bytes())?;
        let around = FRAME_HEADER_SIZE as u64 + frame_type.tail_size() as u64;
        let body_len = len.checked_sub(around).ok_or_else(|| TensogramError::encoding("a frame without a body"))?;
        Ok(Self { body: Hashing::new(sink, body_len, hashing)? })
    }

    /// Writes the tail of a frame that is not a data object. Returns the digest if one is written.
    ///
    /// # Errors
    /// The errors of the sink.
    pub(crate) fn finish(self) -> Result<Option<u64>> {
        let digest = self.body.digest();
        let tail = FrameTail { hash: U64::new(digest.unwrap_or(0)), end: *FRAME_END };
        self.body.into_sink().write(tail.as_bytes())?;
        Ok(digest)
    }

    /// Writes the tail of a data object. The descriptor begins `cbor_offset` bytes into the frame. Returns the digest
    /// if one is written.
    ///
    /// # Errors
    /// The errors of the sink.
    pub(crate) fn finish_object(self, cbor_offset: u64) -> Result<Option<u64>> {
        let digest = self.body.digest();
        let tail =
            ObjectTail { cbor_offset: U64::new(cbor_offset), hash: U64::new(digest.unwrap_or(0)), end: *FRAME_END };
        self.body.into_sink().write(tail.as_bytes())?;
        Ok(digest)
    }
}

impl<S: Sink> Sink for FrameWriter<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.body.write(bytes)
    }

    fn fill(&mut self, len: usize, make: &mut Make<'_>) -> Result<()> {
        self.body.fill(len, make)
    }

    fn keep(&mut self, len: usize) -> Result<bool> {
        self.body.keep(len)
    }

    fn last(&self, len: usize) -> &[u8] {
        self.body.last(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::sink::Stream;

    #[test]
    fn a_frame_keeps_what_its_sink_keeps() {
        let mut memory = Vec::new();
        let mut frame = FrameWriter::begin(&mut memory, FrameType::HeaderMetadata, 0, 100, false).unwrap();
        frame.write(b"some bytes").unwrap();
        assert_eq!(frame.last(5), b"bytes");
        assert!(frame.keep(1 << 30).unwrap(), "memory keeps everything");
        let mut stream = Stream::new(Vec::new());
        let mut frame = FrameWriter::begin(&mut stream, FrameType::HeaderMetadata, 0, 100, false).unwrap();
        assert!(frame.keep(100).unwrap() && !frame.keep(1 << 30).unwrap());
    }
}
