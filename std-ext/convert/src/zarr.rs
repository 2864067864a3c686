//! Zarr: directories of arrays in chunks become messages, and messages become such directories. Versions 2 and 3 are read, and
//! version 3 is written.
//!
//! Each array becomes one message. [`Chunks`](crate::Chunks) says whether it has one object for each chunk, or one for the whole array, which
//! is usual up to 64 MiB.
//! Back, each message with its array's description restores the array; each object of any other message becomes an array. Fields of
//! many messages become arrays over time, step, level and the like by [`ArrayWriter::write_datasets`](crate::ArrayWriter::write_datasets), which takes datasets of the
//! crate `tgm-dataset`.
//!
//! | Zarr | Tensogram | back |
//! |---|---|---|
//! | `bool` | `bitmask` | kept |
//! | integers, `float16`, `bfloat16`, `float32`, `float64`, `complex64`, `complex128` | the same, little-endian | kept, bit by bit, but for NaN |
//! | — | `bfloat16` of other formats | `float32`, as zarr-python refuses a store with `bfloat16` |
//! | times of numpy | `int64`, and [`TIME`](crate::arrays::TIME) | kept |
//! | texts: `string`, `fixed_length_utf32`, `null_terminated_bytes`, and texts of version 2, up to 1 MiB | `extra.texts` of a message without objects | `string` |
//! | numbers with `scale_factor`, `add_offset`, `_Unsigned` | their values, as for NetCDF | values |
//! | floats equal to `_FillValue` or `missing_value`, and NaN | the mask of NaN | the NaN that has only the quiet bit set |
//! | complex values with one part that is NaN or infinite | both parts are | not kept, and counted |
//! | a chunk that is not stored | no object, or the fill value in the whole array | not stored |
//! | attributes of the array, dimension names | `attributes` and `dimensions` of the objects | kept |
//! | the rest of the array's description: chunk shape, codecs, fill value … | `extra.zarr.array` | kept |
//! | attributes of packing | `extra.zarr.packing` | not kept |
//! | path of the array | `extra.zarr.path`, and `name` of each object | kept |
//! | attributes of the groups above the array | `extra.attributes`, `extra.groups` | kept |
//! | groups without arrays, files beside the arrays | nothing | listed |
//! | raw bits, structures: any other data type | nothing | an error for the array |
//! | consolidated metadata | nothing | written anew |
//!
//! The `fill_value` of version 3 marks no missing values: it is what readers get for chunks that are not stored. That of version
//! 2 does, as xarray reads it.
//!
//! Files are read only if they are regular and lie within the store, and up to the length that a chunk can have. Each file of
//! the store is a description, a chunk that is converted, or given to `report`.
//!
//! Descriptions, chunk grids and codecs are from the crate `zarrs`. Codecs: `bytes`, `transpose`, `sharding_indexed`,
//! `crc32c`, `gzip`, `zstd` in both directions; `blosc`, and `zlib`, `lz4`, `shuffle`, `delta`, `fixedscaleoffset`, `quantize`,
//! `bitround`, `astype`, `packbits`, `crc32`, `adler32` and `fletcher32` of numcodecs are read, and `zstd` is written in their place. Chunk grids are regular ones. A chunk has to fit the limits before it is decoded. What `gzip`, `zstd` and `blosc` state is compared
//! with the length of the chunk before memory is taken, so a damaged store is an error and no more.
//!
//! Memory: one chunk, its encoded bytes and a copy for each codec that turns or shards it, or with [`Chunks::Join`](crate::Chunks::Join) one
//! array and one such chunk, as for each array of up to 64 MiB without [`Chunks::Keep`](crate::Chunks::Keep). Back, one message, one decoded object and one such chunk.

mod attributes;
mod bounded;
mod cells;
mod codec_errors;
mod codecs;
mod describe;
mod element;
mod fill;
mod filters;
mod json;
mod names;
mod numbers;
mod shards;
mod store;
mod texts;
mod to_tgm;
mod to_zarr;
mod v2;

#[cfg(test)]
mod kinds_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod text_tests;

use tgm_std::Result;

pub use to_tgm::to_tensogram;
pub use to_zarr::ZarrWriter;

pub use crate::streamed::ReadOptions as ZarrOptions;
pub use crate::tree::WriteOptions as ToZarrOptions;

/// The key of `_extra_` and of `base` for content of Zarr.
const ZARR: &str = "zarr";
/// The file that describes an array or a group.
const DESCRIPTION: &str = "zarr.json";
