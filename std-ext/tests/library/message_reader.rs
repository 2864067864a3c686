//! Messages of streams: the same as a scan of all bytes finds, however the reads are cut, and as soon as they are there.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests may panic")]

use std::fs;
use std::io::{self, Read, Write as _};
use std::path::Path;
use std::sync::mpsc;
use std::sync::{LazyLock, OnceLock};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use proptest::sample::Index;
use tgm_std::core::push::Link;
use tgm_std::core::scan::{Segment, scan};
use tgm_std::file::{MessageReader, StreamOptions, StreamPart};
use tgm_std::{EncodeOptions, GlobalMetadata, ObjectBuilder, StreamingEncoder, TensogramError};

/// Files of the corpus that are one message without damage.
static SOUND: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let is_sound = |file: &&Vec<u8>| {
        scan(file).count() == 1 && scan(file).all(|part| part.is_message()) && tgm_std::check_message(file).is_ok()
    };
    corpus().iter().filter(is_sound).cloned().collect()
});

/// All files of the corpus that are not large, damaged ones among them.
fn corpus() -> &'static [Vec<u8>] {
    fn collect(folder: &Path, files: &mut Vec<Vec<u8>>) {
        let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                collect(&path, files);
            } else if path.extension().is_some_and(|end| end == "tgm") && path.metadata().unwrap().len() < 100_000 {
                files.push(fs::read(path).unwrap());
            }
        }
    }
    static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut files = Vec::new();
        collect(Path::new("../tests/data"), &mut files);
        assert!(files.len() > 300, "{}", files.len());
        files
    })
}

fn message(path: &str) -> Vec<u8> {
    fs::read(Path::new("../tests/data").join(path)).unwrap()
}

/// Bytes that come in reads of these lengths, which are repeated. Before each read of a length that is a multiple of three,
/// the reader is interrupted; at a length of 0 there is nothing yet.
struct Cut<'a> {
    bytes: &'a [u8],
    lengths: &'a [usize],
    reads: usize,
    interrupted: bool,
}

impl<'a> Cut<'a> {
    fn new(bytes: &'a [u8], lengths: &'a [usize]) -> Self {
        Self { bytes, lengths, reads: 0, interrupted: false }
    }
}

impl Read for Cut<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.lengths[self.reads % self.lengths.len()];
        if length.is_multiple_of(3) && !self.interrupted {
            self.interrupted = true;
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.interrupted = false;
        self.reads += 1;
        if length == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let length = length.min(out.len());
        self.bytes.read(&mut out[..length])
    }
}

/// A part of a stream, owned.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    Part(Segment),
    TooLarge { offset: u64, length: Option<u64> },
}

/// All parts of a stream, each checked against the bytes.
fn parts(bytes: &[u8], lengths: &[usize], options: StreamOptions) -> Vec<Seen> {
    let mut reader = MessageReader::with_options(Cut::new(bytes, lengths), &options);
    let mut seen = Vec::new();
    loop {
        match reader.next_part() {
            Ok(Some(StreamPart::Message(message))) => {
                let found = Segment::Message { offset: message.offset(), length: message.len() as u64 };
                assert_eq!(found.bytes_of(bytes), Some(message.as_bytes()));
                seen.push(Seen::Part(found));
            }
            Ok(Some(StreamPart::Junk { offset, length, beginning })) => {
                let found = Segment::Junk { offset, length };
                let all = found.bytes_of(bytes).unwrap();
                let is_after_error = matches!(seen.last(), Some(Seen::TooLarge { .. }));
                if !is_after_error && seen.iter().all(|seen| matches!(seen, Seen::Part(_))) {
                    assert_eq!(beginning, &all[..all.len().min(options.max_junk_bytes)]);
                }
                seen.push(Seen::Part(found));
            }
            Ok(Some(_)) => panic!("a new part"),
            Ok(None) => return seen,
            Err(TensogramError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(TensogramError::MessageTooLarge { offset, length, .. }) => {
                seen.push(Seen::TooLarge { offset, length });
            }
            Err(error) => panic!("{error}"),
        }
    }
}

fn scanned(bytes: &[u8]) -> Vec<Seen> {
    scan(bytes).map(Seen::Part).collect()
}

/// How a file of the corpus gets into a stream.
#[derive(Clone, Debug)]
enum Piece {
    Whole(Index),
    /// Without its end.
    Torn(Index, Index),
    /// With a byte changed.
    Damaged(Index, Index, u8),
    Bytes(Vec<u8>),
    /// A magic and nothing else.
    Magic(bool),
}

fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        4 => any::<Index>().prop_map(Piece::Whole),
        2 => (any::<Index>(), any::<Index>()).prop_map(|(file, at)| Piece::Torn(file, at)),
        2 => (any::<Index>(), any::<Index>(), any::<u8>()).prop_map(|(file, at, byte)| Piece::Damaged(file, at, byte)),
        1 => proptest::collection::vec(any::<u8>(), 0..200).prop_map(Piece::Bytes),
        1 => proptest::collection::vec(Just(0), 0..200).prop_map(Piece::Bytes),
        1 => any::<bool>().prop_map(Piece::Magic),
    ]
}

