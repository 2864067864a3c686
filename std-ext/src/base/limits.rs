//! Limits on what decoding may cost, whatever a message claims.
//!
//! | resource | default | how to change it |
//! |---|---|---|
//! | bytes of one object's values, or of all ranges of a request | 16 GiB | [`DecodeLimits::max_decoded_bytes`] |
//! | of these, free whatever the payload's length | 1 GiB | [`DecodeLimits::free_bytes`] |
//! | beyond these, for each byte of the payload | 65,536 | [`DecodeLimits::max_expansion`] |
//! | objects of a message | 1,048,576 | [`DecodeLimits::max_objects`] |
//! | memory of a message's owned metadata and descriptors | 4 GiB | [`DecodeLimits::max_metadata_bytes`] |
//! | nesting of CBOR | 256 | nothing: [`MAX_NESTING`](tgm_core::cbor::MAX_NESTING) |
//! | bytes of all objects of a message, where they are decoded in a row | 16 GiB, and 16 KiB for each byte of it | [`DecodeBudget::max_message_bytes`](crate::DecodeBudget::max_message_bytes) |
//! | bytes of all objects of a file, likewise | 16 GiB, and 16 KiB for each byte of it | [`DecodeBudget::max_file_bytes`](crate::DecodeBudget::max_file_bytes) |
//! | findings of a validation that are listed | 10,000 | [`ValidateOptions::max_issues`](crate::ValidateOptions::max_issues) |
//! | length of a message that a scan believes from its end | 4 GiB | [`ScanOptions::max_message_size`](crate::ScanOptions::max_message_size) |
//! | length of a message that is read from a stream | 4 GiB | [`StreamOptions::max_message_bytes`](crate::file::StreamOptions::max_message_bytes) |
//! | threads | 1 | [`DecodeOptions::threads`](crate::DecodeOptions::threads), at most 1,024 |
//! | CBOR that a push decoder keeps | its `N` | [`PushDecoder`](tgm_core::push::PushDecoder) |
//!
//! The two budgets apply where a whole message or file is decoded object by object: in [validation](crate::validate),
//! and in programs that spend from a [`DecodeBudget`](crate::DecodeBudget). Where addresses have 32 bits, owned
//! metadata is limited to 1 GiB.
//!
//! Two things are not limited. The length of a message in a file is not, because all of it is on disk. The sum over the
//! objects that [`decode`](crate::decode()) returns all at once is not either: a program that distrusts a message
//! decodes its objects one at a time ([`objects`](crate::objects())).
//!
//! # What a byte can become
//!
//! The table lists, for each codec, how many bytes of values one byte of a payload can become in the worst case. Stages
//! multiply: values packed into one bit and compressed by zstd reach 64 · 32,768. The limits above apply to codecs
//! without a bound of their own, and beyond 65,536 in any case.
//!
//! | codec | bytes for a byte | by |
//! |---|---|---|
//! | none | 1 | lengths have to be equal |
//! | shuffle | 1 | a permutation |
//! | simple_packing, 1 bit and more | 64 | a bit becomes a float64 |
//! | simple_packing, 0 bits | no bound | all values are one, which the descriptor holds |
//! | lz4 | 255 | a byte of a match's length |
//! | zstd | 32,768 | a block of 128 KiB that repeats a byte, in four |
//! | szip | 47,663 | 64 blocks of zeros in 11 bits |
//! | zfp | 256 | a block of four zeros in a bit |
//! | blosc2 | no bound | a chunk of one value has no bytes |
//! | sz3 | no bound | a Huffman code of one symbol has no bits |
//! | rle | no bound | a run's length is a number; 512 MiB at most |
//! | roaring | no bound | what is not listed is not set; 512 MiB at most |
//!
//! # What a byte of metadata can become
//!
//! Owned metadata takes more memory than its CBOR, because each map is a tree of its own. The worst case is a list of
//! maps with one short entry each. Functions without options apply the default limit. The borrowed views of
//! [`tgm_core`] take no memory.
//!
//! | what | bytes of memory for a byte of CBOR | by |
//! |---|---|---|
//! | owned metadata | 232 | a map of three bytes, in `base`, has a node for eleven entries |

use std::borrow::Cow;

use tgm_codec::memory;

use crate::base::error::{Result, TensogramError};
use crate::base::hint::Hint;

