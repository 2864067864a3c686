//! Replacing files and folders of the system.

use std::fs::{read_dir, read_to_string, write};
use std::io::Write as _;

use super::*;
use crate::{ByteOrder, DecodeOptions, Dtype, MaskMethod, decode};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn files_with_and_without_a_name_take_the_place_of_others() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    let with_name = |directory: &Path| Temporary::with_name(directory).unwrap();
    let without = |directory: &Path| Temporary::new(directory, None).unwrap();
    for text in ["one", "two", "three"] {
        for create in [with_name, without] {
            drop(create(place.path()));
            let made = create(place.path());
            made.file().write_all(text.as_bytes()).unwrap();
            made.put_at(&path).unwrap();
            assert_eq!(read_to_string(&path).unwrap(), text);
            // The fallback where /proc is not mounted.
            let made = create(place.path());
            made.file().write_all(text.as_bytes()).unwrap();
            made.copied().unwrap().put_at(&path).unwrap();
            assert_eq!(read_to_string(&path).unwrap(), text);
            assert_eq!(names(place.path()), ["file"]);
        }
    }
}

#[test]
fn a_file_that_must_be_new_leaves_another_one_as_it_is() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    for create in [Temporary::with_name, |directory: &Path| Temporary::new(directory, None)] {
        let (first, second) = (create(place.path()).unwrap(), create(place.path()).unwrap());
        first.file().write_all(b"first").unwrap();
        first.put_new_at(&path).unwrap();
        assert_eq!(second.put_new_at(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!((read_to_string(&path).unwrap().as_str(), names(place.path())), ("first", vec!["file".into()]));
        fs::remove_file(&path).unwrap();
    }
}

/// What is written piece by piece has the bytes of a message that is encoded at once.
#[test]
fn a_message_is_the_whole_content() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.tgm");
    let long: Vec<f64> = (0..200_000).map(f64::from).collect();
    let mut gap = long.clone();
    gap[150_000] = f64::NAN;
    // A mask that every build can write.
    let options = EncodeOptions { allow_nan: true, nan_mask_method: MaskMethod::Rle, ..EncodeOptions::default() };
    for values in [&long[..], &long[..3], &gap] {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let descriptor = DataObjectDescriptor::new(Dtype::Float64, ByteOrder::NATIVE, &[values.len() as u64]);
        let objects = [(&descriptor, bytes.as_slice())];
        let is_whole = |found: &[u8]| {
            let (_, objects) = decode(found, &DecodeOptions::default()).unwrap();
            assert!(objects[0].1 == bytes && tgm_core::Message::parse(found).unwrap().as_bytes() == found);
        };
        write(&path, "old").unwrap();
        let replacement = Replacement::begin(&path).unwrap();
        replacement.write_message(&GlobalMetadata::default(), &objects, &options).unwrap();
        assert_eq!(read_to_string(&path).unwrap(), "old");
        replacement.finish().unwrap();
        is_whole(&fs::read(&path).unwrap());
        let refused = Replacement::begin(&path).unwrap();
        let strict = EncodeOptions::default();
        let written = refused.write_message(&GlobalMetadata::default(), &objects, &strict);
        assert_eq!(written.is_err(), values.iter().any(|value| value.is_nan()));
    }
    assert_eq!(names(place.path()), ["a.tgm"]);
}

/// Modes and links, and who waits for whom.
#[cfg(unix)]
mod unix {
    use std::fs::{create_dir, set_permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::file::TensogramFile;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_new_file_has_the_mode_of_the_old_one_from_the_beginning() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        write(&path, "old").unwrap();
        for kept in [0o600, 0o640, 0o664] {
            set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
            write_whole(&path, |file| file.write_all(b"new")).unwrap();
            assert_eq!(mode(&path), kept);
            let replacement = Replacement::begin(&path).unwrap();
            assert_eq!(replacement.file().metadata().unwrap().permissions().mode() & 0o777, kept);
        }
    }

    #[test]
    fn links_stay_and_lead_to_the_new_content() {
        let place = tempfile::tempdir().unwrap();
        let (target, link) = (place.path().join("target"), place.path().join("link"));
        symlink("target", &link).unwrap();
        for text in ["created", "replaced"] {
            write_whole(&link, |file| file.write_all(text.as_bytes())).unwrap();
            assert!(link.symlink_metadata().unwrap().is_symlink());
            assert_eq!(read_to_string(&target).unwrap(), text);
        }
    }

    /// Replaces a file on another thread, which sends something at the end.
    fn replace_beside(path: &Path) -> (thread::JoinHandle<()>, Receiver<()>) {
        let (path, (done, is_done)) = (path.to_path_buf(), channel());
        let replacing = thread::spawn(move || {
            write_whole(&path, |file| file.write_all(b"new")).unwrap();
            done.send(()).unwrap();
        });
        (replacing, is_done)
    }

    #[test]
    fn a_file_is_replaced_when_nobody_appends_to_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file.tgm");
        let mut file = TensogramFile::create(&path).unwrap();
        let appender = file.appender(&crate::AppendOptions::default()).unwrap();
        let (replacing, is_done) = replace_beside(&path);
        assert!(is_done.recv_timeout(Duration::from_millis(200)).is_err(), "it waits for the appender");
        drop(appender);
        replacing.join().unwrap();
        assert_eq!(read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn a_file_of_another_format_is_replaced_while_a_program_has_it_open() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file.nc");
        write(&path, b"\x89HDF\r\n\x1a\n and more").unwrap();
        let open = File::open(&path).unwrap();
        open.lock_shared().unwrap();
        let (replacing, is_done) = replace_beside(&path);
        let is_replaced = is_done.recv_timeout(Duration::from_secs(10)).is_ok();
        drop(open);
        replacing.join().unwrap();
        assert!(is_replaced, "it does not wait for the program");
        assert_eq!(read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn folders_are_private_until_they_are_put_somewhere_and_removed_otherwise() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x.zarr");
        let make = || TemporaryFolder::new(&path, |path| create_dir(path).map(|()| path.to_path_buf())).unwrap();
        let ((dropped, inside), (kept, _)) = (make(), make());
        assert_eq!(mode(inside.parent().unwrap()), 0o700);
        let usual = mode(&inside);
        write(inside.join("file"), "1").unwrap();
        drop(dropped);
        kept.put_at(&path).unwrap();
        assert_eq!((names(place.path()), mode(&path)), (vec!["x.zarr".into()], usual));
        assert!(TemporaryFolder::new(&path, |_| Err::<(), _>(io::Error::other("not made"))).is_err());
        assert_eq!(names(place.path()), ["x.zarr"]);
    }
}
