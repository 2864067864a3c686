//! Results do not depend on the number of threads (FORMAT §4.1, PIPELINE §5.10).

use tgm_core::descriptor::ZfpMode;
use tgm_std::metadata::global_metadata_to_cbor;
use tgm_std::{
    DataObjectDescriptor, DecodeOptions, EncodeOptions, GlobalMetadata, MessageBuilder, ObjectBuilder, Provenance,
    decode, decode_with_masks, encode, scan,
};
use tgm_tests::corpus::samples;

fn decoding(threads: u32) -> DecodeOptions {
    DecodeOptions { threads, parallel_threshold_bytes: Some(0), ..DecodeOptions::default() }
}

fn encoding(threads: u32) -> EncodeOptions {
    EncodeOptions {
        threads,
        parallel_threshold_bytes: Some(0),
        provenance: Some(Provenance {
            time: "2026-01-01T00:00:00Z".into(),
            uuid: "00000000-0000-4000-8000-000000000000".into(),
            encoder_name: "test".into(),
            encoder_version: "0".into(),
        }),
        ..EncodeOptions::default()
    }
}

#[test]
fn every_file_decodes_to_the_same_values_or_the_same_error() {
    let mut messages = 0;
    for sample in samples() {
        for (offset, len) in scan(&sample.bytes) {
            let bytes = &sample.bytes[offset..offset + len];
            let alone = decode(bytes, &decoding(1));
            let masks_alone = decode_with_masks(bytes, &decoding(1));
            for threads in [2, 3, 8] {
                let name = format!("{} at {offset} on {threads} threads", sample.name);
                let together = decode(bytes, &decoding(threads));
                match (&alone, &together) {
                    (Ok(alone), Ok(together)) => {
                        assert!(alone.1 == together.1, "{name}");
                        // Compared as CBOR, where NaN is equal to itself.
                        let written = [alone, together].map(|(metadata, _)| global_metadata_to_cbor(metadata).unwrap());
                        assert!(written[0] == written[1], "{name}");
                    }
                    (Err(alone), Err(together)) => assert_eq!(alone.to_string(), together.to_string(), "{name}"),
                    _ => panic!("{name}: {} and {}", alone.is_ok(), together.is_ok()),
                }
                let masks = decode_with_masks(bytes, &decoding(threads));
                let payloads = |masks: &tgm_std::Result<(GlobalMetadata, Vec<tgm_std::DecodedObjectWithMasks>)>| {
                    let decoded = masks.as_ref().ok()?;
                    Some(decoded.1.iter().map(|o| (o.payload.clone(), o.masks.clone())).collect::<Vec<_>>())
                };
                assert!(payloads(&masks_alone) == payloads(&masks), "{name}, with masks");
            }
            messages += 1;
        }
    }
    assert!(messages > 500, "{messages} messages");
}

/// A field large enough to be cut into pieces. Its length is a prime, so that no size of blocks divides it.
fn field() -> Vec<f64> {
    (0..200_003).map(|i| 280.0 + 20.0 * (f64::from(i) / 777.0).sin() + f64::from(i % 17) / 64.0).collect()
}

#[test]
fn one_large_object_is_the_same_on_any_number_of_threads() {
    let values = field();
    let object = || ObjectBuilder::new(&[200_003], &values).unwrap();
    let objects: Vec<(&str, ObjectBuilder<'_>)> = vec![
        ("none", object()),
        ("shuffle", object().shuffle()),
        ("lz4", object().lz4()),
        ("szip", object().simple_packing(16).szip()),
        ("szip of shuffled", object().shuffle().szip()),
        ("packed 12", object().simple_packing(12)),
        ("packed 17", object().simple_packing(17)),
        ("packed 24 and shuffled", object().simple_packing(24).shuffle()),
        ("zfp rate", object().zfp(ZfpMode::FixedRate(12.0))),
        #[cfg(feature = "full")]
        ("blosc2", object().blosc2(tgm_std::Blosc2Codec::Lz4, 5)),
        ("zfp precision", object().zfp(ZfpMode::FixedPrecision(20))),
        ("zfp accuracy", object().zfp(ZfpMode::FixedAccuracy(1e-3))),
    ];
    for (name, object) in objects {
        let encode =
            |threads| MessageBuilder::new().object(object.clone()).options(encoding(threads)).encode().unwrap();
        let alone = encode(0);
        for threads in [2, 3, 8] {
            // Blosc2 may put blocks in another order.
            assert!(name == "blosc2" || encode(threads) == alone, "{name} encoded on {threads} threads");
        }
        let (_, expected) = decode(&alone, &decoding(1)).unwrap();
        for threads in [2, 3, 8] {
            let (_, found) = decode(&alone, &decoding(threads)).unwrap();
            assert!(found[0].1 == expected[0].1, "{name} decoded on {threads} threads");
        }
    }
}

#[test]
fn wrong_szip_offsets_do_not_change_the_values() {
    let values = field();
    let object = ObjectBuilder::new(&[200_003], &values).unwrap().simple_packing(16).szip();
    let bytes = MessageBuilder::new().object(object).encode().unwrap();
    let (_, expected) = decode(&bytes, &decoding(1)).unwrap();
    let (_, mut descriptors) = tgm_std::decode_descriptors(&bytes).unwrap();
    let payload = tgm_core::Message::parse(&bytes).unwrap().object(0).unwrap().payload().to_vec();
    let offsets = descriptors[0].params.get_mut("szip_block_offsets").unwrap().as_array_mut().unwrap();
    assert!(offsets.len() > 50);
    for offset in offsets.iter_mut().skip(1) {
        let number = u64::try_from(offset.as_integer().unwrap()).unwrap();
        *offset = (number + 1).into();
    }
    let wrong = tgm_std::encode_pre_encoded(
        &GlobalMetadata::default(),
        &[(&descriptors[0], &payload)],
        &EncodeOptions::default(),
    )
    .unwrap();
    let (_, found) = decode(&wrong, &decoding(4)).unwrap();
    assert!(found[0].1 == expected[0].1);
}

#[test]
fn objects_of_one_message_are_the_same_on_several_threads() {
    let values: Vec<Vec<f64>> = (0..20).map(|i| field().split_off(1 + 9000 * i)).collect();
    let builders: Vec<_> = values
        .iter()
        .map(|values| ObjectBuilder::new(&[values.len() as u64], values).unwrap().simple_packing(16).szip())
        .collect();
    let data: Vec<(&DataObjectDescriptor, &[u8])> = Vec::new();
    assert!(encode(&GlobalMetadata::default(), &data, &encoding(4)).is_ok(), "a message without objects");
    let message = |threads| {
        let builder = builders.iter().cloned().fold(MessageBuilder::new(), MessageBuilder::object);
        builder.options(encoding(threads)).encode().unwrap()
    };
    let alone = message(0);
    assert!(message(4) == alone);
    let (_, expected) = decode(&alone, &decoding(1)).unwrap();
    let (_, found) = decode(&alone, &decoding(4)).unwrap();
    assert!(expected == found);
}
