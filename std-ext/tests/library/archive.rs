//! Archives of every kind against the functions for bytes in memory: one table of sources, one of requests.
#![allow(
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "values are compared to the bit; numbers are small"
)]

use std::fmt;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tgm_core::selection::Pick;

use tgm_std::archive::*;
use tgm_std::decode::{Scratch, decode_descriptors, decode_object, decode_range};
use tgm_std::encode::ObjectBuilder;
use tgm_std::read::options::ReadKnob;
use tgm_std::read::{RangeFetch, ReadOptions};
use tgm_std::{DecodeOptions, Dtype};
use tgm_std::{MessageBuilder, Result, TensogramError};

/// Folders of files of many kinds: pipelines, masks, shapes, several objects and messages, preceders, messages of streams.
const FOLDERS: [&str; 12] = [
    "bitmask",
    "codecs",
    "dtypes",
    "layout",
    "masks",
    "multi",
    "preceder",
    "ranges",
    "realistic",
    "shapes",
    "streaming",
    "zfp",
];

/// Every file of these folders, or some of each.
fn files(every: usize) -> Vec<(PathBuf, Vec<u8>)> {
    let in_folder = |folder: &&str| {
        let entries = std::fs::read_dir(Path::new("../tests/data").join(folder)).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "tgm"));
        paths.sort();
        paths.into_iter().step_by(every)
    };
    FOLDERS.iter().flat_map(in_folder).map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// Everything is read in parts, however short it is.
fn in_parts() -> ReadOptions {
    [(ReadKnob::WholeMessage, 0), (ReadKnob::WholeFrame, 0), (ReadKnob::Descriptor, 64)]
        .into_iter()
        .fold(ReadOptions::memory(), |options, (knob, value)| knob.set(value, options))
}

/// One archive for each way to make one.
fn archives<'b>(path: &Path, bytes: &'b [u8]) -> Vec<(&'static str, Archive<'b>)> {
    vec![
        ("path", Archive::open(path).unwrap()),
        ("bytes", Archive::from_bytes(bytes)),
        ("own bytes", Archive::from_bytes(bytes.to_vec())),
        ("shared bytes", Archive::from_bytes(Arc::<[u8]>::from(bytes))),
        ("reader", Archive::from_reader(Cursor::new(bytes.to_vec()))),
        ("parts", Archive::from_fetch(bytes.to_vec(), in_parts())),
        #[cfg(feature = "mmap")]
        ("mapped file", Archive::from(tgm_std::TensogramFile::open_mmap(path).unwrap())),
    ]
}

/// An archive that holds its messages, and one that reads them in parts.
fn archives_of_memory(bytes: &[u8]) -> [(&'static str, Archive<'_>); 2] {
    [("bytes", Archive::from_bytes(bytes)), ("parts", Archive::from_fetch(bytes.to_vec(), in_parts()))]
}

/// The box that is asked for: of each dimension all but the first index.
fn picks(shape: &[u64]) -> Vec<Pick> {
    shape.iter().map(|len| if *len > 1 { Pick::from(1..*len) } else { Pick::All }).collect()
}

/// An answer, in a form that can be compared.
fn told<T: fmt::Debug>(answer: Result<T>) -> std::result::Result<T, String> {
    answer.map_err(|error| error.to_string())
}

#[test]
fn every_source_gives_what_bytes_in_memory_give() {
    let (options, mut seen) = (DecodeOptions { verify_hash: true, ..DecodeOptions::default() }, 0);
    for (path, bytes) in files(2) {
        let messages: Vec<_> = tgm_std::messages(&bytes).collect();
        for (name, archive) in archives(&path, &bytes) {
            let at = format!("{}: {name}", path.display());
            assert_eq!(archive.len().unwrap(), messages.len(), "{at}");
            for (index, message) in messages.iter().enumerate() {
                // Some files are examples of mistakes.
                let Ok((metadata, descriptors)) = decode_descriptors(message) else { continue };
                let found = archive.message(index).unwrap();
                assert_eq!(*found.metadata().unwrap(), metadata, "{at}");
                assert_eq!(found.len().unwrap(), descriptors.len(), "{at}");
                assert_eq!(*found.bytes().unwrap(), **message, "{at}");
                assert!(told(found.verify()) == told(check(message)), "{at}");
                for (number, (object, descriptor)) in found.objects().unwrap().zip(&descriptors).enumerate() {
                    let object = object.unwrap();
                    assert_eq!((object.shape(), object.dtype()), (&*descriptor.shape, descriptor.dtype), "{at}");
                    assert_eq!(object.descriptor().unwrap(), *descriptor, "{at}");
                    assert_eq!(object.metadata().unwrap().base, metadata.base[number..=number], "{at}");
                    assert_eq!(object.place(), (index, number));
                    let expected = told(decode_object(message, number, &options).map(|found| found.2));
                    let values = told(object.read().options(&options).bytes().map(std::borrow::Cow::into_owned));
                    assert!(values.is_ok() == expected.is_ok(), "{at}: {values:?} {expected:?}");
                    if let (Ok(values), Ok(expected)) = (values, expected) {
                        assert!(values == expected, "{at}");
                        requests(&object, message, &values, &at);
                        seen += 1;
                    }
                }
            }
        }
    }
    assert!(seen > 500, "{seen}");
}

