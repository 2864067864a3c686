//! Payloads of the reference, frames by hand, and damage of all kinds.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tgm_core::descriptor::{ByteOrder, Compression, MaskMethod};
use tgm_core::mask::{BitmapForm, Mask, restore_into};
use tgm_core::message::Message;
use tgm_core::object::DataObject;
use tgm_core::stored::{Stored, stored_len};

use super::filter::Filters;
use super::*;
use crate::codecs::Codec as _;
use crate::codecs::blosc2::Blosc2;

/// Six slots without a filter.
const NO_FILTERS: [u8; 6] = [0; 6];

/// A chunk with the header that every chunk of a frame has.
struct ChunkHeader {
    flags: u8,
    element_size: u8,
    len: i32,
    block_size: i32,
    filters: [u8; 6],
    blosc2_flags: u8,
}

impl ChunkHeader {
    /// A chunk of `len` bytes in blocks that are not split, by the codec of a format, without filters.
    fn blocks(format: u8, len: i32, block_size: i32) -> Self {
        let flags = format << 5 | 0b1_0101;
        Self { flags, element_size: 4, len, block_size, filters: NO_FILTERS, blosc2_flags: 0 }
    }

    fn stored(len: i32) -> Self {
        Self { flags: 0b0111, ..Self::blocks(0, len, len) }
    }

    fn special(kind: u8, len: i32) -> Self {
        Self { blosc2_flags: kind << 4, ..Self::blocks(0, len, len) }
    }

    fn then(&self, body: &[u8]) -> Vec<u8> {
        let chunk_len = i32::try_from(32 + body.len()).unwrap();
        let mut bytes = vec![5, 1, self.flags, self.element_size];
        bytes.extend([self.len, self.block_size, chunk_len].iter().flat_map(|length| length.to_le_bytes()));
        bytes.extend(self.filters);
        bytes.extend([0, 0]); // codec of a plug-in and its parameter
        bytes.extend([0; 6]); // parameters of filters
        bytes.extend([0, self.blosc2_flags]);
        bytes.extend(body);
        bytes
    }

    /// With blocks, each of one stream of the codec, one after the other.
    fn then_blocks(&self, streams: &[&[u8]]) -> Vec<u8> {
        let mut start = 32 + 4 * streams.len();
        let (mut starts, mut blocks) = (Vec::new(), Vec::new());
        for stream in streams {
            starts.extend(i32::try_from(start).unwrap().to_le_bytes());
            blocks.extend(*stream);
            start += stream.len();
        }
        self.then(&[starts, blocks].concat())
    }
}

/// A stream with its size.
fn sized(stream: &[u8]) -> Vec<u8> {
    [i32::try_from(stream.len()).unwrap().to_le_bytes().as_slice(), stream].concat()
}

/// A frame of chunks, which are where the offsets say.
fn frame(total: u64, chunk_size: i32, chunks: &[u8], offsets: &[u64]) -> Vec<u8> {
    let offsets: Vec<u8> = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
    frame_with_index(
        total,
        chunk_size,
        chunks,
        &ChunkHeader::stored(i32::try_from(offsets.len()).unwrap()).then(&offsets),
    )
}

