//! The picture of a box of a dataset: a field over many messages, or a series.

use tgm_dataset::{Dataset, Indices, Variable};
use tgm_std::{DecodeOptions, TensogramError};

use crate::args::cube::{CubeFlags, Point};
use crate::read::cubes::{pick_nearest, with_variable};
use crate::show::text::escape;
use tgm_plot::axis::{latitude, longitude};
use tgm_plot::caption::details;
use tgm_plot::described::Picked;
use tgm_plot::drawing::{Look, Texts};
use tgm_plot::picture::{Picture, Sheet};
use tgm_plot::wind::Wind;

type Result<T> = std::result::Result<T, TensogramError>;

/// What a picture of a dataset is to show.
#[derive(Clone, Copy)]
pub(crate) struct CubeWish<'a> {
    pub(crate) cube: &'a CubeFlags,
    /// The dimensions that a series runs along.
    pub(crate) over: &'a [String],
    pub(crate) nearest: Option<Point>,
    /// The variables whose arrows are drawn: to the east, and to the north.
    pub(crate) arrows: Option<&'a [String; 2]>,
    pub(crate) look: Look<'a>,
}

/// A wind, and its speeds in the order of its values.
struct Speeds {
    wind: Wind,
    speeds: Vec<f64>,
}

/// Reads the values of a box.
fn read(picked: &Picked<'_>, options: &DecodeOptions) -> Result<Vec<f64>> {
    let Picked { dataset, variable, picks } = picked;
    let name = &variable.name;
    let count = picks.iter().try_fold(1_u64, |all, picks| all.checked_mul(picks.count()));
    let count = count.and_then(|count| usize::try_from(count).ok());
    let count = count.ok_or_else(|| refused(format!("{name}: too many values for this machine")))?;
    let mut values: Vec<f64> = Vec::new();
    values.try_reserve_exact(count).map_err(|_| refused(format!("{name}: no memory for {count} values")))?;
    values.resize(count, 0.0);
    dataset.read_floats_into::<f64>(name, picks, options, &mut values)?;
    Ok(values)
}

fn refused(text: impl Into<String>) -> TensogramError {
    TensogramError::Metadata(text.into().into())
}

