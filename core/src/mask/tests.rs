//! Each form compared with a plain reader or with another writer; restoration compared with a loop over elements.

use std::vec;
use std::vec::Vec;

use ::roaring::RoaringBitmap;
use proptest::prelude::*;

use super::piece::{Piece, Word};
use super::*;
use crate::descriptor::{ByteOrder, Dtype};
use crate::error::{Error, ErrorKind, Result};

/// The set elements, one by one.
fn elements(mask: &Mask<'_>) -> Result<Vec<u64>> {
    let mut elements = Vec::new();
    for run in mask.runs() {
        elements.extend(run?);
    }
    Ok(elements)
}

/// The set elements of a piece.
fn elements_of(piece: Piece) -> Vec<u64> {
    match piece {
        Piece::Run(run) => run.collect(),
        Piece::Word(Word { bits, position }) => {
            (position..).zip(0..64).filter(|(_, bit)| bits << bit >> 63 == 1).map(|(element, _)| element).collect()
        }
    }
}

/// The error of reading `blob` over `count` elements.
fn defect(form: BitmapForm, blob: &[u8], count: u64) -> Error {
    let mask = Mask::new(form, blob, count);
    let error = mask.verify().expect_err("a defective blob");
    assert_eq!(mask.count_set(), Err(error));
    assert_eq!(elements(&mask), Err(error));
    assert_eq!(mask.runs().finish(), Err(error));
    let mut runs = mask.runs();
    assert!(runs.by_ref().any(|run| run == Err(error)));
    assert_eq!((runs.next(), runs.next()), (None, None), "the end follows an error");
    error
}

#[test]
fn a_mask_keeps_the_bytes_that_it_was_given() {
    let mask = Mask::new(BitmapForm::Raw, &[1, 2], 9);
    assert_eq!((mask.blob(), mask.count(), mask.form()), (&[1, 2][..], 9, BitmapForm::Raw));
}

#[test]
fn an_array_of_4096_positions_is_an_array() {
    let positions: RoaringBitmap = (0..8192).step_by(2).collect();
    let mut blob = Vec::new();
    positions.serialize_into(&mut blob).unwrap();
    assert_eq!(Mask::new(BitmapForm::Roaring, &blob, 8192).count_set(), Ok(4096));
}

#[test]
fn roaring_has_a_container_for_each_key_and_not_more() {
    let blob = |count: u32| {
        let keys = (0..count).flat_map(|key| [key.to_le_bytes()[0], key.to_le_bytes()[1], 0, 0]);
        let offsets = (0..count).flat_map(|_| [0; 4]);
        let arrays = (0..count).flat_map(|_| [7, 0]);
        let head = [12346_u32.to_le_bytes(), count.to_le_bytes()].concat();
        head.into_iter().chain(keys).chain(offsets).chain(arrays).collect::<Vec<u8>>()
    };
    let count_set = |count| Mask::new(BitmapForm::Roaring, &blob(count), 1 << 32).count_set();
    assert_eq!(count_set(1 << 16), Ok(1 << 16));
    assert_eq!(count_set((1 << 16) + 1), Err(ErrorKind::RoaringContainer.at(4)));
}

#[test]
fn a_window_of_a_raw_bitmap_is_all_that_is_read_of_it() {
    let blob = [0x55; 1000];
    let mask = Mask::new(BitmapForm::Raw, &blob, 7999);
    for (start, end) in [(0, 0), (0, 1), (7, 9), (100, 200), (7990, 7999), (7999, 7999)] {
        let (part, first) = mask.around(start, end).unwrap();
        assert!(part.blob().len() as u64 <= (end - start) / 8 + 2, "{start}..{end}");
        assert!(part.runs().all(|run| run.is_ok()), "{start}..{end}");
        let set = mask.within(start, end - start).unwrap().flat_map(|piece| elements_of(piece.unwrap()));
        let set = set.map(|element| element + start);
        assert!(first <= start && set.eq((start..end).filter(|at| at % 2 == 1)), "{start}..{end}");
    }
    assert_eq!(Mask::new(BitmapForm::Raw, &blob, 8001).within(0, 1).err(), Some(ErrorKind::MaskLength.at(0)));
}