fn check(message: &[u8]) -> Result<()> {
    Ok(tgm_std::check_message(message)?)
}

/// Each kind of request for an object, whose `values` are known.
fn requests(object: &Object<'_>, message: &[u8], values: &[u8], at: &str) {
    let (options, mut scratch) = (DecodeOptions::default(), Scratch::default());
    let count = object.element_count();
    let mut out = vec![0xa5; values.len()];
    object.read().scratch(&mut scratch).bytes_into(&mut out).unwrap();
    assert!(out == values, "{at}");
    assert!(object.read().bytes_into(&mut vec![0; values.len() + 1]).is_err(), "{at}");

    let ranges = [(count / 2, count - count / 2), (0, count.min(3)), (0, 0)];
    let expected = decode_range(message, object.place().1, &ranges, &options).unwrap().1.concat();
    assert!(*object.read().ranges(&ranges).bytes().unwrap() == expected, "{at}");
    let picks = picks(object.shape());
    let boxed = object.read().select(&picks).bytes().unwrap();
    assert!(matches!(object.read().ranges(&[(count, 1)]).bytes(), Err(TensogramError::Encoding(_))), "{at}");
    assert!(object.read().select(&[Pick::All; 9]).bytes().is_err(), "{at}");

    if matches!(object.dtype(), Dtype::Complex64 | Dtype::Complex128) {
        assert!(object.read().values::<f32>().is_err(), "{at}");
        return;
    }
    let all: Vec<f64> = object.read().values().unwrap();
    let part: Vec<f64> = object.read().ranges(&ranges[..1]).values().unwrap();
    let same =
        |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || a.is_nan() && b.is_nan());
    assert!(same(&part, &all[usize::try_from(count / 2).unwrap()..]), "{at}");
    let mut single = vec![0.0_f32; all.len()];
    object.read().scratch(&mut scratch).values_into(&mut single).unwrap();
    let near = |a: f32, b: f64| a.is_nan() && b.is_nan() || a == b as f32;
    assert!(single.iter().zip(&all).all(|(a, b)| near(*a, *b)), "{at}");
    assert!(object.read().values_into(&mut vec![0.0_f32; all.len() + 1]).is_err(), "{at}");
    let floats: Vec<f64> = object.read().select(&picks).values().unwrap();
    if object.dtype() == Dtype::Float64 {
        assert!(*zerocopy::IntoBytes::as_bytes(&*floats) == *boxed, "{at}");
        assert!(object.read().values::<i16>().unwrap_err().to_string().contains("float64"), "{at}");
    }
}

#[test]
fn values_of_memory_are_borrowed_and_others_are_not() {
    let values: Vec<u16> = (0..50_000).collect();
    let message = MessageBuilder::new().object(ObjectBuilder::new(&[500, 100], &values).unwrap()).encode().unwrap();
    let rows = [Pick::from(2..4), Pick::All];
    let is_borrowed = |archive: &Archive<'_>| {
        let object = archive.object(0, 0).unwrap();
        let bytes = |request: tgm_std::Read<'_, '_>| matches!(request.bytes().unwrap(), std::borrow::Cow::Borrowed(_));
        [
            bytes(object.read()),
            bytes(object.read().select(&rows)),
            bytes(object.read().ranges(&[(7, 9)])),
            bytes(object.read().ranges(&[(7, 9), (16, 2)])),
        ]
    };
    assert_eq!(is_borrowed(&Archive::from_bytes(&message)), [true, true, true, false]);
    assert_eq!(is_borrowed(&Archive::from_fetch(message, in_parts())), [false; 4]);
}

