//! Whole messages. The bytes do not depend on the way in which objects came to their places.

mod pre_encoded;

use super::*;
use crate::model::types::{ByteOrder, DataObjectDescriptor, GlobalMetadata};
use crate::{Dtype, decode_descriptors};

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
                    (vec![0; len], (0..len).map(|i| (i.wrapping_mul(i) >> 3) as u8).collect::<Vec<_>>());
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
    let table = crate::ObjectTable::new(&tgm_core::Message::parse(&message).unwrap()).unwrap();
    assert_eq!((table.len(), table.is_empty()), (1, false));
}
