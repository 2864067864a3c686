//! c-blosc2 behind safe functions.
#![allow(unsafe_code, reason = "calls of a C library; each block says what is relied on")]

use std::ptr::{NonNull, null_mut};
use std::thread::available_parallelism;

use blosc2_sys::{blosc2_compress_ctx, blosc2_context, blosc2_cparams, blosc2_create_cctx, blosc2_free_ctx};

use super::super::ids::CHUNK_HEADER_LEN;
use super::super::ids::filter;
use super::{Blosc2Codec, CodecError, Result, Settings, code};

/// The split mode in which no block is split into a stream for each byte of an element.
const NEVER_SPLIT: i32 = 2;
/// The split mode that versions before 2.0 can read.
pub(super) const FORWARD_COMPATIBLE_SPLIT: u8 = 4;

/// The parameters of a context.
pub(super) struct Parameters(blosc2_cparams);

impl Parameters {
    /// The parameters for the chunks of a frame.
    pub(super) fn of_data(settings: &Settings) -> Self {
        let mut parameters = Self::new(settings.codec, settings.level, settings.typesize.get(), settings.filters());
        parameters.0.nthreads = threads(settings.threads);
        parameters.0.splitmode = i32::from(FORWARD_COMPATIBLE_SPLIT);
        parameters
    }

    /// The parameters for the offsets of chunks. They are the same in every frame.
    pub(super) fn of_index() -> Self {
        let mut parameters = Self::new(
            Blosc2Codec::Blosclz,
            5,
            8,
            [filter::NONE, filter::NONE, filter::NONE, filter::NONE, filter::NONE, filter::SHUFFLE],
        );
        parameters.0.splitmode = NEVER_SPLIT;
        parameters.0.blocksize = 16 << 10;
        parameters
    }

    fn new(codec: Blosc2Codec, level: u8, typesize: u8, filters: [u8; 6]) -> Self {
        Self(blosc2_cparams {
            compcode: code(codec),
            compcode_meta: 0,
            clevel: level,
            use_dict: 0,
            typesize: typesize.into(),
            nthreads: 1,
            blocksize: 0,
            splitmode: 0,
            schunk: null_mut(),
            filters,
            filters_meta: [0; 6],
            prefilter: None,
            preparams: null_mut(),
            tuner_params: null_mut(),
            tuner_id: 0,
            instr_codec: false,
            codec_params: null_mut(),
            filter_params: [null_mut(); 6],
        })
    }
}

/// The threads wanted, but no more than the machine runs at once: c-blosc2 waits forever for a thread that cannot be
/// started.
fn threads(wanted: u32) -> i16 {
    let most = available_parallelism().map_or(1, usize::from);
    i16::try_from(usize::try_from(wanted).map_or(most, |wanted| wanted.clamp(1, most))).unwrap_or(i16::MAX)
}

/// The state of a compressor and its threads. All chunks of a frame use one context, because the first chunk decides
/// the size of blocks.
pub(super) struct Context(NonNull<blosc2_context>);

impl Context {
    pub(super) fn new(parameters: &Parameters) -> Result<Self> {
        // SAFETY: the structure is passed by value. Its pointers are null, which c-blosc2 takes for absent. Its codec
        // and filters are built in: `Parameters` cannot be made with others.
        let context = unsafe { blosc2_create_cctx(parameters.0) };
        NonNull::new(context).map(Self).ok_or_else(|| CodecError::new("c-blosc2 gives no context"))
    }

    /// Appends `data` to `out` as one chunk.
    pub(super) fn compress(&mut self, data: &[u8], out: &mut Vec<u8>) -> Result<()> {
        crate::interrupt::check()?;
        let (Ok(data_len), Ok(room)) =
            (i32::try_from(data.len()), i32::try_from(data.len().saturating_add(CHUNK_HEADER_LEN)))
        else {
            return Err(CodecError::new(format!("a chunk of {} bytes is too large", data.len())));
        };
        out.try_reserve(data.len().saturating_add(CHUNK_HEADER_LEN))
            .map_err(|_| CodecError::new(format!("cannot allocate {room} bytes for a chunk")))?;
        let spare = out.spare_capacity_mut();
        // SAFETY: the context lives until `drop`, and `self` is borrowed mutably, so no other call uses it. `data_len`
        // bytes can be read from `data`. `room` bytes were reserved and can be written to `spare`. The two do not
        // overlap, as `out` is borrowed mutably. c-blosc2 keeps neither pointer.
        let written = unsafe {
            blosc2_compress_ctx(self.0.as_ptr(), data.as_ptr().cast(), data_len, spare.as_mut_ptr().cast(), room)
        };
        let written = usize::try_from(written).ok().filter(|len| (CHUNK_HEADER_LEN..=spare.len()).contains(len));
        let written = written.ok_or_else(|| CodecError::new("c-blosc2 does not compress a chunk"))?;
        let len = out.len().saturating_add(written);
        // SAFETY: `written` bytes after the old length were written by c-blosc2, and lie within the capacity.
        unsafe { out.set_len(len) };
        Ok(())
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context came from `blosc2_create_cctx` and is freed once. It has no parameters of a tuner, so
        // c-blosc2 stops its threads and frees all that belongs to it.
        unsafe { blosc2_free_ctx(self.0.as_ptr()) };
    }
}
