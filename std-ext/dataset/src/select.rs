//! Picking by labels: `step=0..24`, `latitude=40:50`, `number=0/2`, `time=2024-01`, `longitude~7.3`.
//!
//! | text | picks |
//! |---|---|
//! | `DIM=LABEL` | the label; of times, all that the text covers, such as a day or a month |
//! | `DIM=A/B/C` | these labels, in this order |
//! | `DIM=FIRST..LAST`, `DIM=FIRST:LAST` | all labels between the two, and both; an end that is left out is open |
//! | `DIM~LABEL` | the label that is nearest |
//!
//! Labels are what the coordinate of the dimension has: numbers, steps (`6`, `90m`, `2d`), times (`2024-01-31T12`), texts. Times
//! are dates of the calendar of the coordinate; with a fraction of a second, a time is a single nanosecond. A dimension without
//! labels is picked by index, from 0. Longitudes are equal if they differ by a whole circle, and a range of them goes east:
//! `350:10` and `-10:10` are one.

mod numbers;

use std::borrow::Cow;
use std::num::NonZeroU64;
use std::str::FromStr;

use tgm_core::descriptor::Dtype;
use tgm_grid::{Coordinates, Points, RegularGrid};
use tgm_std::Result;

use self::numbers::Numbers;
use crate::archive::bad;
use crate::dataset::Dataset;
use crate::indices::Indices;
use crate::label::duration;
use crate::labels::is_longitude;
use crate::model::{Attribute, Coordinate, Values, Variable};
use crate::moment::{NO_TIME, moment};

/// What is picked of one dimension, by labels. The text of one is `DIM=LABELS` or `DIM~LABEL`; the module says what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    dim: String,
    wanted: String,
    is_nearest: bool,
}

impl FromStr for Selector {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        const EXPECTED: &str = "expected DIM=LABEL, DIM=FIRST..LAST, DIM=A/B/C or DIM~LABEL";
        let at = text.find(['=', '~']).ok_or(EXPECTED)?;
        let (dim, wanted) = text.split_at_checked(at).ok_or(EXPECTED)?;
        let is_nearest = wanted.starts_with('~');
        let (dim, wanted) = (dim.trim(), wanted.get(1..).unwrap_or_default().trim());
        if dim.is_empty() || wanted.is_empty() {
            return Err(EXPECTED);
        }
        Ok(Self { dim: dim.into(), wanted: wanted.into(), is_nearest })
    }
}

impl Selector {
    /// The dimension.
    pub fn dim(&self) -> &str {
        &self.dim
    }

    /// The indices among the labels of a coordinate, or below `len` if there are no labels. `is_single` says that labels are stored
    /// as `float32`.
    fn resolve(&self, coordinate: Option<&Coordinate>, len: u64, is_single: bool) -> Result<Indices> {
        let circle = || coordinate.is_some_and(is_longitude).then_some(360.0);
        let found = match coordinate.map(|it| &it.values) {
            Some(Values::Texts(texts)) => self.texts(texts),
            Some(Values::Floats(numbers)) => self.numbers(&Numbers::new(numbers, circle(), is_single)),
            #[expect(clippy::cast_precision_loss, reason = "degrees are small")]
            Some(Values::Integers(numbers)) if circle().is_some() => {
                let numbers: Vec<f64> = numbers.iter().map(|number| *number as f64).collect();
                self.numbers(&Numbers::new(&numbers, circle(), false))
            }
            Some(Values::Integers(numbers)) => {
                let labels = numbers.iter().map(|number| Some(i128::from(*number)));
                self.whole(&labels, &|text| whole_numbers(text, self.is_nearest))
            }
            Some(Values::Durations(steps)) => {
                let labels = steps.iter().map(|step| (*step != NO_TIME).then(|| i128::from(*step)));
                self.whole(&labels, &|text| duration(text).map(|it| (it.into(), it.into())))
            }
            Some(Values::Times(times)) => {
                let last = |(start, end)| (start, end - 1);
                self.whole(&times.moments().iter().copied(), &|text| moment(text, times.calendar()).map(last))
            }
            None => self.places(len),
        };
        found.map_err(|why| {
            let Self { dim, wanted, .. } = self;
            let indices = || len.checked_sub(1).map_or("no index".into(), |last| format!("indices 0 to {last}"));
            let labels = coordinate.map_or_else(indices, described);
            bad(format!("{dim}: {wanted}: {why}; it has {labels}"))
        })
    }

