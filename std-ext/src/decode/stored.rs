//! Stored bytes: what a payload holds once its compression is undone, and the way from there to values.
//!
//! ```text
//! payload ─ open ─► stored bytes ─ write_values ─► values
//!           (a codec, or nothing)  (unshuffle, unpack, swap)
//! ```

use tgm_codec::kernels;
use tgm_codec::memory::at_least;
use tgm_codec::threads::Threads;
use tgm_codec::{Codec, CodecError, Workspace};
use tgm_core::descriptor::ByteOrder;
use tgm_core::object::DataObject;
use tgm_core::stored::Stored;

use super::plan::{Plan, WayToStored, join};
use super::trust::Trusted;
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;

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
            decompressed.map_err(|error| codec_error(codec, error, object.region_offset()))?;
            join(object, bytes)
        }
    }
}

/// The bytes that an object's compressor was given. Empty if the object is not compressed.
///
/// # Errors
/// The errors of the codec.
pub(crate) fn decompressed(object: &DataObject<'_>, options: &DecodeOptions) -> Result<Vec<u8>> {
    let len = object.descriptor().decoded_len()?;
    let threads = Threads::resolve(options.threads, len, options.parallel_threshold_bytes)?;
    let plan = Plan::new(Trusted::new(object, options)?, options, ByteOrder::NATIVE, threads)?;
    let mut bytes = Vec::new();
    open(&plan, plan.stored()?, &mut bytes, &mut Workspace::default())?;
    Ok(bytes)
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

/// What a codec said of a payload that starts at byte `payload_offset`, with the codec's name.
pub(super) fn codec_error(codec: &dyn Codec, error: CodecError, payload_offset: u64) -> TensogramError {
    error.in_codec(codec.name()).shift(payload_offset).into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use tgm_core::{ErrorKind, Message};

    use crate::{DecodeOptions, MessageBuilder, ObjectBuilder};

    #[test]
    fn a_defect_of_a_payload_keeps_its_kind_and_its_place_in_the_message() {
        let values: Vec<u16> = (0..999).collect();
        let message =
            MessageBuilder::new().object(ObjectBuilder::new(&[999], &values).unwrap().szip()).encode().unwrap();
        let object = Message::parse(&message).unwrap().object(0).unwrap();
        let (start, len) = (object.region_offset(), object.payload().len());
        let cut = object.with_payload(&object.payload()[..len - 8]);
        let error = crate::read(&cut).bytes().unwrap_err();
        assert!(error.to_string().starts_with("encoding error: szip compression: "), "{error}");
        assert_eq!(error.cause().unwrap().kind(), ErrorKind::Truncated);

        // Ones are plain samples, which end too early.
        let at = usize::try_from(start).unwrap();
        let damaged = [&message[..at], vec![0xff; len].as_slice(), &message[at + len..]].concat();
        let object = Message::parse(&damaged).unwrap().object(0).unwrap();
        let error = crate::read(&object).bytes().unwrap_err();
        let cause = error.cause().unwrap();
        assert!((start..=start + len as u64).contains(&cause.offset()), "{cause} {start}");
        let said: u64 = error.to_string().rsplit(' ').next().unwrap().parse().unwrap();
        assert_eq!(start + said, cause.offset(), "the text counts from the payload: {error}");
    }

    #[test]
    fn a_view_of_a_compressed_object_says_what_decodes_it() {
        let message =
            MessageBuilder::new().object(ObjectBuilder::new(&[2], &[1_u16, 2]).unwrap().szip()).encode().unwrap();
        let object = Message::parse(&message).unwrap().object(0).unwrap();
        let error = crate::TensogramError::from(object.view::<u16>().unwrap_err()).to_string();
        assert!(error.contains("szip") && error.contains("`values` and `decode` undo it"), "{error}");
    }

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
