//! What each quick way is made for, it does itself, and it leaves everything else to the plain way.

use std::vec;
use std::vec::Vec;

use super::{skip, value};
use crate::cbor::container::{Container, Count};
use crate::cbor::cursor::Cursor;
use crate::cbor::plain::high_bytes;
use crate::cbor::utf8::Check;
use crate::cbor::{MAX_NESTING, MapReader, plain, read_text_map, runs};

/// Unsigned integers of each width.
const WIDTHS: [u64; 5] = [23, 24, 0x100, 0x0001_0000, u64::MAX];

fn uint(number: u64) -> Vec<u8> {
    minicbor::to_vec(number).unwrap()
}

#[test]
fn integers_of_one_width_are_stepped_over_in_groups_of_eight() {
    for number in WIDTHS {
        let one = uint(number);
        for count in 0..20 {
            let bytes = [one.repeat(count), vec![0xf6; 3]].concat();
            // One byte needs no group.
            let all = count.min(17);
            let alike = if one.len() == 1 { all } else { all / 8 * 8 };
            assert_eq!(runs::skip_alike(&bytes, 17), (alike, &bytes[alike * one.len()..]), "{count} times {number}");
            assert_eq!(runs::skip_alike(&bytes, 7), (0, bytes.as_slice()));
        }
        let other = [one.repeat(7), vec![0xf6; 9]].concat();
        assert_eq!(runs::skip_alike(&other, 8).0, if one.len() == 1 { 7 } else { 0 });
    }
}

#[test]
fn integers_of_all_widths_are_stepped_over_and_nothing_else_is() {
    let each: Vec<u8> = WIDTHS.into_iter().flat_map(uint).collect();
    let bytes = [each.clone(), uint(300).repeat(9), each.clone(), vec![0x20]].concat();
    assert_eq!(runs::skip_all(&bytes, 19), Some(&[0x20][..]));
    assert_eq!(runs::skip_all(&bytes, 20), None);
    assert_eq!(runs::skip_all(&each[..each.len() - 1], 5), None);
    assert_eq!(runs::skip_all(&[], 0), Some(&[][..]));
    assert!(skip(&[[0x98, 24].as_slice(), &uint(300).repeat(24)].concat()).is_ok());
}

#[test]
fn arrays_of_many_integers_inside_others_are_stepped_over() {
    let after = |last: &[u8]| {
        let bytes = [&[0x82, 0x98, 24], &uint(300).repeat(23)[..], last, &[0x01, 0x02]].concat();
        let mut cursor = Cursor::new(&bytes, 0);
        cursor.skip().ok().map(|()| cursor.rest().to_vec())
    };
    for last in [uint(300), uint(3), vec![0x20], vec![0x80], vec![0x61, b'k']] {
        assert_eq!(after(&last), Some(vec![0x02]), "{last:02x?}");
    }
    assert_eq!((after(&[0xff]), after(&[0x1c])), (None, None));
}

#[test]
fn eight_integers_of_two_or_four_bytes_are_read_at_once() {
    for (number, is_taken) in WIDTHS.into_iter().zip([false, false, true, true, false]) {
        let bytes = [uint(number).repeat(8), vec![0xf6]].concat();
        let taken = is_taken.then_some(([number; 8], &[0xf6][..]));
        assert_eq!(runs::take_eight(&bytes, 8), taken);
        assert_eq!(runs::take_eight(&bytes, 7), None);
        assert_eq!(runs::take_eight(&[uint(number).repeat(7), uint(1).repeat(9)].concat(), 8), None);
    }
}

/// What the plain walk leaves of an item with two bytes after it.
fn plain_rest(item: &[u8], check: Check, nesting: u16) -> Option<usize> {
    plain::skip(&[item, &[0x01, 0x02]].concat(), check, nesting).map(<[u8]>::len)
}

#[test]
fn plain_items_take_the_plain_walk() {
    let all = Check::Utf8;
    for number in WIDTHS {
        let below = minicbor::to_vec(i64::try_from(number).map_or(i64::MIN, |number| -1 - number)).unwrap();
        assert_eq!((plain_rest(&uint(number), all, 8), plain_rest(&below, all, 8)), (Some(2), Some(2)));
    }
    for item in [
        &b"\xf4"[..],
        b"\xf5",
        b"\xf6",
        b"\xf7",
        b"\xf9\xfe\x00",
        b"\xfa\xff\x80\x00\x00",
        b"\xfb\xff\xf8\x00\x00\x00\x00\x00\x01",
        b"\x60",
        b"\x63abc",
        b"\x78\x03abc",
        b"\x80",
        b"\x82\x01\x02",
        b"\xa1\x61k\x81\x38\x80",
        b"\x40",
        b"\x42\xff\x00",
        b"\x58\x02\xff\x80",
        b"\x59\x00\x01\x80",
        b"\xb8\x02\x61k\x01\x61l\x41\x80",
        // Eight levels.
        b"\x81\x81\x81\x81\x81\x81\x81\x81\x05",
    ] {
        assert_eq!(plain_rest(item, all, 8), Some(2), "{item:02x?}");
        assert_eq!(plain_rest(item, all, 7), None);
    }
    // Nine levels, a tag, lengths that are not known, 24 items, a byte string that may be longer than 64 KiB.
    for item in [
        &b"\x81\x81\x81\x81\x81\x81\x81\x81\x81\x05"[..],
        b"\xc1\x00",
        b"\x9f\xff",
        b"\x7f\xff",
        b"\x5f\xff",
        b"\x5a\x00\x00\x00\x01\x00",
    ] {
        assert_eq!(plain_rest(item, all, MAX_NESTING), None, "{item:02x?}");
    }
    assert_eq!(plain_rest(&[&[0x98, 24], &[0; 24][..]].concat(), all, MAX_NESTING), None);
    // Bytes and entries that are not there, and text beside bytes that is not ASCII.
    for item in
        [&b"\x42\xff"[..], b"\x58\x02\xff", b"\x59\x00", b"\xb8", b"\xb8\x02\x61k\x01\x61", b"\x82\x41\xff\x61\xff"]
    {
        assert_eq!(plain::skip(item, all, 8), None, "{item:02x?}");
    }
    // There are as many bytes as items, and one less.
    assert_eq!(plain::skip(&[0x82, 1, 2], all, 8), Some(&[][..]));
    assert_eq!(plain::skip(&[0x82, 1], all, 8), None);
}

