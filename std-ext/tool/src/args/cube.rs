//! Flags of commands that take archives as datasets.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use clap::{Args, ValueEnum};
use tgm_dataset::{Catalogs, Duplicates, OpenOptions, Profile, Selector};
use tgm_grid::KnownPoints;
#[cfg(feature = "grib")]
use tgm_std::DecodeOptions;
use tgm_std::TensogramError;
use tgm_std::metadata::query::Query;

use crate::args::RARE;

/// How archives become datasets.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Datasets")]
pub(crate) struct OpenFlags {
    /// What keys mean: of fields (mars), of variables of files (cf), nothing but names (plain), or your own keys, such as
    /// "name=variable,step=lead" [default: found out]
    ///
    /// What your own keys can mean is name, number, date, time, step, level and `level_type`. Several are KEY/KEY, the best first.
    /// With plain, each key that differs is a dimension with its values as they are.
    #[arg(long, value_name = "PROFILE")]
    profile: Option<Profile>,
    /// Which of two different objects for one place counts: first or last [default: two are an error]
    #[arg(long, help_heading = RARE, value_name = "WHICH")]
    duplicates: Option<DuplicateName>,
    /// The group of variables of files [default: the root]
    #[arg(long, value_name = "GROUP")]
    group: Option<String>,
    /// A file with the coordinates of an unstructured grid, as fields of ICON and ORCA name: NetCDF, .npz or messages
    ///
    /// It has clat and clon, latitude and longitude, `nav_lat` and `nav_lon` or the like, in degrees or radians, as many as values, or as
    /// values of the last dimensions. Where it and a field both have the `uuidOfHGrid`, these are compared.
    #[arg(long, value_name = "FILE")]
    grid: Option<PathBuf>,
    #[arg(skip)]
    known: OnceLock<Arc<KnownPoints>>,
    /// Only objects for which FILTER holds, as -w of ls has it; may be repeated, all must hold. Only files of a tree
    /// (`tgm catalog -o NAME.tree`) are opened that may have some
    #[arg(long, value_name = "FILTER")]
    only: Vec<Query>,
    /// A catalogue of FILE (`tgm catalog`), a file or an address, by which its messages need not be read; one for each of several
    /// files. One that does not fit is not used, with a warning [default: FILE.catalog, if it is there]
    #[arg(long, value_name = "CATALOG")]
    catalog: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DuplicateName {
    First,
    Last,
}

impl OpenFlags {
    /// The points of unstructured grids.
    ///
    /// # Errors
    /// The errors of reading the file.
    pub(crate) fn known(&self) -> Result<Option<Arc<KnownPoints>>, TensogramError> {
        if let (Some(path), None) = (&self.grid, self.known.get()) {
            // Another thread may have read it meanwhile: its points are the same.
            _ = self.known.set(read_grid(path)?);
        }
        Ok(self.known.get().cloned())
    }

    /// The catalogue that is named, for a command that reads one file.
    pub(crate) fn catalog(&self) -> Option<&Path> {
        self.catalog.first().map(PathBuf::as_path)
    }

    /// The options that the flags ask for.
    ///
    /// # Errors
    /// The errors of reading the file of a grid.
    pub(crate) fn options(&self) -> Result<OpenOptions, TensogramError> {
        Ok(OpenOptions {
            grid: self.known()?,
            profile: self.profile.clone().unwrap_or_default(),
            duplicates: match self.duplicates {
                Some(DuplicateName::First) => Duplicates::First,
                Some(DuplicateName::Last) => Duplicates::Last,
                None => Duplicates::Error,
            },
            group: self.group.clone(),
            only: self.only.clone(),
            catalogs: if self.catalog.is_empty() { Catalogs::Beside } else { Catalogs::Named(self.catalog.clone()) },
            ..OpenOptions::default()
        })
    }
}

/// The points that a file has.
///
/// # Errors
/// The errors of reading it.
#[cfg(feature = "grib")]
pub(crate) fn read_grid(path: &Path) -> Result<Arc<KnownPoints>, TensogramError> {
    tgm_convert::points::read(path, &DecodeOptions::default()).map(Arc::new)
}

#[cfg(not(feature = "grib"))]
pub(crate) fn read_grid(path: &Path) -> Result<Arc<KnownPoints>, TensogramError> {
    Err(TensogramError::Metadata(format!("{}: this build reads no grids: feature `grib` does", path.display()).into()))
}

/// The variable and the labels that a command takes of a dataset.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Datasets")]
pub(crate) struct CubeFlags {
    /// The variable of the dataset that all files together are (`tgm cube` lists them)
    #[arg(long, value_name = "NAME")]
    pub(crate) cube: Option<String>,
    /// Only these labels of dimensions: DIM=LABEL, DIM=FIRST..LAST (both ends are in, and may be left out; FIRST:LAST is the
    /// same), DIM=A/B/C, or DIM~LABEL for the nearest
    ///
    /// Steps are hours, or have a unit: 90m, 2d. Times are dates, with a time or not: 2024-01-31T12; a day or a month stands
    /// for all times in it. A range of longitudes goes east, and may cross 0 and 180.
    #[arg(long = "sel", value_name = "DIM=LABELS,...", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) selectors: Vec<Selector>,
    #[command(flatten)]
    pub(crate) open: OpenFlags,
}

impl CubeFlags {
    /// The options that the flags ask for, for a command that goes along the dimensions `over`. Where valid times are named, fields lie along
    /// these.
    ///
    /// # Errors
    /// The errors of reading the file of a grid.
    pub(crate) fn options(&self, over: &[String]) -> Result<OpenOptions, TensogramError> {
        const VALID_TIME: &str = "valid_time";
        let valid_time =
            over.iter().any(|dim| dim == VALID_TIME) || self.selectors.iter().any(|it| it.dim() == VALID_TIME);
        Ok(OpenOptions { valid_time, ..self.open.options()? })
    }
}

/// A latitude and a longitude.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point(pub(crate) f64, pub(crate) f64);

impl FromStr for Point {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers =
            text.split_once(',').and_then(|(lat, lon)| Some((lat.trim().parse().ok()?, lon.trim().parse().ok()?)));
        let numbers = numbers.filter(|(lat, lon): &(f64, f64)| lat.is_finite() && lon.is_finite());
        numbers.map(|(lat, lon)| Self(lat, lon)).ok_or("expected LAT,LON: two numbers of degrees")
    }
}
