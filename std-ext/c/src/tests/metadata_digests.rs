//! Each bit of a metadata frame, flipped, by every call that hands out metadata or asks it something.

use std::ffi::c_void;
use std::path::Path;
use std::{fs, ptr, slice};

use tgm_std::core::Message as View;
use tgm_std::core::wire::{FRAME_COMMON_FOOTER_SIZE, FRAME_END, FRAME_HEADER_SIZE};
use tgm_std::{MessageBuilder, ObjectBuilder};

use crate::archive::{
    ArchiveHandle, tgm_archive_close, tgm_archive_metadata, tgm_archive_open_bytes, tgm_archive_open_source,
    tgm_archive_query, tgm_archive_verify_metadata,
};
use crate::archive_object::{tgm_archive_object, tgm_object_free, tgm_object_metadata};
use crate::catalog::{tgm_catalog_build, tgm_catalog_free};
use crate::decode::{tgm_decode, tgm_decode_metadata, tgm_decode_object};
use crate::error::{Code, HASH_MISMATCH, OK};
use crate::iterators::{tgm_object_iter_create, tgm_object_iter_free};
use crate::message::tgm_message_free;
use crate::metadata::tgm_metadata_free;
use crate::object_list::tgm_object_list_free;

/// Calls `make` with a place for a handle, and frees the handle.
fn made<T>(make: impl FnOnce(*mut *mut T) -> Code, free: unsafe extern "C" fn(*mut T)) -> Code {
    let mut handle = ptr::null_mut();
    let code = make(&raw mut handle);
    // SAFETY: the handle was made just now, or is NULL.
    unsafe { free(handle) };
    code
}

/// What a call returns here if the object could not be opened.
const UNREADABLE: Code = -1;

/// A call about an archive.
type OfArchive = fn(*const ArchiveHandle) -> Code;

const OF_ARCHIVES: &[(&str, OfArchive)] = &[
    // SAFETY: the bytes and texts live, and the handle is open.
    ("tgm_archive_metadata", |archive| made(|out| unsafe { tgm_archive_metadata(archive, 0, out) }, tgm_metadata_free)),
    ("tgm_object_metadata", |archive| {
        let mut object = ptr::null_mut();
        // SAFETY: the archive is open; the object is freed once.
        unsafe {
            if tgm_archive_object(archive, 0, 0, &raw mut object) != OK {
                // A short message of a source is read whole, and its metadata is not CBOR. Nothing is handed out.
                return UNREADABLE;
            }
            let code = made(|out| tgm_object_metadata(object, out), tgm_metadata_free);
            tgm_object_free(object);
            code
        }
    }),
    ("tgm_archive_query", |archive| {
        // SAFETY: the bytes and texts live, and the handle is open.
        made(|out| unsafe { tgm_archive_query(archive, c"n=1".as_ptr(), 1, out) }, tgm_object_list_free)
    }),
    ("tgm_catalog_build", |archive| {
        let key = c"n".as_ptr();
        // SAFETY: the bytes and texts live, and the handle is open.
        made(|out| unsafe { tgm_catalog_build(archive, &raw const key, 1, 1, out) }, tgm_catalog_free)
    }),
];

/// A call about a message in memory, which checks digests if it is asked to.
type OfBytes = fn(&[u8], bool) -> Code;

const OF_BYTES: &[(&str, OfBytes)] = &[
    ("tgm_decode", |bytes, verify| {
        // SAFETY: the bytes and texts live, and the handle is open.
        made(|out| unsafe { tgm_decode(bytes.as_ptr(), bytes.len(), 1, 1, verify.into(), out) }, tgm_message_free)
    }),
    ("tgm_decode_object", |bytes, verify| {
        // SAFETY: the bytes and texts live, and the handle is open.
        let decode = |out| unsafe { tgm_decode_object(bytes.as_ptr(), bytes.len(), 0, 1, 1, verify.into(), out) };
        made(decode, tgm_message_free)
    }),
    ("tgm_object_iter_create", |bytes, verify| {
        // SAFETY: the bytes and texts live, and the handle is open.
        let create = |out| unsafe { tgm_object_iter_create(bytes.as_ptr(), bytes.len(), 1, verify.into(), out) };
        made(create, tgm_object_iter_free)
    }),
];

