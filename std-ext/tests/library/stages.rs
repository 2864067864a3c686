//! Single stages of the pipeline, which do together what encoding and decoding do.

use tgm_core::Message;
use tgm_core::descriptor::ByteOrder;
use tgm_std::simple_packing::{SimplePackingParams, compute_params, decode, encode};
use tgm_std::stages::shuffle::{shuffle, unshuffle};
use tgm_std::stages::{pipeline, single};
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
    let mut plain = unshuffle(&stored, 8).unwrap();
    assert!(plain != values.as_bytes());
    single::restore(&object, ByteOrder::NATIVE, &options, &mut plain).unwrap();
    assert!(plain == values.as_bytes());
    let (descriptor, _) = pipeline::encode_pipeline(builder().descriptor(), &plain, &encode).unwrap();
    assert!(single::compress(&descriptor, &stored, &encode).unwrap() == object.payload());
}

#[test]
fn values_come_back_within_half_a_step() {
    let values: Vec<f64> = (0..1000).map(|i| f64::from(i * i % 997) / 7.0 - 50.0).collect();
    for bits in [1, 7, 8, 12, 16, 24, 31, 32, 40, 64] {
        let params = compute_params(&values, bits, 0).unwrap();
        let packed = encode(&values, &params).unwrap();
        assert_eq!(packed.len(), (1000 * bits as usize).div_ceil(8));
        let step = params.scale();
        for (value, back) in values.iter().zip(decode(&packed, 1000, &params).unwrap()) {
            assert!((value - back).abs() <= step / 2.0 + 1e-12, "{bits}: {value} {back}");
        }
    }
}

#[test]
fn what_cannot_be_packed_or_is_not_there_is_an_error() {
    let text = |error: TensogramError| error.to_string();
    assert!(text(compute_params(&[1.0, f64::NAN], 16, 0).unwrap_err()).contains("NaN value encountered at index 1"));
    assert!(
        text(compute_params(&[f64::INFINITY], 16, 0).unwrap_err()).contains("infinite value encountered at index 0")
    );
    assert!(text(compute_params(&[1.0], 65, 0).unwrap_err()).contains("bits_per_value 65 exceeds 64"));
    let params = compute_params(&[1.0, 2.0], 16, 0).unwrap();
    assert!(text(encode(&[f64::NAN], &params).unwrap_err()).contains("NaN value encountered at index 0"));
    assert!(text(decode(&[0; 3], 2, &params).unwrap_err()).contains("2 values of 16 bits are not in 3 bytes"));
    assert!(decode(&[], usize::MAX, &SimplePackingParams { bits_per_value: 0, ..params }).is_err());
    assert!(decode(&[0; 16], 1, &SimplePackingParams { bits_per_value: 65, ..params }).is_err());
    assert_eq!(decode(&[], 0, &params).unwrap(), [0.0; 0]);
    assert_eq!(compute_params(&[], 16, 0).unwrap().reference_value.to_bits(), 0);
}

#[test]
fn bytes_come_back_at_any_size() {
    let data: Vec<u8> = (0..=239).collect();
    for size in [1, 2, 3, 4, 5, 8, 16, 240] {
        assert_eq!(unshuffle(&shuffle(&data, size).unwrap(), size).unwrap(), data, "{size}");
    }
    assert!(shuffle(&[], 4).unwrap().is_empty());
}

#[test]
fn elements_must_be_whole() {
    for function in [shuffle, unshuffle] {
        let error = |data, size| function(data, size).unwrap_err().to_string();
        assert!(error(&[1, 2, 3], 2).contains("data length 3 is not divisible by element_size 2"));
        assert!(error(&[], 0).contains("element_size must not be 0"));
    }
}
