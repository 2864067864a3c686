//! Extremes of whole numbers of 64 bits, which `float64` rounds beyond 2^53.
//!
//! A number becomes a key without sign that has the same order, so that one comparison serves both types: the sign bit of a number
//! with sign is turned over.

use std::ops::Range;

use tgm_core::descriptor::Dtype;
use tgm_std::Result;

use crate::archive::bad;

/// What is compared first: any key is as small as the one, and as large as the other.
pub(super) const NONE: (u64, u64) = (u64::MAX, u64::MIN);

/// A type of whole numbers of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wide {
    is_signed: bool,
}

impl Wide {
    /// `None` for types that `float64` holds, and for floats.
    pub(super) const fn of(dtype: Dtype) -> Option<Self> {
        match dtype {
            Dtype::Int64 => Some(Self { is_signed: true }),
            Dtype::Uint64 => Some(Self { is_signed: false }),
            _ => None,
        }
    }

    const fn turned(self) -> u64 {
        if self.is_signed { 1 << 63 } else { 0 }
    }

    /// The number of a key.
    pub(super) fn number(self, key: u64) -> i128 {
        let bits = key ^ self.turned();
        if self.is_signed { i128::from(bits.cast_signed()) } else { i128::from(bits) }
    }
}

/// Numbers in the byte order of the machine, as keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys<'w> {
    pub(super) wide: Wide,
    pub(super) bytes: &'w [u8],
}

impl Keys<'_> {
    /// The keys of some of the numbers.
    ///
    /// # Errors
    /// A range beyond the numbers.
    pub(super) fn list(&self, range: Range<usize>) -> Result<Vec<u64>> {
        let (numbers, _) = self.bytes.as_chunks::<8>();
        let numbers = numbers.get(range).ok_or_else(|| bad("a window is cut"))?;
        Ok(numbers.iter().map(|bytes| u64::from_ne_bytes(*bytes) ^ self.wide.turned()).collect())
    }
}

/// Takes each key, whose value is not missing, into the extremes of its own place.
pub(super) fn add_across((least, greatest): (&mut [u64], &mut [u64]), keys: &[u64], values: &[f64]) {
    for (least, (key, value)) in least.iter_mut().zip(keys.iter().zip(values)) {
        *least = if value.is_nan() { *least } else { (*least).min(*key) };
    }
    for (greatest, (key, value)) in greatest.iter_mut().zip(keys.iter().zip(values)) {
        *greatest = if value.is_nan() { *greatest } else { (*greatest).max(*key) };
    }
}

/// Takes all keys, whose values are not missing, into the extremes of one place.
pub(super) fn add_to((least, greatest): (Option<&mut u64>, Option<&mut u64>), keys: &[u64], values: &[f64]) {
    let known = || keys.iter().zip(values).filter(|(_, value)| !value.is_nan()).map(|(key, _)| *key);
    if let Some(least) = least {
        *least = known().fold(*least, u64::min);
    }
    if let Some(greatest) = greatest {
        *greatest = known().fold(*greatest, u64::max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_order_of_their_numbers() {
        let signed = [i64::MIN, -(1 << 53) - 1, -1, 0, 1, (1 << 53) + 1, i64::MAX];
        let wide = Wide::of(Dtype::Int64).unwrap();
        let bytes: Vec<u8> = signed.iter().flat_map(|number| number.to_ne_bytes()).collect();
        let keys = Keys { wide, bytes: &bytes }.list(0..signed.len()).unwrap();
        assert!(keys.is_sorted());
        assert_eq!(keys.iter().map(|key| wide.number(*key)).collect::<Vec<_>>(), signed.map(i128::from));
        let wide = Wide::of(Dtype::Uint64).unwrap();
        let bytes = u64::MAX.to_ne_bytes();
        let keys = Keys { wide, bytes: &bytes }.list(0..1).unwrap();
        assert_eq!(wide.number(keys[0]), i128::from(u64::MAX));
        assert!(Keys { wide, bytes: &bytes }.list(0..2).is_err());
    }
}
