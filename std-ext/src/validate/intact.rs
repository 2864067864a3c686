//! Whether a message is as it was written: one engine, and what it is asked.
//!
//! | want | take | reads |
//! |---|---|---|
//! | a yes or no, and the first thing that is wrong | [`check_message`] | every byte once |
//! | the same, where frames without a digest are fine and nobody needs the content yet | [`check_digests`] | every byte once |
//! | the verdict on each frame and each list | [`examine`] | every byte once |
//! | everything that is wrong, and whether it decodes | [`validate_message`](super::validate_message) | every byte, and decodes |
//!
//! The first two are [`examine`] with an end at the first fault. `validate_message` walks on after faults, and gives each a
//! code. Its answer is the same: what `check_message` passes has no error there, unless values cannot be decoded, and what has
//! none there passes here.

use tgm_core::Message;
use tgm_core::frame::Frame;
use tgm_core::hash::{HashPresence, Verdict};

use super::damage::Damage;
use crate::base::error::TensogramError;
use crate::model::hash;

/// How deep [`examine`] looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Frames and their order, digests, and indexes and hash lists against the objects.
    Digests,
    /// Also postamble, metadata, descriptors and masks. Digests do not cover headers and tails of frames, which say where
    /// these are.
    Contents,
}

/// What [`examine`] finds.
#[derive(Clone, Copy, Debug)]
pub enum Finding<'a> {
    /// A frame, and whether its digest is right.
    Frame {
        /// The number of the frame in the message.
        number: usize,
        /// The frame.
        frame: Frame<'a>,
        /// The number of the object that the frame holds.
        object: Option<usize>,
        /// Its digest: right, wrong or missing.
        verdict: Verdict,
    },
    /// An index or a hash list contradicts the objects.
    List {
        /// The list: "index" or "hash list".
        list: &'static str,
        /// The contradiction, and where.
        error: tgm_core::Error,
    },
}

impl Finding<'_> {
    /// What is wrong: a wrong digest, an object without one, or a contradiction. `None` for a right digest, and for other
    /// frames without one.
    pub fn damage(&self) -> Option<Damage> {
        let (frame, object, error) = match *self {
            Self::List { error, .. } => return Some(Damage::of_structure(error.into())),
            Self::Frame { frame, object, verdict: Verdict::Mismatch(mismatch), .. } => {
                (frame, object, TensogramError::hash_mismatch(object, mismatch))
            }
            Self::Frame { frame, object: Some(object_index), verdict: Verdict::Missing, .. } => {
                (frame, Some(object_index), TensogramError::MissingHash { object_index })
            }
            Self::Frame { .. } => return None,
        };
        Some(Damage::of_frame(&frame, object, error))
    }
}

/// Examines a message. `found` gets every frame with the verdict on its digest, and every contradiction of a list; its error
/// ends the examination. `presence` says which frames have a digest, and is the message's own if it is `None`.
///
/// Contents are looked at only if nothing else is wrong, because damaged frames explain damaged contents.
///
/// # Errors
/// [`Damage`] where the frames cannot be walked, and in the contents; the errors of `found`.
pub fn examine<'a>(
    message: &Message<'a>,
    depth: Depth,
    presence: Option<HashPresence>,
    found: &mut dyn FnMut(Finding<'a>) -> Result<(), Damage>,
) -> Result<(), Damage> {
    // If the walk fails, the flags decide. The walk below then reports the error.
    let presence = presence.unwrap_or_else(|| message.hash_presence().unwrap_or(HashPresence::Flagged));
    let mut is_intact = true;
    let mut tell = |finding: Finding<'a>| {
        is_intact &= finding.damage().is_none_or(|damage| damage.is_missing_digest());
        found(finding)
    };
    let mut objects = 0..;
    for (number, frame) in message.frames().enumerate() {
        let frame = frame.map_err(Damage::from_core)?;
        let object = if frame.frame_type().is_data_object() { objects.next() } else { None };
        tell(Finding::Frame { number, frame, object, verdict: hash::check(presence, &frame) })?;
    }
    // The order of frames, which the walk alone does not look at.
    message.outline().map_err(Damage::from_core)?;
    // An index that lies would make exchanged objects look right.
    let lists = [("index", message.verify_index()), ("hash list", message.verify_hash_lists(presence))];
    for (list, checked) in lists {
        if let Err(error) = checked {
            tell(Finding::List { list, error })?;
        }
    }
    if depth == Depth::Contents && is_intact {
        message.verify_contents().map_err(Damage::from_core)?;
    }
    Ok(())
}

/// Checks that the message which `bytes` begin with is intact: its structure, and the digest of every frame.
///
/// Structure means preamble, postamble, lengths, order of frames and padding between them; then metadata, descriptors, masks,
/// indexes and hash lists, each by itself and against the objects. No payload is decoded, and nothing is allocated. One pass over
/// the bytes, at the speed of XXH3.
///
/// Not looked at are bits that no reader reads: padding, reserved bits, and flags of the preamble.
///
/// An object without a digest cannot be checked. That is an error too, with [`TensogramError::MissingHash`]; it means that
/// all other checks passed ([`Damage::is_missing_digest`]). Other frames without a digest pass. Bytes after a message that states its length
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
    let mut missing = None;
    examine(&message, Depth::Contents, None, &mut |finding| match finding.damage() {
        // A wrong digest says more than a missing one.
        Some(damage) if damage.is_missing_digest() => {
            missing.get_or_insert(damage);
            Ok(())
        }
        damage => damage.map_or(Ok(()), Err),
    })?;
    missing.map_or(Ok(()), Err)
}

/// Checks the digest of every frame that has one, and indexes and hash lists against the objects: what a program wants to know
/// before it copies or rewrites a message whose content it need not know. Reads every byte.
///
/// # Errors
/// [`Damage`]: the first thing that is wrong. A missing digest is fine.
pub fn check_digests(message: &Message<'_>) -> Result<(), Damage> {
    examine(message, Depth::Digests, None, &mut |finding| {
        let damage = finding.damage().filter(|damage| !damage.is_missing_digest());
        damage.map_or(Ok(()), Err)
    })
}
