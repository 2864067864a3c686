//! The bodies of index frames and hash frames, and how long they are before they are written (FORMAT §3.6).

use tgm_core::index::{HashList, Index};

use crate::base::error::{CborOf, Result, TensogramError};
use crate::model::cbor::{self, Item, Writer, head_len, text_len};
use crate::model::hash::{HASH_ALGORITHM_NAME, HEX_DIGITS};
use crate::model::types::{HashFrame, IndexFrame};

const LENGTHS_KEY: &str = "lengths";
const OFFSETS_KEY: &str = "offsets";
const HASHES_KEY: &str = "hashes";
const ALGORITHM_KEY: &str = "algorithm";
/// Entries of either body.
const ENTRIES: usize = 2;

/// The body of an index frame.
///
/// # Errors
/// [`TensogramError::Metadata`] for different numbers of offsets and lengths, which no reader accepts.
///
/// Format: FORMAT §3.6.
pub fn index_to_cbor(index: &IndexFrame) -> Result<Vec<u8>> {
    let (offsets, lengths) = (index.offsets.len(), index.lengths.len());
    if offsets != lengths {
        let text = format!("index offsets.len() ({offsets}) != lengths.len() ({lengths})");
        return Err(TensogramError::Metadata(text.into()));
    }
    cbor::written(|writer| write_index(index.offsets.iter().copied(), index.lengths.iter().copied(), writer))
}

/// Writes the body of an index frame. There are as many offsets as lengths.
///
/// # Errors
/// None in practice: every list can be written.
pub(crate) fn write_index(
    offsets: impl ExactSizeIterator<Item = u64>,
    lengths: impl ExactSizeIterator<Item = u64>,
    writer: &mut Writer<'_>,
) -> Result<()> {
    writer.map(ENTRIES, |writer| {
        writer.entry(LENGTHS_KEY, |writer| writer.uints(lengths))?;
        writer.entry(OFFSETS_KEY, |writer| writer.uints(offsets))
    })
}

/// Bytes that [`write_index`] writes for `count` objects, the numbers not counted.
pub(crate) const fn index_len_without_numbers(count: usize) -> u64 {
    let names = text_len(LENGTHS_KEY.len()) + text_len(OFFSETS_KEY.len());
    head_len(ENTRIES as u64) + names + ENTRIES as u64 * head_len(count as u64)
}

/// An index from the body of an index frame. Absent arrays are empty, and unknown keys are ignored.
///
/// # Errors
/// [`TensogramError::Metadata`] for malformed CBOR, keys that are not text, entries that are not unsigned integers, and
/// arrays of different lengths.
///
/// Format: FORMAT §3.6.
pub fn cbor_to_index(bytes: &[u8]) -> Result<IndexFrame> {
    let index = Index::from_body(bytes, 0).map_err(|error| TensogramError::cbor(CborOf::Index, bytes, 0, error))?;
    Ok(IndexFrame { offsets: index.offsets().iter().collect(), lengths: index.lengths().iter().collect() })
}

/// The body of a hash frame.
///
/// # Errors
/// None in practice: every list of digests can be written.
///
/// Format: FORMAT §3.6.
pub fn hash_frame_to_cbor(list: &HashFrame) -> Result<Vec<u8>> {
    let item = Item::Map(vec![(HASHES_KEY, Item::Texts(&list.hashes)), (ALGORITHM_KEY, Item::Text(&list.algorithm))]);
    cbor::written(|writer| writer.item(&item))
}

/// Writes the body of a hash frame with `digests` of the format's algorithm.
///
/// # Errors
/// None in practice: every list of digests can be written.
pub(crate) fn write_hash_list(digests: impl ExactSizeIterator<Item = u64>, writer: &mut Writer<'_>) -> Result<()> {
    writer.map(ENTRIES, |writer| {
        writer.entry(HASHES_KEY, |writer| {
            writer.array(digests.len(), |writer| {
                digests.for_each(|digest| writer.hexadecimal(digest));
                Ok(())
            })
        })?;
        writer.text_entry(ALGORITHM_KEY, HASH_ALGORITHM_NAME);
        Ok(())
    })
}

/// Bytes that [`write_hash_list`] writes for `count` digests.
pub(crate) const fn hash_list_len(count: usize) -> u64 {
    let names = text_len(HASHES_KEY.len()) + text_len(ALGORITHM_KEY.len()) + text_len(HASH_ALGORITHM_NAME.len());
    head_len(ENTRIES as u64) + names + head_len(count as u64) + count as u64 * text_len(HEX_DIGITS)
}

/// A list of digests from the body of a hash frame. Absent entries are empty, and unknown keys are ignored.
///
/// # Errors
/// [`TensogramError::Metadata`] for malformed CBOR, keys that are not text, and an algorithm or digests that are not
/// text.
///
/// Format: FORMAT §3.6.
pub fn cbor_to_hash_frame(bytes: &[u8]) -> Result<HashFrame> {
    let list = HashList::from_body(bytes, 0).map_err(|error| TensogramError::cbor(CborOf::Hashes, bytes, 0, error))?;
    Ok(HashFrame {
        // A list may name none.
        algorithm: list.algorithm().map(|name| name.to_string()).unwrap_or_default(),
        hashes: list.texts().map(|digest| Ok(digest?.to_string())).collect::<Result<_>>()?,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn lists_have_the_stated_length() {
        for count in [0_usize, 1, 23, 24, 300] {
            let digests = cbor::written(|writer| write_hash_list(vec![7; count].into_iter(), writer)).unwrap();
            assert_eq!(digests.len() as u64, hash_list_len(count), "{count}");
            let index =
                cbor::written(|writer| write_index(vec![0; count].into_iter(), vec![0; count].into_iter(), writer));
            let numbers = 2 * count as u64;
            assert_eq!(index.unwrap().len() as u64, index_len_without_numbers(count) + numbers, "{count}");
        }
    }
}
