//! Whole messages. The bytes do not depend on the way in which objects came to their places.

mod growing_message;
mod message_builder;
mod pre_encoded;
mod preset;
mod value_order;

use tgm_std::encode::*;
use tgm_std::{AggregateHashPolicy, ByteOrder, DataObjectDescriptor, EncodeOptions, GlobalMetadata, Provenance};
use tgm_std::{Dtype, decode_descriptors};

fn options() -> EncodeOptions {
    let provenance = Provenance {
        time: "2026-01-01T00:00:00Z".into(),
        uuid: "a".into(),
        encoder_name: "b".into(),
        encoder_version: "c".into(),
    };
    EncodeOptions { provenance: Some(provenance), ..EncodeOptions::default() }
}

fn bytes(len: usize, compression: &str) -> DataObjectDescriptor {
    let mut descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[len as u64]);
    descriptor.compression = compression.into();
    for (name, value) in [("szip_rsi", 128), ("szip_block_size", 8), ("szip_flags", 8)] {
        if compression == "szip" {
            descriptor.params.insert(name.into(), value.into());
        }
    }
    descriptor
}

/// The same message, made of its own regions. Their lengths are known from the beginning.
fn framed_again(message: &[u8], policy: AggregateHashPolicy) -> Vec<u8> {
    let (_, descriptors) = decode_descriptors(message).unwrap();
    let view = tgm_core::Message::parse(message).unwrap();
    let regions: Vec<_> = (0..descriptors.len()).map(|i| view.object(i).unwrap().region()).collect();
    let objects: Vec<_> = descriptors.iter().zip(regions).map(|(it, region)| Part::Region(it, region)).collect();
    let options = EncodeOptions { aggregate_hash: policy, ..options() };
    encode_parts(&GlobalMetadata::default(), &objects, &options).unwrap()
}

/// In CBOR, the objects' lengths take 1, 2, 3 and 5 bytes, and not the same before and after compression.
#[test]
fn objects_that_come_out_shorter_than_thought_are_moved_to_where_they_belong() {
    let mut message = Vec::new();
    for compression in ["none", "szip", "lz4", "zstd"] {
        if compression == "lz4" && !cfg!(feature = "lz4") || compression == "zstd" && !cfg!(feature = "zstd") {
            continue;
        }
        for len in [1, 20, 30, 200, 300, 5000, 65_000, 65_500, 66_000, 200_000] {
            for policy in [AggregateHashPolicy::Auto, AggregateHashPolicy::Both, AggregateHashPolicy::Footer] {
                let (zeros, noise) =
                    (vec![0; len], (0..len).map(|i| (i.wrapping_mul(i) >> 3).to_le_bytes()[0]).collect::<Vec<_>>());
                let descriptor = bytes(len, compression);
                let options = EncodeOptions { aggregate_hash: policy, ..options() };
                for objects in [&[&zeros][..], &[&noise], &[&zeros, &noise, &zeros]] {
                    let objects: Vec<_> = objects.iter().map(|data| (&descriptor, data.as_slice())).collect();
                    encode_into(&GlobalMetadata::default(), &objects, &options, &mut message).unwrap();
                    assert!(message == framed_again(&message, policy), "{compression} {len} {policy:?}");
                    let again = encode(&GlobalMetadata::default(), &objects, &options).unwrap();
                    assert!(message == again, "{compression} {len} {policy:?}");
                }
            }
        }
    }
}

#[test]
fn a_buffer_that_has_held_a_message_is_not_made_anew() {
    let (descriptor, values) = (bytes(100_000, "none"), vec![7; 100_000]);
    let mut message = Vec::new();
    let mut encode_again = || {
        encode_into(&GlobalMetadata::default(), &[(&descriptor, &values)], &options(), &mut message).unwrap();
        (message.as_ptr(), message.capacity(), message.len())
    };
    assert_eq!(encode_again(), encode_again());
}

#[test]
fn an_object_that_cannot_be_encoded_is_named() {
    // Three bytes are not a whole number of elements of two bytes.
    let (fine, mut odd) = (bytes(4, "none"), bytes(3, "szip"));
    odd.filter = "shuffle".into();
    odd.params.insert("shuffle_element_size".into(), 2.into());
    let parts = [Part::Values(&fine, &[1, 2, 3, 4], &options()), Part::Values(&odd, &[1, 2, 3], &options())];
    let error = encode_parts(&GlobalMetadata::default(), &parts, &options()).unwrap_err();
    assert_eq!(error.object_index, Some(1));
}

