//! What a stream holds next.

/// A part of a stream, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextSegment {
    /// A whole message. Its bytes are kept.
    Message { offset: u64, length: u64 },
    /// Bytes that belong to no message.
    Junk { offset: u64, length: u64 },
    /// A message that is longer than the limit.
    TooLarge { offset: u64, length: Option<u64> },
}

impl NextSegment {
    /// A whole message, which may be longer than the limit.
    pub(super) const fn message(offset: u64, length: u64, limit: u64) -> Self {
        if length > limit { Self::TooLarge { offset, length: Some(length) } } else { Self::Message { offset, length } }
    }
}
