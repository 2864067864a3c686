//! Messages and frames of encoded objects, without the pipeline.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_std::framing::{
    EncodedObject, HashFramePolicy, decode_data_object_frame, decode_message, decode_metadata_only,
    encode_data_object_frame, encode_message,
};
use tgm_std::{
    ByteOrder, DataObjectDescriptor, DecodeOptions, Dtype, EncodeOptions, GlobalMetadata, StreamingEncoder,
    TensogramError, decode_object_from_frame,
};

fn descriptor(dtype: Dtype) -> DataObjectDescriptor {
    DataObjectDescriptor::new(dtype, ByteOrder::Little, &[4])
}

#[test]
fn a_frame_reads_back_with_the_descriptor_on_either_side() {
    for (before, cbor_offset) in [(true, 16), (false, 20)] {
        for hashing in [false, true] {
            let mut frame =
                encode_data_object_frame(&descriptor(Dtype::Uint8), &[1, 2, 3, 4], before, hashing).unwrap();
            assert_eq!(frame[frame.len() - 20..][..8], u64::to_be_bytes(cbor_offset));
            let (read, payload, masks, len) = decode_data_object_frame(&frame).unwrap();
            assert_eq!((read, payload, masks), (descriptor(Dtype::Uint8), &[1, 2, 3, 4][..], &[][..]));
            assert_eq!((len, len % 8), (frame.len(), 7));
            let options = DecodeOptions { verify_hash: hashing, ..DecodeOptions::default() };
            assert_eq!(decode_object_from_frame(&frame, &options).unwrap().1, [1, 2, 3, 4]);
            frame.extend([0; 9]);
            assert_eq!(decode_data_object_frame(&frame).unwrap().3, len + 1);
        }
    }
}

#[test]
fn a_frame_of_another_type_is_an_error_of_framing() {
    let frame = b"FR\0\x01\0\x01\0\0\0\0\0\0\0\0\0\x1d\xa0\0\0\0\0\0\0\0\0ENDF";
    let error = decode_data_object_frame(frame).unwrap_err();
    assert!(matches!(&error, TensogramError::Framing(_)), "{error}");
}

#[test]
fn a_message_holds_what_it_was_made_of_and_no_more() {
    let objects =
        [5, 6].map(|byte| EncodedObject { descriptor: descriptor(Dtype::Uint8), encoded_payload: vec![byte; 4] });
    let mut metadata = GlobalMetadata::default();
    metadata.extra.insert("k".into(), 1.into());
    for (hashing, header, footer) in
        [(false, true, true), (true, true, false), (true, false, true), (true, false, false)]
    {
        let message = encode_message(&metadata, &objects, hashing, HashFramePolicy { header, footer }).unwrap();
        let read = decode_message(&message).unwrap();
        assert_eq!(read.preamble.total_length, message.len() as u64);
        assert_eq!(read.global_metadata, GlobalMetadata { base: vec![BTreeMap::new(); 2], ..metadata.clone() });
        assert_eq!(decode_metadata_only(&message).unwrap(), metadata);
        assert_eq!(read.objects.iter().map(|object| object.1[0]).collect::<Vec<_>>(), [5, 6]);
        let starts = read.objects.iter().map(|object| object.3 as u64);
        assert_eq!(starts.collect::<Vec<_>>(), read.index.unwrap().offsets);
        assert_eq!(read.hash_frame.map(|list| list.hashes.len()), (hashing && (header || footer)).then_some(2));
        assert_eq!(read.preceder_payloads, [None, None]);
    }
    metadata.base = vec![BTreeMap::new(); 3];
    let error = encode_message(&metadata, &objects, true, HashFramePolicy::default()).unwrap_err();
    assert!(error.to_string().contains("base has 3 entries but only 2 descriptors"), "{error}");
}

#[test]
fn preceders_and_masks_are_kept_apart() {
    let options = EncodeOptions { allow_nan: true, ..EncodeOptions::default() };
    let mut encoder = StreamingEncoder::new(Vec::new(), &GlobalMetadata::default(), &options).unwrap();
    encoder.write_preceder([("p".to_string(), Value::from(7))].into()).unwrap();
    encoder.write_object(&descriptor(Dtype::Uint8), &[1, 2, 3, 4]).unwrap();
    let values: Vec<u8> = [1.0, f32::NAN, 2.0, 3.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    encoder.write_object(&descriptor(Dtype::Float32), &values).unwrap();
    let message = encoder.finish().unwrap();
    let read = decode_message(&message).unwrap();
    assert_eq!(read.preceder_payloads[0].as_ref().unwrap()["p"], Value::from(7));
    assert_eq!(read.preceder_payloads[1], None);
    assert_eq!(read.global_metadata.base[0]["p"], Value::from(7));
    // The second of four bits.
    assert_eq!((read.objects[1].1.len(), read.objects[1].2), (16, &[0x40][..]));
    assert!(read.objects[0].2.is_empty());
}
