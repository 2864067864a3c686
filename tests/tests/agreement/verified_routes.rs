//! `verify_hash` by every route to values: right values, a wrong digest, or none.
//!
//! A route that is missing here is found by its signature: what takes [`DecodeOptions`] has to be in the table.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests may panic")]

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use tgm_convert::arrays::Arrays;
use tgm_core::Message;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::object::DataObject;
use tgm_core::selection::Pick;
use tgm_std::encode::{Part, encode_parts};
use tgm_std::read::options::ReadKnob;
use tgm_std::read::{RangeFetch as _, ReadOptions, Reader, Step, Steps, Task};
use tgm_std::{
    Archive, DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, MaskMethod, MessageBuilder,
    ObjectBuilder, ObjectTable, Result, TensogramError, TensogramFile, read,
};
use tgm_tests::corpus;

/// The object that is looked at; another is before it.
const OBJECT: usize = 1;
/// Values of the small objects: enough for szip to have several blocks.
const COUNT: u16 = 600;
/// Values of an object of which files read parts.
const LARGE: u32 = 50_000;
/// A frame's header in bytes, and where its flags are.
const HEADER: usize = 16;
const FLAGS: usize = 6;

/// How a message says that it has digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hashed {
    /// By a flag of each frame: releases since 0.21.
    Flagged,
    /// By a flag of the message: releases up to 0.20.
    Promised,
    /// It has none.
    Not,
}

/// A message on which routes are tried.
struct Case<'c> {
    pipeline: &'static str,
    bytes: &'c [u8],
    path: &'c Path,
}

impl Case<'_> {
    fn message(&self) -> Message<'_> {
        Message::parse(self.bytes).unwrap()
    }

    fn object(&self) -> DataObject<'_> {
        self.message().objects().nth(OBJECT).unwrap().unwrap()
    }

    /// The bytes of the object's frame.
    fn frame(&self) -> &[u8] {
        let object = self.object();
        let start = usize::try_from(object.frame().offset()).unwrap();
        &self.bytes[start..][..usize::try_from(object.frame().total_length()).unwrap()]
    }

    fn file(&self) -> TensogramFile {
        TensogramFile::open(self.path).unwrap()
    }

    fn mapped(&self) -> TensogramFile {
        TensogramFile::open_mmap(self.path).unwrap()
    }

    fn count(&self) -> usize {
        usize::try_from(self.object().descriptor().element_count()).unwrap()
    }

    fn descriptor(&self) -> DataObjectDescriptor {
        tgm_std::decode_descriptors(self.bytes).unwrap().1.remove(OBJECT)
    }

    /// All values of the object, as three ranges.
    fn ranges(&self) -> [(u64, u64); 3] {
        let count = self.object().descriptor().element_count();
        [(0, 100), (100, 0), (100, count - 100)]
    }
}

/// What a route says about which object it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Knows {
    /// It has the message, and decodes all objects: as the next, but the first object that has no digest is named.
    Whole,
    /// It has the message: Rule H, and the object's index.
    Message,
    /// It has the object of a message: Rule H, but no index.
    Object,
    /// It has the frame alone: its flag.
    Frame,
    /// It has a payload alone: nothing.
    Payload,
}

struct Route {
    /// What takes the options, as file and name; several routes may lead through one.
    through: &'static str,
    name: &'static str,
    knows: Knows,
    /// The values of the object as bytes in native order; `None` where the route is not one for such an object.
    run: fn(&Case<'_>, &DecodeOptions) -> Option<Result<Vec<u8>>>,
}

macro_rules! routes {
    ($($through:literal $name:literal $knows:ident $run:expr,)*) => {
        &[$(Route { through: $through, name: $name, knows: Knows::$knows, run: $run }),*]
    };
}

/// A message is read in parts, however short it is.
fn in_parts() -> ReadOptions {
    [(ReadKnob::WholeMessage, 0), (ReadKnob::WholeFrame, 0), (ReadKnob::Descriptor, 64)]
        .into_iter()
        .fold(ReadOptions::memory(), |options, (knob, value)| knob.set(value, options))
}

fn parts<'c>(case: &Case<'c>) -> Reader<&'c [u8]> {
    Reader::new(case.bytes, in_parts())
}

/// Picks of all values.
fn all(case: &Case<'_>) -> Vec<Pick> {
    vec![Pick::All; case.object().descriptor().shape().len()]
}

