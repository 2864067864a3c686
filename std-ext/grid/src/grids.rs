//! Kinds of grids, and which numbers of GRIB describe each. A new grid is one file of this folder and one row of [`TEMPLATES`].
//!
//! | module | grids |
//! |---|---|
//! | `rows` | latitude and longitude, Gaussian; each also reduced, rotated, stretched |
//! | `plane` | rows and columns on a plane, by a projection: `albers`, `azimuthal`, `cone`, `mercator`, `transverse` |
//! | `projection` | all projections as one type |
//! | `space_view` | what a satellite sees |
//! | `healpix` | equal areas on the sphere |
//! | `unstructured` | cells whose coordinates another file has |
//! | `spectral` | none: coefficients |
//! | `classical` | the lengths of rows of named grids |

pub(crate) mod albers;
pub(crate) mod azimuthal;
pub(crate) mod classical;
pub(crate) mod cone;
pub(crate) mod earth;
pub(crate) mod gaussian;
pub(crate) mod healpix;
pub(crate) mod mercator;
pub(crate) mod plane;
pub(crate) mod projection;
pub(crate) mod rows;
pub(crate) mod scan;
pub(crate) mod space_view;
pub(crate) mod spectral;
pub(crate) mod transverse;
pub(crate) mod turned;
pub(crate) mod unstructured;

use self::earth::Earth;
use self::healpix::Healpix;
use self::scan::Scan;
use crate::cf::Projected;
use crate::coordinates::{Axes, Coordinates};
use crate::error::GridError;
use crate::octets::Needed;

/// A grid that computes where its points are.
pub(crate) trait Grid {
    /// The points in the order of their values. `None` if the grid has another number of points.
    fn coordinates(&self, points: u32) -> Option<Coordinates>;

    /// The latitudes of rows and the longitudes of columns, where rows of one length follow each other. `None` for other grids.
    fn axes(&self, _points: u32) -> Option<Axes> {
        None
    }

    /// x and y of its rows and columns. `None` for grids that do not lie on a plane or on a rotated globe.
    fn projected(&self, _points: u32) -> Option<Projected> {
        None
    }

    /// The grid as one of pixels of equal areas.
    fn as_healpix(&self) -> Option<Healpix> {
        None
    }
}

/// The grid of a section. `None` if its numbers describe one whose points are not known.
pub(crate) type Parsed = Result<Option<Box<dyn Grid>>, GridError>;

/// An edition of GRIB: section 3 of the second, or section 2 of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edition {
    First,
    Second,
}

impl Edition {
    /// An angle in degrees: in millionths of one, or in thousandths in the first edition.
    pub(crate) fn angle(self, section: Needed<'_>, octet: usize) -> Result<f64, GridError> {
        match self {
            Self::First => section.short_angle(octet),
            Self::Second => section.millionths(octet),
        }
    }

    /// The shape of the Earth. `None` for one that the tables do not have.
    pub(crate) fn earth(self, section: Needed<'_>) -> Result<Option<Earth>, GridError> {
        match self {
            Self::First => Ok(Earth::of_flags(section.u8(17)?)),
            Self::Second => Earth::parse(section),
        }
    }

    /// The order of points, for a scanning mode at an octet.
    pub(crate) fn scan(self, section: Needed<'_>, mode: usize) -> Result<Scan, GridError> {
        match self {
            Self::First => Scan::of_first(section),
            Self::Second => Ok(Scan { columns: section.u32(31)?, rows: section.u32(35)?, mode: section.u8(mode)? }),
        }
    }
}

/// How sections describe a grid.
pub(crate) struct Template {
    pub(crate) edition: Edition,
    /// The numbers of the template, or of the type in the first edition.
    pub(crate) numbers: &'static [u16],
    /// The octet of the scanning mode, for grids of rows and columns.
    pub(crate) scanning_mode: Option<usize>,
    /// Its other numbers, in lists that templates share.
    pub(crate) words: &'static [&'static [Word]],
    pub(crate) parse: fn(Needed<'_>) -> Parsed,
}

