//! The WebAssembly modules of the npm package `tgm`: tgm-std and tgm-core after functions of plain numbers.
//!
//! # The interface
//! JavaScript owns no memory here. It asks for a buffer ([`tgm_buffer_new`](memory::tgm_buffer_new)), copies bytes to its
//! address, and names it by a number. A function takes a buffer with CBOR, a map of its arguments; other buffers are named in
//! it. It gives the number of a buffer with CBOR: `[true, answer]`, or `[false, error]`. Large answers name buffers too. A
//! function that is given a buffer frees it; JavaScript frees buffers of answers.
//!
//! So no pointer comes in, and nothing here is `unsafe`.
//!
//! # Modules of WebAssembly
//! | feature | functions |
//! |---|---|
//! | `core` | [`small`](mod@small): messages in memory, by tgm-core alone |
//! | `reader` | [`read`](mod@read), [`steps`](mod@steps), [`stream`](mod@stream) |
//! | `writer` | `reader`, and [`write`](mod@write), [`encoder`](mod@encoder), [`check`](mod@check), [`edge`](mod@edge), [`whole`](mod@whole) |
//! | `dataset` | [`dataset`](mod@dataset): datasets, parts of their variables, and what they are as stores of Zarr |
//! | `page` | [`dataset`](mod@dataset), for the page: datasets and pictures of them |
//!
//! # Layers
//! | layer | what it knows |
//! |---|---|
//! | `encoder` | messages that are written object by object |
//! | `steps`, `whole`, `write` | archives whose bytes JavaScript fetches; messages in memory; messages from descriptors and bytes |
//! | `dataset` | datasets of archives whose bytes JavaScript fetches |
//! | `page` | what the page asks |
//! | `read`, `stream`, `edge`, `check`, `small`, `plate` | the other functions; values that are shown |
//! | `compared`, `picked`, `scene` | values less others; parts of variables; how a picture is looked at |
//! | `contents`, `places`, `room` | what an archive has; where values are; memory for values |
//! | `metadata` | metadata and descriptors |
//! | `answer` | answers |
//! | `args` | arguments |
//! | `failure` | errors |
//! | `memory` | buffers, and what else has a number |

pub mod memory;

#[cfg(any(feature = "given", feature = "reader"))]
mod answer;
#[cfg(any(feature = "given", feature = "reader"))]
mod args;
#[cfg(feature = "writer")]
pub mod check;
#[cfg(feature = "page")]
mod compared;
#[cfg(feature = "given")]
mod contents;
#[cfg(feature = "given")]
pub mod dataset;
#[cfg(feature = "writer")]
pub mod edge;
#[cfg(feature = "writer")]
pub mod encoder;
#[cfg(any(feature = "given", feature = "reader"))]
mod failure;
#[cfg(any(feature = "given", feature = "reader"))]
mod metadata;
#[cfg(feature = "page")]
mod page;
#[cfg(feature = "dataset")]
mod picked;
#[cfg(feature = "page")]
mod places;
#[cfg(feature = "page")]
mod plate;
#[cfg(feature = "reader")]
pub mod read;
#[cfg(feature = "given")]
mod room;
#[cfg(feature = "page")]
mod scene;
#[cfg(feature = "core")]
pub mod small;
#[cfg(feature = "reader")]
pub mod steps;
#[cfg(feature = "reader")]
pub mod stream;
#[cfg(feature = "writer")]
pub mod whole;
#[cfg(feature = "writer")]
pub mod write;
