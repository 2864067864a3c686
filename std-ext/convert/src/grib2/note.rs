//! What differs between a GRIB message and its Tensogram message.

use std::fmt;

use super::error::GribErrorKind;

/// A difference between a GRIB message and its Tensogram message.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// The field has a decimal scale factor. The manual's formula and the format's round differently.
    DecimalScale {
        /// Which field of the message.
        field: usize,
        /// No value differs by more than this, in its own unit.
        bound: f64,
    },
    /// The field was a picture that is not kept. The way back gives the same values by simple packing, in other bytes.
    Repacked {
        /// Which field of the message.
        field: usize,
        /// The number of its data representation template.
        template: u16,
    },
    /// The values of the field could not be read. The object has none, and keeps their bytes, which the way back returns.
    Unread {
        /// Which field of the message.
        field: usize,
        /// Why.
        reason: GribErrorKind,
    },
    /// The field names a bitmap of its centre, which no message holds, and has a value for each point all the same. All of
    /// these are kept.
    PredefinedBitmap {
        /// Which field of the message.
        field: usize,
        /// The number of the bitmap.
        code: u16,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DecimalScale { field, bound } => {
                write!(f, "field {field} has a decimal scale: values may differ by rounding, at most {bound:e}")
            }
            Self::Repacked { field, template } => write!(
                f,
                "field {field} had data representation template 5.{template}: back in GRIB it has simple packing of the same \
                 values"
            ),
            Self::Unread { field, reason } => {
                write!(f, "field {field} is kept without values, all of which are missing: {reason}")
            }
            Self::PredefinedBitmap { field, code } => {
                write!(
                    f,
                    "field {field} names bitmap {code} of its centre, which is not in the file: all points have a value"
                )
            }
        }
    }
}
