//! Parts of a payload that are payloads themselves: for readers that have not fetched the rest.

use std::borrow::Cow;
use std::ops::Range;

use tgm_core::descriptor::Descriptor;

/// A compression of which a part of the payload can be decoded without the rest.
///
/// A part holds the elements between two multiples of [`Self::grain`], or up to the last element. Its bytes make an object of
/// its own, whose descriptor differs in the shape, and in that it has no `szip_block_offsets`.
pub trait Divisible {
    /// Parts begin and end at multiples of this many elements. `None` if this payload has no parts.
    fn grain(&self, descriptor: &Descriptor<'_>) -> Option<u64>;

    /// The bytes to fetch for a part, of a payload of `payload_len` bytes. `None` if the descriptor contradicts itself.
    fn bytes_of(&self, descriptor: &Descriptor<'_>, payload_len: u64, elements: &Range<u64>) -> Option<Range<u64>>;

    /// The payload of a part, out of the fetched bytes. `None` if they do not prove to be the part.
    fn payload_of<'b>(
        &self,
        descriptor: &Descriptor<'_>,
        elements: &Range<u64>,
        bytes: &'b [u8],
    ) -> Option<Cow<'b, [u8]>>;
}
