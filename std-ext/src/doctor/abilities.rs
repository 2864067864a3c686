//! What this build can do with each compression, and the code that this processor takes.

use serde::Serialize;
use tgm_codec::about::{About, Support};
use tgm_codec::kernels::simd::Simd;

/// What this build can do with a compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CodecAbility {
    /// Its name in the format.
    pub name: &'static str,
    /// Whether it decodes.
    pub decode: bool,
    /// Whether it encodes.
    pub encode: Encodes,
}

/// Whether, and how, a build encodes with a compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Encodes {
    /// It does.
    Yes,
    /// Only without loss, where the compression can lose.
    Lossless,
    /// It does not.
    No,
}

/// The vector code for packing, filters and masks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VectorPaths {
    /// The one that is taken. `TENSOGRAM_SIMD` can forbid better ones.
    pub used: &'static str,
    /// Those that this processor can take, the plainest first: `base`, `neon`, `avx2`, `avx512`.
    pub available: Vec<&'static str>,
}

/// What this build can do with each compression of the format.
///
/// ```
/// let abilities = tgm_std::doctor::codec_abilities();
/// assert!(abilities.iter().any(|codec| codec.name == "szip" && codec.decode));
/// ```
pub fn codec_abilities() -> Vec<CodecAbility> {
    tgm_codec::all().map(|codec| ability(codec.about())).collect()
}

const fn ability(about: &About) -> CodecAbility {
    let encode = match about.encoding {
        Support::Whole => Encodes::Yes,
        Support::Lossless(_) => Encodes::Lossless,
        Support::Lacking(_) => Encodes::No,
    };
    CodecAbility { name: about.name(), decode: about.decoding.is_any(), encode }
}

/// The vector code that this processor can take, and the one that is taken.
pub fn vector_paths() -> VectorPaths {
    VectorPaths { used: Simd::best().name(), available: Simd::all().map(Simd::name).collect() }
}

#[cfg(test)]
mod tests {
    use tgm_core::descriptor::Compression;

    use super::*;

    #[test]
    fn what_is_said_to_encode_also_decodes() {
        let abilities = codec_abilities();
        assert_eq!(abilities.len() + 1, Compression::ALL.len());
        assert!(abilities.iter().all(|codec| codec.decode || codec.encode == Encodes::No), "{abilities:?}");
    }

    #[test]
    fn the_code_that_is_taken_is_available() {
        let paths = vector_paths();
        assert_eq!(paths.available.first(), Some(&"base"));
        assert!(paths.available.contains(&paths.used));
    }
}