    /// Indices of a dimension without labels. They are calculated, not searched for: a file may claim any length.
    fn places(&self, len: u64) -> Found {
        let last = len.checked_sub(1).ok_or("there are no labels")?;
        match self.parsed(&|text| text.parse::<i64>().ok())? {
            Wanted::One(index) if self.is_nearest => {
                Ok(Indices::Index(u64::try_from(index).map_or(0, |it| it.min(last))))
            }
            Wanted::Range(first, end) => {
                // The ends are given in any order.
                let (first, end) = match (first, end) {
                    (Some(first), Some(end)) if end < first => (Some(end), Some(first)),
                    ends => ends,
                };
                // What lies before the first index begins with it.
                let start = first.map_or(0, |first| u64::try_from(first).unwrap_or(0));
                let end = end.map_or(Some(last), |end| u64::try_from(end).ok().map(|end| end.min(last)));
                let steps = end.and_then(|end| end.checked_sub(start)).ok_or("no label lies in this range")?;
                let count = steps.checked_add(1).ok_or("the range has more indices than there are numbers")?;
                Ok(Indices::Range { start, count, step: NonZeroU64::MIN })
            }
            wanted => wanted.indices(
                |index| u64::try_from(index).ok().filter(|index| *index <= last).into_iter().collect(),
                |_, _| Vec::new(),
            ),
        }
    }

    fn texts(&self, texts: &[String]) -> Found {
        let one = |wanted: &str| texts.iter().position(|text| text == wanted).map(|at| at as u64);
        if let Some(index) = one(&self.wanted) {
            return Ok(Indices::Index(index));
        }
        let list = self.wanted.split('/').map(|wanted| one(wanted.trim())).collect::<Option<Vec<u64>>>();
        list.map(Indices::List).ok_or_else(|| "no such label".into())
    }

    /// Indices among numbers that are exact, some of which may be missing. `parse` gives the first and the last number that a text
    /// stands for.
    fn whole(
        &self,
        labels: &(impl Iterator<Item = Option<i128>> + Clone),
        parse: &dyn Fn(&str) -> Option<(i128, i128)>,
    ) -> Found {
        let known = || (0_u64..).zip(labels.clone()).filter_map(|(at, label)| Some((at, label?)));
        let among = |first: i128, last: i128| -> Vec<u64> {
            known().filter(|(_, label)| (first..=last).contains(label)).map(|(at, _)| at).collect()
        };
        let wanted = match self.parsed(parse)? {
            Wanted::One((first, last)) if self.is_nearest => {
                let far = |label: i128| {
                    if (first..=last).contains(&label) { 0 } else { label.abs_diff(first).min(label.abs_diff(last)) }
                };
                let found = known().min_by_key(|(_, label)| far(*label));
                return found.map(|(at, _)| Indices::Index(at)).ok_or_else(|| "there are no labels".into());
            }
            wanted => wanted,
        };
        wanted.indices(
            |(first, last)| among(first, last),
            |first, last| {
                let ends = (first.map_or(i128::MIN, |it| it.0), last.map_or(i128::MAX, |it| it.1));
                // The ends are given in any order.
                let turned = (last.map_or(i128::MIN, |it| it.0), first.map_or(i128::MAX, |it| it.1));
                if ends.0 <= ends.1 { among(ends.0, ends.1) } else { among(turned.0, turned.1) }
            },
        )
    }

    /// Indices among floats.
    fn numbers(&self, labels: &Numbers<'_>) -> Found {
        let wanted = match self.parsed(&|text| text.parse::<f64>().ok().filter(|number| number.is_finite()))? {
            Wanted::One(wanted) if self.is_nearest => {
                let found = labels.nearest(wanted).ok_or("there are no labels")?;
                return Ok(Indices::Index(found.0));
            }
            wanted => wanted,
        };
        wanted.indices(|wanted| labels.one(wanted), |first, last| labels.between(first, last))
    }

