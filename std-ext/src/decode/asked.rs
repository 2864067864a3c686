//! What a request asks for, whoever carries it out.

use std::borrow::Cow;

use super::wanted::Wanted;
use crate::base::options::DecodeOptions;

/// Which values a request asks for, and how to decode them. The requests of sources that answer at once, later or in steps
/// differ by what comes after this.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'r> {
    pub(crate) wanted: Wanted<'r>,
    /// `None` for the default options.
    pub(crate) options: Option<&'r DecodeOptions>,
}

impl<'r> Asked<'r> {
    /// All values, decoded by the default options.
    pub(crate) const ALL: Self = Self { wanted: Wanted::All, options: None };

    /// How to decode.
    pub(crate) fn options(self) -> Cow<'r, DecodeOptions> {
        self.options.map_or_else(|| Cow::Owned(DecodeOptions::default()), Cow::Borrowed)
    }

    /// How to decode values of a type: they are in this machine's byte order.
    pub(crate) fn native_options(self) -> Cow<'r, DecodeOptions> {
        let options = self.options();
        if options.native_byte_order {
            return options;
        }
        Cow::Owned(DecodeOptions { native_byte_order: true, ..options.into_owned() })
    }
}

/// The methods of a request that say which values it is for and how they are decoded, for an `impl` block of a type with
/// lifetime `'r` that has a field `asked`.
macro_rules! request_methods {
    () => {
        /// Asks for ranges of elements, each a first element and a count, over the flattened tensor. They may overlap,
        /// repeat and come in any order. Their values come one range after the other; as bytes, each range of a bitmask
        /// begins with a byte of its own.
        ///
        /// This replaces an earlier [`Self::select`].
        pub const fn ranges(mut self, ranges: &'r [(u64, u64)]) -> Self {
            self.asked.wanted = $crate::decode::wanted::Wanted::Ranges(ranges);
            self
        }

        /// Asks for a box of the tensor, with one pick for each dimension. The values lie row-major; the dimensions of
        /// which a single index is picked are gone. [`Picks`](crate::decode::Picks) reads picks from text.
        ///
        /// This replaces an earlier [`Self::ranges`].
        pub const fn select(mut self, picks: &'r [tgm_core::selection::Pick]) -> Self {
            self.asked.wanted = $crate::decode::wanted::Wanted::Box(picks);
            self
        }

        /// Sets how to decode. Otherwise the default options hold.
        pub const fn options(mut self, options: &'r $crate::base::options::DecodeOptions) -> Self {
            self.asked.options = Some(options);
            self
        }
    };
}
pub(crate) use request_methods;
