//! Options of sources at addresses, under the names of programs for the reference.

/// How messages are searched for in a source at an address. [`ScanOptions`](crate::ScanOptions) are for files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteScanOptions {
    /// Whether the search goes from both ends.
    pub bidirectional: bool,
}

impl Default for RemoteScanOptions {
    fn default() -> Self {
        Self { bidirectional: true }
    }
}
