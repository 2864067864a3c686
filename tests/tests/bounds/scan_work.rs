//! Scanning is linear on any bytes: reads are counted, nothing is timed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use std::cell::Cell;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

use crate::counted::Counted;
use tgm_core::scan::{Scanner, Segment};
use tgm_std::{ScanOptions, scan_file_with_options, scan_with_options};
use tgm_tests::builder::{Frame, Message, Object, frame_type, map};

/// The most bytes that a scan may read per byte of the source; a call counts as eight bytes.
const WORK_PER_BYTE: u64 = 16;
/// The lengths over which work must stay linear. Work that is not linear shows at the short ones already.
const LENGTHS: [usize; 4] = [64 << 10, 256 << 10, 1 << 20, 4 << 20];

/// The lengths that are tried: the longest with `TGM_TEST_SCALE=2` and more.
fn lengths() -> &'static [usize] {
    if tgm_tests::stride(2) == 1 { &LENGTHS } else { &LENGTHS[..3] }
}

/// Scans from the start, or from both ends in turn. Returns the segments and the work.
fn scan(bytes: &[u8], both: bool) -> (Vec<Segment>, u64) {
    let work = Cell::new(0);
    let mut scanner = Scanner::new(Counted { bytes, work: &work });
    let mut segments = Vec::new();
    while let Ok(Some(segment)) = scanner.next_segment() {
        segments.push(segment);
        if both {
            let Ok(_) = scanner.next_message_back(u64::MAX);
        }
    }
    (segments, work.get())
}

const STREAM: &[u8; 24] = b"TENSOGRM\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

fn repeat(piece: &[u8], len: usize) -> Vec<u8> {
    piece.iter().copied().cycle().take(len).collect()
}

/// A preamble that states its length.
fn stated(length: u64) -> Vec<u8> {
    [&STREAM[..16], &length.to_be_bytes()].concat()
}

/// Small frames one after another, each of them whole.
fn frames(len: usize) -> Vec<u8> {
    let built = Message::empty().with(Frame::metadata(frame_type::HEADER_METADATA, &map([]))).build();
    repeat(&built.bytes[24..built.bytes.len() - 24], len / 32 * 32)
}

/// A few large frames one after another, each of them whole.
fn far_frames(len: usize) -> Vec<u8> {
    let length = len / 10 / 8 * 8;
    let header = [&b"FR\0\x01\0\x01\0\0"[..], &(length as u64).to_be_bytes()].concat();
    let frame = [&header[..], &vec![0; length - 20], b"ENDF"].concat();
    repeat(&frame, 10 * length)
}

/// Streams of one frame each that all end at the same place, each inside the frame of the one before it.
fn nested_streams(len: usize) -> Vec<u8> {
    let piece = STREAM.len() + 16;
    let end = len / piece * piece + 12;
    let stream = |at: usize| {
        let length = (end - at * piece - STREAM.len()) as u64;
        [&STREAM[..], b"FR\0\x01\0\x01\0\0", &length.to_be_bytes()].concat()
    };
    (0..len / piece).flat_map(stream).chain(*b"\0\0\0\0\0\0\0\0ENDF").collect()
}

/// A frame header that states the largest length.
const BROKEN_FRAME: &[u8; 16] = b"FR\0\x01\0\x01\0\0\xff\xff\xff\xff\xff\xff\xff\xff";
const END: &[u8; 24] = b"\0\0\0\0\0\0\0\x18\0\0\0\0\0\0\0\x0039277777";

