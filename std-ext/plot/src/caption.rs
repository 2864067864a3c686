//! Which values of a variable a picture shows, in words.

use std::borrow::Cow;

use tgm_dataset::{Coordinate, Indices, Values};
use tgm_std::TensogramError;

use crate::axis::{latitude, longitude};
use crate::described::{Picked, number_at, text_of};

/// What a detail is of, in the order in which details are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A level, a place, or any other label.
    Other,
    Time,
    Step,
    Member,
}

/// The level, the time, the step, the member and whatever else is one label of several.
///
/// # Errors
/// The errors of reading coordinates.
pub fn details(picked: &Picked<'_>) -> Result<Vec<String>, TensogramError> {
    let labels = single_labels(picked)?;
    let has = |name: &str| labels.iter().any(|(coordinate, _)| coordinate.name == name);
    let is_computed = |name: &str| name == "valid_time" && has("time") && has("step");
    let told = labels.iter().filter(|(coordinate, _)| !is_computed(&coordinate.name));
    let mut told: Vec<(Kind, String)> = told.filter_map(|(coordinate, index)| worded(coordinate, *index)).collect();
    told.sort_by_key(|(kind, _)| *kind);
    let mut found: Vec<(Kind, String)> = Vec::new();
    for (kind, words) in told {
        match (kind, found.last_mut()) {
            // A step goes on from its time.
            (Kind::Step, Some((Kind::Time, time))) => *time = format!("{time} + {words}"),
            (Kind::Step, _) => found.push((kind, format!("step {words}"))),
            _ => found.push((kind, words)),
        }
    }
    Ok(found.into_iter().map(|(_, words)| words).collect())
}

/// Coordinates with the label that is picked: of dimensions of one index, and of no dimension.
fn single_labels<'d>(picked: &Picked<'d>) -> Result<Vec<(Cow<'d, Coordinate>, usize)>, TensogramError> {
    let Picked { dataset, variable, picks } = picked;
    let mut labels = Vec::new();
    for (dim, pick) in variable.dims.iter().zip(*picks) {
        if let (Indices::Index(index), Some(found)) = (pick, dataset.labels(dim)?)
            && let Ok(index) = usize::try_from(*index)
        {
            labels.push((found, index));
        }
    }
    let scalars = dataset.coordinates.iter().filter(|it| it.dims.is_empty());
    labels.extend(scalars.map(|it| (Cow::Borrowed(it), 0)));
    // Files name theirs.
    for name in picked.text("coordinates").unwrap_or_default().split(' ') {
        if dataset.variable(name).is_some_and(|it| it.dims.is_empty())
            && let Some(found) = dataset.labels(name)?
        {
            labels.push((found, 0));
        }
    }
    Ok(labels)
}

/// A label in words. `None` for a label that is missing.
fn worded(coordinate: &Coordinate, index: usize) -> Option<(Kind, String)> {
    let label = Some(coordinate.label_text(index)).filter(|label| !label.is_empty())?;
    let number = number_at(coordinate, index);
    Some(match (coordinate.name.as_str(), &coordinate.values) {
        ("step", Values::Durations(_)) => {
            let are_hours = label.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            (Kind::Step, format!("{label}{}", if are_hours { " h" } else { "" }))
        }
        (name, Values::Times(_)) => {
            let moment = label.replace('T', " ");
            let moment = moment.strip_suffix(":00").unwrap_or(&moment);
            let what = if matches!(name, "time" | "valid_time") { String::new() } else { format!("{name} ") };
            (Kind::Time, format!("{what}{moment} UTC"))
        }
        ("number", _) => (Kind::Member, format!("member {label}")),
        (name @ ("surface" | "meanSea" | "entireAtmosphere"), _) => (Kind::Other, name.to_string()),
        ("heightAboveGround", _) => (Kind::Other, format!("{label} m above ground")),
        ("heightAboveSea", _) => (Kind::Other, format!("{label} m above sea")),
        ("latitude", _) => (Kind::Other, number.map_or(label, latitude)),
        ("longitude", _) => (Kind::Other, number.map_or(label, longitude)),
        (name, _) => {
            let units = text_of(&coordinate.attributes, "units").filter(|units| *units != "1").unwrap_or_default();
            let what = if name.starts_with("isobaric") || units == "hPa" { "" } else { name };
            (Kind::Other, format!("{what} {label} {units}").trim().to_string())
        }
    })
}
