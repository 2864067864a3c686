//! The reader of a file at an address, for calls that wait for their answer.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use tgm_core::wire::MAGIC;

use crate::base::error::{Result, TensogramError};
use crate::base::foreign::{LOOKED_AT, error as foreign_file, kind_of};
use crate::base::span::span;
use crate::file::remote::RemoteScanOptions;
use crate::read::question::{Question, Subject};
use crate::read::{AsyncReader, ReadOptions, Tag};
use crate::remote::{RemoteOptions, RemoteSource, open, wait};
use crate::scan::{MessageLayout, ScanOptions, Table};

/// The reader of a source at an address, for calls that wait for their answer.
#[derive(Clone, Debug)]
pub(super) struct Remote {
    pub(super) reader: Arc<AsyncReader<RemoteSource>>,
    table: OnceLock<Arc<Table>>,
}

impl Remote {
    pub(super) fn new(reader: AsyncReader<RemoteSource>) -> Self {
        Self { reader: Arc::new(reader), table: OnceLock::new() }
    }

    pub(super) fn refresh(&mut self) {
        self.reader.refresh();
        self.table = OnceLock::new();
    }

    pub(super) fn table(&self) -> Result<&Table> {
        if let Some(table) = self.table.get() {
            return Ok(table);
        }
        let reader = Arc::clone(&self.reader);
        let table = wait(async move { reader.table().await })??;
        Ok(self.table.get_or_init(|| table))
    }

    pub(super) fn ask<Q: Question + 'static>(&self, of: Subject, question: Q) -> Result<Q::Answer> {
        let reader = Arc::clone(&self.reader);
        wait(async move { reader.ask(of, question).await })?
    }

    pub(super) fn message_layouts_in(&self, numbers: Range<usize>) -> Result<Vec<MessageLayout>> {
        let reader = Arc::clone(&self.reader);
        wait(async move { reader.message_layouts_in(numbers).await })?
    }

    pub(super) fn message_layout_at(&self, offset: u64) -> Result<Option<MessageLayout>> {
        let reader = Arc::clone(&self.reader);
        wait(async move { reader.message_layout_at(offset).await })?
    }

    /// The length of the source.
    pub(super) fn len(&self) -> Result<u64> {
        let reader = Arc::clone(&self.reader);
        wait(async move { reader.touch().await })?
    }

    /// The length of the source, and which version it is, as far as the server tells.
    pub(super) fn version(&self) -> Option<(u64, Option<Tag>)> {
        let reader = Arc::clone(&self.reader);
        wait(async move { reader.version().await }).ok()?
    }

    /// Fills `out` with bytes from `offset` on: fewer only at the source's end.
    pub(super) fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize> {
        let (reader, range) = (Arc::clone(&self.reader), span(offset, out.len() as u64));
        let bytes = wait(async move { reader.read(range).await })??;
        out.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from);
        Ok(bytes.len())
    }
}

/// The error of what sources at addresses cannot do.
pub(super) fn not_supported() -> TensogramError {
    TensogramError::Remote("operation not supported on remote files".into())
}

/// Checks that a source has a message. What begins with one is not searched.
///
/// # Errors
/// The errors of the source; [`TensogramError::Remote`] if there is none.
pub(super) async fn check(reader: &AsyncReader<RemoteSource>, address: &str) -> Result<()> {
    let start = reader.read(0..LOOKED_AT as u64).await?;
    if start.starts_with(MAGIC) {
        return Ok(());
    }
    match reader.message_layouts_in(0..1).await {
        Ok(found) if !found.is_empty() => Ok(()),
        // A long one is not searched to its end.
        Err(error) if kind_of(&start).is_none() => Err(error),
        _ => Err(foreign_file(address, true, &start)),
    }
}

/// The reader that a file at an address has.
pub(super) fn reader(
    address: &str,
    options: &RemoteOptions,
    scan_options: Option<RemoteScanOptions>,
) -> Result<AsyncReader<RemoteSource>> {
    let bidirectional = scan_options.unwrap_or_default().bidirectional;
    let scan = ScanOptions { bidirectional, ..ScanOptions::default() };
    Ok(AsyncReader::with_scan_options(open(address, options)?, ReadOptions::remote(), scan))
}
