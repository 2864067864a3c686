//! The CBOR of a leaf's annotation: what stands for values, and maps that are written and read.

use ciborium::Value as Owned;
use tgm_core::cbor::Map;

use super::bad;
use tgm_std::Result;

/// The CBOR tag of a byte string that holds encoded CBOR.
pub(super) const ENCODED_CBOR: u64 = 24;
/// Stands for a missing value in a column of integers.
pub(super) const ABSENT_INTEGER: i64 = i64::MIN;

/// A number as a CBOR item with an argument of 8 bytes. `bits` are the bits of an `f64` or of an `i64`.
pub(super) fn encoded(bits: u64, is_float: bool) -> [u8; 9] {
    // CBOR writes a negative integer n as −1 − n, which is `!n` in two's complement.
    let (first, argument) = match (is_float, bits.cast_signed()) {
        (true, _) => (0xfb, bits),
        (false, 0..) => (0x1b, bits),
        (false, ..0) => (0x3b, !bits),
    };
    let mut encoded = [first; 9];
    if let Some(last) = encoded.last_chunk_mut() {
        *last = argument.to_be_bytes();
    }
    encoded
}

/// A CBOR map of these entries.
pub(super) fn map<const N: usize>(entries: [(&str, Owned); N]) -> Owned {
    Owned::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
}

/// The unsigned number under a key.
pub(super) fn uint_of(map: &Map<'_>, key: &str) -> Result<u64> {
    let found = map.get(key)?.ok_or_else(|| bad(format!("{key} is missing")))?;
    found.as_u64().map_err(|_| bad(format!("{key} is not an unsigned number")))
}

/// The byte string under a key.
pub(super) fn bytes_of(map: &Map<'_>, key: &str) -> Result<Vec<u8>> {
    let found = map.get(key)?.ok_or_else(|| bad(format!("{key} is missing")))?;
    let bytes = found.as_bytes().map_err(|_| bad(format!("{key} is not a byte string")))?;
    Ok(bytes.chunks().flatten().copied().collect())
}

/// The map under a key.
pub(super) fn map_of<'a>(map: &Map<'a>, key: &str) -> Result<Map<'a>> {
    let found = map.get(key)?.ok_or_else(|| bad(format!("{key} is missing")))?;
    found.as_map().map_err(|_| bad(format!("{key} is not a map")))
}
