//! The table of formats.

use std::path::Path;

use clap::ValueEnum;
#[cfg(feature = "npz")]
use tgm_convert::npz;
#[cfg(feature = "safetensors")]
use tgm_convert::safetensors;
use tgm_std::core::wire::MAGIC;

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// Tensogram
    Tgm,
    /// GRIB edition 2
    #[cfg(feature = "grib")]
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
    /// Zarr version 3: a directory
    #[cfg(feature = "zarr")]
    Zarr,
    /// Metadata as a table, in the file format of Arrow; written only
    #[cfg(feature = "arrow")]
    Arrow,
    /// Metadata as a table, in Parquet; written only
    #[cfg(feature = "parquet")]
    Parquet,
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

impl Format {
    const fn row(self) -> Row {
        match self {
            Self::Tgm => Row { suffixes: &["tgm"], find: |start| anywhere(start, MAGIC), holds: Holds::Messages },
            #[cfg(feature = "grib")]
            Self::Grib2 => Row {
                suffixes: &["grib2", "grib", "grb2", "grb"],
                find: |start| anywhere(start, b"GRIB"),
                holds: Holds::Messages,
            },
            Self::Npy => {
                Row { suffixes: &["npy"], find: |start| at_start(start, tgm_convert::npy::MAGIC), holds: Holds::Array }
            }
            #[cfg(feature = "npz")]
            Self::Npz => Row {
                suffixes: &["npz"],
                find: |start| npz::MAGICS.iter().find_map(|magic| at_start(start, magic)),
                holds: Holds::Message,
            },
            #[cfg(feature = "safetensors")]
            Self::Safetensors => Row {
                suffixes: &["safetensors"],
                find: |start| safetensors::is_start(start).then_some(0),
                holds: Holds::Message,
            },
            Self::Csv => Row { suffixes: &["csv"], find: |_| None, holds: Holds::Message },
            #[cfg(feature = "netcdf")]
            Self::Netcdf => Row {
                suffixes: &["nc", "nc4", "cdf", "h5", "hdf5"],
                find: |start| at_start(start, b"\x89HDF\r\n").or_else(|| at_start(start, b"CDF")),
                holds: Holds::Messages,
            },
            #[cfg(feature = "zarr")]
            Self::Zarr => Row { suffixes: &["zarr"], find: |_| None, holds: Holds::Messages },
            #[cfg(feature = "arrow")]
            Self::Arrow => {
                Row { suffixes: &["arrow"], find: |start| at_start(start, b"ARROW1"), holds: Holds::Messages }
            }
            #[cfg(feature = "parquet")]
            Self::Parquet => {
                Row { suffixes: &["parquet"], find: |start| at_start(start, b"PAR1"), holds: Holds::Messages }
            }
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
    pub(super) fn of_content(start: &[u8]) -> Option<Self> {
        let found = Self::value_variants().iter().filter_map(|format| Some(((format.row().find)(start)?, *format)));
        found.min_by_key(|(place, _)| *place).map(|(_, format)| format)
    }

    /// Whether a file is read as this format because it begins so. The libraries behind NetCDF are not made for files that
    /// nobody called NetCDF: `--from` or a name has to say it.
    #[cfg_attr(not(feature = "netcdf"), expect(unused_variables, reason = "all other formats are"))]
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
        if path.join("zarr.json").is_file() {
            return Some(Self::Zarr);
        }
        None
    }

    /// The format that a file's name ends with.
    pub(super) fn of_name(path: &Path) -> Option<Self> {
        let suffix = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::value_variants().iter().copied().find(|format| format.row().suffixes.contains(&suffix.as_str()))
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
        assert_eq!((Format::of_name(Path::new("npy")), Format::of_name(Path::new("a.txt"))), (None, None));
        assert_eq!(Format::of_content(b"\x93NUMPY TENSOGRM"), Some(Format::Npy));
        assert_eq!(Format::of_content(b"junk TENSOGRM GRIB"), Some(Format::Tgm));
        assert_eq!(Format::of_content(b""), None);
        #[cfg(feature = "npz")]
        assert_eq!(Format::of_content(b"PK\x05\x06\0\0"), Some(Format::Npz));
        #[cfg(feature = "safetensors")]
        assert_eq!(Format::of_content(b"\x02\0\0\0\0\0\0\0{}"), Some(Format::Safetensors));
        for format in Format::value_variants() {
            assert_eq!(Format::of_name(Path::new(&format!("x.{}", format.suffix()))), Some(*format));
        }
    }
}
