//! Section 3 of GRIB edition 2: which grid a field has, and where its points are.
//!
//! | template | grid | where points are |
//! |---|---|---|
//! | 3.0 | latitude and longitude | evenly between the first and the last point, by row if rows have different lengths |
//! | 3.1 | the same, rotated | likewise, then turned back from the rotated poles |
//! | 3.10 | Mercator | evenly on a cylinder, around a sphere or an ellipsoid |
//! | 3.20, 3.30 | polar stereographic, Lambert conformal | evenly on a cone, on a sphere or an ellipsoid |
//! | 3.40 | Gaussian, also reduced | rows at the roots of a Legendre polynomial |
//!
//! All other grids have one dimension and no known points. Reduced ones, whose rows have different lengths, have one
//! dimension too.
//!
//! Rows lie between the first and the last latitude that section 3 has, not at sums of its increments, which are rounded
//! to its unit.
//!
//! | octets | |
//! |---|---|
//! | 1 to 4, 5 | length of the section, and its number |
//! | 7 to 10 | number of points |
//! | 13, 14 | template |
//! | 31 to 34, 35 to 38 | points of a row, and rows, of all templates of the table above |
//! | 72, 60 or 65 | scanning mode of 3.0, 3.1 and 3.40, of 3.10, of 3.20 and 3.30 |

mod cone;
mod earth;
mod gaussian;
mod mercator;
mod numbers;
mod rows;
mod scan;

use tgm_core::metadata::MessageMetadata;

use self::cone::Cone;
use self::mercator::Mercator;
use self::rows::Rows;
use self::scan::Scan;
use crate::area::Area;
use crate::coordinates::{Axes, Coordinates};
use crate::error::GridError;
use crate::octets::Octets;

/// Octets of a section's length and number.
const HEAD_LEN: u32 = 5;

/// Section 3 of a GRIB message.
///
/// Holding one means: the section has the number 3 and the length that it states. Its numbers are checked as they are read.
///
/// ```
/// use tgm_grid::{GridError, GridSection, Octets};
///
/// // Two rows of two points, from 10° north and 5° east to 0° north and 6° east.
/// let mut section = [0; 72];
/// for (octet, number) in [(1, 72), (7, 4), (31, 2), (35, 2), (47, 10_000_000), (51, 5_000_000), (60, 6_000_000)] {
///     section[octet - 1..octet + 3].copy_from_slice(&u32::to_be_bytes(number));
/// }
/// section[4] = 3;
///
/// let grid = GridSection::parse(&section)?;
/// assert_eq!(grid.shape()?, [2, 2]);
/// let points = grid.coordinates(1_000_000)?.unwrap();
/// assert_eq!(points.latitudes, [10.0, 10.0, 0.0, 0.0]);
/// assert_eq!(points.longitudes, [5.0, 6.0, 5.0, 6.0]);
/// assert_eq!(grid.coordinates(3), Err(GridError::TooManyPoints { points: 4, most: 3 }));
/// # Ok::<(), GridError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GridSection<'a> {
    octets: Octets<'a>,
}

impl<'a> GridSection<'a> {
    /// The key of metadata under which an object that was made from GRIB has sections of its message, as a list of byte
    /// strings.
    pub const SECTIONS: &'static str = "grib.sections";

