//! The objects of a variable as they lie, for readers that take them as chunks.

use std::ops::Range;

use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::archive::Object;
use tgm_std::codec::threads::Threads;
use tgm_std::deps::ciborium::Value;
use tgm_std::{DataObjectDescriptor, DecodeOptions, Result};

use crate::archive::bad;
use crate::dataset::Dataset;
use crate::model::{Content, Pieces};

/// How the values of an object are stored: what a reader must know to decode its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The type of the elements, before values are unpacked.
    pub dtype: Dtype,
    /// Their byte order.
    pub byte_order: ByteOrder,
    /// The first stage.
    pub encoding: String,
    /// The second stage.
    pub filter: String,
    /// The third stage.
    pub compression: String,
    /// The bytes of an element that are shuffled, if they are.
    pub shuffle_element_size: Option<u64>,
    /// Whether values that are not finite lie in masks beside the payload.
    pub has_masks: bool,
}

impl Stored {
    fn of(descriptor: &DataObjectDescriptor) -> Self {
        let size = descriptor.params.get("shuffle_element_size").and_then(Value::as_integer);
        Self {
            dtype: descriptor.dtype,
            byte_order: descriptor.byte_order,
            encoding: descriptor.encoding.clone(),
            filter: descriptor.filter.clone(),
            compression: descriptor.compression.clone(),
            shuffle_element_size: size.and_then(|size| u64::try_from(size).ok()),
            has_masks: descriptor.masks.is_some(),
        }
    }
}

impl Dataset {
    /// The pieces of a variable. `None` for texts.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for an unknown variable, and for one of several files that are not one array.
    fn pieces_of(&self, variable: &str) -> Result<Option<&Pieces>> {
        match &self.known(variable)?.content {
            Content::Pieces(pieces) => Ok(Some(pieces)),
            Content::Texts(_) => Ok(None),
            Content::Joined(_) | Content::Held(_) => Err(bad(format!(
                "{variable}: its objects have other shapes in other files, and are not chunks of one array"
            ))),
        }
    }

    /// The numbers of pieces along each dimension of a variable. None for texts.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for an unknown variable, and for one that goes on in files with other pieces
    /// ([`Variable::seams`](crate::Variable::seams)).
    pub fn piece_counts(&self, variable: &str) -> Result<Vec<u64>> {
        let shape = &self.known(variable)?.shape;
        Ok(self.pieces_of(variable)?.map_or_else(Vec::new, |pieces| pieces.counts(shape)))
    }

    /// The row-major numbers of the pieces of a variable that have an object, in order.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for an unknown variable, and for one that goes on in files with other pieces
    /// ([`Variable::seams`](crate::Variable::seams)).
    pub fn piece_numbers(&self, variable: &str) -> Result<Vec<u64>> {
        let pieces = self.pieces_of(variable)?;
        Ok(pieces.map_or_else(Vec::new, |pieces| pieces.places.iter().map(|(place, _)| *place).collect()))
    }

    /// Whether an object is at a piece of a variable.
    ///
    /// # Errors
    /// As [`Self::piece_numbers`].
    #[cfg(feature = "json")]
    pub(crate) fn has_piece(&self, variable: &str, piece: u64) -> Result<bool> {
        let is_there = |pieces: &Pieces| pieces.places.binary_search_by_key(&piece, |(place, _)| *place).is_ok();
        Ok(self.pieces_of(variable)?.is_some_and(is_there))
    }

    /// The frame of the object at a piece of a variable, as it is in the file. `None` where no object is.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for an unknown variable, and for a file that was cut; the errors of reading.
    pub fn piece_frame(&self, variable: &str, piece: u64) -> Result<Option<Vec<u8>>> {
        let Some(pieces) = self.pieces_of(variable)? else { return Ok(None) };
        let Ok(at) = pieces.places.binary_search_by_key(&piece, |(place, _)| *place) else { return Ok(None) };
        let Some((_, number)) = pieces.places.get(at) else { return Ok(None) };
        let (source, entry) = self.archive.entry(*number)?;
        let len = usize::try_from(entry.length).map_err(|_| bad("a frame is too long"))?;
        let mut bytes = tgm_std::internal::reserve(len)?;
        let read = source.archive().read_at(entry.offset, &mut bytes)?;
        source.check(entry)?;
        if read != len {
            return Err(bad(format!("{} ends before the object", source.archive().name())));
        }
        Ok(Some(bytes))
    }

    /// Where the payload of the object at a piece of a variable is: the number of its source, and its bytes there. `None` where no
    /// object is. Reads the end of the frame, or all of it if the descriptor comes first.
    ///
    /// # Errors
    /// As [`Self::piece_frame`], and the errors of the frame.
    pub fn piece_payload(&self, variable: &str, piece: u64) -> Result<Option<(usize, Range<u64>)>> {
        let Some(pieces) = self.pieces_of(variable)? else { return Ok(None) };
        let found = pieces.places.binary_search_by_key(&piece, |(place, _)| *place).ok();
        let Some((_, number)) = found.and_then(|at| pieces.places.get(at)) else { return Ok(None) };
        let (source, entry) = self.archive.entry(*number)?;
        let place = source.with_object(entry, Object::payload_place)?;
        Ok(Some((entry.source as usize, place)))
    }

    /// How all objects of a variable are stored. `None` if they differ, if they hold integers that a scale makes values of, and for
    /// a variable without objects. Reads the descriptor of each object.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] for an unknown variable; the errors of reading.
    pub fn stored(&self, variable: &str, options: &DecodeOptions) -> Result<Option<Stored>> {
        let Some(pieces) = self.pieces_of(variable)? else { return Ok(None) };
        if pieces.packed.is_some() {
            return Ok(None);
        }
        let of = |number: u32| -> Result<Stored> {
            let (source, entry) = self.archive.entry(number)?;
            Ok(Stored::of(&source.with_object(entry, Object::descriptor)?))
        };
        let Some((_, first)) = pieces.places.first() else { return Ok(None) };
        let first = of(*first)?;
        let threads = Threads::resolve(options.threads, 1, Some(0))?;
        let shares: Vec<_> = pieces.places.chunks(256).collect();
        let same = threads.map(&shares, |share| {
            share
                .iter()
                .try_fold(true, |all, (_, number)| Ok::<_, tgm_std::TensogramError>(all && of(*number)? == first))
        })?;
        Ok(same.into_iter().all(|same| same).then_some(first))
    }
}
