//! Messages that come in pieces.

#[cfg(feature = "hash")]
use tgm_core::hash::Verdict;
use tgm_core::push::{Event as CoreEvent, Link, Part, PushState};

use crate::abi::{Event, Fault, NO_OBJECT, OK, Slice, Status};
use crate::guarded::{Guarded, answer_once, outside};
use crate::kinds::{self, AT_END};
use crate::pointers::{Extent, Outcome, bytes, check_apart, check_place, copy, extent, overlap, span, status};

/// `tgmc_push_t`: what lies at the front of the caller's memory, once that is aligned. The window for CBOR follows.
#[repr(C)]
pub struct Push {
    window: usize,
    decoder: Guarded<PushState>,
}

const TAG: u32 = 0x5053_4801;

/// Bytes of memory for a decoder with a window of `window` bytes; 0 if that is too many.
#[cfg_attr(any(not(chosen), only = "tgmc_push_size"), unsafe(no_mangle))]
pub extern "C" fn tgmc_push_size(window: usize) -> usize {
    const OVERHEAD: usize = size_of::<Push>() + align_of::<Push>() - 1;
    window.checked_add(OVERHEAD).filter(|&len| len <= isize::MAX as usize).unwrap_or(0)
}

/// Makes a decoder in the caller's memory.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_push_init"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_push_init(
    memory: *mut u8,
    len: usize,
    link: u8,
    push: *mut *mut Push,
    error: *mut Fault,
) -> Status {
    // SAFETY: the header asks the caller for what these functions need. The place is aligned and lies in the caller's
    // memory.
    unsafe {
        // A decoder may be there already, and stays if this call fails.
        if overlap(extent(error), (memory, len)) {
            return kinds::OVERLAP.number;
        }
        answer_once(push.cast(), error, || {
            let (place, window) = place_in(memory, len)?;
            // A pointer that is written there would be part of the state.
            check_apart(extent(push), (memory, len))?;
            let link = match link {
                0 => Link::Reliable,
                1 => Link::Lossy,
                _ => return Err(kinds::ARGUMENT.fault()),
            };
            (&raw mut (*place).window).write(window);
            Guarded::put(&raw mut (*place).decoder, TAG, window, PushState::new(link));
            Ok(Place(place))
        })
    }
}

/// Where a decoder was made. NULL by default.
#[repr(transparent)]
struct Place(*mut Push);

impl Default for Place {
    fn default() -> Self {
        Self(core::ptr::null_mut())
    }
}

/// The aligned place in some memory, and the number of bytes after the decoder.
fn place_in(memory: *mut u8, len: usize) -> Outcome<(*mut Push, usize)> {
    check_place(memory)?;
    let skipped = memory.addr().wrapping_neg() & align_of::<Push>().wrapping_sub(1);
    let window = len.checked_sub(skipped).and_then(|left| left.checked_sub(size_of::<Push>()));
    let window = window.filter(|_| len <= isize::MAX as usize).ok_or(kinds::LENGTH.fault())?;
    Ok((memory.wrapping_add(skipped).cast(), window))
}

/// The decoder and its window.
///
/// # Safety
/// Unless an error is due, the decoder and its window can be read and written. Only this call uses them during `'a`.
// Never inlined: all functions of the decoder call it.
#[inline(never)]
unsafe fn decoder_of<'a>(push: *mut Push) -> Outcome<(&'a mut PushState, &'a mut [u8])> {
    check_place(push)?;
    // SAFETY: the caller's promise. The window is only used if the guards are right, which depend on its length.
    unsafe {
        let window = (&raw const (*push).window).read();
        let state = Guarded::get(&raw mut (*push).decoder, TAG, window)?;
        Ok((state, core::slice::from_raw_parts_mut(push.add(1).cast(), window)))
    }
}

/// The memory of a decoder and its window.
fn own(push: *mut Push, window: &[u8]) -> Extent {
    // The window follows the decoder, so the sum is a difference of addresses, and does not wrap.
    (push.cast_const().cast(), window.len().wrapping_add(size_of::<Push>()))
}