#[test]
fn runs_are_filled_as_the_mask_of_them_is_restored() {
    let mask = Mask::new(BitmapForm::Raw, &[0b0111_0010, 0b1100_0000], 10);
    for dtype in [Dtype::Float16, Dtype::Float32, Dtype::Float64, Dtype::Complex64, Dtype::Complex128, Dtype::Int16] {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            let mut restored = std::vec![0x11; 10 * dtype.byte_width()];
            let mut filled = restored.clone();
            restore_into(&mask, MaskKind::NegInf, dtype, order, 0, &mut restored).unwrap();
            fill_runs(mask.runs().map(Result::unwrap), MaskKind::NegInf, dtype, order, &mut filled).unwrap();
            assert_eq!(restored, filled, "{dtype}");
        }
    }
    let mut out = [0; 8];
    fill_runs([1..u64::MAX, 7..9], MaskKind::Nan, Dtype::Float32, ByteOrder::Big, &mut out).unwrap();
    assert_eq!(out, [0, 0, 0, 0, 0x7f, 0xc0, 0, 0], "what reaches beyond is left out");
    let fill = |dtype, out: &mut [u8]| fill_runs(Some(0..1), MaskKind::Nan, dtype, ByteOrder::Big, out);
    assert_eq!(fill(Dtype::Bitmask, &mut out), Err(ErrorKind::MaskDtype(Dtype::Bitmask).at(0)));
    assert_eq!(fill(Dtype::Int32, &mut out[..7]), Err(ErrorKind::OutputLength.at(0)));
}

/// The positions of the set bits.
fn positions(bits: &[bool]) -> Vec<u64> {
    (0..).zip(bits).filter(|&(_, &bit)| bit).map(|(position, _)| position).collect()
}

fn to_raw(bits: &[bool]) -> Vec<u8> {
    bits.chunks(8).map(|eight| (0..).zip(eight).fold(0, |byte, (i, &bit)| byte | u8::from(bit) << (7 - i))).collect()
}

fn to_rle(bits: &[bool]) -> Vec<u8> {
    let mut blob: Vec<u8> = bits.first().map(|&bit| u8::from(bit)).into_iter().collect();
    for run in bits.chunk_by(|a, b| a == b) {
        push_varint(&mut blob, run.len() as u64);
    }
    blob
}

fn push_varint(blob: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        blob.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    blob.push(value.to_le_bytes()[0]);
}

fn to_roaring(set: &RoaringBitmap) -> Vec<u8> {
    let mut blob = Vec::new();
    set.serialize_into(&mut blob).unwrap();
    blob
}

/// Checks that every way to read the mask gives `bits`.
fn check(mask: &Mask<'_>, bits: &[bool]) {
    let expected = positions(bits);
    assert_eq!(mask.verify(), Ok(()));
    assert_eq!(mask.count_set(), Ok(expected.len() as u64));
    assert_eq!(elements(mask).as_deref(), Ok(&expected[..]));
    let runs: Vec<_> = mask.runs().map(Result::unwrap).collect();
    assert!(runs.iter().all(|run| run.start < run.end), "no run is empty");
    assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start), "unset elements between runs");
    for (start, end) in [(0, bits.len()), (bits.len() / 3, bits.len() / 2), (bits.len() / 2, bits.len())] {
        let window = &bits[start..end];
        let mut out = vec![0xaa; window.len().div_ceil(8)];
        mask.bits_into(start as u64, window.len() as u64, &mut out).unwrap();
        assert_eq!(out, to_raw(window));
        check_restored(mask, start as u64, window);
    }
}

/// Checks that restoring `bits`, a window of the mask from element `start` on, changes their elements and no others.
fn check_restored(mask: &Mask<'_>, start: u64, bits: &[bool]) {
    let mut restored = vec![0x55; 2 * bits.len()];
    restore_into(mask, MaskKind::PosInf, Dtype::Bfloat16, ByteOrder::Big, start, &mut restored).unwrap();
    let expected: Vec<u8> = bits.iter().flat_map(|&is_set| if is_set { [0x7f, 0x80] } else { [0x55; 2] }).collect();
    assert_eq!(restored, expected, "{:?} from {start} on", mask.form());
}

