//! What bytes are in which no message of version 3 was found.
//!
//! "No message found" helps nobody whose file is of another version, or was cut short. What stands in such bytes is looked
//! at and said here, for validation and for every command of the tool.

use std::fmt;

use tgm_core::scan::find;
use tgm_core::wire::{MAGIC, PREAMBLE_SIZE, Preamble, WIRE_VERSION};
use tgm_core::{Error, ErrorKind, Message};
use zerocopy::FromBytes;

use crate::base::error::{UPGRADE_ONE, way_out};
use crate::v2;

/// Version numbers above are taken for other text behind something that looks like a magic.
const MAX_VERSION: u16 = 255;

/// What bytes are that belong to no message of version 3. Its [`Display`](fmt::Display) says it in words, with the way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Leftover {
    /// Whole messages of version 2, which can be [upgraded](v2::upgrade_message).
    Version2 {
        /// How many there are.
        count: usize,
        /// Where the first one begins, in bytes from the first one given.
        offset: usize,
    },
    /// The beginning of a message of a version that is not read, or of version 2 without its end.
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
        /// Bytes of the message as its preamble states them; `None` if it does not, or the preamble itself is cut short.
        stated: Option<u64>,
        /// Bytes that are there, from its beginning on.
        present: usize,
    },
    /// The beginning of a message of version 3 that cannot be opened although its bytes are there.
    Damaged {
        /// Where it begins.
        offset: usize,
        /// What is wrong, and where, in bytes from the first one given.
        error: Error,
    },
    /// Nothing that looks like a message.
    Unknown,
}

impl Leftover {
    /// Looks at `bytes`, which belong to no message of version 3: O(bytes).
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
            return Self::Version2 { count: of_version_2.count().saturating_add(1), offset: first.range.start };
        }
        let mut from = 0;
        while let Some(at) = bytes.get(from..).and_then(|rest| find(rest, MAGIC)) {
            let offset = from.saturating_add(at);
            if let Some(found) = Self::at(bytes, offset) {
                return found;
            }
            from = offset.saturating_add(1);
        }
        Self::Unknown
    }

    /// What begins with the magic at `offset`.
    fn at(bytes: &[u8], offset: usize) -> Option<Self> {
        let rest = bytes.get(offset..)?;
        let present = rest.len();
        let Ok((preamble, _)) = Preamble::ref_from_prefix(rest) else {
            return Some(Self::CutShort { offset, stated: None, present });
        };
        match preamble.version.get() {
            WIRE_VERSION => {}
            version if version <= MAX_VERSION => return Some(Self::OtherVersion { version, offset }),
            _ => return None,
        }
        let stated = preamble.total_length.get();
        match Message::parse(rest) {
            // A whole one, which would not be here.
            Ok(message) if message.total_length().is_some() => None,
            // What states no length is looked for by its end, which is missing.
            Ok(_) => Some(Self::CutShort { offset, stated: None, present }),
            Err(error) if matches!(error.kind(), ErrorKind::MessageExceedsBuffer | ErrorKind::Truncated) => {
                Some(Self::CutShort { offset, stated: (stated > 0).then_some(stated), present })
            }
            Err(error) => Some(Self::Damaged { offset, error: error.shift(offset as u64) }),
        }
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
