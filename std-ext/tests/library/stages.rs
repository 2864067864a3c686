//! Single stages of the pipeline, which do together what encoding and decoding do.

use tgm_core::Message;
use tgm_core::descriptor::ByteOrder;
use tgm_std::stages::{pipeline, shuffle, single};
use tgm_std::{DecodeOptions, EncodeOptions, MessageBuilder, ObjectBuilder, TensogramError};
use zerocopy::IntoBytes as _;

#[test]
fn what_went_through_the_stages_comes_back_and_fits_a_message() {
    let values: Vec<f64> = (0..600).map(|i| if i == 5 { f64::NAN } else { f64::from(i / 7) }).collect();
    let options = EncodeOptions { allow_nan: true, ..EncodeOptions::default() };
    let object = || ObjectBuilder::new(&[600], &values).unwrap();
    for object in [object(), object().shuffle(), object().shuffle().szip()] {
        let (descriptor, region) = pipeline::encode_pipeline(object.descriptor(), values.as_bytes(), &options).unwrap();
        assert!(descriptor.masks.as_ref().unwrap().nan.is_some());
        let message = MessageBuilder::new().object(object).options(options.clone()).encode().unwrap();
        assert!(Message::parse(&message).unwrap().object(0).unwrap().region() == region);
        let decoded = pipeline::decode_pipeline(&descriptor, &region, &DecodeOptions::default()).unwrap();
        assert!(decoded == values.as_bytes());
        assert!(pipeline::encode_pipeline(&descriptor, values.as_bytes(), &EncodeOptions::default()).is_err());
        let hashed = DecodeOptions { verify_hash: true, ..DecodeOptions::default() };
        let error = pipeline::decode_pipeline(&descriptor, &region, &hashed).unwrap_err();
        assert!(matches!(error, TensogramError::MissingHash { .. }), "{error}");
    }
}

#[test]
fn single_stages_are_those_of_the_pipeline() {
    let values: Vec<f64> = (0..600).map(|i| if i == 5 { f64::NAN } else { f64::from(i / 7) }).collect();
    let encode = EncodeOptions { allow_nan: true, ..EncodeOptions::default() };
    let builder = || ObjectBuilder::new(&[600], &values).unwrap().shuffle().szip();
    let message = MessageBuilder::new().object(builder()).options(encode.clone()).encode().unwrap();
    let object = Message::parse(&message).unwrap().object(0).unwrap();
    let options = DecodeOptions::default();
    let stored = single::decompress(&object, &options).unwrap();
    let mut plain = shuffle::unshuffle(&stored, 8).unwrap();
    assert!(plain != values.as_bytes());
    single::restore(&object, ByteOrder::NATIVE, &options, &mut plain).unwrap();
    assert!(plain == values.as_bytes());
    let (descriptor, _) = pipeline::encode_pipeline(builder().descriptor(), &plain, &encode).unwrap();
    assert!(single::compress(&descriptor, &stored, &encode).unwrap() == object.payload());
}
