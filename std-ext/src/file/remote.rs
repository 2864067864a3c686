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

/// Whether a file's name is an address in an object store: `s3`, `s3a`, `gs`, `az`, `azure`, `http` or `https`, then
/// `://`.
pub fn is_remote_url(source: &str) -> bool {
    let schemes = ["s3", "s3a", "gs", "az", "azure", "http", "https"];
    source.split_once("://").is_some_and(|(scheme, _)| schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}
