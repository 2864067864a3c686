//! The frame around chunks; its fields are listed where they are read (`blosc2/frame.rs`).

use super::super::chunk::HEADER_LEN as CHUNK_HEADER_LEN;
use super::context::FORWARD_COMPATIBLE_SPLIT;
use super::{CodecError, Result, Settings, code};
use crate::base::memory;

/// Bytes of a header without metalayers.
const HEADER_LEN: usize = 97;
/// Frame version 2, 64-bit offsets.
const VERSION: u8 = 0x12;
/// Mark of a chunk that is not stored, beside its kind.
const NOT_STORED: u64 = 1 << 63;
/// The end: no metalayers, its length, no fingerprint.
const TRAILER: [u8; 35] = [
    0x94, 1, 0x93, 0xcd, 0, 6, 0xde, 0, 0, 0xdc, 0, 0, // no metalayers
    0xce, 0, 0, 0, 35, 0xd8, 0, // length; kind of fingerprint
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];

/// A frame that is being written: room for the header, then chunks.
pub(super) struct FrameWriter<'o> {
    bytes: &'o mut Vec<u8>,
    /// Where the frame begins in them.
    start: usize,
    total: usize,
    chunk_len: usize,
    /// Offsets of chunks after the header, as the index has them.
    index: Vec<u8>,
    /// Bytes of a block in the last chunk, little-endian.
    block_size: [u8; 4],
}

impl<'o> FrameWriter<'o> {
    /// For `total` bytes in chunks of `chunk_len`, of which the last may have fewer; behind what `bytes` are.
    pub(super) fn new(total: usize, chunk_len: usize, bytes: &'o mut Vec<u8>) -> Result<Self> {
        // One chunk, header, index and trailer: what a frame without compression takes, if there is one chunk.
        let room = chunk_len.saturating_add(HEADER_LEN + 3 * CHUNK_HEADER_LEN + TRAILER.len());
        let reserved = memory::reserve(bytes, room);
        reserved.map_err(|_| CodecError::new(format!("cannot allocate {room} bytes for a frame")))?;
        let start = bytes.len();
        bytes.resize(start + HEADER_LEN, 0);
        Ok(Self { bytes, start, total, chunk_len, index: Vec::new(), block_size: [0; 4] })
    }

    /// Adds the chunk that `write` appends. Of a chunk of zeros the index tells everything.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
        let start = self.bytes.len();
        write(self.bytes)?;
        let header = self.bytes.get(start..).and_then(|chunk| chunk.first_chunk::<CHUNK_HEADER_LEN>());
        let Some([_, _, _, _, _, _, _, _, b0, b1, b2, b3, .., flags]) = header else {
            return Err(CodecError::new("c-blosc2 wrote a chunk without a header"));
        };
        self.block_size = [*b0, *b1, *b2, *b3];
        let offset = match flags >> 4 & 7 {
            kind @ (1 | 2 | 4) => {
                self.bytes.truncate(start);
                NOT_STORED | u64::from(kind) << 56
            }
            _ => start.saturating_sub(self.start + HEADER_LEN) as u64,
        };
        self.index.extend(offset.to_le_bytes());
        Ok(())
    }

    /// Completes the frame by its header, index and trailer. `write` appends the index as a chunk.
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
        put(b"\x9e\xa8b2frame\0");
        put(&[0xd2, 0, 0, 0, 97]); // length of the header
        put(&[0xcf]);
        put(&((self.bytes.len() - self.start) as u64).to_be_bytes());
        put(&[0xa4, VERSION, 0, settings.level << 4 | code, FORWARD_COMPATIBLE_SPLIT - 1]);
        put(&[0xd3]);
        put(&(self.total as u64).to_be_bytes());
        put(&[0xd3]);
        put(&(chunks_len as u64).to_be_bytes());
        put(&[0xd2, 0, 0, 0, settings.typesize.get()]);
        put(&[0xd2]);
        put(&block_size.to_be_bytes());
        put(&[0xd2]);
        put(&u32::try_from(self.chunk_len).unwrap_or(u32::MAX).to_be_bytes());
        put(&[0xd1, 0, 0, 0xd1, 0, 1]); // threads, the same whatever they were
        put(&[0xc2]); // no metalayers of varying length
        put(&[0xd8, 6]);
        put(&settings.filters());
        put(&[code, 0, 0, 0, 0, 0, 0, 0, 0, 0]); // codec once more; parameters of codec and filters
        put(&[0x93, 0xcd, 0, 7, 0xde, 0, 0, 0xdc, 0, 0]); // no metalayers
        header
    }
}
