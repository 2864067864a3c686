//! Times that files count from different moments, or in different units, as one variable: exact, in units that tell all of them apart.

use std::sync::Arc;

use tgm_std::Result;

use super::File;
use super::arrays::{flat, repeated};
use crate::labels::{counting, moments, scale_of};
use crate::model::{Attribute, Attributes, Content, Held, Variable, text_attribute};
use crate::moment::Moment;
use crate::times::{NUMPY_DTYPE, TimeScale, UNITS, since};

/// What a variable of several files becomes.
pub(super) enum Becomes {
    Variable(Variable),
    /// Why it is left out.
    Nothing(String),
}

/// A variable of times of several files, one after the other along a dimension. One that lacks it is there once if it is equal in all
/// files, and at each index otherwise.
///
/// # Errors
/// The errors of reading.
pub(super) fn counted_anew(files: &[File], parts: &[&Variable], dim: &str, lens: &[u64]) -> Result<Becomes> {
    let nothing = |why: &str| Ok(Becomes::Nothing(why.into()));
    let (Some(file), [first, ..]) = (files.first(), parts) else { return nothing("no file has it") };
    let about = counting(&file.dataset, first);
    let Some((about, scale)) = about.and_then(|about| Some((about, TimeScale::of(about)?))) else {
        return nothing("its numbers are not times");
    };
    let mut all = Vec::with_capacity(parts.len());
    for (file, part) in files.iter().zip(parts) {
        if scale_of(&file.dataset, part).is_none_or(|it| it.calendar.counted_as() != scale.calendar.counted_as()) {
            return nothing("its times are of different calendars");
        }
        let Some(moments) = moments(&file.dataset, part).map_err(|error| error.within(&file.name))? else {
            return Ok(Becomes::Nothing(format!("it has numbers in {} that are not times", file.name)));
        };
        all.push((moments, part.shape.clone()));
    }
    let mut dims = first.dims.clone();
    let axis = dims.iter().position(|known| known == dim);
    if axis.is_none() {
        if all.array_windows().all(|[(a, _), (b, _)]| a == b) {
            // It is what the first file says, in the units of that file.
            return Ok(Becomes::Variable((*first).clone()));
        }
        for ((moments, shape), len) in all.iter_mut().zip(lens) {
            *moments = repeated(moments, *len);
            shape.insert(0, *len);
        }
        dims.insert(0, dim.into());
    }
    let axis = axis.unwrap_or(0);
    let pairs: Vec<(&[Moment], &[u64])> =
        all.iter().map(|(moments, shape)| (moments.as_slice(), shape.as_slice())).collect();
    let mut shape = all.first().map_or_else(Vec::new, |(_, shape)| shape.clone());
    let mut starts = Vec::with_capacity(all.len());
    let mut len = 0_u64;
    for (_, shape) in &all {
        starts.push(len);
        len = len.saturating_add(shape.get(axis).copied().unwrap_or(0));
    }
    if let Some(place) = shape.get_mut(axis) {
        *place = len;
    }
    let Some((unit, numbers)) = numbers(&flat(&pairs, axis), scale) else {
        return nothing("its times are too far apart");
    };
    let mut attributes = first.attributes.clone();
    count_in(&mut attributes, unit, about);
    if numbers.contains(&MISSING) {
        attributes.push(("_FillValue".into(), Attribute::Integer(MISSING)));
    }
    let content = Content::Held(Held { axis, starts, numbers: Arc::from(numbers) });
    Ok(Becomes::Variable(Variable { name: first.name.clone(), dims, shape, attributes, content }))
}

/// Makes the attributes say that times are counted in `unit`, since the date and in the calendar of `about`.
fn count_in(attributes: &mut Attributes, unit: &str, about: &Attributes) {
    attributes.retain(|(key, _)| {
        !matches!(key.as_str(), "_FillValue" | "missing_value" | "units" | "calendar" | NUMPY_DTYPE)
    });
    let numpy = text_attribute(about, NUMPY_DTYPE).map(|_| "1970-01-01");
    if let Some(date) = numpy.or_else(|| text_attribute(about, "units").and_then(since).map(|(_, date)| date)) {
        attributes.push(("units".into(), Attribute::Text(format!("{unit} since {date}"))));
    }
    if let Some(calendar) = text_attribute(about, "calendar") {
        attributes.push(("calendar".into(), calendar.into()));
    }
}

/// A moment that is missing, as readers fill it.
const MISSING: i64 = i64::MIN;

/// Moments as whole numbers since the first moment of a scale: in its units, or in the longest shorter ones that make all of them
/// whole. Where such numbers have more than 64 bits, in the shortest units in which they have not, rounded.
/// `None` where 64 bits have no room for them in any.
fn numbers(moments: &[Moment], scale: TimeScale) -> Option<(&'static str, Vec<i64>)> {
    let number = |moment: &Moment, unit: i64| match moment {
        None => Some(MISSING),
        Some(moment) => {
            let unit = i128::from(unit);
            i64::try_from((moment - scale.start + unit / 2).div_euclid(unit)).ok().filter(|number| *number != MISSING)
        }
    };
    let is_whole = |moment: &Moment, unit: i64| moment.is_none_or(|it| (it - scale.start) % i128::from(unit) == 0);
    let units = || UNITS.iter().filter(|(_, unit)| *unit <= scale.unit);
    let exact = units().find(|(_, unit)| moments.iter().all(|moment| is_whole(moment, *unit)));
    exact.into_iter().chain(UNITS.iter().rev()).find_map(|(name, unit)| {
        let numbers = moments.iter().map(|moment| number(moment, *unit)).collect::<Option<Vec<i64>>>()?;
        Some((*name, numbers))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_the_longest_units_that_make_all_of_them_whole() {
        let scale = |units: &str| TimeScale::of(&vec![("units".into(), units.into())]).unwrap();
        let hours = scale("hours since 1970-01-02");
        let day: i128 = 86_400_000_000_000;
        let cases: [(&[Moment], &str, &[i64]); 6] = [
            (&[Some(day), Some(2 * day)], "hours", &[0, 24]),
            (&[Some(day), None, Some(day - 60_000_000_000)], "minutes", &[0, MISSING, -1]),
            (&[Some(day + 1_000_000)], "milliseconds", &[1]),
            (&[Some(day + 1)], "nanoseconds", &[1]),
            (&[None], "hours", &[MISSING]),
            // A million years have more nanoseconds than 64 bits count, and more microseconds.
            (&[Some(366_000_000 * day + 1_600_000)], "milliseconds", &[365_999_999 * 86_400_000 + 2]),
        ];
        for (moments, unit, expected) in cases {
            assert_eq!(numbers(moments, hours), Some((unit, expected.to_vec())), "{moments:?}");
        }
    }
}
