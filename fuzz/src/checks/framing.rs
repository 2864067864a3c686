//! Messages and frames taken apart and put together again read the same.

use tgm_std::framing::{
    EncodedObject, HashFramePolicy, data_object_inline_hashes, decode_data_object_frame, decode_message,
    decode_metadata_only, encode_data_object_frame, encode_message,
};
use tgm_std::{DataObjectDescriptor, GlobalMetadata, decode, decode_descriptors};

use crate::given::Given;
use crate::options;
use crate::repeats::has_repeats;

/// Takes apart the message, and the frame, at the start of `bytes`. The last bytes say how they are put together.
pub fn check(bytes: &[u8]) {
    message(bytes);
    frame(bytes);
}

fn message(bytes: &[u8]) {
    let read = decode_message(bytes);
    let descriptors = decode_descriptors(bytes);
    assert!(read.is_err() || descriptors.is_ok(), "{:?}", descriptors.err());
    let Ok(read) = read else { return };
    let (metadata, descriptors) = descriptors.expect("asserted");
    assert_eq!(read.global_metadata.base.len(), metadata.base.len());
    assert_eq!(read.objects.len(), descriptors.len());
    assert_eq!(read.objects.len(), read.preceder_payloads.len());
    let _ = decode_metadata_only(bytes);
    let hashes = data_object_inline_hashes(bytes).expect("every frame was walked");
    assert_eq!(hashes.len(), descriptors.len());

    let mut given = Given(bytes);
    let policy = HashFramePolicy { header: given.byte() & 1 == 1, footer: given.byte() & 1 == 1 };
    let objects = read.objects.iter().map(|(descriptor, payload, masks, _)| EncodedObject {
        descriptor: descriptor.clone(),
        encoded_payload: [*payload, *masks].concat(),
    });
    let objects: Vec<_> = objects.collect();
    let global = GlobalMetadata { base: read.global_metadata.base.clone(), ..GlobalMetadata::default() };
    // Repeated keys and the deepest nesting are read, but not written.
    let Ok(written) = encode_message(&global, &objects, given.byte() & 1 == 1, policy) else { return };
    let again = decode_message(&written).expect("just written");
    for ((found, written), object) in read.objects.iter().zip(&again.objects).zip(&objects) {
        assert_eq!([found.1, found.2].concat(), [written.1, written.2].concat());
        assert!(is_same(&object.descriptor, &written.0), "{:?}: {:?}", object.descriptor, written.0);
    }
    let repeats = objects.iter().any(|object| object.descriptor.params.values().any(has_repeats));
    if let (Ok((_, found)), false) = (decode(bytes, &options()), repeats) {
        let (_, written) = decode(&written, &options()).expect("the same payloads");
        assert!(found.iter().zip(&written).all(|(found, written)| found.1 == written.1));
    }
}

fn frame(bytes: &[u8]) {
    let Ok((descriptor, payload, masks, len)) = decode_data_object_frame(bytes) else { return };
    assert!(len <= bytes.len() && payload.len() + masks.len() <= len);
    let mut given = Given(bytes);
    let region = [payload, masks].concat();
    let Ok(written) = encode_data_object_frame(&descriptor, &region, given.byte() & 1 == 1, given.byte() & 1 == 1)
    else {
        return;
    };
    let (descriptor_again, payload_again, masks_again, _) = decode_data_object_frame(&written).expect("just written");
    assert!(is_same(&descriptor, &descriptor_again), "{descriptor:?}: {descriptor_again:?}");
    assert_eq!((payload, masks), (payload_again, masks_again));
}

/// Whether two descriptors are equal: as text, where NaN is equal to itself. An empty map of masks counts as none,
/// because it is not written.
fn is_same(one: &DataObjectDescriptor, other: &DataObjectDescriptor) -> bool {
    let text = |descriptor: &DataObjectDescriptor| {
        let masks = descriptor.masks.clone().filter(|masks| !masks.is_empty());
        let mut sorted = DataObjectDescriptor { masks, ..descriptor.clone() };
        // Maps inside parameters are written in canonical order, which may not be the order here: leave them out.
        sorted.params.retain(|_, value| !matches!(value, ciborium::Value::Map(_) | ciborium::Value::Array(_)));
        format!("{sorted:?}")
    };
    text(one) == text(other)
}
