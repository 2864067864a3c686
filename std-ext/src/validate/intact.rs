//! Whether a message is as it was written: one question, one answer, nothing decoded.
//!
//! | want | take | reads |
//! |---|---|---|
//! | a yes or no, and the first thing that is wrong | [`check_message`] | every byte once |
//! | everything that is wrong, and whether it decodes | [`validate_message`](super::validate_message) | every byte, and decodes |

use std::fmt;

use tgm_core::Message;
use tgm_core::frame::Frame;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::wire::FrameType;

use crate::base::error::TensogramError;
use crate::model::hash;

/// Checks that the message which `bytes` begin with is intact: its structure, and the digest of every frame.
///
/// Structure means preamble, postamble, lengths, order of frames and padding between them; then metadata, descriptors, masks,
/// indexes and hash lists, each by itself and against the objects. No payload is decoded, and nothing is allocated. One pass over
/// the bytes, at the speed of XXH3.
///
/// An object without a digest cannot be checked. That is an error too, with [`TensogramError::MissingHash`]; it means that
/// all other checks passed ([`Damage::is_missing_digest`]). Other frames without a digest pass. Bytes behind a message that states its length
/// are not looked at.
///
/// A digest finds accidents. It does not find forgery: a forger computes it anew. [`validate_message`](super::validate_message)
/// also finds what a writer got wrong.
///
/// # Errors
/// [`Damage`]: the first thing that is wrong, and where. `?` turns it into a [`TensogramError`].
///
/// ```
/// use tgm_std::validate::check_message;
///
/// # let mut bytes = std::fs::read("../tests/data/dtypes/float32-little.tgm").unwrap();
/// check_message(&bytes)?;
///
/// let payload = tgm_std::core::Message::parse(&bytes)?.object(0)?.region_offset() as usize;
/// bytes[payload] ^= 1;
/// let damage = check_message(&bytes).unwrap_err();
/// assert_eq!(damage.object(), Some(0));
/// assert!(damage.to_string().contains("hash mismatch on object 0"));
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
pub fn check_message(bytes: &[u8]) -> Result<(), Damage> {
    let message = Message::parse(bytes).map_err(|error| Damage::of_structure(TensogramError::opening(error, bytes)))?;
    // The order of frames, which the walk alone does not look at.
    message.outline().map_err(Damage::from_core)?;
    let presence = message.hash_presence().map_err(Damage::from_core)?;
    let (mut objects, mut missing) = (0, None);
    for frame in message.frames() {
        let frame = frame.map_err(Damage::from_core)?;
        let object = frame.frame_type().is_data_object().then_some(objects);
        match check(presence, &frame, object) {
            // A wrong digest says more than a missing one.
            Err(damage) if damage.is_missing_digest() => {
                missing.get_or_insert(damage);
            }
            checked => checked?,
        }
        objects += usize::from(object.is_some());
    }
    // The digests do not cover headers and tails of frames, which say where the parts of an object are.
    message.verify_contents().map_err(Damage::from_core)?;
    missing.map_or(Ok(()), Err)
}

fn check(presence: HashPresence, frame: &Frame<'_>, object: Option<usize>) -> Result<(), Damage> {
    let error = match (hash::check(presence, frame), object) {
        (Verdict::Good, _) | (Verdict::Missing, None) => return Ok(()),
        (Verdict::Missing, Some(object_index)) => TensogramError::MissingHash { object_index },
        (Verdict::Mismatch(mismatch), _) => TensogramError::hash_mismatch(object, mismatch),
    };
    Err(Damage { offset: frame.offset(), frame: Some(frame.frame_type()), object, error })
}

/// What is wrong with a message, and where: the first thing that [`check_message`] finds.
#[derive(Debug)]
pub struct Damage {
    offset: u64,
    frame: Option<FrameType>,
    object: Option<usize>,
    error: TensogramError,
}

impl Damage {
    fn of_structure(error: TensogramError) -> Self {
        let offset = error.cause().map_or(0, |cause| cause.offset());
        Self { offset, frame: None, object: None, error }
    }

    fn from_core(error: tgm_core::Error) -> Self {
        Self::of_structure(error.into())
    }

    /// Bytes from the start of the message to the damage: to the frame whose digest is wrong, or to the bytes that break
    /// the structure.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The type of the frame whose digest is wrong. `None` if the structure is broken.
    pub const fn frame(&self) -> Option<FrameType> {
        self.frame
    }

    /// The number of the object whose digest is wrong or missing. `None` for other frames, and if the structure is broken.
    pub const fn object(&self) -> Option<usize> {
        self.object
    }

