//! Boxes of tensors by way of ranges: each row of a box is a range, and what a row passes over is left out afterwards.

use std::borrow::Cow;

use tgm_core::descriptor::Descriptor;
use tgm_core::selection::{Pick, Selection};

use crate::base::error::{Result, TensogramError};
use crate::base::limits::reserve;
use crate::base::span::{head, index, span_len};
use crate::decode::select::{Selected, selection};

/// The most rows that are read row by row. For a box of more rows, all of the frame is read.
const MOST_ROWS: u64 = 1 << 16;

/// The rows of a box as ranges, each a first element and a count. `None` if there are too many.
///
/// # Errors
/// The errors of [`selection`].
pub(crate) fn spans(descriptor: &Descriptor<'_>, picks: &[Pick]) -> Result<Option<Vec<(u64, u64)>>> {
    let selection = selection(descriptor, picks)?;
    if selection.row_count() > MOST_ROWS {
        return Ok(None);
    }
    let hulls = selection.rows().map(|row| row.hull());
    Ok(Some(hulls.map(|hull| (hull.start, span_len(&hull))).collect()))
}

/// The selected values, out of the values of [`spans`].
///
/// # Errors
/// The errors of [`selection`]; [`TensogramError::Encoding`] if there is no memory.
pub(crate) fn gathered(descriptor: &Descriptor<'_>, picks: &[Pick], rows: &[Vec<u8>]) -> Result<Selected<'static>> {
    let selection = selection(descriptor, picks)?;
    let width = descriptor.dtype().byte_width();
    let bytes = if width == 0 { bits(&selection, rows)? } else { elements(&selection, width, rows)? };
    Ok(Selected { shape: selection.shape().collect(), bytes: Cow::Owned(bytes) })
}

fn elements(selection: &Selection<'_>, width: usize, rows: &[Vec<u8>]) -> Result<Vec<u8>> {
    let len = usize::try_from(selection.element_count()).ok().and_then(|count| count.checked_mul(width));
    let len = len.ok_or_else(unlike_its_rows)?;
    let mut bytes = reserve(len)?;
    bytes.clear();
    for (row, values) in selection.rows().zip(rows) {
        if row.step == 1 {
            bytes.extend_from_slice(values);
        } else {
            // With a step beyond all values, only the first element is in the row.
            let step = index(row.step).saturating_mul(width);
            values.chunks(step).for_each(|chunk| bytes.extend_from_slice(head(chunk, width as u64)));
        }
    }
    if bytes.len() == len { Ok(bytes) } else { Err(unlike_its_rows()) }
}

/// Bits of all rows side by side. Each row of `rows` begins with a byte of its own.
fn bits(selection: &Selection<'_>, rows: &[Vec<u8>]) -> Result<Vec<u8>> {
    if let (Some(row), [values]) = (selection.rows().next(), rows)
        && row.step == 1
    {
        // A whole bitmask comes with the bits after its last one, as decoding gives them.
        return Ok(values.clone());
    }
    let len = usize::try_from(selection.element_count().div_ceil(8)).map_err(|_| unlike_its_rows())?;
    let mut bytes = reserve(len)?;
    let mut at = 0_u64;
    for (row, values) in selection.rows().zip(rows) {
        for number in 0..row.count {
            // All of the row's elements lie in the object, so the product is a place in it.
            let from = number * row.step;
            let source = byte_of(from).and_then(|byte| values.get(byte)).ok_or_else(unlike_its_rows)?;
            let place = byte_of(at).and_then(|byte| bytes.get_mut(byte)).ok_or_else(unlike_its_rows)?;
            if source << (from % 8) & 0x80 != 0 {
                *place |= 0x80 >> (at % 8);
            }
            at += 1;
        }
    }
    if at == selection.element_count() { Ok(bytes) } else { Err(unlike_its_rows()) }
}

/// Never returned for the rows of [`spans`].
fn unlike_its_rows() -> TensogramError {
    TensogramError::encoding("the rows of a box do not have as many values as the box")
}

fn byte_of(bit: u64) -> Option<usize> {
    usize::try_from(bit / 8).ok()
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use tgm_core::Message;
    use tgm_core::descriptor::{ByteOrder, Dtype};

    use super::*;
    use crate::encode::{MessageBuilder, ObjectBuilder};
    use crate::model::types::DataObjectDescriptor;
    use crate::read;

    const SHAPE: [u64; 3] = [3, 7, 21];

    /// Bits `range` of `bytes`, from the first bit of the result on. All bits are given as they are stored.
    fn bits_of(bytes: &[u8], range: std::ops::Range<u64>) -> Vec<u8> {
        if range == (0..SHAPE.iter().product()) {
            return bytes.to_vec();
        }
        let bit = |bit: u64| bytes[usize::try_from(bit / 8).unwrap()] << (bit % 8) & 0x80 != 0;
        let byte = |bits: &[bool]| bits.iter().zip((0..8).rev()).fold(0, |byte, (bit, at)| byte | u8::from(*bit) << at);
        range.map(bit).collect::<Vec<_>>().chunks(8).map(byte).collect()
    }

    /// Every pick of a dimension together with every pick of the others.
    fn boxes() -> Vec<[Pick; 3]> {
        let picks = |dim: u64| {
            let range = |start, end, step| Pick::Range { start, end, step: NonZeroU64::new(step).unwrap() };
            [Pick::All, Pick::Index(dim - 1), range(1, dim, 1), range(0, dim, 2), range(1, dim, 5)]
        };
        let [first, second, third] = SHAPE.map(picks);
        let rest = second.map(|b| third.map(|c| [b, c])).concat();
        first.into_iter().flat_map(|a| rest.iter().map(move |&[b, c]| [a, b, c])).collect()
    }

    /// Rows that are too few or too short make no box of other values.
    #[test]
    fn rows_that_are_not_those_of_the_box_are_an_error() {
        for dtype in [Dtype::Bitmask, Dtype::Uint16] {
            let descriptor = DataObjectDescriptor::new(dtype, ByteOrder::NATIVE, &[2, 9]);
            let data = vec![0_u8; usize::try_from(dtype.byte_len(18).unwrap()).unwrap()];
            let message = MessageBuilder::new().object(ObjectBuilder::from_parts(descriptor, data)).encode().unwrap();
            let object = Message::parse(&message).unwrap().object(0).unwrap();
            let every_other = Pick::Range { start: 0, end: 9, step: NonZeroU64::new(2).unwrap() };
            let made = |rows: &[Vec<u8>]| gathered(object.descriptor(), &[Pick::All, every_other], rows);
            let row = vec![0; usize::try_from(dtype.byte_len(9).unwrap()).unwrap()];
            assert!(made(&[row.clone(), row.clone()]).is_ok());
            for rows in [vec![], vec![row.clone()], vec![row.clone(), row[1..].to_vec()]] {
                assert!(made(&rows).is_err(), "{dtype} {rows:?}");
            }
        }
    }

    /// Rows that were read one by one make the same box as the whole tensor: of bits, and of elements of every width.
    #[test]
    fn rows_read_by_themselves_make_the_box() {
        let noise: Vec<u8> = (0..441 * 8_u32).map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[0]).collect();
        for dtype in [Dtype::Bitmask, Dtype::Uint8, Dtype::Uint16, Dtype::Float64] {
            let data = &noise[..usize::try_from(dtype.byte_len(441).unwrap()).unwrap()];
            let descriptor = DataObjectDescriptor::new(dtype, ByteOrder::NATIVE, &SHAPE);
            let options = crate::EncodeOptions { allow_nan: true, allow_inf: true, ..Default::default() };
            let object = ObjectBuilder::from_parts(descriptor, data);
            let message = MessageBuilder::new().object(object).options(options).encode().unwrap();
            let object = Message::parse(&message).unwrap().object(0).unwrap();
            assert_eq!(object.payload(), data);
            for picks in boxes() {
                let rows = spans(object.descriptor(), &picks).unwrap().unwrap();
                let part = |(start, count): &(u64, u64)| {
                    if dtype == Dtype::Bitmask {
                        return bits_of(data, *start..start + count);
                    }
                    let [start, count] = [*start, *count].map(|n| usize::try_from(n).unwrap() * dtype.byte_width());
                    data[start..start + count].to_vec()
                };
                let rows: Vec<_> = rows.iter().map(part).collect();
                let found = gathered(object.descriptor(), &picks, &rows).unwrap();
                let expected = read(&object).select(&picks).bytes().unwrap();
                let shape: Vec<u64> = selection(object.descriptor(), &picks).unwrap().shape().collect();
                assert_eq!((found.shape, found.bytes), (shape, expected), "{dtype} {picks:?}");
            }
        }
    }

    #[test]
    fn a_box_of_too_many_rows_is_read_whole() {
        let rows = |count: u64| {
            let descriptor = DataObjectDescriptor::new(Dtype::Uint8, ByteOrder::NATIVE, &[count, 2, 2]);
            let data = vec![0; usize::try_from(4 * count).unwrap()];
            let message = MessageBuilder::new().object(ObjectBuilder::from_parts(descriptor, data)).encode().unwrap();
            let object = Message::parse(&message).unwrap().object(0).unwrap();
            spans(object.descriptor(), &[Pick::All, Pick::Index(0), Pick::All]).unwrap().map(|rows| rows.len() as u64)
        };
        assert_eq!((rows(MOST_ROWS), rows(MOST_ROWS + 1)), (Some(MOST_ROWS), None));
    }
}