    /// The section at the start of `bytes`.
    ///
    /// # Errors
    /// [`GridError::ShortSection`], [`GridError::SectionNumber`], [`GridError::SectionLength`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, GridError> {
        let whole = Self { octets: Octets::new(bytes) };
        let (length, number) = (whole.u32(1)?, whole.u8(5)?);
        if number != 3 {
            return Err(GridError::SectionNumber(number));
        }
        let fits = usize::try_from(length).ok().filter(|_| length >= HEAD_LEN);
        let section = fits.and_then(|length| bytes.get(..length)).ok_or(GridError::SectionLength(length))?;
        Ok(Self { octets: Octets::new(section) })
    }

    /// Section 3 of object `index`. `None` if the object was not made from GRIB. An object without a section of its own has
    /// the one of the object before it.
    ///
    /// # Errors
    /// [`GridError::Metadata`], and the errors of [`Self::parse`].
    pub fn of_object(metadata: &MessageMetadata<'a>, index: usize) -> Result<Option<Self>, GridError> {
        for index in (0..=index).rev() {
            let Some(object) = metadata.object(index)? else { return Ok(None) };
            let Some(sections) = object.get(Self::SECTIONS)? else { return Ok(None) };
            for section in sections.as_array()? {
                let section = section?.as_bytes()?.as_slice();
                if let Some(section) = section.filter(|bytes| Octets::new(bytes).u8(5) == Some(3)) {
                    return Self::parse(section).map(Some);
                }
            }
        }
        Ok(None)
    }

    /// All octets of the section.
    pub const fn octets(&self) -> Octets<'a> {
        self.octets
    }

    /// The number of points.
    ///
    /// # Errors
    /// [`GridError::ShortSection`].
    pub fn point_count(&self) -> Result<u32, GridError> {
        self.u32(7)
    }

    /// The number of the grid's template: 40 for 3.40.
    ///
    /// # Errors
    /// [`GridError::ShortSection`].
    pub fn template(&self) -> Result<u16, GridError> {
        self.u16(13)
    }

    /// The shape of the field's tensor, slowest dimension first. The order of the points is the one in which they are scanned.
    ///
    /// # Errors
    /// [`GridError::ShortSection`].
    pub fn shape(&self) -> Result<Vec<u64>, GridError> {
        let points = u64::from(self.point_count()?);
        let Some(octet) = scanning_mode(self.template()?) else { return Ok(vec![points]) };
        let (columns, rows, mode) = (self.u32(31)?, self.u32(35)?, self.u8(octet)?);
        let is_known = columns != Octets::MISSING && rows != Octets::MISSING;
        let is_rectangle = is_known && u64::from(columns) * u64::from(rows) == points;
        // Rows that run to and fro make no columns.
        if !is_rectangle || mode & (Scan::ALTERNATING | Scan::OFFSET) != 0 {
            return Ok(vec![points]);
        }
        let (columns, rows) = (columns.into(), rows.into());
        Ok(if mode & Scan::COLUMNS == 0 { vec![rows, columns] } else { vec![columns, rows] })
    }

    /// The bounds of a regular grid whose rows run from north to south and from west to east. `None` for other grids.
    ///
    /// # Errors
    /// [`GridError::ShortSection`].
    pub fn area(&self) -> Result<Option<Area>, GridError> {
        // Other units than a millionth of a degree are rare.
        let is_plain = self.template()? == 0 && matches!(self.u32(39)?, 0 | Octets::MISSING) && self.u8(72)? == 0;
        // Sections of other templates may end before.
        if !is_plain || self.u32(31)? == Octets::MISSING || self.u32(35)? == Octets::MISSING {
            return Ok(None);
        }
        let [north, west, south, east] = [self.i32(47)?, self.i32(51)?, self.i32(56)?, self.i32(60)?];
        // East lies behind west, across the meridian of 0 if need be.
        let east = if east < west { east + 360_000_000 } else { east };
        #[expect(clippy::cast_precision_loss, reason = "numbers of 32 bits")]
        let degrees = |number: i64| number as f64 / 1e6;
        Area::new(&[north, west, south, east].map(degrees)).map(Some)
    }

    /// Where the points are. `None` for a grid that is not in this table: latitude and longitude, also rotated; Gaussian; each
    /// also reduced; Mercator, polar stereographic and Lambert conformal.
    ///
    /// Takes 16 bytes for each point, and time in proportion. `most` is the number of points that the caller has memory for.
    /// The number of points is the one of section 3. An object can have another number of values, if its metadata were edited.
    ///
    /// # Errors
    /// [`GridError::TooManyPoints`] for more than `most`; [`GridError::ShortSection`]; [`GridError::Contradiction`].
    pub fn coordinates(&self, most: u32) -> Result<Option<Coordinates>, GridError> {
        let points = self.point_count()?;
        if points > most {
            return Err(GridError::TooManyPoints { points, most });
        }
        let found = match self.template()? {
            0 | 1 | 40 => Rows::parse(*self)?.and_then(|rows| rows.coordinates(points)),
            10 => Mercator::parse(*self)?.and_then(|grid| grid.coordinates(points)),
            20 | 30 => Cone::parse(*self)?.and_then(|cone| cone.coordinates(points)),
            _ => None,
        };
        let count = points as usize;
        Ok(found.filter(|found| found.latitudes.len() == count && found.longitudes.len() == count))
    }

    /// The latitudes of the rows and the longitudes of the columns of a field with this shape: what [`Coordinates::axes`] finds in
    /// [`Self::coordinates`], without the points. `None` for grids whose points have to be looked at for that.
    ///
    /// # Errors
    /// As [`Self::coordinates`].
    pub fn axes(&self, shape: &[u64]) -> Result<Option<Axes>, GridError> {
        if !matches!(self.template()?, 0 | 40) || self.shape()? != shape {
            return Ok(None);
        }
        let points = self.point_count()?;
        Ok(Rows::parse(*self)?
            .and_then(|rows| rows.axes(points))
            .map(|(rows, columns)| Coordinates::of_axes(rows, columns)))
    }

    /// `N` octets from an octet on, counted from 1.
    fn array<const N: usize>(&self, octet: usize) -> Result<[u8; N], GridError> {
        self.octets.array(octet).ok_or(GridError::ShortSection { octet })
    }

    fn u8(&self, octet: usize) -> Result<u8, GridError> {
        self.octets.u8(octet).ok_or(GridError::ShortSection { octet })
    }

    fn u16(&self, octet: usize) -> Result<u16, GridError> {
        self.octets.u16(octet).ok_or(GridError::ShortSection { octet })
    }

    fn u32(&self, octet: usize) -> Result<u32, GridError> {
        self.octets.u32(octet).ok_or(GridError::ShortSection { octet })
    }

    fn i8(&self, octet: usize) -> Result<i64, GridError> {
        self.octets.i8(octet).ok_or(GridError::ShortSection { octet })
    }

    fn i32(&self, octet: usize) -> Result<i64, GridError> {
        self.octets.i32(octet).ok_or(GridError::ShortSection { octet })
    }
}

