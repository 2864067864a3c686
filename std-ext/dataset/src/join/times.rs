//! Labels of a dimension as they are compared between files.

use tgm_std::Result;

use super::File;
use crate::archive::bad;
use crate::calendar::Calendar;
use crate::label::{Label, Real};
use crate::model::{Values, text_attribute};

/// The labels of a dimension of a file: numbers are floats, and times of any calendar are nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Labels {
    pub(super) labels: Vec<Key>,
    kind: Kind,
}

/// A label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// A time. Missing ones come first.
    Moment(Option<i128>),
    Other(Label),
}

/// What labels are. Labels of different kinds are in no order.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Texts,
    Times(Calendar),
    /// With their units.
    Numbers(Option<String>),
}

impl Labels {
    /// The labels of a dimension. `None` if it has none.
    ///
    /// # Errors
    /// The errors of reading them, with the file.
    pub(super) fn of(file: &File, dim: &str) -> Result<Option<Self>> {
        let dataset = &file.dataset;
        if dataset.variable(dim).is_none_or(|it| it.dims != [dim]) {
            return Ok(None);
        }
        let Some(found) = dataset.labels(dim).map_err(|error| error.within(&file.name))? else { return Ok(None) };
        let units = text_attribute(&found.attributes, "units").map(str::to_string);
        let number = |number: f64| Key::Other(Label::Float(Real(number + 0.0)));
        let (labels, kind) = match &found.values {
            Values::Texts(texts) => {
                (texts.iter().map(|text| Key::Other(Label::Text(text.as_str().into()))).collect(), Kind::Texts)
            }
            Values::Floats(numbers) => (numbers.iter().copied().map(number).collect(), Kind::Numbers(units)),
            #[expect(clippy::cast_precision_loss, reason = "labels are below 2^53")]
            Values::Integers(numbers) | Values::Durations(numbers) => {
                (numbers.iter().map(|it| number(*it as f64)).collect(), Kind::Numbers(units))
            }
            Values::Times(times) => {
                let labels = times.moments().iter().copied().map(Key::Moment).collect();
                (labels, Kind::Times(times.calendar().counted_as()))
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
            Self::Numbers(None) => "numbers".into(),
            Self::Numbers(Some(units)) => format!("numbers with units {units:?}"),
        }
    }
}
