//! What is wrong with a GRIB message, and where.

use std::fmt;

use tgm_grid::GridError;
use tgm_std::{Reason, TensogramError};

use crate::hint::Hint;

/// An error of reading GRIB: its kind, and the byte where it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GribError {
    kind: GribErrorKind,
    offset: u64,
}

/// The kinds of errors of GRIB messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GribErrorKind {
    /// The bytes do not begin with "GRIB".
    NoMagic,
    /// The message is of another edition than 1 and 2.
    Edition(u8),
    /// The bytes end before the message does, which states this length.
    Truncated(u64),
    /// The message states a length that no message has.
    MessageLength(u64),
    /// The message is longer than the limit.
    TooLong {
        /// The length that it states.
        length: u64,
        /// The limit.
        limit: u64,
    },
    /// The message does not end with "7777".
    NoEnd,
    /// A section states a length that is shorter than its own head, or leads past the end of the message.
    SectionLength {
        /// The number of the section.
        section: u8,
        /// The length that it states.
        length: u32,
    },
    /// A section stands where it must not (regulation 92.2): 8 is the end of the message.
    SectionOrder {
        /// The number of the section before it.
        before: u8,
        /// Its own number.
        section: u8,
    },
    /// A section is too short for its octets.
    ShortSection {
        /// The number of the section.
        section: u8,
        /// The first octet that is missing, counted from 1.
        octet: usize,
    },
    /// The data representation template is not supported.
    DataTemplate(u16),
    /// The packing of edition 1, by its name, is not supported.
    Packing(&'static str),
    /// Spectral coefficients of another than a triangular truncation.
    Truncation,
    /// The numbers of run length packing leave no levels, or no digits.
    Levels,
    /// Runs of levels are not as many values as section 5 states, or name levels that there are not.
    Runs,
    /// The precision of IEEE floating-point data (code table 5.7) is not supported.
    Precision(u8),
    /// The codec of the data representation template is not compiled in.
    NoCodec(u16),
    /// More bits for a value, or a part of a group, than are supported.
    Bits(u8),
    /// The way in which missing values are marked (code table 5.5) is not supported.
    MissingManagement(u8),
    /// The order of spatial differences (code table 5.6) is not supported.
    DifferenceOrder(u8),
    /// More groups than values.
    Groups {
        /// The groups that section 5 states.
        groups: u32,
        /// The values that it states.
        values: u64,
    },
    /// Groups have another number of values than section 5 states.
    GroupLengths {
        /// What section 5 states.
        stated: u64,
        /// The lengths of all groups, or of those up to the first that is too many.
        sum: u64,
    },
    /// A group has integers of more than 32 bits.
    GroupWidth,
    /// Parts of second order packing lie in one another, by the octets where section 4 says that they begin.
    GroupPlaces,
    /// Rows run to and fro, or groups are rows, and the grid has no rows.
    Rows,
    /// The integers of groups are beyond 2^53 in sum, or a first value is.
    GroupInteger,
    /// Objects have another number of sections than the message, by the lengths of its sections. It is never met.
    Sections {
        /// Sections 1 to 7 that the lengths lead to.
        counted: u64,
        /// Sections that objects keep.
        kept: u64,
    },
    /// The picture has another number of pixels than section 5 states values.
    Pixels {
        /// What section 5 states.
        stated: u64,
        /// Rows and columns of the picture, multiplied.
        pixels: u64,
    },
    /// The numbers of section 3, or of section 2 in edition 1, make no grid.
    Grid,
    /// The picture is of a kind that the manual does not have.
    Picture(&'static str),
    /// The reference value is not finite.
    ReferenceValue,
    /// The bitmap is one of the originating centre's (code table 6.0), which the message does not hold.
    PredefinedBitmap(u16),
    /// The bitmap is that of an earlier field (code table 6.0), but there is none.
    NoEarlierBitmap,
    /// The bitmap is shorter than the grid.
    ShortBitmap {
        /// Bits that it has.
        bits: u64,
        /// Points of the grid.
        points: u64,
    },
    /// Section 5 states another number of values than the grid or the bitmap has points.
    ValueCount {
        /// What section 5 states.
        stated: u64,
        /// The points that have a value.
        points: u64,
    },
    /// The data are shorter than their values.
    ShortData {
        /// Bytes that the values need.
        needed: u64,
        /// Bytes that there are.
        found: u64,
    },
}

impl GribErrorKind {
    /// Whether the message may be right, and its values cannot be read here.
    pub(super) const fn is_unread(self) -> bool {
        matches!(
            self,
            Self::DataTemplate(_)
                | Self::Packing(_)
                | Self::Truncation
                | Self::Rows
                | Self::Precision(_)
                | Self::Bits(_)
                | Self::MissingManagement(_)
                | Self::DifferenceOrder(_)
        )
    }

    /// The error of this kind at a byte.
    pub(super) const fn at(self, offset: usize) -> GribError {
        GribError { kind: self, offset: offset as u64 }
    }
}

impl GribError {
    /// What is wrong.
    pub const fn kind(&self) -> GribErrorKind {
        self.kind
    }

    /// Where, in bytes from the start of the message, or of the source for errors of [`MessageReader`](super::MessageReader).
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The error with an offset that counts from `base` bytes earlier.
    pub(super) const fn shift(self, base: u64) -> Self {
        Self { kind: self.kind, offset: self.offset.saturating_add(base) }
    }
}

impl fmt::Display for GribErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoMagic => f.write_str("no GRIB message begins here"),
            Self::Edition(edition) => write!(f, "GRIB edition {edition} is not supported: only 1 and 2 are"),
            Self::Truncated(length) => write!(f, "the GRIB message states {length} bytes, and the input ends before"),
            Self::MessageLength(length) => write!(f, "the GRIB message states {length} bytes, which none has"),
            Self::TooLong { length, limit } => {
                write!(f, "the GRIB message states {length} bytes, more than the limit of {limit}")
            }
            Self::NoEnd => f.write_str("the GRIB message does not end with 7777 where its length says"),
            Self::SectionLength { section, length } => {
                write!(f, "GRIB section {section} states {length} bytes, which do not fit in its message")
            }
            Self::SectionOrder { before, section: 8 } => write!(f, "the GRIB message ends after section {before}"),
            Self::SectionOrder { before, section } => {
                write!(f, "GRIB section {section} must not follow section {before}")
            }
            Self::ShortSection { section, octet } => write!(f, "GRIB section {section} ends before octet {octet}"),
            Self::DataTemplate(number) => {
                write!(f, "GRIB data representation template 5.{number}")?;
                if let Some(name) = template_name(number) {
                    write!(f, " ({name})")?;
                }
                f.write_str(" is not supported")
            }
            Self::Packing(name) => write!(f, "GRIB edition 1 with {name} is not supported"),
            Self::Truncation => {
                f.write_str("spectral coefficients of a truncation that is not triangular are not supported")
            }
            Self::Levels => f.write_str("the levels of GRIB section 5 contradict their number or their bits"),
            Self::Runs => f.write_str("the GRIB runs of levels do not give the values that section 5 states"),
            Self::Precision(code) => {
                write!(f, "GRIB data of IEEE precision {code} are not supported: only 1 (32 bits) and 2 (64 bits) are")
            }
            Self::NoCodec(number) => {
                let (name, hint) = (
                    template_name(number).unwrap_or_default(),
                    if number == 41 { Hint::GribPng } else { Hint::GribJpeg2000 },
                );
                write!(f, "GRIB data representation template 5.{number} ({name}) is not compiled in: {hint}")
            }
            Self::Bits(bits) => write!(f, "GRIB integers of {bits} bits are not supported here"),
            Self::MissingManagement(code) => {
                write!(f, "GRIB missing value management {code} is not supported: only 0, 1 and 2 are")
            }
            Self::DifferenceOrder(order) => {
                write!(f, "GRIB spatial differences of order {order} are not supported: only 1 and 2 are")
            }
            Self::Groups { groups, values } => write!(f, "GRIB section 5 states {groups} groups of {values} values"),
            Self::GroupLengths { stated, sum } => {
                write!(f, "the GRIB groups have {sum} values, and section 5 states {stated}")
            }
            Self::GroupWidth => f.write_str("a GRIB group has integers of more than 32 bits"),
            Self::GroupPlaces => f.write_str("the parts of GRIB second order packing lie in one another"),
            Self::Rows => f.write_str("GRIB second order packing of rows is not supported on a grid without rows"),
            Self::GroupInteger => f.write_str("the GRIB groups give an integer beyond 2^53"),
            Self::Sections { counted, kept } => {
                write!(f, "the GRIB message has {counted} sections, and {kept} would be kept")
            }
            Self::Pixels { stated, pixels } => {
                write!(f, "the GRIB picture has {pixels} pixels, and section 5 states {stated} values")
            }
            Self::Grid => f.write_str("the numbers of the GRIB section of the grid make none"),
            Self::Picture(what) => write!(f, "the GRIB picture {what}"),
            Self::ReferenceValue => f.write_str("the GRIB reference value is not finite"),
            Self::PredefinedBitmap(code) => {
                write!(f, "GRIB bitmap {code} is predefined by its centre, and is not in the message")
            }
            Self::NoEarlierBitmap => {
                f.write_str("the GRIB field takes the bitmap of an earlier one, and there is none")
            }
            Self::ShortBitmap { bits, points } => {
                write!(f, "the GRIB bitmap has {bits} bits, and the grid {points} points")
            }
            Self::ValueCount { stated, points } => {
                write!(f, "GRIB section 5 states {stated} values, and {points} points have one")
            }
            Self::ShortData { needed, found } => {
                write!(f, "the GRIB data have {found} bytes, and their values need {needed}")
            }
        }
    }
}

