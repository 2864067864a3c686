//! GRIB messages become Tensogram and return to the byte: samples of ecCodes with its values, and damaged ones.

use std::fs;
use std::path::Path;

use ciborium::Value;
use proptest::prelude::*;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};
use tgm_convert::grib2::{
    Found, GribError, GribErrorKind, GribOptions, MessageReader, Note, coordinates, from_tensogram, to_tensogram,
};
use tgm_std::deps::ciborium;
use tgm_std::encode::{Part, encode_parts};
use tgm_std::{DecodeLimits, DecodeOptions, EncodeOptions, GlobalMetadata, TensogramError, decode, decode_metadata};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data-grib"))
}

fn sample(name: &str) -> Vec<u8> {
    fs::read(folder().join(name).with_extension("grib2")).unwrap()
}

/// What ecCodes says of each sample.
fn expected() -> Vec<(String, Json)> {
    let text = fs::read(folder().join("expected.json")).unwrap();
    let Json::Object(samples) = serde_json::from_slice(&text).unwrap() else { panic!("expected.json is not a map") };
    samples.into_iter().collect()
}

/// Whether this build decodes a sample.
fn has_codec(name: &str) -> bool {
    (cfg!(feature = "grib-png") || !name.contains("png")) && (cfg!(feature = "grib-jpeg2000") || !name.contains("jpeg"))
}

/// The messages of a sample.
fn messages(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (mut reader, mut found) = (MessageReader::new(bytes), Vec::new());
    while let Some(next) = reader.read_next().unwrap() {
        let Found::Message { bytes, .. } = next else { panic!("{next:?}") };
        found.push(bytes.to_vec());
    }
    found
}

fn converted(message: &[u8]) -> Vec<u8> {
    to_tensogram(message, &GribOptions::default()).unwrap().message
}

fn back(message: &[u8]) -> Result<Vec<u8>, TensogramError> {
    from_tensogram(message, &DecodeOptions::default()).map(|restored| restored.message)
}

