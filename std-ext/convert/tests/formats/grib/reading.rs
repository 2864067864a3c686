//! Values and forms of all packings, as ecCodes has them.

use ciborium::Value;
use tgm_convert::grib2::{GribOptions, Note, to_tensogram};
use tgm_std::deps::ciborium;
use tgm_std::{DecodeOptions, decode, decode_metadata};

use super::{back, converted, expected, framed, has_codec, messages, sample, section_at, sha, small};

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

#[test]
fn what_cannot_be_read_is_kept_without_values_and_returns() {
    let mut unread = 0;
    for (name, expected) in expected() {
        let Some(text) = expected["unread"].as_str() else { continue };
        let made = to_tensogram(&sample(&name), &GribOptions::default()).unwrap();
        let [note @ Note::Unread { field: 0, .. }] = made.notes.as_slice() else { panic!("{name}: {:?}", made.notes) };
        assert!(note.to_string().contains(text), "{name}: {note}");
        let grib = grib_of(&made.message);
        let (_, word) = grib.iter().find(|(key, _)| key.as_text() == Some("unread")).unwrap();
        assert!(word.as_text().unwrap().contains(text), "{name}");
        let (_, values) = decode(&made.message, &DecodeOptions::default()).unwrap().1.remove(0);
        assert!(values.as_chunks().0.iter().all(|bytes| f64::from_ne_bytes(*bytes).is_nan()), "{name}");
        assert!(back(&made.message).unwrap() == sample(&name), "{name}");
        unread += 1;
    }
    assert!(unread > 0);
}

#[test]
fn what_is_no_message_or_has_no_codec_is_refused_by_name() {
    let edition_3 = [&b"GRIB\0\0\0\x03"[..], &[0; 12]].concat();
    let error = to_tensogram(&edition_3, &GribOptions::default()).unwrap_err().to_string();
    assert!(
        error.contains("GRIB edition 3 is not supported: only 1 and 2 are") && error.contains("at byte 7"),
        "{error}"
    );
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
        let options = GribOptions { keep_stages: true, ..GribOptions::default() };
        let made = to_tensogram(&sample(name), &options).unwrap().message;
        let object = tgm_std::core::Message::parse(&made).unwrap().object(0).unwrap();
        assert_eq!(tgm_std::decode_descriptors(&made).unwrap().1[0].compression, compression);
        assert!(object.payload() == data(name), "{name}");
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

/// Whatever its width and its edition, a smooth field becomes shorter, and noise stays as it is.
#[test]
fn simple_packing_becomes_a_stream_where_that_is_shorter() {
    let kept = GribOptions { keep_stages: true, ..GribOptions::default() };
    let mut shorter = 0;
    for name in
        ["simple-1", "simple-8", "simple-12", "simple-16", "simple-24", "simple-32", "edition-1-reduced", "constant"]
    {
        let message = sample(name);
        let whole = to_tensogram(&message, &kept).unwrap().message;
        let made = converted(&message);
        assert!(made.len() <= whole.len(), "{name}: {} {}", made.len(), whole.len());
        shorter += usize::from(made.len() < whole.len());
        assert!(back(&made).unwrap() == message && back(&whole).unwrap() == message, "{name}");
        let values = |message: &[u8]| decode(message, &DecodeOptions::default()).unwrap().1.remove(0).1;
        assert!(values(&made) == values(&whole), "{name}");
    }
    assert!(shorter > 3, "{shorter}");
    // Numbers without order, in the place of the data.
    let mut noise = sample("simple-16");
    let (at, end) = (section_at(&noise, 7) + 5, noise.len() - 4);
    let mut state = 1_u32;
    noise[at..end].fill_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    });
    assert_eq!(converted(&noise).len(), to_tensogram(&noise, &kept).unwrap().message.len());
}

/// Without them, a part of a field is read by decoding all that lies before it, and the reference refuses to.
#[test]
fn streams_list_where_their_intervals_start() {
    let mut streams = 0;
    for (name, _) in expected() {
        if !name.starts_with("ccsds-") || !has_codec(&name) || first(&name).compression != "szip" {
            continue;
        }
        streams += 1;
        let made = converted(&sample(&name));
        let object = tgm_std::core::Message::parse(&made).unwrap().object(0).unwrap();
        let descriptor = object.descriptor();
        let count: u64 = descriptor.shape().iter().product();
        let params = tgm_core::szip::Params::of(descriptor).unwrap();
        let walked = tgm_core::szip::RsiOffsets::new(object.payload(), &params, count);
        let listed = descriptor.szip_block_offsets().unwrap().unwrap_or_else(|| panic!("{name}"));
        assert!(listed.iter().map(Ok).eq(walked), "{name}");
    }
    assert!(streams > 1, "{streams}");
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
fn a_decimal_scale_is_noted_with_a_bound() {
    let notes = to_tensogram(&sample("decimal-2"), &GribOptions::default()).unwrap().notes;
    let [Note::DecimalScale { field: 0, bound }] = notes[..] else { panic!("{notes:?}") };
    assert!((1e-15..1e-12).contains(&bound), "{bound}");
    assert!(to_tensogram(&sample("simple-12"), &GribOptions::default()).unwrap().notes.is_empty());
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
