//! The public names of the reference crate `tensogram`, which programs written for it use.
//!
//! [FORMAT]: tgm_core::spec::format
//!
#![doc = include_str!("../doc/COMPAT.md")]
#![allow(clippy::doc_markdown, reason = "names of the format stand bare in the prose and tables of its pages")]

pub mod framing;
#[doc(hidden)]
pub mod names;
pub mod pipeline;
pub mod remote_scan_parse;
pub mod wire;