fn sha(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[test]
fn values_are_those_of_eccodes_and_messages_return_to_the_byte() {
    let mut fields = 0;
    for (name, expected) in expected() {
        let Some(listed) = expected["fields"].as_array().filter(|_| has_codec(&name)) else { continue };
        let mut objects = Vec::new();
        for message in messages(&sample(&name)) {
            let made = converted(&message);
            assert!(back(&made).unwrap() == message, "{name}");
            let options = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
            objects.extend(decode(&made, &options).unwrap().1);
        }
        assert_eq!(objects.len(), listed.len(), "{name}");
        for ((descriptor, values), expected) in objects.iter().zip(listed) {
            assert_eq!(descriptor.num_elements().unwrap() as u64, expected["points"], "{name}");
            if let Some(near) = expected["near"].as_array() {
                let values = values.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
                for (value, near) in values.zip(near) {
                    assert!((value / near.as_f64().unwrap() - 1.0).abs() < 1e-15, "{name}: {value} {near}");
                }
            } else if cfg!(target_endian = "little") {
                assert_eq!(sha(values), expected["values"], "{name}");
            }
            fields += 1;
        }
    }
    assert!(fields > 50, "{fields}");
}

/// Sections lie in metadata, data in payloads: a changed bit of either is told, if it is asked for.
#[test]
fn a_changed_bit_of_any_frame_is_found_where_digests_are_verified() {
    let made = converted(&sample("simple-8"));
    let options = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
    assert!(from_tensogram(&made, &options).is_ok());
    let message = tgm_std::core::Message::parse(&made).unwrap();
    let frames = message.frames().map(|frame| frame.unwrap());
    let places = frames.flat_map(|frame| frame.body_offset()..frame.body_offset() + frame.body().len() as u64);
    let mut tried = 0;
    for at in places {
        let mut changed = made.clone();
        changed[usize::try_from(at).unwrap()] ^= 4;
        assert!(from_tensogram(&changed, &options).is_err(), "byte {at}");
        tried += 1;
    }
    assert!(tried > 800, "{tried}");
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let mut refused = 0;
    for (name, expected) in expected() {
        let Some(text) = expected["error"].as_str() else { continue };
        let error = to_tensogram(&sample(&name), &GribOptions::default()).unwrap_err();
        assert!(matches!(error, TensogramError::Encoding(_)) && error.to_string().contains(text), "{name}: {error}");
        refused += 1;
    }
    assert!(refused > 1, "{refused}");
    let error = to_tensogram(&sample("refused-logarithm"), &GribOptions::default()).unwrap_err().to_string();
    assert!(error.contains("template 5.61 (simple packing with logarithm") && error.contains("at byte"), "{error}");
    let error = to_tensogram(&sample("refused-edition-1"), &GribOptions::default()).unwrap_err().to_string();
    assert!(error.contains("GRIB edition 1 is not supported") && error.contains("at byte 7"), "{error}");
    for (name, text) in [("png", "5.41 (PNG)"), ("jpeg", "5.40 (JPEG 2000)")] {
        if !has_codec(name) {
            let error = to_tensogram(&sample(name), &GribOptions::default()).unwrap_err().to_string();
            assert!(error.contains(text) && error.contains("enable feature `grib-"), "{error}");
        }
    }
}

/// The map `grib` of the first object.
fn grib_of(message: &[u8]) -> Vec<(Value, Value)> {
    decode_metadata(message).unwrap().base[0]["grib"].as_map().unwrap().clone()
}

#[test]
fn groups_are_kept_without_what_follows_from_their_integers() {
    let has = |name: &str, key: &str| grib_of(&converted(&sample(name))).iter().any(|(k, _)| k.as_text() == Some(key));
    // The groups of ecCodes follow from their lengths. The others have references and widths of their own.
    for name in ["complex", "complex-differences", "bitmap-complex", "bitmap-complex-differences"] {
        assert!(has(name, "lengths") && !has(name, "groups") && !has(name, "data"), "{name}");
    }
    for name in ["groups-1", "groups-2-missing", "groups-1-bitmap-missing"] {
        assert!(has(name, "groups") && !has(name, "lengths") && !has(name, "data"), "{name}");
    }
    // Two kinds of missing values are one kind of gap.
    assert!(has("groups-2-missing-2", "data") && !has("groups-2-missing-2", "lengths"));
    let (descriptor, values) =
        decode(&converted(&sample("groups-2-missing")), &DecodeOptions::default()).unwrap().1.remove(0);
    assert_eq!((descriptor.encoding.as_str(), descriptor.dtype), ("simple_packing", tgm_std::Dtype::Float64));
    let values: Vec<_> = values.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect();
    assert!(values[40..70].iter().all(|value| value.is_nan()) && !values[39].is_nan());
}

#[cfg(feature = "grib-png")]
#[test]
fn pictures_return_as_they_were_or_as_simple_packing_of_the_same_values() {
    for name in ["png", "bitmap-png", "png-24"] {
        let kept = converted(&sample(name));
        let options = GribOptions { keep_original: false, ..GribOptions::default() };
        let dropped = to_tensogram(&sample(name), &options).unwrap();
        assert_eq!(dropped.notes, [Note::Repacked { field: 0, template: 41 }]);
        let again = back(&dropped.message).unwrap();
        assert!(again != sample(name) && dropped.message.len() < kept.len());
        let values = |message: &[u8]| decode(message, &DecodeOptions::default()).unwrap().1.remove(0).1;
        // NaN has the same bits too.
        assert!(values(&dropped.message) == values(&kept) && values(&converted(&again)) == values(&kept), "{name}");
        let template = grib_of(&converted(&again))
            .into_iter()
            .find(|(key, _)| key.as_text() == Some("dataRepresentationTemplateNumber"));
        assert_eq!(template.unwrap().1, Value::from(0));
        assert!(back(&kept).unwrap() == sample(name));
    }
    let options = GribOptions { keep_original: false, ..GribOptions::default() };
    assert!(to_tensogram(&sample("groups-2"), &options).unwrap().notes.is_empty());
}

#[cfg(feature = "grib-png")]
#[test]
fn pictures_of_another_size_or_form_are_refused() {
    let good = sample("png-8");
    let at = good.windows(4).position(|bytes| bytes == b"IHDR").unwrap() + 4;
    let refused = |change: &dyn Fn(&mut [u8]), text: &str| {
        let mut message = good.clone();
        change(&mut message[at..]);
        // The checksum of the chunk.
        let sum = crc(&message[at - 4..at + 13]).to_be_bytes();
        message[at + 13..at + 17].copy_from_slice(&sum);
        let error = to_tensogram(&message, &small()).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    refused(&|head| head[3] += 1, "pixels, and section 5 states 496 values");
    refused(&|head| head[..8].copy_from_slice(&[0, 0, 8, 0, 0, 8, 0, 0]), "pixels, and section 5 states 496 values");
    refused(&|head| head[..8].copy_from_slice(&[0x7f; 8]), "limits are exceeded");
    refused(&|head| head[9] = 4, "has colours of another form");
    refused(&|head| head[8] = 16, "PNG data");
}

/// The checksum of PNG.
#[cfg(feature = "grib-png")]
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ (0xedb8_8320 & (sum & 1).wrapping_neg()))
    })
}

/// The descriptor of the first object.
fn first(name: &str) -> tgm_std::DataObjectDescriptor {
    decode(&converted(&messages(&sample(name))[0]), &DecodeOptions::default()).unwrap().1.remove(0).0
}

