//! A dataset as a store of Zarr of version 3, whose chunks are decoded when they are asked for.
//!
//! ```text
//! zarr.json          the group, and the descriptions of all arrays: consolidated metadata
//! NAME/zarr.json     the description of an array: a variable, or a coordinate
//! NAME/c/0/1/2       a chunk: values as they are in memory, without compression
//! ```
//! A chunk has what one object has, or several small ones. A place without an object is a chunk that is missing, so that readers
//! take the fill value, NaN. NaN and infinities among attributes are the texts `NaN`, `Infinity` and `-Infinity`, because JSON has no
//! such numbers.

mod array;

use std::borrow::Cow;
use std::collections::BTreeMap;

use tgm_std::{DecodeOptions, Result};

use self::array::Array;
use crate::dataset::Dataset;
use crate::model::{Attribute, Coordinate, text_attribute};
use crate::references::{NOT_A_KEY, NotFinite, is_key};

/// The file that describes an array or a group.
const DESCRIPTION: &str = "zarr.json";

/// A read-only store of Zarr over a dataset.
///
/// ```
/// use tgm_dataset::{OpenOptions, ZarrStore, on_all_cores, open};
///
/// let dataset = open(&["../../tests/data/realistic/surface-181x360.tgm"], &OpenOptions::default())?;
/// let name = dataset.variables[0].name.clone();
/// let store = ZarrStore::of(dataset);
/// assert!(store.get("zarr.json", &on_all_cores())?.is_some());
/// assert!(store.get(&format!("{name}/c/0/0"), &on_all_cores())?.is_some());
/// assert!(store.get("elsewhere", &on_all_cores())?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ZarrStore {
    dataset: Dataset,
    group: String,
    arrays: BTreeMap<String, Array>,
    refused: Vec<(String, String)>,
}

impl ZarrStore {
    /// The store of a dataset. Takes the memory of its coordinates twice, and reads no values.
    pub fn of(dataset: Dataset) -> Self {
        let (mut arrays, mut refused) = (BTreeMap::new(), Vec::new());
        let variables =
            dataset.variables.iter().map(|it| (&it.name, Array::of_variable(&dataset, it))).collect::<Vec<_>>();
        let is_alone = |it: &&Coordinate| dataset.variable(&it.name).is_none();
        let coordinates = dataset.coordinates.iter().filter(is_alone);
        let coordinates =
            coordinates.map(|it| (&it.name, Array::of_coordinate(&dataset, it).map_err(|e| e.to_string())));
        for (name, made) in variables.into_iter().chain(coordinates) {
            match made {
                _ if !is_key(name) => refused.push((name.clone(), NOT_A_KEY.into())),
                Ok(array) => drop(arrays.insert(name.clone(), array)),
                Err(why) => refused.push((name.clone(), why)),
            }
        }
        let group = group_of(&dataset, &arrays);
        Self { dataset, group, arrays, refused }
    }

    /// The dataset.
    pub const fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// Variables and coordinates that are not among the arrays, each with the reason.
    pub fn refused(&self) -> &[(String, String)] {
        &self.refused
    }

    /// What the store has at a key. `None` for a key that it lacks, and for a chunk of which no object is there. A chunk of values is
    /// decoded at each call.
    ///
    /// # Errors
    /// As [`Dataset::read_into`]; [`tgm_std::TensogramError::Metadata`] for a chunk with a place without an object, if the type of the
    /// variable has no NaN.
    pub fn get(&self, key: &str, options: &DecodeOptions) -> Result<Option<Cow<'_, [u8]>>> {
        if key == DESCRIPTION {
            return Ok(Some(Cow::Borrowed(self.group.as_bytes())));
        }
        let Some((name, rest)) = key.split_once('/') else { return Ok(None) };
        let Some(array) = self.arrays.get(name) else { return Ok(None) };
        if rest == DESCRIPTION {
            return Ok(Some(Cow::Borrowed(array.description.as_bytes())));
        }
        let Some(index) = array.index(rest) else { return Ok(None) };
        array.chunk(&self.dataset, name, &index, options)
    }
}

/// The description of the group.
fn group_of(dataset: &Dataset, arrays: &BTreeMap<String, Array>) -> String {
    let mut attributes = dataset.attributes.clone();
    // Coordinates that no variable names, such as bounds of steps, are named by the group, as xarray does.
    let beside: Vec<_> = dataset.variables.iter().map(|it| dataset.attributes_beside(it)).collect();
    let named = beside.iter().filter_map(|it| text_attribute(it, COORDINATES)).flat_map(str::split_whitespace);
    let named: Vec<&str> = named.collect();
    let is_alone = |it: &&Coordinate| !it.dims.contains(&it.name) && !named.contains(&it.name.as_str());
    let alone: Vec<&str> = dataset.coordinates.iter().filter(is_alone).map(|it| it.name.as_str()).collect();
    if !alone.is_empty() && !attributes.iter().any(|(name, _)| name == COORDINATES) {
        attributes.push((COORDINATES.into(), Attribute::Text(alone.join(" "))));
    }
    let quoted = |name: &str| serde_json::Value::from(name).to_string();
    let all: Vec<String> =
        arrays.iter().map(|(name, array)| format!("{}:{}", quoted(name), array.description)).collect();
    format!(
        r#"{{"zarr_format":3,"node_type":"group","attributes":{},"consolidated_metadata":{{"kind":"inline","must_understand":false,"metadata":{{{}}}}}}}"#,
        NotFinite::Quoted.attributes(&attributes, None),
        all.join(",")
    )
}

/// The attribute that names coordinates which are not labels of dimensions.
const COORDINATES: &str = "coordinates";
