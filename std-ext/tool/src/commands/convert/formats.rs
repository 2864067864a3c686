//! The table of formats.

use std::path::Path;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use tgm_std::file::SourceName;

use super::arrays::{self, CSV, RAW, TABS};
use super::format::{Format, Reads};
#[cfg(feature = "grib")]
use super::grib2;
use super::kerchunk;
#[cfg(feature = "netcdf")]
use super::netcdf;
#[cfg(feature = "arrow")]
use super::tables;
use super::tgm::TGM;
#[cfg(feature = "zarr")]
use super::zarr;
use crate::show::foreign::{lacking, refusal};
use crate::write::endings::FEATURES;
use crate::write::template::ends_as_folder;

/// The formats of this build, in the order of the help.
const FORMATS: &[Format] = &[
    TGM,
    #[cfg(feature = "grib")]
    grib2::GRIB2,
    arrays::NPY,
    #[cfg(feature = "npz")]
    arrays::NPZ,
    #[cfg(feature = "safetensors")]
    arrays::SAFETENSORS,
    CSV,
    #[cfg(feature = "netcdf")]
    netcdf::NETCDF,
    #[cfg(feature = "zarr")]
    zarr::ZARR,
    #[cfg(feature = "arrow")]
    tables::ARROW,
    #[cfg(feature = "parquet")]
    tables::PARQUET,
    kerchunk::KERCHUNK,
    RAW,
    #[cfg(test)]
    tests::PLANTED,
];

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Self] {
        FORMATS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.about).aliases(self.0.alias))
    }
}

/// What this build does with a format.
pub(crate) struct FormatAbility {
    /// The name that `--from` and `--to` take; of a format that the build lacks, the feature that has it.
    pub(crate) name: String,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

/// What this build does with each format: first those that it has.
pub(crate) fn format_abilities() -> Vec<FormatAbility> {
    let known = FORMATS.iter().map(|format| FormatAbility {
        name: format.0.name.to_owned(),
        reads: !matches!(format.0.reads, Reads::Not(_)),
        writes: true,
    });
    let is_there = |suffix: &str| FORMATS.iter().any(|format| format.0.suffixes.contains(&suffix));
    let lacking = FEATURES.iter().filter(|(_, suffixes)| !suffixes.iter().any(|suffix| is_there(suffix)));
    let lacking = lacking.map(|(feature, _)| FormatAbility { name: (*feature).into(), reads: false, writes: false });
    known.chain(lacking).collect()
}

impl Format {
    /// The format of a file that begins so. The content decides, then the name.
    ///
    /// # Errors
    /// A sentence on a file that this build, or any build, cannot read.
    pub(super) fn of_file(path: &Path, start: &[u8]) -> Result<Option<Self>, String> {
        let by_name = Self::of_name(path);
        let is_without_sign = by_name.is_some_and(|format| format == CSV || format == RAW);
        match first_sign(start) {
            // A word in a text is not the start of a message.
            Some((place, _)) if place > 0 && is_without_sign => return Ok(by_name),
            Some((_, format)) if !format.may_be_guessed(path) => {
                let name = format.0.name;
                return Err(format!("it begins as {name} does, but its name does not say so: --from {name} reads it"));
            }
            Some((_, format)) => return Ok(Some(format)),
            None => {}
        }
        if let Some(text) = refusal(start) {
            return Err(text);
        }
        match (by_name, feature_of_name(path)) {
            (None, Some(feature)) => Err(format!("its name is that of another format, {}", lacking(feature))),
            (by_name, _) => Ok(by_name),
        }
    }

    /// The format of output with this name. `None` if the name has no ending.
    ///
    /// # Errors
    /// A sentence on an ending that this build, or any build, does not write.
    pub(super) fn of_output(path: &Path) -> Result<Option<Self>, String> {
        let is_read_only = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(TABS));
        if let Some(format) = Self::of_name(path) {
            return if is_read_only {
                Err(format!(".{TABS} is read, and not written: name it .csv"))
            } else {
                Ok(Some(format))
            };
        }
        let Some(ending) = path.extension().filter(|_| !ends_as_folder(path) && !path.is_dir()) else {
            return Ok(None);
        };
        Err(match feature_of_name(path) {
            Some(feature) => format!("{} has the ending of another format, {}", SourceName::of(path), lacking(feature)),
            None => format!(
                ".{} is not the ending of a format that is written: --to says which format it is to be",
                ending.display()
            ),
        })
    }

