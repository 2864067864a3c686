//! Cubes as datasets: which axes they share, and what does not fit.
//!
//! A dataset has one grid. For each dimension it has the axis of one of its cubes. A cube whose axes are parts of these is widened by
//! holes. Other cubes are in other datasets: [`sharing`] says in which.

mod build;
mod candidate;
mod moved;
mod sharing;

use std::sync::Arc;

use tgm_std::Result;

use self::build::Maker;
use self::candidate::candidates;
use self::sharing::{Shared, decide};
use crate::archive::Archive;
use crate::cube::Cube;
use crate::dataset::Dataset;
use crate::gather::Gathered;
use crate::model::LeftOut;
use crate::options::OpenOptions;

/// All datasets, the one with the most objects first. That one lists what it leaves out: what the others have.
///
/// # Errors
/// [`tgm_std::TensogramError::Metadata`] for elements of an unknown type, and for more than 2^32 labels.
pub(crate) fn datasets(
    gathered: &Gathered,
    archive: &Arc<Archive>,
    cubes: Vec<Cube>,
    options: &OpenOptions,
) -> Result<Vec<Dataset>> {
    let (candidates, grids) = candidates(gathered, cubes, options)?;
    let Shared { datasets, left_out } = decide(&candidates, options.join)?;
    let maker = Maker { gathered, archive, grids: &grids, candidates: &candidates, options };
    let mut found: Vec<Dataset> = datasets.iter().map(|it| maker.dataset(it)).collect::<Result<_>>()?;
    let left_out = left_out.into_iter().filter_map(|(number, why)| {
        let it = candidates.get(number)?;
        let (name, what) = (it.cube.kind.name.clone(), it.what.clone());
        Some(LeftOut { name, what, why, objects: it.cube.places.len() })
    });
    let left_out: Vec<LeftOut> = left_out.collect();
    if found.is_empty() && !left_out.is_empty() {
        found.push(Dataset::empty(archive));
    }
    if let Some(first) = found.first_mut() {
        first.left_out = left_out;
    }
    Ok(found)
}
