//! The table of formats.

use std::path::Path;

use clap::ValueEnum;
#[cfg(feature = "npz")]
use tgm_convert::npz;
#[cfg(feature = "safetensors")]
use tgm_convert::safetensors;
use tgm_std::core::wire::MAGIC;
use tgm_std::file::SourceName;

use crate::show::foreign::{lacking, refusal};
#[cfg(feature = "arrow")]
use crate::write::endings::ARROW;
use crate::write::endings::FEATURES;
#[cfg(feature = "grib")]
use crate::write::endings::GRIB;
#[cfg(feature = "netcdf")]
use crate::write::endings::NETCDF;
#[cfg(feature = "npz")]
use crate::write::endings::NPZ;
#[cfg(feature = "parquet")]
use crate::write::endings::PARQUET;
#[cfg(feature = "safetensors")]
use crate::write::endings::SAFETENSORS;
#[cfg(feature = "zarr")]
use crate::write::endings::ZARR;
use crate::write::template::ends_as_folder;

/// The end of the names of tables with tabs, which are read as CSV.
const TABS: &str = "tsv";

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Tensogram
    Tgm,
    /// GRIB, editions 1 and 2
    #[cfg(feature = "grib")]
    #[value(alias = "grib")]
    Grib2,
    /// numpy: one array
    Npy,
    /// numpy: an archive of arrays
    #[cfg(feature = "npz")]
    Npz,
    /// Tensors with names
    #[cfg(feature = "safetensors")]
    Safetensors,
    /// Numbers as text: columns, or a matrix
    Csv,
    /// NetCDF; HDF5 is read as well
    #[cfg(feature = "netcdf")]
    Netcdf,
    /// Zarr, a directory: versions 2 and 3 are read, and 3 is written
    #[cfg(feature = "zarr")]
    Zarr,
    /// Metadata as a table, in the file format of Arrow; written only
    #[cfg(feature = "arrow")]
    Arrow,
    /// Metadata as a table, in Parquet; written only
    #[cfg(feature = "parquet")]
    Parquet,
    /// References of kerchunk: objects as chunks of Zarr where they lie; written only, as JSON, or as Parquet to a folder or NAME.parq
    Kerchunk,
    /// Bare values, described by --dtype, --shape and --byte-order
    Raw,
}

/// What one file of a format holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Any number of messages.
    Messages,
    /// The arrays of one message.
    Message,
    /// One array.
    Array,
}

/// What the table knows of a format.
struct Row {
    /// The ends of names, without the dot. The first one is that of new files.
    suffixes: &'static [&'static str],
    /// The place of the format's first sign in the start of a file.
    find: fn(&[u8]) -> Option<usize>,
    holds: Holds,
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
    let name =
        |format: &Format| format.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let known = Format::value_variants().iter().map(|format| FormatAbility {
        name: name(format),
        reads: !format.is_table() && *format != Format::Kerchunk,
        writes: true,
    });
    let is_there = |suffix: &str| Format::value_variants().iter().any(|format| format.row().suffixes.contains(&suffix));
    let lacking = FEATURES.iter().filter(|(_, suffixes)| !suffixes.iter().any(|suffix| is_there(suffix)));
    let lacking = lacking.map(|(feature, _)| FormatAbility { name: (*feature).into(), reads: false, writes: false });
    known.chain(lacking).collect()
}

impl Format {
    /// Whether its files are read piece by piece, and written so as messages.
    pub(super) const fn is_streamed(self) -> bool {
        match self {
            #[cfg(feature = "netcdf")]
            Self::Netcdf => true,
            #[cfg(feature = "zarr")]
            Self::Zarr => true,
            _ => false,
        }
    }

    /// Whether it tells of whole files of messages.
    pub(super) const fn is_of_files(self) -> bool {
        match self {
            #[cfg(feature = "arrow")]
            Self::Arrow => true,
            #[cfg(feature = "parquet")]
            Self::Parquet => true,
            _ => matches!(self, Self::Kerchunk),
        }
    }