/// Bits in runs of either value, whose lengths are short or long.
fn runny_bits() -> impl Strategy<Value = Vec<bool>> {
    let run = (any::<bool>(), prop_oneof![1_usize..4, 1_usize..200]);
    prop::collection::vec(run, 0..20).prop_map(|runs| runs.into_iter().flat_map(|(bit, len)| vec![bit; len]).collect())
}

/// Positions of every density over up to four containers, which roaring writes as arrays, bitmaps and runs.
fn roaring_set() -> impl Strategy<Value = RoaringBitmap> {
    let list = prop::collection::vec(0_u32..1 << 16, 0..50).prop_map(Vec::into_iter).prop_map(RoaringBitmap::from_iter);
    let dense = (1_u32..5, 0_u32..9).prop_map(|(step, from)| (from..1 << 16).step_by(step as usize + 1).collect());
    let runs = prop::collection::vec((0_u32..1 << 16, 1_u32..3000), 1..20).prop_map(|runs| {
        let mut set = RoaringBitmap::new();
        for (start, len) in runs {
            set.insert_range(start..(start + len).min(1 << 16));
        }
        set
    });
    let container = prop_oneof![list, dense, runs];
    (prop::collection::vec((0_u32..12, container), 0..6), any::<bool>()).prop_map(|(containers, optimise)| {
        let shifted = containers.into_iter().flat_map(|(key, set)| set.into_iter().map(move |low| key << 16 | low));
        let mut set: RoaringBitmap = shifted.collect();
        if optimise {
            set.optimize();
        }
        set
    })
}

fn set_elements(set: &RoaringBitmap) -> Vec<u64> {
    set.iter().map(u64::from).collect()
}