    /// Whether nothing is known to be wrong: an object has no digest, and all that could be checked is right.
    pub const fn is_missing_digest(&self) -> bool {
        matches!(self.error, TensogramError::MissingHash { .. })
    }

    /// What is wrong.
    pub const fn error(&self) -> &TensogramError {
        &self.error
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.frame {
            Some(frame) => write!(f, "{frame} at byte {}: {}", self.offset, self.error),
            // Errors of the structure say where they are.
            None => self.error.fmt(f),
        }
    }
}

impl std::error::Error for Damage {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl From<Damage> for TensogramError {
    fn from(damage: Damage) -> Self {
        damage.error
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]
mod tests {
    use super::*;
    use crate::{EncodeOptions, MessageBuilder, ObjectBuilder};

    fn message(hashing: bool) -> Vec<u8> {
        let object = || ObjectBuilder::new(&[64], &[7_u8; 64]).unwrap().metadata("a", 1);
        let options = EncodeOptions { hashing, ..EncodeOptions::default() };
        MessageBuilder::new().object(object()).object(object()).options(options).encode().unwrap()
    }

    #[test]
    fn every_changed_byte_of_a_body_is_found_where_it_is() {
        let bytes = message(true);
        check_message(&bytes).unwrap();
        let opened = Message::parse(&bytes).unwrap();
        let mut seen = 0;
        for frame in opened.frames() {
            let frame = frame.unwrap();
            let body = usize::try_from(frame.body_offset()).unwrap();
            for place in body..body + frame.body().len() {
                let mut changed = bytes.clone();
                changed[place] ^= 0x10;
                let damage = check_message(&changed).unwrap_err();
                assert!(matches!(damage.error(), TensogramError::HashMismatch { .. }), "{damage}");
                assert_eq!((damage.offset(), damage.frame()), (frame.offset(), Some(frame.frame_type())));
                assert_eq!(damage.object().is_some(), frame.frame_type().is_data_object());
                seen += 1;
            }
        }
        assert!(seen > 200);
    }

    #[test]
    fn what_passes_decodes_to_the_same_values() {
        let values: Vec<f64> = (0..500_u32).map(|i| if i % 7 == 0 { f64::NAN } else { f64::from(i) }).collect();
        let object = || ObjectBuilder::new(&[500], &values).unwrap().metadata("param", "2t");
        let options = EncodeOptions { allow_nan: true, ..EncodeOptions::default() };
        let message = MessageBuilder::new().object(object()).object(object().shuffle()).options(options);
        let bytes = message.encode().unwrap();
        let decoded = |bytes: &[u8]| crate::decode(bytes, &crate::DecodeOptions::default()).map(|found| found.1);
        let expected: Vec<_> = decoded(&bytes).unwrap().into_iter().map(|object| object.1).collect();
        let mut passed = 0;
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            if check_message(&changed).is_ok() {
                let found: Vec<_> = decoded(&changed).unwrap().into_iter().map(|object| object.1).collect();
                assert!(found == expected, "bit {bit}");
                passed += 1;
            }
        }
        // Reserved bits and padding.
        assert!(passed > 0);
    }

    #[test]
    fn every_cut_is_found() {
        let bytes = message(true);
        for len in 0..bytes.len() {
            assert!(check_message(&bytes[..len]).is_err(), "{len}");
        }
        check_message(&[bytes.clone(), vec![0; 9]].concat()).unwrap();
    }

    #[test]
    fn a_message_without_digests_cannot_be_checked() {
        let damage = check_message(&message(false)).unwrap_err();
        assert!(matches!(damage.error(), TensogramError::MissingHash { object_index: 0 }), "{damage}");
        assert!(damage.to_string().starts_with("NTensorFrame at byte "), "{damage}");
        assert!(damage.is_missing_digest());
    }

    #[test]
    fn a_missing_digest_is_told_only_if_nothing_is_wrong() {
        let mut bytes = message(false);
        let end = bytes.len() - 40;
        bytes[end..].iter_mut().for_each(|byte| *byte ^= 0xff);
        assert!(!check_message(&bytes).unwrap_err().is_missing_digest());
        // The flag and the digest of the second object are there, and wrong; the first object has none.
        let mut bytes = message(true);
        let objects: Vec<usize> = Message::parse(&bytes)
            .unwrap()
            .frames()
            .map(Result::unwrap)
            .filter(|frame| frame.frame_type().is_data_object())
            .map(|frame| usize::try_from(frame.offset()).unwrap())
            .collect();
        bytes[objects[0] + 7] &= !2;
        bytes[objects[1] + 20] ^= 1;
        let damage = check_message(&bytes).unwrap_err();
        assert!(damage.object() == Some(1) && !damage.is_missing_digest(), "{damage}");
    }
}