    const fn row(self) -> Row {
        match self {
            Self::Tgm => Row { suffixes: &["tgm"], find: |start| anywhere(start, MAGIC), holds: Holds::Messages },
            #[cfg(feature = "grib")]
            Self::Grib2 => Row { suffixes: GRIB, find: |start| anywhere(start, b"GRIB"), holds: Holds::Messages },
            Self::Npy => {
                Row { suffixes: &["npy"], find: |start| at_start(start, tgm_convert::npy::MAGIC), holds: Holds::Array }
            }
            #[cfg(feature = "npz")]
            Self::Npz => Row {
                suffixes: NPZ,
                find: |start| npz::MAGICS.iter().find_map(|magic| at_start(start, magic)),
                holds: Holds::Message,
            },
            #[cfg(feature = "safetensors")]
            Self::Safetensors => Row {
                suffixes: SAFETENSORS,
                find: |start| safetensors::is_start(start).then_some(0),
                holds: Holds::Message,
            },
            Self::Csv => Row { suffixes: &["csv", TABS], find: |_| None, holds: Holds::Message },
            #[cfg(feature = "netcdf")]
            Self::Netcdf => Row {
                suffixes: NETCDF,
                find: |start| hdf5(start).or_else(|| at_start(start, b"CDF")),
                holds: Holds::Messages,
            },
            #[cfg(feature = "zarr")]
            Self::Zarr => Row { suffixes: ZARR, find: |_| None, holds: Holds::Messages },
            #[cfg(feature = "arrow")]
            Self::Arrow => Row { suffixes: ARROW, find: |start| at_start(start, b"ARROW1"), holds: Holds::Messages },
            #[cfg(feature = "parquet")]
            Self::Parquet => Row { suffixes: PARQUET, find: |start| at_start(start, b"PAR1"), holds: Holds::Messages },
            Self::Kerchunk => Row { suffixes: &["kerchunk"], find: |_| None, holds: Holds::Messages },
            Self::Raw => Row { suffixes: &["raw"], find: |_| None, holds: Holds::Array },
        }
    }

    /// What one file holds.
    pub(super) const fn holds(self) -> Holds {
        self.row().holds
    }

    /// The end of the names of new files.
    pub(super) fn suffix(self) -> &'static str {
        self.row().suffixes.first().copied().unwrap_or_default()
    }

    /// The format whose first sign comes first.
    #[cfg(test)]
    fn of_content(start: &[u8]) -> Option<Self> {
        Self::first_sign(start).map(|(_, format)| format)
    }

    /// The first sign of a format, and its place.
    fn first_sign(start: &[u8]) -> Option<(usize, Self)> {
        let found = Self::value_variants().iter().filter_map(|format| Some(((format.row().find)(start)?, *format)));
        found.min_by_key(|(place, _)| *place)
    }

    /// The format of a file that begins so. The content decides, then the name.
    ///
    /// # Errors
    /// A sentence on a file that this build, or any build, cannot read.
    pub(super) fn of_file(path: &Path, start: &[u8]) -> Result<Option<Self>, String> {
        let by_name = Self::of_name(path);
        let is_without_sign = matches!(by_name, Some(Self::Csv | Self::Raw));
        match Self::first_sign(start) {
            // A word in a text is not the start of a message.
            Some((place, _)) if place > 0 && is_without_sign => return Ok(by_name),
            Some((_, format)) if !format.may_be_guessed(path) => {
                let name = format.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
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

    /// Whether a file is read as this format because it begins so. The libraries behind NetCDF are not made for files that
    /// nobody called NetCDF: `--from` or a name has to say it.
    #[cfg_attr(
        not(feature = "netcdf"),
        expect(unused_variables, clippy::unused_self, reason = "all other formats are")
    )]
    pub(super) fn may_be_guessed(self, path: &Path) -> bool {
        #[cfg(feature = "netcdf")]
        if self == Self::Netcdf {
            return Self::of_name(path) == Some(self);
        }
        true
    }

    /// The format of a directory.
    #[cfg_attr(not(feature = "zarr"), expect(unused_variables, reason = "no other format has directories"))]
    pub(super) fn of_folder(path: &Path) -> Option<Self> {
        #[cfg(feature = "zarr")]
        if ["zarr.json", ".zarray", ".zgroup"].iter().any(|name| path.join(name).is_file()) {
            return Some(Self::Zarr);
        }
        None
    }

    /// The format that a file's name ends with.
    pub(super) fn of_name(path: &Path) -> Option<Self> {
        let suffix = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::value_variants().iter().copied().find(|format| format.row().suffixes.contains(&suffix.as_str()))
    }

    /// Why files of this format do not become files of the format `to`. `None` if they do. The table of pairs in the
    /// documentation says the same.
    pub(super) fn refusal_of(self, to: Self) -> Option<&'static str> {
        if self == to {
            return Some("the input has the wanted format already: --to says another, and `tgm copy` copies messages");
        }
        #[cfg(feature = "grib")]
        if to == Self::Grib2 && self != Self::Tgm {
            return Some("GRIB is written of messages that were made from GRIB, and this input is of another format");
        }
        if self == Self::Kerchunk {
            return Some("references are written, and not read");
        }
        if to == Self::Kerchunk && self != Self::Tgm {
            return Some("references lead to the objects of messages: convert this input to tgm first");
        }
        if self.is_table() {
            return Some("tables of Arrow and Parquet are written, and not read");
        }
        (to.is_table() && self != Self::Tgm)
            .then_some("tables hold the metadata of messages: convert this input to tgm first")
    }

    /// Whether files are tables of metadata, without values.
    pub(super) const fn is_table(self) -> bool {
        match self {
            #[cfg(feature = "arrow")]
            Self::Arrow => true,
            #[cfg(feature = "parquet")]
            Self::Parquet => true,
            _ => false,
        }
    }

    /// The format that files of this one become by default.
    pub(super) const fn usual_target(self) -> Self {
        match self {
            #[cfg(feature = "grib")]
            Self::Tgm => Self::Grib2,
            _ => Self::Tgm,
        }
    }

    /// The format of input that has no sign of any, if this one is wanted.
    pub(super) const fn usual_source(self) -> Option<Self> {
        match self {
            #[cfg(feature = "grib")]
            Self::Grib2 => Some(Self::Tgm),
            _ => None,
        }
    }
}