#[test]
fn bits_stay_as_they_are_where_the_format_has_their_packing() {
    let data = |name: &str| {
        let sample = sample(name);
        let (message, _) = tgm_convert::grib2::Message::parse(&sample).unwrap();
        let field = message.fields().next().unwrap().unwrap();
        field.data().to_vec()
    };
    for (name, compression) in [("simple-12", "none"), ("ccsds-8", "szip"), ("ccsds-24", "szip"), ("ieee-32", "none")] {
        assert_eq!(first(name).compression, compression);
        let made = converted(&sample(name));
        let payload = tgm_std::core::Message::parse(&made).unwrap().object(0).unwrap().payload();
        assert!(payload == data(name), "{name}");
    }
    // szip takes 16 bits for 12.
    for (name, bits) in [("ccsds-12", 16), ("ccsds-20", 24), ("bitmap-ccsds-16", 16), ("complex", 16)] {
        let descriptor = first(name);
        assert_eq!(
            (descriptor.encoding.as_str(), descriptor.compression.as_str()),
            ("simple_packing", "szip"),
            "{name}"
        );
        assert_eq!(descriptor.params["sp_bits_per_value"], bits.into(), "{name}");
    }
}

#[test]
fn grids_shape_tensors_in_the_order_in_which_they_are_scanned() {
    assert_eq!(first("simple-8").shape, [31, 16]);
    assert_eq!(first("columns").shape, [16, 31]);
    assert_eq!(first("alternating").shape, [496]);
    assert_eq!(first("polar_stereographic").shape.len(), 2);
    assert_eq!(first("reduced_gg_pl_32").shape, [6114]);
}

#[test]
fn sections_are_metadata_under_the_words_of_the_manual_and_of_archives() {
    let metadata = decode_metadata(&converted(&sample("ensemble-rotated"))).unwrap();
    let number = |key: &str| metadata.get(key).and_then(|value| value.as_i64());
    for (key, expected) in [
        ("grib.discipline", 0),
        ("grib.centre", 98),
        ("grib.parameterCategory", 0),
        ("grib.parameterNumber", 0),
        ("grib.forecastTime", 36),
        ("grib.typeOfFirstFixedSurface", 100),
        ("grib.scaledValueOfFirstFixedSurface", 85_000),
        ("grib.perturbationNumber", 7),
        ("grib.numberOfForecastsInEnsemble", 50),
        ("grib.date", 20_070_323),
        ("grib.time", 120_000),
        ("grib.Ni", 16),
        ("mars.date", 20_070_323),
        ("mars.time", 1200),
        ("mars.step", 36),
        ("mars.levelist", 850),
        ("mars.number", 7),
    ] {
        assert_eq!(number(key), Some(expected), "{key}");
    }
    let plain = decode_metadata(&converted(&sample("simple-8"))).unwrap();
    let area: Vec<_> =
        plain.base[0]["mars"].as_map().unwrap().iter().filter(|(key, _)| key.as_text() == Some("area")).collect();
    assert_eq!(area[0].1, Value::Array([60.0, 0.0, 0.0, 30.0].map(Value::from).into()));
    assert!(metadata.get("mars.area").is_none(), "a rotated grid");
    let text = |key: &str| metadata.get(key).and_then(|value| value.as_str().map(str::to_string));
    assert_eq!(text("grib.parameterName").as_deref(), Some("Temperature"));
    assert_eq!(text("grib.parameterUnits").as_deref(), Some("K"));
    assert_eq!(text("mars.levtype").as_deref(), Some("pl"));
    assert_eq!(text("mars.param").as_deref(), Some("t"));
    // Analysis and forecast products: archives know only one or the other.
    assert_eq!((number("grib.typeOfProcessedData"), text("mars.type")), (Some(2), None));
}

#[test]
fn a_decimal_scale_is_noted_with_a_bound() {
    let notes = to_tensogram(&sample("decimal-2"), &GribOptions::default()).unwrap().notes;
    let [Note::DecimalScale { field: 0, bound }] = notes[..] else { panic!("{notes:?}") };
    assert!((1e-15..1e-12).contains(&bound), "{bound}");
    assert!(to_tensogram(&sample("simple-12"), &GribOptions::default()).unwrap().notes.is_empty());
}

/// The message of a sample with other metadata, or other objects.
fn edited(name: &str, edit: impl Fn(&mut GlobalMetadata), keep: impl Fn(usize) -> bool) -> Vec<u8> {
    let made = converted(&messages(&sample(name))[0]);
    let (mut metadata, descriptors) = tgm_std::decode_descriptors(&made).unwrap();
    metadata.reserved.clear();
    metadata.base.iter_mut().for_each(|entry| drop(entry.remove("_reserved_")));
    edit(&mut metadata);
    let view = tgm_std::core::Message::parse(&made).unwrap();
    let kept: Vec<_> = (0..descriptors.len()).filter(|index| keep(*index)).collect();
    metadata.base = kept.iter().map(|index| metadata.base[*index].clone()).collect();
    let objects: Vec<_> = kept.iter().map(|index| view.object(*index).unwrap()).collect();
    let parts: Vec<_> =
        kept.iter().zip(&objects).map(|(index, object)| Part::Region(&descriptors[*index], object.region())).collect();
    encode_parts(&metadata, &parts, &EncodeOptions::default()).unwrap()
}

