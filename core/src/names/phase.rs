//! The phases of a message, as a walk over its frames meets them.

use core::fmt;

/// How far the walk through a message has come: which frames may come next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum DecodePhase {
    /// Header frames so far: anything may come.
    #[default]
    Header,
    /// Objects have begun: preceders, objects and footer frames may come.
    Body,
    /// A preceder waits for its object: only an object may come.
    Preceded,
    /// Footer frames have begun: only footer frames may come.
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
