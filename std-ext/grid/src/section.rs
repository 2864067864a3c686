//! Which grid a field of GRIB has, and where its points are: section 3, and section 2 of the first edition.
//!
//! | template | type of the first edition | grid | where points are |
//! |---|---|---|---|
//! | 3.0 to 3.3 | 0, 10, 20, 30 | latitude and longitude, also rotated and stretched | evenly between the first and the last point, by row if rows have different lengths |
//! | 3.40 to 3.43 | 4, 14, 24, 34 | Gaussian, likewise, also reduced | rows at the roots of a Legendre polynomial |
//! | 3.10, 3.12 | 1 | Mercator, transverse Mercator | evenly on a cylinder |
//! | 3.20, 3.30, 3.31 | 5, 3, 8 | polar stereographic, Lambert conformal, Albers | evenly on a cone |
//! | 3.90 | 90 | what a satellite sees | at equal angles |
//! | 3.140 | | Lambert azimuthal equal area | evenly on a plane |
//! | 3.150 | | HEALPix | in the centres of pixels of equal areas |
//! | 3.101 | | unstructured | in another file |
//! | 3.50 to 3.53, 3.61 to 3.63 | 50, 60, 70, 80 | none: coefficients | nowhere |
//!
//! The Earth is a sphere or an ellipsoid. All other grids have one dimension and no known points. Reduced ones, whose rows have different
//! lengths, have one dimension too.
//!
//! Rows lie between the first and the last latitude that the section has, not at sums of its increments, which are rounded to its unit.
//!
//! # Where ecCodes differs
//! The places here are the ones of FM 92. ecCodes 2.50 differs from it so:
//!
//! | grid | ecCodes |
//! |---|---|
//! | rotated | rounds to single precision, up to 8e-6 degrees; does not rotate regular Gaussian grids; subtracts the angle of rotation from the longitude |
//! | stretched | gives the places before stretching |
//! | Lambert, polar stereographic, rows from the north | takes the first point for the south-western one |
//! | polar stereographic | knows no ellipsoid, and the southern pole by the sign of a latitude only |
//! | space view | gives latitude 0 and longitude 0 beside the Earth, where there is none; puts the first row in the north and the first column in the west, whatever the direction of scanning is |
//! | Albers, transverse Mercator | has no places |
//!
//! | octets | | first edition |
//! |---|---|---|
//! | 1 to 4, 5 | length of the section, and its number | 1 to 3; octet 5 is the place of a list, 255 or at least 29 |
//! | 7 to 10 | number of points | none |
//! | 13, 14 | template | 6, type |
//! | 31 to 34, 35 to 38 | points of a row, and rows | 7, 8 and 9, 10 |

use tgm_core::cbor::Value;
use tgm_core::metadata::MessageMetadata;

use crate::area::Area;
use crate::cf::Projected;
use crate::coordinates::Coordinates;
use crate::error::GridError;
use crate::grids::healpix::Healpix;
use crate::grids::scan::Scan;
use crate::grids::{Edition, Grid, Template, Word, find, rows, spectral, unplaced, unstructured};
use crate::octets::{Needed, Octets};
use crate::regular::RegularGrid;

/// Octets of a section's length and number.
const HEAD_LEN: u32 = 5;
/// The number of section 3.
const NUMBER: u8 = 3;
/// Octets of a section of the first edition before the ones of its type. A list lies further on.
const FIRST_HEAD_LEN: u32 = 6;
/// A number of 2 octets of the first edition that is missing.
const MISSING: u16 = u16::MAX;

/// Section 3 of a GRIB message, or section 2 of a message of the first edition.
///
/// Holding one means: the section has the length that it states, and the number 3 in the second edition. Its numbers are checked as they are
/// read.
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
    edition: Edition,
}

impl<'a> GridSection<'a> {
    /// The key of metadata under which an object that was made from GRIB has sections of its message, as a list of byte
    /// strings.
    pub const SECTIONS: &'static str = "grib.sections";

