//! Which names of files are addresses.

/// Whether a file's name is an address in an object store: `s3`, `s3a`, `gs`, `az`, `azure`, `http` or `https`, then
/// `://`.
pub fn is_remote_url(source: &str) -> bool {
    let schemes = ["s3", "s3a", "gs", "az", "azure", "http", "https"];
    source.split_once("://").is_some_and(|(scheme, _)| schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}