#[test]
fn text_beyond_ascii_is_left_to_the_plain_way_until_it_was_checked() {
    let items = ["\u{e9}", "a text of more than twenty-three bytes \u{e9}"].map(|text| minicbor::to_vec(text).unwrap());
    for item in items {
        assert_eq!((plain_rest(&item, Check::Utf8, 8), plain_rest(&item, Check::Done, 8)), (None, Some(2)));
    }
}

#[test]
fn only_keys_of_the_outermost_map_have_to_be_text() {
    let rest = |bytes| plain::skip_text_map(bytes, Check::Utf8, 8, &mut ()).map(<[u8]>::len);
    assert_eq!(rest(b"\xa2\x61a\x01\x61b\xa1\x05\x06"), Some(0));
    assert_eq!(rest(b"\xa1\x78\x03key\x01"), Some(0));
    assert_eq!((rest(b"\xa1\x01\x61a"), rest(b"\xa2\x61a\x01\x02\x03"), rest(b"\xa1\xf6\x61a")), (None, None, None));
    assert_eq!(rest(b"\x82\x61a\x01"), None);
}

#[test]
fn a_container_tells_how_many_entries_may_follow() {
    let left = |bytes: &'static [u8], seen| {
        let mut items = Cursor::new(bytes, 0);
        let head = items.item_head().unwrap();
        (Count::of(&head).get().is_some(), Count::of(&head).left(seen), Container::new(&head, items).left(seen))
    };
    assert_eq!((left(b"\x83\x01\x02\x03", 1), left(b"\x83\x01\x02\x03", 4)), ((true, 2, 2), (true, 0, 0)));
    assert_eq!(left(b"\x9f\xff", 1), (false, usize::MAX - 1, usize::MAX - 1));
}

#[test]
fn high_bytes_are_counted_however_many_there_are() {
    for count in [0, 1, 7, 8, 9, 247, 248, 249, 2039, 2040, 2041, 5000] {
        assert_eq!(high_bytes(&vec![0x80; count]), count);
        assert_eq!(high_bytes(&vec![0x7f; count]), 0);
    }
}

#[test]
fn bytes_are_not_text_and_may_be_anything() {
    assert_eq!(skip(&[0x41, 0xff]), Ok(2));
    assert_eq!(skip(&[0x58, 1, 0xff]), Ok(3));
    for text in [&[0x61, 0xff][..], &[0x61, 0x80], &[0x62, 0x80, 0x80], &[0x62, b'a', 0xc3]] {
        assert!(skip(text).is_err(), "{text:02x?}");
    }
}

#[test]
fn only_a_tag_makes_bytes_a_number() {
    assert_eq!(value(&[0xc2, 0x41, 7]).as_integer(), Ok(7));
    assert!(value(&[0x82, 0x41, 7, 0x41, 8]).as_integer().is_err());
}

#[test]
fn short_texts_are_taken_by_their_first_byte() {
    let take = |bytes: &'static [u8]| {
        let mut cursor = Cursor::new(bytes, 0);
        (cursor.take_short_text(), cursor.rest().len())
    };
    assert_eq!(take(b"\x62ab\x05"), (Some(&b"ab"[..]), 1));
    assert_eq!((take(b"\x62a"), take(b"\x78\x01a"), take(b"\x42ab")), ((None, 2), (None, 3), (None, 3)));
    let mut cursor = Cursor::new(b"\x78\x01a\x7f\x61a\xff", 0);
    assert_eq!((cursor.take_str(), cursor.take_str(), cursor.rest().len()), (Ok(Some("a")), Ok(None), 4));
}

#[test]
fn a_map_read_key_by_key_ends_before_a_text_behind_it() {
    // The keys are beyond ASCII, so the plain walk gives up. The text after the map looks like one more key.
    let bytes = b"\xa1\x62\xc3\xa9\x01\x61a\x02";
    let mut cursor = Cursor::new(bytes, 0);
    assert_eq!(read_text_map(&mut cursor, 0).unwrap().len(), 1);
    assert_eq!(cursor.rest(), b"\x61a\x02");
    let mut entries = MapReader::open(Cursor::new(bytes, 0), 0).unwrap();
    let key = entries.next_key().map(|key| key.is_some());
    assert_eq!((key, entries.skip(), entries.next_key().map(|key| key.is_some())), (Ok(true), Ok(()), Ok(false)));
}

#[test]
fn a_map_is_continued_if_its_other_entries_can_follow() {
    let encoded = Cursor::new(b"\xa3\x61a\x01\x60\x02\x60\x03", 0);
    let resumed = |rest, count, seen| MapReader::resume(encoded, rest, count, seen).is_some();
    assert!(resumed(b"\x60\x02\x60\x03", 3, 1) && resumed(b"\x60\x02\x60\x03\x00", 3, 1) && resumed(b"", 3, 3));
    assert!(!resumed(b"\x60\x02\x60", 3, 1) && !resumed(b"", 3, 4));
    let levels = MapReader::open(encoded, 7).unwrap().depth();
    assert_eq!(levels, 8);
}
