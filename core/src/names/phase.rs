//! The phases of a message, as a walk over its frames meets them.

use core::fmt;

/// How far a walk over a message's frames has come, and so which frames may come next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum DecodePhase {
    /// Only header frames have come. Any frame may come next.
    #[default]
    Header,
    /// An object has come. Preceders, objects and footer frames may come next.
    Body,
    /// A preceder has come. Its object must come next.
    Preceded,
    /// A footer frame has come. Only footer frames may come next.
    Footer,
}

impl fmt::Display for DecodePhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "header",
            Self::Body => "body",
            Self::Preceded => "preceder",
            Self::Footer => "footer",
        })
    }
}