const ROUTES: &[Route] = routes! {
    "decode.rs decode" "" Whole |case, options| {
        Some(tgm_std::decode(case.bytes, options).map(|(_, mut all)| all.remove(OBJECT).1))
    },
    "decode/deferred.rs decode_deferred" "" Whole |case, options| {
        Some(tgm_std::decode::deferred::decode_deferred(case.bytes, options).map(|(_, mut all)| all.remove(OBJECT).values))
    },
    "decode.rs decode_object" "" Message |case, options| {
        Some(tgm_std::decode_object(case.bytes, OBJECT, options).map(|found| found.2))
    },
    "decode.rs decode_with_masks" "" Whole |case, options| Some(with_masks(case, options)),
    "decode.rs decode_object_from_frame" "" Frame |case, options| {
        Some(tgm_std::decode_object_from_frame(case.frame(), options).map(|found| found.1))
    },
    "convert/arrays.rs decode" "" Whole |case, options| {
        Some(Arrays::decode(case.bytes, options).map(|found| found.arrays[OBJECT].values.to_vec()))
    },
    "decode/request.rs options" "bytes of a walk" Object |case, options| Some(values(&case.object(), options)),
    "decode/request.rs options" "bytes by the index" Object |case, options| {
        Some(values(&case.message().object(OBJECT).unwrap(), options))
    },
    "decode/request.rs options" "bytes by a table" Object |case, options| {
        let table = ObjectTable::new(&case.message()).unwrap();
        Some(values(&table.object(&case.message(), OBJECT).unwrap(), options))
    },
    "decode/request.rs options" "bytes by a table of a walk" Object |case, options| {
        let table = ObjectTable::by_walk(&case.message()).unwrap();
        Some(values(&table.object(&case.message(), OBJECT).unwrap(), options))
    },
    "decode/request.rs options" "bytes out of a map" Object |case, options| {
        Some(values(&crate::mapped::map(case.path).unwrap().object(0, OBJECT).unwrap(), options))
    },
    "decode/request.rs options" "bytes_into" Object |case, options| {
        let mut out = vec![0; 8 * case.count()];
        Some(read(&case.object()).options(options).bytes_into(&mut out).map(|()| out))
    },
    "decode/request.rs options" "values" Object |case, options| {
        Some(read(&case.object()).options(options).values::<f64>().map(|values| bytes_of(&values)))
    },
    "decode/request.rs options" "values_into" Object |case, options| {
        let mut out = vec![0.0_f64; case.count()];
        Some(read(&case.object()).options(options).values_into(&mut out).map(|()| bytes_of(&out)))
    },
    "decode/request.rs options" "values_into, the other float" Object |case, options| {
        // Values of the object out of the corpus are rounded, values of the others are not.
        let mut out = vec![0.0_f32; (case.pipeline != "blosc2").then(|| case.count())?];
        let found = read(&case.object()).options(options).values_into(&mut out);
        Some(found.map(|()| out.iter().flat_map(|value| f64::from(*value).to_ne_bytes()).collect()))
    },
    "decode/request.rs options" "bytes of ranges" Object |case, options| {
        Some(read(&case.object()).ranges(&case.ranges()).options(options).bytes().map(Cow::into_owned))
    },
    "decode/request.rs options" "bytes_into of ranges" Object |case, options| {
        let mut out = vec![0; 8 * case.count()];
        Some(read(&case.object()).ranges(&case.ranges()).options(options).bytes_into(&mut out).map(|()| out))
    },
    "decode/request.rs options" "values of ranges" Object |case, options| {
        let found = read(&case.object()).ranges(&case.ranges()).options(options).values::<f64>();
        Some(found.map(|values| bytes_of(&values)))
    },
    "decode/request.rs options" "values_into of ranges, the other float" Object |case, options| {
        let mut out = vec![0.0_f32; (case.pipeline != "blosc2").then(|| case.count())?];
        let found = read(&case.object()).ranges(&case.ranges()).options(options).values_into(&mut out);
        Some(found.map(|()| out.iter().flat_map(|value| f64::from(*value).to_ne_bytes()).collect()))
    },
    "decode/request.rs options" "bytes of boxes" Object |case, options| {
        Some(halves(case, |picks, _| {
            read(&case.object()).select(picks).options(options).bytes().map(Cow::into_owned)
        }))
    },
    "decode/request.rs options" "bytes of a box of all" Object |case, options| {
        Some(read(&case.object()).select(&all(case)).options(options).bytes().map(Cow::into_owned))
    },
    "decode/request.rs options" "bytes_into of boxes" Object |case, options| {
        Some(halves(case, |picks, count| {
            let mut out = vec![0; 8 * count];
            read(&case.object()).select(picks).options(options).bytes_into(&mut out).map(|()| out)
        }))
    },
    "decode/request.rs options" "values of boxes" Object |case, options| {
        Some(halves(case, |picks, _| {
            read(&case.object()).select(picks).options(options).values::<f64>().map(|values| bytes_of(&values))
        }))
    },
    "decode/request.rs options" "values_into of boxes, the other float" Object |case, options| {
        (case.pipeline != "blosc2").then_some(())?;
        Some(halves(case, |picks, count| {
            let mut out = vec![0.0_f32; count];
            let found = read(&case.object()).select(picks).options(options).values_into(&mut out);
            found.map(|()| out.iter().flat_map(|value| f64::from(*value).to_ne_bytes()).collect())
        }))
    },
    "decode/request.rs options" "an array" Object |case, options| {
        let found = tgm_std::ndarray::array::<f64>(read(&case.object()).options(options));
        Some(found.map(|array| bytes_of(array.as_slice().unwrap())))
    },
    "decode/request.rs options" "an array of the caller" Object |case, options| {
        let mut out = vec![0.0_f64; case.count()];
        let array = tgm_std::deps::ndarray::ArrayViewMut1::from(&mut out[..]);
        let found = tgm_std::ndarray::array_into(read(&case.object()).options(options), array);
        Some(found.map(|()| bytes_of(&out)))
    },
    "decode/request.rs options" "a view" Object |case, options| {
        let object = case.object();
        let view = tgm_std::ndarray::view::<f64>(read(&object).options(options));
        view.map(|view| view.map(|view| bytes_of(view.as_slice().unwrap()))).transpose()
    },
    "decode/request.rs options" "an archive of bytes" Object |case, options| {
        Some(archived(&Archive::from_bytes(case.bytes), options))
    },
    "decode/request.rs options" "an archive of a map" Object |case, options| {
        Some(archived(&Archive::from(crate::mapped::map(case.path).unwrap()), options))
    },
    "decode/request.rs options" "an archive of a file" Message |case, options| {
        Some(archived(&Archive::from(case.file()), options))
    },
    "decode/request.rs options" "an archive of a reader" Message |case, options| {
        Some(archived(&Archive::from_reader(std::io::Cursor::new(case.bytes.to_vec())), options))
    },
    "decode/request.rs options" "an archive in parts" Message |case, options| {
        let archive = Archive::from_fetch(case.bytes.to_vec(), in_parts());
        let object = archive.object(0, OBJECT).unwrap();
        Some(object.read().ranges(&case.ranges()).options(options).values::<f64>().map(|values| bytes_of(&values)))
    },
    "read/steps.rs options" "bytes" Message |case, options| {
        let steps = Steps::new("steps", in_parts());
        Some(driven(case, steps.read(0, OBJECT).options(options).bytes()))
    },
    "read/steps.rs options" "values of a box" Message |case, options| {
        let (steps, picks) = (Steps::new("steps", in_parts()), all(case));
        let task = steps.read(0, OBJECT).select(&picks).options(options).values::<f64>();
        Some(driven(case, task).map(|values| bytes_of(&values)))
    },
    "decode/range.rs decode_range" "" Message |case, options| {
        Some(tgm_std::decode_range(case.bytes, OBJECT, &case.ranges(), options).map(|found| found.1.concat()))
    },
    "decode/range.rs decode_range_from_frame" "" Frame |case, options| {
        Some(tgm_std::decode_range_from_frame(case.frame(), &case.ranges(), options).map(|found| found.1.concat()))
    },
    "stages/pipeline.rs decode_pipeline" "" Payload |case, options| {
        Some(tgm_std::pipeline::decode_pipeline(&case.descriptor(), case.object().region(), options))
    },
    "decode/range.rs decode_range_from_payload" "" Payload |case, options| {
        let (object, descriptor) = (case.object(), case.descriptor());
        let unmasked = descriptor.masks.is_none().then_some(descriptor)?;
        let found = tgm_std::decode_range_from_payload(&unmasked, object.payload(), &case.ranges(), options);
        Some(found.map(|parts| parts.concat()))
    },
    "file/iter.rs objects" "" Message |case, options| {
        Some(tgm_std::objects(case.bytes, options.clone()).unwrap().nth(OBJECT).unwrap().map(|found| found.1))
    },
    "file/decode.rs decode_message" "positioned" Whole |case, options| {
        Some(case.file().decode_message(0, options).map(|(_, mut all)| all.remove(OBJECT).1))
    },
    "file/decode.rs decode_message" "mapped" Whole |case, options| {
        Some(case.mapped().decode_message(0, options).map(|(_, mut all)| all.remove(OBJECT).1))
    },
    "read/reader.rs decode_object" "any source" Message |case, options| {
        Some(parts(case).decode_object(0, OBJECT, options).map(|found| found.2))
    },
    "read/reader.rs decode_range" "any source" Message |case, options| {
        Some(parts(case).decode_range(0, OBJECT, &case.ranges(), options).map(|found| found.1.concat()))
    },
    "read/reader.rs select" "any source" Message |case, options| {
        Some(parts(case).select(0, OBJECT, &all(case), options).map(|found| found.1.bytes.into_owned()))
    },
    "file/decode.rs select" "positioned" Message |case, options| {
        Some(case.file().select(0, OBJECT, &all(case), options).map(|found| found.1.bytes.into_owned()))
    },
    "file/decode.rs select" "mapped" Message |case, options| {
        Some(case.mapped().select(0, OBJECT, &all(case), options).map(|found| found.1.bytes.into_owned()))
    },
    "file/decode.rs decode_object" "positioned" Message |case, options| {
        Some(case.file().decode_object(0, OBJECT, options).map(|found| found.2))
    },
    "file/decode.rs decode_object" "mapped" Message |case, options| {
        Some(case.mapped().decode_object(0, OBJECT, options).map(|found| found.2))
    },
    "file/decode.rs decode_range" "positioned" Message |case, options| {
        Some(case.file().decode_range(0, OBJECT, &case.ranges(), options).map(|found| found.1.concat()))
    },
    "file/decode.rs decode_range" "mapped" Message |case, options| {
        Some(case.mapped().decode_range(0, OBJECT, &case.ranges(), options).map(|found| found.1.concat()))
    },
    "dataset/dataset.rs read_into" "" Frame |case, options| {
        // The two objects have no names. Each is a variable that is called by its number.
        let all = tgm_dataset::open_all(&[case.path], &tgm_dataset::OpenOptions::default()).unwrap();
        let name = format!("object_{OBJECT}");
        let dataset = all.iter().find(|dataset| dataset.variable(&name).is_some()).unwrap();
        let shape = &dataset.variable(&name).unwrap().shape;
        let picks = shape.iter().map(|len| tgm_dataset::Indices::List((0..*len).collect()));
        let mut out = vec![0; 8 * case.count()];
        Some(dataset.read_into(&name, &picks.collect::<Vec<_>>(), options, &mut out).map(|()| out))
    },
    "zio/bridge.rs from_tensogram" "" Whole |case, options| {
        let options = tgm_zio::BridgeOptions { decode: options.clone(), ..Default::default() };
        // Label, coordinates, and a part for each object, in little-endian order.
        let found = tgm_zio::from_tensogram(case.bytes, &options);
        Some(found.map(|(parts, _)| {
            let values = parts.as_slices()[2 + OBJECT].chunks_exact(8);
            values.flat_map(|value| f64::from_le_bytes(value.try_into().unwrap()).to_ne_bytes()).collect()
        }))
    },
};