fn set(metadata: &mut GlobalMetadata, map: &str, key: &str, value: Value) {
    let Some(Value::Map(entries)) = metadata.base[0].get_mut(map) else { panic!("no {map}") };
    let entry = entries.iter_mut().find(|(name, _)| name.as_text() == Some(key)).unwrap();
    entry.1 = value;
}

#[test]
fn edits_that_sections_cannot_express_are_refused_and_additions_are_listed() {
    let all = |_: usize| true;
    let refused = |message: &[u8], text: &str| {
        let error = back(message).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    assert!(back(&edited("fields", |_| (), all)).unwrap() == sample("fields"));
    refused(&edited("fields", |metadata| set(metadata, "grib", "centre", 7.into()), all), "grib.centre was edited");
    refused(&edited("fields", |metadata| set(metadata, "mars", "step", 7.into()), all), "mars.step was edited");
    refused(&edited("fields", |metadata| drop(metadata.base[1].remove("grib")), all), "object 1: it has no GRIB");
    refused(&edited("fields", |_| (), |index| index != 1), "object 0: it is field 0 of a GRIB message of 3");
    refused(&edited("fields", |_| (), |index| index == 1), "object 0: it is field 1 of a GRIB message of 3");
    let added = edited(
        "fields",
        |metadata| {
            metadata.base[1].insert("note".into(), "mine".into());
            metadata.extra.insert("run".into(), 7.into());
        },
        all,
    );
    let restored = from_tensogram(&added, &DecodeOptions::default()).unwrap();
    assert!(restored.message == sample("fields"));
    assert_eq!(restored.not_kept, ["extra.run", "base.1.note"]);
    let plain = tgm_std::MessageBuilder::new().object(tgm_std::ObjectBuilder::new(&[2], &[1_u8, 2]).unwrap());
    refused(&plain.encode().unwrap(), "it was not made from GRIB");
}

/// The message with its objects encoded anew, from the same values.
fn encoded_anew(
    message: &[u8],
    stages: impl Fn(&mut tgm_std::DataObjectDescriptor),
) -> Result<Vec<u8>, TensogramError> {
    encoded_with(message, |descriptor, _| stages(descriptor))
}

/// The same with a change of the values, which are in the descriptor's byte order.
fn encoded_with(
    message: &[u8],
    change: impl Fn(&mut tgm_std::DataObjectDescriptor, &mut [u8]),
) -> Result<Vec<u8>, TensogramError> {
    let native = DecodeOptions { native_byte_order: false, ..DecodeOptions::default() };
    let (mut metadata, mut objects) = decode(message, &native)?;
    metadata.reserved.clear();
    metadata.base.iter_mut().for_each(|entry| drop(entry.remove("_reserved_")));
    for (descriptor, values) in &mut objects {
        descriptor.masks = None;
        descriptor.params.remove("szip_block_offsets");
        change(descriptor, values);
    }
    let parts: Vec<_> = objects.iter().map(|(descriptor, values)| (descriptor, values.as_slice())).collect();
    tgm_std::encode(&metadata, &parts, &EncodeOptions { allow_nan: true, ..EncodeOptions::default() })
}

fn without_packing(descriptor: &mut tgm_std::DataObjectDescriptor) {
    descriptor.encoding = "none".into();
    descriptor.compression = "none".into();
    descriptor.params.retain(|key, _| !key.starts_with("sp_") && !key.starts_with("szip_"));
}

/// Stages that lose nothing.
type Stages = fn(&mut tgm_std::DataObjectDescriptor);
const LOSSLESS: [(&str, Stages); 5] = [
    ("the same", |_| {}),
    ("no compression", |descriptor| {
        descriptor.compression = "none".into();
        descriptor.params.retain(|key, _| !key.starts_with("szip_"));
    }),
    ("no stages", without_packing),
    ("shuffle", |descriptor| {
        without_packing(descriptor);
        descriptor.filter = "shuffle".into();
        descriptor.params.insert("shuffle_element_size".into(), (descriptor.dtype.byte_width() as u64).into());
    }),
    ("shuffle and szip", |descriptor| {
        LOSSLESS[3].1(descriptor);
        descriptor.compression = "szip".into();
        let params = [("szip_rsi", 64), ("szip_block_size", 16), ("szip_flags", 8)];
        descriptor.params.extend(params.map(|(key, number)| (key.into(), number.into())));
    }),
];

#[test]
fn messages_return_to_the_byte_after_every_lossless_encoding() {
    let mut tried = 0;
    for (name, _) in expected().into_iter().filter(|(name, expected)| expected["fields"].is_array() && has_codec(name))
    {
        for message in messages(&sample(&name)) {
            let made = converted(&message);
            for (stages, change) in LOSSLESS {
                let again = encoded_anew(&made, change).unwrap_or_else(|error| panic!("{name}, {stages}: {error}"));
                let returned = back(&again).unwrap_or_else(|error| panic!("{name}, {stages}: {error}"));
                assert!(returned == message, "{name}, {stages}");
                tried += 1;
            }
        }
    }
    assert!(tried > 250, "{tried}");
}

#[test]
fn values_that_section_5_cannot_express_are_refused() {
    for name in ["simple-12", "ccsds-12", "bitmap-ccsds-16", "complex", "groups-1"] {
        for by in [1.0 + f64::EPSILON, 2.0] {
            let edited = encoded_with(&converted(&sample(name)), |descriptor, values| {
                without_packing(descriptor);
                let value = values.first_chunk_mut().unwrap();
                *value = (f64::from_le_bytes(*value) * by).to_le_bytes();
            });
            let error = back(&edited.unwrap()).unwrap_err().to_string();
            assert!(error.contains("GRIB section 5 cannot give its values"), "{name}: {error}");
        }
    }
    let narrow = encoded_anew(&converted(&sample("simple-12")), |descriptor| {
        descriptor.params.insert("sp_decimal_scale_factor".into(), 3.into());
    });
    let error = back(&narrow.unwrap()).unwrap_err().to_string();
    assert!(error.contains("GRIB section 5 cannot give its values"), "{error}");
}

/// Bits that the format does not keep: what follows the values, and spare bits. The message still returns.
#[test]
fn bytes_that_mean_nothing_return_too() {
    // The last byte of the data of 496 integers of 11 bits is full; 12-bit CCSDS ends with spare bits.
    for name in ["bitmap-simple-11", "ccsds-12", "simple-12", "bitmap-full"] {
        let mut message = sample(name);
        let end = message.len() - 4;
        message[end - 1] ^= 1;
        let Ok(made) = to_tensogram(&message, &GribOptions::default()) else { continue };
        assert!(back(&made.message).unwrap() == message, "{name}");
    }
    // Two bytes behind the values.
    let mut message = sample("simple-12");
    let end = message.len() - 4;
    message.splice(end..end, [1, 2]);
    let length = (message.len() as u64).to_be_bytes();
    message[8..16].copy_from_slice(&length);
    let data = end - 744 - 5;
    let length = u32::from_be_bytes(*message[data..].first_chunk().unwrap()) + 2;
    message[data..data + 4].copy_from_slice(&length.to_be_bytes());
    assert!(back(&converted(&message)).unwrap() == message);
}

/// Limits that keep damaged lengths cheap.
fn small() -> GribOptions {
    let limits = DecodeLimits { free_bytes: 1 << 20, max_decoded_bytes: 1 << 24, ..DecodeLimits::default() };
    GribOptions { limits, ..GribOptions::default() }
}

#[test]
fn every_beginning_of_a_message_is_an_error() {
    for name in ["simple-8", "bitmap-ccsds-12", "fields-bitmap"] {
        let message = sample(name);
        for len in 0..message.len() {
            assert!(to_tensogram(&message[..len], &small()).is_err(), "{name} {len}");
        }
    }
}

/// Whatever a damaged message says, what is accepted returns to the byte.
#[test]
fn every_changed_byte_is_an_error_or_returns() {
    let (mut accepted, mut all) = (0, 0);
    for (name, _) in expected().iter().filter(|(name, _)| name != "refused-edition-1" && has_codec(name)) {
        for message in messages(&sample(name)).iter().filter(|message| message.len() < 1500) {
            for at in 0..message.len() {
                for flip in [1, 0x80, 0xff] {
                    let mut damaged = message.clone();
                    damaged[at] ^= flip;
                    all += 1;
                    let Ok(made) = to_tensogram(&damaged, &small()) else { continue };
                    let restored = back(&made.message).unwrap_or_else(|error| panic!("{name} {at} {flip}: {error}"));
                    assert!(restored == damaged, "{name} {at} {flip}");
                    accepted += 1;
                }
            }
        }
    }
    assert!(accepted * 2 > all, "{accepted} of {all}");
}

#[test]
fn a_stream_that_ends_early_is_an_error_with_the_byte_where_it_does() {
    let mut bytes = sample("ccsds-12");
    let start = {
        let (message, _) = tgm_convert::grib2::Message::parse(&bytes).unwrap();
        message.sections().map(Result::unwrap).find(|section| section.number() == 7).unwrap().offset()
    };
    // Half of the data of section 7.
    let length = (bytes.len() - 4 - start) / 2;
    bytes.truncate(start + length);
    bytes[start..start + 4].copy_from_slice(&u32::try_from(length).unwrap().to_be_bytes());
    let message = framed([bytes, b"7777".to_vec()].concat());
    let error = to_tensogram(&message, &GribOptions::default()).unwrap_err();
    let cause = error.cause().unwrap();
    assert!(matches!(error, TensogramError::Encoding(_)) && error.to_string().contains("CCSDS data"), "{error}");
    let place = usize::try_from(cause.offset()).unwrap();
    assert!((start + 5..=start + length).contains(&place), "{cause} of {start}");
}

#[test]
fn an_error_keeps_its_kind_and_its_byte() {
    let mut bytes = sample("ccsds-12");
    bytes[7] = 1;
    let error = to_tensogram(&bytes, &GribOptions::default()).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().downcast_ref::<GribError>().unwrap();
    assert_eq!(cause.kind(), GribErrorKind::Edition(1));
    assert_eq!(error.offset(), Some(cause.offset()));
    assert!(matches!(error, TensogramError::Encoding(_)), "{error}");
    // A place in front of the text leaves both as they are.
    assert_eq!(error.within("message 3").offset(), Some(7));
}

/// A change of some bytes of a message, at places in proportion to its length.
#[derive(Clone, Debug)]
enum Change {
    Set(f64, u8),
    Number(f64, u32),
    Remove(f64, usize),
    Repeat(f64, f64, usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "a place within the bytes"
        )]
        let place = |share: f64| (share * bytes.len() as f64) as usize;
        match *self {
            Self::Set(at, byte) => {
                let at = place(at);
                bytes[at] = byte;
            }
            Self::Number(at, number) => {
                let at = place(at);
                bytes[at..].iter_mut().zip(number.to_be_bytes()).for_each(|(to, from)| *to = from);
            }
            Self::Remove(at, len) => {
                let at = place(at);
                let end = (at + len).min(bytes.len() - 1);
                bytes.drain(at.min(end)..end);
            }
            Self::Repeat(from, to, len) => {
                let (from, to) = (place(from), place(to));
                let copy = bytes[from..(from + len).min(bytes.len())].to_vec();
                bytes.splice(to..to, copy);
            }
        }
    }
}

