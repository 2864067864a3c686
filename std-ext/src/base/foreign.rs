//! Files of other programs, told by how they begin.

use crate::base::error::TensogramError;
use crate::base::fetch_error::{FetchError, FetchErrorKind};
use crate::base::source_name::SourceName;

/// Bytes that are looked at.
pub(crate) const LOOKED_AT: usize = 24;

/// Kinds of files, with their first bytes.
pub const KINDS: [(&[u8], &str); 19] = [
    (b"GRIB", "GRIB"),
    (b"\x93NUMPY", "an array of numpy"),
    (b"PK\x03\x04", "an archive, such as numpy's"),
    (b"PK\x05\x06", "an archive, such as numpy's"),
    (b"\x89HDF\r\n", "HDF5 or NetCDF"),
    (b"CDF\x01", "NetCDF"),
    (b"CDF\x02", "NetCDF"),
    (b"CDF\x05", "NetCDF"),
    (b"\x1f\x8b", "data compressed by gzip"),
    (b"BZh", "data compressed by bzip2"),
    (b"\xfd7zXZ\0", "data compressed by xz"),
    (b"\x28\xb5\x2f\xfd", "data compressed by zstd"),
    (b"\x04\x22\x4d\x18", "data compressed by lz4"),
    (b"version https://", "a pointer of Git LFS"),
    (b"<!doctype html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<?xml", "a text in XML"),
    (b"II*\0", "a picture in TIFF"),
    (b"MM\0*", "a picture in TIFF"),
];

/// What a file without messages looks like, by its first bytes. A mark of UTF-8 and blanks in front of a page, and capital
/// letters in it, do not count.
///
/// ```
/// assert_eq!(tgm_std::file::kind_of(b"GRIB\0\0\0\x02"), Some("GRIB"));
/// ```
pub fn kind_of(start: &[u8]) -> Option<&'static str> {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let begins = |sign: &[u8]| match sign {
        [b'<', ..] => text.get(..sign.len()).is_some_and(|text| text.eq_ignore_ascii_case(sign)),
        _ => start.starts_with(sign),
    };
    KINDS.iter().find(|(sign, _)| begins(sign)).map(|(_, name)| *name)
}

/// What is said of a file of another kind.
pub(crate) fn not_ours(kind: &str) -> String {
    format!("not a Tensogram file: it looks like {kind}")
}

/// The first bytes as hexadecimal digits.
fn shown(start: &[u8]) -> String {
    let bytes: Vec<String> = start.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    bytes.join(" ")
}

/// The error of a source without messages, by its first bytes.
pub(crate) fn error(name: &str, is_remote: bool, start: &[u8]) -> TensogramError {
    let name = SourceName::of(name);
    let text = match kind_of(start) {
        _ if start.is_empty() => format!("{name}: empty, where an archive is expected"),
        Some(kind) => format!("{name}: {}", not_ours(kind)),
        None => format!("{name}: not a Tensogram file: no message was found, and it begins with {}", shown(start)),
    };
    if is_remote {
        FetchError::new(FetchErrorKind::Protocol, text).into()
    } else {
        TensogramError::Framing(text.into())
    }
}