    /// Whether a file is read as this format because it begins so. `--from` or a name has to say some formats.
    pub(super) fn may_be_guessed(self, path: &Path) -> bool {
        !self.0.is_named || Self::of_name(path) == Some(self)
    }

    /// The format of a directory.
    pub(super) fn of_folder(path: &Path) -> Option<Self> {
        FORMATS.iter().copied().find(|format| (format.0.is_folder)(path))
    }

    /// The format that a file's name ends with.
    pub(super) fn of_name(path: &Path) -> Option<Self> {
        let suffix = path.extension()?.to_str()?.to_ascii_lowercase();
        FORMATS.iter().copied().find(|format| format.0.suffixes.contains(&suffix.as_str()))
    }

    /// The format that files of this one become by default.
    pub(super) fn usual_target(self) -> Self {
        let found = FORMATS.iter().find(|format| self == TGM && format.0.is_usual);
        found.copied().unwrap_or(TGM)
    }

    /// The format of input that has no sign of any, if this one is wanted.
    pub(super) fn usual_source(self) -> Option<Self> {
        self.0.is_usual.then_some(TGM)
    }
}

/// The first sign of a format, and its place.
fn first_sign(start: &[u8]) -> Option<(usize, Format)> {
    let found = FORMATS.iter().filter_map(|format| Some(((format.0.find)(start)?, *format)));
    found.min_by_key(|(place, _)| *place)
}

