//! Chunks that are decoded and encoded side by side.

use std::convert::Infallible;
use std::path::Path;

use tgm_codec::kernels::byteswap::swap_in_place;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_dataset::reading::Packed;
use tgm_std::codec::threads::Threads;
use tgm_std::{DataObjectDescriptor, DecodeLimits};

use super::{Reader, Result, Source, ZarrOptions};
use crate::arrays::pack_bools;
use crate::error::metadata;
use crate::streamed::{TOGETHER, encoded, side_by_side};
use crate::zarr::describe::count;
use crate::zarr::store::directory;

/// An object that is encoded.
pub(super) struct Made {
    pub(super) descriptor: DataObjectDescriptor,
    pub(super) region: Vec<u8>,
    /// How many of its values another format of complex numbers has changed.
    pub(super) altered: usize,
}

impl Reader<'_> {
    /// The threads that the options ask for.
    pub(super) fn threads(&self) -> Result<Threads> {
        Ok(Threads::resolve(self.options.threads.max(1), u64::MAX, None)?)
    }

    /// Reads chunks, and does `work` on their elements that lie within the array, which have this shape. Returns the results with
    /// the indices of the chunks.
    pub(super) fn side_by_side<'i, R: Send>(
        &mut self,
        (path, source, group): (&str, &Source, &'i [Vec<u64>]),
        threads: Threads,
        work: impl Fn(&[u64], Vec<u8>) -> Result<R> + Sync,
    ) -> Vec<(&'i [u64], Result<R>)> {
        let (folder, array, limits) = (directory(Path::new(""), path), &source.array, self.options.limits);
        let mut read = |index: &[u64]| {
            let path = folder.join(array.key(index));
            let on_disk = self.store.disk_len(&path);
            let bytes = self.store.read(&path, array.max_stored())?.ok_or_else(|| metadata("it is gone"))?;
            self.take(on_disk, array)?;
            Ok(bytes)
        };
        let stored: Vec<(_, Result<_>)> = group.iter().map(|index| (index.as_slice(), read(index))).collect();
        let Ok(made) = threads.map(&stored, |(index, bytes)| {
            let shape = array.extent(index).1;
            let made = |bytes: &Vec<u8>| work(&shape, source.elements(bytes, &shape, &limits)?);
            Ok::<_, Infallible>(bytes.as_ref().ok().map(made))
        });
        let of_chunk = |((index, bytes), made): ((_, Result<Vec<u8>>), Option<Result<R>>)| {
            (index, bytes.and_then(|_| made.unwrap_or_else(|| Err(metadata("it is gone")))))
        };
        stored.into_iter().zip(made).map(of_chunk).collect()
    }
}

impl Source {
    /// The chunks that are worked on side by side. The first one is alone, as its stages serve the others.
    pub(super) fn groups(&self, threads: Threads) -> impl Iterator<Item = &[Vec<u64>]> + use<'_> {
        let width = self.values.reading.dtype().byte_width().max(self.array.element.size()) as u64;
        let len = count(&self.array.chunk).map_or(u64::MAX, |count| count.saturating_mul(width));
        let most = usize::try_from(TOGETHER / len.max(1)).unwrap_or(usize::MAX).max(1);
        let (first, others) = self.chunks.split_at(self.chunks.len().min(1));
        first.chunks(1).chain(others.chunks(side_by_side(threads).min(most)))
    }

    /// The elements of a chunk that lie within the array.
    fn elements(&self, bytes: &[u8], shape: &[u64], limits: &DecodeLimits) -> Result<Vec<u8>> {
        let elements = self.array.decode(bytes, limits)?;
        if shape == self.array.chunk {
            return Ok(elements);
        }
        self.array.cut(&elements, &self.array.chunk, &vec![0; shape.len()], shape)
    }

    /// The object of elements in the byte order of the machine, encoded.
    pub(super) fn made(&self, shape: &[u64], mut values: Vec<u8>, options: &ZarrOptions) -> Result<Made> {
        let (altered, reading) = (self.array.element.altered(&values), &self.values.reading);
        let dtype = reading.dtype();
        let packed = if options.stages.is_none() { Packed::of(reading, &values) } else { None };
        if ByteOrder::NATIVE == ByteOrder::Big {
            swap_in_place(&mut values, dtype.swap_unit_size().max(1))?;
        }
        let values = if dtype == Dtype::Bitmask { pack_bools(&values) } else { values };
        let object = (DataObjectDescriptor::new(dtype, ByteOrder::Little, shape), values);
        let packing = (packed, self.values.is_scaled);
        let (descriptor, region) = encoded(options, self.subject, object, packing, Some(&self.stages))?;
        Ok(Made { descriptor, region, altered })
    }
}
