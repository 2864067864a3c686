//! Dimensions of datasets: the scales that are attached to them.

use std::collections::BTreeMap;

use hdf5_metno::types::{H5Type, VarLenArray};
use hdf5_metno::{Dataset, File, LocationType, ObjectReference1, ReferencedObject};

use tgm_std::Reason;

use super::super::tree::Dimension;
use super::attributes::{is_scale, text};
use super::{Inventory, key};
use crate::error::{encoding, reason_in, reason_of};
use crate::note::Note;

/// How the name of a dimension begins that has no variable.
const WITHOUT_VARIABLE: &str = "This is a netCDF dimension but not a netCDF variable";
/// How NetCDF calls a variable with the name of a dimension that is not its coordinate.
pub(super) const NOT_COORDINATE: &str = "_nc4_non_coord_";

/// A dataset that is the scale of a dimension.
#[derive(Clone, Debug)]
struct Scale {
    path: String,
    len: usize,
    is_unlimited: bool,
    has_variable: bool,
}

/// All scales of a file.
#[derive(Debug, Default)]
pub(super) struct Scales {
    /// By their places in the file.
    places: BTreeMap<String, Scale>,
    /// The places of the scales by their numbers in NetCDF.
    numbers: BTreeMap<i32, String>,
}

impl Scales {
    pub(super) fn read(file: &File, found: &Inventory, report: &mut dyn FnMut(Note)) -> Self {
        let mut scales = Self::default();
        let mut longest: BTreeMap<String, usize> = BTreeMap::new();
        let datasets = found.objects.iter().filter(|(_, kind)| *kind == LocationType::Dataset);
        // One that cannot be opened is reported where its values are read.
        let datasets: Vec<(&str, Dataset)> =
            datasets.filter_map(|(path, _)| Some((path.as_str(), file.dataset(path).ok()?))).collect();
        for (path, dataset) in datasets.iter().filter(|(_, dataset)| is_scale(dataset)) {
            if let Err(what) = scales.add(path, dataset) {
                report(Note::failed(*path, encoding(what).within("its dimension")));
            }
        }
        // An unlimited dimension is as long as the longest dataset that has it.
        for (_, dataset) in &datasets {
            // What is wrong with them is reported where values are read.
            let places = scales.of(dataset, &mut |_| {}).into_iter().zip(dataset.shape());
            for (place, len) in places.filter_map(|(place, len)| Some((place?, len))) {
                let most = longest.entry(place).or_default();
                *most = len.max(*most);
            }
        }
        for (place, len) in longest {
            if let Some(scale) = scales.places.get_mut(&place).filter(|scale| scale.is_unlimited) {
                scale.len = scale.len.max(len);
            }
        }
        scales
    }

    fn add(&mut self, path: &str, dataset: &Dataset) -> Result<(), Reason> {
        let info = dataset.loc_info().map_err(reason_of)?;
        let space = dataset.space().map_err(reason_of)?;
        let scale = Scale {
            path: path.to_string(),
            len: space.shape().first().copied().unwrap_or_default(),
            is_unlimited: space.maxdims().first().is_some_and(Option::is_none),
            has_variable: !text(dataset, "NAME").is_some_and(|name| name.starts_with(WITHOUT_VARIABLE)),
        };
        self.places.insert(key(&info), scale);
        let numbers = listed::<i32>(dataset, "_Netcdf4Dimid", 1)?;
        self.numbers.extend(numbers.into_iter().flatten().map(|number| (number, key(&info))));
        Ok(())
    }

    /// The places of the scales of a dataset, one for each dimension that has one. `tell` is given what is wrong with them.
    fn of(&self, dataset: &Dataset, tell: &mut dyn FnMut(Reason)) -> Vec<Option<String>> {
        let dims = dataset.ndim();
        let list = listed::<VarLenArray<ObjectReference1>>(dataset, "DIMENSION_LIST", dims);
        if let Some(list) = list.map_err(&mut *tell).ok().flatten() {
            return list.iter().map(|list| self.last(dataset, list).map_err(&mut *tell).ok().flatten()).collect();
        }
        let list = listed::<i32>(dataset, "_Netcdf4Coordinates", dims);
        if let Some(list) = list.map_err(tell).ok().flatten() {
            return list.iter().map(|number| self.numbers.get(number).cloned()).collect();
        }
        let own = dataset.loc_info().ok().map(|info| key(&info)).filter(|own| self.places.contains_key(own));
        (0..dims).map(|dim| own.clone().filter(|_| dim == 0)).collect()
    }

    /// The place of the last scale of a dimension, which counts, as in netCDF-C.
    fn last(&self, dataset: &Dataset, list: &[ObjectReference1]) -> Result<Option<String>, Reason> {
        let Some(reference) = list.last() else { return Ok(None) };
        match dataset.dereference(reference).map_err(reason_of)? {
            ReferencedObject::Dataset(scale) => {
                let place = key(&scale.loc_info().map_err(reason_of)?);
                Ok(Some(place).filter(|it| self.places.contains_key(it)))
            }
            _ => Ok(None),
        }
    }

    /// The dimensions of a dataset.
    pub(super) fn dimensions(&self, dataset: &Dataset, tell: &mut dyn FnMut(Reason)) -> Vec<Dimension> {
        let dimension = |(place, len): (Option<String>, usize)| {
            let Some(scale) = place.and_then(|place| self.places.get(&place)) else {
                return Dimension { name: None, len, is_unlimited: false };
            };
            let (group, name) = scale.path.rsplit_once('/').unwrap_or(("", &scale.path));
            let name = name.strip_prefix(NOT_COORDINATE).unwrap_or(name);
            Dimension {
                name: Some((name.to_string(), group.to_string())),
                len: if scale.is_unlimited { scale.len } else { len },
                is_unlimited: scale.is_unlimited,
            }
        };
        self.of(dataset, tell).into_iter().zip(dataset.shape()).map(dimension).collect()
    }

    /// The length of the dimension that this dataset is, and whether it is unlimited, if it has no values of its own.
    pub(super) fn without_variable(&self, dataset: &Dataset) -> Option<(u64, bool)> {
        let place = key(&dataset.loc_info().ok()?);
        self.places.get(&place).filter(|scale| !scale.has_variable).map(|scale| (scale.len as u64, scale.is_unlimited))
    }
}

/// The `len` values of an attribute. `None` without the attribute.
fn listed<T: H5Type>(dataset: &Dataset, name: &str, len: usize) -> Result<Option<Vec<T>>, Reason> {
    let Ok(stored) = dataset.attr(name) else { return Ok(None) };
    let list: Vec<T> = stored.read_raw().map_err(reason_in(name))?;
    if list.len() != len {
        return Err(format!("{name} has {} values, not {len}", list.len()).into());
    }
    Ok(Some(list))
}
