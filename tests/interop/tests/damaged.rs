//! Both libraries give the same for damaged messages, except for known reasons. `fuzz/diff-reference` compares for
//! hours.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use ciborium::Value;
use tgm_interop::damage::compare;
use tgm_interop::damage::mutate::{Chance, mutated};
use tgm_std::{EncodeOptions, GlobalMetadata};

/// Longer messages are not damaged: most changes would be in their payloads.
const LONGEST: usize = 2048;

#[test]
fn damaged_messages_differ_only_for_known_reasons() {
    let number = |name: &str, default: usize| env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (cases, seed) = (30 * number("TGM_INTEROP_CASES", 300), number("TGM_INTEROP_SEED", 1));
    let mut messages = Vec::new();
    read_messages(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../data"), &mut messages);
    messages.sort();
    let mut chance = Chance::new(seed as u64);
    let mut reasons = BTreeMap::<_, u32>::new();
    let mut alike = 0;
    for case in 0..cases {
        let mut bytes = messages[chance.below(messages.len())].clone();
        for _ in 0..=chance.below(3) {
            match mutated(&bytes, &mut chance, scribble) {
                Some(changed) if chance.below(4) > 0 => bytes = changed,
                _ => scribble(&mut bytes, &mut chance),
            }
        }
        let found = compare(&bytes).unwrap_or_else(|text| panic!("case {case}, {text}\n{bytes:x?}"));
        alike += u32::from(found.is_empty());
        found.into_iter().for_each(|reason| *reasons.entry(reason).or_default() += 1);
    }
    println!("{alike} of {cases} alike {reasons:#?}");
    assert!(alike as usize > cases / 2);
}

#[test]
fn simple_values_of_two_bytes_are_read_by_both() {
    let metadata = GlobalMetadata { extra: [("ab".into(), Value::Bool(true))].into(), ..Default::default() };
    let message = tgm_std::encode(&metadata, &[], &EncodeOptions::default()).expect("encodes");
    let at = message.windows(4).position(|bytes| bytes == [0x62, b'a', b'b', 0xf5]).expect("the entry");
    let values = [Value::Bool(false), Value::Bool(true), Value::Null, Value::Null];
    for (simple, value) in (20..).zip(values) {
        let mut long = message.clone();
        long[at..at + 4].copy_from_slice(&[0x61, b'a', 0xf8, simple]);
        assert_eq!(tgm_std::decode_metadata(&long).expect("decodes").extra["a"], value);
        assert_eq!(tensogram::decode_metadata(&long).expect("decodes").extra["a"], value);
    }
}

/// Changes, inserts or removes some bytes.
fn scribble(bytes: &mut Vec<u8>, chance: &mut Chance) {
    for _ in 0..=chance.below(3) {
        let at = chance.below(bytes.len());
        match (chance.below(6), bytes.get_mut(at)) {
            (0, Some(_)) => bytes.truncate(at),
            (1, Some(_)) => drop(bytes.remove(at)),
            (2, _) => bytes.insert(at, chance.byte()),
            (3, Some(byte)) => *byte ^= 1 << chance.below(8),
            (4, Some(byte)) => *byte = chance.choice(&[0, 1, 0x7f, 0x80, 0xff]),
            (_, Some(byte)) => *byte = chance.byte(),
            (_, None) => {}
        }
    }
}

/// Reads all message files below a folder that are not longer than [`LONGEST`].
fn read_messages(folder: &Path, messages: &mut Vec<Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("the test data") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read_messages(&path, messages);
        } else if path.extension().is_some_and(|extension| extension == "tgm") {
            messages.push(fs::read(&path).expect("a file"));
        }
    }
    messages.retain(|message| message.len() <= LONGEST);
}
