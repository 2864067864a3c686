//! A dataset, and how it is read.

use std::ffi::OsString;
use std::sync::Arc;

use tgm_std::{DecodeOptions, Result};
use zerocopy::{FromBytes, IntoBytes};

use crate::archive::{Archive, Entry, bad};
use crate::indices::Indices;
use crate::model::{Attributes, Content, Coordinate, Joined, LeftOut, Variable, product};
use crate::options::on_all_cores;
use crate::read;

/// Variables with their coordinates, over the objects of one or more archives.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// What is known of all of it.
    pub attributes: Attributes,
    /// Coordinates. In files they are among the variables.
    pub coordinates: Vec<Coordinate>,
    /// For fields on a plane or on a rotated globe: the grid mapping of CF as a variable of one number, and its y and x along the
    /// dimensions. Files have them beside latitude and longitude.
    pub projection: Vec<Coordinate>,
    /// Variables.
    pub variables: Vec<Variable>,
    /// What does not fit, and why. The first of several datasets lists what the others have.
    pub left_out: Vec<LeftOut>,
    /// What else is worth knowing, such as objects that are there twice.
    pub notes: Vec<String>,
    /// Keys of metadata that are in no name, dimension, coordinate and attribute, if options ask for them.
    pub unused_keys: Vec<String>,
    /// Dimensions that have no fixed length in the file of NetCDF that it came from.
    pub unlimited: Vec<String>,
    /// How many parts were appended to the file that it came from, complete or not.
    pub appended: usize,
    /// Whether it has variables of files, as NetCDF and Zarr have them, and not fields.
    pub is_of_files: bool,
    pub(crate) archive: Arc<Archive>,
}

impl Dataset {
    /// A dataset without variables.
    pub(crate) fn empty(archive: &Arc<Archive>) -> Self {
        Self {
            attributes: Vec::new(),
            coordinates: Vec::new(),
            projection: Vec::new(),
            variables: Vec::new(),
            left_out: Vec::new(),
            notes: Vec::new(),
            unused_keys: Vec::new(),
            unlimited: Vec::new(),
            appended: 0,
            is_of_files: false,
            archive: Arc::clone(archive),
        }
    }

    /// The variable of a name.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// The variable of a name.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] if there is none, with the names that there are.
    pub(crate) fn known(&self, name: &str) -> Result<&Variable> {
        self.variable(name).ok_or_else(|| {
            let names: Vec<&str> = self.variables.iter().map(|it| it.name.as_str()).collect();
            bad(format!("the dataset has no variable {name}; it has {}", names.join(", ")))
        })
    }

    /// Whether `float32` tells all elements of a variable apart, which are packed and decoded to `float64`: rounding moves none
    /// of them by more than a quarter of the distance to the next.
    pub fn fits_float32(&self, variable: &str) -> bool {
        let Some(variable) = self.variable(variable) else { return false };
        let fits = |object| self.archive.entry(object).is_ok_and(|(_, entry)| entry.fits_float32);
        variable.object_count() > 0
            && variable.all_pieces().flat_map(|pieces| &pieces.places).all(|(_, object)| fits(*object))
    }

    /// Bytes of the sources that belong to no message, in words: of each region its source, place and length. A damaged message
    /// is such a region.
    pub fn lost(&self) -> &[String] {
        &self.archive.lost
    }

    /// The path or the address of each source that was opened, in order, with its version: of a tree the files that were chosen. An
    /// address has its user, password and query. A version changes when the file is written, and is the same on all machines that
    /// share it; of a file on a server it is its `ETag`, or else its time of change, with its size. `None` where the system or the
    /// server does not tell.
    pub fn sources(&self) -> Vec<(OsString, Option<Vec<u8>>)> {
        let place = |archive: &tgm_std::Archive<'_>| archive.place().unwrap_or_else(|| archive.name().into());
        self.archive.sources.iter().map(|source| (place(source.archive()), source.version())).collect()
    }

