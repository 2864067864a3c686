//! The specification that this crate follows: what the bytes are, what a writer writes, what a reader accepts and refuses.
//!
//! | page | subject | cited as |
//! |---|---|---|
//! | [`format`](mod@format) | messages: preamble, frames, metadata, digests, files | FORMAT §1.2 |
//! | [`pipeline`] | payloads: encodings, filters, compressions, masks; the bit stream of szip is its section 7 | PIPELINE §5.4 |
//!
//! Comments cite the sections by number, so the numbers never change. A test checks that every citation leads to a section.
//! The pages are in the folder `doc` of this crate. Other packages have two more: COMPAT of `tgm-std` lists the names that
//! programs written for the crate `tensogram` use, and ZIO of `tgm-zio` describes ZIO messages.
//!
//! The pages describe what files contain. Where the format's published pages say something else, the text says so, and
//! FORMAT §2 has the list.

#![allow(clippy::doc_markdown, reason = "names of the format stand bare in the prose and tables of its pages")]

/// FORMAT: the layout of messages.
///
/// [PIPELINE]: mod@crate::spec::pipeline
///
#[doc = include_str!("../doc/FORMAT.md")]
pub mod format {}

/// PIPELINE: from values to payload bytes, and back.
///
/// [FORMAT]: mod@crate::spec::format
///
#[doc = include_str!("../doc/PIPELINE.md")]
pub mod pipeline {}
