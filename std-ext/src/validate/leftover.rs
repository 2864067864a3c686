//! Description of bytes in which no message of version 3 was found.
//!
//! A file may hold messages of another version, or be cut short. This module finds that out, for validation and for
//! every command of the tool.

use std::fmt;

use tgm_core::message::{check_postamble, check_preamble};
use tgm_core::scan::find;
use tgm_core::wire::{MAGIC, POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble, Preamble};
use tgm_core::{Error, ErrorKind};
use zerocopy::FromBytes;

use crate::base::error::{UPGRADE_ONE, way_out};
use crate::base::span::index;
use crate::v2;

/// A version number above this means that the magic is part of other data.
const MAX_VERSION: u16 = 255;

/// The content of bytes that belong to no message of version 3. Its [`Display`](fmt::Display) is a phrase with the way
/// out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Leftover {
    /// Whole messages of version 2, which can be [upgraded](v2::upgrade_message).
    Version2 {
        /// How many there are.
        count: usize,
        /// The start of the first one, in bytes from the start of the input.
        offset: usize,
    },
    /// The beginning of a message of a version that is not supported, or of version 2 without its end.
    OtherVersion {
        /// The version that its preamble states.
        version: u16,
        /// Where it begins.
        offset: usize,
    },
    /// The beginning of a message of version 3 whose end is missing.
    CutShort {
        /// Where it begins.
        offset: usize,
        /// The length that the preamble states. `None` if it states none, or is itself cut short.
        stated: Option<u64>,
        /// The number of bytes present, from its start on.
        present: usize,
    },
    /// A message of version 3 that is all there and cannot be opened.
    Damaged {
        /// Where it begins.
        offset: usize,
        /// The error, with its offset from the start of the input.
        error: Error,
    },
    /// Nothing that looks like a message.
    Unknown,
}

impl Leftover {
    /// Describes `bytes`, which belong to no message of version 3: O(bytes).
    ///
    /// ```
    /// use tgm_std::Leftover;
    ///
    /// let future = *b"TENSOGRM\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\x30";
    /// assert_eq!(Leftover::of(&future), Leftover::OtherVersion { version: 4, offset: 0 });
    /// assert!(Leftover::of(&future).to_string().contains("version 4"));
    /// ```
    pub fn of(bytes: &[u8]) -> Self {
        let mut of_version_2 = v2::scan(bytes).into_iter().filter(|part| part.kind == v2::Kind::V2);
        if let Some(first) = of_version_2.next() {
            return Self::Version2 { count: of_version_2.count() + 1, offset: first.range.start };
        }
        let mut from = 0;
        while let Some(at) = bytes.get(from..).and_then(|rest| find(rest, MAGIC)) {
            let offset = from + at;
            if let Some(found) = Self::at(bytes, offset) {
                return found;
            }
            from = offset + 1;
        }
        Self::Unknown
    }

    /// Describes the message that begins with `preamble` and is not whole. `room` is the number of bytes from the
    /// preamble's start to the end of the file.
    ///
    /// For callers that do not read the whole file. `postamble_at` reads the postamble at an offset from the preamble's
    /// start. It is called at most once, and only if the stated length fits into `room`.
    ///
    /// `None` if `preamble` has no magic, or a version number above 255, which means that the magic is part of other
    /// data. Also `None` if both ends are right, or the postamble cannot be read.
    pub fn of_preamble(
        preamble: &Preamble,
        room: u64,
        postamble_at: impl FnOnce(u64) -> Option<Postamble>,
    ) -> Option<Self> {
        // As many as this machine can count, in a longer file.
        let present = index(room);
        let error = match check_preamble(preamble, room) {
            // A message without a stated length ends at an end magic, which was not found.
            Ok(None) => return Some(Self::CutShort { offset: 0, stated: None, present }),
            Ok(Some(stated)) => {
                let postamble = postamble_at(stated.checked_sub(POSTAMBLE_SIZE as u64)?)?;
                check_postamble(&postamble, stated).err()?
            }
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::StartMagic => None,
            ErrorKind::Version(version) => {
                (version <= MAX_VERSION).then_some(Self::OtherVersion { version, offset: 0 })
            }
            ErrorKind::MessageExceedsBuffer => {
                Some(Self::CutShort { offset: 0, stated: Some(preamble.total_length.get()), present })
            }
            _ => Some(Self::Damaged { offset: 0, error }),
        }
    }

    /// Describes the message whose magic is at `offset`.
    fn at(bytes: &[u8], offset: usize) -> Option<Self> {
        let rest = bytes.get(offset..)?;
        let present = rest.len();
        let Ok((preamble, _)) = Preamble::ref_from_prefix(rest) else {
            return Some(Self::CutShort { offset, stated: None, present });
        };
        let postamble_at = |at| {
            let (postamble, _) = Postamble::read_from_prefix(rest.get(usize::try_from(at).ok()?..)?).ok()?;
            Some(postamble)
        };
        Some(match Self::of_preamble(preamble, present as u64, postamble_at)? {
            Self::OtherVersion { version, .. } => Self::OtherVersion { version, offset },
            Self::CutShort { stated, present, .. } => Self::CutShort { offset, stated, present },
            Self::Damaged { error, .. } => Self::Damaged { offset, error: error.shift(offset as u64) },
            other => other,
        })
    }
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Version2 { count: 1, .. } => write!(f, "1 message of version 2: {UPGRADE_ONE}"),
            Self::Version2 { count, .. } => {
                write!(f, "{count} messages of version 2: `tgm upgrade` makes them version 3")
            }
            Self::OtherVersion { version, .. } => write!(f, "a message of version {version}: {}", way_out(version)),
            Self::CutShort { stated: Some(stated), present, .. } => {
                write!(f, "a message of {stated} bytes that is cut short: {present} are there")
            }
            Self::CutShort { present, .. } if present < PREAMBLE_SIZE => {
                write!(f, "a message that is cut short in its first {PREAMBLE_SIZE} bytes")
            }
            Self::CutShort { .. } => f.write_str("a streamed message without its end"),
            Self::Damaged { error, .. } => write!(f, "a damaged message: {error}"),
            Self::Unknown => f.write_str("nothing that looks like a message"),
        }
    }
}
