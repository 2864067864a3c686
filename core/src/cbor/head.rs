//! The head of a CBOR item: its first byte, and the argument that may follow it (RFC 8949 §3).
//!
//! ```text
//! bit   7 6 5 │ 4 3 2 1 0
//!       major │ info
//!
//! info  0 to 23    is the argument itself
//!       24 to 27   the argument is in the next 1, 2, 4 or 8 bytes, most significant first
//!       28 to 30   reserved
//!       31         no argument: an indefinite length or, with major type 7, a break
//! ```
//!
//! The argument is the value of an integer, the length of a string, the number of items of an array or of entries of a
//! map, the number of a tag, or the bits of a float. Every first byte that this crate reads, and every one that `tgm-std`
//! writes, is made of the constants here.

use crate::error::{Error, ErrorKind};
use crate::names::Kind;

/// Major types: the upper three bits of the first byte.
pub mod major {
    /// An unsigned integer.
    pub const UNSIGNED: u8 = 0;
    /// A negative integer: -1 minus the argument.
    pub const NEGATIVE: u8 = 1;
    /// A byte string.
    pub const BYTES: u8 = 2;
    /// A text string.
    pub const TEXT: u8 = 3;
    /// An array.
    pub const ARRAY: u8 = 4;
    /// A map.
    pub const MAP: u8 = 5;
    /// A tag and the item that it tags.
    pub const TAG: u8 = 6;
    /// A simple value, a float or a break.
    pub const SIMPLE: u8 = 7;
}

/// Additional information: the lower five bits of the first byte.
pub mod info {
    /// The first value that is not itself the argument.
    pub const SHORT_END: u8 = 24;
    /// The argument is in the next byte.
    pub const ONE_BYTE: u8 = 24;
    /// The argument is in the next two bytes; with major type 7 they are a binary16.
    pub const TWO_BYTES: u8 = 25;
    /// The argument is in the next four bytes; with major type 7 they are a binary32.
    pub const FOUR_BYTES: u8 = 26;
    /// The argument is in the next eight bytes; with major type 7 they are a binary64.
    pub const EIGHT_BYTES: u8 = 27;
    /// The length is indefinite or, with major type 7, this is a break.
    pub const INDEFINITE: u8 = 31;
}

/// Simple values: arguments of major type 7.
pub mod simple {
    /// False.
    pub const FALSE: u8 = 20;
    /// True.
    pub const TRUE: u8 = 21;
    /// Null.
    pub const NULL: u8 = 22;
    /// Undefined, which the format's readers take for null.
    pub const UNDEFINED: u8 = 23;
}

/// Tags that this crate gives a meaning to.
pub mod tag {
    /// The tagged byte string is the magnitude of a positive integer.
    pub const POSITIVE_BIGNUM: u64 = 2;
    /// The tagged byte string is -1 minus a negative integer.
    pub const NEGATIVE_BIGNUM: u64 = 3;
}

/// The first byte of an item.
///
/// ```
/// use tgm_core::cbor::head::{first_byte, info, major};
///
/// assert_eq!(first_byte(major::MAP, 3), 0xa3); // a map of three entries
/// assert_eq!(first_byte(major::SIMPLE, info::INDEFINITE), 0xff); // a break
/// ```
pub const fn first_byte(major: u8, info: u8) -> u8 {
    major << 5 | info
}

/// Major type and additional information of a first byte.
pub const fn split_first_byte(first: u8) -> (u8, u8) {
    (first >> 5, first & 0x1f)
}

/// The additional information of the shortest head with this argument.
pub const fn shortest_info(argument: u64) -> u8 {
    match argument {
        #[expect(clippy::cast_possible_truncation, reason = "below 24")]
        0..=23 => argument as u8,
        24..=0xff => info::ONE_BYTE,
        0x100..=0xffff => info::TWO_BYTES,
        0x1_0000..=0xffff_ffff => info::FOUR_BYTES,
        _ => info::EIGHT_BYTES,
    }
}

/// First bytes in full, for code that compares them without taking them apart.
pub(crate) mod first {
    use super::{first_byte, info, major, simple};

    macro_rules! first_bytes {
        ($($name:ident = $major:ident, $info:expr;)+) => {
            $(pub(crate) const $name: u8 = first_byte(major::$major, $info);)+
        };
    }

