//! Messages that the input decides about, by `tgm_arbitrary`: valid ones validate, decode to what was put
//! in, and are the same if they are encoded again; of nearly valid ones all routes say the same.

use tgm_arbitrary::arbitrary::{Arbitrary, Unstructured};
use tgm_arbitrary::{Message, NearlyValid};
use tgm_std::{DecodeOptions, ValidateOptions, ValidationLevel, decode, scan, validate_message};

use crate::{checks, limits, options};

/// Takes `bytes` as decisions.
pub fn check(bytes: &[u8]) {
    let mut u = Unstructured::new(bytes);
    let message = Message::arbitrary(&mut u).expect("every choice can be encoded");
    valid(&message);
    let damaged = NearlyValid::of(&message.bytes, &mut u).expect("a valid message");
    for check in [
        checks::message::check,
        checks::decode::check,
        checks::parse_equals_push::check,
        checks::validate::check,
        checks::view::check,
        checks::range::check,
        checks::scratch::check,
        checks::scan::check,
        checks::scan_both_ways::check,
        checks::index::check,
    ] {
        check(&damaged.bytes);
    }
}

fn valid(message: &Message) {
    assert_eq!(scan(&message.bytes), [(0, message.bytes.len())]);
    let asked =
        ValidateOptions { max_level: ValidationLevel::Fidelity, limits: limits(), ..ValidateOptions::default() };
    let report = validate_message(&message.bytes, &asked);
    assert!(report.is_ok(), "{report:?}");
    let as_stored = DecodeOptions { native_byte_order: false, verify_hash: message.options.hashing, ..options() };
    let (metadata, objects) = decode(&message.bytes, &as_stored).expect("valid");
    assert_eq!(objects.len(), message.objects.len());
    for (object, (descriptor, values)) in message.objects.iter().zip(&objects) {
        assert!(object.is_kept(descriptor, values), "{object:?}: {descriptor:?}, {values:?}");
    }
    assert_eq!(metadata.extra, message.metadata.extra);
    for (object, base) in message.objects.iter().zip(&metadata.base) {
        assert!(object.metadata.iter().all(|(key, value)| base.get(key) == Some(value)), "{object:?}: {base:?}");
    }
    assert_eq!(message.encode().expect("as before"), message.bytes);
}
