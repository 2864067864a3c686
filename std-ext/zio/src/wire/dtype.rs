//! Element types: a numpy kind letter with a width in bytes, and a dtype.

use tgm_core::descriptor::Dtype;

/// The dtype of elements of that kind and width, if there is one. Booleans are bytes.
///
/// ```
/// use tgm_core::descriptor::Dtype;
/// use tgm_zio::{dtype_of, kind_of};
///
/// assert_eq!((dtype_of('f', 4), dtype_of('f', 16)), (Some(Dtype::Float32), None));
/// assert_eq!(kind_of(Dtype::Complex64), ('c', 8));
/// ```
pub const fn dtype_of(kind: char, word: u32) -> Option<Dtype> {
    Some(match (kind, word) {
        ('f', 2) => Dtype::Float16,
        ('f', 4) => Dtype::Float32,
        ('f', 8) => Dtype::Float64,
        ('i', 1) => Dtype::Int8,
        ('i', 2) => Dtype::Int16,
        ('i', 4) => Dtype::Int32,
        ('i', 8) => Dtype::Int64,
        ('u' | 'b', 1) => Dtype::Uint8,
        ('u', 2) => Dtype::Uint16,
        ('u', 4) => Dtype::Uint32,
        ('u', 8) => Dtype::Uint64,
        ('c', 8) => Dtype::Complex64,
        ('c', 16) => Dtype::Complex128,
        _ => return None,
    })
}

/// Kind and width of a dtype. For bfloat16 and bitmask they give the number of bytes only. See [`dtype_of`].
pub const fn kind_of(dtype: Dtype) -> (char, u32) {
    match dtype {
        Dtype::Float16 => ('f', 2),
        Dtype::Float32 => ('f', 4),
        Dtype::Float64 => ('f', 8),
        Dtype::Bfloat16 => ('V', 2),
        Dtype::Complex64 => ('c', 8),
        Dtype::Complex128 => ('c', 16),
        Dtype::Int8 => ('i', 1),
        Dtype::Int16 => ('i', 2),
        Dtype::Int32 => ('i', 4),
        Dtype::Int64 => ('i', 8),
        Dtype::Uint8 | Dtype::Bitmask => ('u', 1),
        Dtype::Uint16 => ('u', 2),
        Dtype::Uint32 => ('u', 4),
        Dtype::Uint64 => ('u', 8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dtype_that_has_a_kind_comes_back() {
        for dtype in Dtype::ALL {
            let (kind, word) = kind_of(dtype);
            let expected = match dtype {
                Dtype::Bfloat16 => None,
                Dtype::Bitmask => Some(Dtype::Uint8),
                other => Some(other),
            };
            assert_eq!(dtype_of(kind, word), expected);
        }
    }
}