#[test]
fn a_query_gives_objects_of_every_source() {
    let message = |n: i32| {
        let object = |k| ObjectBuilder::new(&[1], &[7_u8]).unwrap().metadata("k", k).metadata("n", n);
        MessageBuilder::new().object(object(1)).object(object(2)).encode().unwrap()
    };
    let bytes = [message(1), message(2), message(3)].concat();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), &bytes).unwrap();
    for (name, archive) in archives(file.path(), &bytes) {
        let found = archive.query(&"k = 2 and n >= 2".parse().unwrap()).unwrap();
        let places: Vec<_> = found.iter().map(Object::place).collect();
        assert_eq!(places, [(1, 1), (2, 1)], "{name}");
        assert_eq!(archive.layouts().unwrap().len(), 3, "{name}");
    }
}

#[test]
fn what_is_not_there_is_an_error_that_says_so() {
    let (path, bytes) = files(5).remove(0);
    for (name, archive) in archives(&path, &bytes) {
        let message = archive.message(99).and_then(|message| message.metadata().cloned());
        assert!(matches!(message, Err(TensogramError::Framing(_))), "{name}: {message:?}");
        assert!(matches!(archive.object(99, 0), Err(TensogramError::Framing(_))), "{name}");
        assert!(matches!(archive.object(0, 99), Err(TensogramError::Object(_))), "{name}");
    }
}

#[test]
fn foreign_files_are_errors_that_say_what_they_are_and_empty_ones_are_archives() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    for (start, says) in [
        (&b"GRIB\0\0\0\x02"[..], "it looks like GRIB"),
        (b"\x89HDF\r\n\x1a\n", "it looks like HDF5 or NetCDF"),
        (b"\n <!DOCTYPE html>", "it looks like an HTML page"),
        (b"abc", "no message was found"),
    ] {
        std::fs::write(&file, start).unwrap();
        let error = Archive::open(&file).unwrap_err();
        assert!(matches!(error, TensogramError::Framing(_)), "{error}");
        assert!(error.to_string().contains(says) && error.to_string().contains("file"), "{error}");
    }
    std::fs::write(&file, []).unwrap();
    let mut archive = Archive::open(&file).unwrap();
    assert_eq!(archive.len().unwrap(), 0);
    archive.append(MessageBuilder::new()).unwrap();
    assert_eq!(archive.len().unwrap(), 1);
    // Bytes of others may stand before messages.
    let message = std::fs::read(&file).unwrap();
    std::fs::write(&file, [b"GRIB", &message[..]].concat()).unwrap();
    assert_eq!(Archive::open(&file).unwrap().len().unwrap(), 1);
    assert!(Archive::from_bytes(message).append(MessageBuilder::new()).is_err());
    assert!(matches!(Archive::open(dir.path().join("none")), Err(TensogramError::Io(_))));
}

/// Half of a payload is asked for as parts, if it can be cut.
#[test]
fn the_grain_says_which_ranges_are_read_without_the_rest() {
    use std::sync::atomic::{AtomicU64, Ordering};

    use tgm_std::read::{FetchError, Fetched, Tag, Want};

    struct Counting(Vec<u8>, Arc<AtomicU64>);
    impl RangeFetch for Counting {
        fn fetch(&self, want: &Want, unchanged: Option<&Tag>) -> std::result::Result<Fetched, FetchError> {
            let fetched = self.0.fetch(want, unchanged)?;
            self.1.fetch_add(fetched.bytes.len() as u64, Ordering::Relaxed);
            Ok(fetched)
        }

        fn name(&self) -> String {
            "counting".into()
        }
    }

    let values: Vec<f64> = (0..50_000).map(f64::from).collect();
    let object = || ObjectBuilder::new(&[50_000], &values).unwrap();
    for (object, can_be_cut) in [
        (object(), true),
        (object().simple_packing(12), true),
        (object().simple_packing(16).szip(), true),
        (object().shuffle(), false),
        #[cfg(feature = "zstd")]
        (object().zstd(1), false),
    ] {
        let bytes = MessageBuilder::new().object(object).encode().unwrap();
        let read = Arc::new(AtomicU64::new(0));
        let archive = Archive::from_fetch(Counting(bytes, Arc::clone(&read)), in_parts());
        let object = archive.object(0, 0).unwrap();
        let before = read.load(Ordering::Relaxed);
        assert_eq!(object.grain().is_some(), can_be_cut);
        let grain = object.grain().unwrap_or(1);
        object.read().ranges(&[(3 * grain, grain)]).values::<f64>().unwrap();
        let read = read.load(Ordering::Relaxed) - before;
        assert_eq!(read < object.payload_len() / 2, can_be_cut, "{read} of {}", object.payload_len());
    }
}

