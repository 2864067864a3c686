//! Indexes and hash lists compared with the walk: those that pass the checks lead to the objects that the walk finds.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use ciborium::Value;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index as Pick;
use tgm_core::hash::HashPresence;
use tgm_core::index::IndexEntry;
use tgm_core::{ErrorKind, Message as View};
use tgm_std::validate::{IssueCode as Code, ValidateOptions, validate_message};
use tgm_std::{DecodeOptions, ObjectTable};
use tgm_tests::builder::{Built, Frame, Message, Object, array, cbor, frame_type, map};
use tgm_tests::corpus;

/// Offset and length of each object.
type Entries = Vec<(u64, u64)>;

/// The body of an index frame.
fn index_body(entries: &Entries) -> Vec<u8> {
    let column = |column: fn(&(u64, u64)) -> u64| array(entries.iter().map(|entry| Value::from(column(entry))));
    cbor(&map([("offsets", column(|entry| entry.0)), ("lengths", column(|entry| entry.1))]))
}

/// Offset and length of each object, found by the walk.
fn walked(bytes: &[u8]) -> Entries {
    let frames = View::parse(bytes).unwrap().frames();
    let objects = frames.filter_map(Result::ok).filter(|frame| frame.frame_type().is_data_object());
    objects.map(|frame| (frame.offset(), frame.total_length())).collect()
}

/// The message with its indexes replaced by the true entries as `change` edits them.
fn with_index(message: &Message, change: impl Fn(&mut Entries)) -> Built {
    let mut message = message.clone();
    let is_index = |frame: &Frame| matches!(frame.frame_type, frame_type::HEADER_INDEX | frame_type::FOOTER_INDEX);
    let mut truth = walked(&message.build().bytes);
    // The index's own size moves the objects.
    loop {
        let mut entries = truth.clone();
        change(&mut entries);
        for frame in message.frames.iter_mut().filter(|frame| is_index(frame)) {
            *frame = Frame::raw(frame.frame_type, index_body(&entries));
        }
        let built = message.build();
        let found = walked(&built.bytes);
        if found == truth {
            return built;
        }
        truth = found;
    }
}

/// Bytes to hide in a payload: a whole object frame, and a footer index that lists it at `at`.
fn frames_to_hide(at: u64) -> Vec<u8> {
    let inner = Message::buffered([Object::bytes(b"hidden")]).build();
    let (offset, length) = walked(&inner.bytes)[0];
    let (start, len) = (usize::try_from(offset).unwrap(), usize::try_from(length).unwrap());
    let mut hidden = inner.bytes[start..start + len].to_vec();
    hidden.resize(hidden.len().next_multiple_of(8), 0);
    let entries =
        vec![(at, length); 3].into_iter().enumerate().map(|(i, (at, length))| (at + i as u64, length)).collect();
    let index = Message::empty().with(Frame::raw(frame_type::FOOTER_INDEX, index_body(&entries))).build();
    hidden.extend(&index.bytes[24..index.bytes.len() - 24]);
    hidden
}

/// Three objects; the payload of the second one holds frames.
fn message(streamed: bool) -> Message {
    let objects = [Object::bytes(b"first"), Object::bytes(&frames_to_hide(0)), Object::bytes(b"the third")];
    if streamed { Message::streamed(objects) } else { Message::buffered(objects) }
}

/// Offset and length of the frame that is hidden in the second object.
fn hidden_frame(truth: &Entries) -> (u64, u64) {
    let length = walked(&Message::buffered([Object::bytes(b"hidden")]).build().bytes)[0].1;
    (truth[1].0 + 16, length)
}

#[derive(Clone, Debug)]
enum Change {
    Nothing,
    Swap(Pick, Pick),
    Remove(Pick),
    Insert(Pick, u64, u64),
    Repeat(Pick),
    Offset(Pick, i64),
    Length(Pick, i64),
    IntoPayload(Pick),
    InsertPayload(Pick),
    Reverse,
    Clear,
}