fn values(object: &DataObject<'_>, options: &DecodeOptions) -> Result<Vec<u8>> {
    read(object).options(options).bytes().map(Cow::into_owned)
}

fn archived(archive: &Archive<'_>, options: &DecodeOptions) -> Result<Vec<u8>> {
    archive.object(0, OBJECT)?.read().options(options).bytes().map(Cow::into_owned)
}

/// Gives a task what it wants.
fn driven<A>(case: &Case<'_>, mut task: Task<'_, A>) -> Result<A> {
    loop {
        match task.step()? {
            Step::Done(answer) => return Ok(answer),
            Step::Wants(wants) => {
                for want in wants {
                    task.give(&want, case.bytes.fetch(&want, None).unwrap())?;
                }
            }
        }
    }
}

/// The values of the object, selected in two halves by picks. `select` gets the number of values too.
fn halves(case: &Case<'_>, select: impl Fn(&[Pick], usize) -> Result<Vec<u8>>) -> Result<Vec<u8>> {
    let shape: Vec<u64> = case.object().descriptor().shape().iter().collect();
    let half = |rows: std::ops::Range<u64>| {
        let count = usize::try_from((rows.end - rows.start) * shape[1..].iter().product::<u64>()).unwrap();
        let mut picks = vec![Pick::All; shape.len()];
        picks[0] = rows.into();
        select(&picks, count)
    };
    Ok([half(0..shape[0] / 2)?, half(shape[0] / 2..shape[0])?].concat())
}

