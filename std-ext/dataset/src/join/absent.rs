//! Variables where a file lacks them.

use tgm_core::descriptor::Dtype;

use crate::model::{Content, Pieces, Variable, hole_of};

/// The variable of another file as a file has it that lacks it: nothing but missing cells, `len` along the dimension. `None` for
/// texts and truth values, which have no number for a missing cell.
pub(super) fn absent(other: &Variable, dim: &str, len: u64) -> Option<Variable> {
    let dtype = match other.dtype()? {
        Dtype::Bitmask => return None,
        Dtype::Int8 | Dtype::Uint8 | Dtype::Int16 | Dtype::Uint16 => Dtype::Float32,
        Dtype::Int32 | Dtype::Uint32 | Dtype::Int64 | Dtype::Uint64 => Dtype::Float64,
        float => float,
    };
    let axis = other.dims.iter().position(|known| known == dim)?;
    let mut shape = other.shape.clone();
    *shape.get_mut(axis)? = len;
    let chunk = shape.iter().map(|len| (*len).max(1)).collect();
    let pieces = Pieces { dtype, packed: None, chunk, places: Vec::new(), leading: 0, hole: hole_of(dtype) };
    Some(Variable { shape, content: Content::Pieces(pieces), ..other.clone() })
}
