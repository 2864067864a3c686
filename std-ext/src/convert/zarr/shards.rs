//! Shards: chunks within a chunk, found by an index of offsets and lengths.

use serde_json::{Map, Value as Json};

use super::Result;
use super::boxes::{Place, advance, copy, count};
use super::codecs::{Chain, Work};
use super::describe::numbers;
use super::element::Element;
use crate::base::limits::reserve;

/// How deep shards lie within shards.
const MAX_DEPTH: usize = 4;
/// Bytes of an entry of the index: offset and length.
const ENTRY_LEN: usize = 16;
/// Offset and length of a chunk that is not stored.
const MISSING: [u8; ENTRY_LEN] = [0xff; ENTRY_LEN];

/// The codec `sharding_indexed`.
#[derive(Clone, Debug)]
pub(super) struct Sharding {
    chunk: Vec<u64>,
    codecs: Chain,
    index: Chain,
    /// Chunks of a shard in each dimension, and 2.
    index_shape: Vec<u64>,
    is_at_end: bool,
}

impl Sharding {
    /// Shards of `shape`.
    pub(super) fn parse(
        configuration: Option<&Map<String, Json>>,
        shape: &[u64],
        element: Element,
        depth: usize,
    ) -> Result<Self> {
        if depth >= MAX_DEPTH {
            return Err(format!("shards within shards lie deeper than {MAX_DEPTH}"));
        }
        let get = |key: &str| {
            let value = configuration.and_then(|map| map.get(key));
            value.ok_or_else(|| format!("codec sharding_indexed has no {key}"))
        };
        let chunk = numbers(get("chunk_shape")?, "chunk_shape")?;
        let fits = |(dim, chunk): (&u64, &u64)| *chunk > 0 && dim.is_multiple_of(*chunk);
        if chunk.len() != shape.len() || !shape.iter().zip(&chunk).all(fits) {
            return Err(format!("chunks of {chunk:?} do not fill shards of {shape:?}"));
        }
        let grid = shape.iter().zip(&chunk).map(|(dim, chunk)| dim.checked_div(*chunk).unwrap_or(0));
        let index_shape: Vec<u64> = grid.chain([2]).collect();
        let index = Chain::parse(get("index_codecs")?, &index_shape, Element::INDEX, depth + 1)?;
        let is_at_end = match configuration.and_then(|map| map.get("index_location")).map(Json::as_str) {
            None | Some(Some("end")) => true,
            Some(Some("start")) => false,
            _ => return Err("codec sharding_indexed has an index at neither start nor end".into()),
        };
        let codecs = Chain::parse(get("codecs")?, &chunk, element, depth + 1)?;
        Ok(Self { chunk, codecs, index, index_shape, is_at_end })
    }

    /// Whether a codec can be read only.
    pub(super) fn is_read_only(&self) -> bool {
        self.codecs.is_read_only()
    }

    /// Bytes of the index, and chunks of the shard in each dimension.
    fn index_len(&self, work: Work<'_>, encoded: usize) -> Result<(usize, &[u64])> {
        let len = Work { element: Element::INDEX, ..work }.len(&self.index_shape, encoded)?;
        let len = self.index.fixed_len(len).ok_or("a compressed index of a shard is not supported")?;
        Ok((len, self.index_shape.split_last().map_or(&[], |(_, grid)| grid)))
    }

