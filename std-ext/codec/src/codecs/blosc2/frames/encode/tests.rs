//! Frames of the reference made again, and frames of ours read back.

use std::fs;
use std::num::NonZeroU8;
use std::process::Command;

use proptest::prelude::*;
use tgm_core::descriptor::{Compression, Descriptor, Encoding, Filter, MaskMethod};
use tgm_core::message::Message;
use tgm_core::stored::stored_len;

use super::super::tests::samples;
use super::super::{decompress, decompress_range};
use super::*;

/// A frame read back, whole and from its middle.
fn read_back(frame: &[u8], len: usize) -> Vec<u8> {
    let mut whole = vec![0xa5; len];
    decompress(frame, &mut whole).unwrap();
    let (start, end) = (len / 3, len - len / 4);
    let mut part = vec![0x5a; end - start];
    decompress_range(frame, len as u64, start as u64, &mut part).unwrap();
    assert_eq!(part, whole[start..end]);
    whole
}

/// The codec and level that a frame's header records.
fn recorded(frame: &[u8]) -> (Blosc2Codec, u8) {
    let byte = frame[27];
    let codec = Blosc2Codec::ALL.into_iter().find(|codec| code(*codec) == byte & 15).unwrap();
    (codec, byte >> 4)
}

/// Compresses again what a frame of the reference holds.
///
/// blosclz may choose other matches: all else must be equal, and what it wrote must read back.
fn agrees(frame: &[u8], len: u64, settings: &Settings) {
    let data = read_back(frame, usize::try_from(len).unwrap());
    let again = compress(&data, settings).unwrap();
    if settings.codec == Blosc2Codec::Blosclz {
        assert_eq!(again[47..97], frame[47..97]);
        assert_eq!(read_back(&again, data.len()), data);
    } else {
        assert!(again == frame, "{settings:?}");
    }
}

/// Bytes of an element, as the reference takes them from the stages before.
fn typesize(descriptor: &Descriptor<'_>) -> u64 {
    match (descriptor.encoding().known(), descriptor.filter().known()) {
        (Some(Encoding::SimplePacking), _) => descriptor.packing().unwrap().bits_per_value.div_ceil(8).into(),
        (_, Some(Filter::Shuffle)) => 1,
        _ => descriptor.dtype().byte_width() as u64,
    }
}

#[test]
fn frames_of_the_reference_are_made_again_to_the_byte() {
    let (mut payloads, mut masks) = (0, 0);
    for path in samples() {
        let message = fs::read(path).unwrap();
        for object in Message::parse(&message).unwrap().objects() {
            let object = object.unwrap();
            let descriptor = object.descriptor();
            if descriptor.compression().known() == Some(Compression::Blosc2) {
                let frame = object.payload();
                let (codec, level) = recorded(frame);
                let settings = Settings::payload(codec, level.into(), typesize(descriptor)).unwrap();
                agrees(frame, stored_len(descriptor).unwrap(), &settings);
                payloads += 1;
            }
            for (_, entry) in descriptor.masks().iter() {
                if entry.method().known() == Some(MaskMethod::Blosc2) {
                    let frame = object.mask_blob(&entry).unwrap();
                    let (codec, level) = recorded(frame);
                    let len = descriptor.element_count().div_ceil(8);
                    agrees(frame, len, &Settings::mask(codec, level.into()));
                    masks += 1;
                }
            }
        }
    }
    assert!(payloads >= 40 && masks >= 3, "{payloads} payloads, {masks} masks");
}

#[test]
fn zeros_and_single_bytes_are_frames_too() {
    let settings = Settings::payload(Blosc2Codec::Lz4, 5, 8).unwrap();
    for data in [vec![0], vec![7; 1], vec![0; 100_000], vec![7; 100_001], vec![1; 31], vec![0; 32]] {
        assert_eq!(read_back(&compress(&data, &settings).unwrap(), data.len()), data);
    }
}

#[test]
fn chunks_of_zeros_are_not_stored_and_the_last_may_be_short() {
    let data = [[3; 40].as_slice(), &[0; 80], b"some more, not any run at all, of course!!!", &[0; 77], &[1]].concat();
    let settings = Settings::payload(Blosc2Codec::Lz4, 5, 4).unwrap();
    for (chunk_len, stored, last) in [(40, 4, 1), (241, 1, 240), (120, 3, 1), (80, 4, 1)] {
        let mut frame = Vec::new();
        append_in_chunks(&data, &settings, chunk_len, &mut frame).unwrap();
        assert_eq!(read_back(&frame, data.len()), data);
        let field = |at: usize| frame[at..][..4].try_into().unwrap();
        assert_eq!([53, 58].map(|at| i32::from_be_bytes(field(at))), [last, i32::try_from(chunk_len).unwrap()]);
        let (mut at, mut count) = (97, 0);
        let end = at + usize::try_from(i32::from_be_bytes(field(43))).unwrap();
        while at < end {
            at += usize::try_from(i32::from_le_bytes(field(at + 12))).unwrap();
            count += 1;
        }
        assert_eq!((at, count), (end, stored));
    }
}