proptest! {
    #[test]
    fn raw_is_what_was_written(bits in runny_bits()) {
        check(&Mask::new(BitmapForm::Raw, &to_raw(&bits), bits.len() as u64), &bits);
    }

    #[test]
    fn rle_is_what_was_written(bits in runny_bits()) {
        check(&Mask::new(BitmapForm::Rle, &to_rle(&bits), bits.len() as u64), &bits);
    }

    #[test]
    fn roaring_is_what_was_written(bits in runny_bits(), optimise in any::<bool>()) {
        let mut set: RoaringBitmap = positions(&bits).into_iter().map(|position| u32::try_from(position).unwrap()).collect();
        if optimise {
            set.optimize();
        }
        check(&Mask::new(BitmapForm::Roaring, &to_roaring(&set), bits.len() as u64), &bits);
    }

    #[test]
    fn raw_pad_bits_are_ignored(bits in runny_bits(), noise in any::<u8>()) {
        let mut blob = to_raw(&bits);
        if let (Some(last), 1..) = (blob.last_mut(), bits.len() % 8) {
            *last |= noise >> (bits.len() % 8);
        }
        check(&Mask::new(BitmapForm::Raw, &blob, bits.len() as u64), &bits);
    }

    #[test]
    fn any_bytes_are_read_without_panic(blob in prop::collection::vec(any::<u8>(), 0..60), count in 0_u64..500) {
        for form in [BitmapForm::Raw, BitmapForm::Rle, BitmapForm::Roaring] {
            let mask = Mask::new(form, &blob, count);
            if let Ok(elements) = elements(&mask) {
                prop_assert!(elements.is_sorted_by(|a, b| a < b));
                prop_assert!(elements.iter().all(|&element| element < count));
            }
            let mut values = vec![0; 64];
            let _ = restore_into(&mask, MaskKind::Nan, Dtype::Float32, ByteOrder::Big, 3, &mut values);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_kind_of_container_is_what_roaring_wrote(set in roaring_set(), at in 0_u32..12 << 16, len in 0_u32..300) {
        let blob = to_roaring(&set);
        let count = set.max().map_or(0, |max| u64::from(max) + 1);
        let mask = Mask::new(BitmapForm::Roaring, &blob, count);
        prop_assert_eq!(mask.count_set(), Ok(set.len()));
        prop_assert_eq!(elements(&mask), Ok(set_elements(&set)));
        let window = u64::from(at).min(count)..u64::from(at + len).min(count);
        let bits: Vec<_> = window.clone().map(|position| set.contains(u32::try_from(position).unwrap())).collect();
        check_restored(&mask, window.start, &bits);
        if let Some(one_less) = count.checked_sub(1) {
            let error = defect(BitmapForm::Roaring, &blob, one_less);
            prop_assert_eq!(error.kind(), ErrorKind::RoaringContainer);
        }
        // Bytes after the last container are ignored.
        let longer = [&blob[..], b"more"].concat();
        prop_assert_eq!(Mask::new(BitmapForm::Roaring, &longer, count).count_set(), Ok(set.len()));
    }

    #[test]
    fn a_cut_roaring_bitmap_is_truncated_at_the_cut(set in roaring_set(), part in 0.0..1.0) {
        let blob = to_roaring(&set);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "small")]
        let cut = (blob.len() as f64 * part) as usize;
        let error = defect(BitmapForm::Roaring, &blob[..cut], 1 << 32);
        prop_assert_eq!(error, ErrorKind::Truncated.at(cut as u64));
    }

    #[test]
    fn a_changed_roaring_bitmap_is_what_roaring_reads_if_it_does(
        set in roaring_set(),
        changes in prop::collection::vec((0.0..1.0_f64, any::<u8>()), 1..4),
        near_front in any::<bool>(),
    ) {
        let mut blob = to_roaring(&set);
        for (part, byte) in changes {
            let reach = if near_front { blob.len().min(40) } else { blob.len() };
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "small")]
            let at = (part * reach as f64) as usize;
            blob[at] = byte;
        }
        let ours = elements(&Mask::new(BitmapForm::Roaring, &blob, 1 << 32));
        if let Ok(theirs) = RoaringBitmap::deserialize_from(&blob[..]) {
            prop_assert_eq!(ours, Ok(set_elements(&theirs)));
        }
    }
}

#[test]
fn raw_blob_of_another_length_does_not_cover_the_elements() {
    for (len, count) in [(0, 1), (1, 0), (1, 9), (2, 8), (1, u64::MAX)] {
        assert_eq!(defect(BitmapForm::Raw, &vec![0; len], count), ErrorKind::MaskLength.at(0));
    }
}

#[test]
fn rle_mask_of_the_reference_is_read() {
    let bits =
        [true, false, true, true, false, false, false, false, true, true, false, false, false, false, false, false];
    let blob = [0x01, 0x01, 0x01, 0x02, 0x04, 0x02, 0x06];
    assert_eq!(to_rle(&bits), blob);
    check(&Mask::new(BitmapForm::Rle, &blob, 16), &bits);
    assert_eq!(Mask::new(BitmapForm::Rle, &blob, 16).count(), 16);
}

#[test]
fn rle_starts_with_zero_or_one() {
    assert_eq!(defect(BitmapForm::Rle, &[2, 5], 5), ErrorKind::RleStart(2).at(0));
}

#[test]
fn rle_runs_sum_to_the_count() {
    assert_eq!(defect(BitmapForm::Rle, &[1, 2, 2], 5), ErrorKind::MaskLength.at(3), "too few");
    assert_eq!(defect(BitmapForm::Rle, &[1, 2, 4], 5), ErrorKind::MaskLength.at(2), "too many");
    assert_eq!(defect(BitmapForm::Rle, &[1, 5, 1], 5), ErrorKind::MaskLength.at(2), "another run");
    assert_eq!(defect(BitmapForm::Rle, &[1], 5), ErrorKind::MaskLength.at(1), "no run");
}

