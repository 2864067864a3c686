//! The codecs of an array: what turns a chunk into bytes, and back.
//!
//! ```text
//! elements ─ transpose … ─ bytes or sharding_indexed ─ gzip, zstd, blosc, crc32c … ─ stored bytes
//! ```

use serde_json::Value as Json;

use super::Result;
use super::boxes::{count, inverse, transpose};
use super::describe::{numbers, of_extension};
use super::element::Element;
use super::gzip::{crc32c, gunzip, gzip};
use super::shards::Sharding;
use crate::base::limits::{DecodeLimits, reserve};
use crate::codec::{blosc2, zstd};
use crate::kernels::byteswap::swap_in_place;

/// Bytes of a checksum.
const CHECKSUM_LEN: usize = 4;
/// The level of zstd where blosc was.
const ZSTD_LEVEL: i32 = 3;

/// The codecs of an array, in the order in which they are applied.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    transposes: Vec<Vec<usize>>,
    serializer: Serializer,
    coders: Vec<Coder>,
}

/// The codec that makes bytes of elements.
#[derive(Clone, Debug)]
enum Serializer {
    Bytes { is_big: bool },
    Sharding(Box<Sharding>),
}

/// A codec that makes bytes of bytes.
#[derive(Clone, Copy, Debug)]
enum Coder {
    Gzip(u8),
    Zstd(i32),
    Blosc,
    Crc32c,
}

/// What a chain is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work<'a> {
    pub(super) element: Element,
    pub(super) limits: &'a DecodeLimits,
}

impl Work<'_> {
    /// Bytes of a tensor of `shape`, which `encoded` bytes hold.
    pub(super) fn len(self, shape: &[u64], encoded: usize) -> Result<usize> {
        let bytes = count(shape)?.checked_mul(self.element.size() as u64);
        let bytes = bytes.ok_or_else(|| format!("shape {shape:?} is too large"))?;
        self.limits.check_bytes(encoded as u64, bytes).map_err(|error| error.to_string())
    }
}

impl Chain {
    /// The codecs of chunks of `shape`.
    pub(super) fn parse(codecs: &Json, shape: &[u64], element: Element, depth: usize) -> Result<Self> {
        let codecs = codecs.as_array().ok_or("codecs are no list")?;
        let (mut transposes, mut serializer, mut behind) = (vec![], None, vec![]);
        let mut shape = shape.to_vec();
        for codec in codecs {
            let (name, configuration) = of_extension(codec)?;
            let get = |key: &str| configuration.and_then(|map| map.get(key));
            let late = || format!("codec {name} follows one that makes bytes");
            let coder = match name {
                "transpose" | "bytes" | "sharding_indexed" if serializer.is_some() => return Err(late()),
                "transpose" => {
                    let order = order(get("order"), shape.len())?;
                    shape = order.iter().filter_map(|&dim| shape.get(dim).copied()).collect();
                    transposes.push(order);
                    continue;
                }
                "bytes" => {
                    let is_big = match get("endian").and_then(Json::as_str) {
                        Some("big") => true,
                        Some("little") => false,
                        None if element.unit() == 1 && get("endian").is_none() => false,
                        _ => return Err(format!("codec bytes has endian {:?}", get("endian"))),
                    };
                    serializer = Some(Serializer::Bytes { is_big });
                    continue;
                }
                "sharding_indexed" => {
                    let sharding = Sharding::parse(configuration, &shape, element, depth)?;
                    serializer = Some(Serializer::Sharding(Box::new(sharding)));
                    continue;
                }
                "gzip" => {
                    let level = get("level").and_then(Json::as_u64).and_then(|level| u8::try_from(level).ok());
                    Coder::Gzip(level.filter(|level| *level <= 9).ok_or("codec gzip has no level of 0 to 9")?)
                }
                "zstd" => {
                    let level = get("level").and_then(Json::as_i64).and_then(|level| i32::try_from(level).ok());
                    Coder::Zstd(level.ok_or("codec zstd has no level")?)
                }
                "blosc" => Coder::Blosc,
                "crc32c" => Coder::Crc32c,
                other => return Err(format!("codec {other} is not supported")),
            };
            if serializer.is_none() {
                return Err(format!("codec {name} stands before one that makes bytes"));
            }
            behind.push(coder);
        }
        let serializer = serializer.ok_or("no codec makes bytes")?;
        Ok(Self { transposes, serializer, coders: behind })
    }

    /// Whether a codec can be read only, and another one is written in its place.
    pub(super) fn is_read_only(&self) -> bool {
        let inner = matches!(&self.serializer, Serializer::Sharding(sharding) if sharding.is_read_only());
        inner || self.coders.iter().any(|coder| matches!(coder, Coder::Blosc))
    }

    /// Bytes that `len` bytes of elements always become. `None` if that depends on the elements.
    pub(super) fn fixed_len(&self, len: usize) -> Option<usize> {
        let is_plain = matches!(self.serializer, Serializer::Bytes { .. });
        let after = |len: usize, coder: &Coder| match coder {
            Coder::Crc32c => len.checked_add(CHECKSUM_LEN),
            _ => None,
        };
        self.coders.iter().try_fold(len, after).filter(|_| is_plain)
    }

