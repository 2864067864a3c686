//! A message written to a file or to a function of the caller, object by object.

use std::ffi::{c_char, c_void};
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::ptr;

use tgm_std::file::SourceName;
use tgm_std::{DataObjectDescriptor, EncodeOptions, GlobalMetadata, StreamingEncoder};

use crate::args;
use crate::call::{call, get, run};
use crate::encode::refuse_masks;
use crate::error::{Code, IO, Report, Result, invalid};
use crate::json_in;
use crate::objects::{self, ObjectInput};
use crate::options::{self, EncodeMaskOptions, EncodeOptionsStruct};
use crate::turns::Turns;

/// A `tgm_write_fn` of C: takes bytes, and returns 0 if it has them.
pub type WriteFn = Option<unsafe extern "C" fn(user: *mut c_void, data: *const u8, len: usize) -> i32>;

/// Hands bytes to a function of the caller.
///
/// # Safety
/// The function may be called with `user`.
pub(crate) unsafe fn hand_over(write: WriteFn, user: *mut c_void, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: the caller promises it.
    let code = write.map_or(0, |write| unsafe { write(user, bytes.as_ptr(), bytes.len()) });
    match code {
        0 => Ok(()),
        code => Err(io::Error::other(format!("the writing function returned {code}"))),
    }
}

/// Where a message goes.
#[derive(Debug)]
enum Sink {
    File(BufWriter<File>),
    /// A function that is not NULL, and what it is called with.
    Function(WriteFn, *mut c_void),
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            // SAFETY: the header's contract: the function may be called with these until the encoder is freed.
            Self::Function(function, user) => unsafe { hand_over(*function, *user, bytes) }.map(|()| bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Function(..) => Ok(()),
        }
    }
}

impl Seek for Sink {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Function(..) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

/// A `tgm_streaming_encoder_t` of C.
#[derive(Debug)]
pub struct Encoder {
    message: Turns<StreamingEncoder<Sink>>,
    /// Whether the length of the message can be written into it afterwards.
    seeks: bool,
}

impl Encoder {
    /// A message in a file, which is emptied. So the arguments are checked before.
    fn open(path: &str, metadata: &GlobalMetadata, options: &EncodeOptions) -> Result<Self> {
        let name = SourceName::of(path);
        let created = name.to_write().and_then(File::create);
        let file = created.map_err(|error| Report::new(IO, format!("io error: cannot create {name}: {error}")))?;
        Self::new(Sink::File(BufWriter::new(file)), metadata, options, true)
    }

    fn new(sink: Sink, metadata: &GlobalMetadata, options: &EncodeOptions, seeks: bool) -> Result<Self> {
        let message = StreamingEncoder::new(sink, metadata, options)?;
        Ok(Self { message: Turns::new("streaming encoder", message), seeks })
    }
}

/// Begins a message in a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_streaming_encoder_create(
    path: *const c_char,
    metadata_json: *const c_char,
    hash_algo: *const c_char,
    threads: u32,
    out: *mut *mut Encoder,
) -> Code {
    // SAFETY: the header's contract. The function with options takes NULL as the defaults.
    unsafe { tgm_streaming_encoder_create_with_options(path, metadata_json, hash_algo, threads, ptr::null(), out) }
}

/// Begins a message in a file, with masks if the options say so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_streaming_encoder_create_with_options(
    path: *const c_char,
    metadata_json: *const c_char,
    hash_algo: *const c_char,
    threads: u32,
    mask_options: *const EncodeMaskOptions,
    out: *mut *mut Encoder,
) -> Code {
    // SAFETY: the header's contract.
    match unsafe { EncodeOptionsStruct::new(hash_algo, threads, mask_options) } {
        // SAFETY: the header's contract.
        Ok(options) => unsafe { tgm_streaming_encoder_create_opts(path, metadata_json, &raw const options, out) },
        Err(failure) => call(|| Err(failure)),
    }
}

/// Begins a message in a file, with a struct of options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_streaming_encoder_create_opts(
    path: *const c_char,
    metadata_json: *const c_char,
    options: *const EncodeOptionsStruct,
    out: *mut *mut Encoder,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (path, json, out) =
            unsafe { (args::text(path, "path")?, args::text(metadata_json, "metadata_json")?, args::place(out)?) };
        let mut metadata = json_in::metadata(json)?;
        // SAFETY: the header's contract.
        let (options, extra) = unsafe { options::encoding_struct(options)? };
        extra.map_or(Ok(()), |extra| extra.add_to(&mut metadata.extra))?;
        out.put_handle(Encoder::open(path, &metadata, &options)?);
        Ok(())
    })
}

