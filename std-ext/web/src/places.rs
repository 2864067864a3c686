//! Where values are: their indices, and labels there.

use tgm_dataset::Coordinate;
use tgm_plot::described::number_at;

/// The indices of a value among values of a shape.
pub(crate) fn indices(shape: &[u64], mut at: u64) -> Vec<u64> {
    let mut found: Vec<u64> = shape
        .iter()
        .rev()
        .map(|len| {
            let index = at % (*len).max(1);
            at /= (*len).max(1);
            index
        })
        .collect();
    found.reverse();
    found
}

/// The label of a coordinate at indices along dimensions. `None` if it is not a number, or lies along other dimensions.
pub(crate) fn label(coordinate: &Coordinate, dims: &[String], shape: &[u64], indices: &[u64]) -> Option<f64> {
    let place = coordinate.dims.iter().try_fold(0, |place, dim| {
        let at = dims.iter().position(|known| known == dim)?;
        Some(place * shape.get(at)? + indices.get(at)?)
    })?;
    number_at(coordinate, usize::try_from(place).ok()?)
}
