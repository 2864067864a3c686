//! Which file it is, and in which state.

/// Device, inode, time of change and size of a file that is open. `None` where the system does not tell.
pub(super) fn identity(metadata: &std::fs::Metadata) -> Option<Vec<u8>> {
    let changed = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    #[cfg(unix)]
    let (device, inode) = {
        use std::os::unix::fs::MetadataExt as _;
        (metadata.dev(), metadata.ino())
    };
    #[cfg(not(unix))]
    let (device, inode) = (0, 0);
    let numbers = [device, inode, changed.as_secs(), changed.subsec_nanos().into(), metadata.len()];
    Some(numbers.into_iter().flat_map(u64::to_le_bytes).collect())
}
