//! Messages, their frames, digests and metadata.

use tgm_core::ErrorKind;
use tgm_core::cbor::Value as CborValue;
use tgm_core::metadata::Metadata;
use tgm_core::phase::DecodePhase;
use tgm_core::wire::FrameFlags;

use crate::abi::{Fault, FrameInfo, Status};
use crate::kinds::{self, AT_END};
use crate::object::Object;
use crate::pointers::{Outcome, answer, bytes, copy, text};
use crate::value::Value;
use crate::words::Words;

/// `tgmc_message_t`: the bytes that were given.
pub type Message = Words<0x4d53_4701, 4>;
/// `tgmc_frames_t` and `tgmc_objects_t`: the message's bytes, the place of the walk, its phase, and the objects so far.
pub type Frames = Words<0x4652_4d01, 8>;

/// The phase number of a walk that has ended.
const DONE: u64 = u64::MAX;

/// Opens the message that `bytes` begin with.
pub(crate) fn open(bytes: &[u8]) -> Outcome<tgm_core::Message<'_>> {
    Ok(tgm_core::Message::parse(bytes)?)
}

/// The message of an opaque struct: O(1).
///
/// # Safety
/// As for [`Words::bytes`]; `message` is NULL or can be read.
pub(crate) unsafe fn message_of<'a>(message: *const Message) -> Outcome<tgm_core::Message<'a>> {
    // SAFETY: the caller's promise.
    open(unsafe { copy(message)?.bytes()? })
}

/// Opens a message.
///
/// # Safety
/// As `tgm_core.h` says, which documents the contract of all exported functions.
#[cfg_attr(any(not(chosen), only = "tgmc_message_open"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_message_open(
    message: *mut Message,
    data: *const u8,
    len: usize,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        answer(message, error, || {
            let data = bytes(data, len)?;
            open(data).map(|_| Message::new(data, &[]))
        })
    }
}

/// Bytes of the message as its preamble states them.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_message_size"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_message_size(message: *const Message) -> u64 {
    // SAFETY: the header asks the caller for what this function needs.
    unsafe { message_of(message) }.ok().and_then(|message| message.total_length()).unwrap_or(0)
}

/// The flags of the preamble.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_message_flags"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_message_flags(message: *const Message) -> u16 {
    // SAFETY: the header asks the caller for what this function needs.
    unsafe { message_of(message) }.map_or(0, |message| message.flags().bits())
}

/// The number of data objects.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_message_object_count"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_message_object_count(
    message: *const Message,
    count: *mut u64,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        answer(count, error, || {
            let message = message_of(message)?;
            match message.find_index()? {
                Some(index) => Ok(index.len() as u64),
                None => Ok(message.outline()?.object_count as u64),
            }
        })
    }
}

/// Checks the digest of every frame.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg(feature = "hash")]
#[cfg_attr(any(not(chosen), only = "tgmc_message_verify"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_message_verify(
    message: *const Message,
    good: *mut u64,
    object: *mut u64,
    error: *mut Fault,
) -> Status {
    use crate::abi::NO_OBJECT;
    use crate::pointers::{check_aligned, status, write_if};

    let (mut frames, mut bad) = (0_u64, NO_OBJECT);
    // SAFETY: the header asks the caller for what these functions need.
    let result = unsafe { message_of(message) }.and_then(|message| {
        check_aligned(good)?;
        check_aligned(object)?;
        verify(&message, &mut frames, &mut bad)
    });
    // SAFETY: as above.
    unsafe {
        write_if(good, frames);
        write_if(object, bad);
        status(error, result)
    }
}

/// Counts the frames with a right digest. The first wrong one is an error, and `bad` is then its object.
#[cfg(feature = "hash")]
fn verify(message: &tgm_core::Message<'_>, good: &mut u64, bad: &mut u64) -> Outcome<()> {
    use tgm_core::ErrorKind;
    use tgm_core::hash::Verdict;

    for verified in message.verify(message.hash_presence()?) {
        let verified = verified?;
        match verified.verdict {
            Verdict::Good => *good = good.saturating_add(1),
            Verdict::Missing => {}
            Verdict::Mismatch(_) => {
                if let Some(index) = verified.object_index {
                    *bad = index as u64;
                }
                return Err(ErrorKind::DigestMismatch.at(verified.frame.offset()).into());
            }
        }
    }
    if *good == 0 { Err(AT_END) } else { Ok(()) }
}

/// Begins a walk over frames.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_frames_init"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_frames_init(frames: *mut Frames, message: *const Message, error: *mut Fault) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        answer(frames, error, || {
            let bytes = copy(message)?.bytes()?;
            Ok(Frames::new(bytes, &[open(bytes)?.frames().position(), DecodePhase::Header as u64]))
        })
    }
}

/// The next frame of a walk.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_frames_next"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_frames_next(frames: *mut Frames, frame: *mut FrameInfo, error: *mut Fault) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe { next(frames, frame, error, |frame, _| Ok(Some(info_of(frame)))) }
}

/// Begins a walk over objects.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_objects_init"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_objects_init(objects: *mut Frames, message: *const Message, error: *mut Fault) -> Status {
    // SAFETY: the caller's promise is the same.
    unsafe { tgmc_frames_init(objects, message, error) }
}

/// The next object of a walk.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_objects_next"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_objects_next(objects: *mut Frames, object: *mut Object, error: *mut Fault) -> Status {
    let open = |frame: &tgm_core::frame::Frame<'_>, walk: &Walk<'_>| {
        if !frame.frame_type().is_data_object() {
            return Ok(None);
        }
        Object::of(&walk.message, frame, walk.objects, walk.flagged).map(Some)
    };
    // SAFETY: the header asks the caller for what this function needs.
    unsafe { next(objects, object, error, open) }
}

