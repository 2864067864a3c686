//! Files by methods that do not block.

use std::future::Future;

use tgm_std::{AppendOptions, DecodeOptions, MessageBuilder, ObjectBuilder, TensogramError, TensogramFile};
#[cfg(feature = "remote")]
use tgm_std::{EncodeOptions, GlobalMetadata};

fn run<T>(future: impl Future<Output = T> + Send) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn messages() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.tgm");
    let mut file = TensogramFile::create(&path).unwrap();
    for step in 0..3 {
        let (small, large) = ([1.5_f64, f64::NAN, 2.5], vec![step; 100_000]);
        let message = MessageBuilder::new()
            .allow_nan()
            .object(ObjectBuilder::new(&[3], &small).unwrap().metadata("step", step))
            .object(ObjectBuilder::new(&[100_000], &large).unwrap());
        message.append_to(&mut file, &AppendOptions::default()).unwrap();
    }
    (dir, path)
}

/// Each method against its namesake.
fn check(file: &TensogramFile) {
    let options = DecodeOptions::default();
    assert_eq!(run(file.message_count_async()).unwrap(), 3);
    assert_eq!(run(file.message_layouts_async()).unwrap(), file.message_layouts().unwrap());
    for index in 0..3 {
        assert!(run(file.read_message_async(index)).unwrap() == file.read_message(index).unwrap());
        let found = run(file.read_message_object_async(index, 1)).unwrap();
        assert!(found == file.read_message_object(index, 1).unwrap());
        let found = run(file.decode_message_async(index, &options)).unwrap();
        assert_eq!(found, file.decode_message(index, &options).unwrap());
        assert_eq!(run(file.decode_metadata_async(index)).unwrap(), file.decode_metadata(index).unwrap());
        assert_eq!(run(file.decode_descriptors_async(index)).unwrap(), file.decode_descriptors(index).unwrap());
        let found = run(file.decode_object_async(index, 1, &options)).unwrap();
        assert_eq!(found, file.decode_object(index, 1, &options).unwrap());
        let found = run(file.decode_range_async(index, 0, &[(1, 2)], &options)).unwrap();
        assert_eq!(found, file.decode_range(index, 0, &[(1, 2)], &options).unwrap());
        assert!(f64::from_ne_bytes(found.1[0][..8].try_into().unwrap()).is_nan());
    }
    assert!(matches!(run(file.read_message_async(3)), Err(TensogramError::Framing(_))));
    let object = run(file.decode_object_async(0, 2, &options));
    assert!(matches!(object, Err(TensogramError::Object(_))));
}

#[test]
fn what_does_not_block_gives_what_blocks_gives() {
    let (_dir, path) = messages();
    check(&run(TensogramFile::open_async(&path)).unwrap());
    check(&TensogramFile::open(&path).unwrap());
    #[cfg(feature = "mmap")]
    check(&TensogramFile::open_mmap(&path).unwrap());
}

#[test]
fn a_missing_file_is_an_error_of_input_and_output() {
    let error = run(TensogramFile::open_async("/no/such/file")).unwrap_err();
    assert!(matches!(&error, TensogramError::Io(_)) && error.to_string().contains("/no/such/file"), "{error}");
}

// Tokio has threads and clocks with feature `remote`.
#[cfg(feature = "remote")]
#[test]
fn a_file_can_be_appended_to_while_a_dropped_call_goes_on() {
    let (_dir, path) = messages();
    let mut file = TensogramFile::open(&path).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for more in 1..20 {
        runtime.block_on(async {
            let wait = std::time::Duration::from_micros(more as u64 * 10);
            let _ = tokio::time::timeout(wait, file.message_count_async()).await;
        });
        file.append(&GlobalMetadata::default(), &[], &EncodeOptions::default()).unwrap();
        assert_eq!(file.message_count().unwrap(), 3 + more);
    }
}