/// Limits on decoding. They are on by default, and each can be raised or lowered.
///
/// A size that the input claims is compared with the limit before any memory is reserved for it. So the caller bounds
/// the memory, and not the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeLimits {
    /// Bytes of the decoded values of one object, in whatever form they are stored: 16 GiB. Values that are borrowed from
    /// the message take no memory, and are not counted.
    pub max_decoded_bytes: u64,
    /// Data objects of one message: 2²⁰.
    pub max_objects: usize,
    /// Bytes of memory that the owned metadata and descriptors of one message may take: 4 GiB, or 1 GiB where addresses
    /// have 32 bits. The need is estimated before memory is taken, and the estimate is never too low.
    pub max_metadata_bytes: u64,
    /// Decoded bytes for each encoded byte, beyond [`Self::free_bytes`]: 65,536. Some codecs pack a run of equal values
    /// tighter than that; the free bytes exist for such objects.
    pub max_expansion: u64,
    /// Decoded bytes that every object may have, however short its payload is: 1 GiB.
    pub free_bytes: u64,
}

impl Default for DecodeLimits {
    fn default() -> Self {
        Self {
            max_decoded_bytes: 16 << 30,
            max_objects: 1 << 20,
            max_metadata_bytes: if usize::BITS < u64::BITS { 1 << 30 } else { 4 << 30 },
            max_expansion: 1 << 16,
            free_bytes: 1 << 30,
        }
    }
}

impl DecodeLimits {
    /// The machine is the only limit.
    pub const UNLIMITED: Self = Self {
        max_decoded_bytes: u64::MAX,
        max_objects: usize::MAX,
        max_metadata_bytes: u64::MAX,
        max_expansion: u64::MAX,
        free_bytes: u64::MAX,
    };

    /// Checks that `encoded` bytes may become `decoded` bytes, and that this machine can address that many.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] naming the limit.
    #[doc(hidden)]
    pub fn check_bytes(&self, encoded: u64, decoded: u64) -> Result<usize> {
        if decoded > self.max_decoded_bytes {
            let max = self.max_decoded_bytes;
            return Err(TensogramError::encoding(format!(
                "object decodes to {decoded} bytes, more than {} of {max}",
                Hint::MaxDecodedBytes
            )));
        }
        // What is beyond 64 bits allows any number of them.
        if decoded > self.free_bytes.saturating_add(encoded.saturating_mul(self.max_expansion)) {
            let max = self.max_expansion;
            return Err(TensogramError::encoding(format!(
                "{encoded} bytes decode to {decoded}, more than {} of {max} allows",
                Hint::MaxExpansion
            )));
        }
        usize::try_from(decoded).map_err(|_| TensogramError::encoding("element count overflows usize"))
    }

    /// Values of an object in memory of their own. Borrowed ones take no memory before, so they are held against the limits
    /// here; others were held against them when they were made.
    ///
    /// # Errors
    /// The errors of [`Self::check_bytes`]; [`TensogramError::Encoding`] if there is no memory for a copy.
    pub(crate) fn owned(&self, values: Cow<'_, [u8]>) -> Result<Vec<u8>> {
        if let Cow::Borrowed(values) = values {
            self.check_bytes(values.len() as u64, values.len() as u64)?;
        }
        Ok(memory::owned(values)?)
    }

    /// Checks the number of a message's objects.
    ///
    /// # Errors
    /// [`TensogramError::Framing`] naming the limit.
    #[doc(hidden)]
    pub fn check_objects(&self, count: usize) -> Result<()> {
        if count <= self.max_objects {
            return Ok(());
        }
        let max = self.max_objects;
        Err(TensogramError::Framing(
            format!("message has {count} objects, more than {} of {max}", Hint::MaxObjects).into(),
        ))
    }
}

/// Reserves room for `len` more bytes.
///
/// # Errors
/// [`TensogramError::Encoding`] if there is no memory.
pub fn reserve_more(buffer: &mut Vec<u8>, len: usize) -> Result<()> {
    let reserved = buffer.try_reserve_exact(len);
    reserved.map_err(|_| TensogramError::encoding(format!("cannot allocate {len} bytes")))
}

/// A buffer of `len` zeros.
///
/// # Errors
/// [`TensogramError::Encoding`] if there is no memory.
pub fn reserve(len: usize) -> Result<Vec<u8>> {
    Ok(memory::buffer(len)?)
}

#[cfg(test)]
mod tests {
    use tgm_codec::Codec;

    #[test]
    fn the_table_says_of_each_codec_what_the_codec_says() {
        let page = include_str!("limits.rs");
        for about in tgm_codec::all().map(Codec::about) {
            let bytes = match about.expansion.bytes {
                None => "no bound".to_string(),
                Some(bytes) if bytes < 1000 => bytes.to_string(),
                Some(bytes) => format!("{},{:03}", bytes / 1000, bytes % 1000),
            };
            let row = format!("//! | {} | {bytes} | {} |\n", about.name(), about.expansion.by);
            assert!(page.contains(&row), "{row}");
        }
    }
}