/// PIPELINE §5.6, §5.7: zfp and sz3 compress float64 numbers, and no stage can stand before them.
#[test]
fn codecs_of_numbers_take_nothing_else() {
    let zfp = |object: ObjectBuilder<'static>| {
        let object = object.zfp(tgm_core::descriptor::ZfpMode::FixedRate(16.0));
        MessageBuilder::new().object(object).encode().map(|_| ()).map_err(|error| error.to_string())
    };
    let doubles = || ObjectBuilder::new(&[4], &[1.0_f64, 2.0, 3.0, 4.0]).unwrap();
    assert_eq!(zfp(doubles()), Ok(()));
    let error = zfp(ObjectBuilder::new(&[2], &[1.0_f32, 2.0]).unwrap()).unwrap_err();
    assert!(error.contains("values are float32: only float64 can be compressed by it"), "{error}");
    for object in [doubles().simple_packing(16), doubles().shuffle()] {
        let error = zfp(object).unwrap_err();
        assert!(error.contains("none can stand before it"), "{error}");
    }
}

#[test]
fn a_stream_knows_how_many_bytes_and_objects_it_has() {
    let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options()).unwrap();
    let begun = encoder.bytes_written();
    encoder.write_object(&bytes(1000, "none"), &[7; 1000]).unwrap();
    let written = encoder.bytes_written();
    assert!(begun > 24 && written >= begun + 1000 && written.is_multiple_of(8), "{begun}, {written}");
    assert_eq!(encoder.object_count(), 1);
    let message = encoder.finish().unwrap();
    assert!(message.len() as u64 > written && message[usize::try_from(written).unwrap()..].starts_with(b"FR"));
    let table = tgm_std::ObjectTable::new(&tgm_core::Message::parse(&message).unwrap()).unwrap();
    assert_eq!((table.len(), table.is_empty()), (1, false));
}

#[test]
fn a_message_without_objects_has_no_lists_of_them() {
    for aggregate_hash in [AggregateHashPolicy::Both, AggregateHashPolicy::Header, AggregateHashPolicy::Footer] {
        let options = EncodeOptions { aggregate_hash, ..options() };
        let message = encode(&GlobalMetadata::default(), &[], &options).unwrap();
        let view = tgm_core::Message::parse(&message).unwrap();
        let outline = view.outline().unwrap();
        assert!(outline.hashes.is_none() && outline.index.is_none());
        assert!(!message.windows(4).any(|bytes| bytes == b"base"), "no list of metadata either");
    }
}

/// The body of the last metadata frame.
fn last_metadata(message: &[u8]) -> Vec<u8> {
    use tgm_core::wire::FrameType;
    let view = tgm_core::Message::parse(message).unwrap();
    let is_metadata = |frame: &tgm_core::frame::Frame<'_>| {
        matches!(frame.frame_type(), FrameType::HeaderMetadata | FrameType::FooterMetadata)
    };
    view.frames().map(|frame| frame.unwrap()).filter(is_metadata).last().unwrap().body().to_vec()
}

#[test]
fn metadata_is_canonical_wherever_its_keys_belong() {
    // Before and after `_reserved_`, which every object's metadata has.
    let keys = ["z", "a", "longer than reserved", "longer than_reserved", "_reserved"];
    let entry = keys.iter().map(|key| ((*key).to_owned(), ciborium::Value::from(1))).collect();
    let metadata = GlobalMetadata { base: vec![entry], ..GlobalMetadata::default() };
    let message = encode(&metadata, &[(&bytes(2, "none"), &[1, 2])], &options()).unwrap();
    let found = tgm_std::decode_metadata(&message).unwrap();
    assert_eq!(found.base[0].len(), keys.len() + 1);
    assert_eq!(tgm_std::metadata::global_metadata_to_cbor(&found).unwrap(), last_metadata(&message));
}

#[test]
fn what_a_preceder_says_stands_in_the_footer_once() {
    let entry = |value: i32| [("step".to_owned(), ciborium::Value::from(value))].into();
    let metadata = GlobalMetadata { base: vec![entry(1)], ..GlobalMetadata::default() };
    let mut encoder = StreamingEncoder::new(Vec::new(), &metadata, &options()).unwrap();
    encoder.write_preceder(entry(2)).unwrap();
    encoder.write_object(&bytes(2, "none"), &[1, 2]).unwrap();
    let footer = last_metadata(&encoder.finish().unwrap());
    assert_eq!(footer.windows(4).filter(|bytes| bytes == b"step").count(), 1);
    assert!(footer.windows(5).any(|bytes| bytes == b"step\x02"));
}

