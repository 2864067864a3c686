//! The frame around chunks. `blosc2/frame.rs`, which reads it, lists its fields.

use super::super::chunk::SPECIAL_SHIFT;
use super::super::ids::CHUNK_HEADER_LEN;
use super::super::ids::{MAGIC, special};
use super::super::msgpack::{FALSE, FIXED_16, INT_16, INT_32, INT_64, STRING_4, UINT_32, UINT_64};
use super::context::FORWARD_COMPATIBLE_SPLIT;
use super::{CodecError, Result, Settings, code};
use crate::memory;

/// Bytes of a header without metalayers.
const HEADER_LEN: usize = 97;
/// Frame version 2, 64-bit offsets.
const VERSION: u8 = 0x12;
/// The mark of a chunk that is not stored. Its kind stands in the same byte.
const NOT_STORED: u64 = 1 << 63;
/// The trailer: no metalayers, its length, no fingerprint.
const TRAILER: [u8; 35] = [
    0x94, 1, 0x93, 0xcd, 0, 6, 0xde, 0, 0, 0xdc, 0, 0, // no metalayers
    UINT_32, 0, 0, 0, 35, FIXED_16, 0, // length; kind of fingerprint
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

/// A frame that is being written: room for the header, then chunks.
pub(super) struct FrameWriter<'o> {
    bytes: &'o mut Vec<u8>,
    /// The byte at which the frame begins.
    start: usize,
    total: usize,
    chunk_len: usize,
    /// Offsets of chunks after the header, as the index has them.
    index: Vec<u8>,
    /// Bytes of a block in the last chunk, little-endian.
    block_size: [u8; 4],
}

impl<'o> FrameWriter<'o> {
    /// A frame of `total` bytes in chunks of `chunk_len`, appended to `bytes`. The last chunk may have fewer.
    pub(super) fn new(total: usize, chunk_len: usize, bytes: &'o mut Vec<u8>) -> Result<Self> {
        // Room for one chunk, header, index and trailer: a frame of one chunk that does not compress.
        let room = chunk_len.saturating_add(HEADER_LEN + 3 * CHUNK_HEADER_LEN + TRAILER.len());
        let reserved = memory::reserve(bytes, room);
        reserved.map_err(|_| CodecError::new(format!("cannot allocate {room} bytes for a frame")))?;
        let start = bytes.len();
        bytes.resize(start + HEADER_LEN, 0);
        Ok(Self { bytes, start, total, chunk_len, index: Vec::new(), block_size: [0; 4] })
    }

    /// Adds the chunk that `write` appends. A special chunk without a value is described by the index alone, and not
    /// stored.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        let start = self.bytes.len();
        write(self.bytes)?;
        let header = self.bytes.get(start..).and_then(|chunk| chunk.first_chunk::<CHUNK_HEADER_LEN>());
        let Some([_, _, _, _, _, _, _, _, b0, b1, b2, b3, .., flags]) = header else {
            return Err(CodecError::new("c-blosc2 wrote a chunk without a header"));
        };
        self.block_size = [*b0, *b1, *b2, *b3];
        let offset = match flags >> SPECIAL_SHIFT & special::MASK {
            kind @ (special::ZEROS | special::NAN | special::UNWRITTEN) => {
                self.bytes.truncate(start);
                NOT_STORED | u64::from(kind) << 56
            }
            _ => start.saturating_sub(self.start + HEADER_LEN) as u64,
        };
        self.index.extend(offset.to_le_bytes());
        Ok(())
    }

    /// Completes the frame with its index, trailer and header. `write` appends the index as a chunk.
    pub(super) fn finish(
        self,
        settings: &Settings,
        write: impl FnOnce(&[u8], &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let chunks_len = self.bytes.len().saturating_sub(self.start + HEADER_LEN);
        write(&self.index, self.bytes)?;
        self.bytes.extend(TRAILER);
        let header = self.header(settings, chunks_len);
        if let Some(room) = self.bytes.get_mut(self.start..).and_then(|frame| frame.first_chunk_mut()) {
            *room = header;
        }
        Ok(())
    }

    fn header(&self, settings: &Settings, chunks_len: usize) -> [u8; HEADER_LEN] {
        let code = code(settings.codec);
        let block_size = u32::from_le_bytes(self.block_size);
        let mut header = [0; HEADER_LEN];
        let mut rest = header.as_mut_slice();
        let mut put = |bytes: &[u8]| {
            if let Some((room, after)) = std::mem::take(&mut rest).split_at_mut_checked(bytes.len()) {
                room.copy_from_slice(bytes);
                rest = after;
            }
        };
        put(&MAGIC);
        put(&[INT_32]);
        put(&u32::try_from(HEADER_LEN).unwrap_or(u32::MAX).to_be_bytes());
        put(&[UINT_64]);
        put(&((self.bytes.len() - self.start) as u64).to_be_bytes());
        put(&[STRING_4, VERSION, 0, settings.level << 4 | code, FORWARD_COMPATIBLE_SPLIT - 1]);
        put(&[INT_64]);
        put(&(self.total as u64).to_be_bytes());
        put(&[INT_64]);
        put(&(chunks_len as u64).to_be_bytes());
        put(&[INT_32, 0, 0, 0, settings.typesize.get()]);
        put(&[INT_32]);
        put(&block_size.to_be_bytes());
        put(&[INT_32]);
        put(&u32::try_from(self.chunk_len).unwrap_or(u32::MAX).to_be_bytes());
        put(&[INT_16, 0, 0, INT_16, 0, 1]); // threads: always these numbers
        put(&[FALSE]); // no metalayers of varying length
        put(&[FIXED_16, 6]); // six filters
        put(&settings.filters());
        put(&[code, 0, 0, 0, 0, 0, 0, 0, 0, 0]); // the codec again; parameters of codec and filters
        put(&[0x93, 0xcd, 0, 7, 0xde, 0, 0, 0xdc, 0, 0]); // no metalayers
        header
    }
}
