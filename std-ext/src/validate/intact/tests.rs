use super::*;
use crate::{
    DecodeOptions, EncodeOptions, MessageBuilder, ObjectBuilder, ValidateOptions, ValidationLevel, decode,
    validate_message,
};

fn message(hashing: bool) -> Vec<u8> {
    let object = || ObjectBuilder::new(&[64], &[7_u8; 64]).unwrap().metadata("a", 1);
    let options = EncodeOptions { hashing, ..EncodeOptions::default() };
    MessageBuilder::new().object(object()).object(object()).options(options).encode().unwrap()
}

#[test]
fn every_changed_byte_of_a_body_is_found_where_it_is() {
    let bytes = message(true);
    check_message(&bytes).unwrap();
    let opened = Message::parse(&bytes).unwrap();
    let mut seen = 0;
    for frame in opened.frames() {
        let frame = frame.unwrap();
        let body = usize::try_from(frame.body_offset()).unwrap();
        for place in body..body + frame.body().len() {
            let mut changed = bytes.clone();
            changed[place] ^= 0x10;
            let damage = check_message(&changed).unwrap_err();
            assert!(matches!(damage.error(), TensogramError::HashMismatch { .. }), "{damage}");
            assert_eq!((damage.offset(), damage.frame()), (frame.offset(), Some(frame.frame_type())));
            assert_eq!(damage.object().is_some(), frame.frame_type().is_data_object());
            seen += 1;
        }
    }
    assert!(seen > 200);
}

#[test]
fn what_passes_decodes_to_the_same_values() {
    let values: Vec<f64> = (0..500_u32).map(|i| if i % 7 == 0 { f64::NAN } else { f64::from(i) }).collect();
    let object = || ObjectBuilder::new(&[500], &values).unwrap().metadata("param", "2t");
    let options = EncodeOptions { allow_nan: true, ..EncodeOptions::default() };
    let message = MessageBuilder::new().object(object()).object(object().shuffle()).options(options);
    let bytes = message.encode().unwrap();
    let values_of = |bytes: &[u8]| decode(bytes, &DecodeOptions::default()).map(|found| found.1);
    let expected: Vec<_> = values_of(&bytes).unwrap().into_iter().map(|object| object.1).collect();
    let mut passed = 0;
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        if check_message(&changed).is_ok() {
            let found: Vec<_> = values_of(&changed).unwrap().into_iter().map(|object| object.1).collect();
            assert!(found == expected, "bit {bit}");
            passed += 1;
        }
    }
    // Reserved bits and padding.
    assert!(passed > 0);
}

#[test]
fn every_cut_is_found() {
    let bytes = message(true);
    for len in 0..bytes.len() {
        assert!(check_message(&bytes[..len]).is_err(), "{len}");
    }
    check_message(&[bytes.clone(), vec![0; 9]].concat()).unwrap();
}

#[test]
fn a_message_without_digests_cannot_be_checked() {
    let damage = check_message(&message(false)).unwrap_err();
    assert!(matches!(damage.error(), TensogramError::MissingHash { object_index: 0 }), "{damage}");
    assert!(damage.to_string().starts_with("NTensorFrame at byte "), "{damage}");
    assert!(damage.is_missing_digest());
}

#[test]
fn a_missing_digest_is_told_only_if_nothing_is_wrong() {
    let mut bytes = message(false);
    let end = bytes.len() - 40;
    bytes[end..].iter_mut().for_each(|byte| *byte ^= 0xff);
    assert!(!check_message(&bytes).unwrap_err().is_missing_digest());
    // The flag and the digest of the second object are there, and wrong; the first object has none.
    let mut bytes = message(true);
    let objects: Vec<usize> = Message::parse(&bytes)
        .unwrap()
        .frames()
        .map(Result::unwrap)
        .filter(|frame| frame.frame_type().is_data_object())
        .map(|frame| usize::try_from(frame.offset()).unwrap())
        .collect();
    bytes[objects[0] + 7] &= !2;
    bytes[objects[1] + 20] ^= 1;
    let damage = check_message(&bytes).unwrap_err();
    assert!(damage.object() == Some(1) && !damage.is_missing_digest(), "{damage}");
}

