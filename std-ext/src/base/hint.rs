//! The advice that error texts contain.
//!
//! An error says what is wrong, and often what to do. The advice uses this library's words: a field of the options, a
//! feature, a type. A program with other words, such as a command line, replaces them by its own. For that it has to
//! know all of them, so they all stand in this file. `tests/tests/bounds/advice.rs` checks that.

use std::fmt;

macro_rules! hints {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A piece of advice in an error's text, or the name of a limit in it.
        ///
        /// A program that shows errors to its own users searches the text for each of [`Hint::ALL`]. It replaces what
        /// it finds by advice that its users can follow. Hints may be added: the test of such a program goes through
        /// [`Hint::ALL`], so that no new one is overlooked.
        ///
        /// ```
        /// use tgm_std::{Hint, MessageBuilder, ObjectBuilder};
        ///
        /// let error = MessageBuilder::new().object(ObjectBuilder::new(&[1], &[f64::NAN])?).encode().unwrap_err();
        /// assert!(error.to_string().contains(Hint::AllowNan.text()));
        /// # Ok::<(), tgm_std::TensogramError>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Hint { $($(#[$doc])* $name,)* }

        impl Hint {
            /// All hints. The text of a hint is never part of another hint's text.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The words as errors contain them.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

hints! {
    /// [`EncodeOptions::allow_nan`](crate::EncodeOptions::allow_nan).
    AllowNan = "pass allow_nan=true to substitute with 0.0 and record positions in a mask (MessageBuilder::allow_nan)",
    /// [`EncodeOptions::allow_inf`](crate::EncodeOptions::allow_inf).
    AllowInf = "pass allow_inf=true to substitute with 0.0 and record positions in a mask (MessageBuilder::allow_inf)",
    /// [`ObjectBuilder::simple_packing_of_finite`](crate::ObjectBuilder::simple_packing_of_finite).
    PackFinite = "simple_packing_of_finite packs the finite values and leaves the others to masks",
    /// [`EncodeOptions::aggregate_hash`](crate::EncodeOptions::aggregate_hash) of a streamed message.
    StreamedHashes = "take AggregateHashPolicy::Footer, Auto or None",
    /// [`EncodeOptions::provenance`](crate::EncodeOptions::provenance).
    SetProvenance = "set `provenance` of the options",
    /// [`DecodeLimits::max_decoded_bytes`](crate::DecodeLimits::max_decoded_bytes).
    MaxDecodedBytes = "the limit max_decoded_bytes",
    /// [`DecodeBudget::max_message_bytes`](crate::DecodeBudget::max_message_bytes).
    MaxMessageBytes = "the limit max_message_bytes",
    /// [`DecodeBudget::max_file_bytes`](crate::DecodeBudget::max_file_bytes).
    MaxFileBytes = "the limit max_file_bytes",
    /// [`DecodeLimits::max_expansion`](crate::DecodeLimits::max_expansion).
    MaxExpansion = "the limit max_expansion",
    /// [`DecodeLimits::max_metadata_bytes`](crate::DecodeLimits::max_metadata_bytes).
    MaxMetadataBytes = "the limit max_metadata_bytes",
    /// [`DecodeLimits::max_objects`](crate::DecodeLimits::max_objects).
    MaxObjects = "the limit max_objects",
    /// [`EncodeOptions::value_order`](crate::EncodeOptions::value_order).
    ValueOrder = "EncodeOptions::value_order says which it is (ValueOrder::Native or ValueOrder::Declared)",
    /// Feature `blosc2`, to encode.
    Blosc2 = "enable feature `blosc2`",
    /// Feature `blosc2-decode`.
    Blosc2Decode = "enable feature `blosc2-decode`",
    /// Feature `lz4`.
    Lz4 = "enable feature `lz4`",
    /// Feature `roaring`, to encode.
    Roaring = "enable feature `roaring`",
    /// Feature `sz3`, to encode with loss.
    Sz3 = "enable feature `sz3`",
    /// Feature `sz3-decode`, to decode, and to encode without loss.
    Sz3Decode = "enable feature `sz3-decode`",
    /// Feature `zstd`.
    Zstd = "enable feature `zstd`",
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

#[cfg(test)]
mod tests {
    use tgm_codec::{Codec, CodecError};

    use super::*;

    #[test]
    fn no_hint_is_part_of_another() {
        for hint in Hint::ALL {
            let holders = Hint::ALL.iter().filter(|other| other.text().contains(hint.text()));
            assert_eq!(holders.count(), 1, "{hint}");
        }
    }

    /// The words of `tgm-codec`, which are these.
    #[test]
    fn a_feature_that_a_codec_lacks_has_a_hint() {
        for about in tgm_codec::all().map(Codec::about) {
            for feature in [about.decoding, about.encoding].iter().filter_map(|support| support.missing_feature()) {
                let text = CodecError::not_compiled_in(about.name(), feature).to_string();
                assert!(Hint::ALL.iter().any(|hint| text.ends_with(hint.text())), "{text}");
            }
        }
    }
}
