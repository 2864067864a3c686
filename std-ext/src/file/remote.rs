//! Addresses of object stores. They are recognised, and refused.

/// Options for scans of object stores, which this library does not read. They do not apply to files, which
/// [`ScanOptions`](crate::ScanOptions) are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteScanOptions {
    /// Whether to scan from both ends.
    pub bidirectional: bool,
}

impl Default for RemoteScanOptions {
    fn default() -> Self {
        Self { bidirectional: true }
    }
}
