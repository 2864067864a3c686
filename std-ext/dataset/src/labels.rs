//! Coordinates of datasets of either kind: those that the keys of fields give, and variables of files that are coordinates.

use std::borrow::Cow;
use std::collections::BTreeSet;

use tgm_core::descriptor::Dtype;
use tgm_std::Result;

use crate::archive::bad;
use crate::dataset::Dataset;
use crate::elements::{floats, whole};
use crate::model::{Attribute, Attributes, Coordinate, Values, Variable, text_attribute};
use crate::moment::{Moment, NO_TIME, Times};
use crate::reading::{FILL, MISSING, OFFSET, Reading, SCALE};
use crate::times::{NUMPY_DTYPE, TimeScale};

/// Attributes in which a variable names others that belong to it.
pub(crate) const NAMING: [&str; 6] =
    ["coordinates", "bounds", "ancillary_variables", "grid_mapping", "cell_measures", "step_bounds"];
/// Attributes in which a coordinate names its bounds, which count as it does, and need not say so.
pub(crate) const BOUNDS: [&str; 2] = ["bounds", "climatology"];
/// Attributes that give some whole numbers of a variable a meaning.
const CODES: [&str; 5] = [FILL, MISSING, "flag_values", "flag_masks", "flag_meanings"];
/// Values that a coordinate has at most, when it is read.
const MOST: u64 = 1 << 28;

/// The names of coordinates that a variable tells: its own, if its only dimension has it, and those that its attributes `coordinates`,
/// `bounds`, `grid_mapping` and the like hold. `text` gives the text of an attribute.
pub fn coordinates_by<'a>(
    name: &'a str,
    dims: &[impl AsRef<str>],
    text: impl Fn(&str) -> Option<&'a str>,
) -> impl Iterator<Item = &'a str> {
    let labels_itself = matches!(dims, [dim] if dim.as_ref() == name);
    let named = NAMING.into_iter().filter_map(text).flat_map(|text| text.split([' ', ':']));
    labels_itself.then_some(name).into_iter().chain(named).filter(|name| !name.is_empty())
}

/// Whether the values of a variable of this type stand for something else than an amount, so that a small error changes what they
/// say: moments, counted since another one, and whole numbers or bits that attributes give a meaning, such as a missing cell or
/// the state of a flag. Whole numbers with a scale are amounts. `attribute` gives an attribute, and its text if it is one.
pub fn are_codes<'a>(dtype: Dtype, attribute: impl Fn(&str) -> Option<Option<&'a str>>) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| attribute(name).is_some());
    let units = attribute("units").flatten().unwrap_or_default();
    let counts_time = units.split_whitespace().any(|word| word.eq_ignore_ascii_case("since"));
    counts_time || dtype == Dtype::Bitmask || (!dtype.is_float() && has(&CODES) && !has(&[SCALE, OFFSET]))
}

impl Dataset {
    /// A coordinate with its values. A variable of files with this name is read whole; numbers whose `units` are a time since a
    /// moment become times of their calendar.
    ///
    /// `None` if there is no such coordinate or variable.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for a variable of complex numbers, or of more than 2²⁸ values; the errors of reading.
    pub fn labels(&self, name: &str) -> Result<Option<Cow<'_, Coordinate>>> {
        if let Some(found) = self.coordinate(name) {
            return Ok(Some(Cow::Borrowed(found)));
        }
        let Some(variable) = self.variable(name) else { return Ok(None) };
        let values = self.values_of(variable).map_err(|error| error.within(name))?;
        let Variable { name, dims, attributes, .. } = variable.clone();
        Ok(Some(Cow::Owned(Coordinate { name, dims, values, attributes })))
    }

    /// The names of coordinates, and of variables of files that are coordinates: such a variable has the name of its only dimension, or
    /// another variable names it in `coordinates`, `bounds` or `grid_mapping`. Names of what is not there are among them.
    pub fn coordinate_names(&self) -> BTreeSet<&str> {
        let mut names: BTreeSet<&str> = self.coordinates.iter().map(|it| it.name.as_str()).collect();
        for variable in &self.variables {
            let text = |key: &str| text_attribute(&variable.attributes, key);
            names.extend(coordinates_by(&variable.name, &variable.dims, text));
        }
        names
    }

    /// The latitudes and the longitudes of a variable, in degrees: those coordinates whose dimensions it has. On a grid of rows and
    /// columns each has a dimension of its own, on others both have the same ones. Without them, x and y of a `grid_mapping` of CF say them.
    /// `None` if no coordinates say where the values are.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for an unknown variable; as [`Self::labels`].
    pub fn positions(&self, variable: &str) -> Result<Option<(Cow<'_, Coordinate>, Cow<'_, Coordinate>)>> {
        let variable = self.known(variable)?;
        let of = |standard: &str, units: &str, names: &[&str]| -> Result<Option<Cow<'_, Coordinate>>> {
            let of_fields = self.coordinates.iter().map(|it| (&it.name, &it.dims, &it.attributes));
            let of_files = self.variables.iter().map(|it| (&it.name, &it.dims, &it.attributes));
            let fits = |(name, dims, attributes): &(&String, &Vec<String>, &Attributes)| {
                let is_along = !dims.is_empty() && dims.iter().all(|dim| variable.dims.contains(dim));
                is_along && **name != variable.name && is_of(name, attributes, standard, units, names)
            };
            let found = of_fields.chain(of_files).find(fits);
            found.map_or(Ok(None), |(name, ..)| self.labels(name))
        };
        let latitudes = of("latitude", "degrees_north", &["lat", "latitude"])?;
        let longitudes = of("longitude", "degrees_east", &["lon", "longitude"])?;
        if let Some(found) = latitudes.zip(longitudes) {
            return Ok(Some(found));
        }
        let projected = self.projected(variable)?;
        Ok(projected.map(|(latitudes, longitudes)| (Cow::Owned(latitudes), Cow::Owned(longitudes))))
    }

    /// Whether another coordinate names this one as its bounds.
    pub(crate) fn are_bounds(&self, name: &str) -> bool {
        let of_fields = self.coordinates.iter().map(|it| &it.attributes);
        let mut all = of_fields.chain(self.variables.iter().map(|it| &it.attributes));
        all.any(|attributes| BOUNDS.iter().any(|key| text_attribute(attributes, key) == Some(name)))
    }

    fn values_of(&self, variable: &Variable) -> Result<Values> {
        if let Some(texts) = variable.texts() {
            return Ok(Values::Texts(texts.to_vec()));
        }
        let dtype = variable.dtype().unwrap_or(Dtype::Float64);
        let count = variable.shape.iter().fold(1_u64, |all, len| all.saturating_mul(*len));
        if count > MOST {
            return Err(bad(format!("{count} values are too many for a coordinate")));
        }
        // A number that is not a time makes all of them numbers.
        if let Some(scale) = scale_of(self, variable)
            && let Some(moments) = moments(self, variable)?
        {
            return Ok(Values::Times(Times::new(scale.calendar, moments)));
        }
        let bytes = self.read_all(variable)?;
        match dtype {
            Dtype::Float16 | Dtype::Bfloat16 | Dtype::Float32 | Dtype::Float64 => {
                floats(dtype, &bytes).map(Values::Floats)
            }
            _ => whole(dtype, &bytes).map(Values::Integers),
        }
    }
}