    /// Where the first object of a variable is: the number of its source, of its message there, and its own in the message.
    /// `None` for texts, and for a variable without objects.
    pub fn first_object(&self, variable: &str) -> Option<(usize, usize, usize)> {
        let object =
            self.variable(variable)?.all_pieces().find_map(|pieces| pieces.places.first()).map(|(_, object)| *object);
        let (_, entry) = self.archive.entry(object?).ok()?;
        Some((entry.source as usize, entry.message as usize, entry.object as usize))
    }

    /// The variable that an object is, and the indices at which its values begin. The object is given as [`Self::first_object`] gives
    /// one. `None` for an object that is not a part of a variable, and for one of several files whose objects have different shapes.
    pub fn place_of(&self, (source, message, object): (usize, usize, usize)) -> Option<(&Variable, Vec<u64>)> {
        let is_it = |entry: &Entry| {
            (entry.source as usize, entry.message as usize, entry.object as usize) == (source, message, object)
        };
        let number = u32::try_from(self.archive.entries.iter().position(is_it)?).ok()?;
        self.variables.iter().find_map(|variable| {
            let Content::Pieces(pieces) = &variable.content else { return None };
            let mut place = pieces.places.iter().find(|(_, object)| *object == number)?.0;
            let counts = pieces.counts(&variable.shape);
            let mut indices: Vec<u64> = Vec::with_capacity(counts.len());
            for (count, chunk) in counts.iter().zip(&pieces.chunk).rev() {
                indices.push(place % (*count).max(1) * chunk);
                place /= (*count).max(1);
            }
            indices.reverse();
            Some((variable, indices))
        })
    }

    /// The coordinate that labels a dimension: the one of its name, or x and y of a plane. `None` without one.
    pub fn index(&self, dim: Option<&String>) -> Option<&Coordinate> {
        let dim = dim?;
        let is_along = |it: &&Coordinate| it.dims.len() == 1 && it.dims.first() == Some(dim);
        let named = self.coordinates.iter().find(|it| it.name == *dim && is_along(it));
        named.or_else(|| self.projection.iter().find(is_along))
    }

    /// The coordinate of a name.
    pub fn coordinate(&self, name: &str) -> Option<&Coordinate> {
        self.coordinates.iter().find(|coordinate| coordinate.name == name)
    }

    /// Writes what `indices` pick of a variable, one for each dimension, to all of `out`: row-major, in the byte order of the
    /// machine, a truth value in a byte. Places without an object get what [`Variable::hole`] says.
    ///
    /// Several objects are decoded side by side if the options allow threads. Only those parts of long objects are read that are
    /// picked. Besides the result this takes 32 MiB, and for each thread an object; from servers up to 32 objects are read at a
    /// time.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for an unknown variable, for indices beyond it, for `out` of another length, and for
    /// a hole that cannot be filled, and for a file that was written over since it was opened; the errors of reading and decoding, with
    /// the object.
    pub fn read_into(
        &self,
        variable: &str,
        indices: &[Indices],
        options: &DecodeOptions,
        out: &mut [u8],
    ) -> Result<()> {
        let variable = self.variable(variable).ok_or_else(|| bad(format!("the dataset has no variable {variable}")))?;
        read::read_into(&self.archive, variable, indices, options, out)
    }

    /// Checks that what `indices` pick of a variable is not nearly all holes, before memory is taken for it. [`Self::reduce`],
    /// [`Self::quantiles`] and [`Self::cut`] do so; a box that is read by [`Self::read_into`] is what the caller asked for.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for an unknown variable, and for more than 1000 places for each object of it, if these are
    /// more than 100,000.
    pub fn check_places(&self, variable: &str, indices: &[Indices]) -> Result<()> {
        read::check_places(self.known(variable)?, indices)
    }

