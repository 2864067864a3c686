//! Damaged messages are errors that say where, or return to the byte.

use proptest::prelude::*;
use tgm_convert::grib2::{Found, GribError, GribErrorKind, GribOptions, MessageReader, from_tensogram, to_tensogram};
use tgm_std::{DecodeOptions, TensogramError};

use super::{back, converted, expected, framed, has_codec, messages, sample, section_at, small};

#[test]
fn every_beginning_of_a_message_is_an_error() {
    for name in ["simple-8", "bitmap-ccsds-12", "fields-bitmap"] {
        let message = sample(name);
        for len in 0..message.len() {
            assert!(to_tensogram(&message[..len], &small()).is_err(), "{name} {len}");
        }
    }
}

/// Whatever a damaged message says, what is accepted returns to the byte. Usually each byte is changed in one of three ways.
#[test]
fn every_changed_byte_is_an_error_or_returns() {
    let stride = crate::scale::stride(3);
    let (mut accepted, mut all) = (0, 0);
    for (name, _) in expected().iter().filter(|(name, _)| has_codec(name)) {
        for message in messages(&sample(name)).iter().filter(|message| message.len() < 1500) {
            for at in 0..message.len() {
                for flip in [1, 0x80, 0xff].into_iter().skip(at % stride).step_by(stride) {
                    let mut damaged = message.clone();
                    damaged[at] ^= flip;
                    all += 1;
                    let Ok(made) = to_tensogram(&damaged, &small()) else { continue };
                    let restored = back(&made.message).unwrap_or_else(|error| panic!("{name} {at} {flip}: {error}"));
                    assert!(restored == damaged, "{name} {at} {flip}");
                    accepted += 1;
                }
            }
        }
    }
    assert!(accepted * 2 > all, "{accepted} of {all}");
}

#[test]
fn a_stream_that_ends_early_is_an_error_with_the_byte_where_it_does() {
    let mut bytes = sample("ccsds-12");
    let start = {
        let (message, _) = tgm_convert::grib2::Message::parse(&bytes).unwrap();
        message.sections().map(Result::unwrap).find(|section| section.number() == 7).unwrap().offset()
    };
    // Half of the data of section 7.
    let length = (bytes.len() - 4 - start) / 2;
    bytes.truncate(start + length);
    bytes[start..start + 4].copy_from_slice(&u32::try_from(length).unwrap().to_be_bytes());
    let message = framed([bytes, b"7777".to_vec()].concat());
    let error = to_tensogram(&message, &GribOptions::default()).unwrap_err();
    let cause = error.cause().unwrap();
    assert!(matches!(error, TensogramError::Encoding(_)) && error.to_string().contains("CCSDS data"), "{error}");
    let place = usize::try_from(cause.offset()).unwrap();
    assert!((start + 5..=start + length).contains(&place), "{cause} of {start}");
}

#[test]
fn an_error_keeps_its_kind_and_its_byte() {
    let mut bytes = sample("ccsds-12");
    bytes[7] = 3;
    let error = to_tensogram(&bytes, &GribOptions::default()).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().downcast_ref::<GribError>().unwrap();
    assert_eq!(cause.kind(), GribErrorKind::Edition(3));
    assert_eq!(error.offset(), Some(cause.offset()));
    assert!(matches!(error, TensogramError::Encoding(_)), "{error}");
    // A place in front of the text leaves both as they are.
    assert_eq!(error.within("message 3").offset(), Some(7));
}