fn change() -> impl Strategy<Value = Change> {
    let pick = any::<Pick>;
    prop_oneof![
        Just(Change::Nothing),
        (pick(), pick()).prop_map(|(a, b)| Change::Swap(a, b)),
        pick().prop_map(Change::Remove),
        (pick(), any::<u64>(), any::<u64>()).prop_map(|(at, offset, length)| Change::Insert(at, offset, length)),
        pick().prop_map(Change::Repeat),
        (pick(), -40_i64..40).prop_map(|(at, by)| Change::Offset(at, by)),
        (pick(), -40_i64..40).prop_map(|(at, by)| Change::Length(at, by)),
        pick().prop_map(Change::IntoPayload),
        pick().prop_map(Change::InsertPayload),
        Just(Change::Reverse),
        Just(Change::Clear),
    ]
}

impl Change {
    fn apply(&self, entries: &mut Entries, hidden: (u64, u64)) {
        let at = |pick: &Pick, entries: &Entries| pick.index(entries.len().max(1));
        match self {
            Self::Insert(pick, offset, length) => entries.insert(at(pick, entries), (*offset, *length)),
            Self::InsertPayload(pick) => entries.insert(at(pick, entries), hidden),
            Self::Nothing => {}
            _ if entries.is_empty() => {}
            Self::Swap(a, b) => {
                let (a, b) = (at(a, entries), at(b, entries));
                entries.swap(a, b);
            }
            Self::Remove(pick) => drop(entries.remove(at(pick, entries))),
            Self::Repeat(pick) => entries.insert(at(pick, entries), entries[at(pick, entries)]),
            Self::Offset(pick, by) => {
                let i = at(pick, entries);
                entries[i].0 = entries[i].0.saturating_add_signed(*by);
            }
            Self::Length(pick, by) => {
                let i = at(pick, entries);
                entries[i].1 = entries[i].1.saturating_add_signed(*by);
            }
            Self::IntoPayload(pick) => {
                let i = at(pick, entries);
                entries[i] = hidden;
            }
            Self::Reverse => entries.reverse(),
            Self::Clear => entries.clear(),
        }
    }
}

/// Asserts that every route leads to the objects of the walk, in a message whose index is right.
fn check_agreement(bytes: &[u8]) {
    let view = View::parse(bytes).unwrap();
    let truth = walked(bytes);
    let (checked, trusted) = (ObjectTable::checked(&view).unwrap(), ObjectTable::new(&view).unwrap());
    assert_eq!(checked, ObjectTable::by_walk(&view).unwrap());
    assert_eq!(checked, trusted);
    let decoded = tgm_std::decode(bytes, &DecodeOptions::default()).unwrap().1;
    assert_eq!((truth.len(), truth.len()), (checked.len(), decoded.len()));
    for (index, (&(offset, length), (_, values))) in truth.iter().zip(&decoded).enumerate() {
        let routes = [
            view.object(index).unwrap(),
            view.object_by_walk(index).unwrap(),
            view.object_at(IndexEntry { offset, length }).unwrap(),
            checked.object(&view, index).unwrap(),
            trusted.object(&view, index).unwrap(),
        ];
        assert_eq!(view.object_frame(index).unwrap().offset(), offset);
        for object in routes {
            assert_eq!((object.frame().offset(), object.payload()), (offset, &values[..]));
        }
    }
    for beyond in [truth.len(), truth.len() + 1, usize::MAX] {
        assert_eq!(view.object(beyond).unwrap_err().kind(), ErrorKind::ObjectOutOfRange);
        assert_eq!(view.object_by_walk(beyond).unwrap_err().kind(), ErrorKind::ObjectOutOfRange);
        assert!(checked.object(&view, beyond).is_err() && trusted.object(&view, beyond).is_err());
    }
}