impl Template {
    pub(crate) fn words(&self) -> impl Iterator<Item = &'static Word> {
        self.words.iter().copied().flatten()
    }
}

/// A number of a section under the manual's word, and the octet at which it begins.
pub(crate) struct Word {
    pub(crate) name: &'static str,
    pub(crate) octet: usize,
    pub(crate) form: Form,
}

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// 1, 2, 3 or 4 octets without a sign. All bits are 1 where the number is missing.
    Unsigned(usize),
    /// 3 or 4 octets, the first bit of which is the sign.
    Signed(usize),
}

impl Word {
    pub(crate) const fn unsigned(name: &'static str, octet: usize, len: usize) -> Self {
        Self { name, octet, form: Form::Unsigned(len) }
    }

    pub(crate) const fn signed(name: &'static str, octet: usize, len: usize) -> Self {
        Self { name, octet, form: Form::Signed(len) }
    }

    /// The number. `None` if it is missing.
    pub(crate) fn read(&self, section: Needed<'_>) -> Result<Option<i64>, GridError> {
        let (Form::Unsigned(len) | Form::Signed(len)) = self.form;
        let raw = match len {
            1 => section.u8(self.octet)?.into(),
            2 => section.u16(self.octet)?.into(),
            3 => section.u24(self.octet)?,
            _ => section.u32(self.octet)?,
        };
        // Numbers of one octet are flags, which are never missing.
        let is_missing = len > 1 && u64::from(raw) == (1 << (8 * len)) - 1;
        if is_missing {
            return Ok(None);
        }
        Ok(Some(match self.form {
            Form::Unsigned(_) => raw.into(),
            Form::Signed(3) => section.i24(self.octet)?,
            Form::Signed(_) => section.i32(self.octet)?,
        }))
    }
}

/// All grids whose points or numbers are known.
pub(crate) static TEMPLATES: [&Template; 23] = [
    &rows::LATITUDES,
    &rows::ROTATED,
    &rows::GAUSSIAN,
    &rows::ROTATED_GAUSSIAN,
    &mercator::TEMPLATE,
    &transverse::TEMPLATE,
    &cone::POLAR,
    &cone::LAMBERT,
    &albers::TEMPLATE,
    &space_view::TEMPLATE,
    &azimuthal::TEMPLATE,
    &healpix::TEMPLATE,
    &unstructured::TEMPLATE,
    &spectral::HARMONICS,
    &spectral::WAVES,
    &spectral::FIRST,
    &rows::FIRST_LATITUDES,
    &rows::FIRST_GAUSSIAN,
    &mercator::FIRST,
    &cone::FIRST_POLAR,
    &cone::FIRST_LAMBERT,
    &albers::FIRST,
    &space_view::FIRST,
];

/// Grids whose values have no places, each with why, and what gives them some.
const UNPLACED: [(&Template, &str); 4] = [
    (&spectral::HARMONICS, spectral::OF_HARMONICS),
    (&spectral::FIRST, spectral::OF_HARMONICS),
    (&spectral::WAVES, spectral::OF_WAVES),
    (&unstructured::TEMPLATE, unstructured::WHY),
];

/// The template of a number, if its fields have no places.
pub(crate) fn unplaced(edition: Edition, number: u16) -> Option<&'static Template> {
    UNPLACED.iter().map(|(template, _)| *template).find(|it| it.edition == edition && it.numbers.contains(&number))
}

/// Why a field has no places, and what gives it some, if it is one of coefficients or on an unstructured grid: `has` says that it has each
/// number of [`unplaced`](crate::GridSection::unplaced). `None` for all other fields.
pub fn no_places(has: impl Fn(&str) -> bool) -> Option<&'static str> {
    UNPLACED.iter().find(|(template, _)| template.words().all(|word| has(word.name))).map(|(_, why)| *why)
}

/// What is known of a template's number.
pub(crate) fn find(edition: Edition, number: u16) -> Option<&'static Template> {
    TEMPLATES.into_iter().find(|template| template.edition == edition && template.numbers.contains(&number))
}
