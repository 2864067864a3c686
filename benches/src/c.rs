//! C libraries called directly, without any format around them.

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

use libaec_sys::{aec_buffer_decode, aec_buffer_encode, aec_stream};
use zfp_sys_cc as zfp;

/// Parameters of libaec.
#[derive(Clone, Copy, Debug)]
pub struct Aec {
    /// Bits of a sample.
    pub bits: u32,
    /// Samples of a block.
    pub block_size: u32,
    /// Blocks of an interval.
    pub rsi: u32,
    /// The flags of libaec.
    pub flags: u32,
}

impl Aec {
    fn stream(self, input: &[u8], out: &mut [u8]) -> aec_stream {
        aec_stream {
            next_in: input.as_ptr(),
            avail_in: input.len(),
            total_in: 0,
            next_out: out.as_mut_ptr(),
            avail_out: out.len(),
            total_out: 0,
            bits_per_sample: self.bits,
            block_size: self.block_size,
            rsi: self.rsi,
            flags: self.flags,
            state: null_mut(),
        }
    }

    /// Decodes all of `out`.
    pub fn decode(self, coded: &[u8], out: &mut [u8]) {
        let mut stream = self.stream(coded, out);
        // SAFETY: the pointers lead to live buffers of the lengths beside them.
        let code = unsafe { aec_buffer_decode(&raw mut stream) };
        assert_eq!((code, stream.avail_out), (0, 0));
    }

    /// Encodes to the front of `out` and returns the number of bytes.
    pub fn encode(self, samples: &[u8], out: &mut [u8]) -> usize {
        let mut stream = self.stream(samples, out);
        // SAFETY: the pointers lead to live buffers of the lengths beside them.
        let code = unsafe { aec_buffer_encode(&raw mut stream) };
        assert_eq!((code, stream.avail_in), (0, 0));
        stream.total_out
    }
}

/// Decompresses f64 of a fixed rate. `words` hold the stream and one word more, because zfp reads ahead.
pub fn zfp_decompress(words: &mut [u64], rate: f64, out: &mut [f64]) {
    // SAFETY: zfp reads the words, which outlive the call, and writes `out.len()` values.
    unsafe { with_zfp(words, rate, out.as_mut_ptr(), out.len(), |stream, field| zfp::zfp_decompress(stream, field)) };
}

/// Compresses f64 at a fixed rate to the front of `words` and returns the number of bytes.
pub fn zfp_compress(values: &[f64], rate: f64, words: &mut [u64]) -> usize {
    let data = values.as_ptr().cast_mut();
    // SAFETY: zfp reads `values.len()` values and writes nothing to them; the caller gave words for all of the stream.
    unsafe { with_zfp(words, rate, data, values.len(), |stream, field| zfp::zfp_compress(stream, field)) }
}

/// # Safety
/// `data` must be good for what `work` does with `len` values, `words` long enough for their stream.
unsafe fn with_zfp(
    words: &mut [u64],
    rate: f64,
    data: *mut f64,
    len: usize,
    work: impl FnOnce(*mut zfp::zfp_stream, *mut zfp::zfp_field) -> usize,
) -> usize {
    // SAFETY: everything opened is closed, in the order that zfp.h shows; the caller promises the rest.
    unsafe {
        let bits = zfp::stream_open(words.as_mut_ptr().cast(), size_of_val(words));
        let stream = zfp::zfp_stream_open(bits);
        zfp::zfp_stream_set_rate(stream, rate, zfp::zfp_type_zfp_type_double, 1, 0);
        zfp::zfp_stream_rewind(stream);
        let field = zfp::zfp_field_1d(data.cast(), zfp::zfp_type_zfp_type_double, len);
        let used = work(stream, field);
        zfp::zfp_field_free(field);
        zfp::zfp_stream_close(stream);
        zfp::stream_close(bits);
        assert!(used > 0);
        used
    }
}

/// A Blosc2 frame opened by c-blosc2.
pub struct Blosc2<'a> {
    schunk: NonNull<blosc2_sys::blosc2_schunk>,
    _frame: &'a [u8],
}

impl<'a> Blosc2<'a> {
    /// Opens a frame in place.
    pub fn open(frame: &'a [u8]) -> Self {
        // SAFETY: the frame outlives the result and is only read; c-blosc2 wrote it.
        let schunk = unsafe {
            blosc2_sys::blosc2_init();
            blosc2_sys::blosc2_schunk_from_buffer(frame.as_ptr().cast_mut(), frame.len() as i64, false)
        };
        Self { schunk: NonNull::new(schunk).expect("a frame"), _frame: frame }
    }