/// Inputs that try to make a scanner look at the same bytes again and again, about `len` bytes each.
fn adversaries(len: usize) -> Vec<(&'static str, Vec<u8>)> {
    let half = len / 2;
    let root = len.isqrt();
    let one_stream = Message::streamed([Object::bytes(&[1, 2, 3])]).build().bytes;
    let sound = [&STREAM[..], &frames(half), END].concat();
    vec![
        ("streaming preambles", repeat(STREAM, len)),
        ("streaming preambles, an end magic after all", [&repeat(STREAM, len)[..], b"39277777"].concat()),
        ("streaming preambles and a gap without frames", [repeat(STREAM, half), vec![0; half]].concat()),
        ("streaming preambles before one chain of frames", [repeat(STREAM, half), frames(half)].concat()),
        ("streaming preambles, zeros, frames", [repeat(STREAM, root), vec![0; half], frames(half - root)].concat()),
        ("a chain of frames after each preamble, all broken at the end", {
            let piece = [&STREAM[..], &frames(256)].concat();
            [repeat(&piece, len), BROKEN_FRAME.to_vec()].concat()
        }),
        ("streaming preambles with broken frames before one sound stream", {
            let fake = [&STREAM[..], BROKEN_FRAME].concat();
            [repeat(&fake, root / 2 * fake.len()), sound.clone()].concat()
        }),
        ("nested streams before one chain of frames", {
            [nested_streams(half), frames(half), BROKEN_FRAME.to_vec()].concat()
        }),
        ("nested streams before a gap", [nested_streams(half), vec![0; half]].concat()),
        ("nested streams before one chain of frames and an end magic", {
            [nested_streams(half), frames(half), BROKEN_FRAME.to_vec(), END.to_vec()].concat()
        }),
        ("start magics", repeat(b"TENSOGRM", len)),
        ("start magics that overlap", repeat(b"TENSOGR", len)),
        ("end magics after a broken stream", [&STREAM[..], BROKEN_FRAME, &repeat(b"39277777", len)].concat()),
        ("broken streams and end magics in turn", repeat(&[&STREAM[..], BROKEN_FRAME, b"39277777"].concat(), len)),
        ("stated lengths that all reach to the end", {
            let count = len / 24;
            (0..count).flat_map(|at| stated(((count - at) * 24) as u64)).collect()
        }),
        ("stated lengths that are too long", repeat(&stated(u64::MAX), len)),
        ("FR and nothing", [&STREAM[..], &repeat(b"FR", len)].concat()),
        ("streaming preambles and FR", repeat(&[&STREAM[..], b"FR"].concat(), len)),
        ("small streams", repeat(&one_stream, len)),
        ("small messages", repeat(&Message::buffered([Object::bytes(&[1])]).build().bytes, len)),
        ("zeros", vec![0; len]),
        ("nested streams before frames that are far apart", {
            [nested_streams(half), far_frames(half), BROKEN_FRAME.to_vec()].concat()
        }),
        ("stated lengths, and start magics far behind", {
            [repeat(&stated(len as u64), half), vec![1; half / 2], repeat(b"TENSOGRM", half / 2)].concat()
        }),
    ]
}

#[test]
fn work_is_linear_whatever_the_bytes_are() {
    assert_linear(&lengths()[..2]);
}

#[test]
fn work_is_linear_however_many_bytes_there_are() {
    assert_linear(&lengths()[2..]);
}

/// Scans all inputs in each of these lengths, and counts the work.
fn assert_linear(lengths: &[usize]) {
    let mut worst = (0, "");
    let mut wrong = Vec::new();
    for &len in lengths {
        for (name, bytes) in adversaries(len) {
            for both in [false, true] {
                let (segments, work) = scan(&bytes, both);
                let per_byte = work / bytes.len() as u64;
                if per_byte > WORK_PER_BYTE {
                    wrong.push(format!("{name}, {len} bytes, both ends {both}: {per_byte} for each byte"));
                }
                worst = worst.max((per_byte, name));
                let covered: u64 = segments.iter().map(Segment::length).sum();
                assert!(both || covered == bytes.len() as u64, "{name}");
            }
        }
        // Work that is not linear shows at small lengths: stop before the large ones, which would take long.
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    }
    println!("worst: {} for each byte of {:?}", worst.0, worst.1);
}

/// The most bytes that a scan may read per byte of a file.
const FILE_BYTES_PER_BYTE: u64 = 12;
/// A scan of a file may make one read for this many bytes of it.
const BYTES_PER_CALL: u64 = 8;
/// The bytes that a scan may read in addition, of a file of any length.
const FILE_CONSTANT: u64 = 256 << 10;