/// The last object's values, masked ones as zeros.
#[cfg(feature = "roaring")]
fn unrestored(message: &[u8]) -> Vec<u8> {
    let options = tgm_std::DecodeOptions { restore_non_finite: false, ..tgm_std::DecodeOptions::default() };
    tgm_std::decode(message, &options).unwrap().1.pop().unwrap().1
}

#[cfg(feature = "roaring")]
#[test]
fn masked_values_are_zeros_behind_every_pipeline_wherever_they_are() {
    type Change = fn(ObjectBuilder<'_>) -> ObjectBuilder<'_>;
    let pipelines: [Change; 4] = [
        |object| object,
        |object| object.shuffle(),
        |object| object.simple_packing_of_finite(16, 0).unwrap(),
        |object| object.szip().parameter("szip_rsi", 2).simple_packing_of_finite(24, 0).unwrap(),
    ];
    // In masks of 4 KiB: one element, two whose bits lie alike in two bytes, many, all.
    let places: [&[usize]; 5] = [&[0], &[1999], &[520, 528], &[3, 511, 512, 1023, 1024, 1500], &[]];
    for (number, change) in pipelines.into_iter().enumerate() {
        for places in places {
            let mut values: Vec<f64> = (0..2000).map(|i| f64::from(i) - 1000.0).collect();
            let is_masked = |at: usize| places.contains(&at) || places.is_empty() && !at.is_multiple_of(3);
            (0..2000).filter(|at| is_masked(*at)).for_each(|at| values[at] = f64::NAN);
            let message =
                MessageBuilder::new().object(change(ObjectBuilder::new(&[2000], &values).unwrap())).allow_nan();
            let message = message.encode().unwrap();
            (0..2000).filter(|at| is_masked(*at)).for_each(|at| values[at] = 0.0);
            let zeros = MessageBuilder::new().object(change(ObjectBuilder::new(&[2000], &values).unwrap()));
            assert!(unrestored(&message) == unrestored(&zeros.encode().unwrap()), "pipeline {number}, {places:?}");
        }
    }
}

#[test]
fn a_streamed_message_says_in_front_what_its_footer_has() {
    use tgm_core::wire::MessageFlags;
    let policies = [AggregateHashPolicy::Auto, AggregateHashPolicy::Footer, AggregateHashPolicy::None];
    for (policy, hashing) in policies.into_iter().flat_map(|policy| [(policy, true), (policy, false)]) {
        for count in [0, 1, 2] {
            let options = EncodeOptions { aggregate_hash: policy, hashing, ..options() };
            let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options).unwrap();
            for index in 0..count {
                assert_eq!(encoder.object_count(), index);
                encoder.write_object(&bytes(2, "none"), &[1, 2]).unwrap();
            }
            assert_eq!(encoder.object_count(), count);
            let message = encoder.finish().unwrap();
            let view = tgm_core::Message::parse(&message).unwrap();
            let lists = hashing && policy != AggregateHashPolicy::None;
            assert_eq!(view.outline().unwrap().hashes.is_some(), lists && count > 0, "{policy:?} {hashing} {count}");
            let mut flags = MessageFlags::new(
                MessageFlags::HEADER_METADATA
                    + MessageFlags::FOOTER_METADATA
                    + MessageFlags::FOOTER_INDEX
                    + MessageFlags::PRECEDER_METADATA,
            );
            if hashing {
                flags.set(MessageFlags::HASHES_PRESENT);
            }
            if lists {
                flags.set(MessageFlags::FOOTER_HASHES);
            }
            assert_eq!(u16::from_be_bytes([message[10], message[11]]), flags.bits(), "{policy:?} {hashing} {count}");
        }
    }
}

