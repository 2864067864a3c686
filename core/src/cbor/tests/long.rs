//! Containers of many items, which are walked several items at a time, against their items one by one.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::{skip, uint, value};
use crate::cbor::head::{first_byte, info};
use crate::cbor::uints::read_dimensions;
use crate::cbor::{Cursor, Uints};
use crate::error::ErrorKind;

/// Mostly unsigned integers of any width; sometimes an item of another type, whose content looks like integers.
fn item() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        20 => (any::<u64>(), 0..64_u32, 0..5_usize).prop_map(|(number, shift, width)| uint(number >> shift, width)),
        1 => Just(vec![0x20]),
        1 => Just(vec![0x63, 1, 2, 3]),
        1 => Just(vec![0x43, 1, 2, 3]),
        1 => Just(vec![0x83, 1, 2, 3]),
        1 => Just(vec![0xa1, 1, 2]),
        1 => Just(vec![0xc9, 1]),
        1 => Just(vec![0xc2, 0x41, 7]),
        1 => Just(vec![0xf6]),
        1 => Just(vec![0x9f, 1, 0xff]),
    ]
}

/// Runs of equal items and single ones.
fn items() -> impl Strategy<Value = Vec<Vec<u8>>> {
    proptest::collection::vec((item(), 1..30_usize), 1..8)
        .prop_map(|runs| runs.into_iter().flat_map(|(item, times)| vec![item; times]).collect())
}

/// A head of this major type, with a length of one or two bytes.
fn head(major: u8, count: usize, long: bool) -> Vec<u8> {
    let [high, low] = u16::try_from(count).unwrap().to_be_bytes();
    if long || high > 0 {
        vec![first_byte(major, info::TWO_BYTES), high, low]
    } else {
        vec![first_byte(major, info::ONE_BYTE), low]
    }
}

proptest! {
    #[test]
    fn containers_of_many_items_end_after_the_last_one(items in items(), long: bool, at in any::<prop::sample::Index>()) {
        let even = items.len() / 2 * 2;
        for (major, count, of) in [(4, items.len(), items.len()), (5, even / 2, even)] {
            let whole = [head(major, count, long), items[..of].concat()].concat();
            // What follows looks like more of the same.
            let followed = [&whole[..], &[1; 40]].concat();
            prop_assert_eq!(skip(&followed), Ok(whole.len()));
            prop_assert_eq!(skip(&whole[..at.index(whole.len())]), Err(ErrorKind::Truncated));
        }
    }

    #[test]
    fn tags_and_strings_with_long_heads_are_not_arrays(items in items()) {
        let count = items.len();
        let whole = [head(6, count, false), items[0].clone()].concat();
        prop_assert_eq!(skip(&[whole.clone(), items.concat(), vec![1; 40]].concat()), Ok(whole.len()));
        let text = [head(3, count, false), vec![b'a'; count]].concat();
        prop_assert_eq!(skip(&[text.clone(), vec![1; 40]].concat()), Ok(text.len()));
    }

    #[test]
    fn dimensions_are_multiplied_whatever_form_their_array_has(dims in proptest::collection::vec(0..7_u64, 0..40)) {
        let items: Vec<u8> = dims.iter().flat_map(|dim| uint(*dim, 0)).collect();
        let product = if dims.contains(&0) { Some(0) } else { dims.iter().try_fold(1_u64, |all, dim| all.checked_mul(*dim)) };
        let forms = [[vec![0x9f], items.clone(), vec![0xff]].concat(), [head(4, dims.len(), false), items.clone()].concat()];
        for bytes in forms {
            let mut cursor = Cursor::new(&bytes, 0);
            prop_assert_eq!(read_dimensions(&mut cursor), Ok((dims.len(), product)));
            prop_assert!(cursor.is_empty());
            let view = value(&bytes);
            let uints = Uints::parse(&view).unwrap();
            prop_assert_eq!((uints.len(), uints.is_empty(), uints.iter().len()), (dims.len(), dims.is_empty(), dims.len()));
            prop_assert!(uints.into_iter().eq(dims.iter().copied()) && (&uints).into_iter().eq(dims.iter().copied()));
        }
    }
}

#[test]
fn dimensions_with_a_zero_count_no_element_even_beyond_64_bits() {
    let product = |dims: &[u64]| {
        let items = dims.iter().flat_map(|dim| uint(*dim, 0));
        let bytes: Vec<u8> = std::iter::once(0x80 + u8::try_from(dims.len()).unwrap()).chain(items).collect();
        read_dimensions(&mut Cursor::new(&bytes, 0)).unwrap().1
    };
    assert_eq!(product(&[1 << 40, 1 << 40]), None);
    assert_eq!(product(&[1 << 40, 1 << 40, 0]), Some(0));
    assert_eq!(product(&[0, 1 << 40, 1 << 40]), Some(0));
    assert_eq!(product(&[0, 1 << 40, 1 << 40, 5]), Some(0));
    assert_eq!(product(&[1 << 40, 1 << 40, 0, 0]), Some(0));
    assert_eq!(product(&[u64::MAX]), Some(u64::MAX));
    assert_eq!(product(&[]), Some(1));
}

#[test]
fn integers_tell_where_they_begin_in_the_callers_slice() {
    let bytes = [0x98, 2, 5, 6];
    assert_eq!(Uints::read(&mut Cursor::new(&bytes, 100)).unwrap().offset(), 102);
    let ended = [0x9f, 5, 0xff];
    assert_eq!(Uints::read(&mut Cursor::new(&ended, 7)).unwrap().offset(), 8);
}
