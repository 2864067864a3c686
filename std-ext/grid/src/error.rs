//! What is wrong with a grid.

use std::fmt;

/// An error of reading a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GridError {
    /// The metadata of the object cannot be read.
    Metadata(tgm_core::Error),
    /// The section has another number than 3.
    SectionNumber(u8),
    /// The section states a length that is shorter than its own head, or longer than the bytes are.
    SectionLength(u32),
    /// The section is too short for its octets.
    ShortSection {
        /// The first octet that is missing, counted from 1.
        octet: usize,
    },
    /// The numbers of the section contradict each other.
    Contradiction,
    /// The grid has more points than the caller allows.
    TooManyPoints {
        /// The points that the section states.
        points: u32,
        /// The most that are allowed.
        most: u32,
    },
    /// The coordinates that were named belong to another grid.
    OtherGrid,
    /// The coordinates that were named are not as many as the values of the object, or of its last dimensions.
    NoSuchPoints {
        /// The values.
        values: u64,
    },
    /// Bounds are not four numbers.
    Area,
}

impl fmt::Display for GridError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Metadata(error) => error.fmt(f),
            Self::SectionNumber(number) => write!(f, "GRIB section {number} is not section 3, the grid"),
            Self::SectionLength(length) => write!(f, "GRIB section 3 states {length} bytes, which are not there"),
            Self::ShortSection { octet } => write!(f, "GRIB section 3 ends before octet {octet}"),
            Self::Contradiction => f.write_str("the numbers of GRIB section 3 contradict each other"),
            Self::TooManyPoints { points, most } => {
                write!(f, "the grid has {points} points, more than the {most} that are allowed")
            }
            Self::OtherGrid => f.write_str("the file of the grid has another uuidOfHGrid than the field"),
            Self::NoSuchPoints { values } => {
                write!(
                    f,
                    "the file of the grid has no {values} points, as many as the field, or as its last dimensions"
                )
            }
            Self::Area => f.write_str("four numbers are expected: north, west, south, east"),
        }
    }
}

impl std::error::Error for GridError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Metadata(error) => Some(error),
            _ => None,
        }
    }
}

impl From<tgm_core::Error> for GridError {
    fn from(error: tgm_core::Error) -> Self {
        Self::Metadata(error)
    }
}