/// Two objects with masks, one of them shuffled.
fn masked() -> MessageBuilder<'static> {
    const VALUES: [f64; 3] = [1.0, f64::NAN, 3.0];
    let object = || ObjectBuilder::new(&[3], &VALUES).unwrap().metadata("a", 1);
    MessageBuilder::new().object(object()).object(object().shuffle())
}

/// The same message buffered, streamed, and without digests.
fn forms() -> [(&'static str, Vec<u8>); 3] {
    let options = || EncodeOptions { allow_nan: true, ..EncodeOptions::default() };
    let plain = EncodeOptions { hashing: false, ..options() };
    [
        ("buffered", masked().options(options()).encode().unwrap()),
        ("streamed", masked().options(options()).stream_to(Vec::new()).unwrap()),
        ("plain", masked().options(plain).encode().unwrap()),
    ]
}

#[test]
fn all_that_answer_whether_a_message_is_intact_agree() {
    let level = |max_level, checksum_only| ValidateOptions { max_level, checksum_only, ..ValidateOptions::default() };
    let (full, checksum) = (level(ValidationLevel::Fidelity, false), level(ValidationLevel::Integrity, true));
    for (form, bytes) in forms() {
        let mut passed = 0;
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << ((at * 5 + at / 8) % 8);
            let case = format!("{form}, byte {at}");
            let checked = check_message(&changed);
            let is_right = checked.as_ref().map_or_else(Damage::is_missing_digest, |()| true);
            let opened = Message::parse(&changed);
            let by_core = opened.as_ref().is_ok_and(|message| message.verify_all().is_ok());
            assert_eq!(by_core, is_right, "{case}: {checked:?}");
            let by_digests = opened.as_ref().is_ok_and(|message| check_digests(message).is_ok());
            assert!(by_digests || !is_right, "{case}");
            let by_report = validate_message(&changed, &full).is_ok();
            assert!(is_right || !by_report, "{case}: {checked:?}");
            if checked.is_ok() {
                assert!(by_report && validate_message(&changed, &checksum).is_ok(), "{case}");
                decode(&changed, &DecodeOptions { verify_hash: true, ..DecodeOptions::default() }).unwrap();
                passed += 1;
            }
        }
        assert_eq!(passed > 0, form != "plain");
    }
}

#[test]
fn a_postamble_that_leads_out_of_the_message_is_found() {
    for (form, mut bytes) in forms() {
        let at = bytes.len() - 24;
        bytes[at] ^= 1;
        let damage = check_message(&bytes).unwrap_err();
        assert_eq!((damage.offset(), damage.is_missing_digest()), (at as u64, false), "{form}: {damage}");
    }
}

#[test]
fn an_examination_goes_on_behind_what_it_finds() {
    let (_, mut bytes) = forms().into_iter().next().unwrap();
    let bodies: Vec<_> =
        Message::parse(&bytes).unwrap().frames().map(|frame| frame.unwrap().body_offset() as usize).collect();
    for body in &bodies {
        bytes[*body] ^= 0x10;
    }
    let (mut wrong, mut lists) = (Vec::new(), 0);
    let message = Message::parse(&bytes).unwrap();
    let examined = examine(&message, Depth::Contents, None, &mut |finding| {
        match finding {
            Finding::Frame { number, verdict: Verdict::Mismatch(_), .. } => wrong.push(number),
            Finding::Frame { .. } => {}
            Finding::List { .. } => lists += 1,
        }
        Ok(())
    });
    assert!(examined.is_ok() && wrong.iter().copied().eq(0..bodies.len()) && lists > 0, "{wrong:?} {lists}");
}
