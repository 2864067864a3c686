//! Ranges of a payload alone, with its owned descriptor, equal ranges of the object's frame.

use tgm_core::Message;
use tgm_std::{DecodeOptions, decode_descriptors, decode_range_from_frame, decode_range_from_payload, read};

use crate::given::Given;
use crate::options;

/// Checks ranges of the first objects of the message at the start of `bytes`.
pub fn check(bytes: &[u8]) {
    let (Ok(message), Ok((_, descriptors))) = (Message::parse(bytes), decode_descriptors(bytes)) else { return };
    // Masks are not part of a payload.
    let options = DecodeOptions { restore_non_finite: false, ..options() };
    let mut given = Given(bytes);
    for (object, descriptor) in message.objects().flatten().zip(&descriptors).take(2) {
        let count = object.descriptor().element_count();
        let wanted = [given.range(count), given.range(count), (count, 0)];
        let of_object = read(&object).ranges(&wanted).options(&options).bytes();
        let start = usize::try_from(object.frame().offset()).expect("in memory");
        let of_frame = decode_range_from_frame(&bytes[start..], &wanted, &options);
        let of_payload = decode_range_from_payload(descriptor, object.payload(), &wanted, &options);
        match of_object {
            Ok(found) => {
                assert_eq!(*found, of_frame.expect("the same frame").1.concat());
                assert_eq!(*found, of_payload.expect("the same payload").concat());
            }
            Err(error) => {
                assert!(of_frame.is_err(), "{error}");
                assert!(of_payload.is_err(), "{error}");
            }
        }
        assert!(decode_range_from_payload(descriptor, object.payload(), &[(count, 1)], &options).is_err());
    }
    // Any bytes as a frame.
    let _ = decode_range_from_frame(bytes, &[(0, 1)], &options);
}
