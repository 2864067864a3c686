//! Elements that lie apart, copied side by side.
//!
//! ```text
//! source   a . . b . . c . . d        start 0, step 3
//! out      a b c d
//! ```
//!
//! The loops are plain: each element is a load and a store of its own, and the cache lines between them are what costs.

/// Copies elements of `width` bytes, `step` elements apart, from element `start` of `source` on, to all of `out`.
///
/// `None` if the source has fewer elements, or if `out` is not a whole number of them. A width is 1, 2, 4, 8 or 16.
pub fn elements_into(source: &[u8], start: u64, step: u64, width: usize, out: &mut [u8]) -> Option<()> {
    let (start, step) = (usize::try_from(start).ok()?, usize::try_from(step).ok()?);
    if step == 1 {
        let from = start.checked_mul(width)?;
        out.copy_from_slice(source.get(from..from.checked_add(out.len())?)?);
        return Some(());
    }
    match width {
        1 => strided::<1>(source, start, step, out),
        2 => strided::<2>(source, start, step, out),
        4 => strided::<4>(source, start, step, out),
        8 => strided::<8>(source, start, step, out),
        16 => strided::<16>(source, start, step, out),
        _ => None,
    }
}

fn strided<const WIDTH: usize>(source: &[u8], start: usize, step: usize, out: &mut [u8]) -> Option<()> {
    let (elements, _) = source.as_chunks::<WIDTH>();
    let (places, []) = out.as_chunks_mut::<WIDTH>() else { return None };
    let Some(last) = places.len().checked_sub(1) else { return Some(()) };
    let last = last.checked_mul(step)?.checked_add(start)?;
    let elements = elements.get(start..=last)?.iter().step_by(step);
    places.iter_mut().zip(elements).for_each(|(place, element)| *place = *element);
    Some(())
}

/// Copies `count` bits, `step` bits apart, from bit `start` of `source` on, to bit `at` of `out` and those after it.
/// The highest bit of a byte is the first.
///
/// The bits of `out` that are written must be zero before. `None` if the source or `out` has fewer bits.
pub fn bits_into(source: &[u8], start: u64, step: u64, count: u64, out: &mut [u8], at: u64) -> Option<()> {
    let Some(last) = count.checked_sub(1) else { return Some(()) };
    let last_bit = last.checked_mul(step)?.checked_add(start)?;
    let source = source.get(..=usize::try_from(last_bit / 8).ok()?)?;
    let out = out.get_mut(..=usize::try_from(at.checked_add(last)? / 8).ok()?)?;
    if step == 1 {
        return run_into(source, start, count, out, at);
    }
    let (mut from, mut at) = (start, at);
    for _ in 0..count {
        let bit = source.get(usize::try_from(from / 8).ok()?)? >> (7 - from % 8) & 1;
        *out.get_mut(usize::try_from(at / 8).ok()?)? |= bit << (7 - at % 8);
        (from, at) = (from.wrapping_add(step), at.wrapping_add(1));
    }
    Some(())
}

/// Bits side by side: as many at a time as one byte of `out` takes.
fn run_into(source: &[u8], start: u64, count: u64, out: &mut [u8], at: u64) -> Option<()> {
    let (mut from, mut at, mut left) = (start, at, count);
    while left > 0 {
        let taken = left.min(8 - at % 8);
        let first = usize::try_from(from / 8).ok()?;
        let pair = [*source.get(first)?, source.get(first.checked_add(1)?).copied().unwrap_or(0)];
        // The eight bits from `from` on, of which the wanted ones are kept.
        let [eight, _] = (u16::from_be_bytes(pair) << (from % 8)).to_be_bytes();
        let wanted = eight & !u8::MAX.checked_shr(u32::try_from(taken).ok()?).unwrap_or(0);
        *out.get_mut(usize::try_from(at / 8).ok()?)? |= wanted >> (at % 8);
        (from, at, left) = (from + taken, at + taken, left - taken);
    }
    Some(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests may panic")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bit(bytes: &[u8], at: u64) -> bool {
        bytes[(at / 8) as usize] >> (7 - at % 8) & 1 == 1
    }

    proptest! {
        #[test]
        fn bits_come_out_one_by_one(
            source in prop::collection::vec(any::<u8>(), 1..20), start in 0_u64..30, step in 1_u64..12, at in 0_u64..20,
            count in 0_u64..70,
        ) {
            let mut out = vec![0; 12];
            let fits = count == 0 || start + (count - 1) * step < source.len() as u64 * 8 && at + count <= 96;
            prop_assert_eq!(bits_into(&source, start, step, count, &mut out, at).is_some(), fits);
            if fits {
                for place in 0..96 {
                    let expected = place >= at && place - at < count && bit(&source, start + (place - at) * step);
                    prop_assert_eq!(bit(&out, place), expected, "bit {}", place);
                }
            }
        }

        #[test]
        fn elements_come_out_one_by_one(
            width in prop::sample::select(vec![1_usize, 2, 4, 8, 16]), start in 0_u64..9, step in 1_u64..7,
            count in 0_usize..9,
        ) {
            let source: Vec<u8> = (0..=255).collect();
            let mut out = vec![0; count * width];
            let last = start as usize + count.saturating_sub(1) * step as usize;
            let fits = (last + 1) * width <= source.len() || count == 0;
            let expected: Vec<u8> = (0..count)
                .flat_map(|i| (0..width).map(move |byte| (start as usize + i * step as usize) * width + byte))
                .map(|byte| byte as u8)
                .collect();
            prop_assert_eq!(elements_into(&source, start, step, width, &mut out).is_some(), fits);
            prop_assert!(!fits || out == expected);
        }
    }

    #[test]
    fn elements_of_other_widths_are_refused() {
        assert_eq!(elements_into(&[0; 30], 0, 2, 3, &mut [0; 6]), None);
        assert_eq!(elements_into(&[0; 30], 0, 2, 4, &mut [0; 6]), None);
    }
}