#[test]
fn rle_blob_is_empty_exactly_for_no_elements() {
    check(&Mask::new(BitmapForm::Rle, &[], 0), &[]);
    assert_eq!(defect(BitmapForm::Rle, &[0], 0), ErrorKind::MaskLength.at(0));
    assert_eq!(defect(BitmapForm::Rle, &[], 1), ErrorKind::MaskLength.at(0));
}

#[test]
fn rle_run_is_not_empty_and_ends_within_u64() {
    assert_eq!(defect(BitmapForm::Rle, &[0, 3, 0, 2], 5), ErrorKind::RleRun.at(2), "empty");
    assert_eq!(defect(BitmapForm::Rle, &[0, 3, 0x82], 5), ErrorKind::RleRun.at(2), "cut short");
    let eleven = [&[0][..], &[0x80; 10], &[1]].concat();
    assert_eq!(defect(BitmapForm::Rle, &eleven, 5), ErrorKind::RleRun.at(1), "eleven bytes");
    let above = [&[0][..], &[0xff; 9], &[2]].concat();
    assert_eq!(defect(BitmapForm::Rle, &above, u64::MAX), ErrorKind::RleRun.at(1), "above u64");
}

#[test]
fn rle_run_may_be_as_long_as_u64() {
    let whole = [&[1][..], &[0xff; 9], &[1]].concat();
    let mask = Mask::new(BitmapForm::Rle, &whole, u64::MAX);
    assert!(mask.runs().eq([Ok(0..u64::MAX)]));
    assert_eq!(mask.count_set(), Ok(u64::MAX));
    let overflowing = [&whole[..], &[1]].concat();
    assert_eq!(defect(BitmapForm::Rle, &overflowing, u64::MAX), ErrorKind::MaskLength.at(11));
}

/// Three containers, the second with runs: 12347 in the lower half, the number of containers - 1 in the upper.
fn three_containers() -> Vec<u8> {
    [
        &[0x3b, 0x30, 2, 0][..],
        &[0b010],                  // the second is one of runs
        &[0, 0, 1, 0],             // key 0, 2 positions
        &[1, 0, 0xff, 0xff],       // key 1, 65536 positions
        &[2, 0, 0, 0],             // key 2, 1 position
        &[3, 0, 5, 0],             // 3, 5
        &[1, 0, 0, 0, 0xff, 0xff], // one run: 0, 65536 long
        &[0, 0],                   // 0
    ]
    .concat()
}

#[test]
fn roaring_runs_join_across_containers() {
    let blob = three_containers();
    let mask = Mask::new(BitmapForm::Roaring, &blob, 200_000);
    assert!(mask.runs().eq([Ok(3..4), Ok(5..6), Ok(65536..131_073)]));
}

#[test]
fn roaring_mask_of_the_reference_is_read() {
    let blob = [
        &[0x3a, 0x30, 0, 0][..],
        &[1, 0, 0, 0],    // one container
        &[0, 0, 4, 0],    // key 0, 5 positions
        &[0x10, 0, 0, 0], // at byte 16
        &[0, 0, 2, 0, 3, 0, 8, 0, 9, 0],
    ]
    .concat();
    assert_eq!(elements(&Mask::new(BitmapForm::Roaring, &blob, 16)), Ok(vec![0, 2, 3, 8, 9]));
    assert_eq!(defect(BitmapForm::Roaring, &blob, 9), ErrorKind::RoaringContainer.at(24));
}

#[test]
fn roaring_without_containers_is_empty() {
    assert_eq!(Mask::new(BitmapForm::Roaring, &[0x3a, 0x30, 0, 0, 0, 0, 0, 0], 0).count_set(), Ok(0));
    assert_eq!(defect(BitmapForm::Roaring, &[], 0), ErrorKind::Truncated.at(0));
}

#[test]
fn roaring_cookie_is_one_of_two() {
    assert_eq!(
        defect(BitmapForm::Roaring, &[0x3a, 0x30, 1, 0, 0, 0, 0, 0], 9),
        ErrorKind::RoaringCookie(0x1_303a).at(0)
    );
}

