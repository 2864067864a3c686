//! Tensogram's codecs, both ways, and the kernels that move values: what needs vector instructions, C libraries or threads.
//!
//! A codec compresses and decompresses bytes, or numbers, of one object; it knows the object's descriptor, and no message.
//! `tgm-std` reads and writes messages with it. Nearly all `unsafe` code of the project is here: in the kernels, in the calls of
//! C libraries, and where memory is written before it has content.
//!
//! # Where to look
//! | want | take |
//! |---|---|
//! | the codec of a compression, behind one trait | [`codec()`], [`Codec`] |
//! | the decompressor of a mask | [`mask_decompressor`] |
//! | one codec by itself | its module: [`szip`], [`zfp`], `zstd` … |
//! | values unpacked, unshuffled, swapped, gathered, looked through | [`kernels`] |
//! | work on several threads | [`Threads`](threads::Threads) |
//! | buffers whose memory may be missing, in large pages | [`memory`] |
//! | buffers that are written before they have content | [`fresh`] |
//! | work that can be stopped from outside | [`interrupt`] |
//! | what went wrong | [`CodecError`] |
//!
//! # Layers
//! A module imports only from rows below its own. Modules of one row do not import each other. `.ci/layers` checks both.
//!
//! | layer | what it knows |
//! |---|---|
//! | `codecs` | one compressed payload |
//! | `kernels` | values in memory, by vector instructions |
//! | `threads` | work on several threads |
//! | `fresh`, `memory`, `interrupt` | buffers; work that is stopped |
//! | `error` | what went wrong |
//!
//! # How this crate grows
//! Its versions go with `tgm-std`, which is for programs. All names here may change in any release.
#![cfg_attr(docsrs, feature(doc_cfg))]

// Before anything else that names zstd: c-blosc2 brings a zstd of its own, and the linker takes the one of the crate that
// is named last. A test of `codecs::zstd` asks which one it was.
#[cfg(feature = "blosc2")]
extern crate blosc2_sys as _;
#[cfg(feature = "zstd")]
extern crate zstd as _;

mod codecs;
pub mod error;
pub mod fresh;
pub mod interrupt;
pub mod kernels;
pub mod memory;
pub mod threads;

pub use codecs::{
    Blosc2Codec, Codec, Compress, Compressing, CompressionBackend, Decompress, Done, ENV_COMPRESSION_BACKEND,
    ErrorBound, MaskSettings, PartReader, Workspace, all, codec, find, find_compressing, mask_decompressor, of_masks,
};
pub use codecs::{about, blosc2, lz4, part, shuffle, sz3, szip, window, zfp, zstd};
pub use error::CodecError;

/// The example of the package's README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