#[cfg(feature = "async")]
#[test]
fn what_does_not_wait_gives_what_waits_gives() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (path, bytes) in files(5) {
        let archive = Archive::from_bytes(&bytes);
        runtime.block_on(async {
            let later = AsyncArchive::open(&path).await.unwrap();
            assert_eq!(later.len().await.unwrap(), archive.len().unwrap());
            assert_eq!(later.layouts().await.unwrap(), archive.layouts().unwrap());
            let query = "dtype = float64 or dtype = float32".parse().unwrap();
            let places = archive.query(&query).unwrap().iter().map(Object::place).collect::<Vec<_>>();
            let found = later.query(&query).await.unwrap();
            assert_eq!(found.iter().map(AsyncObject::place).collect::<Vec<_>>(), places);
            for index in 0..archive.len().unwrap() {
                let (now, message) = (archive.message(index).unwrap(), later.message(index));
                let Ok(metadata) = now.metadata() else { continue };
                assert_eq!(message.metadata().await.unwrap(), metadata);
                assert_eq!(message.bytes().await.unwrap(), *now.bytes().unwrap());
                assert_eq!(told(message.verify().await), told(now.verify()));
                for number in 0..message.len().await.unwrap() {
                    let (now, object) = (now.object(number).unwrap(), message.object(number).await.unwrap());
                    assert_eq!((object.shape(), object.grain()), (now.shape(), now.grain()));
                    assert_eq!(object.descriptor().unwrap(), now.descriptor().unwrap());
                    assert_eq!(object.metadata().await.unwrap(), now.metadata().unwrap());
                    let picks = picks(now.shape());
                    let expected = now.read().select(&picks).bytes().unwrap();
                    assert!(object.read().select(&picks).bytes().await.unwrap() == *expected);
                    let ranges = [(0, now.element_count())];
                    let mut out = vec![0; now.read().ranges(&ranges).bytes().unwrap().len()];
                    object.read().ranges(&ranges).bytes_into(&mut out).await.unwrap();
                    assert!(*now.read().ranges(&ranges).bytes().unwrap() == out);
                    let floats = object.read().values::<f32>().await;
                    assert_eq!(format!("{floats:?}"), format!("{:?}", now.read().values::<f32>()));
                }
                assert!(matches!(message.object(99).await, Err(TensogramError::Object(_))));
            }
        });
    }
}

/// Long objects of a file: plain ones are read to where they are wanted, in every order, whole and in part.
#[test]
fn plain_values_of_a_file_are_read_where_they_are_wanted() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let numbers: Vec<i32> = (0..100_000).collect();
    let gaps: Vec<f32> = (0..100_000_u32).map(|at| if at == 70_000 { f32::NAN } else { at as f32 }).collect();
    let data = |order| -> Vec<u8> {
        let bytes =
            |number: &i32| if order == tgm_std::ByteOrder::Big { number.to_be_bytes() } else { number.to_le_bytes() };
        numbers.iter().flat_map(bytes).collect()
    };
    let of = |order| {
        let descriptor = tgm_std::DataObjectDescriptor::new(Dtype::Int32, order, &[1000, 100]);
        ObjectBuilder::from_parts(descriptor, data(order))
    };
    let message = MessageBuilder::new()
        .allow_nan()
        .object(of(tgm_std::ByteOrder::Big))
        .object(of(tgm_std::ByteOrder::Little))
        .object(of(tgm_std::ByteOrder::Little).shuffle())
        .object(ObjectBuilder::new(&[1000, 100], &gaps).unwrap());
    let bytes = message.encode().unwrap();
    std::fs::write(file.path(), [&bytes[..], &bytes].concat()).unwrap();
    let (here, there) = (Archive::from_bytes(&bytes), Archive::open(file.path()).unwrap());
    let picks = [[Pick::from(20..40), Pick::All], [Pick::All, Pick::from(3..4)]];
    for number in 0..4 {
        let (here, there) = (here.object(0, number).unwrap(), there.object(1, number).unwrap());
        for native_byte_order in [true, false] {
            let options = DecodeOptions { native_byte_order, ..DecodeOptions::default() };
            for ranges in [&[(70_000, 500)][..], &[(0, 100_000)], &[(9, 0)], &[(5, 3), (2, 2)]] {
                let expected = here.read().ranges(ranges).options(&options).bytes().unwrap();
                assert!(there.read().ranges(ranges).options(&options).bytes().unwrap() == expected);
                let mut out = vec![0; expected.len()];
                there.read().ranges(ranges).options(&options).bytes_into(&mut out).unwrap();
                assert!(out == *expected);
                assert!(there.read().ranges(ranges).bytes_into(&mut vec![0; expected.len() + 4]).is_err());
            }
            for picks in &picks {
                let expected = here.read().select(picks).options(&options).bytes().unwrap();
                assert!(there.read().select(picks).options(&options).bytes().unwrap() == expected);
                let floats = there.read().select(picks).options(&options).values::<f64>().unwrap();
                let expected = here.read().select(picks).values::<f64>().unwrap();
                assert!(floats.iter().zip(&expected).all(|(a, b)| a == b || a.is_nan() && b.is_nan()));
            }
            if number < 3 {
                assert!(there.read().options(&options).values::<i32>().unwrap() == numbers);
                let mut out = vec![0; 100_000];
                there.read().options(&options).values_into::<i32>(&mut out).unwrap();
                assert!(out == numbers);
                assert!(there.read().values::<u32>().unwrap_err().to_string().contains("int32"));
            }
        }
    }
    // A file that is cut short while an object of it is open.
    let object = there.object(1, 0).unwrap();
    file.as_file().set_len(bytes.len() as u64 + 200_000).unwrap();
    assert!(matches!(object.read().values::<i32>(), Err(TensogramError::Io(_))));
    assert!(matches!(object.read().bytes_into(&mut vec![0; 400_000]), Err(TensogramError::Io(_))));
}

