//! Code that several tests share: the corpus, a builder of messages, a naive decoder, and a counting allocator.
//!
//! | module | holds |
//! |---|---|
//! | [`corpus`] | `tests/data`, and the full corpus where `TGM_CORPUS` names it, with the sidecars |
//! | [`builder`] | messages written field by field, each field with a caption by which a test finds or breaks it |
//! | [`messages`] | messages that several tests need: a valid one, and some with one fault each |
//! | [`naive`] | a plain, slow decoder straight from FORMAT.md, without code of `tgm_core` |
//! | [`alloc`] | an allocator that counts, separately for each thread |

pub mod alloc;
pub mod builder;
mod cores;
pub mod corpus;
mod digits;
pub mod messages;
pub mod naive;
mod rng;
mod scale;

pub use cores::on_all_cores;
pub use digits::{hex, sha256};
pub use rng::Rng;
pub use scale::{cases, stride};

/// The examples of the guide, which needs several packages: compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../std-ext/doc/GUIDE.md")]
struct Guide;

/// The program of the page of the model: compiled, and not run, because it opens an address.
#[cfg(doctest)]
#[doc = include_str!("../../std-ext/doc/MODEL.md")]
struct Model;
