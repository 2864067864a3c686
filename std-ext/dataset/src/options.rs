//! Options of opening.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use tgm_core::descriptor::Dtype;
use tgm_grid::KnownPoints;
use tgm_std::DecodeOptions;
use tgm_std::deps::half::{bf16, f16};
use tgm_std::metadata::query::Query;

use crate::archive::Raw;
use crate::model::Hole;

/// What to do with two different objects for one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// An error that names both.
    #[default]
    Error,
    /// The first one counts.
    First,
    /// The last one counts.
    Last,
}

/// What the keys of metadata mean.
///
/// ```
/// use tgm_dataset::Profile;
///
/// assert_eq!("plain".parse(), Ok(Profile::Plain));
/// let own: Profile = "name=variable,step=lead_time/lead".parse()?;
/// assert!(matches!(own, Profile::Own(_)));
/// assert!("height=z".parse::<Profile>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// [`Self::Cf`] if objects have named dimensions and no keys of fields; otherwise [`Self::Mars`].
    #[default]
    Auto,
    /// Fields: `mars`, `grib`, and keys of the same names at the top.
    Mars,
    /// Variables of files, as NetCDF and Zarr have them.
    Cf,
    /// Nothing but names: each key that differs is a dimension of its name, with its values as they are, and the dimensions of
    /// objects are `dim_0`, `dim_1` and so on. There are no times, no levels, no coordinates of grids, and no table of parameters.
    Plain,
    /// Fields whose keys have names of the application's own. They are looked up before the keys of [`Self::Mars`].
    Own(KeyTable),
}

/// What a key of [`Profile::Own`] tells of a field.
const MEANINGS: [&str; 7] = ["name", "number", "date", "time", "step", "level", "level_type"];

/// Which keys tell the name of a field, its member (`number`), `date`, `time` of day, `step`, `level` and `level_type`. Each key is a
/// path, as in filters: `step`, `run.lead`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyTable(Vec<(&'static str, Vec<String>)>);

impl KeyTable {
    /// The keys of a meaning, the best first.
    pub(crate) fn keys(&self, meaning: &str) -> impl Iterator<Item = &str> {
        let keys = self.0.iter().filter(move |(known, _)| *known == meaning);
        keys.flat_map(|(_, keys)| keys.iter().map(String::as_str))
    }

    /// Whether a key has a meaning.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(_, keys)| keys.iter().any(|known| known == key))
    }
}

impl FromStr for Profile {
    type Err = String;

    /// `auto`, `mars`, `cf`, `plain`, or meanings with their keys: `name=variable,step=lead_time/lead`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => return Ok(Self::Auto),
            "mars" => return Ok(Self::Mars),
            "cf" => return Ok(Self::Cf),
            "plain" => return Ok(Self::Plain),
            _ => {}
        }
        let words = "auto, mars, cf, plain, or meanings with their keys, such as name=variable,step=lead";
        let mut table = Vec::new();
        for part in text.split(',') {
            let (meaning, keys) = part.split_once('=').ok_or_else(|| format!("{text:?} is none of {words}"))?;
            let known = MEANINGS.iter().find(|known| **known == meaning.trim());
            let known = known.ok_or_else(|| format!("{:?} is none of {}", meaning.trim(), MEANINGS.join(", ")))?;
            let keys: Vec<String> = keys.split('/').map(|key| key.trim().to_string()).collect();
            if keys.iter().any(String::is_empty) {
                return Err(format!("{known} has an empty key"));
            }
            table.push((*known, keys));
        }
        Ok(Self::Own(KeyTable(table)))
    }
}

/// How cubes with different labels share a dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Join {
    /// The longest axis counts. A cube whose labels are a part of it is widened by holes.
    #[default]
    Widen,
    /// All cubes of a dataset have the same labels.
    Exact,
}

/// Catalogues that say what the messages of sources are, so that these need not be read.
///
/// One that does not fit its source is not used, and [`crate::Dataset::notes`] says so. If the source has grown, the messages
/// after those that are catalogued are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Catalogs {
    /// `FILE.catalog` for a file or an address, if it is there ([`tgm_catalog::Beside`]).
    #[default]
    Beside,
    /// None.
    Unused,
    /// Paths or addresses of the catalogues of sources, one for each source.
    Named(Vec<PathBuf>),
}

