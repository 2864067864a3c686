//! Descriptors: the view and the owned form agree, and the owned form reads back the same after it is written.

use tgm_core::cbor::{Canonical, verify_canonical};
use tgm_core::descriptor::Descriptor;
use tgm_std::metadata::{cbor_to_object_descriptor, object_descriptor_to_cbor};

use crate::repeats::has_repeats;

/// Checks the descriptor at the start of `bytes`.
pub fn check(bytes: &[u8]) {
    let owned = cbor_to_object_descriptor(bytes);
    let view = match Descriptor::parse(bytes, 0) {
        Ok(view) => view,
        Err(error) => {
            assert!(error.offset() <= bytes.len() as u64 && owned.is_err());
            return;
        }
    };
    let product = view.shape().iter().try_fold(1_u64, u64::checked_mul);
    assert_eq!(Some(view.element_count()), product);
    assert_eq!(view.decoded_len().ok(), view.dtype().byte_len(view.element_count()));
    assert!(bytes.starts_with(view.as_encoded()));
    let _ = (view.packing(), view.szip(), view.szip_block_offsets(), view.shuffle_element_size());
    let Ok(owned) = owned else { return };
    assert!(view.shape().iter().eq(owned.shape.iter().copied()));
    assert_eq!((view.dtype(), view.byte_order()), (owned.dtype, owned.byte_order));
    for name in owned.params.keys() {
        assert!(matches!(view.parameter(name), Ok(Some(_))), "{name}");
    }
    let written = object_descriptor_to_cbor(&owned).expect("nested no deeper than it was");
    let is_canonical = verify_canonical(&written, Canonical::KeyOrder).is_ok();
    // Masks have parameters too, in which keys may repeat.
    assert!(is_canonical || owned.masks.is_some() || owned.params.values().any(has_repeats), "the writer's order");
    let again = cbor_to_object_descriptor(&written).expect("just written");
    // Compared as bytes, where NaN is equal to itself.
    assert_eq!(object_descriptor_to_cbor(&again).expect("again"), written);
}
