//! Points of an unstructured grid, which are known from elsewhere.

use crate::coordinates::Coordinates;
use crate::error::GridError;
use crate::grids::unstructured;
use crate::places::Places;
use crate::points::Points;
use crate::section::GridSection;

/// The points of an unstructured grid, as a file has them: the centres of its cells, and points of edges and vertices if the file has them.
///
/// ```
/// use tgm_grid::{Coordinates, KnownPoints};
///
/// let cells = Coordinates { latitudes: vec![50.0, 10.0], longitudes: vec![8.0, 9.0] };
/// let known = KnownPoints::new(vec![cells], None);
/// let places = known.places(None, &[2]).unwrap().unwrap();
/// assert_eq!(places.place(&[1]), Some((10.0, 9.0)));
/// let steps = known.places(None, &[24, 2]).unwrap().unwrap();
/// assert_eq!(steps.place(&[23, 1]), Some((10.0, 9.0)));
/// assert_eq!(known.places(None, &[3]), Ok(None));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct KnownPoints {
    sets: Vec<Coordinates>,
    uuid: Option<[u8; 16]>,
}

impl KnownPoints {
    /// The names of latitudes and longitudes in files: ICON's cells, vertices and edges; ocean models; others.
    pub const NAMES: [(&str, &str); 9] = [
        ("clat", "clon"),
        ("vlat", "vlon"),
        ("elat", "elon"),
        ("latitude", "longitude"),
        ("lat", "lon"),
        ("nav_lat", "nav_lon"),
        ("gphit", "glamt"),
        ("TLAT", "TLON"),
        ("latitudes", "longitudes"),
    ];
    /// The name of a grid's identity in files, which is text.
    pub const UUID: &str = "uuidOfHGrid";

    /// Sets of points, and the identity of the grid if it is known.
    pub const fn new(sets: Vec<Coordinates>, uuid: Option<[u8; 16]>) -> Self {
        Self { sets, uuid }
    }

    /// The identity that a text says: 32 digits, with lines between them or not. `None` for other texts.
    pub fn parse_uuid(text: &str) -> Option<[u8; 16]> {
        let digits: String = text.trim().chars().filter(|letter| *letter != '-').collect();
        (digits.len() == 32).then_some(())?;
        u128::from_str_radix(&digits, 16).ok().map(u128::to_be_bytes)
    }

    /// The places of an object with this shape and this section of GRIB: of all its dimensions, or else of the last ones that have as many
    /// values as a set has points. `None` for objects on grids that are not unstructured, and for an object without a section that has no such
    /// dimensions.
    ///
    /// # Errors
    /// [`GridError::OtherGrid`] if the section says another identity; [`GridError::NoSuchPoints`] for other numbers of values;
    /// [`GridError::ShortSection`].
    pub fn places(&self, section: Option<GridSection<'_>>, shape: &[u64]) -> Result<Option<Places>, GridError> {
        let count = |shape: &[u64]| shape.iter().try_fold(1_u64, |count, len| count.checked_mul(*len));
        let points = (0..shape.len().max(1)).filter_map(|start| shape.get(start..)).find_map(|last| {
            // A set of another length is not copied.
            let mut sets = self.sets.iter().filter(|set| Some(set.latitudes.len() as u64) == count(last));
            sets.find_map(|set| Points::new(set.clone(), last))
        });
        if let Some(section) = section {
            if !section.is_unstructured()? {
                return Ok(None);
            }
            let uuid = unstructured::uuid(section.needed())?;
            if self.uuid.zip(uuid).is_some_and(|(own, stated)| own != stated) {
                return Err(GridError::OtherGrid);
            }
            return points
                .map(|points| Some(Places::Points(points)))
                .ok_or(GridError::NoSuchPoints { values: count(shape).unwrap_or(u64::MAX) });
        }
        Ok(points.map(Places::Points))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    /// A section 3 of a grid of two points with an identity.
    fn section(uuid: u8) -> [u8; 35] {
        let mut bytes = [0; 35];
        (bytes[3], bytes[4], bytes[9], bytes[13]) = (35, 3, 2, 101);
        (bytes[17], bytes[18]) = (26, 1);
        bytes[34] = uuid;
        bytes
    }

    #[test]
    fn a_section_is_on_the_grid_with_its_identity_and_its_number_of_points() {
        let set = |count: u8| {
            let degrees: Vec<f64> = (0..count).map(f64::from).collect();
            Coordinates { latitudes: degrees.clone(), longitudes: degrees }
        };
        let uuid = KnownPoints::parse_uuid("00000000-0000-0000-0000-000000000007").unwrap();
        let known = KnownPoints::new(vec![set(5), set(2)], Some(uuid));
        let of = |known: &KnownPoints, bytes: &[u8], shape: &[u64]| {
            known.places(Some(GridSection::parse(bytes).unwrap()), shape)
        };
        assert_eq!(of(&known, &section(7), &[2]).unwrap().unwrap().place(&[1]), Some((1.0, 1.0)));
        assert_eq!(of(&known, &section(8), &[2]), Err(GridError::OtherGrid));
        assert_eq!(of(&known, &section(7), &[3]), Err(GridError::NoSuchPoints { values: 3 }));
        // Several fields in one object, and an object that is one field of the grid's edges.
        let of_fields = of(&known, &section(7), &[4, 3, 2]).unwrap().unwrap();
        assert_eq!((of_fields.place(&[3, 2, 1]), of_fields.nearest(1.0, 1.0)), (Some((1.0, 1.0)), Some(vec![1])));
        assert_eq!(of(&known, &section(7), &[1, 5]).unwrap().unwrap().nearest(3.0, 3.0), Some(vec![0, 3]));
        assert_eq!(of(&known, &section(7), &[2, 3]), Err(GridError::NoSuchPoints { values: 6 }));
        // An identity of zeros is none.
        assert!(of(&known, &section(0), &[2]).unwrap().is_some());
        assert!(of(&KnownPoints::new(vec![set(2)], None), &section(8), &[2]).unwrap().is_some());
        let numbers = section(7);
        let numbers = GridSection::parse(&numbers).unwrap().unplaced().unwrap();
        assert_eq!(numbers, [("numberOfGridUsed", 26), ("numberOfGridInReference", 1)]);
        assert_eq!((KnownPoints::parse_uuid("7"), KnownPoints::parse_uuid(&"g".repeat(32))), (None, None));
    }
}
