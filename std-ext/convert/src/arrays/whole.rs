//! Whole arrays out of objects that are pieces of them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::internal::reserve;
use tgm_std::{Result, TensogramError};

use super::{Array, Arrays, NotKept, byte_len, pack_bools, refused, unpack_bools};
use crate::pieces::{self, Piece, copy_box};

impl Arrays<'_> {
    /// The arrays with one for all pieces of an array, in the place of the first. Pieces of which some are missing stay as they are,
    /// which is listed in `not_kept`.
    ///
    /// # Errors
    /// [`TensogramError::Object`] for an array that is larger than memory.
    pub fn whole(mut self) -> Result<Self> {
        let shapes = self
            .arrays
            .iter()
            .map(|array| (Some(&array.metadata), array.descriptor.shape.clone(), array.descriptor.dtype));
        let (places, incomplete) = pieces::of_message(&self.metadata, shapes);
        self.not_kept.extend(incomplete.into_iter().map(NotKept::array));
        if places.iter().all(Option::is_none) {
            return Ok(self);
        }
        let (mut kept, mut numbers) = (Vec::new(), BTreeMap::new());
        for (array, place) in std::mem::take(&mut self.arrays).into_iter().zip(places) {
            let Some((first, piece)) = place else {
                kept.push(array);
                continue;
            };
            let number = *numbers.entry(first).or_insert(kept.len());
            if number == kept.len() {
                kept.push(empty(&array, &piece)?);
            }
            if let Some(whole) = kept.get_mut(number) {
                fill(whole, &array, &piece)?;
            }
        }
        // Bits were a byte each.
        for number in numbers.into_values() {
            if let Some(array) = kept.get_mut(number).filter(|array| array.descriptor.dtype == Dtype::Bitmask) {
                array.values = Cow::Owned(pack_bools(&array.values));
            }
        }
        self.arrays = kept;
        Ok(self)
    }
}

/// What the elements are while pieces are put together: bits are a byte each.
fn held_as(dtype: Dtype) -> Dtype {
    if dtype == Dtype::Bitmask { Dtype::Uint8 } else { dtype }
}

/// The array that a piece belongs to, without values.
fn empty<'a>(first: &Array<'a>, piece: &Piece) -> Result<Array<'a>> {
    let mut descriptor = first.descriptor.clone();
    descriptor.shape.clone_from(&piece.whole);
    descriptor.byte_order = ByteOrder::NATIVE;
    let len = byte_len(held_as(descriptor.dtype), &piece.whole)?;
    let len = usize::try_from(len).map_err(|_| refused(format!("{len} bytes of values are more than memory")))?;
    let mut metadata = first.metadata.clone();
    Piece::forget(&mut metadata);
    Ok(Array { descriptor, values: Cow::Owned(reserve(len)?), metadata })
}

/// Copies the values of a piece to its array.
fn fill(whole: &mut Array<'_>, array: &Array<'_>, piece: &Piece) -> Result<()> {
    let dtype = array.descriptor.dtype;
    let mut values = array.values_in(ByteOrder::NATIVE);
    if dtype == Dtype::Bitmask {
        let mut bools = Vec::new();
        unpack_bools(&values, array.descriptor.shape.iter().product(), |part| {
            bools.extend_from_slice(part);
            Ok::<_, TensogramError>(())
        })?;
        values = Cow::Owned(bools);
    }
    // A byte is an element of one dimension more.
    let bytes = |numbers: &[u64], last: usize| -> Result<Vec<usize>> {
        let numbers = numbers.iter().map(|number| usize::try_from(*number));
        let numbers = numbers.chain([Ok(last)]).collect::<Result<_, _>>();
        numbers.map_err(|_| refused("an array is larger than memory"))
    };
    let width = held_as(dtype).byte_width();
    let (shape, origin) = (bytes(&array.descriptor.shape, width)?, bytes(&piece.origin, 0)?);
    let start = vec![0; shape.len()];
    let to = (whole.values.to_mut().as_mut_slice(), &bytes(&piece.whole, width)?[..], &origin[..]);
    copy_box((&values, &shape, &start), to, &shape)
}
