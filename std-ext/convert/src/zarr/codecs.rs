//! The codecs of an array: what turns a chunk into bytes, and back.
//!
//! ```text
//! elements ─ transpose … ─ bytes or sharding_indexed ─ gzip, zlib, zstd, lz4, blosc, shuffle, crc32c … ─ stored bytes
//! ```
//!
//! The chain is that of `zarrs`. It has only codecs of this list, so that a description cannot ask for others.

use std::error::Error;
use std::num::NonZeroU64;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use tgm_std::TensogramError;
use zarrs::array::codec::{
    BytesCodec, BytesCodecConfiguration, Crc32cCodec, Crc32cCodecConfiguration, ShardingCodecConfiguration,
    TransposeCodec, TransposeCodecConfiguration,
};
use zarrs::array::{ArrayToArrayCodecTraits, ArrayToBytesCodecTraits, BytesToBytesCodecTraits, CodecChain};
use zarrs::metadata::v3::MetadataV3;
use zarrs::metadata_ext::codec::gzip::GzipCodecConfiguration;
use zarrs::metadata_ext::codec::zstd::ZstdCodecConfiguration;

use super::Result;
use super::bounded::{Bounded, ZSTD_LEVEL};
use super::element::Element;
use super::shards::{Shards, grid};
use crate::error::{metadata, reason_in};

/// How deep shards lie within shards.
const MAX_DEPTH: usize = 4;

/// The codecs of chunks of `shape`, in shards within `depth` others.
pub(super) fn chain(codecs: &[MetadataV3], shape: &[NonZeroU64], element: Element, depth: usize) -> Result<CodecChain> {
    let mut transposes: Vec<Arc<dyn ArrayToArrayCodecTraits>> = Vec::new();
    let mut serializer: Option<Arc<dyn ArrayToBytesCodecTraits>> = None;
    let mut behind: Vec<Arc<dyn BytesToBytesCodecTraits>> = Vec::new();
    let mut shape = shape.to_vec();
    for codec in codecs {
        let name = codec.name();
        let coder: Arc<dyn BytesToBytesCodecTraits> = match name {
            "transpose" | "bytes" | "sharding_indexed" if serializer.is_some() => {
                return Err(metadata(format!("codec {name} follows one that makes bytes")));
            }
            "transpose" => {
                let configuration = typed::<TransposeCodecConfiguration>(codec)?;
                let codec = TransposeCodec::new_with_configuration(&configuration).map_err(of_codec(name))?;
                shape = codec.encoded_shape(&shape).map_err(of_codec(name))?;
                transposes.push(Arc::new(codec));
                continue;
            }
            "bytes" => {
                let configuration = typed::<BytesCodecConfiguration>(codec)?;
                let has_endian = codec.configuration().is_some_and(|map| map.contains_key("endian"));
                if element.unit() > 1 && !has_endian {
                    return Err(metadata("codec bytes has no endian"));
                }
                let codec = BytesCodec::new_with_configuration(&configuration).map_err(of_codec(name))?;
                serializer = Some(Arc::new(codec));
                continue;
            }
            "sharding_indexed" => {
                serializer = Some(Arc::new(shards(codec, &shape, element, depth)?));
                continue;
            }
            "gzip" => match typed::<GzipCodecConfiguration>(codec)? {
                GzipCodecConfiguration::V1(gzip) => Arc::new(Bounded::Gzip(gzip.level.as_u32())),
                _ => return Err(unsupported(name)),
            },
            "zstd" => match typed::<ZstdCodecConfiguration>(codec)? {
                ZstdCodecConfiguration::V1(zstd) => Arc::new(Bounded::Zstd(zstd.level.into())),
                ZstdCodecConfiguration::Numcodecs(zstd) => Arc::new(Bounded::Zstd(zstd.level.into())),
                _ => return Err(unsupported(name)),
            },
            // A buffer says itself how it is made.
            "blosc" | "numcodecs.blosc" => Arc::new(Bounded::Blosc),
            "numcodecs.zlib" => Arc::new(Bounded::Zlib),
            "numcodecs.lz4" => Arc::new(Bounded::Lz4),
            "numcodecs.shuffle" => {
                let size = codec.configuration().and_then(|map| map.get("elementsize")?.as_u64());
                Arc::new(Bounded::Shuffle(size.ok_or_else(|| metadata("codec numcodecs.shuffle has no elementsize"))?))
            }
            "crc32c" => {
                let configuration = typed::<Crc32cCodecConfiguration>(codec)?;
                Arc::new(Crc32cCodec::new_with_configuration(&configuration))
            }
            other => return Err(unsupported(other)),
        };
        if serializer.is_none() {
            return Err(metadata(format!("codec {name} stands before one that makes bytes")));
        }
        behind.push(coder);
    }
    let serializer = serializer.ok_or_else(|| metadata("no codec makes bytes"))?;
    Ok(CodecChain::new(transposes, serializer, behind))
}

/// Shards of `shape`.
fn shards(codec: &MetadataV3, shape: &[NonZeroU64], element: Element, depth: usize) -> Result<Shards> {
    if depth >= MAX_DEPTH {
        return Err(metadata(format!("shards within shards lie deeper than {MAX_DEPTH}")));
    }
    let ShardingCodecConfiguration::V1(sharding) = typed(codec)? else { return Err(unsupported(codec.name())) };
    let mut index_shape = grid(shape, &sharding.chunk_shape)?;
    // Offset and length.
    index_shape.extend(NonZeroU64::new(2));
    let index_codecs = chain(&sharding.index_codecs, &index_shape, Element::INDEX, depth + 1)?;
    let codecs = chain(&sharding.codecs, &sharding.chunk_shape, element, depth + 1)?;
    Shards::new(shape, &sharding.chunk_shape, codecs, index_codecs, sharding.index_location)
}

fn typed<T: DeserializeOwned>(codec: &MetadataV3) -> Result<T> {
    codec.to_typed_configuration().map_err(of_codec(codec.name()))
}

/// What `zarrs` says about the description of a codec.
fn of_codec<E: Error + Send + Sync + 'static>(name: &str) -> impl FnOnce(E) -> TensogramError {
    move |error| metadata(reason_in(format_args!("codec {name}"))(error))
}

fn unsupported(name: &str) -> TensogramError {
    metadata(format!("codec {name} is not supported"))
}

/// Codecs that are read only.
const READ_ONLY: [&str; 4] = ["blosc", "numcodecs.blosc", "numcodecs.lz4", "numcodecs.zlib"];

/// Puts `zstd` in the place of codecs that are read only, also within shards, and drops the shuffle of numcodecs. Returns the
/// codecs that were there.
pub(super) fn make_writable(codecs: &mut Json) -> Vec<String> {
    let mut changed = Vec::new();
    let Some(list) = codecs.as_array_mut() else { return changed };
    let name_of = |codec: &Json| codec.get("name").unwrap_or(codec).as_str().map(str::to_string);
    list.retain(|codec| {
        let name = name_of(codec).filter(|name| name == "numcodecs.shuffle");
        let is_kept = name.is_none();
        changed.extend(name);
        is_kept
    });
    for codec in list {
        if let Some(name) = name_of(codec).filter(|name| READ_ONLY.contains(&name.as_str())) {
            *codec = serde_json::json!({"name": "zstd", "configuration": {"level": ZSTD_LEVEL, "checksum": false}});
            changed.push(name);
        } else if let Some(inner) = codec.pointer_mut("/configuration/codecs") {
            changed.extend(make_writable(inner));
        }
    }
    changed
}
