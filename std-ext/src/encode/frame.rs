//! Writes frames: header, hashed body, tail (FORMAT §1.4 to §1.8).

use std::hash::Hasher as _;

use tgm_codec::fresh::Make;
use tgm_core::wire::{
    FRAME_ALIGNMENT, FRAME_END, FRAME_HEADER_SIZE, FRAME_MAGIC, FrameFlags, FrameHeader, FrameTail, FrameType,
    ObjectTail,
};
use twox_hash::XxHash3_64;
use zerocopy::big_endian::{U16, U64};
use zerocopy::{FromBytes as _, IntoBytes as _};

use crate::base::error::{Result, TensogramError};
use crate::base::options::EncodeOptions;
use crate::base::span::head;
use crate::encode::sink::Sink;
use crate::model::cbor::Writer;

/// The version in the headers of all frames.
const FRAME_VERSION: u16 = 1;
/// A body of up to this many bytes is hashed when it is complete. A longer one is hashed as it comes.
const HASHED_AT_ONCE: usize = 8 << 10;

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
    /// The digest. 0 if the frame has none.
    pub(crate) digest: u64,
}

/// Bytes of a frame with a body of `body_len` bytes, without the padding after it.
pub(crate) const fn frame_len(frame_type: FrameType, body_len: u64) -> u64 {
    frame_type.min_size() as u64 + body_len
}

/// Bytes of a frame of `len` bytes and the padding after it.
pub(crate) const fn padded(len: u64) -> u64 {
    len.next_multiple_of(FRAME_ALIGNMENT as u64)
}

