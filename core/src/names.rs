//! The words of the format: closed sets that messages, errors and callers name.
//!
//! Nothing here reads a message, and nothing here returns an error. That is why every other module can use these types,
//! [`crate::error`] included. Each module that a reader looks in re-exports its own words: [`crate::wire::FrameType`],
//! [`crate::descriptor::Dtype`], [`crate::cbor::Kind`].

mod dtype;
mod frame_type;
mod key;
mod kind;
mod phase;
#[cfg(feature = "serde")]
mod serde;
mod stage;
pub mod szip_flags;

pub use dtype::{ByteOrder, Dtype};
pub use frame_type::FrameType;
pub use key::Key;
pub use kind::Kind;
pub use phase::DecodePhase;
pub use stage::{Compression, Encoding, Filter, MaskMethod, Stage};

/// A choice that messages spell as a text of at most 23 bytes.
pub(crate) trait WireName: Copy + 'static {
    /// Every choice.
    fn all() -> &'static [Self];
    /// The text that stands for this choice.
    fn wire_name(self) -> &'static str;
    /// The choice that these bytes spell: exact and in lower case.
    fn from_bytes(name: &[u8]) -> Option<Self>;
}

/// Defines an enum whose variants have names on the wire, with lookup in both directions.
macro_rules! wire_names {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $type {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $type {
            /// Every value, in the order of this page.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name on the wire.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The value with this name: exact and in lower case.
            pub fn from_name(name: &str) -> Option<Self> {
                <Self as $crate::names::WireName>::from_bytes(name.as_bytes())
            }
        }

        impl core::fmt::Display for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl $crate::names::WireName for $type {
            fn all() -> &'static [Self] {
                Self::ALL
            }

            fn wire_name(self) -> &'static str {
                self.name()
            }

            #[inline]
            fn from_bytes(name: &[u8]) -> Option<Self> {
                // A loop over a table takes less code than comparisons one after the other, and more time.
                if $crate::target::IS_SMALL {
                    return Self::ALL.iter().copied().find(|known| known.name().as_bytes() == name);
                }
                $(if name == $name.as_bytes() {
                    return Some(Self::$variant);
                })+
                None
            }
        }
    };
}

use wire_names;
