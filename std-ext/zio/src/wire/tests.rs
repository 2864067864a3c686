//! Tests of the accessors of labels, entries, layouts, levels and errors.

use std::format;
use std::string::ToString;
use std::vec::Vec;

use super::*;
use tgm_core::descriptor::ByteOrder;
use tgm_core::tensor::Elements;

const LABEL: &[u8] = br#"ZIO4TENS{"TENS":{"metadata":{"run":7},"tensors":[
    {"shape":[2,3],"word":2,"dtype":"i","part":1,"packing":"dense","order":[1,0],"ascend":[true,true],"metadata":"m"},
    {"shape":[2,3],"word":2,"dtype":"i","part":1,"order":[0,1]},
    {"shape":[2,3],"word":2,"dtype":"i","part":1,"ascend":[true,false]},
    {"shape":[2,3],"word":2,"dtype":"ii"},
    {"shape":[3],"word":2,"dtype":"i","part":1},
    {"shape":[2],"word":1,"dtype":"u","part":2},
    {"shape":[4294967296,4294967296],"word":1,"dtype":"u"},
    {"shape":[4294967296,4294967296,0],"word":1,"dtype":"u"}]},"note":[true]}"#;
const PARTS: [&[u8]; 4] = [LABEL, &[0; 24], b"", &[0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]];

fn message() -> Message<'static> {
    Message::from_parts(&PARTS, ByteOrder::Big).unwrap()
}

fn entry(index: usize) -> TensEntry<'static> {
    TensLabel::parse(message().label()).unwrap().tensors().nth(index).unwrap().unwrap()
}