/// Functions of the headers that hand out metadata, beside the calls above.
const UNCHECKED: &[(&str, &str)] = &[
    ("tgm_decode_metadata", "of the reference, without verify_hash"),
    ("tgm_message_metadata", "of a message that was decoded"),
    ("tgm_async_task_join_metadata", "of the reference's tgm_async_file_decode_metadata, without verify_hash"),
];

fn with_archive(bytes: &[u8], from_source: bool, use_it: impl FnOnce(*const ArchiveHandle)) {
    /// Reads the slice that `user` leads to.
    unsafe extern "C" fn read(user: *mut c_void, offset: u64, out: *mut u8, len: usize) -> i32 {
        // SAFETY: the test passes a slice that lives, and `out` has room for `len` bytes.
        let (bytes, out) = unsafe { (*user.cast::<&[u8]>(), slice::from_raw_parts_mut(out, len)) };
        out.copy_from_slice(&bytes[usize::try_from(offset).unwrap()..][..len]);
        0
    }
    let (mut archive, mut user) = (ptr::null_mut(), bytes);
    // SAFETY: bytes and function live until the archive is closed.
    unsafe {
        let code = if from_source {
            tgm_archive_open_source(Some(read), (&raw mut user).cast(), bytes.len() as u64, &raw mut archive)
        } else {
            tgm_archive_open_bytes(bytes.as_ptr(), bytes.len(), &raw mut archive)
        };
        assert_eq!(code, OK);
        use_it(archive);
        tgm_archive_close(archive);
    }
}

#[test]
fn each_call_that_hands_out_metadata_checks_its_digest() {
    let object = ObjectBuilder::new(&[2], &[1_u8, 2]).unwrap().metadata("n", 1);
    let good = MessageBuilder::new().object(object).encode().unwrap();
    let frame = View::parse(&good).unwrap().outline().unwrap().metadata.unwrap();
    let start = usize::try_from(frame.offset()).unwrap();
    let end = start + usize::try_from(frame.total_length()).unwrap();
    // The body and the digest. Bits of the header change what the frame is.
    assert!(FRAME_COMMON_FOOTER_SIZE > FRAME_END.len());
    let checked = start + FRAME_HEADER_SIZE..end - FRAME_END.len();
    for bit in checked.start * 8..checked.end * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        for from_source in [false, true] {
            with_archive(&bytes, from_source, |archive| {
                for (name, call) in OF_ARCHIVES {
                    let code = call(archive);
                    assert!(code == HASH_MISMATCH || code == UNREADABLE && from_source, "{name}, bit {bit}: {code}");
                }
                // SAFETY: the archive is open.
                assert_eq!(unsafe { tgm_archive_verify_metadata(archive, 0) }, OK);
                for (name, call) in OF_ARCHIVES {
                    assert_ne!(call(archive), HASH_MISMATCH, "{name} without checks, bit {bit}");
                }
            });
        }
        for (name, call) in OF_BYTES {
            assert_eq!(call(&bytes, true), HASH_MISMATCH, "{name}, bit {bit}");
            assert_ne!(call(&bytes, false), HASH_MISMATCH, "{name} without verify_hash, bit {bit}");
        }
        // SAFETY: the bytes and texts live, and the handle is open.
        let unchecked = made(|out| unsafe { tgm_decode_metadata(bytes.as_ptr(), bytes.len(), out) }, tgm_metadata_free);
        assert_ne!(unchecked, HASH_MISMATCH, "tgm_decode_metadata, bit {bit}");
    }
    for (name, call) in OF_ARCHIVES {
        with_archive(&good, false, |archive| assert_eq!(call(archive), OK, "{name}"));
    }
}

#[test]
fn no_call_that_hands_out_metadata_is_missing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let headers = ["tensogram.h", "tgm.h"].map(|name| fs::read_to_string(folder.join(name)).unwrap()).concat();
    let calls = headers.split(';').filter(|call| call.contains("tgm_metadata_t **"));
    let name = |call: &str| call.split('(').next().unwrap().split_whitespace().last().unwrap().to_owned();
    let mut found: Vec<String> = calls.map(|call| name(call.rsplit("*/").next().unwrap())).collect();
    found.retain(|name| !OF_ARCHIVES.iter().any(|(known, _)| known == name));
    found.sort();
    let mut unchecked: Vec<&str> = UNCHECKED.iter().map(|(name, _)| *name).collect();
    unchecked.sort_unstable();
    assert_eq!(found, unchecked);
}
