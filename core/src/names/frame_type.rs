//! What a frame can hold.

use core::fmt;

/// What a frame holds (FORMAT §1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum FrameType {
    /// Global metadata, before the objects.
    HeaderMetadata = 1,
    /// The places of the objects, before the objects.
    HeaderIndex = 2,
    /// The digests of the objects, before the objects.
    HeaderHash = 3,
    /// The digests of the objects, after the objects.
    FooterHash = 5,
    /// The places of the objects, after the objects.
    FooterIndex = 6,
    /// Global metadata, after the objects.
    FooterMetadata = 7,
    /// Metadata of the object that follows.
    PrecederMetadata = 8,
    /// A data object: payload, masks and descriptor.
    NTensorFrame = 9,
}

impl FrameType {
    /// Every type that the format defines, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::HeaderMetadata,
        Self::HeaderIndex,
        Self::HeaderHash,
        Self::FooterHash,
        Self::FooterIndex,
        Self::FooterMetadata,
        Self::PrecederMetadata,
        Self::NTensorFrame,
    ];

    /// The type with this number; `None` for numbers that the format does not use.
    pub(crate) const fn of_number(number: u16) -> Option<Self> {
        Some(match number {
            1 => Self::HeaderMetadata,
            2 => Self::HeaderIndex,
            3 => Self::HeaderHash,
            5 => Self::FooterHash,
            6 => Self::FooterIndex,
            7 => Self::FooterMetadata,
            8 => Self::PrecederMetadata,
            9 => Self::NTensorFrame,
            _ => return None,
        })
    }

    /// The number written in the frame header.
    pub const fn as_u16(self) -> u16 {
        self as u16
    }

    /// Whether this is the data object's frame.
    pub const fn is_data_object(self) -> bool {
        matches!(self, Self::NTensorFrame)
    }

    /// Whether the body is global metadata (types 1, 7 and 8).
    pub const fn is_metadata(self) -> bool {
        matches!(self, Self::HeaderMetadata | Self::FooterMetadata | Self::PrecederMetadata)
    }

    /// The format's name for the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HeaderMetadata => "HeaderMetadata",
            Self::HeaderIndex => "HeaderIndex",
            Self::HeaderHash => "HeaderHash",
            Self::FooterHash => "FooterHash",
            Self::FooterIndex => "FooterIndex",
            Self::FooterMetadata => "FooterMetadata",
            Self::PrecederMetadata => "PrecederMetadata",
            Self::NTensorFrame => "NTensorFrame",
        }
    }
}

impl fmt::Display for FrameType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