#[test]
fn roaring_has_one_container_for_each_key() {
    let blob = [0x3a, 0x30, 0, 0, 1, 0, 1, 0];
    assert_eq!(defect(BitmapForm::Roaring, &blob, 9), ErrorKind::RoaringContainer.at(4));
}

/// One byte of [`three_containers`] is changed, and where the change is noticed.
#[test]
fn roaring_contradictions_are_noticed_where_they_stand() {
    let changes = [
        (9, 0, 9, "key 0 again"),
        (19, 3, 19, "position 3 again"),
        (19, 2, 19, "descending positions"),
        (23, 1, 23, "run beyond its container"),
        (21, 0, 21, "no runs"),
    ];
    for (at, value, noticed, what) in changes {
        let mut blob = three_containers();
        blob[at] = value;
        assert_eq!(defect(BitmapForm::Roaring, &blob, 200_000), ErrorKind::RoaringContainer.at(noticed), "{what}");
    }
}

#[test]
fn roaring_runs_do_not_overlap() {
    let blob = |second: u8| [0x3b, 0x30, 0, 0, 1, 0, 0, 9, 0, 2, 0, 0, 0, 4, 0, second, 0, 0, 0];
    assert_eq!(defect(BitmapForm::Roaring, &blob(4), 99), ErrorKind::RoaringContainer.at(15));
    assert!(Mask::new(BitmapForm::Roaring, &blob(5), 99).runs().eq([Ok(0..6)]), "adjoining runs are one");
}

#[test]
fn roaring_bitmap_has_the_cardinality_of_its_descriptor() {
    let header = [0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 0xff, 0xff, 16, 0, 0, 0];
    let full = [&header[..], &[0xff; 8192]].concat();
    assert!(Mask::new(BitmapForm::Roaring, &full, 65536).runs().eq([Ok(0..65536)]));
    for (first, cardinality, what) in [(0xfe, 0xffff, "one too few"), (0xff, 0xfffe, "one too many")] {
        let mut blob = full.clone();
        blob[10..12].copy_from_slice(&u16::to_le_bytes(cardinality));
        blob[16] = first;
        assert_eq!(defect(BitmapForm::Roaring, &blob, 65536), ErrorKind::RoaringContainer.at(16), "{what}");
    }
}

#[test]
fn roaring_positions_beyond_the_count_are_noticed_where_they_stand() {
    let header = [0x3a, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 0xff, 0xff, 16, 0, 0, 0];
    let full = [&header[..], &[0xff; 8192]].concat();
    let noticed = |blob: &[u8], count| defect(BitmapForm::Roaring, blob, count);
    assert_eq!(noticed(&full, 100), ErrorKind::RoaringContainer.at(16 + 8), "second word");
    assert_eq!(noticed(&full, 65535), ErrorKind::RoaringContainer.at(16 + 8184), "last word");
    assert_eq!(noticed(&three_containers(), 5), ErrorKind::RoaringContainer.at(19), "second position");
    assert_eq!(noticed(&three_containers(), 65536), ErrorKind::RoaringContainer.at(23), "run");
}

#[test]
fn window_of_bits_lies_within_the_mask() {
    let mask = Mask::new(BitmapForm::Raw, &[0xff, 0xff], 16);
    assert_eq!(mask.bits_into(9, 8, &mut [0]), Err(ErrorKind::RangeOutOfBounds.at(0)));
    assert_eq!(mask.bits_into(u64::MAX, 8, &mut [0]), Err(ErrorKind::RangeOutOfBounds.at(0)));
    assert_eq!(mask.bits_into(0, 8, &mut [0, 0]), Err(ErrorKind::OutputLength.at(0)));
    let mut out = [0];
    assert_eq!(mask.bits_into(13, 3, &mut out).map(|()| out), Ok([0b1110_0000]));
}