    first_bytes! {
        UNSIGNED = UNSIGNED, 0;
        UNSIGNED_SHORT_END = UNSIGNED, info::SHORT_END;
        UNSIGNED_8 = UNSIGNED, info::ONE_BYTE;
        UNSIGNED_16 = UNSIGNED, info::TWO_BYTES;
        UNSIGNED_32 = UNSIGNED, info::FOUR_BYTES;
        UNSIGNED_64 = UNSIGNED, info::EIGHT_BYTES;
        NEGATIVE = NEGATIVE, 0;
        NEGATIVE_SHORT_END = NEGATIVE, info::SHORT_END;
        NEGATIVE_8 = NEGATIVE, info::ONE_BYTE;
        NEGATIVE_16 = NEGATIVE, info::TWO_BYTES;
        NEGATIVE_32 = NEGATIVE, info::FOUR_BYTES;
        NEGATIVE_64 = NEGATIVE, info::EIGHT_BYTES;
        BYTES = BYTES, 0;
        BYTES_SHORT_END = BYTES, info::SHORT_END;
        BYTES_8 = BYTES, info::ONE_BYTE;
        BYTES_16 = BYTES, info::TWO_BYTES;
        TEXT = TEXT, 0;
        TEXT_SHORT_END = TEXT, info::SHORT_END;
        TEXT_8 = TEXT, info::ONE_BYTE;
        ARRAY = ARRAY, 0;
        ARRAY_SHORT_END = ARRAY, info::SHORT_END;
        MAP = MAP, 0;
        MAP_SHORT_END = MAP, info::SHORT_END;
        MAP_8 = MAP, info::ONE_BYTE;
        FALSE = SIMPLE, simple::FALSE;
        UNDEFINED = SIMPLE, simple::UNDEFINED;
        FLOAT_16 = SIMPLE, info::TWO_BYTES;
        FLOAT_32 = SIMPLE, info::FOUR_BYTES;
        FLOAT_64 = SIMPLE, info::EIGHT_BYTES;
    }
}

/// A head that was read: what the item is, and its length, value or count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// The major type.
    pub(super) major: u8,
    /// The additional information.
    pub(super) info: u8,
    /// The argument; 0 where the length is indefinite.
    pub(super) argument: u64,
    /// Where the head starts, in bytes from the start of the caller's slice.
    pub(super) offset: u64,
}

impl Head {
    /// Whether the item goes on until a break, or is a break.
    pub(super) const fn is_indefinite(&self) -> bool {
        self.info == info::INDEFINITE
    }

    /// Whether this is a break, which ends an item of indefinite length.
    pub(super) const fn is_break(&self) -> bool {
        self.major == major::SIMPLE && self.is_indefinite()
    }

    /// The type of the item.
    pub(super) const fn kind(&self) -> Kind {
        match self.major {
            major::UNSIGNED | major::NEGATIVE => Kind::Integer,
            major::BYTES => Kind::Bytes,
            major::TEXT => Kind::Text,
            major::ARRAY => Kind::Array,
            major::MAP => Kind::Map,
            major::TAG => Kind::Tag,
            _ if self.info > info::ONE_BYTE => Kind::Float,
            _ if self.argument < simple::NULL as u64 => Kind::Bool,
            _ => Kind::Null,
        }
    }

    /// An error about this item.
    pub(super) const fn error(&self, kind: ErrorKind) -> Error {
        kind.at(self.offset)
    }

    /// The error that says: this item is not of the `expected` type.
    pub(super) const fn wrong_type(&self, expected: Kind) -> Error {
        self.error(ErrorKind::WrongType { expected, found: self.kind() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_are_as_the_rfc_has_them() {
        assert_eq!((first::UNSIGNED_64, first::NEGATIVE_8, first::TEXT, first::TEXT_8), (0x1b, 0x38, 0x60, 0x78));
        assert_eq!((first::ARRAY_SHORT_END, first::MAP, first::FALSE, first::FLOAT_16), (0x98, 0xa0, 0xf4, 0xf9));
        for byte in 0..=u8::MAX {
            let (major, info) = split_first_byte(byte);
            assert_eq!(first_byte(major, info), byte);
        }
    }

    #[test]
    fn the_shortest_head_holds_its_argument_and_no_shorter_one_does() {
        for (argument, info) in [(0, 0), (23, 23), (24, 24), (255, 24), (256, 25), (65_535, 25), (65_536, 26)] {
            assert_eq!(shortest_info(argument), info);
        }
        assert_eq!((shortest_info(u32::MAX.into()), shortest_info(1 << 32), shortest_info(u64::MAX)), (26, 27, 27));
    }
}
