//! The second pass: rows, written in batches.

use std::fmt;
use std::io::Write;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use tgm_std::Result;
#[cfg(doc)]
use tgm_std::TensogramError;

use super::builders::Batch;
use super::columns::Columns;
use super::describe::Described;
use super::{cells, failed};

/// Bytes of cells that are held in memory.
const BATCH_BYTES: usize = 16 << 20;
/// Rows of a group in Parquet, and bytes that a group may take. What a group holds is in memory until it is written.
#[cfg(feature = "parquet")]
const GROUP_ROWS: usize = 1 << 16;
#[cfg(feature = "parquet")]
const GROUP_BYTES: usize = 64 << 20;

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableFormat {
    /// The file format of Arrow IPC, without compression.
    Arrow,
    /// Parquet, compressed by zstd.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Writes a table.
pub struct TableWriter<W: Write> {
    columns: Columns,
    batch: Batch,
    inner: Inner<W>,
}

enum Inner<W: Write> {
    Arrow(FileWriter<W>),
    /// Parquet's writer demands a sink that threads may share, so it writes to memory that is emptied after each batch.
    #[cfg(feature = "parquet")]
    Parquet(parquet::arrow::ArrowWriter<Vec<u8>>, W),
}

impl<W: Write> fmt::Debug for TableWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableWriter").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl<W: Write> TableWriter<W> {
    /// Begins a table with the columns that were observed.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`], with the text of the sink's error if it failed.
    pub fn new(columns: Columns, format: TableFormat, sink: W) -> Result<Self> {
        let batch = Batch::new(&columns);
        let schema = batch.schema();
        let inner = match format {
            TableFormat::Arrow => Inner::Arrow(FileWriter::try_new(sink, schema).map_err(failed)?),
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => {
                use parquet::basic::{Compression, ZstdLevel};
                use parquet::file::properties::WriterProperties;
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .set_max_row_group_row_count(Some(GROUP_ROWS))
                    .set_max_row_group_bytes(Some(GROUP_BYTES))
                    .build();
                let schema = std::sync::Arc::clone(schema);
                let writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), schema, Some(properties));
                Inner::Parquet(writer.map_err(failed)?, sink)
            }
        };
        Ok(Self { columns, batch, inner })
    }

    /// Writes the rows of a message that was observed.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] for metadata that were not observed, and if the sink fails.
    pub fn write(&mut self, described: &Described) -> Result<()> {
        let options = self.columns.options;
        cells::each_row(described, options.rows, |index, cells| {
            self.batch.add(described, index, cells)?;
            if self.batch.rows() >= options.batch_rows || self.batch.bytes() >= BATCH_BYTES {
                self.inner.write(&self.batch.take()?)?;
            }
            Ok(())
        })
    }

    /// Writes the last rows and the end of the file, and returns the sink.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] if the sink fails.
    pub fn finish(mut self) -> Result<W> {
        if self.batch.rows() > 0 {
            self.inner.write(&self.batch.take()?)?;
        }
        match self.inner {
            Inner::Arrow(mut writer) => {
                writer.finish().map_err(failed)?;
                writer.into_inner().map_err(failed)
            }
            #[cfg(feature = "parquet")]
            Inner::Parquet(writer, mut sink) => {
                let rest = writer.into_inner().map_err(failed)?;
                sink.write_all(&rest).map_err(failed)?;
                sink.flush().map_err(failed)?;
                Ok(sink)
            }
        }
    }
}

impl<W: Write> Inner<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Arrow(writer) => writer.write(batch).map_err(failed),
            #[cfg(feature = "parquet")]
            Self::Parquet(writer, sink) => {
                writer.write(batch).map_err(failed)?;
                let written = std::mem::take(writer.inner_mut());
                sink.write_all(&written).map_err(failed)
            }
        }
    }
}