fn change() -> impl Strategy<Value = Change> {
    // Numbers that lengths and counts are damaged to.
    let number = prop_oneof![0..40_u32, Just(u32::MAX), Just(u32::MAX / 2), Just(1 << 16), any::<u32>()];
    prop_oneof![
        (0.0..1.0, any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (0.0..1.0, number).prop_map(|(at, number)| Change::Number(at, number)),
        (0.0..1.0, 1..200_usize).prop_map(|(at, len)| Change::Remove(at, len)),
        (0.0..1.0, 0.0..1.0, 1..200_usize).prop_map(|(from, to, len)| Change::Repeat(from, to, len)),
    ]
}

/// The bytes as a message: with its magic, edition, length and end.
fn framed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().max(20), 0);
    let (length, end) = ((bytes.len() as u64).to_be_bytes(), bytes.len() - 4);
    bytes[..4].copy_from_slice(b"GRIB");
    bytes[7] = 2;
    bytes[8..16].copy_from_slice(&length);
    bytes[end..].copy_from_slice(b"7777");
    bytes
}

const MUTATED: [&str; 7] =
    ["simple-12", "ccsds-12", "ccsds-16", "bitmap-ccsds-12", "bitmap-constant", "ieee-64-bitmap", "fields-bitmap"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_message_of_several_changes_is_an_error_or_returns(
        name in 0..MUTATED.len(), changes in prop::collection::vec(change(), 1..4), is_framed in any::<bool>(),
    ) {
        let mut message = sample(MUTATED[name]);
        for change in &changes {
            change.apply(&mut message);
        }
        let message = if is_framed { framed(message) } else { message };
        let (mut reader, mut end) = (MessageReader::new(&message[..]), 0);
        while let Some(found) = reader.read_next().unwrap() {
            let (offset, length) = match found {
                Found::Message { offset, bytes } => {
                    if let Ok(made) = to_tensogram(bytes, &small()) {
                        prop_assert!(back(&made.message).unwrap() == bytes);
                    }
                    (offset, bytes.len() as u64)
                }
                Found::Other { offset, length, .. } => (offset, length),
                other => panic!("{other:?}"),
            };
            prop_assert_eq!(offset, end);
            end += length;
        }
        prop_assert_eq!(end, message.len() as u64);
    }

    #[test]
    fn a_changed_tensogram_message_is_an_error_or_a_grib_message(
        name in 0..MUTATED.len(), changes in prop::collection::vec(change(), 1..3),
    ) {
        let mut message = converted(&sample(MUTATED[name]));
        for change in &changes {
            change.apply(&mut message);
        }
        let options = DecodeOptions { limits: small().limits, ..DecodeOptions::default() };
        if let Ok(restored) = from_tensogram(&message, &options) {
            prop_assert!(to_tensogram(&restored.message, &small()).is_ok());
        }
    }
}

