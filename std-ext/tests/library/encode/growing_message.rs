//! Messages that take their objects bit by bit.

use tgm_std::encode::{AggregateHashPolicy, GrowingMessage, Part, Provenance, TakenObject, encode_parts, reframe};
use tgm_std::{ByteOrder, DataObjectDescriptor, Dtype, EncodeOptions, GlobalMetadata};

/// Few objects and many, without digests and with lists of them on both sides; too little room and too much.
#[test]
fn a_growing_message_is_the_message_that_is_encoded_at_once() {
    for (count, aggregate_hash) in [
        (0, AggregateHashPolicy::Auto),
        (1, AggregateHashPolicy::None),
        (3, AggregateHashPolicy::Both),
        (900, AggregateHashPolicy::Auto),
    ] {
        for (hashing, descriptor_first) in [(true, false), (false, false), (true, true)] {
            let provenance = Some(Provenance {
                time: "2024-01-01T00:00:00Z".into(),
                uuid: "01234567-89ab-4cde-8f01-23456789abcd".into(),
                encoder_name: "test".into(),
                encoder_version: "1".into(),
            });
            let options =
                EncodeOptions { hashing, aggregate_hash, descriptor_first, provenance, ..EncodeOptions::default() };
            let values: Vec<Vec<u8>> =
                (0..count).map(|index| vec![u8::try_from(index % 200).unwrap(); 8 * (index % 40)]).collect();
            let descriptors: Vec<_> = values
                .iter()
                .map(|values| {
                    let mut descriptor =
                        DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[values.len() as u64]);
                    let is_compressed = cfg!(feature = "lz4") && values.len() > 80;
                    descriptor.compression = if is_compressed { "lz4" } else { "none" }.to_string();
                    descriptor
                })
                .collect();
            let parts: Vec<_> = descriptors
                .iter()
                .zip(&values)
                .map(|(descriptor, values)| Part::Values(descriptor, values, &options))
                .collect();
            let metadata = GlobalMetadata::default();
            let expected = encode_parts(&metadata, &parts, &options).unwrap();
            let mut growing = GrowingMessage::new(&options);
            parts.chunks(7).for_each(|some| growing.add(some).unwrap());
            assert_eq!(growing.object_count(), count);
            assert!(growing.finish(&metadata).unwrap() == expected, "{count} {hashing} {descriptor_first}");

            let message = tgm_core::Message::parse(&expected).unwrap();
            let taken = || message.objects().map(|object| TakenObject::new(&object.unwrap()).unwrap());
            let mut growing = GrowingMessage::new(&options);
            taken().for_each(|object| growing.add_taken(object).unwrap());
            let expected = reframe(&metadata, taken().collect(), &options).unwrap();
            assert!(growing.finish(&metadata).unwrap() == expected, "{count} {hashing} {descriptor_first}");
        }
    }
}

#[test]
fn errors_have_the_number_of_the_object_in_the_message() {
    let options = EncodeOptions::default();
    let good = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::Little, &[1]);
    let mut growing = GrowingMessage::new(&options);
    growing.add(&[Part::Values(&good, &[1], &options); 2]).unwrap();
    let error = growing.add(&[Part::Values(&good, &[1], &options), Part::Values(&good, &[], &options)]).unwrap_err();
    assert_eq!(error.object_index, Some(3), "{error}");
}

#[test]
fn a_message_that_lacks_an_object_is_not_finished() {
    let options = EncodeOptions::default();
    let good = DataObjectDescriptor::new(Dtype::Float64, ByteOrder::Little, &[1]);
    let bytes = |value: f64| value.to_le_bytes();
    let mut packed = good.clone();
    packed.encoding = "simple_packing".into();
    for (name, descriptor, data) in [
        ("NaN", &good, &bytes(f64::NAN)[..]),
        ("a wrong length", &good, &[]),
        ("no parameters", &packed, &bytes(f64::INFINITY)),
    ] {
        let mut growing = GrowingMessage::new(&options);
        growing.add(&[Part::Values(&good, &bytes(1.0), &options)]).unwrap();
        growing.add(&[Part::Values(descriptor, data, &options)]).unwrap_err();
        let again = growing.add(&[Part::Values(&good, &bytes(1.0), &options)]).unwrap_err();
        assert!(again.to_string().contains("lacks an object"), "{name}: {again}");
        assert!(growing.finish(&GlobalMetadata::default()).is_err(), "{name}");
    }
}