impl CubeWish<'_> {
    /// The picture.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for a selection that is not a field or a line, and for a variable that is not there; the errors of
    /// reading.
    pub(crate) fn picture(&self, datasets: &[Dataset], options: &DecodeOptions) -> Result<Picture> {
        let wind = self.arrows.map(|names| self.wind(datasets, names, options)).transpose()?;
        let (dataset, variable) = self.variable(datasets)?;
        let name = &variable.name;
        let mut picks = dataset.select(name, &self.cube.selectors)?;
        let mut point = None;
        if let Some(Point(north, east)) = self.nearest {
            let found = pick_nearest(dataset, variable, (north, east), self.over, &mut picks)?;
            let degrees = [found.latitude.map(latitude), found.longitude.map(longitude)];
            point = Some(degrees.into_iter().flatten().collect::<Vec<_>>().join(" "));
        }
        self.check_places(dataset, name, &picks)?;
        self.check(dataset, variable, &mut picks)?;
        let picked = Picked { dataset, variable, picks: &picks };
        let sides = picks.iter().filter(|picks| !matches!(picks, Indices::Index(_)));
        let shape: Vec<u64> = sides.map(Indices::count).collect();
        let mut values = read(&picked, options)?;
        let mut details = details(&picked)?;
        if let Some(point) = point {
            // The place says it better than its latitude and its longitude.
            details.retain(|detail| !point.split(' ').any(|degrees| degrees == detail));
            details.insert(0, point);
        }
        let of = |name| picked.text(name).map(escape).unwrap_or_default();
        let mut texts = Texts {
            name: escape(name),
            long_name: of("long_name"),
            standard_name: of("standard_name"),
            details: details.iter().map(|detail| escape(detail)).collect(),
            units: of("units"),
        };
        match (&wind, self.arrows, &self.cube.cube) {
            (Some(_), Some([east, north]), Some(_)) => {
                texts.details.push(escape(&format!("arrows of {east}, {north}")));
            }
            // Arrows alone lie over their speed.
            (Some(wind), Some([east, north]), None) => {
                values.clone_from(&wind.speeds);
                texts = Texts {
                    name: escape(&format!("{east}, {north}")),
                    long_name: "speed".into(),
                    standard_name: String::new(),
                    ..texts
                };
            }
            _ => {}
        }
        let is_field = shape.len() == 2 || picked.is_of_grid()?;
        let sheet = |values: &[f64]| if is_field { picked.sheet(values).map(Some) } else { Ok(None) };
        let axis = picked.line_axis()?;
        self.look.picture(values, &shape, texts, sheet, wind.as_ref().map(|wind| &wind.wind), || axis)
    }

    /// The wind of two variables, at the labels that are selected.
    fn wind(&self, datasets: &[Dataset], [east, north]: &[String; 2], options: &DecodeOptions) -> Result<Speeds> {
        let of = |name: &str| -> Result<(Sheet, Vec<f64>, String)> {
            let (dataset, variable) = with_variable(datasets, name)?;
            let mut picks = dataset.select(name, &self.cube.selectors)?;
            self.check_places(dataset, name, &picks)?;
            self.check(dataset, variable, &mut picks)?;
            let picked = Picked { dataset, variable, picks: &picks };
            let values = read(&picked, options)?;
            let units = picked.text("units").map(escape).unwrap_or_default();
            Ok((picked.sheet(&values)?, values, units))
        };
        let ((east_sheet, easts, units), (north_sheet, norths, other)) = (of(east)?, of(north)?);
        if units != other || easts.len() != norths.len() {
            return Err(refused(format!("{east} and {north} are not a wind: their units or their grids differ")));
        }
        let speeds = easts.iter().zip(&norths).map(|(east, north)| east.hypot(*north)).collect();
        Ok(Speeds { wind: Wind { east: east_sheet, north: north_sheet, units }, speeds })
    }

    /// The variable that is named, or the only one.
    fn variable<'d>(&self, datasets: &'d [Dataset]) -> Result<(&'d Dataset, &'d Variable)> {
        let wished = self.cube.cube.as_ref().or_else(|| self.arrows.map(|[east, _]| east));
        if let Some(name) = wished {
            return with_variable(datasets, name);
        }
        let mut found = Vec::new();
        for dataset in datasets {
            let coordinates = dataset.coordinate_names();
            let is_value = |it: &&Variable| it.dtype().is_some() && !coordinates.contains(it.name.as_str());
            let has_all = |it: &&Variable| self.over.iter().all(|dim| it.dims.contains(dim));
            found.extend(dataset.variables.iter().filter(is_value).filter(has_all).map(|variable| (dataset, variable)));
        }
        match found.as_slice() {
            [only] => Ok(*only),
            [] => Err(refused(format!("no variable has the dimension {}", self.over.join(" and ")))),
            several => {
                let names: Vec<&str> = several.iter().map(|(_, variable)| variable.name.as_str()).collect();
                Err(refused(format!("--cube NAME says which of {} is drawn", names.join(", "))))
            }
        }
    }

    /// Refuses fields of coefficients. Each coefficient alone, and what `over` asks for, can be drawn.
    fn check_places(&self, dataset: &Dataset, name: &str, picks: &[Indices]) -> Result<()> {
        let is_field = self.over.is_empty() && picks.last().is_some_and(|picks| picks.count() > 1);
        match dataset.no_places(name)?.filter(|_| is_field) {
            Some(why) => Err(refused(format!("{name}: {why}"))),
            None => Ok(()),
        }
    }

    /// Makes single labels of dimensions that are not drawn. What is left is a series along `over`, or a field.
    fn check(&self, dataset: &Dataset, variable: &Variable, picks: &mut [Indices]) -> Result<()> {
        let name = &variable.name;
        if let Some(dim) = self.over.iter().find(|dim| !variable.dims.contains(dim)) {
            return Err(refused(format!("{name} has no dimension {dim}; it has {}", variable.dims.join(", "))));
        }
        let grid = dataset.grid_dims(name)?.unwrap_or_default();
        let is_drawn = |at: usize, dim: &String| {
            if self.over.is_empty() { grid.contains(&at) } else { self.over.contains(dim) }
        };
        for (at, (pick, dim)) in picks.iter_mut().zip(&variable.dims).enumerate() {
            if let (1, Some(index), false) = (pick.count(), pick.at(0), is_drawn(at, dim)) {
                *pick = Indices::Index(index);
            }
        }
        let many: Vec<(usize, &String, u64)> = picks
            .iter()
            .zip(&variable.dims)
            .enumerate()
            .filter(|(_, (pick, _))| !matches!(pick, Indices::Index(_)))
            .map(|(at, (pick, dim))| (at, dim, pick.count()))
            .collect();
        let is_fine = if self.over.is_empty() && !grid.is_empty() {
            many.iter().all(|(at, dim, _)| is_drawn(*at, dim))
        } else if self.over.is_empty() {
            many.len() <= 2
        } else {
            many.len() <= 2 && many.iter().all(|(at, dim, _)| is_drawn(*at, dim))
        };
        if is_fine {
            return Ok(());
        }
        let rest: Vec<String> = many
            .iter()
            .filter(|(at, dim, _)| !is_drawn(*at, dim) || self.over.len() > 2)
            .map(|(_, dim, count)| format!("{count} of {dim}"))
            .collect();
        let advice = if self.over.is_empty() { "" } else { ", and --nearest LAT,LON a point" };
        Err(refused(format!(
            "{name}: too many labels for a picture: {}; --sel DIM=LABEL picks one{advice}",
            rest.join(", ")
        )))
    }

    /// Whether any of the flags asks for a dataset.
    pub(crate) fn is_asked_for(&self) -> bool {
        self.cube.cube.is_some()
            || !self.cube.selectors.is_empty()
            || !self.over.is_empty()
            || self.nearest.is_some()
            || self.arrows.is_some()
    }
}
