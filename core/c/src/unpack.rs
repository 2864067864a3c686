//! Values out of the chunks of a payload, as they come.

use tgm_core::descriptor::Descriptor;
#[cfg(feature = "szip")]
use tgm_core::push::SzipUnpacker as CoreSzipUnpacker;
use tgm_core::push::Unpacker as CoreUnpacker;
use tgm_core::{ErrorKind, Result};

use crate::abi::{Fault, OK, Slice, Status};
use crate::guarded::{Guarded, answer_once, outside};
use crate::kinds;
use crate::pointers::{Outcome, bytes, check_apart, check_place, copy, extent, output, overlap, span, status};

/// `TGMC_SZIP_BLOCK`: the largest block that is decoded from pieces.
#[cfg(feature = "szip")]
pub const SZIP_BLOCK: usize = 64;

/// `tgmc_unpacker_t`.
#[repr(C)]
#[derive(Debug)]
pub struct Unpacker {
    words: [u64; 24],
}

/// `tgmc_szip_unpacker_t`.
#[cfg(feature = "szip")]
#[repr(C)]
#[derive(Debug)]
pub struct SzipUnpacker {
    words: [u64; 96],
}

/// A decoder of chunks, in words of the caller.
trait InWords: Sized {
    type Words;
    const TAG: u32;
    /// The guarded decoder needs an alignment that words may not have, and lies at the first place that has it.
    const FITS: () = assert!(
        size_of::<Guarded<Self>>() + align_of::<Guarded<Self>>() - align_of::<Self::Words>()
            <= size_of::<Self::Words>()
    );

    fn from_descriptor(descriptor: &Descriptor<'_>) -> Result<Self>;

    fn place(words: *mut Self::Words) -> Outcome<*mut Guarded<Self>> {
        const { Self::FITS };
        check_place(words)?;
        let skipped = words.addr().wrapping_neg() & align_of::<Guarded<Self>>().wrapping_sub(1);
        Ok(words.cast::<u8>().wrapping_add(skipped).cast())
    }

    /// # Safety
    /// `words` is NULL, or can be read and written. Only this call uses it during `'a`.
    unsafe fn of<'a>(words: *mut Self::Words) -> Outcome<&'a mut Self> {
        // SAFETY: the caller's promise.
        unsafe { Guarded::get(Self::place(words)?, Self::TAG, 0) }
    }

    /// # Safety
    /// As for [`Self::of`]; `cbor` has `len` bytes, and `error` is NULL or can be written.
    unsafe fn init(words: *mut Self::Words, cbor: *const u8, len: usize, error: *mut Fault) -> Status {
        // SAFETY: the caller's promise.
        unsafe {
            // A decoder may be there already, and stays if this call fails.
            if overlap(extent(error), extent(words)) {
                return kinds::OVERLAP.number;
            }
            let result = Self::place(words).and_then(|place| {
                let cbor = bytes(cbor, len)?;
                let made = Self::from_descriptor(&Descriptor::parse(cbor, 0)?)?;
                Guarded::put(place, Self::TAG, 0, made);
                Ok(())
            });
            status(error, result)
        }
    }

    /// Whether all values came, as `check` says.
    ///
    /// # Safety
    /// As for [`Self::of`]; `error` is NULL or can be written.
    unsafe fn finish(words: *mut Self::Words, error: *mut Fault, check: impl FnOnce(&Self) -> Result<()>) -> Status {
        // SAFETY: the caller's promise.
        unsafe {
            if overlap(extent(error), extent(words)) {
                return kinds::OVERLAP.number;
            }
            let result = Self::of(words).and_then(|unpacker| Ok(check(unpacker)?));
            status(error, result)
        }
    }

    /// Writes values that `take` gets from the front of `chunk`, and their number.
    ///
    /// # Safety
    /// As `tgm_core.h` says.
    unsafe fn next<T>(
        words: *mut Self::Words,
        chunk: *mut Slice,
        out: *mut T,
        room: usize,
        written: *mut usize,
        error: *mut Fault,
        take: impl FnOnce(&mut Self, &mut &[u8], &mut [T]) -> Result<usize>,
    ) -> Status {
        let mut after = None;
        // SAFETY: the caller's promise.
        unsafe {
            // Before anything is written.
            let own = extent(words);
            let status = outside(own, error, &[extent(written), extent(chunk)]);
            if status != OK {
                return status;
            }
            let status = answer_once(written, error, || {
                let Slice { data, len } = copy(chunk)?;
                let mut rest = bytes(data, len)?;
                check_apart(span(rest), own)?;
                let out = output(out, room, &[span(rest), own])?;
                let unpacker = Self::of(words)?;
                let count = take(unpacker, &mut rest, out);
                after = Some(Slice::from(rest));
                Ok(count?)
            });
            if let Some(after) = after {
                // It was read from there, so it is neither NULL nor unaligned.
                chunk.write(after);
            }
            status
        }
    }
}

impl InWords for CoreUnpacker {
    type Words = Unpacker;
    const TAG: u32 = 0x554e_5001;