/// The feature that has the format of a file's name, if the build lacks it.
pub(super) fn feature_of_name(path: &Path) -> Option<&'static str> {
    let suffix = path.extension()?.to_str()?.to_ascii_lowercase();
    let found = FEATURES.iter().find(|(_, suffixes)| suffixes.contains(&suffix.as_str()));
    found.filter(|_| Format::of_name(path).is_none()).map(|(feature, _)| *feature)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use tgm_convert::arrays::{Array, Bools};
    use tgm_convert::npy;
    use tgm_std::core::descriptor::{ByteOrder, Dtype};

    use super::super::format::{Holds, Row, Writes, at_start};
    use super::*;

    /// Text as one array of bytes.
    pub(super) const PLANTED: Format = Format(&Row {
        suffixes: &["planted"],
        find: |start| at_start(start, b"planted:"),
        holds: Holds::Array,
        reads: Reads::Arrays(|_, bytes| {
            npy::read_all(bytes.strip_prefix(b"planted:").unwrap_or_default(), Bools::Uint8)
        }),
        writes: Writes::Arrays(|_, arrays, sink| {
            sink.write_all(b"planted:")?;
            arrays.arrays.first().map_or(Ok(()), |array| npy::write(array, sink)).map(|()| Vec::new())
        }),
        ..Row::new("planted", "Bytes after a word")
    });

    /// A row and a line of the list are all that a format needs.
    #[test]
    fn a_planted_row_is_a_format_that_is_found_read_written_and_in_the_help() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).into_os_string();
        let tgm = |words: &[&OsStr]| {
            crate::call(["tgm".as_ref(), "convert".as_ref()].iter().chain(words).map(|word: &&OsStr| (*word).into()))
        };
        let convert = |from: &str, to: &str| {
            let said = tgm(&[&path(from), OsStr::new("-o"), &path(to)]).unwrap();
            assert_eq!(said.problems, Vec::<String>::new(), "{from} {to}");
        };
        let values = Array::new(Dtype::Uint8, ByteOrder::NATIVE, &[3], vec![1, 2, 3]).unwrap();
        let mut bytes = b"planted:".to_vec();
        npy::write(&values, &mut bytes).unwrap();
        std::fs::write(path("a"), &bytes).unwrap();
        for (from, to) in [("a", "b.tgm"), ("b.tgm", "c.planted"), ("c.planted", "d.npy"), ("d.npy", "e.planted")] {
            convert(from, to);
        }
        assert_eq!(
            (std::fs::read(path("c.planted")).unwrap(), std::fs::read(path("e.planted")).unwrap()),
            (bytes.clone(), bytes)
        );
        assert!(tgm(&[OsStr::new("--help")]).unwrap_err().contains("planted:"));
        assert!(format_abilities().iter().any(|it| it.name == "planted" && it.reads && it.writes));
    }

    #[test]
    fn a_format_that_is_only_written_says_so_whatever_it_should_become() {
        for from in FORMATS {
            if let Reads::Not(why) = from.0.reads {
                let mut others = FORMATS.iter().filter(|to| *to != from);
                assert!(others.all(|to| from.refusal_of(*to) == Some(why)), "{from:?}");
            }
        }
        assert!(CSV.refusal_of(kerchunk::KERCHUNK).is_some_and(|text| text.contains("to tgm first")));
        assert_eq!((TGM.refusal_of(kerchunk::KERCHUNK), CSV.refusal_of(RAW)), (None, None));
    }

    fn of_content(start: &[u8]) -> Option<Format> {
        first_sign(start).map(|(_, format)| format)
    }

    #[test]
    fn names_and_contents_lead_to_formats() {
        assert_eq!(Format::of_name(Path::new("a.b/C.NPY")), Some(arrays::NPY));
        assert_eq!(Format::of_name(Path::new("x.tsv")), Some(CSV));
        assert_eq!((Format::of_name(Path::new("npy")), Format::of_name(Path::new("a.txt"))), (None, None));
        assert_eq!(of_content(b"\x93NUMPY TENSOGRM"), Some(arrays::NPY));
        assert_eq!(of_content(b"junk TENSOGRM GRIB"), Some(TGM));
        assert_eq!(of_content(b""), None);
        #[cfg(feature = "npz")]
        assert_eq!(of_content(b"PK\x05\x06\0\0"), Some(arrays::NPZ));
        #[cfg(feature = "safetensors")]
        assert_eq!(of_content(b"\x02\0\0\0\0\0\0\0{}"), Some(arrays::SAFETENSORS));
        for format in Format::value_variants() {
            assert_eq!(Format::of_output(Path::new(&format!("x.{}", format.suffix()))), Ok(Some(*format)));
            assert_eq!(Format::of_name(Path::new(&format!("x.{}", format.suffix()))), Some(*format));
        }
    }

    /// Each ending that a build may lack, and some that nobody writes.
    #[test]
    fn endings_of_other_formats_are_refused() {
        for (feature, suffixes) in FEATURES {
            for suffix in suffixes {
                let found = Format::of_output(Path::new(&format!("x.{suffix}")));
                assert!(found.is_ok() || found.is_err_and(|text| text.contains(&format!("`{feature}`"))), "{suffix}");
            }
        }
        assert!(Format::of_output(Path::new("x.TSV")).is_err_and(|text| text.contains(".csv")));
        for name in ["x.json", "x.tgm.gz", "x.tif", "[name].png", "run.2024-01-01", "x.TGM.bak"] {
            assert!(Format::of_output(Path::new(name)).is_err_and(|text| text.contains("--to")), "{name}");
        }
        for name in ["x", "[index]", "-", ".hidden", "/dev/null", "new.d/", "/dev/fd/3"] {
            assert_eq!(Format::of_output(Path::new(name)), Ok(None), "{name}");
        }
    }

    #[test]
    fn content_decides_and_then_the_name() {
        let of_file = |name: &str, start: &[u8]| Format::of_file(Path::new(name), start);
        assert_eq!(of_file("x.csv", b"\x93NUMPY"), Ok(Some(arrays::NPY)));
        assert_eq!(of_file("x.csv", b"source,TENSOGRM\n1,2\n"), Ok(Some(CSV)));
        assert_eq!(of_file("x", b"junk TENSOGRM"), Ok(Some(TGM)));
        assert_eq!((of_file("x.npy", b""), of_file("x", b"none")), (Ok(Some(arrays::NPY)), Ok(None)));
        for start in [&b"\x1f\x8b\x08"[..], b"<!DOCTYPE html>", b"version https://git-lfs.github.com/spec/v1"] {
            assert!(of_file("x.npy", start).is_err());
        }
    }
}