/// A change of some bytes of a message, at places in proportion to its length.
#[derive(Clone, Debug)]
enum Change {
    Set(f64, u8),
    Number(f64, u32),
    Remove(f64, usize),
    Repeat(f64, f64, usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "a place within the bytes"
        )]
        let place = |share: f64| (share * bytes.len() as f64) as usize;
        match *self {
            Self::Set(at, byte) => {
                let at = place(at);
                bytes[at] = byte;
            }
            Self::Number(at, number) => {
                let at = place(at);
                bytes[at..].iter_mut().zip(number.to_be_bytes()).for_each(|(to, from)| *to = from);
            }
            Self::Remove(at, len) => {
                let at = place(at);
                let end = (at + len).min(bytes.len() - 1);
                bytes.drain(at.min(end)..end);
            }
            Self::Repeat(from, to, len) => {
                let (from, to) = (place(from), place(to));
                let copy = bytes[from..(from + len).min(bytes.len())].to_vec();
                bytes.splice(to..to, copy);
            }
        }
    }
}

fn change() -> impl Strategy<Value = Change> {
    // Numbers that lengths and counts are damaged to.
    let number = prop_oneof![0..40_u32, Just(u32::MAX), Just(u32::MAX / 2), Just(1 << 16), any::<u32>()];
    prop_oneof![
        (0.0..1.0, any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (0.0..1.0, number).prop_map(|(at, number)| Change::Number(at, number)),
        (0.0..1.0, 1..200_usize).prop_map(|(at, len)| Change::Remove(at, len)),
        (0.0..1.0, 0.0..1.0, 1..200_usize).prop_map(|(from, to, len)| Change::Repeat(from, to, len)),
    ]
}

const MUTATED: [&str; 7] =
    ["simple-12", "ccsds-12", "ccsds-16", "bitmap-ccsds-12", "bitmap-constant", "ieee-64-bitmap", "fields-bitmap"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_message_of_several_changes_is_an_error_or_returns(
        name in 0..MUTATED.len(), changes in prop::collection::vec(change(), 1..4), is_framed in any::<bool>(),
    ) {
        let mut message = sample(MUTATED[name]);
        for change in &changes {
            change.apply(&mut message);
        }
        let message = if is_framed { framed(message) } else { message };
        let (mut reader, mut end) = (MessageReader::new(&message[..]), 0);
        while let Some(found) = reader.read_next().unwrap() {
            let (offset, length) = match found {
                Found::Message { offset, bytes } => {
                    if let Ok(made) = to_tensogram(bytes, &small()) {
                        prop_assert!(back(&made.message).unwrap() == bytes);
                    }
                    (offset, bytes.len() as u64)
                }
                Found::Other { offset, length, .. } => (offset, length),
                other => panic!("{other:?}"),
            };
            prop_assert_eq!(offset, end);
            end += length;
        }
        prop_assert_eq!(end, message.len() as u64);
    }

    #[test]
    fn a_changed_tensogram_message_is_an_error_or_a_grib_message(
        name in 0..MUTATED.len(), changes in prop::collection::vec(change(), 1..3),
    ) {
        let mut message = converted(&sample(MUTATED[name]));
        for change in &changes {
            change.apply(&mut message);
        }
        let options = DecodeOptions { limits: small().limits, ..DecodeOptions::default() };
        if let Ok(restored) = from_tensogram(&message, &options) {
            prop_assert!(to_tensogram(&restored.message, &small()).is_ok());
        }
    }
}

#[test]
fn a_damaged_stream_is_copied_unless_streams_are_checked() {
    for name in ["ccsds-8", "ccsds-16"] {
        let mut message = sample(name);
        let (at, end) = (section_at(&message, 7), message.len() - 4);
        // A shorter section, whose stream ends early.
        message.drain(end - 40..end);
        let length = u32::from_be_bytes(message[at..at + 4].try_into().unwrap()) - 40;
        message[at..at + 4].copy_from_slice(&length.to_be_bytes());
        let length = message.len() as u64;
        message[8..16].copy_from_slice(&length.to_be_bytes());
        assert!(back(&converted(&message)).unwrap() == message, "{name}");
        let options = GribOptions { check_streams: true, ..GribOptions::default() };
        let error = to_tensogram(&message, &options).unwrap_err().to_string();
        assert!(error.contains("GRIB section 7, CCSDS data"), "{error}");
        assert!(to_tensogram(&sample(name), &options).is_ok(), "{name}");
    }
}