    /// What `indices` pick of a variable, on all cores.
    ///
    /// # Errors
    /// As [`Self::read_into`]; [`tgm_std::TensogramError::Metadata`] if elements are not as long as a `T`.
    pub fn read<T: FromBytes + IntoBytes + Clone>(&self, variable: &str, indices: &[Indices]) -> Result<Vec<T>> {
        let dtype = self.variable(variable).and_then(Variable::dtype);
        if dtype.map(read::width) != Some(size_of::<T>()) {
            return Err(bad(format!("{variable}: elements are not of {} bytes", size_of::<T>())));
        }
        let counts: Vec<u64> = indices.iter().map(Indices::count).collect();
        let count = product(&counts).and_then(|count| usize::try_from(count).ok());
        let len = count.and_then(|count| count.checked_mul(size_of::<T>()));
        let len = len.ok_or_else(|| bad(format!("{variable}: {counts:?} values cannot be addressed")))?;
        let mut bytes = tgm_std::internal::reserve(len)?;
        self.read_into(variable, indices, &on_all_cores(), &mut bytes)?;
        let values = bytes
            .chunks_exact(size_of::<T>().max(1))
            .map(|value| T::read_from_bytes(value).map_err(|_| bad("a value is cut")));
        values.collect()
    }

    /// All values of a variable of the archive, as [`Self::read_into`] gives them, on all cores.
    ///
    /// # Errors
    /// As [`Self::read_into`].
    pub(crate) fn read_all(&self, variable: &Variable) -> Result<Vec<u8>> {
        let width = variable.dtype().map_or(0, read::width);
        let len = product(&variable.shape).and_then(|count| usize::try_from(count).ok()?.checked_mul(width));
        let len = len.ok_or_else(|| bad(format!("{}: its values cannot be addressed", variable.name)))?;
        let mut bytes = tgm_std::internal::reserve(len)?;
        let all: Vec<Indices> = variable.shape.iter().map(|len| Indices::all(*len)).collect();
        read::read_into(&self.archive, variable, &all, &on_all_cores(), &mut bytes)?;
        Ok(bytes)
    }

    /// The places without an object, in words: `t step=24 isobaricInhPa=500`. At most `most` of them.
    pub fn holes(&self, most: usize) -> Vec<String> {
        let mut found = Vec::new();
        for variable in &self.variables {
            self.add_holes(variable, &[], most, &mut found);
        }
        found
    }

    /// Adds the holes of a variable, or of the part of one that begins at other indices: `starts` has some of its dimensions.
    fn add_holes(&self, variable: &Variable, starts: &[(&str, u64)], most: usize, found: &mut Vec<String>) {
        if let Content::Joined(Joined { axis, parts, .. }) = &variable.content {
            for (start, part) in parts {
                let along = variable.dims.get(*axis).map(|dim| (dim.as_str(), *start));
                let starts: Vec<_> = starts.iter().copied().chain(along).collect();
                self.add_holes(part, &starts, most, found);
            }
        }
        let Content::Pieces(pieces) = &variable.content else { return };
        if variable.hole_count() == 0 {
            return;
        }
        let counts = pieces.counts(&variable.shape);
        let mut known = pieces.places.iter().map(|(place, _)| *place).peekable();
        let total = product(&counts).unwrap_or(0);
        for place in (0..total).filter(|place| known.next_if_eq(place).is_none()) {
            if found.len() >= most {
                return;
            }
            found.push(self.words(variable, &counts, starts, place));
        }
    }

    fn words(&self, variable: &Variable, counts: &[u64], starts: &[(&str, u64)], mut place: u64) -> String {
        let mut words = Vec::new();
        for (dim, count) in variable.dims.iter().zip(counts).rev() {
            let index = place % (*count).max(1);
            place /= (*count).max(1);
            let start = starts.iter().find(|(known, _)| known == dim).map(|(_, start)| *start);
            if *count > 1 || start.is_some() {
                let index = index.saturating_add(start.unwrap_or(0));
                let label = self.coordinate(dim).and_then(|it| it.values.label(usize::try_from(index).ok()?));
                words.push(format!("{dim}={}", label.map_or_else(|| format!("#{index}"), |label| label.to_string())));
            }
        }
        words.push(variable.name.clone());
        words.reverse();
        words.join(" ")
    }
}