    /// What the text means, if `parse` reads labels.
    fn parsed<T>(&self, parse: &dyn Fn(&str) -> Option<T>) -> std::result::Result<Wanted<T>, String> {
        let text = self.wanted.as_str();
        if let Some(one) = parse(text) {
            return Ok(Wanted::One(one));
        }
        let unread = |text: &str| format!("{text} cannot be a label here");
        let read = |text: &str| parse(text.trim()).ok_or_else(|| unread(text.trim()));
        let end = |text: &str| if text.trim().is_empty() { Ok(None) } else { read(text).map(Some) };
        if let Some((first, last)) = text.split_once("..") {
            return Ok(Wanted::Range(end(first)?, end(last)?));
        }
        if text.contains('/') {
            return Ok(Wanted::List(text.split('/').map(read).collect::<std::result::Result<_, _>>()?));
        }
        // Times have colons of their own: the one that both sides can be read at.
        let cut = text.match_indices(':').find_map(|(at, _)| {
            let (first, last) = (text.get(..at)?, text.get(at + 1..)?);
            Some(Wanted::Range(end(first).ok()?, end(last).ok()?))
        });
        cut.ok_or_else(|| unread(text))
    }
}

/// The first and the last whole number that the text of a number stands for. For 849.5 these are 850 and 849: no label lies between
/// them, and a range begins with the first or ends with the last. With `is_nearest`, they are the nearest whole number.
#[expect(clippy::cast_possible_truncation, reason = "floats of up to 10^30 are whole numbers of 128 bits")]
fn whole_numbers(text: &str, is_nearest: bool) -> Option<(i128, i128)> {
    if let Ok(number) = text.parse::<i128>() {
        return Some((number, number));
    }
    let number = text.parse::<f64>().ok().filter(|number| number.abs() < 1e30)?;
    let (first, last) = if is_nearest { (number.round(), number.round()) } else { (number.ceil(), number.floor()) };
    Some((first as i128, last as i128))
}

/// Dimensions by their numbers, each with an index; latitude and longitude.
type NearestPoint = (Vec<(usize, u64)>, (f64, f64));

/// Indices, or why there are none.
type Found = std::result::Result<Indices, String>;

/// What a text asks for.
enum Wanted<T> {
    One(T),
    List(Vec<T>),
    Range(Option<T>, Option<T>),
}

impl<T: Copy> Wanted<T> {
    fn indices(self, one: impl Fn(T) -> Vec<u64>, range: impl Fn(Option<T>, Option<T>) -> Vec<u64>) -> Found {
        match self {
            Self::One(label) => match one(label).as_slice() {
                [] => Err("no such label".into()),
                [index] => Ok(Indices::Index(*index)),
                several => Ok(Indices::of_list(several.to_vec())),
            },
            Self::List(labels) => {
                let mut found = Vec::new();
                for label in labels {
                    match one(label).as_slice() {
                        [] => return Err("one of the labels is not there".into()),
                        some => found.extend_from_slice(some),
                    }
                }
                Ok(Indices::of_list(found))
            }
            Self::Range(first, last) => match range(first, last) {
                found if found.is_empty() => Err("no label lies in this range".into()),
                found => Ok(Indices::of_list(found)),
            },
        }
    }
}

/// The labels of a coordinate, in few words.
fn described(coordinate: &Coordinate) -> String {
    let values = &coordinate.values;
    let at = |at: usize| values.label(at).map_or_else(String::new, |label| label.to_string());
    match values.len() {
        0 => "no labels".into(),
        count @ 1..=6 => (0..count).map(at).collect::<Vec<_>>().join(", "),
        count => format!("{count} labels: {}, {} … {}", at(0), at(1), at(count - 1)),
    }
}

impl Indices {
    /// All indices of a dimension.
    pub fn all(len: u64) -> Self {
        Self::Range { start: 0, count: len, step: NonZeroU64::MIN }
    }

    /// These indices, as a range if they are one.
    fn of_list(list: Vec<u64>) -> Self {
        let step = match *list.as_slice() {
            [first, second, ..] => second.checked_sub(first).and_then(NonZeroU64::new),
            _ => NonZeroU64::new(1),
        };
        let Some((step, start)) = step.zip(list.first().copied()) else { return Self::List(list) };
        let is_even = list.array_windows().all(|[a, b]| b.checked_sub(*a) == Some(step.get()));
        if is_even { Self::Range { start, count: list.len() as u64, step } } else { Self::List(list) }
    }
}