    fn from_descriptor(descriptor: &Descriptor<'_>) -> Result<Self> {
        Self::new(descriptor)
    }
}

#[cfg(feature = "szip")]
impl InWords for CoreSzipUnpacker<SZIP_BLOCK> {
    type Words = SzipUnpacker;
    const TAG: u32 = 0x555a_5001;

    fn from_descriptor(descriptor: &Descriptor<'_>) -> Result<Self> {
        Self::new(descriptor)
    }
}

macro_rules! init {
    ($name:ident = $symbol:literal, $words:ty, $core:ty) => {
        /// Makes an unpacker for the object of a descriptor.
        ///
        /// # Safety
        /// As `tgm_core.h` says.
        #[cfg_attr(any(not(chosen), only = $symbol), unsafe(no_mangle))]
        pub unsafe extern "C" fn $name(
            unpacker: *mut $words,
            descriptor: *const u8,
            len: usize,
            error: *mut Fault,
        ) -> Status {
            // SAFETY: the caller's promise is the same.
            unsafe { <$core as InWords>::init(unpacker, descriptor, len, error) }
        }
    };
}

macro_rules! next {
    ($name:ident = $symbol:literal, $words:ty, $core:ty, $type:ty, $take:expr) => {
        /// Takes values from a chunk.
        ///
        /// # Safety
        /// As `tgm_core.h` says.
        #[cfg_attr(any(not(chosen), only = $symbol), unsafe(no_mangle))]
        pub unsafe extern "C" fn $name(
            unpacker: *mut $words,
            chunk: *mut Slice,
            out: *mut $type,
            room: usize,
            written: *mut usize,
            error: *mut Fault,
        ) -> Status {
            // SAFETY: the caller's promise is the same.
            unsafe { <$core as InWords>::next(unpacker, chunk, out, room, written, error, $take) }
        }
    };
}

/// Unpacked values, or plain ones.
macro_rules! any_values {
    () => {
        |unpacker, chunk, out| match unpacker.unpack_into(chunk, out) {
            // Nothing was taken: the values are stored as they are.
            Err(error) if matches!(error.kind(), ErrorKind::NotPacked) => unpacker.elements_into(chunk, out),
            taken => taken,
        }
    };
}

init!(tgmc_unpacker_init = "tgmc_unpacker_init", Unpacker, CoreUnpacker);
next!(tgmc_unpacker_f32 = "tgmc_unpacker_f32", Unpacker, CoreUnpacker, f32, any_values!());
next!(tgmc_unpacker_f64 = "tgmc_unpacker_f64", Unpacker, CoreUnpacker, f64, any_values!());
#[cfg(feature = "szip")]
init!(tgmc_szip_unpacker_init = "tgmc_szip_unpacker_init", SzipUnpacker, CoreSzipUnpacker<SZIP_BLOCK>);
#[cfg(feature = "szip")]
next!(
    tgmc_szip_unpacker_f32 = "tgmc_szip_unpacker_f32",
    SzipUnpacker,
    CoreSzipUnpacker<SZIP_BLOCK>,
    f32,
    any_values!()
);
// Doubles are wider than a sample of szip, so all of them are packed.
#[cfg(feature = "szip")]
next!(
    tgmc_szip_unpacker_f64 = "tgmc_szip_unpacker_f64",
    SzipUnpacker,
    CoreSzipUnpacker<SZIP_BLOCK>,
    f64,
    |unpacker, chunk, out| unpacker.unpack_into(chunk, out)
);

/// Whether all values came.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg_attr(any(not(chosen), only = "tgmc_unpacker_finish"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_unpacker_finish(unpacker: *mut Unpacker, error: *mut Fault) -> Status {
    // SAFETY: the caller's promise is the same.
    unsafe {
        <CoreUnpacker as InWords>::finish(unpacker, error, |unpacker| match unpacker.remaining() {
            0 => Ok(()),
            _ => Err(ErrorKind::Truncated.at(0)),
        })
    }
}

/// Whether all values came.
///
/// # Safety
/// As `tgm_core.h` says.
#[cfg(feature = "szip")]
#[cfg_attr(any(not(chosen), only = "tgmc_szip_unpacker_finish"), unsafe(no_mangle))]
pub unsafe extern "C" fn tgmc_szip_unpacker_finish(unpacker: *mut SzipUnpacker, error: *mut Fault) -> Status {
    // SAFETY: the caller's promise is the same.
    unsafe { <CoreSzipUnpacker<SZIP_BLOCK> as InWords>::finish(unpacker, error, CoreSzipUnpacker::finish) }
}