/// A field that takes the bitmap of an earlier one may have another grid, with fewer points or with more.
#[test]
fn a_bitmap_serves_grids_of_other_sizes() {
    let original = sample("fields-bitmap");
    // The sections of each field: 3 to 7 of the first, then 4 to 7 of the others.
    let mut sections: Vec<Vec<u8>> = Vec::new();
    let mut at = 16;
    while at + 4 < original.len() {
        let length = u32::from_be_bytes(*original[at..].first_chunk().unwrap()) as usize;
        sections.push(original[at..at + length].to_vec());
        at += length;
    }
    let number = |wanted: u8| sections.iter().find(|section| section[4] == wanted).unwrap().clone();
    for points in [7_u32, 8, 9, 16, 17, 30] {
        let body = |points: u32, bitmap: &[u8], values: u32| {
            let (mut grid, mut representation) = (number(3), number(5));
            grid[6..10].copy_from_slice(&points.to_be_bytes());
            representation[5..9].copy_from_slice(&values.to_be_bytes());
            // Integers of 6 bits.
            let data = vec![0x5a; (values as usize * 6).div_ceil(8)];
            let section = |number: u8, content: &[u8]| {
                let length = u32::try_from(5 + content.len()).unwrap().to_be_bytes();
                [&length[..], &[number], content].concat()
            };
            [grid, number(4), representation, section(6, bitmap), section(7, &data)].concat()
        };
        let bits = [0_u8, 0b1010_1010, 0b1100_1100, 0xf0, 0x0f];
        let has_value = |i: u32| bits[1 + i as usize / 8] << (i % 8) & 0x80 != 0;
        let ones = |points: u32| (0..points).map(|i| u32::from(has_value(i))).sum();
        let fields = [body(15, &bits, ones(15)), body(points, &[254], ones(points))].concat();
        let message = framed([&original[..16], &number(1), &fields, b"7777"].concat());
        let made = to_tensogram(&message, &small()).unwrap().message;
        assert!(back(&made).unwrap() == message, "{points}");
    }
}