fn is_index_code(code: Code) -> bool {
    matches!(code, Code::IndexOffsetMismatch | Code::IndexCountMismatch | Code::IndexCborParseFailed)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: tgm_tests::cases(400), ..ProptestConfig::default() })]

    #[test]
    fn only_the_true_index_passes_the_checks_and_it_leads_to_the_objects_of_the_walk(
        changes in vec(change(), 0..4),
        streamed in any::<bool>(),
        hashing in any::<bool>(),
    ) {
        let base = Message { hashing, ..message(streamed) };
        let edit = |entries: &mut Entries| {
            let hidden = hidden_frame(entries);
            for change in &changes {
                change.apply(entries, hidden);
            }
        };
        let built = with_index(&base, edit);
        let truth = walked(&built.bytes);
        let mut stated = truth.clone();
        edit(&mut stated);
        let view = View::parse(&built.bytes).unwrap();
        let report = validate_message(&built.bytes, &ValidateOptions::default());
        // The checks accept the true index and no other.
        prop_assert_eq!(view.verify_index().is_ok(), stated == truth, "{:?}", changes);
        prop_assert_eq!(report.is_ok(), stated == truth, "{:?}: {:?}", changes, report);
        prop_assert_eq!(ObjectTable::checked(&view).is_ok(), stated == truth);
        prop_assert!(view.verify_hash_lists(view.hash_presence().unwrap()).is_ok());
        if stated == truth {
            check_agreement(&built.bytes);
        } else {
            prop_assert!(report.issues.iter().any(|issue| is_index_code(issue.code)), "{:?}", report);
        }
        // The walk does not use the index.
        for (index, &(offset, _)) in truth.iter().enumerate() {
            prop_assert_eq!(view.object_by_walk(index).unwrap().frame().offset(), offset);
        }
    }
}

#[test]
fn an_index_into_a_payload_is_followed_unless_it_is_checked() {
    let built = with_index(&message(false), |entries| entries[1] = hidden_frame(entries));
    let view = View::parse(&built.bytes).unwrap();
    // Both follow an unchecked index, as their documentation says.
    assert_eq!(view.object(1).unwrap().payload(), b"hidden");
    assert_eq!(ObjectTable::new(&view).unwrap().object(&view, 1).unwrap().payload(), b"hidden");
    let error = view.verify_index().unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::IndexEntry, walked(&built.bytes)[1].0));
    assert!(ObjectTable::checked(&view).is_err());
    assert_ne!(view.object_by_walk(1).unwrap().payload(), b"hidden");
    let table = ObjectTable::by_walk(&view).unwrap();
    assert_ne!(table.object(&view, 1).unwrap().payload(), b"hidden");
    // An extra entry does not add an object.
    let built = with_index(&message(false), |entries| entries.push((u64::MAX, 1)));
    let view = View::parse(&built.bytes).unwrap();
    let error = ObjectTable::by_walk(&view).unwrap().object(&view, 3).unwrap_err();
    assert_eq!(error.cause().map(|cause| cause.kind()), Some(ErrorKind::ObjectOutOfRange), "{error}");
}

#[test]
fn the_index_that_the_postamble_points_to_is_checked_as_well() {
    // The message has no index. Its postamble is set to point into the payload of the last object, which holds one.
    let with_index_at = |at| {
        let objects = [Object::bytes(b"first"), Object::bytes(b"second"), Object::bytes(&frames_to_hide(at))];
        let metadata = Frame::metadata(frame_type::HEADER_METADATA, &map([]));
        objects.map(Frame::object).into_iter().fold(Message::empty().with(metadata), Message::with).build()
    };
    let hidden = walked(&with_index_at(0).bytes)[2].0 + 16;
    let mut built = with_index_at(hidden);
    assert_eq!(walked(&built.bytes)[2].0 + 16, hidden);
    assert!(View::parse(&built.bytes).unwrap().verify_index().is_ok());
    let length = hidden_frame(&walked(&built.bytes)).1;
    built.set("postamble.first_footer_offset", &(hidden + length.next_multiple_of(8)).to_be_bytes());
    let view = View::parse(&built.bytes).unwrap();
    assert_eq!(view.find_index().unwrap().unwrap().get(0).unwrap().offset, hidden);
    assert!(view.verify_index().is_err());
    let report = validate_message(&built.bytes, &ValidateOptions::default());
    assert!(report.errors().any(|issue| is_index_code(issue.code)), "{report:?}");
    let like = ValidateOptions { like_reference: true, ..ValidateOptions::default() };
    assert!(validate_message(&built.bytes, &like).is_ok());
}