impl Dataset {
    /// The indices that selectors pick of a variable, one for each dimension. A dimension without a selector is whole.
    ///
    /// A selector of a coordinate without dimension, such as the number of an only member, must be its label.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for an unknown variable, for a dimension that it lacks, and for labels that are not
    /// there, with the labels that are.
    pub fn select(&self, variable: &str, selectors: &[Selector]) -> Result<Vec<Indices>> {
        let variable = self.known(variable)?;
        let mut found: Vec<Indices> = variable.shape.iter().map(|len| Indices::all(*len)).collect();
        let is_single = |name: &str| self.variable(name).is_some_and(|it| it.dtype() == Some(Dtype::Float32));
        for selector in selectors {
            let at = variable.dims.iter().position(|dim| *dim == selector.dim);
            let coordinate = self.labels(&selector.dim)?;
            let is_scalar = |it: &Cow<'_, Coordinate>| it.dims.is_empty() && it.values.len() == 1;
            match (at, &coordinate) {
                (Some(at), _) => {
                    let labels = coordinate.as_deref().filter(|it| it.dims == [selector.dim.as_str()]);
                    let len = variable.shape.get(at).copied().unwrap_or(0);
                    let picked = selector
                        .resolve(labels, len, is_single(&selector.dim))
                        .map_err(|error| error.within(&variable.name))?;
                    if let Some(place) = found.get_mut(at) {
                        *place = picked;
                    }
                }
                (None, Some(coordinate)) if is_scalar(coordinate) => {
                    selector
                        .resolve(Some(coordinate), 1, is_single(&selector.dim))
                        .map_err(|error| error.within(&variable.name))?;
                }
                (None, _) => {
                    let (name, dim, dims) = (&variable.name, &selector.dim, variable.dims.join(", "));
                    return Err(bad(format!("{name} has no dimension {dim}; it has {dims}")));
                }
            }
        }
        Ok(found)
    }

    /// The point of a variable's grid that is nearest to a place in degrees: dimensions of the variable by their numbers, each
    /// with an index.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for an unknown variable, for one without latitudes and longitudes, and for a place
    /// outside of the grid; the errors of reading these.
    pub fn nearest(&self, variable: &str, latitude: f64, longitude: f64) -> Result<Vec<(usize, u64)>> {
        Ok(self.nearest_point(variable, latitude, longitude)?.0)
    }

    /// Latitude and longitude of the point that [`Self::nearest`] finds.
    ///
    /// # Errors
    /// As [`Self::nearest`].
    pub fn nearest_place(&self, variable: &str, latitude: f64, longitude: f64) -> Result<(f64, f64)> {
        Ok(self.nearest_point(variable, latitude, longitude)?.1)
    }

    fn nearest_point(&self, variable: &str, latitude: f64, longitude: f64) -> Result<NearestPoint> {
        let variable = self.known(variable)?;
        let name = &variable.name;
        let (latitudes, longitudes) = self
            .positions(&variable.name)?
            .ok_or_else(|| bad(format!("{name}: {}", spectral(variable).unwrap_or(UNPLACED))))?;
        let outside = || bad(format!("{name}: {latitude},{longitude} lies outside of the grid"));
        let (Some(of_latitudes), Some(of_longitudes)) = (numbers(&latitudes), numbers(&longitudes)) else {
            return Err(bad(format!("{name}: its latitudes and longitudes are not numbers")));
        };
        let dim = |of: &str| variable.dims.iter().position(|dim| dim == of);
        if let ([row], [column]) = (latitudes.dims.as_slice(), longitudes.dims.as_slice())
            && row != column
        {
            let grid = RegularGrid::of_axes((of_latitudes, of_longitudes), false);
            let (rows, columns) = grid.nearest(latitude, longitude).ok_or_else(outside)?;
            let dims = dim(row).map(|dim| (dim, rows)).into_iter().chain(dim(column).map(|dim| (dim, columns)));
            return Ok((dims.collect(), (grid.latitude(rows), grid.longitude(columns))));
        }
        let dims: Vec<usize> = latitudes.dims.iter().filter_map(|of| dim(of)).collect();
        let shape: Vec<u64> = dims.iter().filter_map(|dim| variable.shape.get(*dim)).copied().collect();
        let coordinates = Coordinates { latitudes: of_latitudes, longitudes: of_longitudes };
        let points = Points::new(coordinates, &shape).filter(|_| latitudes.dims == longitudes.dims);
        let points = points.ok_or_else(|| bad(format!("{name}: latitudes and longitudes have different shapes")))?;
        let found = points.nearest(latitude, longitude).ok_or_else(outside)?;
        let place = points.place(&found).ok_or_else(outside)?;
        Ok((dims.into_iter().zip(found).collect(), place))
    }