/// Appends a frame with the CBOR that `write` writes, and the padding after it.
///
/// # Errors
/// The errors of `write`.
pub(crate) fn append_cbor_frame(
    out: &mut Vec<u8>,
    frame_type: FrameType,
    hashing: bool,
    write: impl FnOnce(&mut Writer<'_>) -> Result<()>,
) -> Result<()> {
    append_frame(out, frame_type, 0, hashing, |out| write(&mut Writer::new(out)).map(|()| None)).map(drop)
}

/// Appends a frame with the body that `append` appends, whose length is not known before, and the padding after it.
/// `append` returns where the descriptor of a data object begins in `out`.
///
/// # Errors
/// The errors of `append`.
pub(crate) fn append_frame(
    out: &mut Vec<u8>,
    frame_type: FrameType,
    flags: u16,
    hashing: bool,
    append: impl FnOnce(&mut Vec<u8>) -> Result<Option<usize>>,
) -> Result<WrittenFrame> {
    let start = out.len();
    out.extend_from_slice(header(frame_type, flags, 0, hashing).as_bytes());
    let cbor_start = append(out)?;
    let body_len = out.len() - start - FRAME_HEADER_SIZE;
    let len = frame_len(frame_type, body_len as u64);
    let header = out.get_mut(start..).and_then(|frame| FrameHeader::mut_from_prefix(frame).ok());
    let (header, _) = header.ok_or_else(|| TensogramError::encoding("a frame without a header"))?;
    header.total_length = U64::new(len);
    let digest = if hashing { Digest::AtOnce(body_len) } else { Digest::None };
    FrameWriter { sink: out, len, digest }.finish(cbor_start.map(|cbor| (cbor - start) as u64))
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

/// A frame whose body is being written. It computes the XXH3-64 of the body, if that is asked for.
pub(crate) struct FrameWriter<'s, S> {
    sink: &'s mut S,
    len: u64,
    digest: Digest,
}

enum Digest {
    None,
    /// Computed at the end, from the last bytes. The number says how many.
    AtOnce(usize),
    Running(Box<XxHash3_64>),
}

impl<'s, S: Sink> FrameWriter<'s, S> {
    /// Writes the header of a frame whose body will have `body_len` bytes.
    ///
    /// # Errors
    /// The errors of the sink.
    pub(crate) fn begin(
        sink: &'s mut S,
        frame_type: FrameType,
        flags: u16,
        body_len: u64,
        hashing: bool,
    ) -> Result<Self> {
        let len = frame_len(frame_type, body_len);
        sink.write(header(frame_type, flags, len, hashing).as_bytes())?;
        let digest = match usize::try_from(body_len) {
            _ if !hashing => Digest::None,
            Ok(len) if len <= HASHED_AT_ONCE && sink.keep(len)? => Digest::AtOnce(len),
            _ => Digest::Running(Box::default()),
        };
        Ok(Self { sink, len, digest })
    }

    /// Writes the tail, and the padding after it. The descriptor of a data object begins `cbor_offset` bytes into the frame.
    ///
    /// # Errors
    /// The errors of the sink.
    pub(crate) fn finish(self, cbor_offset: Option<u64>) -> Result<WrittenFrame> {
        let Self { sink, len, digest } = self;
        let digest = match digest {
            Digest::None => 0,
            Digest::AtOnce(len) => XxHash3_64::oneshot(sink.last(len)),
            Digest::Running(hasher) => hasher.finish(),
        };
        let (hash, end) = (U64::new(digest), *FRAME_END);
        match cbor_offset.map(U64::new) {
            Some(cbor_offset) => sink.write(ObjectTail { cbor_offset, hash, end }.as_bytes())?,
            None => sink.write(FrameTail { hash, end }.as_bytes())?,
        }
        sink.write(head(&[0; FRAME_ALIGNMENT], padded(len) - len))?;
        Ok(WrittenFrame { len, digest })
    }
}

/// Takes the body.
impl<S: Sink> Sink for FrameWriter<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if let Digest::Running(hasher) = &mut self.digest {
            hasher.write(bytes);
        }
        self.sink.write(bytes)
    }

    fn fill(&mut self, len: usize, make: &mut Make<'_>) -> Result<()> {
        let digest = &mut self.digest;
        self.sink.fill(len, &mut |memory| {
            let bytes = make(memory);
            if let Digest::Running(hasher) = digest {
                hasher.write(bytes);
            }
            bytes
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::sink::{GATHERED, Output as _, Stream};

    /// A stream that gathered `len` bytes.
    fn gathered(len: usize) -> Stream<Vec<u8>> {
        let mut stream = Stream::new(Vec::new());
        stream.write(&vec![1; len]).unwrap();
        stream
    }

    /// Whether the digest of a body of this length is computed from its bytes at the end.
    fn is_at_once(sink: &mut impl Sink, len: usize) -> bool {
        let frame = FrameWriter::begin(sink, FrameType::HeaderMetadata, 0, len as u64, true).unwrap();
        matches!(frame.digest, Digest::AtOnce(kept) if kept == len)
    }

    /// A digest that runs along takes memory of its own.
    #[test]
    fn short_frames_are_hashed_at_once_and_longer_ones_as_they_come() {
        for len in [0, 1, HASHED_AT_ONCE] {
            assert!(is_at_once(&mut Vec::new(), len) && is_at_once(&mut gathered(100), len));
            #[cfg(feature = "async")]
            assert!(is_at_once(&mut crate::encode::sink::Piece::default(), len));
        }
        assert!(!is_at_once(&mut Vec::new(), HASHED_AT_ONCE + 1));
    }

    #[test]
    fn a_digest_is_of_all_its_bytes_however_full_the_buffer_was() {
        for len in [0, 1, 200, HASHED_AT_ONCE, HASHED_AT_ONCE + 1, GATHERED, GATHERED + 1, 3 * GATHERED] {
            let bytes: Vec<u8> = (0..=250).cycle().take(len).collect();
            for before in [0, 100, GATHERED - 200, GATHERED - 100, GATHERED] {
                for piece in [37, 4096, GATHERED + 5] {
                    let mut stream = gathered(before);
                    let mut frame =
                        FrameWriter::begin(&mut stream, FrameType::HeaderMetadata, 0, len as u64, true).unwrap();
                    for (number, piece) in bytes.chunks(piece).enumerate() {
                        if number % 2 == 0 {
                            frame.write(piece).unwrap();
                        } else {
                            frame.fill(piece.len(), &mut |memory| memory.write_copy_of_slice(piece)).unwrap();
                        }
                    }
                    let digest = frame.finish(None).unwrap().digest;
                    assert_eq!(digest, XxHash3_64::oneshot(&bytes), "{len} after {before}");
                    stream.send().unwrap();
                    let body = stream.writer.get(before + FRAME_HEADER_SIZE..).unwrap();
                    assert!(body.starts_with(&bytes));
                }
            }
        }
    }

    /// Both ways of writing a frame give the same bytes.
    #[test]
    fn a_frame_is_the_same_whether_its_length_is_known_before_or_not() {
        for (len, hashing) in [(0, true), (5, true), (5, false), (HASHED_AT_ONCE + 1, true)] {
            let (body, mut known, mut open) = (vec![7; len], vec![1; 3], vec![1; 3]);
            let object = FrameType::NTensorFrame;
            let mut frame = FrameWriter::begin(&mut known, object, 0, len as u64, hashing).unwrap();
            frame.write(&body).unwrap();
            let written = frame.finish(Some(FRAME_HEADER_SIZE as u64)).unwrap();
            let appended = append_frame(&mut open, object, 0, hashing, |out| {
                out.extend_from_slice(&body);
                Ok(Some(3 + FRAME_HEADER_SIZE))
            });
            let appended = appended.unwrap();
            assert_eq!((known, written.len, written.digest), (open, appended.len, appended.digest), "{len} {hashing}");
        }
    }
}