/// Latitudes and longitudes of the first, a middle and the last point, as ecCodes has them.
#[test]
fn coordinates_are_those_of_eccodes() {
    for (name, expected) in expected() {
        let Some(known) = expected["coordinates"].as_array().filter(|_| has_codec(&name)) else { continue };
        let made = converted(&messages(&sample(&name))[0]);
        let metadata = tgm_std::core::Message::parse(&made).unwrap().metadata().unwrap();
        let found = coordinates(&metadata, 0, &DecodeLimits::default()).unwrap().unwrap();
        assert_eq!(found.latitudes.len() as u64, expected["fields"][0]["points"], "{name}");
        for point in known {
            let at = usize::try_from(point["at"].as_u64().unwrap()).unwrap();
            let (latitude, longitude) = (found.latitudes[at], found.longitudes[at]);
            let around = (longitude - point["longitude"].as_f64().unwrap() + 180.0).rem_euclid(360.0) - 180.0;
            let difference = (latitude - point["latitude"].as_f64().unwrap()).abs().max(around.abs());
            // ecCodes rounds on the way from rotated points.
            let bound = if name == "ensemble-rotated" { 2e-5 } else { 1e-6 };
            assert!(difference < bound, "{name} {at}: {latitude} {longitude} {point}");
        }
    }
}

/// A field takes the grid of the field before it, if it has none of its own.
#[test]
fn later_fields_have_coordinates_too() {
    let made = converted(&sample("fields"));
    let metadata = tgm_std::core::Message::parse(&made).unwrap().metadata().unwrap();
    let of = |index: usize| coordinates(&metadata, index, &DecodeLimits::default()).unwrap();
    assert!(of(0).is_some() && of(1) == of(0) && of(2) == of(0) && of(3).is_none());
}

/// Whatever section 3 says, its coordinates are as many as its points, or an error, or unknown.
#[test]
fn every_changed_byte_of_a_grid_gives_all_points_or_none() {
    let mut found = 0;
    for name in ["reduced_gg_pl_32", "polar_stereographic", "lambert", "ensemble-rotated", "simple-1", "columns"] {
        let message = sample(name);
        let grid = 16 + 21;
        let length = u32::from_be_bytes(*message[grid..].first_chunk().unwrap()) as usize;
        for at in grid + 5..grid + length {
            for flip in [1, 0x80, 0xff] {
                let mut damaged = message.clone();
                damaged[at] ^= flip;
                let (parsed, _) = tgm_convert::grib2::Message::parse(&damaged).unwrap();
                let field = parsed.fields().next().unwrap().unwrap();
                let limits = DecodeLimits { free_bytes: 1 << 20, max_expansion: 1 << 10, ..DecodeLimits::default() };
                let Ok(Some(coordinates)) = field.coordinates(&limits) else { continue };
                assert_eq!(coordinates.latitudes.len() as u64, field.point_count().unwrap());
                assert_eq!(coordinates.longitudes.len(), coordinates.latitudes.len());
                found += 1;
            }
        }
    }
    assert!(found > 500, "{found}");
}