    /// The section at the start of `bytes`. Octet 5 tells the editions apart: it is the number of the section in the second one, and the
    /// place of a list in the first one.
    ///
    /// # Errors
    /// [`GridError::ShortSection`], [`GridError::SectionNumber`], [`GridError::SectionLength`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, GridError> {
        let whole = Needed(Octets::new(bytes));
        let (edition, length, least) = match whole.u8(5)? {
            NUMBER => (Edition::Second, whole.u32(1)?, HEAD_LEN),
            0 | 29.. => (Edition::First, whole.u24(1)?, FIRST_HEAD_LEN),
            number => return Err(GridError::SectionNumber(number)),
        };
        let fits = usize::try_from(length).ok().filter(|_| length >= least);
        let section = fits.and_then(|length| bytes.get(..length)).ok_or(GridError::SectionLength(length))?;
        Ok(Self { octets: Octets::new(section), edition })
    }

    /// The section that says the grid of object `index`. `None` if the object was not made from GRIB, or its message has no such section. An
    /// object without sections of its own has the one of the object before it.
    ///
    /// # Errors
    /// [`GridError::Metadata`], and the errors of [`Self::parse`].
    pub fn of_object(metadata: &MessageMetadata<'a>, index: usize) -> Result<Option<Self>, GridError> {
        for index in (0..=index).rev() {
            let Some(object) = metadata.object(index)? else { return Ok(None) };
            let Some(sections) = object.get(Self::SECTIONS)? else { return Ok(None) };
            if let Some(section) = Self::among(&sections)? {
                return Self::parse(section).map(Some);
            }
        }
        Ok(None)
    }

    /// The octets of the section that says the grid, among the sections of a message, as metadata have them. `None` if the message has none,
    /// or shares it with another object.
    ///
    /// # Errors
    /// The errors of reading metadata.
    pub fn among(sections: &Value<'a>) -> Result<Option<&'a [u8]>, GridError> {
        let all = sections.as_array()?.iter().map(|section| Ok(section?.as_bytes()?.as_slice()));
        let mut all = all.map(|section: tgm_core::Result<Option<&'a [u8]>>| section);
        let first = all.next().transpose()?.flatten();
        // Section 0 of the first edition ends with its number. There, octet 8 of section 1 says whether section 2 follows.
        if matches!(first, Some([_, _, _, _, _, _, _, 1])) {
            let identification = all.next().transpose()?.flatten().map(Octets::new);
            let has_grid = identification.and_then(|section| section.u8(8)).is_some_and(|flags| flags & 0x80 != 0);
            return Ok(if has_grid { all.next().transpose()?.flatten() } else { None });
        }
        for section in first.map(Some).map(Ok).into_iter().chain(all) {
            if let Some(section) = section?.filter(|bytes| Octets::new(bytes).u8(5) == Some(NUMBER)) {
                return Ok(Some(section));
            }
        }
        Ok(None)
    }

    /// All octets of the section.
    pub const fn octets(&self) -> Octets<'a> {
        self.octets
    }

    /// The edition of GRIB: 1 or 2.
    pub const fn edition(&self) -> u8 {
        match self.edition {
            Edition::First => 1,
            Edition::Second => 2,
        }
    }

    pub(crate) const fn needed(&self) -> Needed<'a> {
        Needed(self.octets)
    }

    /// The number of points. The first edition does not state it: there it is what rows and columns make. A part of a reduced grid has the
    /// points of each row between its bounds; spectral fields have no points, and the numbers of their coefficients count.
    ///
    /// # Errors
    /// [`GridError::ShortSection`]; in the first edition also [`GridError::Contradiction`].
    pub fn point_count(&self) -> Result<u32, GridError> {
        match self.edition {
            Edition::Second => self.needed().u32(7),
            Edition::First if spectral::TYPES.contains(&self.template()?) => spectral::count(self.needed()),
            Edition::First => match self.size()? {
                [Some(columns), Some(rows)] => Ok(columns * rows),
                _ => rows::count(self.needed()),
            },
        }
    }

    /// The number of the grid's template: 40 for 3.40. In the first edition, the number of its type.
    ///
    /// # Errors
    /// [`GridError::ShortSection`].
    pub fn template(&self) -> Result<u16, GridError> {
        match self.edition {
            Edition::Second => self.needed().u16(13),
            Edition::First => self.needed().u8(6).map(u16::from),
        }
    }

    fn found(&self) -> Result<Option<&'static Template>, GridError> {
        Ok(find(self.edition, self.template()?))
    }

    /// Points of a row, and rows. `None` in place of missing ones.
    fn size(&self) -> Result<[Option<u32>; 2], GridError> {
        let section = self.needed();
        Ok(match self.edition {
            Edition::Second => {
                [section.u32(31)?, section.u32(35)?].map(|len| Some(len).filter(|len| *len != Octets::MISSING))
            }
            Edition::First => {
                [section.u16(7)?, section.u16(9)?].map(|len| Some(len).filter(|len| *len != MISSING).map(u32::from))
            }
        })
    }

    /// The shape of the field's tensor, slowest dimension first. The order of the points is the one in which they are scanned.
    ///
    /// # Errors
    /// As [`Self::point_count`].
    pub fn shape(&self) -> Result<Vec<u64>, GridError> {
        let points = u64::from(self.point_count()?);
        let Some(octet) = self.found()?.and_then(|template| template.scanning_mode) else { return Ok(vec![points]) };
        let ([columns, rows], mode) = (self.size()?, self.needed().u8(octet)?);
        let (Some(columns), Some(rows)) = (columns.map(u64::from), rows.map(u64::from)) else {
            return Ok(vec![points]);
        };
        // Rows that run to and fro make no columns.
        if columns * rows != points || mode & (Scan::ALTERNATING | Scan::OFFSET) != 0 {
            return Ok(vec![points]);
        }
        Ok(if mode & Scan::COLUMNS == 0 { vec![rows, columns] } else { vec![columns, rows] })
    }

    /// The bounds of a regular grid whose rows run from north to south and from west to east. `None` for other grids.
    ///
    /// # Errors
    /// [`GridError::ShortSection`].
    pub fn area(&self) -> Result<Option<Area>, GridError> {
        let section = self.needed();
        // Sections of other templates may end before.
        if self.template()? != 0 {
            return Ok(None);
        }
        let ([Some(columns), Some(_)], plain) = (self.size()?, rows::bounds(self.edition, section)?) else {
            return Ok(None);
        };
        let Some([north, west, south, east]) = plain else { return Ok(None) };
        // East lies behind west, across the meridian of 0 if need be.
        let is_behind = east < west || (east <= west && columns > 1);
        Area::new(&[north, west, south, if is_behind { east + 360.0 } else { east }]).map(Some)
    }

    /// The grid. `None` for one that is not in the table of this module's head.
    fn grid(&self) -> Result<Option<Box<dyn Grid>>, GridError> {
        self.found()?.map_or(Ok(None), |template| (template.parse)(self.needed()))
    }

    /// Where the points are. `None` for a grid that is not known: latitude and longitude, Gaussian, both also reduced, rotated and stretched;
    /// Mercator, also transverse; polar stereographic, Lambert conformal and azimuthal, Albers; space view; HEALPix.
    ///
    /// Takes 16 bytes for each point, and time in proportion. `most` is the number of points that the caller has memory for.
    /// The number of points is the one of the section. An object can have another number of values, if its metadata were edited.
    /// A place that is not on the Earth, beside the disk that a satellite sees, is not a number.
    ///
    /// # Errors
    /// [`GridError::TooManyPoints`] for more than `most`; [`GridError::ShortSection`]; [`GridError::Contradiction`].
    pub fn coordinates(&self, most: u32) -> Result<Option<Coordinates>, GridError> {
        let points = self.point_count()?;
        if points > most {
            return Err(GridError::TooManyPoints { points, most });
        }
        let found = self.grid()?.and_then(|grid| grid.coordinates(points));
        let count = points as usize;
        Ok(found.filter(|found| found.latitudes.len() == count && found.longitudes.len() == count))
    }

    /// The rows and columns of a field with this shape. `None` for grids whose points have to be looked at for that.
    ///
    /// # Errors
    /// As [`Self::coordinates`].
    pub fn regular(&self, shape: &[u64], most: u32) -> Result<Option<RegularGrid>, GridError> {
        let points = self.point_count()?;
        if shape.len() != 2 || self.shape()? != shape {
            return Ok(None);
        }
        if points > most {
            return Err(GridError::TooManyPoints { points, most });
        }
        let axes = self.grid()?.and_then(|grid| grid.axes(points));
        let is_by_column = |octet| Ok::<_, GridError>(self.needed().u8(octet)? & Scan::COLUMNS != 0);
        let by_column = self.found()?.and_then(|template| template.scanning_mode).map_or(Ok(false), is_by_column)?;
        Ok(axes.map(|axes| RegularGrid::of_axes(axes, by_column)))
    }

    /// x and y of the rows and columns of a field with this shape, and the projection in the words of CF. `None` for grids that do not lie on a
    /// plane or on a rotated globe.
    ///
    /// # Errors
    /// As [`Self::coordinates`].
    pub fn projected(&self, shape: &[u64], most: u32) -> Result<Option<Projected>, GridError> {
        let points = self.point_count()?;
        if shape.len() != 2 || self.shape()? != shape {
            return Ok(None);
        }
        if points > most {
            return Err(GridError::TooManyPoints { points, most });
        }
        Ok(self.grid()?.and_then(|grid| grid.projected(points)))
    }

    /// The grid as one of pixels of equal areas. `None` for other grids, and where it has another number of points.
    ///
    /// # Errors
    /// As [`Self::coordinates`].
    pub fn healpix(&self) -> Result<Option<Healpix>, GridError> {
        let points = u64::from(self.point_count()?);
        Ok(self.grid()?.and_then(|grid| grid.as_healpix()).filter(|pixels| pixels.point_count() == points))
    }

    /// The numbers that describe a grid without places, under the manual's words: J, K and M, at which spherical harmonics are cut, or the
    /// number of an unstructured grid. Empty for other grids. Numbers that the manual calls missing are left out.
    ///
    /// # Errors
    /// [`GridError::ShortSection`].
    pub fn unplaced(&self) -> Result<Vec<(&'static str, i64)>, GridError> {
        unplaced(self.edition, self.template()?).map_or(Ok(Vec::new()), |template| self.words(template))
    }

    /// Whether another file has the coordinates of its points.
    ///
    /// # Errors
    /// [`GridError::ShortSection`].
    pub fn is_unstructured(&self) -> Result<bool, GridError> {
        let Template { edition, numbers, .. } = &unstructured::TEMPLATE;
        Ok(self.edition == *edition && numbers.contains(&self.template()?))
    }

    fn words(&self, template: &Template) -> Result<Vec<(&'static str, i64)>, GridError> {
        let read = |word: &Word| Ok(word.read(self.needed())?.map(|number| (word.name, number)));
        template.words().filter_map(|word| read(word).transpose()).collect()
    }

    /// Its numbers under the manual's words: the template, the number of points, and for the templates in the table of this module's head
    /// the others. Numbers that the manual calls missing are left out. Angles are in the unit of the edition:
    /// millionths of a degree, or thousandths in the first one.
    ///
    /// # Errors
    /// [`GridError::ShortSection`].
    pub fn numbers(&self) -> Result<Vec<(&'static str, i64)>, GridError> {
        let template = i64::from(self.template()?);
        let mut found = match self.edition {
            Edition::Second => {
                vec![("gridDefinitionTemplateNumber", template), ("numberOfDataPoints", self.point_count()?.into())]
            }
            Edition::First => vec![("dataRepresentationType", template)],
        };
        if let Some(template) = self.found()? {
            found.extend(self.words(template)?);
        }
        Ok(found)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests;