/// Each bit of a metadata frame's body and digest, by every source. The last metadata frame counts, and preceders do.
#[test]
fn metadata_that_is_handed_out_has_the_right_digest() {
    let object = || ObjectBuilder::new(&[2], &[1_u8, 2]).unwrap().metadata("n", 1);
    let good = MessageBuilder::new().object(object()).encode().unwrap();
    let frame = tgm_core::Message::parse(&good).unwrap().outline().unwrap().metadata.unwrap();
    let start = usize::try_from(frame.offset()).unwrap();
    let end = start + usize::try_from(frame.total_length()).unwrap();
    let query = "n=1".parse().unwrap();
    let is_mismatch = |error: &TensogramError| matches!(error, TensogramError::HashMismatch { object_index: None, .. });
    for bit in (start + 16) * 8..(end - 4) * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        for (name, archive) in archives_of_memory(&bytes) {
            let at = format!("{name}, bit {bit}");
            let message = archive.message(0).unwrap();
            assert!(is_mismatch(&message.metadata().unwrap_err()), "{at}");
            assert!(is_mismatch(&archive.object(0, 0).unwrap().metadata().unwrap_err()), "{at}");
            assert!(is_mismatch(&archive.query(&query).unwrap_err()), "{at}");
            archive.verify_metadata(false);
            let told = |result: Result<()>| assert!(!result.is_err_and(|error| is_mismatch(&error)), "{at}, unchecked");
            told(archive.message(0).unwrap().metadata().map(drop));
            told(archive.object(0, 0).unwrap().metadata().map(drop));
            told(archive.query(&query).map(drop));
        }
    }
}

/// Preceders, and messages whose digests are promised by a flag of the message, in memory and in parts.
#[test]
fn all_frames_that_metadata_comes_from_are_checked() {
    let mut checked = 0;
    for (path, bytes) in files(1) {
        let Ok(message) = tgm_core::Message::parse(&bytes) else { continue };
        let outline = message.outline().unwrap();
        let last = outline.metadata.map(|frame| frame.offset());
        for frame in message.frames() {
            let frame = frame.unwrap();
            let counts =
                frame.frame_type() == tgm_core::wire::FrameType::PrecederMetadata || Some(frame.offset()) == last;
            let has_digest = tgm_std::hash::check(frame.hash_presence(), &frame) == tgm_core::hash::Verdict::Good;
            if !counts || !has_digest {
                continue;
            }
            // The digest itself: what is read stays the same.
            let mut damaged = bytes.clone();
            damaged[usize::try_from(frame.end_offset()).unwrap() - 5] ^= 1;
            for (name, archive) in archives_of_memory(&damaged) {
                let told = archive.message(0).unwrap().metadata().map(drop).unwrap_err().to_string();
                assert!(told.contains("hash mismatch"), "{name} of {}: {told}", path.display());
            }
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}