/// The value of a restored element by PIPELINE §6.4; for complex elements, of each part. Most significant byte first.
fn canonical(kind: MaskKind, dtype: Dtype) -> Vec<u8> {
    let float = match kind {
        MaskKind::Nan => f64::from_bits(0x7ff8 << 48),
        MaskKind::PosInf => f64::INFINITY,
        MaskKind::NegInf => f64::NEG_INFINITY,
    };
    #[allow(clippy::cast_possible_truncation, reason = "neither NaN nor infinity loses anything")]
    let single = (float as f32).to_be_bytes();
    match dtype {
        // Sign, five bits of exponent, and a fraction whose only set bit can be the first.
        Dtype::Float16 => vec![single[0] & 0xfc | u8::from(float.is_nan()) << 1, 0],
        Dtype::Bfloat16 => single[..2].to_vec(),
        Dtype::Float32 | Dtype::Complex64 => single.to_vec(),
        _ => float.to_be_bytes().to_vec(),
    }
}

#[test]
fn every_float_is_restored_in_every_order_and_window() {
    let bits: Vec<bool> = (0..40).map(|i| i % 7 < 3 && i != 15).collect();
    let blob = to_raw(&bits);
    let mask = Mask::new(BitmapForm::Raw, &blob, 40);
    for dtype in Dtype::ALL.into_iter().filter(|dtype| dtype.is_float()) {
        for (kind, order) in
            MaskKind::ALL.into_iter().flat_map(|kind| [(kind, ByteOrder::Big), (kind, ByteOrder::Little)])
        {
            let mut part = canonical(kind, dtype);
            if order == ByteOrder::Little {
                part.reverse();
            }
            let width = dtype.byte_width();
            for (start, count) in [(0, 40), (1, 5), (14, 26), (40, 0)] {
                let mut out = vec![0x55; count * width];
                restore_into(&mask, kind, dtype, order, start as u64, &mut out).unwrap();
                let set = &bits[start..start + count];
                let element = |&set| if set { part.repeat(width / part.len()) } else { vec![0x55; width] };
                let expected: Vec<u8> = set.iter().flat_map(element).collect();
                assert_eq!(out, expected, "{dtype} {kind:?} {order} {start}");
            }
        }
    }
}

#[test]
fn integers_have_their_masks_read_and_nothing_restored() {
    let mut out = [7; 8];
    let mut restore = |blob: &[u8]| {
        let mask = Mask::new(BitmapForm::Raw, blob, 4);
        restore_into(&mask, MaskKind::Nan, Dtype::Int16, ByteOrder::Big, 0, &mut out)
    };
    assert_eq!(restore(&[0xff]), Ok(()));
    assert_eq!(restore(&[0xff, 0xff]), Err(ErrorKind::MaskLength.at(0)));
    assert_eq!(out, [7; 8]);
}

#[test]
fn requests_that_no_mask_can_meet_are_rejected() {
    let mask = Mask::new(BitmapForm::Raw, &[0xff], 8);
    let restore = |dtype, start, out: &mut [u8]| restore_into(&mask, MaskKind::Nan, dtype, ByteOrder::Big, start, out);
    assert_eq!(restore(Dtype::Bitmask, 0, &mut [0]), Err(ErrorKind::MaskDtype(Dtype::Bitmask).at(0)));
    for dtype in [Dtype::Float32, Dtype::Int32] {
        assert_eq!(restore(dtype, 0, &mut [0; 6]), Err(ErrorKind::OutputLength.at(0)));
        assert_eq!(restore(dtype, 7, &mut [0; 8]), Err(ErrorKind::RangeOutOfBounds.at(0)));
        assert_eq!(restore(dtype, u64::MAX, &mut [0; 8]), Err(ErrorKind::RangeOutOfBounds.at(0)));
    }
}

#[test]
fn a_defect_behind_the_window_is_reported() {
    let mask = Mask::new(BitmapForm::Rle, &[0, 8, 0], 9);
    let mut out = [0; 4];
    let result = restore_into(&mask, MaskKind::Nan, Dtype::Float32, ByteOrder::Big, 0, &mut out);
    assert_eq!(result, Err(ErrorKind::RleRun.at(2)));
}

#[test]
fn mask_kinds_have_the_names_of_descriptors() {
    assert_eq!(MaskKind::ALL.map(MaskKind::name), ["nan", "inf+", "inf-"]);
}
