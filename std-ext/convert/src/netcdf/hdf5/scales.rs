//! Dimensions of datasets: the scales that are attached to them.

use std::collections::BTreeMap;

use hdf5_metno::types::VarLenArray;
use hdf5_metno::{Dataset, File, LocationType, ObjectReference1, ReferencedObject};

use super::super::tree::Dimension;
use super::attributes::{is_scale, text};
use super::{Inventory, key};

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
    pub(super) fn read(file: &File, found: &Inventory) -> Self {
        let mut scales = Self::default();
        let mut longest: BTreeMap<String, usize> = BTreeMap::new();
        let datasets = found.objects.iter().filter(|(_, kind)| *kind == LocationType::Dataset);
        let datasets: Vec<(&str, Dataset)> =
            datasets.filter_map(|(path, _)| Some((path.as_str(), file.dataset(path).ok()?))).collect();
        for (path, dataset) in &datasets {
            if !is_scale(dataset) {
                continue;
            }
            let (Ok(info), Ok(space)) = (dataset.loc_info(), dataset.space()) else { continue };
            let has_variable = !text(dataset, "NAME").is_some_and(|name| name.starts_with(WITHOUT_VARIABLE));
            let scale = Scale {
                path: (*path).to_string(),
                len: space.shape().first().copied().unwrap_or_default(),
                is_unlimited: space.maxdims().first().is_some_and(Option::is_none),
                has_variable,
            };
            if let Some(number) = dataset.attr("_Netcdf4Dimid").ok().and_then(|it| it.read_raw::<i32>().ok()) {
                scales.numbers.extend(number.first().map(|number| (*number, key(&info))));
            }
            scales.places.insert(key(&info), scale);
        }
        // An unlimited dimension is as long as the longest dataset that has it.
        for (_, dataset) in &datasets {
            for (place, len) in scales.of(dataset).into_iter().zip(dataset.shape()) {
                let Some(place) = place else { continue };
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

    /// The places of the scales of a dataset, one for each dimension that has one.
    fn of(&self, dataset: &Dataset) -> Vec<Option<String>> {
        let dims = dataset.ndim();
        if let Ok(list) = dataset.attr("DIMENSION_LIST")
            && let Ok(list) = list.read_raw::<VarLenArray<ObjectReference1>>()
            && list.len() == dims
        {
            // The last one counts, as in netCDF-C.
            let place = |list: &VarLenArray<ObjectReference1>| match dataset.dereference(list.last()?).ok()? {
                ReferencedObject::Dataset(scale) => scale.loc_info().ok().map(|info| key(&info)),
                _ => None,
            };
            return list.iter().map(place).map(|place| place.filter(|it| self.places.contains_key(it))).collect();
        }
        if let Ok(list) = dataset.attr("_Netcdf4Coordinates")
            && let Ok(list) = list.read_raw::<i32>()
            && list.len() == dims
        {
            return list.iter().map(|number| self.numbers.get(number).cloned()).collect();
        }
        let own = dataset.loc_info().ok().map(|info| key(&info)).filter(|own| self.places.contains_key(own));
        (0..dims).map(|dim| own.clone().filter(|_| dim == 0)).collect()
    }

    /// The dimensions of a dataset.
    pub(super) fn dimensions(&self, dataset: &Dataset) -> Vec<Dimension> {
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
        self.of(dataset).into_iter().zip(dataset.shape()).map(dimension).collect()
    }

    /// The length of the dimension that this dataset is, and whether it is unlimited, if it has no values of its own.
    pub(super) fn without_variable(&self, dataset: &Dataset) -> Option<(u64, bool)> {
        let place = key(&dataset.loc_info().ok()?);
        self.places.get(&place).filter(|scale| !scale.has_variable).map(|scale| (scale.len as u64, scale.is_unlimited))
    }
}
