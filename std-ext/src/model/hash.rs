//! Digests of bytes, and of frames without their message (FORMAT §1.6, COMPAT §7.1).
//!
//! A flag of the frame says whether its slot holds a digest. Writers set it since 0.21. For frames of older messages
//! the message decides: [`tgm_core::hash::HashPresence`].

use tgm_core::frame::Frame;
use tgm_core::hash::{HashMismatch, HashPresence, Verdict};
use tgm_core::message::Outline;
use tgm_core::metadata::{MessageMetadata, Metadata};
use tgm_core::wire::{
    FRAME_COMMON_FOOTER_SIZE, FRAME_END, FRAME_HEADER_SIZE, FrameFlags, FrameHeader, FrameTail, FrameType,
};
use tgm_core::{ErrorKind, Message};
use twox_hash::XxHash3_64;
use zerocopy::FromBytes;

use crate::base::error::{CborOf, Result, TensogramError};
use crate::base::options::DecodeOptions;

/// The name of the format's only algorithm in hash frames.
pub const HASH_ALGORITHM_NAME: &str = "xxh3";

/// Digits of a digest in text form.
pub const HEX_DIGITS: usize = 16;

/// The XXH3-64 of `data`. It uses the widest instructions of this processor, and is faster than the digest of
/// `tgm_core`, which runs on every processor.
///
/// ```
/// assert_eq!(tgm_std::hash::digest(b""), 0x2d06_8005_38d3_94c2);
/// ```
pub fn digest(data: &[u8]) -> u64 {
    XxHash3_64::oneshot(data)
}

/// Checks the digest of a frame, with [`digest`].
pub fn check(presence: HashPresence, frame: &Frame<'_>) -> Verdict {
    presence.check_with(frame, digest)
}

/// The metadata of a whole message: [`Message::metadata`], after the digests of the frames that it comes from were checked.
/// They are the last metadata frame, and the preceders. A frame without a digest passes.
///
/// Metadata frames are small: the check costs little beside reading them.
///
/// ```
/// # let bytes = std::fs::read("../tests/data/realistic/surface-181x360.tgm")?;
/// let message = tgm_std::core::Message::parse(&bytes)?;
/// assert_eq!(tgm_std::hash::checked_metadata(&message)?.object_count(), message.objects().count());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`TensogramError::HashMismatch`] without an object; the errors of [`Message::metadata`].
pub fn checked_metadata<'a>(message: &Message<'a>) -> Result<MessageMetadata<'a>> {
    let outline = message.outline()?;
    check_metadata(message, &outline)?;
    metadata_of(message, &outline)
}

/// [`checked_metadata`], if the options do not turn the check off (`verify_metadata`).
///
/// # Errors
/// The errors of [`checked_metadata`].
pub fn metadata<'a>(message: &Message<'a>, options: &DecodeOptions) -> Result<MessageMetadata<'a>> {
    if options.verify_metadata { checked_metadata(message) } else { metadata_of(message, &message.outline()?) }
}

/// The metadata that `outline` leads to. Errors say which part of the metadata is wrong.
///
/// # Errors
/// The errors of [`Message::metadata`].
pub(crate) fn metadata_of<'a>(message: &Message<'a>, outline: &Outline<'a>) -> Result<MessageMetadata<'a>> {
    outline.metadata(message).map_err(|error| match (error.kind(), &outline.metadata) {
        (ErrorKind::BaseTooLong, Some(frame)) => {
            let entries = Metadata::of_frame(frame).map(|metadata| metadata.base_len());
            entries
                .map_or_else(Into::into, |entries| TensogramError::base_too_long(entries, outline.object_count, error))
        }
        (_, Some(frame)) if error.offset() >= frame.offset() && error.offset() < frame.end_offset() => {
            TensogramError::cbor_in(frame, CborOf::Metadata, error)
        }
        _ => error.into(),
    })
}