/// The octet of a template's scanning mode, for templates with rows and columns.
const fn scanning_mode(template: u16) -> Option<usize> {
    match template {
        0 | 1 | 40 => Some(72),
        10 => Some(60),
        20 | 30 => Some(65),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    /// A section 3 of `len` octets, with a template and numbers of 4 octets.
    fn section(len: u32, template: u16, numbers: &[(usize, u32)]) -> Vec<u8> {
        let mut bytes = vec![0; len as usize];
        bytes[4] = 3;
        bytes[12..14].copy_from_slice(&template.to_be_bytes());
        for (octet, number) in [(1, len)].iter().chain(numbers) {
            bytes[octet - 1..octet + 3].copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    /// Two rows of three points, from 10° north and 350° east to 0° north and 10° east.
    fn small() -> Vec<u8> {
        let numbers =
            [(7, 6), (31, 3), (35, 2), (47, 10_000_000), (51, 350_000_000), (60, 10_000_000), (64, 10_000_000)];
        section(72, 0, &numbers)
    }

    #[test]
    fn axes_are_the_ones_of_all_points() {
        let mut found = 0;
        let numbers = |template: u16, first: u32, last: u32| {
            let mut bytes = section(72, template, &[(7, 12), (31, 4), (35, 3), (51, first), (60, last), (68, 8)]);
            let latitudes = if template == 40 { [66_000_000_u32, 44_000_000] } else { [50_000_000, 30_000_000] };
            for (octet, latitude) in [47, 56].into_iter().zip(latitudes) {
                bytes[octet - 1..octet + 3].copy_from_slice(&latitude.to_be_bytes());
            }
            bytes
        };
        for (template, first, last) in [
            (0, 0, 270_000_000),
            (0, 350_000_000, 20_000_000),
            (0, 20_000_000, 350_000_000),
            (40, 0, 67_500_000),
            (1, 0, 9),
        ] {
            for mode in [0, 0x80, 0x40, 0xc0, 0x20, 0x10, 0x01] {
                let mut bytes = numbers(template, first, last);
                bytes.resize(84, 0);
                bytes[3] = 84;
                bytes[71] = mode;
                let grid = GridSection::parse(&bytes).unwrap();
                let shape = grid.shape().unwrap();
                let Some(axes) = grid.axes(&shape).unwrap() else { continue };
                found += 1;
                assert_eq!(grid.coordinates(12).unwrap().unwrap().axes(&shape), Some(axes), "{template} {mode}");
                assert_eq!(grid.axes(&[12]), Ok(None));
            }
        }
        assert!(found >= 12, "{found}");
    }

    #[test]
    fn points_lie_between_the_first_and_the_last() {
        let mut bytes = small();
        let grid = GridSection::parse(&bytes).unwrap();
        assert_eq!((grid.template(), grid.point_count(), grid.shape()), (Ok(0), Ok(6), Ok(vec![2, 3])));
        assert_eq!(grid.area().unwrap(), Some("10/350/0/370".parse().unwrap()));
        let found = grid.coordinates(6).unwrap().unwrap();
        assert_eq!(found.latitudes, [10.0, 10.0, 10.0, 0.0, 0.0, 0.0]);
        assert_eq!(found.longitudes, [350.0, 0.0, 10.0, 350.0, 0.0, 10.0]);
        // Columns follow each other, and every other one runs back.
        bytes[71] = Scan::COLUMNS | Scan::ALTERNATING;
        let grid = GridSection::parse(&bytes).unwrap();
        assert_eq!((grid.shape(), grid.area()), (Ok(vec![6]), Ok(None)));
        assert_eq!(grid.coordinates(6).unwrap().unwrap().latitudes, [10.0, 0.0, 0.0, 10.0, 10.0, 0.0]);
        bytes[71] = Scan::COLUMNS;
        assert_eq!(GridSection::parse(&bytes).unwrap().shape(), Ok(vec![3, 2]));
    }

    #[test]
    fn a_section_of_another_number_or_length_is_an_error() {
        let mut bytes = small();
        let at = |bytes: &[u8]| GridSection::parse(bytes).map(|grid| grid.octets().as_bytes().len());
        assert_eq!(at(&bytes[..4]), Err(GridError::ShortSection { octet: 5 }));
        assert_eq!(at(&bytes[..71]), Err(GridError::SectionLength(72)));
        bytes.push(0);
        assert_eq!(at(&bytes), Ok(72));
        bytes[3] = 4;
        assert_eq!(at(&bytes), Err(GridError::SectionLength(4)));
        bytes[4] = 4;
        assert_eq!(at(&bytes), Err(GridError::SectionNumber(4)));
    }

    #[test]
    fn every_section_that_ends_early_is_an_error() {
        for (template, len) in [(0, 72), (1, 84), (10, 72), (20, 65), (30, 73), (40, 72)] {
            let whole = section(len, template, &[(7, 4), (31, 2), (35, 2)]);
            let grid = GridSection::parse(&whole).unwrap();
            assert!(grid.coordinates(4).is_ok() && grid.numbers().is_ok(), "{template}");
            for len in 14..len {
                let mut bytes = whole.clone();
                bytes.truncate(len as usize);
                bytes[..4].copy_from_slice(&len.to_be_bytes());
                let grid = GridSection::parse(&bytes).unwrap();
                assert!(matches!(grid.coordinates(4), Err(GridError::ShortSection { .. })), "{template} {len}");
            }
        }
    }

    #[test]
    fn numbers_of_points_that_do_not_fit_are_no_points_or_an_error() {
        let of = |numbers: &[(usize, u32)]| {
            let bytes = [small(), vec![0; 8]].concat();
            let mut bytes = bytes;
            for (octet, number) in [(1, 80)].iter().chain(numbers) {
                bytes[octet - 1..octet + 3].copy_from_slice(&number.to_be_bytes());
            }
            GridSection::parse(&bytes).unwrap().coordinates(100)
        };
        assert_eq!(of(&[(7, 7)]), Ok(None));
        assert_eq!(of(&[(7, 101)]), Err(GridError::TooManyPoints { points: 101, most: 100 }));
        assert_eq!(of(&[(35, u32::MAX)]), Ok(None));
        // Rows of 4 octets each, of which there are too few.
        assert_eq!(of(&[(9, 0x0006_0400), (31, u32::MAX), (35, 3)]), Err(GridError::Contradiction));
    }

    #[test]
    fn other_templates_have_one_dimension_and_no_points() {
        let bytes = section(72, 12, &[(7, 6)]);
        let grid = GridSection::parse(&bytes).unwrap();
        assert_eq!((grid.shape(), grid.coordinates(6)), (Ok(vec![6]), Ok(None)));
        assert_eq!(grid.numbers().unwrap().len(), 2);
        // An unstructured grid.
        let bytes = section(35, 101, &[(7, 6)]);
        let grid = GridSection::parse(&bytes).unwrap();
        assert_eq!((grid.shape(), grid.area(), grid.coordinates(6)), (Ok(vec![6]), Ok(None), Ok(None)));
    }
}
