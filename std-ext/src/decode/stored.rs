//! Stored bytes: what a payload holds once its compression is undone, and the way from there to values.
//!
//! ```text
//! payload ─ open ─► stored bytes ─ write_values ─► values
//!           (a codec, or nothing)  (unshuffle, unpack, swap)
//! ```

use tgm_core::stored::Stored;

use super::join::join;
use super::plan::{Plan, WayToStored};
use crate::base::error::{Result, TensogramError};
use crate::base::limits::at_least;
use crate::base::threads::Threads;
use crate::codec::{Codec, CodecError, Workspace};
use crate::kernels;

/// All stored bytes of an object: out of the message, or decompressed into `bytes`.
///
/// # Errors
/// The errors of the codec and of [`join`].
#[inline]
pub(super) fn open<'s>(
    plan: &Plan<'_, '_>,
    way: WayToStored<'s>,
    bytes: &'s mut Vec<u8>,
    work: &mut Workspace,
) -> Result<Stored<'s>> {
    match way {
        WayToStored::InMessage(stored) => Ok(stored),
        WayToStored::ByCodec { codec, len } => {
            let (object, bytes) = (plan.object, at_least(bytes, len)?);
            let decompressed = codec.decompress_on(plan.threads, object.payload(), object.descriptor(), bytes, work);
            decompressed.map_err(|error| codec_error(codec, &error))?;
            join(object, bytes)
        }
    }
}

/// Swaps, unshuffles and unpacks all values into `out`, which is as long as they are.
///
/// # Errors
/// The errors of the stages.
pub(super) fn write_values(plan: &Plan<'_, '_>, stored: &Stored<'_>, out: &mut [u8]) -> Result<()> {
    // Threads meet at whole elements. The bits of a bitmask have no byte where a second thread could begin.
    let (width, threads) = match plan.object.descriptor().dtype().byte_width() {
        0 => (1, Threads::NONE),
        width => (width, plan.threads),
    };
    let (len, count) = (out.len(), stored.element_count());
    threads.pieces(out, width, |start, piece| {
        let first = (start / width) as u64;
        // All of a bitmask: its last byte may hold fewer than eight elements.
        let end = if piece.len() == len { count } else { first + (piece.len() / width) as u64 };
        kernels::decode_stored_into(stored, first..end, plan.order, piece)
            .map_err(|e| e.shift(plan.object.region_offset()))
    })?;
    Ok(())
}

/// What a codec said, with its name.
pub(super) fn codec_error(codec: &dyn Codec, error: &CodecError) -> TensogramError {
    TensogramError::encoding(format!("{} compression: {error}", codec.name()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use crate::{DecodeOptions, MessageBuilder, ObjectBuilder};

    #[test]
    fn threads_begin_at_the_elements_of_their_pieces() {
        let values: Vec<f64> = (0..999_u16).map(f64::from).collect();
        let object = || ObjectBuilder::new(&[999], &values).unwrap();
        for object in [object().shuffle(), object().simple_packing(13)] {
            let message = MessageBuilder::new().object(object).encode().unwrap();
            let decoded = |threads| {
                let options = DecodeOptions { threads, parallel_threshold_bytes: Some(0), ..DecodeOptions::default() };
                crate::decode(&message, &options).unwrap().1.pop().unwrap().1
            };
            assert_eq!(decoded(3), decoded(1));
        }
    }
}
