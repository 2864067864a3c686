use tgm_core::Message;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_core::object::DataObject;

use super::*;
use crate::base::limits::DecodeLimits;
use crate::base::options::EncodeOptions;
use crate::encode::{MessageBuilder, ObjectBuilder};
use crate::model::types::DataObjectDescriptor;
use crate::read;

/// A message with one vector of numbers that all differ, each of as many bytes as `dtype` has.
fn stored(dtype: Dtype, count: u64) -> Vec<u8> {
    let width = dtype.byte_width();
    let data: Vec<u8> = (0..count).flat_map(|i| i.to_le_bytes()[..width].to_vec()).collect();
    message(ObjectBuilder::from_parts(DataObjectDescriptor::new(dtype, ByteOrder::Little, &[count]), data))
}

fn message(object: ObjectBuilder<'_>) -> Vec<u8> {
    let options = EncodeOptions { allow_nan: true, allow_inf: true, ..EncodeOptions::default() };
    MessageBuilder::new().object(object).options(options).encode().unwrap()
}

fn object(message: &[u8]) -> DataObject<'_> {
    Message::parse(message).unwrap().object(0).unwrap()
}

/// The parts of the payload that are fetched for ranges. `None` if all of the frame is.
fn parts(message: &[u8], ranges: &[(u64, u64)]) -> Option<Vec<Range<u64>>> {
    parts_with(message, ranges, &DecodeOptions::default())
}

fn parts_with(message: &[u8], ranges: &[(u64, u64)], options: &DecodeOptions) -> Option<Vec<Range<u64>>> {
    let object = object(message);
    let division = Division::new(object.descriptor(), object.payload().len() as u64, ranges, options).unwrap();
    division.map(|division| division.bytes().collect())
}

/// One part.
fn just(part: Range<u64>) -> Vec<Range<u64>> {
    vec![part]
}

#[test]
fn parts_are_the_groups_of_eight_values_that_ranges_touch() {
    let message = stored(Dtype::Uint16, 1001);
    let parts = |ranges: &[(u64, u64)]| parts(&message, ranges).unwrap();
    assert_eq!(parts(&[(3, 2)]), just(0..16));
    assert_eq!(parts(&[(9, 8)]), just(16..48));
    assert_eq!(parts(&[(999, 2)]), just(992 * 2..1001 * 2), "the last group ends with the payload");
    assert_eq!(parts(&[(5, 0), (900, 0)]), [], "an empty range needs nothing");
    assert_eq!(parts(&[(0, 8), (16, 8)]), [0..16, 32..48]);
    assert_eq!(parts(&[(0, 8), (8, 8)]), just(0..32), "neighbours are one part");
    assert_eq!(parts(&[(800, 1), (0, 20), (10, 4)]), [0..48, 1600..1616]);
}

#[test]
fn a_payload_of_which_most_is_wanted_is_read_whole() {
    let parts_of = |count, range| parts(&stored(Dtype::Uint8, count), &[range]);
    // 70 percent of 800 bytes are 560.
    assert_eq!(parts_of(800, (0, 552)), Some(just(0..552)));
    assert_eq!(parts_of(800, (0, 553)), None);
    assert_eq!(parts_of(100, (0, 1)), Some(just(0..8)));
    assert_eq!(parts_of(99, (0, 1)), None, "of so few bytes nothing is saved");
}

#[test]
fn a_payload_that_cannot_be_cut_is_read_whole() {
    let values: Vec<u32> = (0..1000).collect();
    let plain = || ObjectBuilder::new(&[1000], &values).unwrap();
    let wanted = [(0, 8)];
    assert!(parts(&message(plain()), &wanted).is_some());
    assert_eq!(parts(&message(plain().shuffle()), &wanted), None);
    #[cfg(feature = "zstd")]
    assert_eq!(parts(&message(plain().zstd(3)), &wanted), None);

    let whole = message(plain());
    let verifying = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
    assert_eq!(parts_with(&whole, &wanted, &verifying), None, "a digest is of the whole frame");
    let limits = DecodeLimits { max_decoded_bytes: 3999, ..DecodeLimits::default() };
    assert_eq!(parts_with(&whole, &wanted, &DecodeOptions { limits, ..DecodeOptions::default() }), None);
    let object = object(&whole);
    for len in [3999, 4001] {
        let division = Division::new(object.descriptor(), len, &wanted, &DecodeOptions::default()).unwrap();
        assert!(division.is_none(), "{len} bytes are not the length of the values");
    }
}