/// The check of [`checked_metadata`].
///
/// # Errors
/// [`TensogramError::HashMismatch`] without an object; the errors of the walk.
pub(crate) fn check_metadata<'a>(message: &Message<'a>, outline: &Outline<'a>) -> Result<()> {
    let check_one = |frame: &Frame<'_>| match check(frame.hash_presence(), frame) {
        Verdict::Good | Verdict::Missing => Ok(()),
        Verdict::Mismatch(mismatch) => Err(TensogramError::hash_mismatch(None, mismatch)),
    };
    outline.metadata.iter().try_for_each(check_one)?;
    if outline.preceder_count > 0 {
        for frame in message.frames() {
            let frame = frame?;
            if frame.frame_type() == FrameType::PrecederMetadata {
                check_one(&frame)?;
            }
        }
    }
    Ok(())
}

/// The XXH3-64 of `data` in the format's spelling: 16 lower-case hexadecimal digits.
///
/// ```
/// assert_eq!(tgm_std::compute_hash(b""), "2d06800538d394c2");
/// ```
pub fn compute_hash(data: &[u8]) -> String {
    format!("{:0HEX_DIGITS$x}", digest(data))
}

/// Whether a writer hashes, by the name of an algorithm: "xxh3" or no name means yes, "none" means no.
///
/// # Errors
/// [`TensogramError::Metadata`] for any other name.
pub fn parse_hash_name(name: Option<&str>) -> Result<bool> {
    match name {
        None | Some(HASH_ALGORITHM_NAME) => Ok(true),
        Some("none") => Ok(false),
        Some(other) => {
            Err(TensogramError::Metadata(format!("unknown hash type: {other} (expected xxh3 or none)").into()))
        }
    }
}

/// The digest of the body of a frame: the bytes between header and tail. `frame_bytes` are one frame of that type
/// without padding. Header and tail are not checked.
///
/// # Errors
/// [`TensogramError::Framing`] if they are shorter than header and tail.
pub fn hash_frame_body(frame_bytes: &[u8], frame_type: FrameType) -> Result<u64> {
    let body_end = frame_bytes.len().checked_sub(frame_type.tail_size());
    let body = body_end.and_then(|end| frame_bytes.get(FRAME_HEADER_SIZE..end));
    body.map(digest).ok_or_else(|| {
        let (least, len) = (frame_type.min_size(), frame_bytes.len());
        TensogramError::Framing(
            format!("frame too small to hash: frame_bytes.len() = {len} < {least}, its body is outside bounds").into(),
        )
    })
}

/// Checks the digest of a frame: `true` if it is right, `false` if the frame has none. `frame_bytes` are one frame of
/// that type without padding, because the slot is found from their end.
///
/// # Errors
/// [`TensogramError::HashMismatch`] if the digest is wrong; [`TensogramError::Framing`] for fewer bytes than header and
/// tail have, and for bytes that do not end with `ENDF`.
pub fn check_frame_hash(frame_bytes: &[u8], frame_type: FrameType) -> Result<bool> {
    let header = FrameHeader::ref_from_prefix(frame_bytes).map_err(|_| too_small(frame_bytes))?.0;
    let tail = FrameTail::ref_from_suffix(frame_bytes).map_err(|_| too_small(frame_bytes))?.1;
    if frame_bytes.len() < FRAME_HEADER_SIZE + FRAME_COMMON_FOOTER_SIZE {
        return Err(too_small(frame_bytes));
    }
    if tail.end != *FRAME_END {
        return Err(ErrorKind::FrameEnd.at((frame_bytes.len() - FRAME_END.len()) as u64).into());
    }
    if !header.flags().has(FrameFlags::HASH_PRESENT) {
        return Ok(false);
    }
    let (expected, computed) = (tail.hash.get(), hash_frame_body(frame_bytes, frame_type)?);
    if expected == computed {
        return Ok(true);
    }
    Err(TensogramError::hash_mismatch(None, HashMismatch { expected, computed }))
}

fn too_small(frame_bytes: &[u8]) -> TensogramError {
    TensogramError::Framing(
        format!("frame too small to read hash slot: frame_bytes.len() = {}", frame_bytes.len()).into(),
    )
}

