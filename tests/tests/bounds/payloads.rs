//! Hostile payloads for every codec: payloads with more or fewer values than the descriptor promises, damaged payloads,
//! and descriptors that promise more than the limits allow. Memory is counted.

use std::cell::RefCell;

use ciborium::Value;
use tgm_core::Message;
use tgm_core::descriptor::ZfpMode;
use tgm_std::codec::ErrorBound;
use tgm_std::{
    DataObjectDescriptor, DecodeLimits, DecodeOptions, MessageBuilder, ObjectBuilder, Scratch, decode, decode_range,
    read,
};
use tgm_tests::alloc::measure;
use tgm_tests::builder::{self, Object};
use tgm_tests::{Rng, cases};

/// The most memory that decoding may take beside the values: states of codecs, whose size does not depend on the
/// message.
const STATES: u64 = 4 << 20;
/// The number of values in a payload whose descriptor promises far fewer.
const MANY: usize = 1 << 20;
/// The number of damaged payloads for each codec.
const DAMAGED: u32 = 400;

type Compress = fn(ObjectBuilder<'_>) -> ObjectBuilder<'_>;

/// Every codec that the default features can encode, and how it is asked for.
const CODECS: &[(&str, Compress)] = &[
    ("zstd", |object| object.zstd(3)),
    ("lz4", |object| object.lz4()),
    ("szip", |object| object.shuffle().szip()),
    ("szip of packed values", |object| object.simple_packing(16).szip()),
    ("packed", |object| object.simple_packing(13)),
    ("zfp at a rate", |object| object.zfp(ZfpMode::FixedRate(8.0))),
    ("zfp within a tolerance", |object| object.zfp(ZfpMode::FixedAccuracy(1e-3))),
    ("sz3", |object| object.sz3(ErrorBound::Absolute(0.0))),
    ("zstd of shuffled", |object| object.shuffle().zstd(1)),
];
const BITMASK_CODECS: &[(&str, Compress)] = &[
    ("rle", |object| object.rle()),
    ("roaring", |object| object.roaring()),
    ("zstd of bits", |object| object.zstd(1)),
    ("lz4 of bits", |object| object.lz4()),
];

/// An object's descriptor and payload.
struct Encoded {
    name: &'static str,
    descriptor: DataObjectDescriptor,
    payload: Vec<u8>,
}

/// `count` values, encoded by every codec.
fn encoded(count: usize) -> Vec<Encoded> {
    // Smooth, with long runs: what compresses best.
    let values: Vec<f64> = (0..count).map(|i| f64::from(u32::try_from(i / 1000).unwrap()).sin()).collect();
    let bits = vec![0xF0; count.div_ceil(8)];
    let shape = [count as u64];
    let of_values =
        CODECS.iter().map(|(name, compress)| (*name, compress(ObjectBuilder::new(&shape, &values).unwrap())));
    let of_bits =
        BITMASK_CODECS.iter().map(|(name, compress)| (*name, compress(ObjectBuilder::bitmask(&shape, &bits))));
    let encode = |(name, object): (&'static str, ObjectBuilder<'_>)| {
        let bytes = MessageBuilder::new().object(object).encode().unwrap();
        let payload = Message::parse(&bytes).unwrap().object(0).unwrap().payload().to_vec();
        let (_, descriptors) = tgm_std::decode_descriptors(&bytes).unwrap();
        Encoded { name, descriptor: descriptors.into_iter().next().unwrap(), payload }
    };
    of_values.chain(of_bits).map(encode).collect()
}

/// A message whose descriptor promises `count` values, whatever the payload holds.
fn message(encoded: &Encoded, count: u64, payload: &[u8]) -> Vec<u8> {
    let descriptor = &encoded.descriptor;
    let mut object = Object::plain(descriptor.dtype.name(), &[count], payload)
        .set("encoding", descriptor.encoding.as_str())
        .set("filter", descriptor.filter.as_str())
        .set("compression", descriptor.compression.as_str());
    for (key, value) in descriptor.params.iter().filter(|(key, _)| *key != "szip_block_offsets") {
        object = object.set(key, value.clone());
    }
    builder::Message::buffered([object]).build().bytes
}

thread_local! {
    /// Shared by all payloads: what one hostile payload leaves behind must not affect the next.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Decodes the whole object and a range from its middle, both also into buffers; the results must agree. Returns the
/// length of the values and the peak of memory.
fn attempt(bytes: &[u8], count: u64, options: &DecodeOptions) -> (Option<usize>, u64) {
    let (whole, usage) = measure(|| decode(bytes, options).map(|(_, objects)| objects[0].1.len()));
    let (range, of_range) = measure(|| decode_range(bytes, 0, &[(count / 2, count / 4)], options));
    if let (Ok(_), Ok((descriptor, parts))) = (&whole, &range) {
        let expected = descriptor.dtype.byte_len(count / 4).unwrap();
        assert_eq!(parts[0].len() as u64, expected);
    }
    let peak = usage.peak.max(of_range.peak).max(attempt_into(bytes, count, options));
    (whole.ok(), peak)
}

/// Decodes the object and the range into buffers. Returns the peak of memory beside the buffers.
fn attempt_into(bytes: &[u8], count: u64, options: &DecodeOptions) -> u64 {
    let message = Message::parse(bytes).unwrap();
    let Ok(object) = message.object(0) else { return 0 };
    let buffer = |count| vec![0xa5; usize::try_from(object.descriptor().dtype().byte_len(count).unwrap()).unwrap()];
    let (mut whole, mut part) = (buffer(count), buffer(count / 4));
    let ranges = [(count / 2, count / 4)];
    SCRATCH.with_borrow_mut(|scratch| {
        let (done, usage) = measure(|| read(&object).options(options).scratch(scratch).bytes_into(&mut whole));
        assert_eq!(done.map(|()| whole).ok(), decode(bytes, options).ok().map(|(_, mut all)| all.remove(0).1));
        let (done, of_range) =
            measure(|| read(&object).ranges(&ranges).options(options).scratch(scratch).bytes_into(&mut part));
        let expected = decode_range(bytes, 0, &ranges, options).ok().map(|(_, mut parts)| parts.remove(0));
        assert_eq!(done.map(|()| part).ok(), expected);
        usage.peak.max(of_range.peak)
    })
}

#[test]
fn more_values_than_promised_are_an_error_and_take_no_memory() {
    for encoded in encoded(MANY) {
        // Packing and szip take bytes beyond the last value for padding.
        let pads = ["szip", "szip of packed values", "packed"].contains(&encoded.name);
        let bytes = message(&encoded, 16, &encoded.payload);
        let (found, peak) = attempt(&bytes, 16, &DecodeOptions::default());
        assert!(found.is_none() || pads, "{}: {found:?}", encoded.name);
        assert!(peak < STATES, "{}: {peak} bytes", encoded.name);
    }
}

#[test]
fn fewer_values_than_promised_are_an_error() {
    for encoded in encoded(1000) {
        // Far more than 1000: a run of zero blocks in szip may extend over 64 blocks, and values may end anywhere in
        // it.
        for count in [4000, 100_000] {
            let bytes = message(&encoded, count, &encoded.payload);
            let (found, peak) = attempt(&bytes, count, &DecodeOptions::default());
            assert!(found.is_none(), "{} of {count}: {found:?}", encoded.name);
            assert!(peak < 3 * 8 * count + STATES, "{} of {count}: {peak} bytes", encoded.name);
        }
    }
}

#[test]
fn a_descriptor_that_promises_more_than_the_limits_takes_no_memory() {
    let limits = DecodeLimits { max_expansion: 100, free_bytes: 1 << 20, ..DecodeLimits::default() };
    let options = DecodeOptions { limits, ..DecodeOptions::default() };
    for encoded in encoded(1000) {
        for count in [1 << 30, 1 << 40, 1 << 59] {
            let bytes = message(&encoded, count, &encoded.payload);
            let (found, usage) = measure(|| decode(&bytes, &options));
            assert!(found.is_err(), "{} of {count}", encoded.name);
            assert!(usage.peak < 64 << 10, "{} of {count}: {} bytes", encoded.name, usage.peak);
        }
    }
}

#[test]
fn damaged_payloads_give_values_or_an_error_in_the_memory_of_undamaged_ones() {
    let mut rng = Rng(5);
    for encoded in encoded(3000) {
        for _ in 0..cases(DAMAGED) {
            let mut payload = encoded.payload.clone();
            for _ in 0..=rng.below(3) {
                let at = usize::try_from(rng.below(payload.len() as u64)).unwrap();
                match rng.below(4) {
                    0 => payload.truncate(at),
                    1 => payload[at] = u8::try_from(rng.below(256)).unwrap(),
                    2 => payload[at] ^= 1 << rng.below(8),
                    _ => payload.splice(at..at, [0xFF; 3]).for_each(drop),
                }
                if payload.is_empty() {
                    break;
                }
            }
            let bytes = message(&encoded, 3000, &payload);
            let (found, peak) = attempt(&bytes, 3000, &DecodeOptions::default());
            let len = usize::try_from(encoded.descriptor.dtype.byte_len(3000).unwrap()).unwrap();
            assert!(found.is_none_or(|found| found == len), "{}: {found:?}", encoded.name);
            assert!(peak < 3 * 8 * 3000 + STATES, "{}: {peak} bytes", encoded.name);
        }
    }
}

#[test]
fn masks_of_any_method_must_fit_the_number_of_elements() {
    let bits = vec![true; 5000];
    for method in ["none", "rle", "roaring", "lz4", "zstd"] {
        let object = Object::plain("float64", &[5000], vec![0; 40_000]).masked("nan", method, &bits);
        let whole = builder::Message::buffered([object]).build().bytes;
        let (_, objects) = decode(&whole, &DecodeOptions::default()).unwrap();
        assert!(objects[0].1.as_chunks().0.iter().all(|value| f64::from_ne_bytes(*value).is_nan()));
        // The same blob, for an object of fewer and of more elements.
        for count in [8_u64, 9000] {
            let shape = builder::array([Value::from(count)]);
            let object = Object::plain("float64", &[count], vec![0; usize::try_from(8 * count).unwrap()])
                .masked("nan", method, &bits)
                .set("shape", shape);
            let bytes = builder::Message::buffered([object]).build().bytes;
            let (found, peak) = attempt(&bytes, count, &DecodeOptions::default());
            // A roaring bitmap lists the bits that are set, so it is valid for more elements: theirs are not set.
            let is_valid = method == "roaring" && count == 9000;
            assert_eq!(found.is_some(), is_valid, "{method} of {count}: {found:?}");
            assert!(peak < STATES, "{method} of {count}: {peak} bytes");
        }
    }
}