    /// How many elements a block has.
    pub fn block(&self, element: usize) -> usize {
        // SAFETY: the frame is alive.
        let bytes = unsafe { self.schunk.as_ref() }.blocksize;
        usize::try_from(bytes).expect("a length") / element
    }

    /// Decompresses a frame of one chunk.
    pub fn decompress(&self, out: &mut [u8]) {
        let len = i32::try_from(out.len()).expect("no larger than a chunk");
        // SAFETY: the frame is alive, and `len` bytes can be written to `out`.
        let written = unsafe {
            blosc2_sys::blosc2_schunk_decompress_chunk(self.schunk.as_ptr(), 0, out.as_mut_ptr().cast::<c_void>(), len)
        };
        assert_eq!(written, len);
    }

    /// Decompresses elements from `start` on.
    pub fn slice(&self, start: usize, element: usize, out: &mut [u8]) {
        let stop = start + out.len() / element;
        // SAFETY: the frame is alive, and `out` has room for the elements, each of `element` bytes.
        let code = unsafe {
            blosc2_sys::blosc2_schunk_get_slice_buffer(
                self.schunk.as_ptr(),
                start as i64,
                stop as i64,
                out.as_mut_ptr().cast::<c_void>(),
            )
        };
        assert_eq!(code, 0);
    }
}

impl Drop for Blosc2<'_> {
    fn drop(&mut self) {
        // SAFETY: it was opened once, and is freed once.
        unsafe { blosc2_sys::blosc2_schunk_free(self.schunk.as_ptr()) };
    }
}

/// Compresses to one chunk with lz4 at level 5 after a shuffle of bytes, as in a frame of the format.
pub fn blosc2_compress(data: &[u8], typesize: i32, out: &mut [u8]) -> usize {
    let parameters = blosc2_sys::blosc2_cparams {
        compcode: 1,
        compcode_meta: 0,
        clevel: 5,
        use_dict: 0,
        typesize,
        nthreads: 1,
        blocksize: 0,
        splitmode: 4,
        schunk: null_mut(),
        filters: [0, 0, 0, 0, 0, 1],
        filters_meta: [0; 6],
        prefilter: None,
        preparams: null_mut(),
        tuner_params: null_mut(),
        tuner_id: 0,
        instr_codec: false,
        codec_params: null_mut(),
        filter_params: [null_mut(); 6],
    };
    let (from, to) = (i32::try_from(data.len()).expect("small"), i32::try_from(out.len()).expect("small"));
    // SAFETY: the context is freed once, and each length is the length of its buffer.
    let written = unsafe {
        let context = blosc2_sys::blosc2_create_cctx(parameters);
        let written =
            blosc2_sys::blosc2_compress_ctx(context, data.as_ptr().cast(), from, out.as_mut_ptr().cast::<c_void>(), to);
        blosc2_sys::blosc2_free_ctx(context);
        written
    };
    usize::try_from(written).expect("compresses")
}

unsafe extern "C" {
    #[link_name = "shuffle"]
    fn blosc2_shuffle(typesize: i32, blocksize: i32, src: *const c_void, dest: *mut c_void);
    #[link_name = "unshuffle"]
    fn blosc2_unshuffle(typesize: i32, blocksize: i32, src: *const c_void, dest: *mut c_void);
}

/// c-blosc2's kernel, with the vectors that the processor has.
pub fn shuffle(data: &[u8], typesize: i32, out: &mut [u8]) {
    let len = i32::try_from(data.len().min(out.len())).expect("small");
    // SAFETY: `len` bytes can be read from `data` and written to `out`.
    unsafe { blosc2_shuffle(typesize, len, data.as_ptr().cast(), out.as_mut_ptr().cast()) };
}

/// The inverse of [`shuffle`].
pub fn unshuffle(data: &[u8], typesize: i32, out: &mut [u8]) {
    let len = i32::try_from(data.len().min(out.len())).expect("small");
    // SAFETY: `len` bytes can be read from `data` and written to `out`.
    unsafe { blosc2_unshuffle(typesize, len, data.as_ptr().cast(), out.as_mut_ptr().cast()) };
}
