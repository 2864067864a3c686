//! Owned decoding under tight limits: the routes agree on every object, and every length is what the descriptor says.

use tgm_core::Message;
use tgm_std::{decode, decode_descriptors, decode_object, decode_with_masks, objects, read};

use crate::options;

/// Checks the message at the start of `bytes`.
pub fn check(bytes: &[u8]) {
    let options = options();
    let masked = decode_with_masks(bytes, &options);
    let decoded = decode(bytes, &options);
    assert_eq!(masked.is_ok(), decoded.is_ok(), "{:?} {:?}", masked.err(), decoded.err());
    let (Ok((metadata, decoded)), Ok((_, masked))) = (decoded, masked) else { return };
    assert_eq!(metadata.base.len(), decoded.len());
    let (_, descriptors) = decode_descriptors(bytes).expect("decoded before");
    assert_eq!(descriptors.len(), decoded.len());
    let message = Message::parse(bytes).expect("decoded before");
    let walked = message.objects().zip(objects(bytes, options.clone()).expect("decoded before"));
    for (index, (view, one)) in walked.enumerate().take(8) {
        let (descriptor, found) = &decoded[index];
        let view = view.expect("decoded before");
        assert_eq!(Ok(found.len() as u64), view.descriptor().decoded_len());
        assert_eq!(read(&view).options(&options).bytes().expect("decoded before"), *found);
        assert_eq!(one.expect("decoded before").1, *found);
        let (_, _, again) = decode_object(bytes, index, &options).expect("decoded before");
        assert_eq!(again, *found);
        let masks = &masked[index].masks;
        let count = descriptor.num_elements().expect("decoded before");
        for mask in [&masks.nan, &masks.pos_inf, &masks.neg_inf].into_iter().flatten() {
            assert_eq!(mask.len(), count);
        }
        if masks.is_empty() {
            assert_eq!(masked[index].payload, *found);
        }
    }
}