#[test]
fn swapped_objects_fail_the_check_of_the_hash_list() {
    for streamed in [false, true] {
        let objects = [Object::bytes(&[1; 8]), Object::bytes(&[2; 8]), Object::bytes(&[3; 8])];
        let built = if streamed { Message::streamed(objects) } else { Message::buffered(objects) }.build();
        let truth = walked(&built.bytes);
        let range = |i: usize| {
            let start = usize::try_from(truth[i].0).unwrap();
            start..start + usize::try_from(truth[i].1).unwrap()
        };
        let mut bytes = built.bytes.clone();
        bytes[range(0)].copy_from_slice(&built.bytes[range(2)]);
        bytes[range(2)].copy_from_slice(&built.bytes[range(0)]);
        let view = View::parse(&bytes).unwrap();
        let presence = view.hash_presence().unwrap();
        // Each frame is valid, and the index is right.
        assert!(view.verify(presence).all(|verified| verified.unwrap().verdict == tgm_core::hash::Verdict::Good));
        assert!(view.verify_index().is_ok());
        let error = view.verify_hash_lists(presence).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (ErrorKind::HashListEntry, truth[0].0));
        assert!(!validate_message(&bytes, &ValidateOptions::default()).is_ok());
        // If frames hold no digests, their bytes are hashed.
        assert!(view.verify_hash_lists(HashPresence::Absent).is_err());
        let sound = View::parse(&built.bytes).unwrap();
        for presence in [HashPresence::Flagged, HashPresence::All, HashPresence::Absent] {
            assert_eq!(sound.verify_hash_lists(presence), Ok(()));
        }
    }
}

#[test]
fn indexes_and_hash_lists_of_valid_files_are_right() {
    let mut messages = 0;
    for sample in corpus::samples().iter().filter(|sample| sample.class == "valid") {
        for (start, len) in tgm_std::scan(&sample.bytes) {
            let view = View::parse(&sample.bytes[start..start + len]).unwrap();
            assert_eq!(view.verify_index(), Ok(()), "{}", sample.name);
            assert_eq!(view.verify_hash_lists(view.hash_presence().unwrap()), Ok(()), "{}", sample.name);
            messages += 1;
        }
    }
    assert!(messages > 400, "{messages}");
}

/// With one walk for each list, this would take 40,000 walks over 2.5 MiB.
#[test]
fn many_indexes_and_hash_lists_in_a_message_take_linear_time() {
    for (kind, body) in [
        (frame_type::HEADER_INDEX, index_body(&vec![])),
        (frame_type::HEADER_HASH, cbor(&map([("algorithm", Value::from("xxh3")), ("hashes", array([]))]))),
    ] {
        let metadata = Frame::metadata(frame_type::HEADER_METADATA, &map([]));
        let built = Message::empty().with(Frame::raw(kind, body)).with(metadata).build();
        let at = |caption: &str| usize::try_from(built.offset(caption)).unwrap();
        let (list, metadata) = (at("frame 0.magic"), at("frame 1.magic"));
        let lists = built.bytes[list..metadata].repeat(40_000);
        let mut bytes = [&built.bytes[..list], &lists, &vec![0; 1 << 20], &built.bytes[metadata..]].concat();
        let (length, end) = ((bytes.len() as u64).to_be_bytes(), bytes.len());
        bytes[16..24].copy_from_slice(&length);
        bytes[end - 16..end - 8].copy_from_slice(&length);
        bytes[end - 24..end - 16].copy_from_slice(&(end as u64 - 24).to_be_bytes());
        let view = View::parse(&bytes).unwrap();
        let start = std::time::Instant::now();
        assert_eq!(view.verify_index(), Ok(()));
        assert_eq!(view.verify_hash_lists(HashPresence::Flagged), Ok(()));
        let report = validate_message(&bytes, &ValidateOptions::default());
        assert!(report.is_ok(), "{report:?}");
        // It takes a fraction of a second; with one walk for each list it takes minutes.
        assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    }
}