fn pick<'a>(index: &Index, files: &'a [Vec<u8>]) -> &'a [u8] {
    &files[index.index(files.len())]
}

fn stream(pieces: &[Piece]) -> Vec<u8> {
    let mut stream = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Whole(file) => stream.extend_from_slice(pick(file, corpus())),
            Piece::Torn(file, at) => {
                let file = pick(file, corpus());
                stream.extend_from_slice(&file[..at.index(file.len() + 1)]);
            }
            Piece::Damaged(file, at, byte) => {
                let start = stream.len();
                stream.extend_from_slice(pick(file, corpus()));
                if start < stream.len() {
                    let at = start + at.index(stream.len() - start);
                    stream[at] = *byte;
                }
            }
            Piece::Bytes(bytes) => stream.extend_from_slice(bytes),
            Piece::Magic(is_start) => stream.extend_from_slice(if *is_start { b"TENSOGRM" } else { b"39277777" }),
        }
    }
    stream
}

/// Lengths of reads: some are short, and some find nothing.
fn lengths() -> impl Strategy<Value = Vec<usize>> {
    let one = prop_oneof![4 => 1..20_usize, 4 => 1..2000_usize, 1 => 60_000..70_000_usize, 1 => Just(0)];
    (proptest::collection::vec(one, 0..20), 1..5000_usize).prop_map(|(mut lengths, last)| {
        lengths.push(last);
        lengths
    })
}

#[test]
fn every_file_of_the_corpus_has_the_parts_that_a_scan_finds() {
    for file in corpus() {
        for lengths in [&[usize::MAX][..], &[97, 1, 24, 3000]] {
            assert_eq!(parts(file, lengths, StreamOptions::default()), scanned(file));
        }
    }
    for file in corpus().iter().filter(|file| file.len() < 1000) {
        assert_eq!(parts(file, &[1], StreamOptions::default()), scanned(file));
    }
}

