//! Files of other programs, told by how they begin: which command reads them, or what they are instead of data.

use std::path::Path;

/// Bytes that are looked at.
pub(crate) const LOOKED_AT: usize = 16;

/// What helps with a kind of file.
#[derive(Clone, Copy)]
enum Way {
    /// A command reads it, if the build has the feature.
    Command { name: &'static str, feature: &'static str, is_in: bool },
    /// The user does something first.
    First(&'static str),
}

const fn converted(feature: &'static str, is_in: bool) -> Way {
    Way::Command { name: "`tgm convert`", feature, is_in }
}

const NPZ: Way = converted("npz", cfg!(feature = "npz"));
const ZARR: Way = converted("zarr", cfg!(feature = "zarr"));
const NETCDF: Way = converted("netcdf", cfg!(feature = "netcdf"));
const FETCH: Way = Way::First("`git lfs pull` fetches the file itself");
const PAGE: Way = Way::First("such as the error page of a server; look into it with a text editor");

/// What helps with each kind of file that the library tells by its first bytes.
const WAYS: [(&str, Way); 14] = [
    ("GRIB", converted("grib", cfg!(feature = "grib"))),
    ("an array of numpy", converted("", true)),
    ("an archive, such as numpy's", NPZ),
    ("HDF5 or NetCDF", NETCDF),
    ("NetCDF", NETCDF),
    ("data compressed by gzip", Way::First("unpack it first: `gunzip -c FILE.gz > FILE`")),
    ("data compressed by bzip2", Way::First("unpack it first: `bunzip2 -c FILE.bz2 > FILE`")),
    ("data compressed by xz", Way::First("unpack it first: `unxz -c FILE.xz > FILE`")),
    ("data compressed by zstd", Way::First("unpack it first: `zstd -d FILE.zst`")),
    ("data compressed by lz4", Way::First("unpack it first: `lz4 -d FILE.lz4`")),
    ("a pointer of Git LFS", FETCH),
    ("an HTML page", PAGE),
    ("a text in XML", PAGE),
    ("a picture in TIFF", Way::First("no command of tgm reads that")),
];

/// A clause on a file without messages: what it begins like, and what helps. Empty if that is not known.
pub(crate) fn advice(start: &[u8]) -> String {
    let zio = Way::Command { name: "`tgm zio ls`", feature: "zio", is_in: cfg!(feature = "zio") };
    let found = if is_zio(start) { Some(("a message of ZIO", zio)) } else { kind(start) };
    found.map_or(String::new(), |(name, found)| format!("; it begins like {name}: {}", found.text()))
}

/// A text of the library that says what a file looks like, with what helps after it.
pub(crate) fn with_ways(text: String) -> String {
    const LOOKS_LIKE: &str = "not a Tensogram file: it looks like ";
    let Some((before, rest)) = text.split_once(LOOKS_LIKE) else { return text };
    let line = rest.lines().next().unwrap_or_default();
    match WAYS.iter().find(|(name, _)| line == *name) {
        Some((name, way)) => {
            format!("{before}{LOOKS_LIKE}{name}: {}{}", way.text(), rest.get(name.len()..).unwrap_or_default())
        }
        None => text,
    }
}

/// A sentence on a path that is a folder: what it holds, and what helps. Empty for other folders than Zarr stores.
pub(crate) fn of_folder(path: &Path) -> String {
    const SIGNS: [&str; 4] = ["zarr.json", ".zgroup", ".zarray", ".zmetadata"];
    let is_store = SIGNS.iter().any(|sign| path.join(sign).is_file());
    if is_store { format!("it is a Zarr store: {}", ZARR.text()) } else { String::new() }
}

impl Way {
    fn text(self) -> String {
        match self {
            Self::Command { name, is_in: true, .. } => format!("{name} reads that"),
            Self::Command { name, feature, .. } => {
                format!("{name} reads that in a build with the feature `{feature}`, which this one lacks")
            }
            Self::First(text) => text.to_string(),
        }
    }
}

/// Why `tgm convert` of this build cannot read a file that begins so. `None` if that is not known from its beginning.
pub(crate) fn refusal(start: &[u8]) -> Option<String> {
    match kind(start)? {
        (_, Way::Command { is_in: true, .. }) => None,
        (name, Way::Command { feature, .. }) => Some(format!("it is {name}, {}", lacking(feature))),
        (name, Way::First(text)) => Some(format!("it is {name}: {text}")),
    }
}

/// What is said of a format whose feature is not in the build.
pub(crate) fn lacking(feature: &str) -> String {
    format!("and this build of tgm lacks the feature `{feature}`")
}

/// The kind of a file, and what helps with it.
fn kind(start: &[u8]) -> Option<(&'static str, Way)> {
    let name = tgm_std::file::kind_of(start)?;
    WAYS.iter().find(|(known, _)| *known == name).copied()
}

/// The sizes of the message and of its first part stand before the level and "ZIO" of its prefix.
fn is_zio(start: &[u8]) -> bool {
    start.windows(4).any(|bytes| bytes.starts_with(b"ZIO") && bytes.last().is_some_and(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_helps_is_said_once() {
        let text = "remote error: a: not a Tensogram file: it looks like NetCDF";
        let said = with_ways(format!("cannot read a\n{text}\nend"));
        assert!(
            said.starts_with(&format!("cannot read a\n{text}: `tgm convert`")) && said.ends_with("\nend"),
            "{said}"
        );
        assert_eq!((with_ways(said.clone()), with_ways("other".into())), (said, "other".into()));
    }

    #[test]
    fn all_kinds_are_known_by_their_first_bytes() {
        for (sign, name) in tgm_std::file::FOREIGN_KINDS {
            assert!(sign.len() <= LOOKED_AT && advice(sign).contains(name), "{name}");
        }
        for (start, part) in [
            (&b"\n <!DOCTYPE HTML>"[..], "it is an HTML page"),
            (b"\xef\xbb\xbf<html><body>", "it is an HTML page"),
            (b"\x1f\x8b\x08", "compressed by gzip: unpack it first"),
            (b"version https://git-lfs", "`git lfs pull`"),
        ] {
            assert!(refusal(start).is_some_and(|text| text.contains(part)), "{part}");
        }
        assert_eq!((refusal(b"\x93NUMPY"), refusal(b""), refusal(b"a,b\n1,2")), (None, None, None));
    }
}
