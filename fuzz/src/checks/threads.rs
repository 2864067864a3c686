//! Several threads give what one thread gives: the same values, or an error of the same kind, for every message.

use std::mem::discriminant;

use tgm_core::Message;
use tgm_std::{DecodeOptions, DecodedObject, decode, read};

use crate::given::Given;
use crate::options;

/// Decodes the message at the start of `bytes` on one thread and on several.
pub fn check(bytes: &[u8]) {
    let alone = options();
    let together = DecodeOptions { threads: 2, parallel_threshold_bytes: Some(0), ..options() };
    match (decode(bytes, &alone), decode(bytes, &together)) {
        (Ok((metadata, objects)), Ok((metadata_again, objects_again))) => {
            // Parameters may hold NaN, which differs from itself.
            let found = |objects: Vec<DecodedObject>| -> Vec<_> {
                objects.into_iter().map(|(descriptor, values)| (descriptor.shape, values)).collect()
            };
            assert!(found(objects) == found(objects_again), "the values differ");
            assert_eq!(metadata.base.len(), metadata_again.base.len());
        }
        // If two objects are damaged, either may be met first.
        (Err(one), Err(other)) => {
            let one_object = Message::parse(bytes).and_then(|m| m.outline()).is_ok_and(|found| found.object_count < 2);
            assert!(!one_object || discriminant(&one) == discriminant(&other), "{one}: {other}");
        }
        (one, other) => panic!("{:?}: {:?}", one.err(), other.err()),
    }
    let Ok(message) = Message::parse(bytes) else { return };
    let mut given = Given(bytes);
    for object in message.objects().take(2).flatten() {
        let Ok(len) = object.descriptor().decoded_len() else { continue };
        let Ok(len) = usize::try_from(len.min(alone.limits.max_decoded_bytes)) else { continue };
        let (mut first, mut second) = (vec![0; len], vec![1; len]);
        let found = read(&object).options(&alone).bytes_into(&mut first);
        let again = read(&object).options(&together).bytes_into(&mut second);
        assert_eq!(found.is_ok(), again.is_ok());
        assert!(found.is_err() || first == second);
        let parts = [given.range(object.descriptor().element_count()), (0, 1)];
        assert_eq!(
            read(&object).ranges(&parts).options(&alone).bytes().ok(),
            read(&object).ranges(&parts).options(&together).bytes().ok()
        );
    }
}
