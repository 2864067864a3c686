//! Reused buffers: the former content of scratch memory and of the caller's buffer does not affect the values.

use tgm_core::Message;
use tgm_core::descriptor::Encoding;
use tgm_core::object::DataObject;
use tgm_std::{DecodeOptions, Scratch, read};

use crate::given::Given;
use crate::options;

/// Decodes the objects of the message at the start of `bytes`, one after the other, with scratch memory that is kept.
pub fn check(bytes: &[u8]) {
    let Ok(message) = Message::parse(bytes) else { return };
    let options = options();
    let (mut scratch, mut given) = (Scratch::default(), Given(bytes));
    let objects: Vec<_> = message.objects().flatten().take(3).collect();
    // Twice, so that each object also comes after a later one.
    for object in objects.iter().chain(&objects) {
        whole(object, &options, &mut scratch, given.byte());
        parts(object, &options, &mut scratch, &mut given);
        packed(object, &options, &mut scratch, &mut given);
    }
}

fn whole(object: &DataObject<'_>, options: &DecodeOptions, scratch: &mut Scratch, dirt: u8) {
    let found = read(object).options(options).bytes();
    let len = object.descriptor().decoded_len().unwrap_or(0).min(options.limits.max_decoded_bytes);
    let mut out = vec![dirt; usize::try_from(len).expect("limited")];
    match (found, read(object).options(options).scratch(scratch).bytes_into(&mut out)) {
        (Ok(found), Ok(())) => assert_eq!(*found, out),
        (Err(_), Err(_)) => {}
        (found, again) => panic!("{:?}: {:?}", found.err(), again.err()),
    }
}

fn parts(object: &DataObject<'_>, options: &DecodeOptions, scratch: &mut Scratch, given: &mut Given<'_>) {
    let count = object.descriptor().element_count();
    let wanted = [given.range(count), given.range(count)];
    let Ok(found) = read(object).ranges(&wanted).options(options).bytes() else { return };
    let mut out = vec![given.byte(); found.len()];
    read(object).ranges(&wanted).options(options).scratch(scratch).bytes_into(&mut out).expect("decoded before");
    assert_eq!(*found, out);
}

fn packed(object: &DataObject<'_>, options: &DecodeOptions, scratch: &mut Scratch, given: &mut Given<'_>) {
    if object.descriptor().encoding().known() != Some(Encoding::SimplePacking) {
        return;
    }
    let (start, len) = given.range(object.descriptor().element_count().min(1 << 14));
    let len = usize::try_from(len).expect("limited");
    let (mut fresh, mut kept) = (vec![0.0_f32; len], vec![f32::NAN; len]);
    let found = read(object).ranges(&[(start, fresh.len() as u64)]).options(options).values_into(&mut fresh);
    let again =
        read(object).ranges(&[(start, kept.len() as u64)]).options(options).scratch(scratch).values_into(&mut kept);
    assert_eq!(found.is_ok(), again.is_ok());
    if found.is_ok() {
        assert!(fresh.iter().map(|value| value.to_bits()).eq(kept.iter().map(|value| value.to_bits())));
    }
}