/// Many begun messages use up what a scan may spend on failed walks. That must not depend on when the bytes come.
#[test]
fn begun_messages_use_up_the_budget_of_a_stream_and_of_a_scan_at_the_same_place() {
    let begun = message("malformed/scan/many-fake-preambles.tgm");
    for file in corpus().iter().filter(|file| file.len() < 4000) {
        for count in [1, 2, 7] {
            let mut bytes = begun.repeat(count);
            bytes.extend_from_slice(file);
            bytes.extend_from_slice(&begun);
            assert_eq!(parts(&bytes, &[1, 3000, 60], StreamOptions::default()), scanned(&bytes));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn any_stream_has_the_parts_that_a_scan_finds(
        pieces in proptest::collection::vec(piece(), 0..6),
        lengths in lengths(),
        max_junk_bytes in 0..300_usize,
    ) {
        let bytes = stream(&pieces);
        let options = StreamOptions { max_junk_bytes, ..StreamOptions::default() };
        prop_assert_eq!(parts(&bytes, &lengths, options), scanned(&bytes));
    }

    #[test]
    fn a_lossy_stream_has_the_same_parts_however_it_is_cut(
        pieces in proptest::collection::vec(piece(), 0..6),
        lengths in lengths(),
    ) {
        let bytes = stream(&pieces);
        let options = StreamOptions { link: Link::Lossy, ..StreamOptions::default() };
        let found = parts(&bytes, &lengths, options);
        prop_assert_eq!(&found, &parts(&bytes, &[usize::MAX], options));
        // Every byte is in one part.
        let mut end = 0;
        for part in &found {
            let Seen::Part(part) = part else { panic!("{part:?}") };
            prop_assert_eq!(part.offset(), end);
            end += part.length();
        }
        prop_assert_eq!(end, bytes.len() as u64);
    }

    #[test]
    fn with_a_small_limit_every_short_message_of_a_sound_stream_comes_and_every_long_one_is_named(
        files in proptest::collection::vec(any::<Index>(), 1..6),
        junk in proptest::collection::vec(Just(b'.'), 0..100),
        limit in 200..3000_u64,
        lengths in lengths(),
    ) {
        let mut bytes = Vec::new();
        for file in files {
            bytes.extend_from_slice(pick(&file, &SOUND));
            bytes.extend_from_slice(&junk);
        }
        let expected: Vec<_> = scan(&bytes).map(|part| match part {
            Segment::Message { offset, length } if length > limit => (offset, None),
            part => (part.offset(), Some(part)),
        }).collect();
        let options = StreamOptions { max_message_bytes: limit, ..StreamOptions::default() };
        let found: Vec<_> = parts(&bytes, &lengths, options).into_iter().map(|seen| match seen {
            Seen::Part(part) => (part.offset(), Some(part)),
            Seen::TooLarge { offset, .. } => (offset, None),
        }).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn a_message_comes_while_the_pipe_stays_open() {
    let files = ["multi/three.tgm", "streaming/two-objects.tgm", "dtypes/float32-big.tgm"];
    let files: Vec<_> = files.iter().filter(|file| Path::new("../tests/data").join(file).exists()).collect();
    assert!(files.len() >= 2);
    let mut streamed =
        StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &EncodeOptions::default()).unwrap();
    streamed.write(ObjectBuilder::new(&[3], &[1_u8, 2, 3]).unwrap()).unwrap();
    let streamed = streamed.finish().unwrap();
    let messages: Vec<Vec<u8>> = files
        .iter()
        .flat_map(|file| {
            let bytes = message(file);
            scan(&bytes).map(|part| part.bytes_of(&bytes).unwrap().to_vec()).collect::<Vec<_>>()
        })
        .chain([streamed])
        .collect();
    for link in [Link::Reliable, Link::Lossy] {
        let (receiver, mut sender) = io::pipe().unwrap();
        let (told, tell) = mpsc::channel();
        let reading = thread::spawn(move || {
            let options = StreamOptions { link, ..StreamOptions::default() };
            for message in MessageReader::with_options(receiver, &options) {
                told.send(message.unwrap()).unwrap();
            }
        });
        for message in &messages {
            let (last, all_but_last) = message.split_last().unwrap();
            sender.write_all(all_but_last).unwrap();
            assert!(tell.recv_timeout(Duration::from_millis(30)).is_err(), "a message without its last byte");
            sender.write_all(&[*last]).unwrap();
            assert_eq!(tell.recv_timeout(Duration::from_secs(20)).as_ref(), Ok(message));
        }
        drop(sender);
        reading.join().unwrap();
    }
}

/// `count` zeros that look like a message of that length, and a message after them.
struct Endless {
    head: io::Cursor<Vec<u8>>,
    zeros: u64,
    tail: io::Cursor<Vec<u8>>,
}

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.head.read(out)? {
            0 if self.zeros > 0 => {
                let count = out.len().min(usize::try_from(self.zeros).unwrap());
                out[..count].fill(0);
                self.zeros -= count as u64;
                Ok(count)
            }
            0 => self.tail.read(out),
            count => Ok(count),
        }
    }
}

#[test]
fn a_message_beyond_the_limit_is_skipped_in_little_memory() {
    let short = message("dtypes/float32-big.tgm");
    let length: u64 = 300 << 20;
    let mut head = b"TENSOGRM\0\x03\0\0\0\0\0\0".to_vec();
    head.extend_from_slice(&length.to_be_bytes());
    let zeros = length - head.len() as u64;
    let stream = Endless { head: io::Cursor::new(head), zeros, tail: io::Cursor::new(short.clone()) };
    let options = StreamOptions { max_message_bytes: 1 << 20, ..StreamOptions::default() };
    let mut reader = MessageReader::with_options(stream, &options);
    let error = reader.next_message().unwrap_err();
    assert!(matches!(error, TensogramError::MessageTooLarge { offset: 0, length: Some(found), .. } if found == length));
    let read_so_far = length - 24 - reader.get_ref().zeros;
    assert!(read_so_far < 2 << 20, "{read_so_far} bytes were read before the error");
    let message = reader.next_message().unwrap().unwrap();
    assert_eq!((message.offset(), message.as_bytes()), (length, &short[..]));
    assert!(reader.next_message().unwrap().is_none() && reader.next_message().unwrap().is_none());
}

#[test]
fn a_length_that_is_a_lie_takes_no_memory() {
    let mut lie = b"TENSOGRM\0\x03\0\0\0\0\0\0\0\0\0\0\xff\xff\xff\xff".to_vec();
    lie.extend_from_slice(&[1; 1000]);
    let seen = parts(&lie, &[100], StreamOptions { max_message_bytes: u64::MAX, ..StreamOptions::default() });
    assert_eq!(seen, scanned(&lie));
}
