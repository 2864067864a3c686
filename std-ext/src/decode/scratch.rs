//! Memory that decoding keeps between calls.

use tgm_codec::Workspace;

use super::masks::{MaskBuffers, MaskRuns};
use super::range_order::Visit;

/// Memory that decoding works in, kept from one call to the next, of the same object or of another.
///
/// It is empty at first, and grows to the largest size that a call needed. It holds bytes between two stages of a
/// pipeline, decompressed masks, and the memory of codecs. Its content never shows in values. Dropping it gives the
/// memory back. Each thread that decodes needs one of its own.
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
///     read(&object).scratch(&mut scratch).bytes_into(&mut values)?;
/// }
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Debug, Default)]
pub struct Scratch {
    /// Stored bytes that a decompressor wrote for another stage.
    pub(super) bytes: Vec<u8>,
    pub(super) masks: MaskBuffers,
    /// Runs of masks that several ranges need.
    pub(super) runs: MaskRuns,
    /// The order in which ranges are decoded.
    pub(super) visits: Vec<Visit>,
    pub(super) work: Workspace,
    /// Values that were decoded to be converted.
    pub(super) values: Vec<u8>,
    /// Values of a window that holds the selected values and others between them.
    pub(super) window: Vec<u8>,
}
