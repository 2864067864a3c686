//! Shards: a chunk that holds smaller chunks, found by an index of offsets and lengths.

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::sync::Arc;

use zarrs::array::codec::{ShardingCodec, ShardingIndexLocation, SubchunkWriteOrder};
use zarrs::array::{
    ArrayBytes, ArrayBytesRaw, ArrayCodecTraits, ArrayToBytesCodecTraits, BytesRepresentation, ChunkShape, CodecChain,
    CodecError, CodecOptions, DataType, FillValue, RecommendedConcurrency,
};
use zarrs::plugin::{ExtensionName, ZarrVersion};

use super::Result;
use super::codec_errors::{to_codec, whole_chunks};
use crate::error::{encoding, metadata};

/// The codec `sharding_indexed` of `zarrs`, with an index that is checked before it is used: `zarrs` adds the offset and
/// the length of a chunk unchecked.
#[derive(Debug)]
pub(super) struct Shards {
    codec: ShardingCodec,
    /// Chunks of a shard in each dimension.
    grid: ChunkShape,
}

impl Shards {
    /// Shards of `shape` with chunks of `chunk`.
    pub(super) fn new(
        shape: &[NonZeroU64],
        chunk: &[NonZeroU64],
        codecs: CodecChain,
        index_codecs: CodecChain,
        location: ShardingIndexLocation,
    ) -> Result<Self> {
        let grid = grid(shape, chunk)?;
        let codec = ShardingCodec::new(chunk.to_vec(), Arc::new(codecs), Arc::new(index_codecs), location)
            // Shards have the same bytes each time they are written.
            .with_subchunk_write_order(SubchunkWriteOrder::C);
        Ok(Self { codec, grid })
    }

    /// Checks that each chunk is within the shard, or is not stored.
    fn check(&self, shard: &[u8], options: &CodecOptions) -> Result<(), CodecError> {
        let index = self.codec.decode_index(shard, &self.grid, options)?;
        let is_within = |[offset, len]: &[u64; 2]| {
            (*offset, *len) == (u64::MAX, u64::MAX)
                || offset.checked_add(*len).is_some_and(|end| end <= shard.len() as u64)
        };
        match index.as_chunks::<2>().0.iter().find(|entry| !is_within(entry)) {
            None => Ok(()),
            Some([offset, len]) => {
                let what = format!("a chunk of {len} bytes at offset {offset} is not within its shard");
                Err(to_codec(encoding(what)))
            }
        }
    }
}

/// Chunks of a shard in each dimension.
pub(super) fn grid(shape: &[NonZeroU64], chunk: &[NonZeroU64]) -> Result<ChunkShape> {
    let wrong = || metadata(format!("chunks of {chunk:?} do not fill shards of {shape:?}"));
    if shape.len() != chunk.len() {
        return Err(wrong());
    }
    let counts = shape.iter().zip(chunk).map(|(dim, chunk)| {
        let count = dim.get().is_multiple_of(chunk.get()).then(|| dim.get() / *chunk)?;
        NonZeroU64::new(count)
    });
    counts.collect::<Option<_>>().ok_or_else(wrong)
}

impl ExtensionName for Shards {
    fn name(&self, version: ZarrVersion) -> Option<Cow<'static, str>> {
        self.codec.name(version)
    }
}

whole_chunks!(Shards);

impl ArrayCodecTraits for Shards {
    fn recommended_concurrency(
        &self,
        shape: &[NonZeroU64],
        data_type: &DataType,
    ) -> Result<RecommendedConcurrency, CodecError> {
        self.codec.recommended_concurrency(shape, data_type)
    }
}

impl ArrayToBytesCodecTraits for Shards {
    fn into_dyn(self: Arc<Self>) -> Arc<dyn ArrayToBytesCodecTraits> {
        self
    }

    fn encoded_representation(
        &self,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
    ) -> Result<BytesRepresentation, CodecError> {
        self.codec.encoded_representation(shape, data_type, fill_value)
    }

    fn encode<'a>(
        &self,
        bytes: ArrayBytes<'a>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
        options: &CodecOptions,
    ) -> Result<ArrayBytesRaw<'a>, CodecError> {
        self.codec.encode(bytes, shape, data_type, fill_value, options)
    }

    fn decode<'a>(
        &self,
        bytes: ArrayBytesRaw<'a>,
        shape: &[NonZeroU64],
        data_type: &DataType,
        fill_value: &FillValue,
        options: &CodecOptions,
    ) -> Result<ArrayBytes<'a>, CodecError> {
        self.check(&bytes, options)?;
        self.codec.decode(bytes, shape, data_type, fill_value, options)
    }
}