#[test]
fn a_label_gives_what_is_written_in_it() {
    let label = TensLabel::of(&message()).unwrap();
    assert_eq!(label.metadata().unwrap().get("run").unwrap().as_u64(), Some(7));
    assert!(label.label().get("note").is_some() && label.label().get("metadata").is_none());
    assert!(label.tens().get("tensors").is_some() && label.tens().get("note").is_none());
    assert_eq!(label.tensors().count(), 8);
    let bare = TensLabel::parse(br#"{"TENS":{}}"#).unwrap();
    assert!(bare.metadata().is_none() && bare.tensors().next().is_none());
    assert!(TensLabel::parse(br#"{"TENS":{"tensors":null}}"#).unwrap().tensors().next().is_none());
}

#[test]
fn an_entry_gives_what_is_written_in_it() {
    let first = entry(0);
    assert_eq!((first.index(), first.rank(), first.word(), first.part()), (0, 2, 2, 1));
    assert_eq!((entry(3).index(), entry(3).part()), (3, 3));
    assert!(first.shape().eq([2, 3]) && first.order().unwrap().eq([1, 0]) && first.ascend().unwrap().eq([true, true]));
    assert!(entry(3).order().is_none() && entry(3).ascend().is_none() && entry(3).packing().is_none());
    assert!(first.packing().unwrap() == *"dense" && first.kind() == *"i");
    assert!(first.metadata().unwrap().as_str().unwrap() == *"m" && entry(1).metadata().is_none());
    assert_eq!(first.json().get("word").unwrap().as_u64(), Some(2));
    assert_eq!((first.dtype(), entry(3).dtype()), (Some(tgm_core::descriptor::Dtype::Int16), None));
    assert_eq!((first.byte_len(), entry(6).byte_len(), entry(7).byte_len()), (Some(12), None, Some(0)));
    let mut dims = [9; 3];
    assert_eq!(first.shape_into(&mut dims), Ok(&[2, 3][..]));
    assert_eq!(first.shape_into(&mut dims[..1]).unwrap_err(), ErrorKind::RankTooLarge(2).of(0, "shape"));
}

#[test]
fn a_view_needs_rows_the_elements_type_and_all_bytes() {
    let message = message();
    let mut dims = [0; 2];
    assert!(entry(0).view::<i16, _>(&message, &mut dims).unwrap().iter().eq(1..=6));
    let refused = |index| entry(index).view::<i16, _>(&message, &mut [0; 2]).unwrap_err();
    assert_eq!(refused(1), ErrorKind::NotRowMajor.of(1, "order"));
    assert_eq!(refused(2), ErrorKind::NotRowMajor.of(2, "order"));
    assert_eq!(refused(3), ErrorKind::DtypeMismatch.of(3, "dtype"));
    assert_eq!(refused(4), ErrorKind::SizeMismatch.of(4, "shape"));
    assert_eq!(entry(0).view::<u16, _>(&message, &mut [0; 2]).unwrap_err().kind(), ErrorKind::DtypeMismatch);
    assert_eq!(entry(0).view::<i16, _>(&message, &mut [0; 1]).unwrap_err().kind(), ErrorKind::RankTooLarge(2));
    assert_eq!(entry(5).bytes(&message).unwrap_err(), ErrorKind::PartOutOfRange.of(5, "part"));
    let parts = [LABEL, &[0; 24], b"", b"", b"", b"", b"", b"", b"", b""];
    let many = Message::from_parts(&parts, ByteOrder::Little).unwrap();
    assert_eq!(entry(6).bytes(&many).unwrap_err(), ErrorKind::SizeOverflow.of(6, "shape"));
    assert_eq!(entry(7).bytes(&many), Ok(&[][..]));
}

#[test]
fn orders_are_permutations_of_at_most_128_dimensions() {
    let label = |rank: usize, order: &[usize]| {
        format!(
            "{{\"TENS\":{{\"tensors\":[{{\"shape\":{:?},\"word\":1,\"dtype\":\"u\",\"order\":{order:?}}}]}}}}",
            [1].repeat(rank)
        )
    };
    let read = |label: &str| TensLabel::parse(label.as_bytes()).unwrap().tensors().next().unwrap().map(|_| ());
    let up: Vec<_> = (0..129).collect();
    assert_eq!(read(&label(128, &up[..128])), Ok(()));
    assert_eq!(read(&label(129, &up)).unwrap_err(), ErrorKind::RankTooLarge(129).of(0, "order"));
    for order in [&[0, 1][..], &[0, 1, 3], &[0, 2, 2], &[0, 1, 2, 2]] {
        assert_eq!(read(&label(3, order)).unwrap_err(), ErrorKind::BadOrder.of(0, "order"), "{order:?}");
    }
}

#[test]
fn layouts_say_their_order_and_where_elements_lie() {
    let shape = [2, 3];
    let layout = |order, ascend| Layout::new(&shape, order, ascend).unwrap();
    assert!(layout(None, None).is_row_major() && layout(Some(&[1, 0]), Some(&[true, true])).is_row_major());
    assert!(!layout(Some(&[0, 1]), None).is_row_major() && layout(Some(&[0, 1]), None).ascends());
    assert!(!layout(None, Some(&[true, false])).is_row_major() && !layout(None, Some(&[true, false])).ascends());
    assert!(layout(None, None).fastest_first().eq([1, 0]) && layout(Some(&[0, 1]), None).fastest_first().eq([0, 1]));
    for (layout, places) in [
        (layout(None, None), [0_u8, 1, 2, 3, 4, 5]),
        (layout(Some(&[0, 1]), None), [0, 2, 4, 1, 3, 5]),
        (layout(None, Some(&[false, true])), [3, 4, 5, 0, 1, 2]),
        (layout(Some(&[0, 1]), Some(&[true, false])), [4, 2, 0, 5, 3, 1]),
    ] {
        let mut strides = [0; 2];
        let offset = layout.strides_into(&mut strides).unwrap();
        let stored = [0_u8, 1, 2, 3, 4, 5];
        let elements = Elements::<u8>::new(&stored, ByteOrder::Little).unwrap();
        let view = OrderedView::new(elements, &shape, &strides, offset).unwrap();
        assert_eq!((view.shape(), view.strides(), view.stored().len()), (&shape[..], &strides[..], 6));
        assert!((&view).into_iter().eq(places));
        assert_eq!(view.iter().len(), 6);
        for (index, place) in places.into_iter().enumerate() {
            let at = [index as u64 / 3, index as u64 % 3];
            assert_eq!(layout.flat_index(&at), Some(place.into()), "{at:?}");
            assert_eq!(view.get_at(&at), Some(place), "{at:?}");
        }
        for outside in [&[2, 0][..], &[0, 3], &[0], &[0, 0, 0]] {
            assert_eq!((layout.flat_index(outside), view.get_at(outside)), (None, None), "{outside:?}");
        }
        assert_eq!(view.copy_into(&mut [0; 5]).unwrap_err().kind(), tgm_core::ErrorKind::OutputLength);
        assert!(format!("{view:?}").contains("[2, 3]"));
        assert_eq!(layout.strides_into(&mut [0; 1]).unwrap_err().kind(), tgm_core::ErrorKind::OutputLength);
    }
}

#[test]
fn a_view_needs_a_stride_for_each_dimension_and_all_elements() {
    let elements = Elements::<u8>::new(&[1, 2], ByteOrder::Little).unwrap();
    let from = |offset, shape: &[u64], strides: &[i64]| {
        OrderedView::new(elements, shape, strides, offset).map(|_| ()).map_err(|e| e.kind())
    };
    let kind = |shape: &[u64], strides: &[i64]| from(0, shape, strides);
    assert_eq!(kind(&[2], &[1]), Ok(()));
    assert_eq!(kind(&[2], &[1, 1]), Err(tgm_core::ErrorKind::StridesMismatch));
    assert_eq!(kind(&[3], &[1]), Err(tgm_core::ErrorKind::PayloadSize));
    assert_eq!(kind(&[1], &[1]), Err(tgm_core::ErrorKind::PayloadSize));
    assert_eq!(kind(&[1 << 40, 1 << 40], &[1, 1]), Err(tgm_core::ErrorKind::ShapeOverflow));
    // Otherwise iterators and copies would leave elements out.
    for (offset, stride) in [(0, -1), (0, 2), (1, 1), (2, -1), (1, -2), (u64::MAX, 1), (0, i64::MAX), (0, i64::MIN)] {
        assert_eq!(from(offset, &[2], &[stride]), Err(tgm_core::ErrorKind::RangeOutOfBounds), "{offset} {stride}");
    }
    assert_eq!((from(1, &[2], &[-1]), from(1, &[2, 1], &[-1, i64::MAX])), (Ok(()), Ok(())));
    let none = Elements::<u8>::new(&[], ByteOrder::Little).unwrap();
    assert!(OrderedView::new(none, &[0, 5], &[5, 1], 0).is_ok());
}

#[test]
fn levels_have_the_names_and_digits_of_zio() {
    let names = ["undefined", "trace", "verbose", "debug", "info", "summary", "warning", "error", "fatal"];
    for (number, name) in (0_u8..).zip(names) {
        let level = Level::from_number(number).unwrap();
        assert_eq!((level.number(), level.digit(), level.name()), (number, b'0' + number, name));
        assert_eq!(level.to_string(), name);
        assert_eq!(Level::from_digit(level.digit()), Some(level));
    }
    assert_eq!((Level::from_number(9), Level::from_digit(b'/'), Level::from_digit(b'9')), (None, None, None));
}

#[test]
fn forms_are_shown_as_text_and_escaped_if_they_are_none() {
    assert_eq!(Form::default(), Form::TENS);
    assert_eq!((Form::TENS.to_string(), format!("{:?}", Form::FLOW)), ("TENS".into(), "Form(\"FLOW\")".into()));
    assert_eq!(Form(*b"a\0~ ").to_string(), "a\\x00~ ");
    assert_eq!((Form(*b"a~ b").as_str(), Form(*b"a\x7f  ").as_str()), (Some("a~ b"), None));
}

#[test]
fn errors_say_where_they_are_in_the_terms_of_their_kind() {
    for (error, text) in [
        (ErrorKind::TruncatedPart.at(2, 9), "a part's size exceeds the buffer at byte 9 of the buffer (part 2)"),
        (ErrorKind::BadMagic.at(0, 1), "invalid magic bytes (expected ZIO) (part 0, byte 1)"),
        (ErrorKind::LabelNotJson.at_byte(5), "the label is not JSON at byte 5 of the label"),
        (ErrorKind::BadWord.of(3, "word"), "word is not an integer from 1 to 4294967295 (tensor 3, key word)"),
        (ErrorKind::TensorNotObject.of_tensor(3), "a tensor is not an object (tensor 3)"),
        (ErrorKind::BadFlow.under("flow"), "flow is not BOT, DAT, PAY or EOT (key flow)"),
        (ErrorKind::NoTens.in_label(), "the label has no key TENS"),
        (ErrorKind::TooFewParts(1).at(0, 0), "a ZIO message has at least 2 parts, not 1"),
        (ErrorKind::PrefixTooShort(7).at(0, 0), "the prefix has 7 bytes, fewer than 8 (part 0, byte 0)"),
        (ErrorKind::BadLevel(b'9').at(0, 3), "invalid level byte 0x39 (expected a digit from 0 to 8) (part 0, byte 3)"),
        (ErrorKind::BadCoordSize(23).at(1, 0), "the coordinates have 23 bytes instead of 24 (part 1, byte 0)"),
    ] {
        assert_eq!(error.to_string(), text);
    }
    let error = ErrorKind::BadWord.of(3, "word");
    assert_eq!((error.part(), error.offset(), error.tensor(), error.key()), (0, None, Some(3), Some("word")));
    let error = ErrorKind::TruncatedPart.at(2, 9);
    assert_eq!((error.part(), error.offset(), error.tensor(), error.key()), (2, Some(9), None, None));
    let empty = ErrorKind::PrefixTooShort(0).to_string();
    assert!(empty.contains("delimiter") && ErrorKind::RankTooLarge(130).to_string().contains("130"));
}

#[test]
fn every_kind_has_a_text_of_its_own() {
    let kinds = [
        ErrorKind::TruncatedSize,
        ErrorKind::TruncatedPart,
        ErrorKind::PartTooLarge,
        ErrorKind::OutputLength,
        ErrorKind::BadMagic,
        ErrorKind::NoDelimiter,
        ErrorKind::NoIdentity,
        ErrorKind::LabelNotUtf8,
        ErrorKind::LabelNotJson,
        ErrorKind::LabelNotObject,
        ErrorKind::NoTens,
        ErrorKind::TensNotObject,
        ErrorKind::TensorsNotArray,
        ErrorKind::TensorNotObject,
        ErrorKind::MissingAttribute,
        ErrorKind::BadShape,
        ErrorKind::BadWord,
        ErrorKind::BadDtype,
        ErrorKind::PointerUnsupported,
        ErrorKind::UnsupportedPacking,
        ErrorKind::BadPart,
        ErrorKind::PartOutOfRange,
        ErrorKind::PartTaken,
        ErrorKind::BadOrder,
        ErrorKind::BadAscend,
        ErrorKind::SizeOverflow,
        ErrorKind::SizeMismatch,
        ErrorKind::DtypeMismatch,
        ErrorKind::NotRowMajor,
        ErrorKind::ReservedKey,
        ErrorKind::NoFlow,
        ErrorKind::BadFlow,
        ErrorKind::BadDirection,
        ErrorKind::BadCredit,
        ErrorKind::CreditExceeded,
        ErrorKind::NoCredit,
        ErrorKind::OutOfTurn,
    ];
    let mut texts: Vec<_> = kinds.iter().map(ToString::to_string).collect();
    assert!(texts.iter().all(|text| text.len() > 10));
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), kinds.len());
}

#[test]
fn parts_tell_what_is_left_and_where() {
    let mut walk = parts(&[2, b'a', b'b', 0, 255, 0, 0, 0, 1, b'c', 9]);
    assert_eq!((walk.offset(), walk.rest().len()), (0, 11));
    for (part, offset) in [(&b"ab"[..], 3), (b"", 4), (b"c", 10)] {
        assert_eq!(walk.next(), Some(Ok(part)));
        assert_eq!((walk.offset(), walk.rest().len() as u64), (offset, 11 - offset));
    }
    assert!(walk.next().unwrap().is_err() && walk.next().is_none());
}

#[test]
fn json_shows_its_text_and_gives_strings_in_place() {
    let json = Json::parse(br#"{"a": ["x", "\u0041", 1.5]}"#).unwrap();
    assert_eq!(format!("{json:?}"), r#"{"a": ["x", "\u0041", 1.5]}"#);
    let list = json.get("a").unwrap();
    let strings: Vec<_> = list.items().unwrap().filter_map(|item| item.as_str()).collect();
    assert_eq!((strings[0].plain(), strings[1].plain()), (Some("x"), None));
    assert_eq!(format!("{strings:?}"), r#"["x", "\u0041"]"#);
    let mut items = list.items().unwrap();
    items.next();
    assert!(format!("{items:?}").ends_with(r#""\u0041", 1.5"#));
}