/// Fetches the parts, and compares the values with the values of the whole object.
fn check(message: &[u8], wanted: &[(u64, u64)], options: &DecodeOptions) {
    let object = object(message);
    let (payload, region) = (object.payload(), object.region());
    let division = Division::new(object.descriptor(), payload.len() as u64, wanted, options).unwrap().unwrap();
    let place = |range: Range<u64>| usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
    let fetched: Vec<Vec<u8>> = division.bytes().map(|range| payload[place(range)].to_vec()).collect();
    let blobs = &region[payload.len()..];
    let blobs_offset = object.region_offset() + payload.len() as u64;
    let found = division.decode(object.descriptor(), &fetched, (blobs, blobs_offset), wanted, options);
    assert_eq!(found.unwrap().unwrap().concat(), *read(&object).ranges(wanted).options(options).bytes().unwrap());
}

/// Ranges in any order, that overlap, touch each other, are empty, or end where a part does.
const WANTED: &[&[(u64, u64)]] = &[
    &[(3, 2)],
    &[(1900, 100), (40, 8), (44, 20), (0, 3)],
    &[(8, 8), (16, 0), (16, 1), (500, 0), (0, 1), (700, 64)],
    &[(1000, 1), (1000, 1), (990, 20)],
    &[],
];

#[test]
fn parts_hold_the_values_of_the_ranges_as_the_whole_payload_does() {
    let numbers: Vec<f64> = (0..2000).map(|i| f64::from(i * i % 977) / 7.0).collect();
    let plain = || ObjectBuilder::new(&[2000], &numbers).unwrap();
    let odd: Vec<u8> = (0..250_u8).map(|i| i.wrapping_mul(37)).collect();
    for message in [
        stored(Dtype::Uint16, 2000),
        message(plain()),
        message(plain().simple_packing(13)),
        message(plain().simple_packing(13).szip().parameter("szip_rsi", 2)),
        message(ObjectBuilder::bitmask(&[2000], &odd)),
    ] {
        for wanted in WANTED {
            check(&message, wanted, &DecodeOptions::default());
        }
    }
}

#[cfg(feature = "roaring")]
#[test]
fn masked_values_of_parts_are_restored_if_the_options_say_so() {
    let numbers: Vec<f64> = (0..2000)
        .map(|i| match i % 50 {
            2..5 => f64::NAN,
            44 => f64::INFINITY,
            _ => f64::from(i),
        })
        .collect();
    let message = message(ObjectBuilder::new(&[2000], &numbers).unwrap());
    assert!(!object(&message).descriptor().masks().is_empty());
    for wanted in WANTED {
        for restore_non_finite in [true, false] {
            check(&message, wanted, &DecodeOptions { restore_non_finite, ..DecodeOptions::default() });
        }
    }
}

/// What the decoder of ranges finds wrong in a part makes the caller read the frame, and no such bytes become values.
#[test]
fn a_part_whose_bytes_are_wrong_is_not_decoded() {
    let numbers: Vec<f64> = (0..2000).map(f64::from).collect();
    let message = message(ObjectBuilder::new(&[2000], &numbers).unwrap());
    let (object, wanted, options) = (object(&message), [(8, 16)], DecodeOptions::default());
    let (view, payload) = (object.descriptor(), object.payload());
    let division = Division::new(view, payload.len() as u64, &wanted, &options).unwrap().unwrap();
    let decode = |bytes: &[u8]| division.decode(view, &[bytes.to_vec()], (&[], 0), &wanted, &options).unwrap();
    let values = decode(&payload[64..192]).unwrap().concat();
    assert_eq!(values, *read(&object).ranges(&wanted).options(&options).bytes().unwrap());
    assert!(decode(&payload[64..191]).is_none(), "a byte is missing");
    assert!(decode(&payload[64..193]).is_none(), "there is a byte more");
}
