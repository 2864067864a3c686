//! Errors of a label and of the tensors that it describes.

use std::fmt;

use crate::base::error::TensogramError;

/// An error of a label ([`TensErrorKind`]) and its place: a byte of the label, or a key of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensError {
    pub(super) kind: TensErrorKind,
    pub(super) offset: Option<usize>,
    pub(super) tensor: Option<usize>,
    pub(super) key: Option<&'static str>,
}

impl TensError {
    /// What is wrong.
    pub const fn kind(&self) -> TensErrorKind {
        self.kind
    }

    /// The position in the label in bytes, if the label is no UTF-8 or no JSON.
    pub const fn offset(&self) -> Option<usize> {
        self.offset
    }

    /// Which tensor.
    pub const fn tensor(&self) -> Option<usize> {
        self.tensor
    }

    /// The key, of the tensor if one is named, otherwise of the label or its TENS object.
    pub const fn key(&self) -> Option<&'static str> {
        self.key
    }
}

impl fmt::Display for TensError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)?;
        match (self.offset, self.tensor, self.key) {
            (Some(offset), ..) => write!(f, " at byte {offset} of the label"),
            (_, Some(tensor), Some(key)) => write!(f, " (tensor {tensor}, key {key})"),
            (_, Some(tensor), None) => write!(f, " (tensor {tensor})"),
            (_, None, Some(key)) => write!(f, " (key {key})"),
            (_, None, None) => Ok(()),
        }
    }
}

impl std::error::Error for TensError {}

/// The kinds of errors of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensErrorKind {
    /// The label is not UTF-8.
    LabelNotUtf8,
    /// The label is not JSON, is nested too deeply, or has bytes behind the JSON.
    LabelNotJson,
    /// The label is JSON and no object.
    LabelNotObject,
    /// The label has no TENS: a message without tensors.
    NoTens,
    /// TENS is no object.
    TensNotObject,
    /// `tensors` is no array.
    TensorsNotArray,
    /// An entry of `tensors` is no object.
    TensorNotObject,
    /// `shape`, `word` or `dtype` is not there.
    MissingAttribute,
    /// `shape` is no array of non-negative integers.
    BadShape,
    /// `word` is no integer from 1 to 2³²-1.
    BadWord,
    /// `dtype` is no text, or empty.
    BadDtype,
    /// `pointer` names an address, which is never followed.
    PointerUnsupported,
    /// `packing` is other than dense.
    UnsupportedPacking,
    /// `part` is no non-negative integer.
    BadPart,
    /// The message has no such payload part.
    PartOutOfRange,
    /// `order` is no permutation of the dimensions.
    BadOrder,
    /// `ascend` is not a boolean for each dimension.
    BadAscend,
    /// The tensor's bytes cannot be counted in 64 bits.
    SizeOverflow,
    /// The payload part is not as long as shape and word say.
    SizeMismatch,

    /// The tensor's elements have another type than the one asked for, or a type without a counterpart in Rust.
    DtypeMismatch,
    /// The tensor is not in row-major order; see `ordered_view`.
    NotRowMajor,
    /// A key with a fixed meaning was given as one of the application.
    ReservedKey,
}

impl TensErrorKind {
    pub(super) const fn in_label(self) -> TensError {
        TensError { kind: self, offset: None, tensor: None, key: None }
    }

    pub(super) const fn at_byte(self, offset: usize) -> TensError {
        TensError { kind: self, offset: Some(offset), tensor: None, key: None }
    }

    pub(super) const fn under(self, key: &'static str) -> TensError {
        TensError { kind: self, offset: None, tensor: None, key: Some(key) }
    }

    pub(super) const fn of(self, tensor: usize, key: &'static str) -> TensError {
        TensError { kind: self, offset: None, tensor: Some(tensor), key: Some(key) }
    }
}

impl fmt::Display for TensErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LabelNotUtf8 => "the label is not UTF-8",
            Self::LabelNotJson => "the label is not JSON",
            Self::LabelNotObject => "the label is not a JSON object",
            Self::NoTens => "the label has no key TENS",
            Self::TensNotObject => "TENS is not an object",
            Self::TensorsNotArray => "tensors is not an array",
            Self::TensorNotObject => "a tensor is not an object",
            Self::MissingAttribute => "a required attribute is missing",
            Self::BadShape => "shape is not an array of non-negative integers",
            Self::BadWord => "word is not an integer from 1 to 4294967295",
            Self::BadDtype => "dtype is not a non-empty text",
            Self::PointerUnsupported => "pointers to memory are not followed",
            Self::UnsupportedPacking => "packing is not dense",
            Self::BadPart => "part is not a non-negative integer",
            Self::PartOutOfRange => "the message has no such payload part",
            Self::BadOrder => "order is not a permutation of the dimensions",
            Self::BadAscend => "ascend is not one boolean for each dimension",
            Self::SizeOverflow => "the tensor's size exceeds 64 bits",
            Self::SizeMismatch => "the payload part is not as long as shape and word say",
            Self::DtypeMismatch => "the tensor's elements are of another type",
            Self::NotRowMajor => "the tensor is not stored in rows",
            Self::ReservedKey => "a key of the format cannot be an application's",
        })
    }
}

/// Structure.
impl From<tgm_core::zio::Error> for TensogramError {
    fn from(error: tgm_core::zio::Error) -> Self {
        Self::Framing(error.to_string().into())
    }
}

/// Metadata.
impl From<TensError> for TensogramError {
    fn from(error: TensError) -> Self {
        Self::Metadata(error.to_string().into())
    }
}
