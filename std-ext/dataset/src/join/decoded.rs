//! Times that files count in different units as one coordinate.

use tgm_std::Result;

use super::File;
use super::arrays::{flat, repeated};
use super::times::{About, coordinate};
use crate::dataset::Dataset;
use crate::elements::floats;
use crate::labels::BOUNDS;
use crate::model::{Attribute, Attributes, Coordinate, Values, Variable, text_attribute};
use crate::times::TimeScale;

/// What a variable of several files becomes.
pub(super) enum Becomes {
    Variable(Variable),
    /// Times that files count in different units.
    Coordinate(Coordinate),
    /// Why it is left out.
    Nothing(String),
}

/// What the numbers of a variable mean, if they are times. Its own units say so, or the units of the coordinate that it bounds.
pub(super) fn scale_of(dataset: &Dataset, variable: &Variable) -> Option<TimeScale> {
    let owner = || {
        let names_it =
            |it: &&Variable| BOUNDS.iter().any(|key| text_attribute(&it.attributes, key) == Some(&variable.name));
        dataset.variables.iter().find(names_it)
    };
    let own = text_attribute(&variable.attributes, "units").is_some();
    if own { TimeScale::of(&variable.attributes) } else { owner().and_then(|it| TimeScale::of(&it.attributes)) }
}

/// What a file has under a name as a coordinate. `None` if it has nothing there, or texts.
///
/// # Errors
/// The errors of reading.
pub(super) fn as_coordinate(file: &File, name: &str) -> Result<Option<Coordinate>> {
    let found = decoded(std::slice::from_ref(file), name, "", &[1])?;
    Ok(if let Becomes::Coordinate(coordinate) = found { Some(coordinate) } else { None })
}

/// A coordinate that files count in different units, or that is one already in some of them.
pub(super) fn decoded(files: &[File], name: &str, dim: &str, lens: &[u64]) -> Result<Becomes> {
    let mut all: Vec<(Vec<f64>, Vec<u64>)> = Vec::with_capacity(files.len());
    let mut scales: Vec<TimeScale> = Vec::with_capacity(files.len());
    let mut about: Option<(Vec<String>, Attributes)> = None;
    let nothing = |why: &str| Ok(Becomes::Nothing(why.into()));
    for file in files {
        let (dims, attributes, moments, shape, scale) = if let Some(found) = file.dataset.coordinate(name) {
            let is_time = matches!(found.values, Values::Times(_));
            let scale = if is_time { Some(TimeScale::SECONDS) } else { TimeScale::of(&found.attributes) };
            let Some(scale) = scale else { return same_coordinate(files, name, dim) };
            #[expect(clippy::cast_precision_loss, reason = "times are below 2^53")]
            let moments: Vec<f64> = match &found.values {
                Values::Times(times) => {
                    times.iter().map(|it| if *it == i64::MIN { f64::NAN } else { *it as f64 }).collect()
                }
                Values::Floats(numbers) => numbers.iter().map(|it| scale.moment(*it)).collect(),
                Values::Integers(numbers) => numbers.iter().map(|it| scale.moment(*it as f64)).collect(),
                Values::Texts(_) | Values::Durations(_) => return same_coordinate(files, name, dim),
            };
            let shape = file.dataset.shape_of(found)?;
            (found.dims.clone(), found.attributes.clone(), moments, shape, scale)
        } else {
            let Some(found) = file.dataset.variable(name) else { return nothing("a file does not have it") };
            let Some(scale) = scale_of(&file.dataset, found) else {
                return nothing("its numbers are times in some files only");
            };
            let Some(dtype) = found.dtype() else { return nothing("it is a text in some files only") };
            let missing = missing_of(&found.attributes);
            let numbers = floats(dtype, &file.dataset.read_all(found)?)?;
            let moment = |number: f64| if missing.contains(&number) { f64::NAN } else { scale.moment(number) };
            let moments = numbers.into_iter().map(moment).collect();
            (found.dims.clone(), found.attributes.clone(), moments, found.shape.clone(), scale)
        };
        if about.as_ref().is_some_and(|(known, _)| *known != dims) {
            return nothing("it has other dimensions in other files");
        }
        about.get_or_insert((dims, attributes));
        scales.push(scale);
        all.push((moments, shape));
    }
    let (Some((mut dims, attributes)), Some(scale)) = (about, scales.first().copied()) else {
        return nothing("no file has it");
    };
    if scales.iter().any(|other| other.calendar != scale.calendar) {
        return nothing("its times are of different calendars");
    }
    let axis = dims.iter().position(|known| known == dim);
    if axis.is_none() {
        let is_same = all.windows(2).all(|pair| matches!(pair, [(a, _), (b, _)] if a == b));
        // Equal in all files, it is what the first one says, in the units of that file.
        if let Some(found) =
            files.first().and_then(|file| file.dataset.variable(name)).filter(|_| is_same && files.len() > 1)
        {
            return Ok(Becomes::Variable(found.clone()));
        }
        if is_same {
            all.truncate(1);
        } else {
            for ((moments, shape), len) in all.iter_mut().zip(lens) {
                *moments = repeated(moments, *len);
                shape.insert(0, *len);
            }
            dims.insert(0, dim.into());
        }
    }
    let pairs: Vec<(&[f64], &[u64])> =
        all.iter().map(|(moments, shape)| (moments.as_slice(), shape.as_slice())).collect();
    let moments = flat(&pairs, axis.unwrap_or(0));
    Ok(Becomes::Coordinate(coordinate(&About { name, dims: &dims, attributes: &attributes }, &moments, scale)))
}

/// A coordinate that is not one of times: all files have it alike, or it is left out.
fn same_coordinate(files: &[File], name: &str, dim: &str) -> Result<Becomes> {
    let mut found = Vec::with_capacity(files.len());
    for file in files {
        found.extend(file.dataset.labels(name)?);
    }
    let [first, ..] = found.as_slice() else { return Ok(Becomes::Nothing("no file has it".into())) };
    let is_same =
        found.len() == files.len() && found.iter().all(|it| it.values == first.values && it.dims == first.dims);
    if is_same && !first.dims.iter().any(|known| known == dim) {
        return Ok(Becomes::Coordinate(first.clone().into_owned()));
    }
    Ok(Becomes::Nothing("it differs between files".into()))
}

/// Numbers that stand for none.
fn missing_of(attributes: &Attributes) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "the nearest float is compared with floats")]
    let number = |value: &Attribute| match value {
        Attribute::Integer(number) => Some(*number as f64),
        Attribute::Float(number) => Some(*number),
        _ => None,
    };
    let found = attributes.iter().filter(|(key, _)| key == "_FillValue" || key == "missing_value");
    found.filter_map(|(_, value)| number(value)).collect()
}
