//! The picture of one object, or of a part of it.

use std::sync::Arc;

use serde_json::Value as Json;
use tgm_core::Message;
use tgm_core::metadata::NAME_KEYS;
use tgm_core::selection::Pick;
use tgm_dataset::{Dataset, Indices, of_object};
use tgm_grid::KnownPoints;
use tgm_std::decode::{Picks, selection};
use tgm_std::{DecodeOptions, TensogramError};

use crate::read::about::UNITS;
use crate::read::digests::Digests;
use crate::read::elements::parts;
use crate::read::entry::Entry;
use crate::read::objects::{find, no_object};
use crate::read::select::{Scope, annotations, text};
use crate::read::structure::Structure;
use crate::read::unpacked::Unpacked;
use crate::show::summary::shape_text;
use crate::show::text::escape;
use tgm_plot::axis::Axis;
use tgm_plot::caption::details;
use tgm_plot::described::Picked;
use tgm_plot::drawing::{Look, Texts};
use tgm_plot::field::Field;
use tgm_plot::picture::{Picture, Sheet};

/// What a picture of an object is to show.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wish<'a> {
    /// The number of the object in its message.
    pub(crate) object: usize,
    /// The part of the object.
    pub(crate) slice: Option<&'a Picks>,
    /// How it is drawn.
    pub(crate) look: Look<'a>,
    /// The points of an unstructured grid.
    pub(crate) grid: Option<&'a Arc<KnownPoints>>,
}

/// The values of a picture, and what is known of them.
pub(crate) struct Selected<'a> {
    wish: Wish<'a>,
    pub(crate) values: Vec<f64>,
    shape: Vec<u64>,
    /// The object as a dataset. `None` if its metadata do not make one.
    dataset: Option<Dataset>,
    picks: Vec<Indices>,
    name: String,
    units: String,
    place: String,
    /// The numbers of the message and the object, where the source of its coordinates is to be asked for them.
    unplaced: Option<(usize, usize)>,
}

impl<'a> Wish<'a> {
    /// The values.
    ///
    /// # Errors
    /// The errors of finding, checking and decoding the object; complex numbers.
    pub(crate) fn selected(
        self,
        entry: &Entry<'_>,
        digests: Digests,
        options: &DecodeOptions,
    ) -> Result<Selected<'a>, TensogramError> {
        let message = Message::parse(entry.bytes)?;
        let metadata = digests.metadata(&message)?;
        let object = find(&message, self.object)?;
        let about = metadata.object(self.object)?.ok_or_else(|| no_object(metadata.object_count()))?;
        digests.of(&message)?.check(self.object, object.frame())?;
        let descriptor = object.descriptor();
        if parts(descriptor.dtype()) == 2 {
            return Err(TensogramError::Object("complex numbers have no picture".into()));
        }
        let whole: Vec<u64> = descriptor.shape().iter().collect();
        let (shape, bytes, picks) = match self.slice {
            Some(picks) => {
                let picks = picks.resolve(descriptor.shape().iter())?;
                let shape: Vec<u64> = selection(descriptor, &picks)?.shape().collect();
                (shape, tgm_std::read(&object).select(&picks).options(options).bytes()?, picks)
            }
            None => (whole.clone(), tgm_std::read(&object).options(options).bytes()?, vec![Pick::All; whole.len()]),
        };
        let mut values = Vec::new();
        let unpacked = Unpacked::amounts(descriptor, &about, bytes)?;
        unpacked.elements(shape.iter().product()).for_each(|value| values.push(value));
        let annotations = annotations(&metadata, NAME_KEYS.into_iter().chain(UNITS))?;
        let scope = Scope::Object(&about, &annotations, Structure::new(&message, entry));
        let shown = |value: Option<Json>| value.map_or(String::new(), |value| escape(&text(&value)));
        // A picture needs neither places nor details, so that wrong ones do not matter, and ones beyond the limits.
        let places = whole.iter().try_fold(2 * size_of::<f64>() as u64, |len, side| len.checked_mul(*side));
        let fits = places.is_some_and(|len| options.limits.check_bytes(entry.bytes.len() as u64, len).is_ok());
        let of_object = || of_object(&metadata, self.object, descriptor, self.grid.cloned());
        // What was named has to be right.
        let dataset = match fits.then(of_object).transpose() {
            Err(error) if self.grid.is_some() => return Err(error),
            found => found.ok().flatten(),
        };
        let is_of_file = dataset.as_ref().is_some_and(|dataset| dataset.is_of_files);
        Ok(Selected {
            wish: self,
            values,
            picks: picks.iter().zip(&whole).map(|(pick, len)| indices(*pick, *len)).collect(),
            dataset: dataset.filter(|it| it.variables.first().is_some_and(|it| it.shape == whole)),
            name: shown(scope.first(&NAME_KEYS)?),
            units: shown(scope.first(&UNITS)?),
            place: format!("message {}, object {}, {}", entry.index, self.object, shape_text(&shape)),
            unplaced: entry.index.0.filter(|_| is_of_file).map(|message| (message, self.object)),
            shape,
        })
    }
}