    /// The elements of a shard of `shape`.
    pub(super) fn decode(&self, shard: &[u8], shape: &[u64], fill: &[u8], work: Work<'_>) -> Result<Vec<u8>> {
        let (index_len, grid) = self.index_len(work, shard.len())?;
        let at = if self.is_at_end { shard.len().checked_sub(index_len) } else { Some(0) };
        let index = at.and_then(|at| shard.get(at..at.checked_add(index_len)?));
        let index = index.ok_or_else(|| format!("a shard of {} bytes has no index of {index_len}", shard.len()))?;
        let index = self.index.decode(index, &self.index_shape, &[], Work { element: Element::INDEX, ..work })?;
        let mut elements = filled(work.len(shape, shard.len())?, fill)?;
        let (mut place, origin) = (vec![0; grid.len()], vec![0; grid.len()]);
        for entry in index.as_chunks::<ENTRY_LEN>().0 {
            if *entry != MISSING {
                let chunk = self.codecs.decode(part(shard, entry)?, &self.chunk, fill, work)?;
                let to = place.iter().zip(&self.chunk).map(|(index, dim)| index * dim).collect::<Vec<_>>();
                let source = (Place { shape: &self.chunk, origin: &origin }, &chunk[..]);
                let target = (Place { shape, origin: &to }, &mut elements[..]);
                copy(&self.chunk, work.element.size(), source, target)?;
            }
            advance(&mut place, grid);
        }
        Ok(elements)
    }

    /// The shard of `elements`.
    pub(super) fn encode(&self, elements: &[u8], shape: &[u64], fill: &[u8], work: Work<'_>) -> Result<Vec<u8>> {
        let (index_len, grid) = self.index_len(work, elements.len())?;
        let (mut index, mut chunks) = (Vec::new(), Vec::new());
        let start = if self.is_at_end { 0 } else { index_len };
        let (mut place, origin) = (vec![0; grid.len()], vec![0; grid.len()]);
        for _ in 0..count(grid)? {
            let mut chunk = reserve(work.len(&self.chunk, elements.len())?).map_err(|error| error.to_string())?;
            let from = place.iter().zip(&self.chunk).map(|(index, dim)| index * dim).collect::<Vec<_>>();
            let source = (Place { shape, origin: &from }, elements);
            let target = (Place { shape: &self.chunk, origin: &origin }, &mut chunk[..]);
            copy(&self.chunk, work.element.size(), source, target)?;
            if is_filled(&chunk, fill) {
                index.extend_from_slice(&MISSING);
            } else {
                let encoded = self.codecs.encode(chunk, &self.chunk, fill, work)?;
                index.extend_from_slice(&((start + chunks.len()) as u64).to_le_bytes());
                index.extend_from_slice(&(encoded.len() as u64).to_le_bytes());
                chunks.extend_from_slice(&encoded);
            }
            advance(&mut place, grid);
        }
        let mut index = self.index.encode(index, &self.index_shape, &[], Work { element: Element::INDEX, ..work })?;
        if self.is_at_end {
            chunks.extend_from_slice(&index);
            return Ok(chunks);
        }
        index.extend_from_slice(&chunks);
        Ok(index)
    }
}

/// The bytes that an entry of the index names.
fn part<'a>(shard: &'a [u8], entry: &[u8; ENTRY_LEN]) -> Result<&'a [u8]> {
    let (words, _) = entry.as_chunks::<8>();
    let [offset, len] =
        [words.first(), words.last()].map(|word| word.map_or(u64::MAX, |word| u64::from_le_bytes(*word)));
    let range = usize::try_from(offset).ok().zip(usize::try_from(len).ok());
    let part = range.and_then(|(offset, len)| shard.get(offset..offset.checked_add(len)?));
    part.ok_or_else(|| format!("a chunk of {len} bytes at offset {offset} is not within its shard"))
}

/// `len` bytes of the element `fill` over and over.
pub(super) fn filled(len: usize, fill: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = reserve(len).map_err(|error| error.to_string())?;
    if fill.iter().any(|byte| *byte != 0) {
        bytes.chunks_exact_mut(fill.len()).for_each(|element| element.copy_from_slice(fill));
    }
    Ok(bytes)
}

/// Whether all elements are `fill`.
pub(super) fn is_filled(bytes: &[u8], fill: &[u8]) -> bool {
    !fill.is_empty() && bytes.chunks_exact(fill.len()).all(|element| element == fill)
}
