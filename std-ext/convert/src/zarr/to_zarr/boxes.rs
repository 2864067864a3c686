//! Boxes of arrays as chunks, and files of the store.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;
use tgm_std::TensogramError;
use tgm_std::file::SourceName;
use tgm_std::file::replace::make_folders;

use super::{DESCRIPTION, Folder, Handle, Result, encoding_from};
use crate::tree::BoxOf;
use crate::zarr::describe::{count, indices};

impl Folder {
    /// Writes a box of an array: to all chunks that it touches. A chunk that has nothing but the fill value is not stored,
    /// unless it is the box.
    pub(super) fn write_box(
        &self,
        Handle { folder, array, .. }: &Handle,
        BoxOf { origin, shape }: BoxOf<'_>,
        elements: &[u8],
    ) -> Result<()> {
        let Some(array) = array else { return Ok(()) };
        if count(shape)? == 0 {
            return Ok(());
        }
        let failed = |error: TensogramError| error.within(SourceName::of(folder));
        let limits = &self.options.decode.limits;
        array.len(&array.chunk, elements.len(), limits).map_err(failed)?;
        let first: Vec<u64> = origin.iter().zip(&array.chunk).map(|(at, chunk)| at / chunk).collect();
        let ends = origin.iter().zip(shape).zip(&array.chunk);
        let counts: Vec<u64> =
            ends.zip(&first).map(|(((at, len), chunk), first)| (at + len).div_ceil(*chunk) - first).collect();
        for step in indices(&counts) {
            let index: Vec<u64> = first.iter().zip(&step).map(|(first, step)| first + step).collect();
            let (start, extent) = array.extent(&index);
            let low: Vec<u64> = start.iter().zip(origin).map(|(a, b)| *a.max(b)).collect();
            let ends = start.iter().zip(&extent).map(|(at, len)| at + len);
            let high: Vec<u64> = ends.zip(origin.iter().zip(shape)).map(|(end, (at, len))| end.min(at + len)).collect();
            let part: Vec<u64> = high.iter().zip(&low).map(|(high, low)| high - low).collect();
            let path = folder.join(array.key(&index));
            let buffer = match written_chunk(&path)? {
                Some(bytes) if part != extent => array.decode(&bytes, limits),
                _ => array.filled(&array.chunk),
            };
            let from: Vec<u64> = low.iter().zip(origin).map(|(low, at)| low - at).collect();
            let to: Vec<u64> = low.iter().zip(&start).map(|(low, at)| low - at).collect();
            let cut = array.cut(elements, shape, &from, &part).map_err(failed)?;
            let buffer = buffer.and_then(|buffer| array.paste(buffer, &array.chunk, (&to, &part), &cut));
            let buffer = buffer.map_err(failed)?;
            let is_box = part == extent && part == shape && array.shape != shape;
            if is_box || path.exists() || !array.is_filled(&buffer) {
                put(&path, &array.encode(buffer).map_err(failed)?)?;
            }
        }
        Ok(())
    }
}

/// Writes the description of a node, and its directory.
pub(super) fn write_description(folder: &Path, json: &Json) -> Result<()> {
    let text = serde_json::to_vec_pretty(json).map_err(|error| encoding_from("the description", error))?;
    put(&folder.join(DESCRIPTION), &text)
}

/// The bytes of a chunk that was written before. `None` if it was not.
fn written_chunk(path: &Path) -> Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(TensogramError::io(path, &error)),
    }
}

pub(super) fn put(path: &Path, bytes: &[u8]) -> Result<()> {
    let write = || {
        if let Some(folder) = path.parent().filter(|folder| !folder.is_dir()) {
            make_folders(folder)?;
        }
        fs::write(path, bytes)
    };
    write().map_err(|error| TensogramError::io(path, &error))
}
