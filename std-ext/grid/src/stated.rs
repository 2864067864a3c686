//! What the metadata of an object say of its grid.

use crate::area::Area;
use crate::error::GridError;
use crate::known::KnownPoints;
use crate::named::NamedGrid;
use crate::places::Places;
use crate::regular::RegularGrid;
use crate::section::GridSection;

/// What the metadata of an object say of its grid. The first of them that fits the object's shape says where its values are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stated<'a> {
    /// The section of GRIB from which the object was made.
    pub section: Option<GridSection<'a>>,
    /// The points of an unstructured grid.
    pub known: Option<&'a KnownPoints>,
    /// The name of the grid.
    pub named: Option<NamedGrid>,
    /// The bounds of rows and columns: degrees, or x and y of the plane that `named` is.
    pub area: Option<Area>,
}

impl Stated<'_> {
    /// Where the values of the last dimensions of an object with this shape are. `None` if nothing that is stated fits it.
    ///
    /// Takes 16 bytes for each point of a grid that is neither regular nor computed. `most` is the number of points that the caller has memory
    /// for.
    ///
    /// # Errors
    /// The errors of [`Places::of_section`] and of [`KnownPoints::places`].
    pub fn places(&self, shape: &[u64], most: u32) -> Result<Option<Places>, GridError> {
        if let Some(section) = self.section
            && let Some(found) = Places::of_section(section, shape, most)?
        {
            return Ok(Some(found));
        }
        if let Some(found) = self.known.map_or(Ok(None), |known| known.places(self.section, shape))? {
            return Ok(Some(found));
        }
        if let Some(found) = self.named.and_then(|named| named.places(shape, self.area, most)) {
            return Ok(Some(found));
        }
        if self.named.is_some_and(NamedGrid::is_plane) {
            return Ok(None);
        }
        Ok(self.area.and_then(|area| RegularGrid::new(shape, area)).map(Places::Regular))
    }
}
