//! Files of other formats, by their first bytes.

/// How many bytes tell.
pub(super) const HEAD: usize = 512;

/// The formats that are taken for archives by mistake: the bytes at a place, and what they say.
const KINDS: [(usize, &[u8], &str); 21] = [
    (0, b"GRIB", "GRIB: `tgm convert` reads it"),
    (0, b"CDF\x01", "NetCDF (classic): `tgm convert` reads it"),
    (0, b"CDF\x02", "NetCDF (64-bit offsets): `tgm convert` reads it"),
    (0, b"CDF\x05", "NetCDF (64-bit data): `tgm convert` reads it"),
    (0, b"\x89HDF\r\n\x1a\n", "HDF5 or NetCDF 4: `tgm convert` reads it"),
    (0, b"\x93NUMPY", "an array of numpy (.npy): numpy.load reads it"),
    (0, b"PK\x03\x04", "a zip archive, as .npz is: numpy.load may read it"),
    (0, b"PK\x05\x06", "an empty zip archive"),
    (0, b"\x1f\x8b", "compressed by gzip: unpack it first"),
    (0, b"BZh", "compressed by bzip2: unpack it first"),
    (0, b"\xfd7zXZ\0", "compressed by xz: unpack it first"),
    (0, b"\x28\xb5\x2f\xfd", "compressed by zstd: unpack it first"),
    (0, b"\x04\x22\x4d\x18", "compressed by lz4: unpack it first"),
    (0, b"BUFR", "BUFR, which is not read"),
    (0, b"PAR1", "Parquet: `tgm convert` writes it, and does not read it"),
    (0, b"ZIO", "an archive of ZIO messages: `tgm convert` reads it"),
    (0, b"\x89PNG", "a picture (PNG)"),
    (0, b"%PDF", "a document (PDF)"),
    (0, b"II*\0", "a picture (TIFF)"),
    (0, b"version https://git-lfs", "a pointer of Git LFS: the file itself is not here, `git lfs pull` gets it"),
    (257, b"ustar", "a tar archive: unpack it first"),
];

/// What the file is that begins with these bytes, as far as they tell.
pub(super) fn kind(head: &[u8]) -> Option<&'static str> {
    let known = KINDS.iter().find(|(at, magic, _)| head.get(*at..).is_some_and(|rest| rest.starts_with(magic)));
    if let Some((_, _, kind)) = known {
        return Some(kind);
    }
    let text = head.trim_ascii_start().to_ascii_lowercase();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    if text.starts_with(b"<!doctype html") || text.starts_with(b"<html") {
        return Some("a page of HTML: the address may be wrong, or ask for a login");
    }
    if text.starts_with(b"<?xml") {
        return Some("XML: the server may have answered with an error");
    }
    if text.starts_with(b"{") || text.starts_with(b"[") {
        return Some("JSON");
    }
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    (!head.is_empty() && head.iter().all(is_text)).then_some("text")
}
