//! Owned decoding under tight limits: the routes agree on every object.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tgm_std::{DecodeLimits, DecodeOptions, decode, decode_object, decode_range, decode_with_masks};

fuzz_target!(|bytes: &[u8]| {
    let limits = DecodeLimits { max_decoded_bytes: 1 << 20, free_bytes: 1 << 20, ..DecodeLimits::default() };
    let options = DecodeOptions { limits, ..DecodeOptions::default() };
    let _ = decode_with_masks(bytes, &options);
    let Ok((metadata, objects)) = decode(bytes, &options) else { return };
    assert_eq!(metadata.base.len(), objects.len());
    for (index, (descriptor, values)) in objects.iter().enumerate().take(4) {
        let (_, again, one) = decode_object(bytes, index, &options).expect("decoded before");
        assert_eq!((descriptor, values), (&again, &one));
        let count = descriptor.num_elements().expect("decoded before") as u64;
        let (_, parts) = decode_range(bytes, index, &[(0, count)], &options).expect("decoded before");
        if descriptor.dtype != tgm_std::Dtype::Bitmask {
            assert_eq!(parts.concat(), *values);
        }
    }
});
