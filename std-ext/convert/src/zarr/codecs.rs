//! The codecs of an array: what turns a chunk into bytes, and back.
//!
//! ```text
//! elements ─ transpose … ─ filters of numcodecs ─ bytes or sharding_indexed ─ gzip, zlib, zstd, lz4, blosc, shuffle, crc32c … ─ stored bytes
//! ```
//!
//! The chain is that of `zarrs`. It has only codecs of this list, so that a description cannot ask for others.

use std::borrow::Cow;
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
use zarrs::array::{
    ArrayToArrayCodecTraits, ArrayToBytesCodecTraits, BytesRepresentation, BytesToBytesCodecTraits, CodecChain,
    CodecOptions,
};
use zarrs::metadata::v3::MetadataV3;
use zarrs::metadata_ext::codec::gzip::GzipCodecConfiguration;
use zarrs::metadata_ext::codec::zstd::ZstdCodecConfiguration;

use super::Result;
use super::bounded::{Bounded, ZSTD_LEVEL};
use super::codec_errors::from_codec;
use super::element::Element;
use super::filters::{self, Filter};
use super::shards::{Shards, grid};
use crate::error::{metadata, reason_in};

/// How deep shards lie within shards.
const MAX_DEPTH: usize = 4;

/// The codecs of chunks of `shape`, in shards within `depth` others.
pub(super) fn chain(codecs: &[MetadataV3], shape: &[NonZeroU64], element: Element, depth: usize) -> Result<CodecChain> {
    let mut transposes: Vec<Arc<dyn ArrayToArrayCodecTraits>> = Vec::new();
    let mut serializer: Option<Arc<dyn ArrayToBytesCodecTraits>> = None;
    let mut behind: Vec<Arc<dyn BytesToBytesCodecTraits>> = Vec::new();
    // Codecs of arrays, which work on the bytes of elements here.
    let mut filters: Vec<Arc<dyn BytesToBytesCodecTraits>> = Vec::new();
    let mut shape = shape.to_vec();
    for codec in codecs {
        let name = codec.name();
        let coder: Arc<dyn BytesToBytesCodecTraits> = match name {
            "transpose" | "bytes" | "sharding_indexed" if serializer.is_some() => {
                return Err(metadata(format!("codec {name} follows one that makes bytes")));
            }
            "transpose" if !filters.is_empty() => {
                return Err(metadata("codec transpose after one of numcodecs is not supported"));
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
                let is_big = codec.configuration().and_then(|map| map.get("endian")?.as_str()) == Some("big");
                if is_big && !filters.is_empty() {
                    return Err(metadata("big-endian bytes after codecs of numcodecs are not supported"));
                }
                let codec = BytesCodec::new_with_configuration(&configuration).map_err(of_codec(name))?;
                behind.append(&mut filters);
                serializer = Some(Arc::new(codec));
                continue;
            }
            "sharding_indexed" if !filters.is_empty() => {
                return Err(metadata("shards after codecs of numcodecs are not supported"));
            }
            "sharding_indexed" => {
                serializer = Some(Arc::new(shards(codec, &shape, element, depth)?));
                continue;
            }
            "crc32c" => Arc::new(checksum(codec)?),
            _ => match (Filter::of(codec)?, bounded(codec)?) {
                (Some(filter), _) if filter.is_of_arrays() && serializer.is_none() => {
                    filters.push(Arc::new(filter));
                    continue;
                }
                (Some(filter), _) => Arc::new(filter),
                (None, Some(bounded)) => Arc::new(bounded),
                (None, None) => return Err(unsupported(name)),
            },
        };
        if serializer.is_none() {
            return Err(metadata(format!("codec {name} stands before one that makes bytes")));
        }
        behind.push(coder);
    }
    let serializer = serializer.ok_or_else(|| metadata("no codec makes bytes"))?;
    Ok(CodecChain::new(transposes, serializer, behind))
}

/// The codec of bytes of this description, if its result can be longer than its input, and for shuffled bytes.
pub(super) fn bounded(codec: &MetadataV3) -> Result<Option<Bounded>> {
    let name = codec.name();
    Ok(Some(match name {
        "gzip" | "numcodecs.gzip" => match typed::<GzipCodecConfiguration>(codec)? {
            GzipCodecConfiguration::V1(gzip) => Bounded::Gzip(gzip.level.as_u32()),
            _ => return Err(unsupported(name)),
        },
        "zstd" => match typed::<ZstdCodecConfiguration>(codec)? {
            ZstdCodecConfiguration::V1(zstd) => Bounded::Zstd(zstd.level.into()),
            ZstdCodecConfiguration::Numcodecs(zstd) => Bounded::Zstd(zstd.level.into()),
            _ => return Err(unsupported(name)),
        },
        // It is written as `zstd`, which has a level of its own.
        "numcodecs.zstd" => Bounded::Zstd(ZSTD_LEVEL),
        // A buffer says itself how it is made.
        "blosc" | "numcodecs.blosc" => Bounded::Blosc,
        "numcodecs.zlib" => Bounded::Zlib,
        "numcodecs.lz4" => Bounded::Lz4,
        "numcodecs.shuffle" => {
            let size = codec.configuration().and_then(|map| map.get("elementsize")?.as_u64());
            Bounded::Shuffle(size.ok_or_else(|| metadata("codec numcodecs.shuffle has no elementsize"))?)
        }
        _ => return Ok(None),
    }))
}

fn checksum(codec: &MetadataV3) -> Result<Crc32cCodec> {
    Ok(Crc32cCodec::new_with_configuration(&typed::<Crc32cCodecConfiguration>(codec)?))
}

/// The bytes before a checksum, which is right.
///
/// # Errors
/// A wrong one, and other codecs.
pub(super) fn without_checksum(codec: &MetadataV3, bytes: Vec<u8>) -> Result<Vec<u8>> {
    if codec.name() != "crc32c" {
        return Err(unsupported(codec.name()));
    }
    let options = CodecOptions::default().with_concurrent_target(1);
    let bytes = checksum(codec)?.decode(bytes.into(), &BytesRepresentation::UnboundedSize, &options);
    bytes.map(Cow::into_owned).map_err(from_codec)
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
const READ_ONLY: [&str; 6] =
    ["blosc", "numcodecs.blosc", "numcodecs.gzip", "numcodecs.lz4", "numcodecs.zlib", "numcodecs.zstd"];

/// Whether a codec leaves out nothing but what it changed if it is left out itself.
fn is_filter(name: &str) -> bool {
    name == "numcodecs.shuffle" || filters::NAMES.contains(&name)
}

/// Puts `zstd` in the place of codecs that are read only, also within shards, and drops the filters of numcodecs. Returns the
/// codecs that were there.
pub(super) fn make_writable(codecs: &mut Json) -> Vec<String> {
    let mut changed = Vec::new();
    let Some(list) = codecs.as_array_mut() else { return changed };
    let name_of = |codec: &Json| codec.get("name").unwrap_or(codec).as_str().map(str::to_string);
    list.retain(|codec| {
        let name = name_of(codec).filter(|name| is_filter(name));
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