#[test]
fn archives_find_the_keys_of_eccodes() {
    let expected = fs::read_to_string(folder().join("keys.json")).unwrap();
    let Json::Array(expected) = serde_json::from_str(&expected).unwrap() else { panic!("keys.json is not a list") };
    let messages = messages(&sample("keys"));
    assert_eq!(messages.len(), expected.len());
    for (index, (message, expected)) in messages.iter().zip(expected).enumerate() {
        let metadata = decode_metadata(&converted(message)).unwrap();
        for (key, value) in expected.as_object().unwrap() {
            let map = if matches!(key.as_str(), "paramId" | "typeOfLevel") { "grib" } else { "mars" };
            let found = metadata.get(&format!("{map}.{key}"));
            let is_equal = found.is_some_and(|found| match (found.as_str(), found.as_f64()) {
                (Some(text), _) => value.as_str() == Some(text),
                (None, Some(number)) => {
                    let expected = value.as_f64().or_else(|| value.as_str()?.parse().ok());
                    expected == Some(number)
                }
                _ => false,
            });
            assert!(is_equal, "message {index}: {key} is {found:?}, and ecCodes says {value}");
        }
    }
}

/// Where a section of a message with one field begins.
fn section_at(message: &[u8], number: u8) -> usize {
    let mut at = 16;
    while message[at + 4] != number {
        at += u32::from_be_bytes(message[at..at + 4].try_into().unwrap()) as usize;
    }
    at
}

#[test]
fn a_bitmap_of_the_centre_is_not_needed_where_all_points_have_a_value() {
    for name in ["simple-8", "ccsds-12", "complex-differences", "ieee-32"] {
        let plain = sample(name);
        let mut named = plain.clone();
        let at = section_at(&named, 6);
        named[at + 5] = 7;
        let made = to_tensogram(&named, &GribOptions::default()).unwrap();
        assert!(matches!(made.notes[..], [Note::PredefinedBitmap { field: 0, code: 7 }]), "{name}: {:?}", made.notes);
        let payload =
            |message: &[u8]| tgm_std::core::Message::parse(message).unwrap().object(0).unwrap().payload().to_vec();
        assert!(payload(&made.message) == payload(&converted(&plain)), "{name}");
        assert!(back(&made.message).unwrap() == named, "{name}");
        // Fewer values, and the message does not say where they are.
        let at = section_at(&named, 5);
        named[at + 8] -= 1;
        let error = to_tensogram(&named, &GribOptions::default()).unwrap_err().to_string();
        assert!(error.contains("bitmap 7 is predefined by its centre"), "{error}");
    }
}

#[test]
fn section_5_may_count_points_without_a_value() {
    for name in
        ["bitmap-simple-11", "bitmap-ccsds-16", "bitmap-complex", "bitmap-complex-differences", "ieee-64-bitmap"]
    {
        let plain = sample(name);
        let (mut all, at) = (plain.clone(), section_at(&plain, 5));
        all[at + 5..at + 9].copy_from_slice(&496_u32.to_be_bytes());
        let object = |message: &[u8]| decode(message, &DecodeOptions::default()).unwrap().1[0].1.clone();
        assert!(object(&converted(&all)) == object(&converted(&plain)), "{name}");
        assert!(back(&converted(&all)).unwrap() == all, "{name}");
    }
}

#[test]
fn a_damaged_stream_is_copied_unless_streams_are_checked() {
    for name in ["ccsds-8", "ccsds-16"] {
        let mut message = sample(name);
        let (at, end) = (section_at(&message, 7), message.len() - 4);
        // A shorter section, whose stream ends early.
        message.drain(end - 40..end);
        let length = u32::from_be_bytes(message[at..at + 4].try_into().unwrap()) - 40;
        message[at..at + 4].copy_from_slice(&length.to_be_bytes());
        let length = message.len() as u64;
        message[8..16].copy_from_slice(&length.to_be_bytes());
        assert!(back(&converted(&message)).unwrap() == message, "{name}");
        let options = GribOptions { check_streams: true, ..GribOptions::default() };
        let error = to_tensogram(&message, &options).unwrap_err().to_string();
        assert!(error.contains("GRIB section 7, CCSDS data"), "{error}");
        assert!(to_tensogram(&sample(name), &options).is_ok(), "{name}");
    }
}
