//! Variables whose values are several objects.

use std::collections::BTreeMap;

use tgm_core::object::DataObject;
use tgm_std::{GlobalMetadata, Result};

use super::{NetcdfWriter, extent, names_of_dimensions};
use crate::names::of_object;
use crate::note::Note;
use crate::pieces::Piece;

/// A variable whose values are several objects.
pub(super) struct Pieced {
    /// The numbers of its objects.
    objects: Vec<usize>,
    /// Whether all of them become the stored numbers again that they were, when that was asked.
    packs: Option<bool>,
    variable: Made,
}

/// The variable in the file.
enum Made {
    Not,
    /// It cannot be made, which was told.
    Refused,
    /// Its path.
    As(String),
}

impl Pieced {
    /// The variables of a message, by the number of the first object of each.
    pub(super) fn of(pieces: &[Option<(usize, Piece)>]) -> BTreeMap<usize, Self> {
        let mut all: BTreeMap<usize, Self> = BTreeMap::new();
        for (index, place) in pieces.iter().enumerate() {
            if let Some((first, _)) = place {
                let new = || Self { objects: Vec::new(), packs: None, variable: Made::Not };
                all.entry(*first).or_insert_with(new).objects.push(index);
            }
        }
        all
    }
}

impl NetcdfWriter {
    /// Writes a piece of an array to its variable, which the first one that can be read makes.
    pub(super) fn write_piece(
        &mut self,
        (object, piece): (&DataObject<'_>, &Piece),
        (global, objects): (&GlobalMetadata, &[DataObject<'_>]),
        place: &str,
        array: &mut Pieced,
        report: &mut dyn FnMut(Note),
    ) -> Result<()> {
        let first = array.objects.first().copied().unwrap_or_default();
        // What one piece needs to be packed, another may lack. What cannot be read is told when its turn comes.
        let mut own = array.objects.iter().filter_map(|number| objects.get(*number));
        let packs = *array.packs.get_or_insert_with(|| {
            own.all(|object| self.values(object, (global, first), true).map_or(true, |values| values.is_packed_as_told))
        });
        let values = match self.values(object, (global, first), packs) {
            Ok(values) => values,
            Err(error) => {
                report(Note::failed(place, error));
                return Ok(());
            }
        };
        if matches!(array.variable, Made::Not) {
            let name = of_object(global, first, self.options.name_key.as_deref());
            let name = name.unwrap_or_else(|| format!("object_{}_{first}", self.messages - 1));
            let variable = (names_of_dimensions((global, &self.axes), first, &piece.whole), Some(&piece.chunk[..]));
            array.variable = match self.add_variable((&name, place), &values, variable, (global, first), report) {
                Ok(path) => Made::As(path),
                // Such as too many dimensions.
                Err(error) => {
                    report(Note::failed(place, error));
                    Made::Refused
                }
            };
        }
        let Made::As(path) = &array.variable else { return Ok(()) };
        let extents = piece.origin.iter().zip(&values.shape).map(|(start, len)| extent(*start, *len)).collect();
        self.put(path.clone(), values, extents)
    }
}
