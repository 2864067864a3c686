//! What decoding keeps between calls.

use super::visits::Visit;
use crate::codec::Workspace;
use crate::decode::masks::{MaskBuffers, MaskRuns};

/// Memory that decoding works in, kept from one call to the next, of the same object or of another.
///
/// Holds nothing at first, and grows to the largest that was needed: bytes between two stages of a pipeline, compressed
/// masks decompressed, and what codecs work in. What it holds never shows in values; dropping it gives the memory back.
/// One for each thread that decodes.
///
/// ```
/// use tgm_std::{DecodeOptions, Scratch, values_into};
///
/// # let bytes = std::fs::read("../tests/data/codecs/blosc2-zlib-l5.tgm").unwrap();
/// let message = tgm_core::Message::parse(&bytes)?;
/// let (mut scratch, mut values) = (Scratch::default(), Vec::new());
/// for object in message.objects() {
///     let object = object?;
///     values.resize(usize::try_from(object.descriptor().decoded_len()?).unwrap(), 0);
///     values_into(&object, &DecodeOptions::default(), &mut scratch, &mut values)?;
/// }
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Debug, Default)]
pub struct Scratch {
    /// What a decompressor wrote for another stage.
    pub(super) bytes: Vec<u8>,
    pub(super) masks: MaskBuffers,
    /// Runs of masks that several ranges need.
    pub(super) runs: MaskRuns,
    /// The order that ranges are visited in.
    pub(super) visits: Vec<Visit>,
    pub(super) work: Workspace,
    /// Values that were decoded to be converted.
    pub(super) values: Vec<u8>,
}