/// Begins a message whose bytes go to a function, in order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_streaming_encoder_create_writer(
    write: WriteFn,
    user: *mut c_void,
    metadata_json: *const c_char,
    options: *const EncodeOptionsStruct,
    out: *mut *mut Encoder,
) -> Code {
    call(|| {
        if write.is_none() {
            return Err(invalid("null argument"));
        }
        // SAFETY: the header's contract.
        let (json, (options, extra), out) = unsafe {
            (args::text(metadata_json, "metadata_json")?, options::encoding_struct(options)?, args::place(out)?)
        };
        let mut metadata = json_in::metadata(json)?;
        extra.map_or(Ok(()), |extra| extra.add_to(&mut metadata.extra))?;
        out.put_handle(Encoder::new(Sink::Function(write, user), &metadata, &options, false)?);
        Ok(())
    })
}

/// Writes metadata of the next object before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_streaming_encoder_write_preceder(enc: *mut Encoder, metadata_json: *const c_char) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (encoder, json) = unsafe { (args::required(enc)?, args::text(metadata_json, "metadata_json")?) };
        encoder.message.with(|message| Ok(message.write_preceder(json_in::entry(json)?)?))
    })
}

/// Writes an object by `write`.
///
/// # Safety
/// The header's contract.
unsafe fn write_object(
    enc: *mut Encoder,
    descriptor_json: *const c_char,
    data: *const u8,
    data_len: usize,
    write: impl FnOnce(&mut StreamingEncoder<Sink>, &DataObjectDescriptor, &[u8]) -> Result<()>,
) -> Result<()> {
    // SAFETY: the caller makes the same promise.
    let (encoder, json, data) = unsafe {
        let json = args::text(descriptor_json, "descriptor_json");
        (args::required(enc)?, json?, args::slice_or_empty(data, data_len)?)
    };
    encoder.message.with(|message| {
        let number = message.object_count();
        let written = json_in::descriptor(json).and_then(|descriptor| write(message, &descriptor, data));
        written.map_err(|failure| failure.in_object(number))
    })
}

/// Encodes and writes an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_streaming_encoder_write(
    enc: *mut Encoder,
    descriptor_json: *const c_char,
    data: *const u8,
    data_len: usize,
) -> Code {
    let write = |message: &mut StreamingEncoder<Sink>, descriptor: &DataObjectDescriptor, data: &[u8]| {
        refuse_masks(descriptor)?;
        Ok(message.write_object(descriptor, data)?)
    };
    // SAFETY: the header's contract.
    call(|| unsafe { write_object(enc, descriptor_json, data, data_len, write) })
}

/// Encodes and writes an object of a struct, and its metadata before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_streaming_encoder_write_input(enc: *mut Encoder, object: *const ObjectInput) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (encoder, object) = unsafe { (args::required(enc)?, objects::builder(object)) };
        encoder.message.with(|message| {
            let number = message.object_count();
            let written = object.and_then(|object| Ok(message.write(object)?));
            written.map_err(|failure| failure.in_object(number))
        })
    })
}

/// Writes an object whose bytes went through the pipeline already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_streaming_encoder_write_pre_encoded(
    enc: *mut Encoder,
    descriptor_json: *const c_char,
    data: *const u8,
    data_len: usize,
) -> Code {
    let write = |message: &mut StreamingEncoder<Sink>, descriptor: &DataObjectDescriptor, data: &[u8]| {
        Ok(message.write_object_pre_encoded(descriptor, data)?)
    };
    // SAFETY: the header's contract.
    call(|| unsafe { write_object(enc, descriptor_json, data, data_len, write) })
}

/// The number of objects that were written; 0 after the end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_streaming_encoder_count(enc: *const Encoder) -> usize {
    // SAFETY: the header's contract.
    get(0, || unsafe { args::optional(enc) }?.message.ask(StreamingEncoder::object_count))
}

/// Ends the message. It does not state its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_streaming_encoder_finish(enc: *mut Encoder) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let encoder = unsafe { args::required(enc)? };
        encoder.message.end(|message| Ok(message.finish().map(drop)?))
    })
}

/// Ends the message, and writes its length into it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_streaming_encoder_finish_backfill(enc: *mut Encoder) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let encoder = unsafe { args::required(enc)? };
        if !encoder.seeks {
            return Err(invalid("a message that goes to a function cannot be changed afterwards"));
        }
        encoder.message.end(|message| Ok(message.finish_with_backfill().map(drop)?))
    })
}

/// Frees the encoder. A message that was not ended stays without an end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_streaming_encoder_free(enc: *mut Encoder) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(enc) });
}
