//! The way back: every message returns to the byte, and what was edited is refused.

use ciborium::Value;
use tgm_convert::grib2::{GribKeys, GribOptions, from_tensogram, to_tensogram};
use tgm_std::deps::ciborium;
use tgm_std::encode::{Part, encode_parts};
use tgm_std::{DecodeOptions, EncodeOptions, GlobalMetadata, TensogramError, decode};

use super::{back, converted, expected, framed, has_codec, messages, sample, section_at};

/// Sections lie in metadata, data in payloads: a changed bit of either is reported, if that is asked for.
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

fn entries<'m>(metadata: &'m mut GlobalMetadata, index: usize, map: &str) -> &'m mut Vec<(Value, Value)> {
    let Some(Value::Map(entries)) = metadata.base[index].get_mut(map) else { panic!("no {map}") };
    entries
}

fn set(metadata: &mut GlobalMetadata, map: &str, key: &str, value: Value) {
    let entry = entries(metadata, 0, map).iter_mut().find(|(name, _)| name.as_text() == Some(key)).unwrap();
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
    let keys = edited(
        "fields",
        |metadata| {
            entries(metadata, 0, "grib").retain(|(key, _)| key.as_text() != Some("discipline"));
            entries(metadata, 0, "grib").push(("mine".into(), 1.into()));
            entries(metadata, 1, "mars").push(("number".into(), 3.into()));
        },
        all,
    );
    let restored = from_tensogram(&keys, &DecodeOptions::default()).unwrap();
    assert!(restored.message == sample("fields"));
    let expected = ["base.0.grib.mine", "base.0.grib.discipline (deleted)", "base.1.mars.number"];
    assert_eq!(restored.not_kept, expected);
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

/// ecCodes writes small fields as one group, whose reference has no bits.
#[test]
fn one_group_returns_after_every_lossless_encoding() {
    let simple = sample("simple-12");
    let (section, data) = (section_at(&simple, 5), section_at(&simple, 6));
    let count = &simple[section + 5..section + 9];
    let mut complex = vec![0, 0, 0, 47, 5];
    complex.extend_from_slice(count);
    complex.extend_from_slice(&[0, 2]);
    complex.extend_from_slice(&simple[section + 11..section + 19]);
    // No bits of a reference, general groups, no missing values, one group of 12 bits that is as long as the field.
    complex.extend_from_slice(&[0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 12, 0]);
    complex.extend_from_slice(count);
    complex.push(1);
    complex.extend_from_slice(count);
    complex.push(0);
    let message = framed([&simple[..section], &complex, &simple[data..]].concat());
    let values = |message: &[u8]| decode(message, &DecodeOptions::default()).unwrap().1.remove(0).1;
    let made = converted(&message);
    assert!(values(&made) == values(&converted(&simple)));
    for (stages, change) in LOSSLESS {
        let returned = back(&encoded_anew(&made, change).unwrap()).unwrap_or_else(|error| panic!("{stages}: {error}"));
        assert!(returned == message, "{stages}");
    }
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
    // Two bytes after the values.
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

/// Keys that stand in the sections too can be left out: messages are smaller, say the same under the keys that they have, and return to
/// the byte.
#[test]
fn fields_with_few_keys_return_to_the_byte() {
    let is_read = |(name, expected): &&(String, serde_json::Value)| expected["fields"].is_array() && has_codec(name);
    for (name, _) in expected().iter().filter(is_read) {
        for message in messages(&sample(name)) {
            let all = to_tensogram(&message, &GribOptions::default()).unwrap();
            let few = GribOptions { keys: GribKeys::Few, ..GribOptions::default() };
            let few = to_tensogram(&message, &few).unwrap().message;
            // Edition 1 has fewer numbers.
            let least = if name.starts_with("edition-1") { 0 } else { 300 };
            assert!(few.len() + least <= all.message.len(), "{name}: {} {}", few.len(), all.message.len());
            let restored = from_tensogram(&few, &DecodeOptions::default()).unwrap();
            assert!(restored.message == message && restored.not_kept.is_empty(), "{name}: {:?}", restored.not_kept);
            let base = |message: &[u8]| tgm_std::decode_descriptors(message).unwrap().0.base;
            for (few, all) in base(&few).iter().zip(base(&all.message)) {
                assert_eq!(few["mars"], all["mars"], "{name}");
                let all = all["grib"].as_map().unwrap();
                assert!(few["grib"].as_map().unwrap().iter().all(|entry| all.contains(entry)), "{name}");
            }
        }
    }
}
