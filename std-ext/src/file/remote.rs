//! Addresses of object stores: what they look like, and how they would be scanned.

/// How an object store would be scanned. Files are scanned as [`ScanOptions`](crate::scan::ScanOptions) say, whatever stands here.
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

/// Whether a file's name is an address in an object store: `s3`, `s3a`, `gs`, `az`, `azure`, `http` or `https`, and `://`.
pub fn is_remote_url(source: &str) -> bool {
    let schemes = ["s3", "s3a", "gs", "az", "azure", "http", "https"];
    source.split_once("://").is_some_and(|(scheme, _)| schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}