/// [`check_frame_hash`] for a frame that must have a digest. Errors name the data object `object_index`.
///
/// # Errors
/// The errors of [`check_frame_hash`], and [`TensogramError::MissingHash`], with index 0 if no index is given.
pub fn verify_frame_hash(frame_bytes: &[u8], frame_type: FrameType, object_index: Option<usize>) -> Result<()> {
    match check_frame_hash(frame_bytes, frame_type) {
        Ok(true) => Ok(()),
        Ok(false) => Err(TensogramError::MissingHash { object_index: object_index.unwrap_or(0) }),
        Err(TensogramError::HashMismatch { expected, actual, .. }) => {
            Err(TensogramError::HashMismatch { object_index, expected, actual })
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    /// A metadata frame with the empty map as its body. The digest is the one in FORMAT §10.
    fn frame(flags: u16) -> Vec<u8> {
        let mut bytes = b"FR".to_vec();
        bytes.extend([0, 1, 0, 1]); // type, version
        bytes.extend(flags.to_be_bytes());
        bytes.extend(29_u64.to_be_bytes()); // total_length
        bytes.push(0xa0); // body
        bytes.extend(0x2b98_bb92_609b_d6f8_u64.to_be_bytes()); // hash
        bytes.extend(b"ENDF");
        bytes
    }

    #[test]
    fn names_say_whether_to_hash() {
        assert!(parse_hash_name(None).unwrap() && parse_hash_name(Some("xxh3")).unwrap());
        assert!(!parse_hash_name(Some("none")).unwrap());
        let error = parse_hash_name(Some("XXH3")).unwrap_err();
        assert_eq!(error.to_string(), "metadata error: unknown hash type: XXH3 (expected xxh3 or none)");
    }

    #[test]
    fn a_right_digest_is_good() {
        let frame = frame(FrameFlags::HASH_PRESENT);
        assert_eq!(hash_frame_body(&frame, FrameType::HeaderMetadata).unwrap(), 0x2b98_bb92_609b_d6f8);
        assert!(check_frame_hash(&frame, FrameType::HeaderMetadata).unwrap());
        assert!(verify_frame_hash(&frame, FrameType::HeaderMetadata, None).is_ok());
    }

    #[test]
    fn a_frame_without_the_flag_has_no_digest() {
        let frame = frame(0);
        assert!(!check_frame_hash(&frame, FrameType::HeaderMetadata).unwrap());
        let error = verify_frame_hash(&frame, FrameType::HeaderMetadata, Some(2)).unwrap_err();
        assert!(matches!(error, TensogramError::MissingHash { object_index: 2 }));
    }

    #[test]
    fn a_wrong_digest_names_the_object_where_it_is_known() {
        let mut frame = frame(FrameFlags::HASH_PRESENT);
        frame[16] = 0xa1;
        let error = check_frame_hash(&frame, FrameType::HeaderMetadata).unwrap_err();
        assert!(matches!(error, TensogramError::HashMismatch { object_index: None, .. }));
        let error = verify_frame_hash(&frame, FrameType::HeaderMetadata, Some(3)).unwrap_err();
        assert!(error.to_string().starts_with("hash mismatch on object 3: expected 2b98bb92609bd6f8, got "), "{error}");
    }

    #[test]
    fn what_is_no_frame_is_a_framing_error() {
        let frame = frame(FrameFlags::HASH_PRESENT);
        let text = |result: Result<bool>| result.unwrap_err().to_string();
        let error = hash_frame_body(&frame[..27], FrameType::HeaderMetadata).unwrap_err().to_string();
        assert!(error.contains("framing error: frame too small to hash"), "{error}");
        let error = hash_frame_body(&frame, FrameType::NTensorFrame).unwrap_err().to_string();
        assert!(error.contains("frame too small to hash"), "{error}");
        let error = text(check_frame_hash(&frame[..27], FrameType::HeaderMetadata));
        assert!(error.contains("frame too small to read hash slot"), "{error}");
        let padded = [&frame[..], &[0; 3]].concat();
        let error = text(check_frame_hash(&padded, FrameType::HeaderMetadata));
        assert!(error.contains("missing ENDF"), "{error}");
        let error = text(check_frame_hash(&frame, FrameType::NTensorFrame));
        assert!(error.contains("frame too small to hash"), "{error}");
        let mut broken = frame;
        broken[28] = b'X';
        let error = text(check_frame_hash(&broken, FrameType::HeaderMetadata));
        assert!(error.contains("missing ENDF"), "{error}");
    }
}