/// The feature that has the format of a file's name, if the build lacks it.
pub(super) fn feature_of_name(path: &Path) -> Option<&'static str> {
    let suffix = path.extension()?.to_str()?.to_ascii_lowercase();
    let found = FEATURES.iter().find(|(_, suffixes)| suffixes.contains(&suffix.as_str()));
    found.filter(|_| Format::of_name(path).is_none()).map(|(feature, _)| *feature)
}

/// The place of the signature of HDF5: at the start, or behind a user block, whose length is 512 times a power of two.
#[cfg(feature = "netcdf")]
fn hdf5(start: &[u8]) -> Option<usize> {
    let places = std::iter::successors(Some(512_usize), |place| place.checked_mul(2));
    let mut places = std::iter::once(0).chain(places.take_while(|place| *place < start.len()));
    places.find(|place| start.get(*place..).is_some_and(|start| start.starts_with(b"\x89HDF\r\n")))
}

/// The place of `sign`, wherever it is: these formats may have other bytes in front.
fn anywhere(start: &[u8], sign: &[u8]) -> Option<usize> {
    start.windows(sign.len()).position(|window| window == sign)
}

fn at_start(start: &[u8], sign: &[u8]) -> Option<usize> {
    start.starts_with(sign).then_some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_contents_lead_to_formats() {
        assert_eq!(Format::of_name(Path::new("a.b/C.NPY")), Some(Format::Npy));
        assert_eq!(Format::of_name(Path::new("x.tsv")), Some(Format::Csv));
        assert_eq!((Format::of_name(Path::new("npy")), Format::of_name(Path::new("a.txt"))), (None, None));
        assert_eq!(Format::of_content(b"\x93NUMPY TENSOGRM"), Some(Format::Npy));
        assert_eq!(Format::of_content(b"junk TENSOGRM GRIB"), Some(Format::Tgm));
        assert_eq!(Format::of_content(b""), None);
        #[cfg(feature = "npz")]
        assert_eq!(Format::of_content(b"PK\x05\x06\0\0"), Some(Format::Npz));
        #[cfg(feature = "safetensors")]
        assert_eq!(Format::of_content(b"\x02\0\0\0\0\0\0\0{}"), Some(Format::Safetensors));
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
        assert_eq!(of_file("x.csv", b"\x93NUMPY"), Ok(Some(Format::Npy)));
        assert_eq!(of_file("x.csv", b"source,TENSOGRM\n1,2\n"), Ok(Some(Format::Csv)));
        assert_eq!(of_file("x", b"junk TENSOGRM"), Ok(Some(Format::Tgm)));
        assert_eq!((of_file("x.npy", b""), of_file("x", b"none")), (Ok(Some(Format::Npy)), Ok(None)));
        for start in [&b"\x1f\x8b\x08"[..], b"<!DOCTYPE html>", b"version https://git-lfs.github.com/spec/v1"] {
            assert!(of_file("x.npy", start).is_err());
        }
    }
}