fn info_of(frame: &tgm_core::frame::Frame<'_>) -> FrameInfo {
    FrameInfo {
        frame_type: frame.frame_type().as_u16(),
        flags: frame.flags().bits(),
        reserved: 0,
        offset: frame.offset(),
        total_length: frame.total_length(),
        hash_slot: frame.hash_slot(),
        body: frame.body().into(),
    }
}

/// A walk that goes on.
struct Walk<'a> {
    message: tgm_core::Message<'a>,
    /// How many objects came before the frame that is looked at.
    objects: u64,
    /// Whether a frame has said that it holds a digest. Then the frames that do not say so hold none.
    flagged: bool,
}

/// Goes on with a walk until `look` returns something for a frame, and keeps the walk's new place.
///
/// # Safety
/// `frames`, `out` and `error` are NULL or can be written; the message's bytes still exist.
unsafe fn next<T: Default>(
    frames: *mut Frames,
    out: *mut T,
    error: *mut Fault,
    look: impl Fn(&tgm_core::frame::Frame<'_>, &Walk<'_>) -> Outcome<Option<T>>,
) -> Status {
    // SAFETY: the caller's promise.
    let state = match unsafe { copy(frames) } {
        Ok(state) => state,
        // SAFETY: the caller's promise.
        Err(fault) => return unsafe { answer(out, error, || Err(fault)) },
    };
    let mut after = None;
    // SAFETY: the caller's promise.
    let status = unsafe {
        answer(out, error, || {
            let bytes = state.bytes()?;
            let (position, phase, objects, flagged) = place_of(&state)?;
            let mut walk = Walk { message: open(bytes)?, objects, flagged };
            let mut frames = walk.message.frames_at(position, phase);
            // A walk that fails has ended.
            after = Some(Frames::new(bytes, &[position, DONE]));
            while let Some(frame) = frames.next().transpose()? {
                walk.flagged |= frame.flags().has(FrameFlags::HASH_PRESENT);
                let found = look(&frame, &walk);
                walk.objects = walk.objects.saturating_add(u64::from(frame.frame_type().is_data_object()));
                // A frame that cannot be looked at does not end the walk.
                if let Some(found) = found.transpose() {
                    let numbers = [frames.position(), frames.phase() as u64, walk.objects, u64::from(walk.flagged)];
                    after = Some(Frames::new(bytes, &numbers));
                    return found;
                }
            }
            Err(AT_END)
        })
    };
    if let Some(after) = after {
        // SAFETY: it was read from there, so it is neither NULL nor unaligned.
        unsafe { frames.write(after) };
    }
    status
}

/// Where a walk stands.
fn place_of(state: &Frames) -> Outcome<(u64, DecodePhase, u64, bool)> {
    let [position, phase, objects, flagged, ..] = state.numbers()? else { return Err(kinds::HANDLE.fault()) };
    const HEADER: u64 = DecodePhase::Header as u64;
    const BODY: u64 = DecodePhase::Body as u64;
    const PRECEDED: u64 = DecodePhase::Preceded as u64;
    const FOOTER: u64 = DecodePhase::Footer as u64;
    let phase = match *phase {
        HEADER => DecodePhase::Header,
        BODY => DecodePhase::Body,
        PRECEDED => DecodePhase::Preceded,
        FOOTER => DecodePhase::Footer,
        _ => return Err(AT_END),
    };
    Ok((*position, phase, *objects, *flagged != 0))
}

/// Writes the value that `look_up` finds at a dotted path. Returns the status.
///
/// # Safety
/// As for [`text`] and [`answer`].
unsafe fn answer_path<'a>(
    (path, path_len): (*const u8, usize),
    value: *mut Value,
    error: *mut Fault,
    look_up: impl FnOnce(&str) -> Outcome<Option<CborValue<'a>>>,
) -> Status {
    // SAFETY: the caller's promise.
    unsafe { answer(value, error, || Value::found(look_up(text(path, path_len)?)?)) }
}

/// The metadata value at a dotted path.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_message_get"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_message_get(
    message: *const Message,
    path: *const u8,
    path_len: usize,
    value: *mut Value,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe { answer_path((path, path_len), value, error, |path| Ok(message_of(message)?.metadata()?.get(path)?)) }
}

/// The metadata value at a dotted path of one object.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_message_get_at"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_message_get_at(
    message: *const Message,
    object: u64,
    path: *const u8,
    path_len: usize,
    value: *mut Value,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        answer_path((path, path_len), value, error, |path| {
            let object = usize::try_from(object).map_err(|_| AT_END)?;
            Ok(message_of(message)?.metadata()?.get_at(object, path)?)
        })
    }
}

/// The value at a dotted path of a metadata frame's CBOR.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_metadata_get"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_metadata_get(
    cbor: *const u8,
    len: usize,
    path: *const u8,
    path_len: usize,
    value: *mut Value,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe { answer_path((path, path_len), value, error, |path| Ok(Metadata::parse(bytes(cbor, len)?, 0)?.get(path)?)) }
}

/// Finds an object by its number.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_object_open"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_object_open(
    message: *const Message,
    index: u64,
    object: *mut Object,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        answer(object, error, || {
            let message = message_of(message)?;
            let end = message.as_bytes().len() as u64;
            let place = usize::try_from(index).map_err(|_| ErrorKind::ObjectOutOfRange.at(end))?;
            Object::of(&message, &message.object_frame(place)?, index, false)
        })
    }
}