/// The next event.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_push_next"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_push_next(
    push: *mut Push,
    input: *mut Slice,
    event: *mut Event,
    error: *mut Fault,
) -> Status {
    let mut after = None;
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        // Before anything is written.
        let found = decoder_of(push);
        if let Ok((_, window)) = &found {
            let status = outside(own(push, window), error, &[extent(event), extent(input)]);
            if status != OK {
                return status;
            }
        }
        let status = answer_once(event, error, || {
            let Slice { data, len } = copy(input)?;
            let mut rest = bytes(data, len)?;
            let (state, window) = found?;
            check_apart(span(rest), own(push, window))?;
            let found = match state.next_event(window, &mut rest) {
                Ok(Some(found)) => Ok(event_of(&found)),
                Ok(None) => Err(AT_END),
                Err(error) => Err(error.into()),
            };
            after = Some(Slice::from(rest));
            let mut found = found?;
            if found.kind == PREAMBLE {
                found.offset = state.message_offset();
            }
            Ok(found)
        });
        if let Some(after) = after {
            // It was read from there, so it is neither NULL nor unaligned.
            input.write(after);
        }
        status
    }
}

/// Whether the stream may end here.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_push_finish"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_push_finish(push: *mut Push, error: *mut Fault) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        let found = decoder_of(push);
        if found.as_ref().is_ok_and(|(_, window)| overlap(extent(error), own(push, window))) {
            return kinds::OVERLAP.number;
        }
        let result = match found {
            Ok((state, _)) => state.finish().map_err(Fault::from),
            Err(fault) => Err(fault),
        };
        status(error, result)
    }
}

/// Starts anew.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_push_reset"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_push_reset(push: *mut Push, position: u64, error: *mut Fault) -> Status {
    // SAFETY: the header asks the caller for what these functions need.
    unsafe { status(error, decoder_of(push).map(|(state, _)| state.reset(position))) }
}

const PREAMBLE: u8 = 2;

#[cfg(feature = "hash")]
fn verdict_of(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Missing => 0,
        Verdict::Good => 1,
        Verdict::Mismatch(_) => 2,
    }
}

/// The struct of an event.
fn event_of(event: &CoreEvent<'_>) -> Event {
    let mut made = Event { object_index: NO_OBJECT, ..Event::default() };
    let index = |index: Option<u64>| index.unwrap_or(NO_OBJECT);
    match event {
        CoreEvent::Resynchronised { skipped } => {
            made.kind = 1;
            made.length = *skipped;
        }
        CoreEvent::Preamble(preamble) => {
            made.kind = PREAMBLE;
            made.flags = preamble.flags().bits().into();
            made.length = preamble.total_length.get();
        }
        CoreEvent::FrameBegin(begin) => {
            made.kind = 3;
            made.frame_type = begin.frame_type as u8;
            made.flags = begin.flags.bits().into();
            made.object_index = index(begin.object_index);
            made.offset = begin.offset;
            made.length = begin.total_length;
        }
        CoreEvent::Cbor(cbor) => {
            made.kind = 4;
            made.frame_type = cbor.frame_type() as u8;
            #[cfg(feature = "hash")]
            {
                made.verdict = verdict_of(cbor.verdict());
            }
            made.offset = cbor.offset();
            made.length = cbor.as_bytes().len() as u64;
            made.bytes = cbor.as_bytes().into();
        }
        CoreEvent::Descriptor(object) => {
            made.kind = 5;
            made.frame_type = tgm_core::wire::FrameType::NTensorFrame as u8;
            made.object_index = object.object_index;
            made.offset = object.descriptor.offset();
            made.length = object.payload_len;
            made.region = object.region_len;
            made.bytes = object.descriptor.as_encoded().into();
        }
        CoreEvent::Chunk(chunk) => {
            made.kind = 6;
            made.part = match chunk.part {
                Part::Payload => 1,
                Part::Masks => 2,
                Part::Region => 3,
                Part::Body => 4,
                Part::Cbor => 5,
                _ => 0,
            };
            made.object_index = index(chunk.object_index);
            made.offset = chunk.offset;
            made.length = chunk.bytes.len() as u64;
            made.region = chunk.region_offset;
            made.bytes = chunk.bytes.into();
        }
        CoreEvent::TooLarge(cbor) => {
            made.kind = 7;
            made.frame_type = cbor.frame_type as u8;
            made.object_index = index(cbor.object_index);
            made.length = cbor.length.unwrap_or(0);
            made.region = cbor.region_len.unwrap_or(0);
        }
        CoreEvent::FrameEnd(end) => {
            made.kind = 8;
            made.frame_type = end.frame_type as u8;
            #[cfg(feature = "hash")]
            {
                made.verdict = verdict_of(end.verdict);
            }
            made.object_index = index(end.object_index);
            made.offset = end.end_offset;
        }
        CoreEvent::MessageEnd(end) => {
            made.kind = 9;
            made.length = end.length;
            made.region = end.object_count;
        }
        _ => {}
    }
    made
}
