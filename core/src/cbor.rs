//! CBOR (RFC 8949) as the format uses it: read in place, in bounded time, without allocation.
//!
//! [`Cursor`] steps over encoded items. [`Value`] and its views ([`Text`], [`Bytes`], [`Array`], [`Map`]) are items that
//! stay in the caller's bytes. A view is only made of an item that was walked to its end, so its contents are well-formed.
//! Its iterators return `Result` all the same: no part of this crate relies on a check that another part made.
//!
//! These deviations from the canonical form are accepted, as the reference accepts them (FORMAT §3.2): heads longer than
//! needed, indefinite lengths, wide floats, keys in any order, repeated keys (the last one counts), tags, and `undefined`
//! as null. These are refused: other simple values, reserved additional information, text that is not UTF-8, and
//! containers and tags nested deeper than [`MAX_NESTING`]. [`verify_canonical`] checks for the canonical form.
//!
//! # Ways to step over an item
//!
//! The general walk in [`Cursor::skip`] steps over any item, and says what is wrong with it. Small machines have this one
//! alone. The others give up at the first byte that they do not expect; then the general walk decides. Each saves more than
//! 15 % of the instructions of something that people do, counted by callgrind:
//!
//! | way | steps over | without it |
//! |---|---|---|
//! | `plain` | items as writers leave them | a key of a message's metadata: 2.3 × |
//! | `siblings` | maps that are like the one before | a key of the fourth of seven objects: 1.7 × |
//! | `runs` | integers of one width | the last of 1,000 objects: 9 × |
//! | `descriptor/in_order` | descriptors with keys in canonical order | an object's descriptor and payload: 2.3 × |
//!
//! # Why not minicbor?
//!
//! The tests compare this reader with `minicbor`. Building on it was tried with version 2.3, without an allocator. All tests
//! passed, and the proof that nothing panics linked. It was to stay if firmware grew by no more than 1 KB (1,024 bytes), and
//! nothing that people do became slower by more than 15 %:
//!
//! | | heads and numbers | strings and their bounds too |
//! |---|---|---|
//! | what is called | `Size::head`, `Decoder::u64` | `Decoder::str`, `Decoder::bytes` |
//! | flash of the images of `tests/firmware/run` | 140 bytes more | 1,016 to 1,068 bytes more |
//! | an object's descriptor and payload | 1 % more instructions | 1 % |
//! | the last of 1,000 objects, by a table and by the index | 1 %, 5 % | 1 %, 4 % |
//! | a key of the fourth of seven objects | 5 % | 5 % |
//! | a filter by two keys | 8 % | 8 % |
//! | `tgm ls` | not measured | 4 % |
//! | lines of this folder, of 3,272 | 14 fewer | 7 fewer |
//!
//! Calling a method for each type (`array`, `map`, `int`, …) took 4,700 bytes. So the whole is over the limit of flash, by up
//! to 44 bytes. Heads and numbers alone are not, but they save 14 lines, and cost 5 to 8 % of most lookups. Either replaces next
//! to nothing: nesting, strings in pieces, texts that were checked before, and the place of an error remain to be done here.

mod canonical;
mod container;
mod cursor;
mod entries;
pub mod head;
mod plain;
mod reader;
mod runs;
mod siblings;
mod step;
mod string;
#[cfg(test)]
mod tests;
mod text_maps;
mod uints;
mod utf8;
mod value;

pub use crate::names::Kind;
pub use canonical::{Canonical, verify_canonical};
pub use container::{Array, Map};
pub use cursor::{Cursor, MAX_NESTING};
pub use entries::{ArrayIter, MapIter};
pub(crate) use reader::{MapReader, Name};
pub use step::Step;
pub use string::{Bytes, Chunks, Text};
pub(crate) use text_maps::{TextMaps, read_text_map};
pub use uints::{Uints, UintsIter};
pub use value::Value;
