//! Options of scanning, under the path that users of the reference crate know.

pub use crate::scan::ScanOptions;

/// How an object store would be scanned. Files are scanned as [`ScanOptions`] say, whatever stands here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteScanOptions {
    /// From both ends.
    pub bidirectional: bool,
}

impl Default for RemoteScanOptions {
    fn default() -> Self {
        Self { bidirectional: true }
    }
}
