//! sz3: one-dimensional `float64` containers of SZ3 3.3.2 (PIPELINE §5.7).

#[cfg(feature = "sz3-decode")]
mod containers;
mod error_bound;

use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Key};

#[cfg(feature = "sz3-decode")]
pub use self::containers::{compress, compress_lossless, decompress_values};
pub use self::error_bound::ErrorBound;
use super::about::{
    About, Before, CodecResources, Expansion, Implementation, Input, Parameter, Support, Trial, Uncompressed, required,
};
#[cfg(feature = "sz3-decode")]
use super::compress::{append_made, numbers};
use super::{Codec, Compress, Compressing};
use crate::error::Result;

const ABOUT: About = About {
    compression: Compression::Sz3,
    input: Input::Numbers,
    is_lossy: true,
    keys: &[Key::Sz3ErrorBoundMode, Key::Sz3ErrorBound],
    usual: None,
    level: None,
    expansion: Expansion { bytes: None, by: "a Huffman code of one symbol has no bits" },
    is_in_version_2: true,
    decoding: Support::by(cfg!(feature = "sz3-decode"), "sz3-decode"),
    encoding: if cfg!(feature = "sz3") {
        Support::Whole
    } else if cfg!(feature = "sz3-decode") {
        Support::Lossless("sz3")
    } else {
        Support::Lacking("sz3-decode")
    },
    #[cfg(feature = "sz3")]
    implementation: Implementation::Library("SZ3", Some(|| containers::VERSION)),
    #[cfg(not(feature = "sz3"))]
    implementation: Implementation::OwnFor("tgm-std (decoding, and encoding without loss)"),
    trial: Trial { before: Before::Nothing, parameters: &parameters(ErrorBound::Absolute(1e-3)), loss: 1e-3 },
};

/// The parameters for an error bound.
pub const fn parameters(bound: ErrorBound) -> [(Key, Parameter); 2] {
    let (mode, number) = bound.parts();
    [(Key::Sz3ErrorBoundMode, Parameter::Text(mode)), (Key::Sz3ErrorBound, Parameter::Float(number))]
}

/// The codec: containers are read here, and written by SZ3 if something may be lost.
pub(super) struct Sz3;

impl Codec for Sz3 {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn check(&self, descriptor: &Descriptor<'_>) -> tgm_core::Result<()> {
        descriptor.sz3().map(|_| ())
    }

    #[cfg(feature = "sz3-decode")]
    fn decompress_into(&self, payload: &[u8], descriptor: &Descriptor<'_>, out: &mut [u8]) -> Result<()> {
        containers::decompress_into(payload, descriptor, out)
    }
}

impl Compressing for Sz3 {
    fn compressor(&self, object: &Uncompressed<'_>) -> Result<Box<dyn Compress>> {
        object.check_numbers(ABOUT.name())?;
        let mode = required(object.parameters.text(Key::Sz3ErrorBoundMode)?, Key::Sz3ErrorBoundMode)?;
        let bound = required(object.parameters.f64(Key::Sz3ErrorBound)?, Key::Sz3ErrorBound)?;
        let bound = ErrorBound::new(mode, bound).map_err(|error| error.in_codec(ABOUT.name()))?;
        Ok(Box::new(Within(bound)))
    }
}

/// Containers of one error bound.
#[derive(Debug)]
#[cfg_attr(not(feature = "sz3-decode"), expect(dead_code, reason = "parameters are checked in every build"))]
struct Within(ErrorBound);

impl Compress for Within {
    #[cfg(feature = "sz3-decode")]
    fn append(&self, bytes: &[u8], order: ByteOrder, _: CodecResources, out: &mut Vec<u8>) -> Result<Option<Vec<u64>>> {
        append_made(compress(&numbers(bytes, order)?, self.0)?, out).map(|()| None)
    }

    #[cfg(not(feature = "sz3-decode"))]
    fn append(&self, _: &[u8], _: ByteOrder, _: CodecResources, _: &mut Vec<u8>) -> Result<Option<Vec<u64>>> {
        Err(ABOUT.cannot_encode())
    }
}
