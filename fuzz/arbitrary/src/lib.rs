//! Messages, objects and options out of the bytes of a fuzzer, for programs that are fuzzed with this library.
//!
//! A fuzzer that changes the bytes of a message mostly makes messages that are refused at once. The types here take the
//! same bytes as decisions. They are [`Arbitrary`], the trait of the crate `arbitrary`, which cargo-fuzz reads.
//!
//! | want | take |
//! |---|---|
//! | a valid message, and what was put into it | [`Message`] |
//! | a valid message with some damage, with digests and lengths set right or not | [`NearlyValid`] |
//! | an object that can be encoded | [`Object`] |
//! | the stages of an object, out of those that this build can encode | [`Pipeline`] |
//! | a descriptor that can be encoded | [`Any`]`<`[`DataObjectDescriptor`](tgm_std::DataObjectDescriptor)`>` |
//! | metadata of a message | [`Any`]`<`[`GlobalMetadata`](tgm_std::GlobalMetadata)`>` |
//! | how to encode | [`Any`]`<`[`EncodeOptions`](tgm_std::EncodeOptions)`>`, [`Any`]`<`[`MaskMethod`](tgm_std::encode::MaskMethod)`>` |
//! | names and fixed layouts of the format | [`Any`] of the types of [`tgm_core`] |
//!
//! Messages are small: at most [`MOST_OBJECTS`] objects of at most [`MOST_ELEMENTS`] elements. The same bytes always give the
//! same message.
//!
//! # A fuzz target to copy
//! In `Cargo.toml` of the folder that `cargo fuzz init` makes:
//!
//! ```toml
//! [dependencies]
//! libfuzzer-sys = "0.4"
//! tgm-arbitrary = "0.1"
//! tgm-std = "0.1"
//! ```
//!
//! The target gives what it makes to the program, here the function `total`:
//!
//! ```
//! # /*
//! #![no_main]
//!
//! # */
//! use tgm_arbitrary::{Message, NearlyValid};
//! use tgm_std::{DecodeOptions, decode};
//!
//! /// The program under test: the bytes of all values.
//! fn total(message: &[u8]) -> tgm_std::Result<usize> {
//!     let (_, objects) = decode(message, &DecodeOptions::default())?;
//!     Ok(objects.iter().map(|(_, values)| values.len()).sum())
//! }
//!
//! fn check((valid, damaged): (Message, NearlyValid)) {
//!     let expected: usize = valid.objects.iter().map(|object| object.data.len()).sum();
//!     assert_eq!(total(&valid.bytes).expect("the message is valid"), expected);
//!     // An error is right here, a panic is not.
//!     let _ = total(&damaged.bytes);
//! }
//!
//! # /*
//! libfuzzer_sys::fuzz_target!(|input: (Message, NearlyValid)| check(input));
//! # */
//! # use tgm_arbitrary::arbitrary::{Arbitrary, Unstructured};
//! # for seed in 0..50_u8 {
//! #     let bytes: Vec<u8> = (0..200_u8).map(|i| i.wrapping_mul(seed).rotate_left(3) ^ seed).collect();
//! #     check(Arbitrary::arbitrary(&mut Unstructured::new(&bytes))?);
//! # }
//! # Ok::<(), tgm_arbitrary::arbitrary::Error>(())
//! ```

mod any;
mod damage;
mod format;
mod message;
mod metadata;
mod object;
mod options;
mod pipeline;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]
mod tests;
mod values;

#[cfg(doc)]
use arbitrary::Arbitrary;
use arbitrary::{Result, Unstructured};

pub use ::arbitrary;

pub use self::any::{Any, any};
pub use self::damage::{Damage, NearlyValid, Repair};
pub use self::message::{Form, Message};
pub use self::object::Object;
pub use self::pipeline::Pipeline;

/// The most elements of an object.
pub const MOST_ELEMENTS: u64 = 4096;
/// The most objects of a message.
pub const MOST_OBJECTS: usize = 4;

/// Whether something happens that happens once in `of` times. Without bytes left it does not.
fn once_in(of: u8, u: &mut Unstructured<'_>) -> Result<bool> {
    Ok(u.int_in_range(1..=of)? == of)
}

/// The example of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