/// A file that counts reads and the bytes that they gave.
struct CountedFile<'a> {
    file: Cursor<&'a [u8]>,
    calls: u64,
    bytes: u64,
}

impl Read for CountedFile<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(out)?;
        self.calls += 1;
        self.bytes += read as u64;
        Ok(read)
    }
}

impl Seek for CountedFile<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Files are read in windows: bytes that are close together are not read again for each candidate.
#[test]
fn reads_of_a_file_are_bounded_whatever_its_bytes_are() {
    let mut worst = (0, "");
    let mut wrong = Vec::new();
    for &len in lengths() {
        for (name, bytes) in adversaries(len) {
            for bidirectional in [false, true] {
                let options = ScanOptions { bidirectional, ..ScanOptions::default() };
                let mut file = CountedFile { file: Cursor::new(&bytes), calls: 0, bytes: 0 };
                let found = scan_file_with_options(&mut file, &options).unwrap();
                let (read, calls, len) = (file.bytes, file.calls, bytes.len() as u64);
                if read > len * FILE_BYTES_PER_BYTE + FILE_CONSTANT || calls > len / BYTES_PER_CALL + 64 {
                    wrong
                        .push(format!("{name}, {len} bytes, both ends {bidirectional}: {read} bytes in {calls} reads"));
                }
                worst = worst.max((read / len, name));
                assert_eq!(found, scan_with_options(&bytes, &options), "{name}");
            }
        }
        // Work that is not linear shows at small lengths: stop before the large ones, which would take long.
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    }
    println!("worst: {} for each byte of {:?}", worst.0, worst.1);
}

/// A stream that was cut short ends at the first end magic, as in the reference. This may be the end magic of the
/// message after it, which then is not found from the start. After all other inputs, and from the end, it is always
/// found.
#[test]
fn a_message_behind_hostile_bytes_is_found() {
    let message = Message::buffered([Object::f32(&[2], &[1.0, 2.0])]).build().bytes;
    for (name, bytes) in adversaries(16 << 10) {
        let joined = [&bytes[..], &message].concat();
        let expected = Segment::Message { offset: bytes.len() as u64, length: message.len() as u64 };
        let Ok(from_end) = Scanner::new(&joined[..]).next_message_back(u64::MAX);
        assert_eq!(from_end, Some(expected), "{name}");
        let forward = scan(&joined, false).0;
        let may_be_swallowed = bytes.starts_with(STREAM);
        assert!(may_be_swallowed || forward.contains(&expected), "{name}: {:?}", forward.last());
    }
}

/// Cuts at which a frame of the cut stream happens to end where a frame of the stream after it ends. Only its digest
/// would tell, and a scan does not read digests.
const COINCIDENCES: usize = 4;
/// Cuts right after the header of a frame that does not end in the file: the bytes that follow are taken for its
/// payload.
const PAYLOADS: usize = 4;

/// Only the few cuts counted above lose the message after them.
#[test]
fn a_stream_that_was_cut_short_does_not_swallow_the_message_behind_it() {
    let stream = Message::streamed([Object::f32(&[40], &[1.0; 40]), Object::bytes(&[3; 300])]).build().bytes;
    let behind = Message::buffered([Object::f32(&[2], &[1.0, 2.0])]).build().bytes;
    let streamed_behind = Message::streamed([Object::bytes(&[1])]).build().bytes;
    for (behind, may_coincide) in [(&behind, PAYLOADS), (&streamed_behind, COINCIDENCES + PAYLOADS)] {
        let mut swallowed = Vec::new();
        for cut in 0..stream.len() {
            let joined = [&stream[..cut], behind].concat();
            let found: Vec<Segment> = scan(&joined, false).0.into_iter().filter(Segment::is_message).collect();
            let expected = Segment::Message { offset: cut as u64, length: behind.len() as u64 };
            if found != [expected] {
                swallowed.push((cut, found));
            }
        }
        println!("{} of {} cuts lose the message after", swallowed.len(), stream.len());
        assert!(swallowed.len() <= may_coincide, "of {}: {swallowed:?}", stream.len());
    }
}