impl Selected<'_> {
    /// The least and the greatest value, or the range that is asked for.
    #[cfg(feature = "browse")]
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        self.wish.look.range(&self.values)
    }

    /// The numbers of the message and the object, if coordinates of it are other objects of its file.
    pub(crate) const fn unplaced(&self) -> Option<(usize, usize)> {
        self.unplaced
    }

    /// Takes coordinates from the datasets of its file, if the object is all of a variable there.
    pub(crate) fn place(&mut self, (message, object): (usize, usize), datasets: Vec<Dataset>) {
        let is_it = |dataset: &Dataset, variable: &tgm_dataset::Variable| {
            dataset.first_object(&variable.name) == Some((0, message, object)) && variable.object_count() == 1
        };
        for mut dataset in datasets {
            if let Some(at) = dataset.variables.iter().position(|variable| is_it(&dataset, variable)) {
                dataset.variables.swap(0, at);
                self.dataset = Some(dataset);
                return;
            }
        }
    }

    /// The picture.
    ///
    /// # Errors
    /// [`TensogramError::Object`] for more than two dimensions, for no values, and for units that these cannot have.
    pub(crate) fn picture(self) -> Result<Picture, TensogramError> {
        let Self { wish, values, shape, dataset, picks, name, units, place, .. } = self;
        let variable = dataset.as_ref().and_then(|dataset| Some((dataset, dataset.variables.first()?)));
        if let Some((dataset, variable)) = variable
            && let Some(why) = dataset.no_places(&variable.name)?
        {
            return Err(TensogramError::Object(why.into()));
        }
        let picked = variable.map(|(dataset, variable)| Picked { dataset, variable, picks: &picks });
        let picked = picked.filter(|picked| picked.variable.dims.len() == picks.len());
        let of = |name| picked.and_then(|picked| picked.text(name)).map(escape).unwrap_or_default();
        let units = if units.is_empty() { of("units") } else { units };
        let mut details = picked.and_then(|picked| details(&picked).ok()).unwrap_or_default();
        for detail in &mut details {
            *detail = escape(detail);
        }
        details.push(place);
        let texts = Texts { name, long_name: of("long_name"), standard_name: of("standard_name"), details, units };
        let sheet = |values: &[f64]| -> Result<Option<Sheet>, TensogramError> {
            // Points of a grid in one dimension are a field too, if all of them are there.
            let is_field = picked.is_some_and(|picked| picked.is_of_grid().unwrap_or(false)) || shape.len() == 2;
            let found = picked.filter(|_| is_field).and_then(|picked| picked.sheet(values).ok());
            Ok(match (found, shape.as_slice()) {
                (Some(sheet), _) => Some(sheet),
                (None, [rows, columns]) => {
                    let count = |len: &u64| usize::try_from(*len).unwrap_or(usize::MAX);
                    let (rows, columns) = (count(rows), count(columns));
                    let field = Field::new(rows, columns, values.to_vec()).ok_or_else(no_values)?;
                    Some(Sheet { field, axes: [Axis::Cells(rows), Axis::Cells(columns)], map: None, inside: None })
                }
                (None, _) => None,
            })
        };
        let axis = || picked.and_then(|picked| picked.line_axis().ok().flatten());
        wish.look.picture(values, &shape, texts, sheet, None, axis)
    }
}

fn no_values() -> TensogramError {
    TensogramError::Object("there are no values".into())
}

/// A pick as indices of a dataset.
fn indices(pick: Pick, len: u64) -> Indices {
    match pick {
        Pick::Index(index) => Indices::Index(index),
        Pick::All => Indices::all(len),
        Pick::Range { start, end, step } => {
            let count = end.min(len).saturating_sub(start).div_ceil(step.get());
            Indices::Range { start, count, step }
        }
    }
}