fn bytes_of(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

/// Puts the NaNs where this route says that they are.
fn with_masks(case: &Case<'_>, options: &DecodeOptions) -> Result<Vec<u8>> {
    tgm_std::decode_with_masks(case.bytes, options).map(|(_, mut objects)| {
        let object = objects.remove(OBJECT);
        let mut values = object.payload;
        for (value, is_nan) in values.chunks_exact_mut(8).zip(object.masks.nan.unwrap_or_default()) {
            if is_nan {
                value.copy_from_slice(&f64::NAN.to_ne_bytes());
            }
        }
        values
    })
}

/// What a route must say of the object.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Values(Vec<u8>),
    Mismatch(Option<usize>),
    Missing(usize),
}

fn outcome(found: Result<Vec<u8>>) -> std::result::Result<Outcome, String> {
    match found {
        Ok(values) => Ok(Outcome::Values(values)),
        Err(TensogramError::HashMismatch { object_index, .. }) => Ok(Outcome::Mismatch(object_index)),
        Err(TensogramError::MissingHash { object_index }) => Ok(Outcome::Missing(object_index)),
        Err(error) => Err(error.to_string()),
    }
}

/// What is to come of an object with digests like that: its values, if it `is_intact`.
fn expected(knows: Knows, hashed: Hashed, strict: bool, is_intact: bool, values: &[u8]) -> Outcome {
    let has_digest = match (knows, hashed) {
        (Knows::Payload, _) | (_, Hashed::Not) | (Knows::Frame, Hashed::Promised) => false,
        (_, Hashed::Flagged) => true,
        (Knows::Whole | Knows::Message | Knows::Object, Hashed::Promised) => !strict,
    };
    let knows_index = matches!(knows, Knows::Whole | Knows::Message);
    match (has_digest, is_intact) {
        (false, _) => Outcome::Missing(if knows == Knows::Message { OBJECT } else { 0 }),
        (true, true) => Outcome::Values(values.to_vec()),
        (true, false) => Outcome::Mismatch(knows_index.then_some(OBJECT)),
    }
}