    /// Why a variable has no places, and what gives it some, if it is one of coefficients of GRIB. `None` for all others, and where
    /// coordinates say where its values are.
    ///
    /// # Errors
    /// As [`Self::grid_dims`].
    pub fn no_places(&self, variable: &str) -> Result<Option<&'static str>> {
        let variable = self.known(variable)?;
        let Some(why) = spectral(variable) else { return Ok(None) };
        Ok(self.positions(&variable.name)?.is_none().then_some(why))
    }

    /// The dimensions of a variable's grid, by their numbers: the dimensions of its latitudes and longitudes. `None` if no coordinates say
    /// where its values are.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for an unknown variable; the errors of reading coordinates.
    pub fn grid_dims(&self, variable: &str) -> Result<Option<Vec<usize>>> {
        let variable = self.known(variable)?;
        let Some((latitudes, longitudes)) = self.positions(&variable.name)? else { return Ok(None) };
        let is_of_grid = |dim: &String| latitudes.dims.contains(dim) || longitudes.dims.contains(dim);
        let dims = variable.dims.iter().enumerate().filter(|(_, dim)| is_of_grid(dim));
        Ok(Some(dims.map(|(at, _)| at).collect()))
    }

    /// The dimensions of a variable that `names` mean: [`GRID`] stands for [`Self::grid_dims`], unless it is a dimension of the variable.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for an unknown variable, and if nothing says where its values are; the errors of reading
    /// coordinates.
    pub fn meant_dims<'n>(&'n self, variable: &str, names: &'n [String]) -> Result<Vec<&'n str>> {
        let dims = &self.known(variable)?.dims;
        let mut meant = Vec::new();
        for name in names {
            if name != GRID || dims.contains(name) {
                meant.push(name.as_str());
                continue;
            }
            let grid = self.grid_dims(variable)?.ok_or_else(|| bad(format!("{variable}: {UNPLACED}")))?;
            meant.extend(grid.into_iter().filter_map(|at| dims.get(at)).map(String::as_str));
        }
        Ok(meant)
    }
}

/// The name that stands for all dimensions of a grid.
pub const GRID: &str = "grid";

const UNPLACED: &str = "no coordinates say where its values are";

/// Why the values of a variable have no places, if its attributes have the truncation of coefficients.
fn spectral(variable: &Variable) -> Option<&'static str> {
    let is_number =
        |(name, value): &(String, Attribute), word: &str| name == word && matches!(value, Attribute::Integer(_));
    tgm_grid::no_places(|word| variable.attributes.iter().any(|it| is_number(it, word)))
}

