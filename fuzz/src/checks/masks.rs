//! Bitmaps in every form: runs are in order and in bounds, and bits, counts, windows and restored values match the
//! runs.

use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_core::mask::{BitmapForm, Mask, MaskKind, restore_into};

use crate::given::Given;

/// Reads `bytes` as a bitmap. The last bytes give its form and size.
pub fn check(bytes: &[u8]) {
    let mut given = Given(bytes);
    let form = given.choice(&[BitmapForm::Raw, BitmapForm::Rle, BitmapForm::Roaring]);
    let most = given.choice(&[255_u32, 70_000, u32::MAX]);
    let count = given.up_to(most.into());
    let (start, len) = given.range(count.min(100_000));
    let mask = Mask::new(form, given.0, count);
    let mut end = 0;
    let mut set = 0;
    let mut runs = Vec::new();
    for run in mask.runs() {
        let Ok(run) = run else {
            assert!(mask.verify().is_err() && mask.count_set().is_err());
            return;
        };
        assert!(run.start < run.end && run.end <= count && (run.start > end || runs.is_empty()), "{run:?} after {end}");
        end = run.end;
        set += run.end - run.start;
        runs.push(run);
    }
    assert_eq!((mask.verify(), mask.count_set()), (Ok(()), Ok(set)));
    let is_set = |at: u64| {
        let next = runs.partition_point(|run| run.end <= at);
        runs.get(next).is_some_and(|run| run.start <= at)
    };
    let mut bits = vec![0xff; usize::try_from(len.div_ceil(8)).expect("small")];
    mask.bits_into(start, len, &mut bits).expect("a window inside");
    let bit = |at: u64| bits[usize::try_from(at / 8).expect("small")] >> (7 - at % 8) & 1 == 1;
    assert!((0..len).all(|at| bit(at) == is_set(start + at)));
    assert!((len..8 * bits.len() as u64).all(|at| !bit(at)), "pad bits");
    let mut values = vec![0; usize::try_from(2 * len).expect("small")];
    restore_into(&mask, MaskKind::Nan, Dtype::Float16, ByteOrder::Big, start, &mut values).expect("a window inside");
    for (at, value) in values.as_chunks().0.iter().enumerate() {
        let expected = if is_set(start + at as u64) { [0x7e, 0x00] } else { [0; 2] };
        assert_eq!(*value, expected);
    }
}
