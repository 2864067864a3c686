//! Writers: where messages go.

use std::ffi::{c_char, c_void};

use tgm_std::archive::MessageSink;
use tgm_std::{TensogramFile, Writer};

use crate::args;
use crate::buffers::{TgmBytes, give};
use crate::builder::Builder;
use crate::call::{call, run};
use crate::error::{Code, Result, invalid};
use crate::objects::{self, ObjectInput, entries};
use crate::options::{self, EncodeOptionsStruct};
use crate::streaming::{WriteFn, hand_over};
use crate::turns::Turns;

/// Where messages go.
#[derive(Debug)]
enum Sink {
    Memory(Vec<u8>),
    File(TensogramFile),
    /// A function, and what it is called with.
    Function(WriteFn, *mut c_void),
}

impl MessageSink for Sink {
    fn take_message(&mut self, message: &[u8]) -> tgm_std::Result<()> {
        match self {
            Self::Memory(bytes) => bytes.take_message(message),
            Self::File(file) => file.take_message(message),
            // SAFETY: the header's contract: the function may be called with these until the writer is freed.
            Self::Function(function, user) => unsafe { hand_over(*function, *user, message) }.map_err(Into::into),
        }
    }

    fn flush_messages(&mut self) -> tgm_std::Result<()> {
        match self {
            Self::Memory(_) | Self::Function(..) => Ok(()),
            Self::File(file) => file.flush_messages(),
        }
    }
}

/// A `tgm_writer_t` of C. It takes one call at a time.
#[derive(Debug)]
pub struct WriterHandle {
    writer: Turns<Writer<Sink>>,
    /// Whether it has bytes for the caller at its end.
    is_to_memory: bool,
}

/// Puts a handle of a writer to the sink that `open` opens.
///
/// # Safety
/// The header's contract.
unsafe fn put(
    options: *const EncodeOptionsStruct,
    out: *mut *mut WriterHandle,
    open: impl FnOnce() -> Result<Sink>,
) -> Code {
    call(|| {
        // SAFETY: the caller makes the same promise.
        let ((options, extra), out) = unsafe { (options::encoding_struct(options)?, args::place(out)?) };
        let extra = extra.map(Builder::entries).unwrap_or_default();
        let sink = open()?;
        let is_to_memory = matches!(sink, Sink::Memory(_));
        let mut writer = Writer::new(sink).options(options);
        for (path, value) in extra {
            writer.extra(&path, value)?;
        }
        out.put_handle(WriterHandle { writer: Turns::new("writer", writer), is_to_memory });
        Ok(())
    })
}

/// Writes to memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_writer_memory(options: *const EncodeOptionsStruct, out: *mut *mut WriterHandle) -> Code {
    // SAFETY: the header's contract.
    unsafe { put(options, out, || Ok(Sink::Memory(Vec::new()))) }
}

/// Writes to a new file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_writer_create(
    path: *const c_char,
    options: *const EncodeOptionsStruct,
    out: *mut *mut WriterHandle,
) -> Code {
    // SAFETY: the header's contract.
    unsafe { put(options, out, || Ok(Sink::File(TensogramFile::create(args::text(path, "path")?)?))) }
}

/// Writes after the messages of a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_writer_append(
    path: *const c_char,
    options: *const EncodeOptionsStruct,
    out: *mut *mut WriterHandle,
) -> Code {
    // SAFETY: the header's contract.
    unsafe { put(options, out, || Ok(Sink::File(TensogramFile::open(args::text(path, "path")?)?))) }
}

/// Writes to a function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_writer_to(
    write: WriteFn,
    user: *mut c_void,
    options: *const EncodeOptionsStruct,
    out: *mut *mut WriterHandle,
) -> Code {
    let sink = || if write.is_some() { Ok(Sink::Function(write, user)) } else { Err(invalid("null argument")) };
    // SAFETY: the header's contract.
    unsafe { put(options, out, sink) }
}

/// Sets metadata of the message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_writer_extra(
    writer: *mut WriterHandle,
    extra_json: *const c_char,
    builder: *const Builder,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (handle, json, builder) =
            unsafe { (args::required(writer)?, args::optional_text(extra_json, "extra_json")?, args::given(builder)?) };
        let entries = entries(json, builder)?;
        handle.writer.with(|writer| {
            for (path, value) in entries {
                writer.extra(&path, value)?;
            }
            Ok(())
        })
    })
}

/// Encodes an object and adds it to the message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_writer_object(writer: *mut WriterHandle, object: *const ObjectInput) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let handle = unsafe { args::required(writer)? };
        // SAFETY: the header's contract.
        let object = unsafe { objects::builder(object) };
        handle.writer.with(|writer| {
            let number = writer.object_count();
            let added = object.and_then(|object| Ok(writer.object(object)?));
            added.map_err(|failure| failure.in_object(number))
        })
    })
}

/// Ends the message and writes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_writer_end_message(writer: *mut WriterHandle) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let handle = unsafe { args::required(writer)? };
        handle.writer.with(|writer| Ok(writer.end_message()?))
    })
}

/// Ends the message, if there is one, and the writer. The bytes of a writer to memory go to `out`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_writer_finish(writer: *mut WriterHandle, out: *mut TgmBytes) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let handle = unsafe { args::required(writer)? };
        // SAFETY: the header's contract.
        let out = if handle.is_to_memory { Some(unsafe { args::place(out)? }) } else { None };
        let sink = handle.writer.end(|writer| Ok(writer.finish()?))?;
        if let (Sink::Memory(bytes), Some(out)) = (sink, out) {
            out.put(give(bytes)?);
        }
        Ok(())
    })
}

/// Frees a writer. A message that was not ended is not written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_writer_free(writer: *mut WriterHandle) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(writer) });
}
