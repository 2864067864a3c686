//! Errors about an object name it, in every call that encodes objects.

use std::ffi::{CStr, CString};
use std::ptr;

use crate::buffers::TgmBytes;
use crate::encode::{tgm_encode, tgm_encode_pre_encoded, tgm_encode_with_options};
use crate::error::{Code, OK};
use crate::file::{tgm_file_append, tgm_file_append_with_options, tgm_file_close, tgm_file_create};
use crate::last_error::tgm_last_error;
use crate::streaming::{
    tgm_streaming_encoder_create, tgm_streaming_encoder_free, tgm_streaming_encoder_write,
    tgm_streaming_encoder_write_pre_encoded,
};

const GOOD: &str = r#"{"type":"ntensor","ndim":1,"shape":[1],"strides":[1],"dtype":"float64","byte_order":"little",
    "encoding":"none","filter":"none","compression":"none"}"#;

/// Descriptors that are wrong before and while they are encoded, with a part of the error.
fn wrong() -> [(String, &'static str); 6] {
    [
        ("7".into(), "invalid type"),
        ("{}".into(), "missing field"),
        (GOOD.replace("float64", "float65"), "float65"),
        (GOOD.replace("[1],\"s", "[-1],\"s"), "-1"),
        (GOOD.replace("[1],\"s", "[2],\"s"), "16"),
        (GOOD.replace("\"filter\":\"none\"", "\"filter\":\"sieve\""), "sieve"),
    ]
}

/// A call that encodes a good object and one by a descriptor.
type Route = fn(&CStr, &str) -> Code;

const VALUES: [u8; 8] = [0; 8];

/// Calls with a description of two objects.
fn two(second: &str, call: impl FnOnce(&CStr, *const *const u8, *const usize) -> Code) -> Code {
    let json = CString::new(format!(r#"{{"descriptors":[{GOOD},{second}]}}"#)).unwrap();
    call(&json, [VALUES.as_ptr(); 2].as_ptr(), [VALUES.len(); 2].as_ptr())
}

/// Calls with a place for a message.
fn memory(call: impl FnOnce(*mut TgmBytes) -> Code) -> Code {
    let mut out = std::mem::MaybeUninit::zeroed();
    call(out.as_mut_ptr())
}

/// Calls with a file.
fn file(path: &CStr, call: impl FnOnce(*mut crate::file::File) -> Code) -> Code {
    let mut file = ptr::null_mut();
    // SAFETY: the path ends with NUL; the file is closed once.
    unsafe {
        assert_eq!(tgm_file_create(path.as_ptr(), &raw mut file), OK);
        let code = call(file);
        tgm_file_close(file);
        code
    }
}

/// Calls with an encoder that has an object.
fn stream(path: &CStr, second: &str, call: impl FnOnce(*mut crate::streaming::Encoder, &CStr) -> Code) -> Code {
    let (mut encoder, good, second) = (ptr::null_mut(), CString::new(GOOD).unwrap(), CString::new(second).unwrap());
    // SAFETY: texts end with NUL, the values live, and the encoder is freed once.
    unsafe {
        let made = tgm_streaming_encoder_create(path.as_ptr(), c"{}".as_ptr(), ptr::null(), 1, &raw mut encoder);
        assert_eq!(made, OK);
        assert_eq!(tgm_streaming_encoder_write(encoder, good.as_ptr(), VALUES.as_ptr(), VALUES.len()), OK);
        let code = call(encoder, &second);
        tgm_streaming_encoder_free(encoder);
        code
    }
}

const ROUTES: &[(&str, Route)] = &[
    ("tgm_encode", |_, second| {
        memory(|out| {
            // SAFETY: texts end with NUL, lists have two entries, and the handle is open.
            two(second, |json, data, lens| unsafe { tgm_encode(json.as_ptr(), data, lens, 2, ptr::null(), 1, out) })
        })
    }),
    ("tgm_encode_with_options", |_, second| {
        memory(|out| {
            // SAFETY: texts end with NUL, lists have two entries, and the handle is open.
            two(second, |json, data, lens| unsafe {
                tgm_encode_with_options(json.as_ptr(), data, lens, 2, ptr::null(), 1, ptr::null(), out)
            })
        })
    }),
    ("tgm_encode_pre_encoded", |_, second| {
        memory(|out| {
            // SAFETY: texts end with NUL, lists have two entries, and the handle is open.
            two(second, |json, data, lens| unsafe {
                tgm_encode_pre_encoded(json.as_ptr(), data, lens, 2, ptr::null(), 1, out)
            })
        })
    }),
    ("tgm_file_append", |path, second| {
        file(path, |file| {
            // SAFETY: texts end with NUL, lists have two entries, and the handle is open.
            two(second, |json, data, lens| unsafe {
                tgm_file_append(file, json.as_ptr(), data, lens, 2, ptr::null(), 1)
            })
        })
    }),
    ("tgm_file_append_with_options", |path, second| {
        file(path, |file| {
            // SAFETY: texts end with NUL, lists have two entries, and the handle is open.
            two(second, |json, data, lens| unsafe {
                tgm_file_append_with_options(file, json.as_ptr(), data, lens, 2, ptr::null(), 1, ptr::null())
            })
        })
    }),
    ("tgm_streaming_encoder_write", |path, second| {
        // SAFETY: texts end with NUL, lists have two entries, and the handle is open.
        stream(path, second, |encoder, json| unsafe {
            tgm_streaming_encoder_write(encoder, json.as_ptr(), VALUES.as_ptr(), VALUES.len())
        })
    }),
    ("tgm_streaming_encoder_write_pre_encoded", |path, second| {
        // SAFETY: texts end with NUL, lists have two entries, and the handle is open.
        stream(path, second, |encoder, json| unsafe {
            tgm_streaming_encoder_write_pre_encoded(encoder, json.as_ptr(), VALUES.as_ptr(), VALUES.len())
        })
    }),
];

#[test]
fn errors_name_the_object_in_every_call_that_encodes() {
    let folder = tempfile::tempdir().unwrap();
    let path = CString::new(folder.path().join("a.tgm").to_str().unwrap()).unwrap();
    for (name, call) in ROUTES {
        assert_eq!(call(&path, GOOD), OK, "{name}");
        for (second, part) in wrong() {
            assert_ne!(call(&path, &second), OK, "{name}: {second}");
            // SAFETY: there is a last error, and no call comes between.
            let text = unsafe { CStr::from_ptr(tgm_last_error()) }.to_str().unwrap();
            assert!(text.contains("object 1: ") && text.contains(part), "{name}: {text}");
            assert_eq!(text.matches("object 1: ").count(), 1, "{name}: {text}");
        }
    }
}
