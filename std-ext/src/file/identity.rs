//! Which file it is, and in which state.

use crate::read::Tag;

/// Tags of servers that are longer do not identify a file.
const LONGEST_TAG: usize = 256;
/// How the identity of a file on a server begins.
const ON_A_SERVER: &[u8] = b"server ";

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

/// Which file lies at a path, and in which state, as an open file tells it. `None` if there is none, or the system does not tell.
pub fn identity_at(path: &std::path::Path) -> Option<Vec<u8>> {
    identity(&std::fs::metadata(path).ok()?)
}

/// Size and tag of a file on a server: its `ETag`, or else its time of change. The address is not in it. `None` where the
/// server does not tell.
pub(super) fn of_server((size, tag): (u64, Option<Tag>)) -> Option<Vec<u8>> {
    let (Tag::Strong(tag) | Tag::Weak(tag)) = tag?;
    // A server may weaken the tag of the same version.
    let tag = tag.trim_start_matches("W/");
    (tag.len() <= LONGEST_TAG).then(|| [ON_A_SERVER, size.to_string().as_bytes(), b" ", tag.as_bytes()].concat())
}

/// Whether an identity is of a file on a server. Two that differ are of different versions.
pub fn is_of_server(identity: &[u8]) -> bool {
    identity.starts_with(ON_A_SERVER)
}