/// The bytes of a message whose second object is that one, with digests or not.
fn message(descriptor: &DataObjectDescriptor, region: &[u8], hashed: Hashed) -> Vec<u8> {
    let first = ObjectBuilder::new(&[3], &[1.0_f32, 2.0, 3.0]).unwrap();
    let first = MessageBuilder::new().object(first).encode().unwrap();
    let first_descriptor = tgm_std::decode_descriptors(&first).unwrap().1.remove(0);
    let first_object = Message::parse(&first).unwrap().object(0).unwrap();
    let parts = [Part::Region(&first_descriptor, first_object.region()), Part::Region(descriptor, region)];
    let options = EncodeOptions { hashing: hashed != Hashed::Not, ..EncodeOptions::default() };
    let mut bytes = encode_parts(&GlobalMetadata::default(), &parts, &options).unwrap();
    if hashed == Hashed::Promised {
        clear_flags(&mut bytes);
    }
    bytes
}

/// Makes a message as releases up to 0.20 wrote it.
fn clear_flags(bytes: &mut [u8]) {
    let frames = Message::parse(bytes).unwrap().frames().map(|frame| frame.unwrap().offset()).collect::<Vec<_>>();
    for start in frames {
        bytes[usize::try_from(start).unwrap() + FLAGS + 1] &= !2;
    }
    assert_eq!(Message::parse(bytes).unwrap().hash_presence().unwrap(), HashPresence::All);
}

/// An object for each pipeline: its name, descriptor and region.
fn pipelines() -> Vec<(&'static str, DataObjectDescriptor, Vec<u8>)> {
    let values: Vec<f64> = (0..COUNT).map(|i| f64::from(i % 37) * 0.5).collect();
    let gaps: Vec<f64> = values.iter().map(|v| if (v.to_bits() >> 40) % 3 == 1 { f64::NAN } else { *v }).collect();
    let large: Vec<f64> = (0..LARGE).map(f64::from).collect();
    let plain = || ObjectBuilder::new(&[u64::from(COUNT)], &values).unwrap();
    let with_gaps = || ObjectBuilder::new(&[u64::from(COUNT)], &gaps).unwrap();
    let masked = |method| EncodeOptions {
        allow_nan: true,
        nan_mask_method: method,
        small_mask_threshold_bytes: 0,
        ..EncodeOptions::default()
    };
    let built = [
        ("raw", plain(), EncodeOptions::default()),
        ("raw, large", ObjectBuilder::new(&[u64::from(LARGE)], &large).unwrap(), EncodeOptions::default()),
        ("packed and szip", plain().simple_packing(16).szip(), EncodeOptions::default()),
        ("packed", plain().simple_packing(12), EncodeOptions::default()),
        ("zstd", plain().zstd(3), EncodeOptions::default()),
        ("shuffle and lz4", plain().shuffle().lz4(), EncodeOptions::default()),
        ("masks by roaring", with_gaps(), masked(MaskMethod::Roaring)),
        ("masks by zstd, zstd", with_gaps().zstd(1), masked(MaskMethod::Zstd { level: None })),
    ];
    let built = built
        .map(|(name, object, options)| (name, MessageBuilder::new().options(options).object(object).encode().unwrap()));
    let blosc2 = ("blosc2", corpus::sample("codecs/none-blosc2-float64-little").bytes);
    let taken = built.into_iter().chain([blosc2]).map(|(name, bytes)| {
        let descriptor = tgm_std::decode_descriptors(&bytes).unwrap().1.remove(0);
        let region = Message::parse(&bytes).unwrap().object(0).unwrap().region().to_vec();
        (name, descriptor, region)
    });
    taken.collect()
}

/// Where a bit of the object is flipped, in bytes from the message's start: in the payload, and in a mask if there is one.
fn places(bytes: &[u8]) -> Vec<usize> {
    let object = Message::parse(bytes).unwrap().objects().nth(OBJECT).unwrap().unwrap();
    let region = usize::try_from(object.region_offset()).unwrap();
    let (payload, all) = (object.payload().len(), object.region().len());
    let mut places = vec![region + payload - 1, region + payload / 2];
    places.extend((all > payload).then_some(region + all - 1));
    places
}