#[expect(clippy::cast_precision_loss, reason = "degrees are small")]
fn numbers(coordinate: &Coordinate) -> Option<Vec<f64>> {
    match &coordinate.values {
        Values::Floats(numbers) => Some(numbers.clone()),
        Values::Integers(numbers) => Some(numbers.iter().map(|number| *number as f64).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Calendar;
    use crate::moment::Times;

    fn list(indices: &Indices) -> Vec<u64> {
        (0..indices.count()).filter_map(|at| indices.at(at)).collect()
    }

    fn picked(name: &str, values: Values, text: &str) -> Result<Vec<u64>, String> {
        let count = values.len() as u64;
        let coordinate = Coordinate { name: name.into(), dims: vec![name.into()], values, attributes: Vec::new() };
        let selector: Selector = text.parse().map_err(str::to_string)?;
        selector.resolve(Some(&coordinate), count, false).map(|found| list(&found)).map_err(|error| error.to_string())
    }

    #[test]
    fn every_kind_of_label_is_picked_by_value_list_and_range() {
        let steps = || Values::Durations([0, 6, 12, 24].map(|hours| hours * 3600).to_vec());
        let times = || Values::Times(Times::of_seconds([0, 43_200, 86_400, 31 * 86_400]));
        let levels = || Values::Floats(vec![850.0, 500.0, 0.1]);
        let members = || Values::Integers(vec![0, 1, 2, i64::MAX]);
        let names = || Values::Texts(["a", "b/c", "d"].map(str::to_string).to_vec());
        let cases: Vec<(&str, Values, &str, &[u64])> = vec![
            ("step", steps(), "step=6", &[1]),
            ("step", steps(), "step=6h", &[1]),
            ("step", steps(), "step=0..12", &[0, 1, 2]),
            ("step", steps(), "step=12..0", &[0, 1, 2]),
            ("step", steps(), "step=12:", &[2, 3]),
            ("step", steps(), "step=24/0", &[3, 0]),
            ("step", steps(), "step~9h", &[1]),
            ("step", steps(), "step=360m", &[1]),
            ("time", times(), "time=1970-01-01", &[0, 1]),
            ("time", times(), "time=1970-01-01T12", &[1]),
            ("time", times(), "time=1970-01", &[0, 1, 2]),
            ("time", times(), "time=1970-01-01T12:00..1970-02-01", &[1, 2, 3]),
            ("time", times(), "time=1970-01-01T12:00:1970-01-02", &[1, 2]),
            ("time", times(), "time=19700102/19700101T00", &[2, 0]),
            ("level", levels(), "level=500", &[1]),
            ("level", levels(), "level=1000..500", &[0, 1]),
            ("level", levels(), "level=0.1", &[2]),
            ("level", levels(), "level=..500", &[1, 2]),
            ("level", levels(), "level~600", &[1]),
            ("number", members(), "number=0..1", &[0, 1]),
            ("number", members(), "number=2.0", &[2]),
            ("number", members(), "number=1e0/0.0", &[1, 0]),
            ("number", members(), "number=0.5..2.5", &[1, 2]),
            ("number", members(), "number=2.5..0.5", &[1, 2]),
            ("number", members(), "number~1.6", &[2]),
            ("number", members(), "number=9223372036854775807", &[3]),
            ("name", names(), "name=b/c", &[1]),
            ("name", names(), "name=d/a", &[2, 0]),
        ];
        for (name, values, text, expected) in cases {
            assert_eq!(picked(name, values, text), Ok(expected.to_vec()), "{text}");
        }
        for (name, values, text, why) in [
            ("step", steps(), "step=7", "no such label; it has 0, 6, 12, 24"),
            ("step", steps(), "step=7..8", "no label lies in this range"),
            ("step", steps(), "step=6/7", "one of the labels is not there"),
            ("step", steps(), "step=soon", "soon cannot be a label here"),
            ("time", times(), "time=1971", "1971 cannot be a label here"),
            ("number", members(), "number=9223372036854775806", "no such label"),
            ("number", members(), "number=0.5", "no such label"),
            ("number", members(), "number=0.2..0.8", "no label lies in this range"),
            ("number", members(), "number=nan", "cannot be a label"),
            ("level", levels(), "level=0.11", "no such label"),
            ("level", levels(), "level=500.0001", "no such label"),
            ("level", levels(), "level=nan", "cannot be a label"),
            ("name", names(), "name=a..d", "no such label"),
        ] {
            let error = picked(name, values, text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!("step".parse::<Selector>().is_err() && "=6".parse::<Selector>().is_err());
    }

    #[test]
    fn times_are_picked_to_the_nanosecond_in_their_calendar() {
        let (second, day) = (1_000_000_000, 86_400_000_000_000);
        let tenths =
            || Values::Times(Times::new(Calendar::Standard, [0, 1, 2, 3].map(|it| Some(it * second / 10)).to_vec()));
        let missing = || Values::Times(Times::of_seconds([0, NO_TIME, 60]));
        let months = |calendar| Values::Times(Times::new(calendar, [58, 59, 60].map(|it| Some(it * day)).to_vec()));
        let cases: Vec<(Values, &str, &[u64])> = vec![
            (tenths(), "time=1970-01-01T00:00:00", &[0, 1, 2, 3]),
            (tenths(), "time=1970-01-01T00:00:00.1", &[1]),
            (tenths(), "time=1970-01-01T00:00:00.0", &[0]),
            (tenths(), "time=1970-01-01T00:00:00.1..1970-01-01T00:00:00.2", &[1, 2]),
            (tenths(), "time=1970-01-01T00:00:00.2..", &[2, 3]),
            (tenths(), "time~1970-01-01T00:00:00.2", &[2]),
            (tenths(), "time~1970-01-01T00:00:00.26", &[3]),
            (missing(), "time=1970", &[]),
            (missing(), "time=..1970-01-01", &[0, 2]),
            (missing(), "time~1960-01-01", &[0]),
            (months(Calendar::Thirty), "time=1970-02-30", &[1]),
            (months(Calendar::Thirty), "time=1970-02", &[0, 1]),
            (months(Calendar::NoLeap), "time=1970-02-28..1970-03-01", &[0, 1]),
            (months(Calendar::NoLeap), "time=1970-02-30", &[]),
        ];
        for (values, text, expected) in cases {
            match expected {
                [] => assert!(picked("time", values, text).unwrap_err().contains("cannot be a label here"), "{text}"),
                _ => assert_eq!(picked("time", values, text), Ok(expected.to_vec()), "{text}"),
            }
        }
        let steps = Values::Durations(vec![0, NO_TIME]);
        assert_eq!(picked("step", steps, "step=.."), Ok(vec![0]));
    }

    /// The lengths are what files claim: nothing is as long as they are.
    #[test]
    fn a_dimension_without_labels_is_picked_by_index() {
        let range = |start, count| Ok(Indices::Range { start, count, step: NonZeroU64::MIN });
        let most = u64::MAX;
        let cases: [(&str, u64, Result<Indices, &str>); 16] = [
            ("x=2", 5, Ok(Indices::Index(2))),
            ("x=5", 5, Err("no such label; it has indices 0 to 4")),
            ("x=-1", 5, Err("no such label")),
            ("x=3/1", 5, Ok(Indices::List(vec![3, 1]))),
            ("x=3/5", 5, Err("one of the labels is not there")),
            ("x=1..3", 5, range(1, 3)),
            ("x=3..1", 5, range(1, 3)),
            ("x=-7..9", 5, range(0, 5)),
            ("x=..", 5, range(0, 5)),
            ("x=5..9", 5, Err("no label lies in this range")),
            ("x=-9..-7", 5, Err("no label lies in this range")),
            ("x~9", 5, Ok(Indices::Index(4))),
            ("x~-9", 5, Ok(Indices::Index(0))),
            ("x=0", 0, Err("there are no labels; it has no index")),
            ("x=7..", most, range(7, most - 7)),
            ("x=7", most, Ok(Indices::Index(7))),
        ];
        for (text, len, expected) in cases {
            let found = text.parse::<Selector>().unwrap().resolve(None, len, false).map_err(|error| error.to_string());
            match (found, expected) {
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{text}: {found}"),
                (found, expected) => assert_eq!(found, expected.map_err(str::to_string), "{text}"),
            }
        }
    }

    #[test]
    fn longitudes_go_around() {
        let globe = || Values::Floats((0..36).map(|at| f64::from(at) * 10.0).collect());
        for text in ["longitude=350..20", "longitude=-10:20", "longitude=350:380"] {
            assert_eq!(picked("longitude", globe(), text), Ok(vec![35, 0, 1, 2]), "{text}");
        }
        assert_eq!(picked("longitude", globe(), "longitude=-10"), Ok(vec![35]));
        assert_eq!(picked("longitude", globe(), "longitude~-3"), Ok(vec![0]));
        assert_eq!(picked("longitude", globe(), "longitude=0..360").map(|found| found.len()), Ok(36));
        let west = Values::Floats(vec![-20.0, -10.0, 0.0, 10.0]);
        assert_eq!(picked("longitude", west, "longitude=350..10"), Ok(vec![1, 2, 3]));
    }
}
