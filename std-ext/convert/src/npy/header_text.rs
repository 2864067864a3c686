//! Writing the header of a `.npy` file, format 1.0.

use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::{Result, TensogramError};

/// Magic and version.
const MAGIC: &[u8; 8] = b"\x93NUMPY\x01\x00";
/// Values start at a multiple of this many bytes.
const ALIGNMENT: usize = 64;

/// The header of values in C order.
///
/// numpy lacks bfloat16, so it is written as two bytes of type void. A bitmask is written as truth values, one byte
/// each, see [`unpack_bools`](crate::arrays::unpack_bools).
///
/// # Errors
/// [`TensogramError::Metadata`](tgm_std::TensogramError::Metadata) for a shape whose text has more than 64 KiB.
pub fn header(dtype: Dtype, order: ByteOrder, shape: &[u64]) -> Result<Vec<u8>> {
    of_descr(&descr(dtype, order), shape)
}

/// The header of integers that are times of the type `times`, such as `M8[s]`.
pub(super) fn of_times(times: &str, order: ByteOrder, shape: &[u64]) -> Result<Vec<u8>> {
    let mark = if order == ByteOrder::Little { '<' } else { '>' };
    of_descr(&format!("{mark}{times}"), shape)
}

/// The header of texts of `width` characters.
pub(super) fn of_texts(width: usize, shape: &[u64]) -> Result<Vec<u8>> {
    of_descr(&format!("<U{width}"), shape)
}

fn of_descr(descr: &str, shape: &[u64]) -> Result<Vec<u8>> {
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {}, }}", tuple(shape));
    // Magic, length, text and line feed together are a multiple of the alignment.
    let unpadded = MAGIC.len() + size_of::<u16>() + text.len() + 1;
    text.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(ALIGNMENT) - unpadded));
    text.push('\n');
    let length = u16::try_from(text.len())
        .map_err(|_| TensogramError::Metadata("the shape is too long for a NumPy header".into()))?;
    Ok([MAGIC.as_slice(), &length.to_le_bytes(), text.as_bytes()].concat())
}

fn descr(dtype: Dtype, order: ByteOrder) -> String {
    let (kind, width) = match dtype {
        Dtype::Float16 | Dtype::Float32 | Dtype::Float64 => ('f', dtype.byte_width()),
        Dtype::Bfloat16 => ('V', dtype.byte_width()),
        Dtype::Complex64 | Dtype::Complex128 => ('c', dtype.byte_width()),
        Dtype::Int8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64 => ('i', dtype.byte_width()),
        Dtype::Uint8 | Dtype::Uint16 | Dtype::Uint32 | Dtype::Uint64 => ('u', dtype.byte_width()),
        Dtype::Bitmask => ('b', 1),
    };
    let mark = match order {
        _ if width == 1 => '|',
        ByteOrder::Little => '<',
        ByteOrder::Big => '>',
    };
    format!("{mark}{kind}{width}")
}

/// A shape as Python writes a tuple.
fn tuple(shape: &[u64]) -> String {
    match shape {
        [length] => format!("({length},)"),
        shape => format!("({})", shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_those_that_numpy_writes() {
        let header = header(Dtype::Float64, ByteOrder::Little, &[181, 360]).unwrap();
        let expected = "{'descr': '<f8', 'fortran_order': False, 'shape': (181, 360), }";
        assert_eq!(header.len() % 64, 0);
        assert_eq!(&header[..10], b"\x93NUMPY\x01\x00\x76\x00");
        assert_eq!(std::str::from_utf8(&header[10..]).unwrap().trim_end_matches(' ').trim_end(), expected);
        assert!(header.ends_with(b" \n"));
    }

    #[test]
    fn every_dtype_has_a_name_and_shapes_are_tuples() {
        let little = Dtype::ALL.map(|dtype| descr(dtype, ByteOrder::Little)).join(" ");
        assert_eq!(little, "<f2 <V2 <f4 <f8 <c8 <c16 |i1 <i2 <i4 <i8 |u1 <u2 <u4 <u8 |b1");
        assert_eq!(descr(Dtype::Complex64, ByteOrder::Big), ">c8");
        assert_eq!([tuple(&[]), tuple(&[3]), tuple(&[3, 0])], ["()", "(3,)", "(3, 0)"]);
        assert!(header(Dtype::Int8, ByteOrder::Big, &vec![1; 30_000]).is_err());
    }
}