fn frame_with_index(total: u64, chunk_size: i32, chunks: &[u8], index: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x9e\xa8b2frame\0".to_vec();
    let mut field = |marker: u8, value: &[u8]| {
        bytes.push(marker);
        bytes.extend(value);
    };
    field(0xd2, &97_i32.to_be_bytes()); // header length
    field(0xcf, &(97 + 35 + (chunks.len() + index.len()) as u64).to_be_bytes());
    field(0xa4, &[0x12, 0, 0x51, 3]); // 64-bit offsets, version 2; contiguous; level 5, lz4; split
    field(0xd3, &total.to_be_bytes());
    field(0xd3, &(chunks.len() as u64).to_be_bytes());
    field(0xd2, &4_i32.to_be_bytes()); // element size
    field(0xd2, &chunk_size.to_be_bytes()); // block size
    field(0xd2, &chunk_size.to_be_bytes());
    field(0xd1, &[0, 0]); // threads
    field(0xd1, &[0, 1]);
    field(0xc2, &[]); // no vlmetalayers
    field(0xd8, &[6, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    field(0x93, &[0xcd, 0, 7, 0xde, 0, 0, 0xdc, 0, 0]); // no metalayers
    bytes.extend(chunks);
    bytes.extend(index);
    bytes.extend([0x94, 1, 0x93, 0xcd, 0, 6, 0xde, 0, 0, 0xdc, 0, 0, 0xce, 0, 0, 0, 35, 0xd8]); // trailer
    bytes.extend([0; 17]);
    bytes
}

/// A frame of one chunk.
fn frame_of(chunk: &[u8], len: i32) -> Vec<u8> {
    frame(u64::try_from(len).unwrap(), len, chunk, &[0])
}

/// What a frame holds, or the sentence why not. If the whole decodes, so must any part of it.
fn decoded(frame: &[u8], len: usize) -> std::result::Result<Vec<u8>, String> {
    let mut out = vec![0xa5; len];
    let whole = decompress(frame, &mut out).map(|()| out).map_err(|error| error.to_string());
    for (start, end) in [(0, len / 3), (len / 3, len / 2), (len / 2, len)] {
        let mut part = vec![0x5a; end - start];
        let result = decompress_range(frame, len as u64, start as u64, &mut part);
        if let Ok(whole) = &whole {
            assert_eq!((result, part.as_slice()), (Ok(()), &whole[start..end]));
        }
    }
    whole
}

fn hex(digits: &str) -> Vec<u8> {
    let digits: String = digits.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn the_example_of_the_format_decodes() {
    let payload =
        hex("9ea8 62326672616d6500 d200000061 cf00000000000000dc a412005103 d30000000000000010 d30000000000000030
        d200000004 d200000010 d200000010 d10000 d10001 c2 d806 00000000000101 00 0000000000000000
        93cd0007de0000dc0000
        05010704 10000000 10000000 30000000 000000000001 01 00 000000000000 00 00
        000000000000803f0000004000004040
        05010708 08000000 08000000 28000000 000000000001 00 00 000000000000 00 00 0000000000000000
        9401 93cd0006de0000dc0000 ce00000023 d800 00000000000000000000000000000000");
    let values: Vec<u8> = [0.0_f32, 1.0, 2.0, 3.0].into_iter().flat_map(f32::to_le_bytes).collect();
    assert_eq!(decoded(&payload, 16), Ok(values));
}

#[test]
fn total_and_range_must_be_those_of_the_frame() {
    let frame = frame_of(&ChunkHeader::stored(8).then(b"abcdefgh"), 8);
    assert_eq!(decoded(&frame, 7), Err("frame holds 8 bytes, expected 7".into()));
    assert_eq!(decompress_range(&frame, 8, 3, &mut []), Ok(()));
    assert_eq!(decompress_range(&frame, 8, 8, &mut []), Ok(()));
    assert!(decompress_range(&frame, 8, 7, &mut [0; 2]).is_err());
    assert!(decompress_range(&frame, 8, u64::MAX, &mut [0; 2]).is_err());
}

#[test]
fn every_kind_of_chunk_and_stream_decodes() {
    let blocks = ChunkHeader::blocks(1, 13, 4).then_blocks(&[
        &[0; 4],                      // zeros
        &[0xf9, 0xff, 0xff, 0xff, 1], // a run of 7
        &sized(b"abcd"),              // as they are
        &sized(b"x"),                 // as they are, in a shorter block
    ]);
    let chunks =
        [blocks.clone(), ChunkHeader::stored(13).then(b"stored bytes."), ChunkHeader::special(1, 13).then(&[])]
            .concat();
    let repeated = ChunkHeader::special(3, 4).then(b"ab");
    let stored = blocks.len() as u64;
    let index = [stored + 45, stored, 0, 1 << 63 | 1 << 56, stored + 45 + 32];
    let frame = frame(56, 13, &[chunks, repeated].concat(), &index);
    let mut expected = vec![0; 13];
    expected.extend(b"stored bytes.\0\0\0\0\x07\x07\x07\x07abcdx");
    expected.extend([0; 13]);
    expected.extend(b"abab");
    assert_eq!(decoded(&frame, 56), Ok(expected));
}

#[test]
fn split_blocks_have_a_stream_for_each_byte_of_an_element() {
    let chunk =
        ChunkHeader { flags: 0b0101, element_size: 2, filters: [0, 0, 0, 0, 0, 1], ..ChunkHeader::blocks(0, 11, 8) };
    let chunk = chunk.then_blocks(&[&[sized(b"aceg"), sized(b"bdfh")].concat(), &sized(b"ikj")]);
    assert_eq!(decoded(&frame_of(&chunk, 11), 11), Ok(b"abcdefghikj".to_vec()));
}

#[test]
fn parts_of_shuffled_blocks_are_those_of_the_whole() {
    // Planes that repeat, are stored, and decode, in blocks of as many streams as planes; and blocks of one stream.
    fn plane(len: usize, kind: usize) -> (Vec<u8>, Vec<u8>) {
        let text: Vec<u8> = b"abracadabra, ".iter().copied().cycle().take(len).collect();
        match kind % 4 {
            0 => (vec![0; len], vec![0; 4]),
            1 => (vec![7; len], vec![0xf9, 0xff, 0xff, 0xff, 1]),
            2 => (text.clone(), sized(&text)),
            _ => (text.clone(), sized(&lz4_flex::block::compress(&text))),
        }
    }
    for size in [2_u8, 3, 4, 8, 16] {
        let (width, plane_len) = (usize::from(size), 200);
        let filters = [0, 0, 0, 0, 0, 1];
        let block_size = i32::try_from(width * plane_len).unwrap();
        let header = |flags| ChunkHeader {
            flags,
            element_size: size,
            filters,
            ..ChunkHeader::blocks(1, 3 * block_size, block_size)
        };
        let blocks: Vec<Vec<(Vec<u8>, Vec<u8>)>> =
            (0..3).map(|block| (0..width).map(|kind| plane(plane_len, kind + block)).collect()).collect();
        let shuffled = |block: &Vec<(Vec<u8>, Vec<u8>)>| block.iter().flat_map(|(plane, _)| plane.clone()).collect();
        let element = |i: usize| blocks[i / plane_len].iter().map(move |(plane, _)| plane[i % plane_len]);
        let expected: Vec<u8> = (0..3 * plane_len).flat_map(element).collect();
        let split: Vec<Vec<u8>> =
            blocks.iter().map(|block| block.iter().flat_map(|(_, stream)| stream.clone()).collect()).collect();
        let whole: Vec<Vec<u8>> = blocks
            .iter()
            .map(|block| {
                let bytes: Vec<u8> = shuffled(block);
                sized(&lz4_flex::block::compress(&bytes))
            })
            .collect();
        for (flags, streams) in [(0b0010_0101, split), (0b0011_0101, whole)] {
            let streams: Vec<&[u8]> = streams.iter().map(Vec::as_slice).collect();
            let frame = frame_of(&header(flags).then_blocks(&streams), 3 * block_size);
            assert!(decoded(&frame, expected.len()).as_ref() == Ok(&expected), "{size} {flags:#x}");
            for (start, len) in
                [(0, 1), (1, 50), (width, 3 * width), (190 * width + 1, 300 * width), (599 * width, width)]
            {
                let mut part = vec![0xaa; len];
                decompress_range(&frame, expected.len() as u64, start as u64, &mut part).unwrap();
                assert!(part == expected[start..start + len], "{size} {flags:#x} {start} {len}");
            }
        }
    }
}

#[test]
fn the_index_may_be_compressed_and_lead_to_a_chunk_twice() {
    let index = ChunkHeader::special(3, 24).then(&0_u64.to_le_bytes());
    let frame = frame_with_index(24, 8, &ChunkHeader::stored(8).then(b"abcdefgh"), &index);
    assert_eq!(decoded(&frame, 24), Ok(b"abcdefgh".repeat(3)));
}

#[test]
fn blocks_that_overlap_are_read_as_long_as_the_frame() {
    let block = sized(b"\x00a\xe0\xff\xff\xff\xff\x00\x00\x00b");
    let mut chunk = ChunkHeader::blocks(0, 64 * 1031, 1031).then_blocks(&[[0; 4].as_slice(); 64]);
    let at = i32::try_from(chunk.len()).unwrap();
    chunk.extend(&block);
    chunk[12..16].copy_from_slice(&(at + 15).to_le_bytes());
    let mut overlap = |blocks: usize| {
        chunk[32..][..4 * blocks].copy_from_slice(&at.to_le_bytes().repeat(blocks));
        decoded(&frame_of(&chunk, 64 * 1031), 64 * 1031)
    };
    assert!(overlap(2).is_ok());
    assert_eq!(overlap(64), Err("blocks overlap".into()));
}

#[test]
fn lengths_of_header_and_trailer_are_believed() {
    let mut frame = frame_of(&ChunkHeader::stored(4).then(b"abcd"), 4);
    let (header_end, trailer) = (97, frame.len() - 35);
    frame.splice(trailer..trailer, *b"metalayers of varying length");
    frame.splice(header_end..header_end, *b"metalayers");
    let len = frame.len() as u64;
    frame[11..15].copy_from_slice(&107_u32.to_be_bytes());
    frame[16..24].copy_from_slice(&len.to_be_bytes());
    let at = frame.len() - 22;
    frame[at..at + 4].copy_from_slice(&63_u32.to_be_bytes());
    assert_eq!(decoded(&frame, 4), Ok(b"abcd".to_vec()));
}

/// Decodes one stream of a format.
fn stream(format: u8, stream: &[u8], len: i32) -> std::result::Result<Vec<u8>, String> {
    let chunk = ChunkHeader::blocks(format, len, len).then_blocks(&[&sized(stream)]);
    decoded(&frame_of(&chunk, len), usize::try_from(len).unwrap())
}

#[test]
fn every_codec_decodes() {
    let zeros = vec![0; 32];
    assert_eq!(stream(0, &[0x20, 0, 0xe0, 21, 0, 0, 0], 32), Ok(zeros.clone()));
    assert_eq!(stream(1, &hex("1f0001000660000000000000"), 32), Ok(zeros.clone()));
    assert_eq!(stream(3, &hex("789c6360c00f0000200001"), 32), Ok(zeros.clone()));
    assert_eq!(stream(4, &zstd_of(&zeros), 32), Ok(zeros));
}

fn zstd_of(bytes: &[u8]) -> Vec<u8> {
    ::zstd::bulk::compress(bytes, 3).unwrap()
}

#[test]
fn blosclz_copies_from_near_and_far() {
    // Three literals; a match of 5, 3 back; one literal.
    assert_eq!(stream(0, b"\x02abc\x60\x02\x00d", 9), Ok(b"abcabcabd".to_vec()));
    // A match of 9 + 255 + 1, 1 back.
    let run: Vec<u8> = [b"a".repeat(266), b"b".to_vec()].concat();
    assert_eq!(stream(0, b"\x00a\xe0\xff\x01\x00\x00b", 267), Ok(run));
    // Four literals; one; a match of 9 + 35 · 255, 1 back; a match of 3, from the first byte; one literal.
    let mut far = b"\x03wxyz\x00.\xe0".to_vec();
    far.extend([0xff; 35]);
    far.extend([0, 0]);
    let mut expected = b"wxyz".to_vec();
    expected.extend([b'.'; 10 + 35 * 255]);
    let back = u16::try_from(expected.len() - 8192).unwrap();
    far.extend([0x3f, 0xff]);
    far.extend(back.to_be_bytes());
    far.extend(b"\x00!");
    expected.extend(b"wxy!");
    assert_eq!(stream(0, &far, i32::try_from(expected.len()).unwrap()), Ok(expected));
}

#[test]
fn blosclz_that_is_damaged_is_refused() {
    let damaged: [&[u8]; 7] = [
        b"\x02ab",             // literals cut short
        b"\x00a\x20",          // distance cut short
        b"\x00a\x20\x01\x00b", // from before the first byte
        b"\x00a\x3f\xff\xff",  // far distance cut short
        b"\x00a\xe0\xff\xff",  // length cut short
        b"\x00a\xe0\x09\x00",  // more than the stream has
        b"\x00a\x20\x00",      // less
    ];
    for bytes in damaged {
        assert!(stream(0, bytes, 16).unwrap_err().contains("blosclz"), "{bytes:?}");
    }
}

#[test]
fn bits_are_unshuffled_as_the_plainest_loop_does() {
    for (size, len) in (1..=17).flat_map(|size| [8, 64, 200, 333].map(|len| (size, len))) {
        let filtered: Vec<u8> = (0..len).map(|at| u8::try_from(at * at * 7 % 251).unwrap()).collect();
        let elements = len / usize::from(size) / 8 * 8;
        let mut expected = filtered.clone();
        expected[..elements * usize::from(size)].fill(0);
        for (bit, element) in (0..8 * usize::from(size)).flat_map(|bit| (0..elements).map(move |e| (bit, e))) {
            let at = bit * elements + element;
            let set = filtered[at / 8] >> (at % 8) & 1;
            expected[element * usize::from(size) + bit / 8] |= set << (bit % 8);
        }
        let filters = Filters::new([2, 0, 0, 0, 0, 0], [0; 6], size).unwrap();
        let mut out = vec![0; len];
        filters.undoing()[0].undo(&mut filtered.clone(), &mut out).unwrap();
        assert_eq!(out, expected, "{size} {len}");
    }
}

#[test]
fn filters_are_undone_from_the_last_to_the_first() {
    let plain = b"abcdefghijklmnop";
    let shuffled = b"acegikmobdfhjlnp";
    let twice: Vec<u8> = shuffled.iter().step_by(2).chain(shuffled.iter().skip(1).step_by(2)).copied().collect();
    let chunk = ChunkHeader { element_size: 2, filters: [1, 0, 0, 1, 0, 0], ..ChunkHeader::blocks(0, 16, 16) };
    assert_eq!(decoded(&frame_of(&chunk.then_blocks(&[&sized(&twice)]), 16), 16), Ok(plain.to_vec()));
}

#[test]
fn what_is_not_supported_is_refused_in_words() {
    let refusal =
        |chunk: &ChunkHeader| decoded(&frame_of(&chunk.then_blocks(&[&sized(b"abcdefgh")]), 8), 8).unwrap_err();
    let plain = || ChunkHeader::blocks(0, 8, 8);
    for (filter, name) in [(3, "delta"), (4, "truncated precision"), (32, "plug-in"), (255, "plug-in")] {
        assert!(refusal(&ChunkHeader { filters: [0, 0, filter, 0, 0, 1], ..plain() }).contains(name));
    }
    for format in [2, 5, 6, 7] {
        assert!(refusal(&ChunkHeader::blocks(format, 8, 8)).contains("codec format"));
    }
    for flag in [1 << 0, 1 << 1, 1 << 3, 1 << 7] {
        assert!(refusal(&ChunkHeader { blosc2_flags: flag, ..plain() }).contains("dictionaries"));
    }
    for (kind, name) in [(2, "NaN"), (4, "never written"), (5, "special kind 5")] {
        assert!(refusal(&ChunkHeader::special(kind, 8)).contains(name));
        let index = frame(8, 8, &[], &[1 << 63 | u64::from(kind) << 56]);
        assert!(decoded(&index, 8).unwrap_err().contains(name));
    }
    assert!(refusal(&ChunkHeader { flags: 0b1_0001, ..plain() }).contains("version 5 and flags"));
    assert!(refusal(&ChunkHeader { element_size: 0, ..plain() }).contains("element size"));
    let base = frame_of(&ChunkHeader::stored(8).then(b"abcdefgh"), 8);
    for (byte, value) in [(25, 0x02), (25, 0x14), (25, 0x52), (25, 0x92), (26, 1), (27, 0x53), (27, 0x56)] {
        let mut frame = base.clone();
        frame[byte] = value;
        assert!(decoded(&frame, 8).is_err(), "{byte} {value:#x}");
    }
}

#[test]
fn claims_reserve_nothing() {
    // A block of 2 GiB in four bytes, of which eight bytes are wanted.
    let chunk = ChunkHeader::blocks(1, i32::MAX, i32::MAX).then_blocks(&[&[0; 4]]);
    let big = frame_of(&chunk, i32::MAX);
    let total = u64::try_from(i32::MAX).unwrap();
    let error = decompress_range(&big, total, 5, &mut [0; 8]).unwrap_err();
    assert_eq!(error.to_string(), "a block of 2147483647 bytes is too large to decode in part");
    // 2⁴⁰ chunks of one byte.
    let index = ChunkHeader::special(3, i32::MAX).then(&[0; 8]);
    let error = decompress_range(&frame_with_index(1 << 40, 1, &[], &index), 1 << 40, 5, &mut [0; 8]).unwrap_err();
    assert_eq!(error.to_string(), "index of 8796093022208 bytes to chunks of 1 is too large");
    // Blocks of one byte each, whose starts the chunk does not have.
    let chunk = ChunkHeader::blocks(1, i32::MAX, 1).then_blocks(&[&[0; 4]]);
    assert!(decompress_range(&frame_of(&chunk, i32::MAX), total, 5, &mut [0; 8]).is_err());
    // A stream longer than what it decodes to.
    let error = stream(3, &[0; 9], 8).unwrap_err();
    assert_eq!(error, "a stream of 9 bytes decodes to only 8");
}

/// The messages with `blosc2` in their name, without those that are damaged.
pub(super) fn samples() -> Vec<PathBuf> {
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data"));
    let mut samples = Vec::new();
    let mut dirs = vec![data.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "malformed" {
                dirs.push(path);
            } else if name.contains("blosc2") && path.extension().is_some_and(|extension| extension == "tgm") {
                samples.push(path);
            }
        }
    }
    samples
}

/// A message of `tests/data`.
fn sample(name: &str) -> Vec<u8> {
    fs::read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data")).join(name)).unwrap()
}

/// An object's values, little-endian, masked ones restored.
fn values(object: &DataObject<'_>) -> Vec<u8> {
    let descriptor = object.descriptor();
    let mut stored = object.payload().to_vec();
    if descriptor.compression().known() == Some(Compression::Blosc2) {
        stored = decoded(object.payload(), usize::try_from(stored_len(descriptor).unwrap()).unwrap()).unwrap();
    } else if descriptor.compression().known() == Some(Compression::Zstd) {
        stored = vec![0; usize::try_from(stored_len(descriptor).unwrap()).unwrap()];
        crate::codecs::zstd::decompress(object.payload(), &mut stored).unwrap();
    }
    let stored = Stored::new(descriptor, &stored).unwrap();
    let mut values = vec![0; usize::try_from(descriptor.decoded_len().unwrap()).unwrap()];
    stored.decode_into(0..stored.element_count(), ByteOrder::Little, &mut values).unwrap();
    for (kind, entry) in descriptor.masks().iter() {
        let bits = match entry.method().known() {
            Some(MaskMethod::Blosc2) => {
                let len = usize::try_from(stored.element_count().div_ceil(8)).unwrap();
                decoded(object.mask_blob(&entry).unwrap(), len).unwrap()
            }
            _ => Vec::new(),
        };
        let mask = object.mask(&entry).unwrap_or(Mask::new(BitmapForm::Raw, &bits, stored.element_count()));
        restore_into(&mask, kind, stored.dtype(), ByteOrder::Little, 0, &mut values).unwrap();
    }
    values
}

#[test]
fn payloads_and_masks_of_the_reference_decode_to_their_digests() {
    let samples = samples();
    for path in &samples {
        let (message, sidecar) = (fs::read(path).unwrap(), fs::read_to_string(path.with_extension("json")).unwrap());
        for object in Message::parse(&message).unwrap().objects() {
            let digest = Sha256::digest(values(&object.unwrap())).iter().fold(String::new(), |mut digits, byte| {
                write!(digits, "{byte:02x}").unwrap();
                digits
            });
            assert!(sidecar.contains(&format!(r#""decoded":{{"sha256":"{digest}""#)), "{}", path.display());
        }
    }
    assert!(samples.len() >= 43, "{}", samples.len());
}

#[test]
fn parts_are_read_from_an_opened_frame() {
    let message = sample("ranges/blosc2-int64-big.tgm");
    let object = Message::parse(&message).unwrap().object(0).unwrap();
    let whole = decoded(object.payload(), 8000).unwrap();
    let (payload, descriptor, mut work) = (object.payload(), object.descriptor(), Workspace::default());
    assert!(Blosc2.open_parts(payload, descriptor, 7999, 7999, &mut work).is_err());
    let mut parts = Blosc2.open_parts(payload, descriptor, 8000, 8000, &mut work).unwrap().unwrap();
    for (start, end) in [(0, 0), (0, 8000), (8, 16), (777, 7777), (7999, 8000)] {
        let mut out = vec![0; end - start];
        parts.read_into(start as u64, &mut out).unwrap();
        assert_eq!(out, whole[start..end]);
    }
    assert!(parts.read_into(7999, &mut [0; 2]).is_err());
}

/// Bytes of the blocks of [`runs`].
const BLOCK: i32 = 1 << 20;
/// Blocks of [`runs`].
const BLOCKS: i32 = 4;

/// A chunk of blocks, each of them a run of one byte that is shuffled twice.
fn runs() -> Vec<u8> {
    let runs: Vec<Vec<u8>> = (1..=BLOCKS).map(|n| [(-n).to_le_bytes().as_slice(), &[1]].concat()).collect();
    let runs: Vec<&[u8]> = runs.iter().map(Vec::as_slice).collect();
    let header = ChunkHeader::blocks(1, BLOCK * BLOCKS, BLOCK);
    ChunkHeader { filters: [0, 0, 0, 0, 2, 1], ..header }.then_blocks(&runs)
}

#[test]
fn blocks_that_parts_share_are_decoded_once() {
    let total = u64::from((BLOCKS * BLOCK).unsigned_abs());
    let frame = frame_of(&runs(), i32::try_from(total).unwrap());
    let whole = decoded(&frame, usize::try_from(total).unwrap()).unwrap();
    let message = sample("ranges/blosc2-int64-big.tgm");
    let object = Message::parse(&message).unwrap().object(0).unwrap();
    let mut work = Workspace::default();
    let mut parts = Blosc2.open_parts(&frame, object.descriptor(), total, total, &mut work).unwrap().unwrap();
    let block = u64::from(BLOCK.unsigned_abs());
    for (part, end) in [(0..1, block), (5..block, block), (5..block + 1, 2 * block), (total - 1..total, total)] {
        assert_eq!(parts.end_of_block(&part), Ok(end), "{part:?}");
    }
    let len = usize::try_from(BLOCK).unwrap();
    let mut out = vec![0; len];
    parts.read_into(block, &mut out).unwrap();
    assert!(out == whole[len..2 * len]);
    drop(parts);
    assert_eq!(work.done.decoded, block);
}

/// 4096 chunks that are nowhere stored, found by an index that is one compressed block.
#[test]
fn a_block_of_the_index_is_decoded_twice_at_most() {
    const CHUNKS: i32 = 4096;
    let zeros: Vec<u8> = (0..CHUNKS).flat_map(|_| [0, 0, 0, 0, 0, 0, 0, 0x81]).collect();
    let index =
        ChunkHeader::blocks(1, 8 * CHUNKS, 8 * CHUNKS).then_blocks(&[&sized(&lz4_flex::block::compress(&zeros))]);
    let total = 100 * u64::from(CHUNKS.unsigned_abs());
    let frame = frame_with_index(total, 100, &[], &index);
    let message = sample("ranges/blosc2-int64-big.tgm");
    let object = Message::parse(&message).unwrap().object(0).unwrap();
    let mut work = Workspace::default();
    let mut parts = Blosc2.open_parts(&frame, object.descriptor(), total, total, &mut work).unwrap().unwrap();
    for chunk in (0..total).step_by(300) {
        let mut out = [7; 10];
        parts.end_of_block(&(chunk..chunk + 10)).unwrap();
        parts.read_into(chunk, &mut out).unwrap();
        assert_eq!(out, [0; 10]);
    }
    drop(parts);
    assert_eq!(work.done.decoded, 2 * zeros.len() as u64);
}

/// The header of a frame may say anything about blocks: the frames here say that one is as long as a chunk, and 8
/// bytes.
#[test]
fn no_thread_decodes_a_block_longer_than_its_piece_for_a_part_of_it() {
    let total = usize::try_from(BLOCKS * BLOCK).unwrap();
    let mut bytes = frame_of(&runs(), i32::try_from(total).unwrap());
    bytes[53..57].copy_from_slice(&8_i32.to_be_bytes());
    let frame = open(&bytes, total as u64).unwrap();
    for (start, len) in [(0, LEAST_PIECE), (LEAST_PIECE, LEAST_PIECE), (total - 8, 8)] {
        let mut scratch = Scratch::of_piece(len);
        scratch.begin(frame.stored_len());
        let error = read_chunks(&frame, &[[0; OFFSET_LEN]], start as u64, &mut vec![0; len], &mut scratch).unwrap_err();
        assert!(error.to_string().contains("too large to decode in part"), "{error}");
        assert_eq!(scratch.decoded(), 0);
    }
    // Pieces are cut where the chunk says that blocks end.
    let mut together = vec![0; total];
    #[cfg(feature = "parallel")]
    {
        let threads = Threads::resolve(8, u64::MAX, None).unwrap();
        assert!(read_on(threads, &frame, &mut together, &mut Scratch::default()).unwrap());
    }
    #[cfg(not(feature = "parallel"))]
    decompress(&bytes, &mut together).unwrap();
    assert_eq!(Ok(together), decoded(&bytes, total));
}

#[test]
fn damaged_payloads_of_the_reference_are_refused() {
    for name in ["malformed/codec/blosc2-garbage.tgm", "malformed/codec/blosc2-truncated.tgm"] {
        let message = sample(name);
        let object = Message::parse(&message).unwrap().object(0).unwrap();
        let mut out = vec![0; usize::try_from(stored_len(object.descriptor()).unwrap()).unwrap()];
        assert!(decompress(object.payload(), &mut out).is_err(), "{name}");
    }
    let message = sample("malformed/mask/blosc2-garbage.tgm");
    let object = Message::parse(&message).unwrap().object(0).unwrap();
    let (_, entry) = object.descriptor().masks().iter().next().unwrap();
    let len = usize::try_from(object.descriptor().element_count().div_ceil(8)).unwrap();
    assert!(decompress(object.mask_blob(&entry).unwrap(), &mut vec![0; len]).is_err());
}

#[test]
fn damage_of_any_byte_is_an_error_or_other_values() {
    for name in ["malformed-bases/blosc2.tgm", "codecs/blosc2-blosclz-l5.tgm", "codecs/blosc2-zlib-l5.tgm"] {
        let message = sample(name);
        let object = Message::parse(&message).unwrap().object(0).unwrap();
        let len = usize::try_from(stored_len(object.descriptor()).unwrap()).unwrap();
        let mut payload = object.payload().to_vec();
        // Machines of 32 bits are emulated, and slow.
        for at in (0..payload.len()).step_by(if usize::BITS < u64::BITS { 7 } else { 1 }) {
            let original = payload[at];
            for value in [0, 1, 0x7f, 0x80, 0xff, original ^ 1, original ^ 0x10].into_iter().filter(|v| *v != original)
            {
                payload[at] = value;
                // The check of parts against the whole is what may fail here.
                let _ = decoded(&payload, len);
            }
            payload[at] = original;
            assert!(decoded(&payload[..at], len).is_err());
        }
    }
}