    /// The elements of a chunk of `shape`.
    pub(super) fn decode(&self, bytes: &[u8], shape: &[u64], fill: &[u8], work: Work<'_>) -> Result<Vec<u8>> {
        let len = work.len(shape, bytes.len())?;
        let mut lens = vec![matches!(self.serializer, Serializer::Bytes { .. }).then_some(len)];
        for coder in &self.coders {
            let before = lens.last().copied().flatten();
            lens.push(if matches!(coder, Coder::Crc32c) {
                before.map(|len| len.saturating_add(CHECKSUM_LEN))
            } else {
                None
            });
        }
        let mut bytes = std::borrow::Cow::Borrowed(bytes);
        for (coder, len) in self.coders.iter().zip(&lens).rev() {
            bytes = match coder {
                Coder::Crc32c => without_checksum(&bytes)?.to_vec(),
                _ => coder.decompress(&bytes, len.ok_or("a compressed shard or checksum of one is not supported")?)?,
            }
            .into();
        }
        let shapes = self.shapes(shape);
        let encoded_shape = shapes.last().map_or(shape, Vec::as_slice);
        let mut elements = match &self.serializer {
            Serializer::Bytes { is_big } => {
                if bytes.len() != len {
                    return Err(format!("a chunk has {} bytes, expected {len}", bytes.len()));
                }
                let mut bytes = bytes.into_owned();
                if *is_big {
                    swap_in_place(&mut bytes, work.element.unit()).map_err(|error| error.to_string())?;
                }
                bytes
            }
            Serializer::Sharding(sharding) => sharding.decode(&bytes, encoded_shape, fill, work)?,
        };
        for (order, shape) in self.transposes.iter().zip(shapes.iter().skip(1)).rev() {
            elements = transpose(&elements, shape, &inverse(order), work.element.size())?;
        }
        Ok(elements)
    }

    /// The bytes of a chunk of `shape`. A shard omits its chunks whose elements all are `fill`.
    pub(super) fn encode(&self, elements: Vec<u8>, shape: &[u64], fill: &[u8], work: Work<'_>) -> Result<Vec<u8>> {
        let shapes = self.shapes(shape);
        let mut bytes = elements;
        for (order, shape) in self.transposes.iter().zip(&shapes) {
            bytes = transpose(&bytes, shape, order, work.element.size())?;
        }
        match &self.serializer {
            Serializer::Bytes { is_big: false } => {}
            Serializer::Bytes { is_big: true } => {
                swap_in_place(&mut bytes, work.element.unit()).map_err(|error| error.to_string())?;
            }
            Serializer::Sharding(sharding) => {
                bytes = sharding.encode(&bytes, shapes.last().map_or(shape, Vec::as_slice), fill, work)?;
            }
        }
        self.coders.iter().try_fold(bytes, |bytes, coder| coder.encode(bytes))
    }

    /// The shape before the first transpose and after each.
    fn shapes(&self, shape: &[u64]) -> Vec<Vec<u64>> {
        let mut shapes = vec![shape.to_vec()];
        for order in &self.transposes {
            let turned = order.iter().filter_map(|&dim| shapes.last()?.get(dim).copied()).collect();
            shapes.push(turned);
        }
        shapes
    }
}

impl Coder {
    fn decompress(self, bytes: &[u8], len: usize) -> Result<Vec<u8>> {
        let mut out = reserve(len).map_err(|error| error.to_string())?;
        match self {
            Self::Gzip(_) => gunzip(bytes, &mut out)?,
            Self::Zstd(_) => zstd::decompress(bytes, &mut out).map_err(|error| format!("zstd: {error}"))?,
            Self::Blosc => blosc2::decompress_blosc1(bytes, &mut out).map_err(|error| format!("blosc: {error}"))?,
            Self::Crc32c => {}
        }
        Ok(out)
    }

    fn encode(self, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
        let zstd = |level| zstd::compress_with_len(&bytes, level).map_err(|error| format!("zstd: {error}"));
        match self {
            Self::Gzip(level) => Ok(gzip(&bytes, level)),
            Self::Zstd(level) => zstd(level),
            Self::Blosc => zstd(ZSTD_LEVEL),
            Self::Crc32c => {
                bytes.extend(crc32c(&bytes).to_le_bytes());
                Ok(bytes)
            }
        }
    }
}

/// The bytes in front of a checksum that fits them.
fn without_checksum(bytes: &[u8]) -> Result<&[u8]> {
    let (bytes, sum) = bytes.split_last_chunk::<CHECKSUM_LEN>().ok_or("bytes are shorter than their checksum")?;
    let (stated, computed) = (u32::from_le_bytes(*sum), crc32c(bytes));
    if stated == computed {
        return Ok(bytes);
    }
    Err(format!("crc32c states {stated:08x}, but the bytes have {computed:08x}"))
}

/// The order of dimensions: each of them once.
fn order(order: Option<&Json>, dims: usize) -> Result<Vec<usize>> {
    let wrong = || format!("codec transpose has no order of {dims} dimensions");
    let order = numbers(order.ok_or_else(wrong)?, "order")?;
    let order: Vec<usize> = order.iter().filter_map(|&dim| usize::try_from(dim).ok()).collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if sorted.into_iter().eq(0..dims) { Ok(order) } else { Err(wrong()) }
}

/// The codecs with `zstd` in the place of `blosc`, also within shards.
pub(super) fn writable(codecs: &mut Json) {
    for codec in codecs.as_array_mut().into_iter().flatten() {
        if of_extension(codec).is_ok_and(|(name, _)| name == "blosc") {
            *codec = serde_json::json!({"name": "zstd", "configuration": {"level": ZSTD_LEVEL, "checksum": false}});
        } else if let Some(inner) = codec.pointer_mut("/configuration/codecs") {
            writable(inner);
        }
    }
}
