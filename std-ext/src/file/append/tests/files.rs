//! Appending to files of the system: what only its errors, or the state of a handle, show.

#[cfg(unix)]
use std::fs::File;
#[cfg(unix)]
use std::io::ErrorKind::NotFound;
use std::path::Path;

use crate::base::error::TensogramError;
use crate::base::options::EncodeOptions;
#[cfg(unix)]
use crate::file::append::medium::{Medium as _, OnDisk, sync_directory};
use crate::file::append::missing_directories;
#[cfg(unix)]
use crate::file::append::sync_name_if_possible;
use crate::file::tensogram_file::{Backing, TensogramFile};
use crate::model::types::GlobalMetadata;

#[test]
fn an_appended_message_joins_the_list_of_messages_that_a_handle_has() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = TensogramFile::create(dir.path().join("fields.tgm")).unwrap();
    let append =
        |file: &mut TensogramFile| file.append(&GlobalMetadata::default(), &[], &EncodeOptions::default()).unwrap();
    let listed = |file: &TensogramFile| match &file.backing {
        Backing::Positioned { table, .. } => table.get().map(|table| table.messages.len()),
        #[cfg(any(feature = "mmap", feature = "remote"))]
        _ => None,
    };
    append(&mut file);
    assert_eq!(listed(&file), None, "nobody has asked for the list yet");
    assert_eq!(file.message_count().unwrap(), 1);
    append(&mut file);
    append(&mut file);
    assert_eq!(listed(&file), Some(3));
}

#[test]
fn directories_are_missing_up_to_the_first_that_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("a/b");
    assert_eq!(missing_directories(&inner), [inner.as_path(), &dir.path().join("a")]);
    assert!(missing_directories(dir.path()).is_empty());
    let relative = ["no such directory/b", "no such directory"].map(Path::new);
    assert_eq!(missing_directories(relative[0]), relative);
}

#[test]
#[cfg(unix)]
fn a_directory_that_is_not_there_cannot_be_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("no such directory/fields.tgm");
    let missing = file.parent().unwrap();
    assert_eq!(sync_directory(missing).unwrap_err().kind(), NotFound);
    assert_eq!(sync_name_if_possible(&file).unwrap_err().kind(), NotFound);
    let other = File::open(dir.path()).unwrap();
    assert_eq!(OnDisk { file: &other, path: &file }.sync_name().unwrap_err().kind(), NotFound);
}

/// What is asked for belongs to the file once it is written, and asking on a file system that has no room to give does no harm.
#[test]
#[cfg(target_os = "linux")]
fn room_is_asked_for_without_making_the_file_longer() {
    use std::os::unix::fs::MetadataExt as _;
    let file = tempfile::tempfile().unwrap();
    let on_disk = OnDisk { file: &file, path: Path::new("unnamed") };
    on_disk.write_at(0, b"a message").unwrap();
    let before = file.metadata().unwrap().blocks().max(16);
    for (offset, len) in [(9, 1 << 20), (u64::MAX, 1), (0, usize::MAX), (9, 0)] {
        on_disk.reserve(offset, len);
        assert_eq!(file.metadata().unwrap().len(), 9);
    }
    on_disk.cut(9).unwrap();
    assert!(file.metadata().unwrap().blocks() <= before, "what an append leaves behind after an error goes with it");
    let null = File::options().write(true).open("/dev/null").unwrap();
    OnDisk { file: &null, path: Path::new("/dev/null") }.reserve(0, 1 << 20);
}

/// Linux syncs no directory of `/proc`, and no `/dev/null`.
#[test]
#[cfg(target_os = "linux")]
fn a_file_system_that_cannot_sync_is_excused_for_directories_and_not_for_files() {
    assert!(sync_directory(Path::new("/proc/self")).is_err());
    assert!(sync_name_if_possible(Path::new("/proc/self/new")).is_ok());
    let null = File::open("/dev/null").unwrap();
    assert!(OnDisk { file: &null, path: Path::new("/dev/null") }.sync().is_err());
}

#[test]
fn addresses_are_not_created_as_directories() {
    for address in
        ["http://u:word@host/a.tgm?signature=5", "s3://bucket/a.tgm", "ftp://host/a.tgm", "file:///tmp/a.tgm"]
    {
        let error = TensogramFile::create(address).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, TensogramError::Io(_)), "{text}");
        assert!(text.contains("cannot create") && text.ends_with("addresses are read, and not written"), "{text}");
        assert!(!text.contains("word") && !text.contains("signature"), "{text}");
        let scheme = Path::new(address).components().next().unwrap();
        assert!(!Path::new(&scheme).exists(), "{address}");
    }
}
