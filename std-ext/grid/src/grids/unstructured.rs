//! Unstructured grids: cells of ICON, oceans of ORCA. The section names the grid, and another file has its coordinates.
//!
//! | octets of 3.101 | |
//! |---|---|
//! | 16 to 18 | number of the grid |
//! | 19 | which part of it: 1 for cells |
//! | 20 to 35 | its identity, a UUID |

use super::{Edition, Template, Word};
use crate::error::GridError;
use crate::octets::Needed;

/// Template 3.101.
pub(crate) const TEMPLATE: Template = Template {
    edition: Edition::Second,
    numbers: &[101],
    scanning_mode: None,
    words: &[&[Word::unsigned("numberOfGridUsed", 16, 3), Word::unsigned("numberOfGridInReference", 19, 1)]],
    parse: |_| Ok(None),
};

/// Why its values have no places.
pub(crate) const WHY: &str = "its grid is unstructured, as ICON's and ORCA's are: name a file that has its coordinates, by --grid FILE or grid=FILE";

/// The identity of the grid. `None` if all its bits are alike.
///
/// # Errors
/// [`GridError::ShortSection`].
pub(crate) fn uuid(section: Needed<'_>) -> Result<Option<[u8; 16]>, GridError> {
    let uuid: [u8; 16] = section.array(20)?;
    Ok(Some(uuid).filter(|uuid| ![[0; 16], [0xff; 16]].contains(uuid)))
}
