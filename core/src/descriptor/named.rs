//! Names as a message has them, known or not.

use core::fmt;

use crate::cbor::Text;
use crate::names::{Compression, Encoding, Filter, Key, MaskMethod, WireName};

/// A name read from a message: one that this crate knows as `K`, or any other text.
#[derive(Clone, Copy, Debug)]
pub enum Named<'a, K> {
    /// A name of the format.
    Known(K),
    /// Any other text.
    Unknown(Text<'a>),
}

impl<'a, K: Copy> Named<'a, K> {
    /// Looks the text up among the names.
    pub(crate) fn new(text: Text<'a>) -> Self
    where
        K: WireName,
    {
        text.known().map_or(Self::Unknown(text), Self::Known)
    }

    /// The choice that the name stands for, if the name is known.
    pub const fn known(&self) -> Option<K> {
        match self {
            Self::Known(known) => Some(*known),
            Self::Unknown(_) => None,
        }
    }
}

impl<K: fmt::Display> fmt::Display for Named<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(known) => known.fmt(f),
            Self::Unknown(text) => text.fmt(f),
        }
    }
}

/// Looks a text up among the names of a type, whether or not the text lies in one piece.
macro_rules! looked_up {
    ($($type:ident),+) => {
        $(
            impl From<Text<'_>> for Option<$type> {
                fn from(text: Text<'_>) -> Self {
                    text.known()
                }
            }
        )+
    };
}

looked_up!(Encoding, Filter, Compression, MaskMethod, Key);
