//! References of kerchunk as a folder of Parquet: `.zmetadata`, and for each array files with a row for each chunk.
//!
//! | column | type | what it has |
//! |---|---|---|
//! | `path` | text, or null | the address of the file that has the chunk |
//! | `offset`, `size` | whole numbers | its bytes there |
//! | `raw` | bytes, or null | the chunk itself, if it is written down |
//!
//! A row with nulls is a chunk that is missing.

use std::fs::{File, create_dir};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use serde_json::Value as Json;
use tgm_dataset::{Chunk, Referenced, References};
use tgm_std::{Result, TensogramError};

use crate::error::encoding_from;

/// Rows of a file: readers hold a file of references at once.
const RECORDS: usize = 100_000;
/// The most rows of an array, as each place has one.
const MOST_ROWS: u64 = 1 << 32;

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> TensogramError {
    encoding_from("parquet", error)
}

/// Writes references into a folder that is there, and empty.
///
/// # Errors
/// [`TensogramError::Io`] of the folder; [`TensogramError::Encoding`] for an array with more than 2^32 chunks.
pub fn write_parquet(references: &References, folder: &Path) -> Result<()> {
    // Each description is JSON already, with the words of Python for floats that JSON lacks.
    let mut metadata = format!(r#"{{"metadata":{{".zgroup":{{"zarr_format":2}},".zattrs":{}"#, references.attributes);
    for array in &references.arrays {
        for (key, text) in [(".zarray", &array.description), (".zattrs", &array.attributes)] {
            let key = Json::from(format!("{}/{key}", array.name));
            metadata.extend([",\n", &key.to_string(), ":", text]);
        }
        write_array(array, &references.addresses, folder)?;
    }
    let end = format!(r#"}},"record_size":{RECORDS}}}"#);
    Ok(std::fs::write(folder.join(".zmetadata"), metadata + &end)?)
}

fn write_array(array: &Referenced, addresses: &[String], folder: &Path) -> Result<()> {
    let rows = array.counts.iter().try_fold(1_u64, |all, count| all.checked_mul(*count));
    let rows = rows.filter(|rows| *rows <= MOST_ROWS).and_then(|rows| usize::try_from(rows).ok());
    let Some(rows) = rows else {
        return Err(TensogramError::Encoding(format!("{}: it has more than {MOST_ROWS} chunks", array.name).into()));
    };
    let folder = folder.join(&array.name);
    create_dir(&folder)?;
    let mut chunks = array.chunks.iter().peekable();
    for (file, first) in (0..rows).step_by(RECORDS).enumerate() {
        let behind = rows.min(first.saturating_add(RECORDS));
        let (mut paths, mut offsets, mut sizes, mut raw) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for row in first..behind {
            let chunk = chunks.next_if(|(number, _)| *number == row as u64).map(|(_, chunk)| chunk);
            let (path, offset, size, bytes) = match chunk {
                Some(Chunk::There(source, bytes)) => {
                    let number = |number: u64| i64::try_from(number).map_err(failed);
                    let address = addresses.get(*source).map(String::as_str);
                    (address, number(bytes.start)?, number(bytes.end - bytes.start)?, None)
                }
                Some(Chunk::Here(bytes)) => (None, 0, 0, Some(bytes.as_slice())),
                None => (None, 0, 0, None),
            };
            paths.push(path);
            offsets.push(offset);
            sizes.push(size);
            raw.push(bytes);
        }
        let columns: [(&str, ArrayRef, bool); 4] = [
            ("path", Arc::new(StringArray::from(paths)), true),
            ("offset", Arc::new(Int64Array::from(offsets)), false),
            ("size", Arc::new(Int64Array::from(sizes)), false),
            ("raw", Arc::new(BinaryArray::from(raw)), true),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns).map_err(failed)?;
        let properties = WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let sink = File::create(folder.join(format!("refs.{file}.parq")))?;
        let mut writer = ArrowWriter::try_new(sink, batch.schema(), Some(properties)).map_err(failed)?;
        writer.write(&batch).map_err(failed)?;
        writer.close().map_err(failed)?;
    }
    Ok(())
}