#[test]
fn every_route_checks_the_digest_when_asked_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("message.tgm");
    let (mut wrong, mut taken) = (Vec::new(), BTreeSet::new());
    for (pipeline, descriptor, region) in pipelines() {
        for hashed in [Hashed::Flagged, Hashed::Promised, Hashed::Not] {
            let intact = message(&descriptor, &region, hashed);
            let values = tgm_std::decode(&intact, &DecodeOptions::default()).unwrap().1.remove(OBJECT).1;
            let damaged = places(&intact).into_iter().map(|place| {
                let mut bytes = intact.clone();
                bytes[place] ^= 0x10;
                bytes
            });
            for (i, bytes) in [intact.clone()].into_iter().chain(damaged).enumerate() {
                fs::File::create(&path).unwrap().write_all(&bytes).unwrap();
                let case = Case { pipeline, bytes: &bytes, path: &path };
                for (verify_hash, strict) in [(true, false), (true, true), (false, false)] {
                    let options =
                        DecodeOptions { verify_hash, strict_hash_presence: strict, ..DecodeOptions::default() };
                    for route in ROUTES {
                        let Some(found) = (route.run)(&case, &options) else { continue };
                        let found = outcome(found);
                        taken.insert((route.through, route.name));
                        let right = match (verify_hash, i) {
                            (true, _) => Ok(expected(route.knows, hashed, strict, i == 0, &values)),
                            (false, 0) => Ok(Outcome::Values(values.clone())),
                            // Nobody asked: values, or an error of the codec's.
                            (false, _) if !matches!(found, Ok(Outcome::Mismatch(_) | Outcome::Missing(_))) => continue,
                            (false, _) => Err("values".to_owned()),
                        };
                        if found != right {
                            let (through, name) = (route.through, route.name);
                            wrong.push(format!(
                                "{through} {name}: {} {hashed:?} strict={strict} damage={i}",
                                case.pipeline
                            ));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(taken.len(), ROUTES.len(), "a route that no object takes");
}

#[test]
fn what_takes_options_is_in_the_table() {
    let listed: BTreeSet<String> = ROUTES.iter().map(|route| route.through.to_owned()).collect();
    let (sources, holders) = (sources(), holders());
    let mut found = BTreeSet::new();
    for (file, text) in sources {
        let text = text.replace("pub const fn ", "pub fn ");
        for function in text.split("pub fn ").skip(1) {
            let signature = &function[..function.find(['{', ';']).unwrap()];
            if holders.iter().any(|holder| has_word(signature, holder)) {
                let name = signature.split(['(', '<']).next().unwrap();
                found.insert(format!("{file} {name}"));
            }
        }
        // The questions to a message are written once, and have these names. The last two of the first list take options, as
        // the question for an object does.
        for (questions, with_options) in [("    question_methods!(", 2), ("    object_method!(", 1)] {
            for call in text.split(questions).skip(1).filter(|call| !call.trim_start().starts_with('[')) {
                let names = call.split(')').next().unwrap().split(',').map(str::trim);
                found.extend(names.rev().take(with_options).map(|name| format!("{file} {name}")));
            }
        }
        // So are the methods of a request, of which one takes options.
        if text.contains("    request_methods!();") {
            found.insert(format!("{file} options"));
        }
    }
    for (name, _why) in NO_VALUES {
        assert!(found.remove(*name), "{name} is not a function that takes options");
    }
    assert_eq!(found, listed);
}

/// What takes options and gives out no values of objects, and why; and what leads through a route of the table.
const NO_VALUES: &[(&str, &str)] = &[
    ("decode/whole.rs trusted_values", "takes trusted objects; packages beside tgm-std call it"),
    ("decode/masks.rs mask_set", "takes trusted objects; packages beside tgm-std call it"),
    ("decode/trust.rs new", "checks the digest of an object; packages beside tgm-std call it"),
    ("decode/trust.rs of_message", "says how digests of a message are checked; packages beside tgm-std call it"),
    ("decode/checked.rs for_values", "checks the digests of a message, and proves it; packages beside tgm-std call it"),
    ("zio/bridge.rs to_tensogram", "encodes: the options of decoding are for the way back"),
    (
        "convert/grib2/to_grib.rs from_tensogram",
        "gives out GRIB, of objects made from it alone: std-ext/convert/tests/formats/grib.rs",
    ),
    ("convert/grib2/to_grib.rs from_tensogram_into", "as from_tensogram"),
    (
        "convert/npz.rs read",
        "reads numpy's archives, which have checksums of their own: std-ext/convert/tests/formats/arrays.rs",
    ),
    ("convert/points.rs read", "gives out coordinates: messages by Arrays::decode, a route of the table"),
    ("convert/netcdf/to_netcdf.rs create", "its writer checks whole messages: convert/netcdf/tests.rs"),
    ("convert/zarr/to_zarr.rs create", "its writer checks whole messages: convert/zarr/tests.rs"),
    ("stages/single.rs decompress", "one stage alone, for measuring; takes trusted objects"),
    ("stages/single.rs restore", "as decompress"),
    ("archive.rs metadata_options", "says how an archive reads metadata"),
    ("decode/asked.rs options", "is written once for all requests, which are in the table"),
    (
        "archive/async_object.rs options",
        "asks the questions of read/steps.rs: what does not wait is compared with it in archive/tests.rs",
    ),
    ("file/query.rs query", "reads metadata"),
    ("model/hash.rs metadata", "reads metadata, and checks their digests"),
    ("catalog/make.rs build_with", "reads metadata"),
    ("catalog/gather.rs add", "reads metadata"),
    ("catalog/tree/choose.rs of", "reads catalogues, whose columns it always verifies"),
    ("catalog/tree/choose.rs of_files", "reads catalogues, whose columns it always verifies"),
    ("catalog/make.rs update", "reads metadata"),
    ("catalog/make.rs varying_keys", "reads metadata"),
    ("catalog/beside.rs open", "reads a catalogue, whose columns it always verifies"),
    ("catalog/lib.rs open_with", "reads a catalogue, whose columns it always verifies"),
    ("catalog/lib.rs from_bytes_with", "reads a catalogue, whose columns it always verifies"),
    ("dataset/lib.rs open", "reads metadata"),
    ("dataset/lib.rs open_all", "reads metadata"),
    ("dataset/lib.rs groups", "reads metadata"),
    ("dataset/lib.rs open_archives", "reads metadata"),
    ("dataset/lib.rs groups_of_archives", "reads metadata"),
    ("dataset/options.rs on_all_cores", "makes options"),
    ("dataset/pieces.rs stored", "reads descriptors"),
    ("dataset/references.rs references", "reads by dataset/dataset.rs read_into, and descriptors"),
    ("dataset/zarr.rs get", "reads by dataset/dataset.rs read_into"),
    ("dataset/cut.rs cut", "reads by dataset/dataset.rs read_into"),
    ("dataset/reduce.rs reduce", "reads by dataset/dataset.rs read_into"),
    ("dataset/quantiles.rs quantiles", "reads by dataset/dataset.rs read_into"),
    ("dataset/weigh.rs reduce_weighted", "reads by dataset/reduce.rs reduce"),
    ("dataset/floats.rs read_floats_into", "reads by dataset/dataset.rs read_into"),
    ("file/remote_file.rs decode_object_batch", "asks the questions of read/reader.rs"),
    ("file/remote_file.rs decode_range_batch", "asks the questions of read/reader.rs"),
];

/// [`DecodeOptions`], and the public options that hold them.
fn holders() -> BTreeSet<String> {
    let mut holders = BTreeSet::from(["DecodeOptions".to_owned()]);
    for (_, text) in sources() {
        for item in text.split("pub struct ").skip(1) {
            let body = &item[..item.find("\n}").unwrap_or(item.len())];
            if body.lines().any(|line| line.trim_start().starts_with("pub ") && has_word(line, "DecodeOptions")) {
                holders.insert(body.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned());
            }
        }
    }
    holders
}

#[test]
fn options_of_conversions_alone_hold_options_of_decoding() {
    assert_eq!(
        holders(),
        BTreeSet::from(["DecodeOptions", "BridgeOptions", "OpenOptions", "WriteOptions"].map(str::to_owned))
    );
}

#[test]
fn an_objects_bytes_are_read_where_its_digest_was_asked_about() {
    // Files that give values out take trusted objects. A new file in this list does so too, or gives no values out.
    let allowed = [
        "archive/object.rs",                  // how long the region is
        "base/budget.rs",                     // how long the payload is
        "decode/plan.rs",                     // takes trusted objects
        "decode/range_bytes.rs",              // takes trusted objects
        "decode/select.rs",                   // takes trusted objects; how long the payload is
        "decode/stored.rs",                   // takes trusted objects
        "decode/unpack.rs",                   // takes trusted objects
        "decode/whole.rs",                    // takes trusted objects
        "decode/trust.rs",                    // makes them
        "encode/taken_object.rs",             // copies frames with their digests
        "catalog/part.rs",                    // how long the region is
        "compat/framing.rs",                  // takes messages apart
        "convert/grib2/edition1/way_back.rs", // how long the payload is
        "convert/grib2/fields.rs",            // packings of GRIB
        "convert/grib2/picture.rs",           // packings of GRIB
        "convert/grib2/to_tgm.rs",            // packings of GRIB
        "convert/grib2/way_back.rs",          // takes trusted objects
        "convert/table/describe.rs",          // how long the region is
        "dataset/cf/arrays.rs",               // types of stored numbers
        "decode/masks.rs",                    // takes trusted objects
        "decode/typed.rs",                    // takes trusted objects; how long the payload is
        "decode/wanted.rs",                   // takes trusted objects
        "file/mmap.rs",                       // how long the region is
        "read/question/about.rs",             // how long the region is
        "v2/upgrade.rs",                      // sizes of what it wrote itself
        "validate/descriptor.rs",             // how long the payload is
        "validate/trial.rs",                  // how long the payload is; checks digests itself
        "zio/bridge/from_tgm.rs",             // takes trusted objects
    ];
    let mut found = BTreeSet::new();
    for (file, text) in sources() {
        let code =
            text.split("\nmod tests {").next().unwrap().lines().filter(|line| !line.trim_start().starts_with("//"));
        let calls = [".payload()", ".region()", ".mask_blob(", ".stored()?", ".stored()."];
        if code.into_iter().any(|line| calls.iter().any(|call| line.contains(call))) {
            found.insert(file);
        }
    }
    assert_eq!(found, BTreeSet::from(allowed.map(str::to_owned)));
}

/// The libraries that decode, and what stands before the names of their files here.
const LIBRARIES: [(&str, &str); 5] = [
    ("../std-ext/src", ""),
    ("../std-ext/catalog/src", "catalog/"),
    ("../std-ext/convert/src", "convert/"),
    ("../std-ext/dataset/src", "dataset/"),
    ("../std-ext/zio/src", "zio/"),
];

/// The names and texts of the libraries' sources, without tests.
fn sources() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (folder, before) in LIBRARIES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for path in files(&folder) {
            let name = path.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
            all.push((format!("{before}{name}"), fs::read_to_string(&path).unwrap()));
        }
    }
    all
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            if name != "tests" {
                found.extend(files(&path));
            }
        } else if path.extension().is_some_and(|e| e == "rs") && !name.ends_with("tests.rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|found| found == word)
}

#[test]
fn damage_inside_a_descriptor_is_a_wrong_digest_where_the_frame_is_checked_first() {
    let (_, descriptor, region) = pipelines().remove(0);
    let mut bytes = message(&descriptor, &region, Hashed::Flagged);
    let object = Message::parse(&bytes).unwrap().objects().nth(OBJECT).unwrap().unwrap();
    let at = usize::try_from(object.descriptor().offset()).unwrap();
    let frame = usize::try_from(object.frame().offset()).unwrap();
    // No CBOR begins like this.
    bytes[at] = 0xff;
    let options = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
    let found = [
        tgm_std::decode(&bytes, &options).map(drop),
        tgm_std::decode_with_masks(&bytes, &options).map(drop),
        tgm_std::decode_object(&bytes, OBJECT, &options).map(drop),
        tgm_std::decode_range(&bytes, OBJECT, &[(0, 1)], &options).map(drop),
    ];
    for found in found {
        let error = found.unwrap_err();
        assert!(matches!(error, TensogramError::HashMismatch { object_index: Some(OBJECT), .. }), "{error}");
    }
    let found = [
        tgm_std::decode_object_from_frame(&bytes[frame..], &options).map(drop),
        tgm_std::decode_range_from_frame(&bytes[frame..], &[(0, 1)], &options).map(drop),
    ];
    for found in found {
        assert!(matches!(found.unwrap_err(), TensogramError::HashMismatch { object_index: None, .. }));
    }
}

#[test]
fn objects_know_from_their_message_whether_they_have_a_digest() {
    let (_, descriptor, region) = pipelines().remove(0);
    let both = |bytes: &[u8]| {
        let message = Message::parse(bytes).unwrap();
        let by_index = message.object(OBJECT).unwrap().frame().hash_presence();
        let by_walk = message.objects().nth(OBJECT).unwrap().unwrap().frame().hash_presence();
        (by_walk, by_index)
    };
    let flagged = message(&descriptor, &region, Hashed::Flagged);
    let promised = message(&descriptor, &region, Hashed::Promised);
    let not = message(&descriptor, &region, Hashed::Not);
    assert_eq!(both(&flagged), (HashPresence::Flagged, HashPresence::Flagged));
    assert_eq!(both(&promised), (HashPresence::All, HashPresence::All));
    assert_eq!(both(&not), (HashPresence::Flagged, HashPresence::Flagged));

    // Whose flag was cleared, while others' were not, has no digest.
    let mut one_cleared = flagged.clone();
    let object = Message::parse(&flagged).unwrap().object(OBJECT).unwrap();
    one_cleared[usize::try_from(object.frame().offset()).unwrap() + FLAGS + 1] &= !2;
    assert_eq!(both(&one_cleared), (HashPresence::Flagged, HashPresence::Flagged));
    let object = Message::parse(&one_cleared).unwrap().object(OBJECT).unwrap();
    assert_eq!(object.frame().hash_presence().check(object.frame()), Verdict::Missing);

    // A frame without its message has no more than its flag.
    let object = Message::parse(&promised).unwrap().object(OBJECT).unwrap();
    let start = usize::try_from(object.frame().offset()).unwrap();
    let (alone, _) = tgm_core::frame::Frame::parse(&promised[start..]).unwrap();
    assert_eq!(alone.hash_presence(), HashPresence::Flagged);
    assert_eq!(alone.body().len(), object.frame().body().len());
    assert_eq!(alone.body_offset(), HEADER as u64);
}

#[test]
fn inline_hashes_are_of_all_objects_or_an_error() {
    let (_, descriptor, region) = pipelines().remove(0);
    let bytes = message(&descriptor, &region, Hashed::Flagged);
    assert_eq!(tgm_std::data_object_inline_hashes(&bytes).unwrap().len(), 2);
    let frame = Message::parse(&bytes).unwrap().object(OBJECT).unwrap().frame().offset();
    let frame = usize::try_from(frame).unwrap();
    // The type, the length, and the end.
    for at in [frame + 3, frame + 8, frame + 15, bytes.len() - 24 - 1 - 3] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        let error = tgm_std::data_object_inline_hashes(&damaged).unwrap_err();
        assert!(matches!(error, TensogramError::Framing(_)), "{at}: {error}");
    }
}