/// Options of opening.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// What the keys of metadata mean.
    pub profile: Profile,
    /// How cubes with different labels share a dimension.
    pub join: Join,
    /// What to do with two different objects for one place.
    pub duplicates: Duplicates,
    /// Whether a dimension of length 1 becomes a coordinate without dimension.
    pub squeeze: bool,
    /// Whether fields lie along the time for which they are valid, `valid_time`, in place of `time` and `step`. Analyses and short
    /// forecasts are one variable then. Two fields of one valid time are two objects for one place.
    pub valid_time: bool,
    /// Fill values of variables by their names, for places without an object.
    pub fill: Vec<(String, f64)>,
    /// The group whose variables are taken, for [`Profile::Cf`]. `None` is the root.
    pub group: Option<String>,
    /// Whether [`crate::Dataset::unused_keys`] lists the keys that are nowhere in a dataset. It takes some time.
    pub list_unused: bool,
    /// What errors call a source, where its own name says nothing. `None` is its own name.
    pub called: Option<String>,
    /// Which catalogues are used. With [`Self::list_unused`] none is: they do not have all keys.
    pub catalogs: Catalogs,
    /// The points of unstructured grids, which fields name and do not have.
    pub grid: Option<Arc<KnownPoints>>,
    /// Only objects for which all of these hold. Only files of a tree ([`tgm_catalog::tree`]) are opened that may have some.
    pub only: Vec<Query>,
    /// Which variables have the numbers that a file stored. Values that no stored number gives, as after a lossy encoding, are an error
    /// when they are read. A cell that is NaN has the first number that stands for a missing one.
    pub raw: Raw,
    /// How metadata are read, and by how many threads.
    pub decode: DecodeOptions,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            profile: Profile::Auto,
            join: Join::Widen,
            duplicates: Duplicates::Error,
            squeeze: true,
            valid_time: false,
            fill: Vec::new(),
            group: None,
            list_unused: false,
            called: None,
            catalogs: Catalogs::Beside,
            grid: None,
            only: Vec::new(),
            raw: Raw::Nothing,
            decode: on_all_cores(),
        }
    }
}

impl OpenOptions {
    /// What the caller wants in the holes of a variable.
    pub(crate) fn hole_of(&self, name: &str, dtype: Dtype) -> Option<Hole> {
        let (_, number) = self.fill.iter().find(|(known, _)| known == name)?;
        element(dtype, *number).map(Hole::Fill)
    }
}

/// A number as an element. `None` if the type cannot hold it.
#[expect(
    clippy::cast_possible_truncation,
    reason = "whole numbers are small, and floats of 32 bits are the nearest ones"
)]
pub(crate) fn element(dtype: Dtype, number: f64) -> Option<Vec<u8>> {
    let whole = || (number.fract() == 0.0 && number.abs() < 1e30).then_some(number as i128);
    Some(match dtype {
        Dtype::Float16 => f16::from_f64(number).to_ne_bytes().to_vec(),
        Dtype::Bfloat16 => bf16::from_f64(number).to_ne_bytes().to_vec(),
        Dtype::Float32 => (number as f32).to_ne_bytes().to_vec(),
        Dtype::Float64 => number.to_ne_bytes().to_vec(),
        _ => return whole_element(dtype, whole()?),
    })
}

/// A whole number as an element of whole numbers. `None` if the type cannot hold it.
pub(crate) fn whole_element(dtype: Dtype, number: i128) -> Option<Vec<u8>> {
    Some(match dtype {
        Dtype::Int8 => i8::try_from(number).ok()?.to_ne_bytes().to_vec(),
        Dtype::Int16 => i16::try_from(number).ok()?.to_ne_bytes().to_vec(),
        Dtype::Int32 => i32::try_from(number).ok()?.to_ne_bytes().to_vec(),
        Dtype::Int64 => i64::try_from(number).ok()?.to_ne_bytes().to_vec(),
        Dtype::Uint8 => u8::try_from(number).ok()?.to_ne_bytes().to_vec(),
        Dtype::Uint16 => u16::try_from(number).ok()?.to_ne_bytes().to_vec(),
        Dtype::Uint32 => u32::try_from(number).ok()?.to_ne_bytes().to_vec(),
        Dtype::Uint64 => u64::try_from(number).ok()?.to_ne_bytes().to_vec(),
        Dtype::Bitmask => vec![u8::try_from(number).ok().filter(|number| *number <= 1)?],
        _ => return None,
    })
}

/// Options that let as many threads decode as the machine has cores.
pub fn on_all_cores() -> DecodeOptions {
    let threads = std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get()).unwrap_or(1));
    DecodeOptions { threads, ..DecodeOptions::default() }
}