/// The attributes that say what the numbers of a variable mean, if they are times: its own ones, or the ones of the coordinate that it bounds.
pub(crate) fn counting<'d>(dataset: &'d Dataset, variable: &'d Variable) -> Option<&'d Attributes> {
    let owner = || {
        let names_it =
            |it: &&Variable| BOUNDS.iter().any(|key| text_attribute(&it.attributes, key) == Some(&variable.name));
        dataset.variables.iter().find(names_it).map(|it| &it.attributes)
    };
    let own = ["units", NUMPY_DTYPE].iter().any(|key| text_attribute(&variable.attributes, key).is_some());
    if own { Some(&variable.attributes) } else { owner() }
}

/// What the numbers of a variable mean, if they are times.
pub(crate) fn scale_of(dataset: &Dataset, variable: &Variable) -> Option<TimeScale> {
    counting(dataset, variable).and_then(TimeScale::of)
}

/// The moments that a variable of a file has. `None` if its numbers are not times, or not all of them.
///
/// # Errors
/// The errors of reading.
pub(crate) fn moments(dataset: &Dataset, variable: &Variable) -> Result<Option<Vec<Moment>>> {
    let (Some(scale), Some(dtype)) = (scale_of(dataset, variable), variable.dtype()) else { return Ok(None) };
    let bytes = dataset.read_all(variable)?;
    // Numbers that stand for missing cells are of the type of the others, so that none of them is rounded here.
    let bytes = match variable.amounts().map(Reading::rounded) {
        Some(reading) => {
            let cells = reading.cells(bytes.clone())?.bytes;
            let floats = floats(reading.dtype(), &cells)?;
            let is_missing = |at: usize| floats.get(at).is_some_and(|float| float.is_nan());
            return Ok(of_cells(scale, (dtype, &bytes), is_missing));
        }
        None => bytes,
    };
    Ok(of_cells(scale, (dtype, &bytes), |_| false))
}

/// The moments that elements are. None where it is said that one is missing.
fn of_cells(
    scale: TimeScale,
    (dtype, bytes): (Dtype, &[u8]),
    is_missing: impl Fn(usize) -> bool,
) -> Option<Vec<Moment>> {
    if let Ok(numbers) = whole(dtype, bytes) {
        let moment = |(at, number): (usize, i64)| {
            if number == NO_TIME || is_missing(at) { Some(None) } else { scale.of_whole(number).map(Some) }
        };
        return numbers.into_iter().enumerate().map(moment).collect();
    }
    let numbers = floats(dtype, bytes).ok()?;
    let moment = |(at, number): (usize, f64)| {
        if number.is_nan() || is_missing(at) { Some(None) } else { scale.of_float(number).map(Some) }
    };
    numbers.into_iter().enumerate().map(moment).collect()
}

/// Whether a coordinate has longitudes, by its attributes or its name.
pub(crate) fn is_longitude(coordinate: &Coordinate) -> bool {
    is_of(&coordinate.name, &coordinate.attributes, "longitude", "degrees_east", &["lon", "longitude"])
}

fn is_of(name: &str, attributes: &Attributes, standard: &str, units: &str, names: &[&str]) -> bool {
    match text_attribute(attributes, "standard_name") {
        Some(found) => found == standard,
        None => text_attribute(attributes, "units") == Some(units) || names.contains(&name),
    }
}

/// Attributes that say of numbers what they are: times, for which there is no other form in files.
pub(crate) fn attributes_of_times(is_duration: bool, unit: &str) -> Attributes {
    let text = |text: &str| Attribute::Text(text.into());
    if is_duration {
        // Readers that turn numbers with such units into durations ask for this.
        vec![("units".into(), text(unit)), ("dtype".into(), text("timedelta64[ns]"))]
    } else {
        vec![("units".into(), text(unit)), ("calendar".into(), text("proleptic_gregorian"))]
    }
}