/// The reference gives an error for no bytes as well.
#[test]
fn nothing_cannot_be_compressed() {
    let error = compress(&[], &Settings::mask(Blosc2Codec::Lz4, 5)).unwrap_err();
    assert_eq!(error.to_string(), "there is nothing to compress: a blosc2 frame holds at least one byte");
}

#[test]
fn settings_are_held_against_their_limits() {
    let payload = |level, typesize| Settings::payload(Blosc2Codec::Zlib, level, typesize).map_err(|e| e.to_string());
    assert!(payload(0, 1).is_ok() && payload(9, 255).is_ok());
    for level in [-1, 10, i64::MAX] {
        assert_eq!(payload(level, 4), Err(format!("level {level} is not one of 0 to 9")));
    }
    for typesize in [0, 256, u64::MAX] {
        assert!(payload(5, typesize).unwrap_err().contains(&format!("elements of {typesize} bytes")));
    }
    assert_eq!([-3, 0, 1, 9, 10].map(|level| Settings::mask(Blosc2Codec::Lz4, level).level), [1, 1, 1, 9, 9]);
    let settings = Settings { level: 10, ..Settings::mask(Blosc2Codec::Lz4, 5) };
    assert_eq!(compress(&[1], &settings).unwrap_err().to_string(), "level 10 is not one of 0 to 9");
}

#[test]
fn compressors_go_by_their_names_on_the_wire() {
    for compressor in Blosc2Codec::ALL {
        assert_eq!(Blosc2Codec::from_name(compressor.name()), Some(compressor));
    }
    assert_eq!([Blosc2Codec::from_name("LZ4"), Blosc2Codec::from_name("snappy")], [None; 2]);
}

#[test]
fn calls_at_once_do_not_disturb_each_other() {
    let data: Vec<u8> = (0..40_000_u32).flat_map(|at| ((at * at) >> 7).to_le_bytes()).collect();
    let frame_of =
        |codec, threads| compress(&data, &Settings::payload(codec, 5, 4).unwrap().with_threads(threads)).unwrap();
    let alone = Blosc2Codec::ALL.map(|codec| frame_of(codec, 0));
    std::thread::scope(|scope| {
        for turn in 0..4 {
            let (frame_of, alone, data) = (&frame_of, &alone, &data);
            scope.spawn(move || {
                for (codec, alone) in Blosc2Codec::ALL.into_iter().zip(alone).cycle().skip(turn).take(10) {
                    assert!(frame_of(codec, 1) == *alone);
                    // In several threads blocks may be in another order.
                    assert!(read_back(&frame_of(codec, 4), data.len()) == *data);
                }
            });
        }
    });
}

/// Runs itself in a process whose environment asks c-blosc2 for something else.
#[test]
fn an_environment_that_changes_bytes_is_refused() {
    let result = compress(&[1; 100], &Settings::mask(Blosc2Codec::Lz4, 5));
    if let Some(name) = OVERRIDES.into_iter().find(|name| std::env::var_os(name).is_some()) {
        assert!(result.unwrap_err().to_string().contains(name));
        return;
    }
    assert!(result.is_ok());
    let name = concat!(module_path!(), "::an_environment_that_changes_bytes_is_refused");
    let (_, name) = name.split_once("::").unwrap();
    for variable in OVERRIDES {
        let mut child = Command::new(std::env::current_exe().unwrap());
        let output = child.args(["--exact", name]).env(variable, "1").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{variable}: {text}");
    }
}

/// Bytes that compress more or less: runs, steps and noise.
fn data() -> impl Strategy<Value = Vec<u8>> {
    let run = (any::<u8>(), 1..3000_usize).prop_map(|(byte, len)| vec![byte; len]);
    let steps = (any::<u16>(), 0..9_u16, 1..2000_usize).prop_map(|(start, step, len)| {
        std::iter::successors(Some(start), |value| Some(value.wrapping_add(step)))
            .take(len)
            .flat_map(u16::to_le_bytes)
            .collect()
    });
    let noise = prop::collection::vec(any::<u8>(), 1..500);
    prop::collection::vec(prop_oneof![run, steps, noise], 1..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_is_compressed_reads_back(
        data in data(),
        codec in prop::sample::select(Blosc2Codec::ALL.to_vec()),
        level in 0..=9_u8,
        typesize in prop_oneof![Just(1), Just(2), Just(4), Just(8), Just(16), 1..=255_u8],
        bit_shuffle in any::<bool>(),
        threads in 0..3_u32,
        cut in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        let typesize = NonZeroU8::new(typesize).unwrap();
        let frame = compress(&data, &Settings { codec, level, typesize, bit_shuffle, threads }).unwrap();
        prop_assert!(read_back(&frame, data.len()) == data);
        let (one, other) = (cut.0.index(data.len()), cut.1.index(data.len()));
        let range = one.min(other)..one.max(other);
        let mut part = vec![0; range.len()];
        decompress_range(&frame, data.len() as u64, range.start as u64, &mut part).unwrap();
        prop_assert!(part == data[range]);
    }
}
