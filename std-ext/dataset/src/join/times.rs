//! Labels of a dimension as they are compared between files, and times that files count in different units.

use tgm_std::Result;

use super::File;
use crate::archive::bad;
use crate::label::{Label, Real};
use crate::model::{Attributes, Coordinate, Values, text_attribute};
use crate::times::{Calendar, TimeScale};

/// The labels of a dimension of a file: numbers are floats, and times of any calendar are seconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Labels {
    pub(super) labels: Vec<Label>,
    kind: Kind,
}

/// What labels are. Labels of different kinds are in no order.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Texts,
    Times(Calendar),
    Durations,
    /// With their units.
    Numbers(Option<String>),
}

impl Labels {
    /// The labels of a dimension. `None` if it has none.
    ///
    /// # Errors
    /// The errors of reading them, with the file.
    pub(super) fn of(file: &File, dim: &str) -> Result<Option<Self>> {
        let is_along = file.dataset.variable(dim).is_none_or(|it| it.dims == [dim]);
        let found = if is_along { file.dataset.labels(dim).map_err(|error| error.within(&file.name))? } else { None };
        let Some(found) = found.filter(|it| it.dims == [dim]) else { return Ok(None) };
        let units = text_attribute(&found.attributes, "units").map(str::to_string);
        let number = |number: f64| Label::Float(Real(number + 0.0));
        #[expect(clippy::cast_precision_loss, reason = "labels are below 2^53")]
        let whole = |label: &i64| number(*label as f64);
        let scale = TimeScale::of(&found.attributes);
        let (labels, kind) = match (&found.values, scale) {
            (Values::Texts(texts), _) => {
                (texts.iter().map(|text| Label::Text(text.as_str().into())).collect(), Kind::Texts)
            }
            (Values::Times(times), _) => (times.iter().map(whole).collect(), Kind::Times(Calendar::Gregorian)),
            (Values::Durations(steps), _) => (steps.iter().map(whole).collect(), Kind::Durations),
            (Values::Integers(numbers), None) => (numbers.iter().map(whole).collect(), Kind::Numbers(units)),
            (Values::Floats(numbers), None) => (numbers.iter().copied().map(number).collect(), Kind::Numbers(units)),
            #[expect(clippy::cast_precision_loss, reason = "times are below 2^53")]
            (Values::Integers(numbers), Some(scale)) => {
                (numbers.iter().map(|it| number(scale.moment(*it as f64))).collect(), Kind::Times(scale.calendar))
            }
            (Values::Floats(numbers), Some(scale)) => {
                (numbers.iter().map(|it| number(scale.moment(*it))).collect(), Kind::Times(scale.calendar))
            }
        };
        Ok(Some(Self { labels, kind }))
    }

    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for files whose labels of a dimension are of different kinds.
    pub(super) fn check_kinds(files: &[(&str, Option<&Option<Self>>)], dim: Option<&String>) -> Result<()> {
        let dim = dim.map_or("", String::as_str);
        let mut known = files.iter().filter_map(|(name, labels)| Some((name, (*labels)?.as_ref()?)));
        let Some((first, labels)) = known.next() else { return Ok(()) };
        match known.find(|(_, other)| other.kind != labels.kind) {
            None => Ok(()),
            Some((name, other)) => {
                let (one, other) = (labels.kind.words(), other.kind.words());
                Err(bad(format!("{first}, {name}: labels of {dim} are {one} and {other}, which cannot be compared")))
            }
        }
    }
}

impl Kind {
    fn words(&self) -> String {
        match self {
            Self::Texts => "texts".into(),
            Self::Times(calendar) => format!("times of the calendar {calendar:?}"),
            Self::Durations => "durations".into(),
            Self::Numbers(None) => "numbers".into(),
            Self::Numbers(Some(units)) => format!("numbers with units {units:?}"),
        }
    }
}

/// How a coordinate is called that several files have, its dimensions and attributes: the ones of the first file.
pub(super) struct About<'a> {
    pub(super) name: &'a str,
    pub(super) dims: &'a [String],
    pub(super) attributes: &'a Attributes,
}

/// Numbers of several files as one coordinate of times, each with what its numbers mean. A number that is missing is NaN.
///
/// Whole seconds of the Gregorian calendar are times. Others are numbers in the units of the first file.
pub(super) fn coordinate(about: &About<'_>, moments: &[f64], first: TimeScale) -> Coordinate {
    let About { name, dims, attributes } = about;
    let mut attributes = Attributes::clone(attributes);
    attributes.retain(|(key, _)| key != "_FillValue" && key != "missing_value");
    let is_whole = |moment: &f64| moment.is_nan() || (moment.fract() == 0.0 && moment.abs() < 1e15);
    let values = if first.calendar == Calendar::Gregorian && moments.iter().all(is_whole) {
        attributes.retain(|(key, _)| key != "units" && key != "calendar");
        #[expect(clippy::cast_possible_truncation, reason = "they are whole and below 10^15")]
        let second = |moment: &f64| if moment.is_nan() { i64::MIN } else { *moment as i64 };
        Values::Times(moments.iter().map(second).collect())
    } else {
        Values::Floats(moments.iter().map(|moment| first.number(*moment)).collect())
    };
    Coordinate { name: (*name).into(), dims: dims.to_vec(), values, attributes }
}