#[test]
fn an_encoder_that_is_reset_writes_the_messages_of_new_ones() {
    use std::io::Cursor;
    type Encoder = StreamingEncoder<Cursor<Vec<u8>>>;
    type Reset = fn(&mut Encoder) -> Vec<u8>;
    type Finish = fn(Encoder) -> Vec<u8>;
    let encoder = || Encoder::new(Cursor::new(Vec::new()), &GlobalMetadata::default(), &options()).unwrap();
    let ends: [(Reset, Finish); 2] = [
        (|encoder| encoder.finish_and_reset().unwrap(), |encoder| encoder.finish().unwrap().into_inner()),
        (
            |encoder| encoder.finish_and_reset_with_backfill().unwrap(),
            |encoder| encoder.finish_with_backfill().unwrap().into_inner(),
        ),
    ];
    for (reset, finish) in ends {
        let mut kept = encoder();
        for values in [&[1, 2][..], &[3, 4, 5]] {
            let (mut new, descriptor) = (encoder(), bytes(values.len(), "none"));
            new.write_object(&descriptor, values).unwrap();
            kept.write_object(&descriptor, values).unwrap();
            assert_eq!(reset(&mut kept), finish(new));
        }
    }
}

/// In every route, the error of an object says which one of its message it is.
#[test]
fn errors_name_the_object() {
    use std::io::Cursor;

    use tgm_std::{MessageBuilder, ObjectBuilder, StreamingEncoder, TensogramError};

    type Encoder = StreamingEncoder<Cursor<Vec<u8>>>;

    let (good, bad) = ([1.0_f64, 2.0], [1.0, f64::NAN]);
    let to_bytes = |values: [f64; 2]| values.map(f64::to_ne_bytes).concat();
    let (good_bytes, bad_bytes) = (to_bytes(good), to_bytes(bad));
    let descriptor = DataObjectDescriptor::new(Dtype::Float64, ByteOrder::native(), &[2]);
    let unknown = DataObjectDescriptor { compression: "nosuch".into(), ..descriptor.clone() };
    let (metadata, options) = (GlobalMetadata::default(), EncodeOptions::default());
    let threads = EncodeOptions { threads: 2, parallel_threshold_bytes: Some(0), ..options.clone() };
    let pairs: [(&_, &[u8]); 3] = [(&descriptor, &good_bytes), (&descriptor, &good_bytes), (&descriptor, &bad_bytes)];
    let regions: [(&_, &[u8]); 3] = [(&descriptor, &good_bytes), (&descriptor, &good_bytes), (&unknown, &good_bytes)];
    let builder = || {
        let objects = [&good, &good, &bad].map(|values| ObjectBuilder::new(&[2], values).unwrap());
        objects.into_iter().fold(MessageBuilder::new(), MessageBuilder::object)
    };
    let streamed = |last: &dyn Fn(&mut Encoder) -> Result<(), TensogramError>| {
        let mut encoder = StreamingEncoder::new(Cursor::new(Vec::new()), &metadata, &options).unwrap();
        encoder.write_object(&descriptor, &good_bytes).unwrap();
        encoder.write(ObjectBuilder::new(&[2], &good).unwrap()).unwrap();
        last(&mut encoder)
    };
    let parts: Vec<_> = pairs.iter().map(|(descriptor, data)| Part::Values(descriptor, data, &options)).collect();
    let grown = || -> Result<(), TensogramError> {
        let mut message = GrowingMessage::new(&options);
        message.add(&parts[..2])?;
        Ok(message.add(&parts[2..])?)
    };
    let routes: [(&str, Result<(), TensogramError>); 11] = [
        ("encode", encode(&metadata, &pairs, &options).map(drop)),
        ("encode, threads", encode(&metadata, &pairs, &threads).map(drop)),
        ("encode_into", encode_into(&metadata, &pairs, &options, &mut Vec::new())),
        ("encode_pre_encoded", encode_pre_encoded(&metadata, &regions, &options).map(drop)),
        ("encode_parts", encode_parts(&metadata, &parts, &options).map(drop).map_err(Into::into)),
        ("GrowingMessage", grown()),
        ("MessageBuilder::encode", builder().encode().map(drop)),
        ("MessageBuilder::stream_to", builder().stream_to(Vec::new()).map(drop)),
        ("write_object", streamed(&|encoder| encoder.write_object(&descriptor, &bad_bytes))),
        ("write", streamed(&|encoder| encoder.write(ObjectBuilder::new(&[2], &bad)?))),
        ("write_object_pre_encoded", streamed(&|encoder| encoder.write_object_pre_encoded(&unknown, &good_bytes))),
    ];
    for (route, result) in routes {
        let text = result.unwrap_err().to_string();
        assert!(text.matches("object 2: ").count() == 1, "{route}: {text}");
        // The kind still stands first: programs look for it.
        assert!(text.starts_with("encoding error: ") || text.starts_with("metadata error: "), "{route}: {text}");
    }
}
