//! Any Tensogram message as TENS and back: values and shapes stay the same, and what is lost is listed.

use tgm_std::{ByteOrder, DecodeOptions, decode};
use tgm_zio::{BridgeOptions, Message, NotKept, from_tensogram, to_tensogram};

use crate::options;

/// Sends the message at the start of `bytes` through TENS.
pub fn check(bytes: &[u8]) {
    let bridge = BridgeOptions { decode: options(), ..BridgeOptions::default() };
    let Ok((parts, not_kept)) = from_tensogram(bytes, &bridge) else { return };
    let (_, expected) = decode(bytes, &DecodeOptions { native_byte_order: true, ..options() }).expect("it was read");
    let objects = not_kept.iter().filter_map(|what| match what {
        NotKept::Pipeline { object } | NotKept::Masks { object } | NotKept::Parameter { object, .. } => Some(*object),
        _ => None,
    });
    objects.for_each(|object| assert!(object < expected.len()));
    let parts: Vec<Vec<u8>> = parts.as_slices().iter().map(|part| part.to_vec()).collect();
    let message = Message::from_parts(&parts, ByteOrder::Little).expect("just sent");
    let back = to_tensogram(&message, &bridge).expect("just sent");
    let (_, found) = decode(&back, &DecodeOptions { native_byte_order: true, ..options() }).expect("just made");
    assert_eq!(found.len(), expected.len());
    for ((found, values), (expected, wanted)) in found.iter().zip(&expected) {
        assert_eq!(found.shape, expected.shape);
        assert_eq!(values, wanted, "{} of {:?}", expected.dtype, expected.shape);
    }
    // A second pass loses nothing but the provenance.
    let (again, lost) = from_tensogram(&back, &bridge).expect("just made");
    assert_eq!(again.as_slices(), parts);
    assert!(lost.iter().all(|what| *what == NotKept::Provenance), "{lost:?}");
}