impl fmt::Display for GribError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.kind, self.offset)
    }
}

impl std::error::Error for GribError {}

impl From<GribError> for TensogramError {
    fn from(error: GribError) -> Self {
        // Kind and offset come along: `source` of the error is the `GribError`.
        let reason = Reason::with_source(error.to_string(), Some(error.offset), error);
        match error.kind {
            GribErrorKind::Edition(_)
            | GribErrorKind::DataTemplate(_)
            | GribErrorKind::Packing(_)
            | GribErrorKind::Truncation
            | GribErrorKind::Rows
            | GribErrorKind::Precision(_)
            | GribErrorKind::Bits(_)
            | GribErrorKind::NoCodec(_)
            | GribErrorKind::MissingManagement(_)
            | GribErrorKind::DifferenceOrder(_)
            | GribErrorKind::Picture(_)
            | GribErrorKind::PredefinedBitmap(_) => Self::Encoding(reason),
            _ => Self::Framing(reason),
        }
    }
}

/// The error of section 3 of a message, in which it lies at `offset`.
pub(super) fn at_grid(offset: usize) -> impl Fn(GridError) -> GribError {
    move |error| {
        let kind = match error {
            GridError::ShortSection { octet } => GribErrorKind::ShortSection { section: 3, octet },
            GridError::SectionLength(length) => GribErrorKind::SectionLength { section: 3, length },
            _ => GribErrorKind::Grid,
        };
        kind.at(offset)
    }
}

/// The error of section 3 in the metadata of an object.
pub(super) fn of_grid(error: GridError) -> TensogramError {
    match error {
        GridError::Metadata(error) => error.into(),
        error => at_grid(0)(error).into(),
    }
}

/// The names of templates that are not supported (code table 5.0).
const fn template_name(number: u16) -> Option<&'static str> {
    match number {
        1 => Some("matrix values, simple packing"),
        40 => Some("JPEG 2000"),
        41 => Some("PNG"),
        53 => Some("bi-Fourier coefficients, complex packing"),
        _ => None,
    }
}
