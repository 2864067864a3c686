//! Messages that come in pieces.

#[cfg(feature = "hash")]
use tgm_core::hash::Verdict;
use tgm_core::push::{Event as CoreEvent, Link, Part, PushState};

use crate::abi::{Event, Fault, NO_OBJECT, Slice, Status};
use crate::guarded::Guarded;
use crate::kinds::{self, AT_END};
use crate::pointers::{Outcome, answer, bytes, check_apart, check_place, copy, report, status};

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
    let mut made = core::ptr::null_mut();
    let result = check_place(push).and_then(|()| {
        let (place, window) = place_in(memory, len)?;
        let link = match link {
            0 => Link::Reliable,
            1 => Link::Lossy,
            _ => return Err(kinds::ARGUMENT.fault()),
        };
        made = place;
        // SAFETY: the place is aligned and lies in the caller's memory, which the header asks for.
        unsafe {
            (&raw mut (*place).window).write(window);
            Guarded::put(&raw mut (*place).decoder, TAG, window, PushState::new(link));
        }
        Ok(())
    });
    // SAFETY: the header asks the caller for what these functions need.
    unsafe {
        crate::pointers::write_if(push, made);
        status(error, result)
    }
}

/// The aligned place in some memory, and the number of bytes behind the decoder.
fn place_in(memory: *mut u8, len: usize) -> Outcome<(*mut Push, usize)> {
    check_place(memory)?;
    let skipped = memory.addr().wrapping_neg() & align_of::<Push>().wrapping_sub(1);
    let window = len.checked_sub(skipped).and_then(|left| left.checked_sub(size_of::<Push>()));
    let window = window.filter(|_| len <= isize::MAX as usize).ok_or(kinds::LENGTH.fault())?;
    Ok((memory.wrapping_add(skipped).cast(), window))
}

/// The decoder, its window, and the bytes of both.
///
/// # Safety
/// `push` is NULL or was filled by this library, or by nobody; nothing refers to it.
unsafe fn decoder_of<'a>(push: *mut Push) -> Outcome<(&'a mut PushState, &'a mut [u8])> {
    check_place(push)?;
    // SAFETY: the caller's promise. The window is only used if the guards are right, which depend on its length.
    unsafe {
        let window = (&raw const (*push).window).read();
        let state = Guarded::get(&raw mut (*push).decoder, TAG, window)?;
        Ok((state, core::slice::from_raw_parts_mut(push.add(1).cast(), window)))
    }
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
        // Before anything is written: it would be part of the state of the next call.
        if let Ok((_, window)) = decoder_of(push) {
            let (place, own) = (push.cast_const().cast(), window.len().saturating_add(size_of::<Push>()));
            let apart = check_apart(event.cast_const().cast(), size_of::<Event>(), place, own)
                .and_then(|()| check_apart(input.cast_const().cast(), size_of::<Slice>(), place, own));
            if let Err(fault) = apart {
                return report(error, fault);
            }
        }
        let status = answer(event, error, || {
            let Slice { data, len } = copy(input)?;
            let mut rest = bytes(data, len)?;
            let (state, window) = decoder_of(push)?;
            let own = window.len().saturating_add(size_of::<Push>());
            let place = push.cast_const().cast();
            check_apart(rest.as_ptr(), rest.len(), place, own)?;
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
        let result = decoder_of(push).and_then(|(state, _)| Ok(state.finish()?));
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
    unsafe {
        let result = decoder_of(push).map(|(state, _)| state.reset(position));
        status(error, result)
    }
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
    let none = Event { object_index: NO_OBJECT, ..Event::default() };
    let index = |index: Option<u64>| index.unwrap_or(NO_OBJECT);
    match event {
        CoreEvent::Resynchronised { skipped } => Event { kind: 1, length: *skipped, ..none },
        CoreEvent::Preamble(preamble) => {
            Event { kind: PREAMBLE, flags: preamble.flags().bits().into(), length: preamble.total_length.get(), ..none }
        }
        CoreEvent::FrameBegin(begin) => Event {
            kind: 3,
            frame_type: begin.frame_type as u8,
            flags: begin.flags.bits().into(),
            object_index: index(begin.object_index),
            offset: begin.offset,
            length: begin.total_length,
            ..none
        },
        CoreEvent::Cbor(cbor) => Event {
            kind: 4,
            frame_type: cbor.frame_type() as u8,
            #[cfg(feature = "hash")]
            verdict: verdict_of(cbor.verdict()),
            offset: cbor.offset(),
            length: cbor.as_bytes().len() as u64,
            bytes: cbor.as_bytes().into(),
            ..none
        },
        CoreEvent::Descriptor(object) => Event {
            kind: 5,
            frame_type: tgm_core::wire::FrameType::NTensorFrame as u8,
            object_index: object.object_index,
            offset: object.descriptor.offset(),
            length: object.payload_len,
            region: object.region_len,
            bytes: object.descriptor.as_encoded().into(),
            ..none
        },
        CoreEvent::Chunk(chunk) => Event {
            kind: 6,
            part: match chunk.part {
                Part::Payload => 1,
                Part::Masks => 2,
                Part::Region => 3,
                Part::Body => 4,
                Part::Cbor => 5,
                _ => 0,
            },
            object_index: index(chunk.object_index),
            offset: chunk.offset,
            length: chunk.bytes.len() as u64,
            region: chunk.region_offset,
            bytes: chunk.bytes.into(),
            ..none
        },
        CoreEvent::TooLarge(cbor) => Event {
            kind: 7,
            frame_type: cbor.frame_type as u8,
            object_index: index(cbor.object_index),
            length: cbor.length.unwrap_or(0),
            region: cbor.region_len.unwrap_or(0),
            ..none
        },
        CoreEvent::FrameEnd(end) => Event {
            kind: 8,
            frame_type: end.frame_type as u8,
            #[cfg(feature = "hash")]
            verdict: verdict_of(end.verdict),
            object_index: index(end.object_index),
            offset: end.end_offset,
            ..none
        },
        CoreEvent::MessageEnd(end) => Event { kind: 9, length: end.length, region: end.object_count, ..none },
        _ => none,
    }
}
