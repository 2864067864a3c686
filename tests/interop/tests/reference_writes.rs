//! Both libraries read alike what the reference writes.

use std::cell::Cell;

use ciborium::Value;
use tgm_interop::case::Case;
use tgm_interop::plain::Answer;
use tgm_interop::{agree, known, reference, strategy, try_cases};
#[cfg(not(feature = "reference-blosc2"))]
use tgm_interop::{case::Compression, values::Kind};

fn written_and_read(write: impl Fn(&Case, &[Vec<u8>]) -> Answer<Vec<u8>>) {
    let (tried, written) = (Cell::new(0), Cell::new(0));
    try_cases(&strategy::cases(), |case| {
        let case = case.streamable();
        tried.set(tried.get() + 1);
        let Ok(bytes) = write(&case, &case.data()) else { return Ok(()) };
        written.set(written.get() + 1);
        agree::on_message(&case, &bytes)
    });
    println!("{} of {} cases written", written.get(), tried.get());
    assert!(written.get() * 5 > tried.get(), "too few cases could be written");
}

#[test]
fn buffered_messages_are_read_alike() {
    written_and_read(reference::encode);
}

#[test]
fn streamed_messages_are_read_alike() {
    written_and_read(reference::stream);
}

#[test]
fn pre_encoded_messages_are_read_alike() {
    written_and_read(|case, data| {
        let encoded = reference::encode(case, data)?;
        reference::rewrite(case, &encoded, &reference::options(&case.options))
    });
}

/// The generated metadata leaves this out, so that the rest of the message can be compared.
#[test]
fn a_negative_integer_below_those_of_128_bits_is_read_by_us_alone() {
    let (tag, digits) = known::UNREADABLE_BIGNUM;
    let value = Value::Tag(tag, Box::new(Value::Bytes(digits.to_vec())));
    let metadata = tensogram::GlobalMetadata { extra: [("n".to_owned(), value.clone())].into(), ..Default::default() };
    let message = tensogram::encode(&metadata, &[], &tensogram::EncodeOptions::default()).expect("it is written");
    assert!(tensogram::decode_metadata(&message).is_err());
    assert_eq!(tgm_std::decode_metadata(&message).expect("it is read").extra["n"], value);
}

/// Generated descriptors leave these out for the same reason.
#[test]
fn parameters_with_tags_or_small_integers_are_read_by_us_alone() {
    let small = Value::Integer((-1_i128 - i128::from(u64::MAX)).try_into().expect("the smallest"));
    for value in [Value::Tag(0, Box::new(Value::Null)), small] {
        let params = [("x".to_owned(), value.clone())].into();
        let descriptor = tensogram::DataObjectDescriptor {
            obj_type: "ntensor".into(),
            ndim: 0,
            shape: Vec::new(),
            strides: Vec::new(),
            dtype: tensogram::Dtype::Uint8,
            byte_order: tensogram::ByteOrder::Little,
            encoding: "none".into(),
            filter: "none".into(),
            compression: "none".into(),
            masks: None,
            params,
        };
        let message = tensogram::encode(&Default::default(), &[(&descriptor, &[7][..])], &Default::default());
        let message = message.expect("it is written");
        assert!(tensogram::decode_descriptors(&message).is_err());
        assert_eq!(tgm_std::decode_descriptors(&message).expect("it is read").1[0].params["x"], value);
    }
}

/// The bound is relative to a range that overflows, and is infinite in SZ3's container.
#[test]
#[cfg(not(feature = "reference-blosc2"))]
fn sz3_of_a_range_beyond_the_largest_number_is_read() {
    let mut case = Case::of_numbers(20_000, Kind::Extremes, Compression::Sz3("rel", 1.0));
    // With this seed SZ3 does not fall back to lossless storage.
    case.objects[0].values.seed = 14_098_535_949_351_780_929;
    let message = reference::encode(&case, &case.data()).expect("it is written");
    agree::on_message(&case, &message).unwrap_or_else(|error| panic!("{error}"));
}
