//! A message that is written object by object without blocking.

use std::ffi::{CString, c_char};
use std::fs::File;
use std::io::BufWriter;
use std::ptr;
use std::sync::Arc;

use tgm_std::file::SourceName;
use tgm_std::{EncodeOptions, GlobalMetadata, StreamingEncoder};

use super::launch::{AsyncTask, Launch, blocking};
use super::queue::{Open, Progress, Queue};
use super::token::Token;
use crate::args::{self, Flag};
use crate::call::{call, get, run};
use crate::encode::refuse_masks;
use crate::error::{Code, ENCODING, FRAMING, Failure, Report, Result, c_string, io};
use crate::json_in;
use crate::objects::{self, ObjectInput};
use crate::options::{self, EncodeOptionsStruct};

/// A `tgm_async_streaming_encoder_t` of C. Tasks share its message, so they do not need the handle.
pub struct AsyncEncoder {
    queue: Arc<Queue>,
    path: CString,
}

impl std::fmt::Debug for AsyncEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AsyncEncoder").field("path", &self.path.to_str().map(SourceName::of)).finish_non_exhaustive()
    }
}

/// A `TgmObjectCountStatus` of C.
pub type CountStatus = i32;

const COUNT_OK: CountStatus = 0;
const COUNT_NULL_HANDLE: CountStatus = 1;
const COUNT_BUSY: CountStatus = 2;
const COUNT_FINISHED: CountStatus = 3;

/// The failure of any call after the end.
fn finished() -> Failure {
    Report::new(FRAMING, "framing error: encoder already finished").into()
}

/// Begins a message in a file, which is emptied.
fn create(path: &str, metadata: GlobalMetadata, options: EncodeOptions, launch: Launch<'_>) -> Result<()> {
    let path = path.to_string();
    launch.start(blocking(move || {
        let file = BufWriter::new(File::create(&path).map_err(|error| io(&error))?);
        let queue = Queue::new(StreamingEncoder::new(file, &metadata, &options)?);
        Ok(AsyncEncoder { queue, path: c_string(path) })
    }))
}

/// Begins a message in a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_streaming_encoder_create(
    path: *const c_char,
    metadata_json: *const c_char,
    hash_algo: *const c_char,
    threads: u32,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    // SAFETY: the header's contract.
    match unsafe { EncodeOptionsStruct::new(hash_algo, threads, ptr::null()) } {
        // SAFETY: the header's contract.
        Ok(options) => unsafe {
            let options = &raw const options;
            tgm_async_streaming_encoder_create_opts(path, metadata_json, options, cancel, timeout_ms, out_task)
        },
        Err(failure) => call(|| Err(failure)),
    }
}

/// Begins a message in a file, with a struct of options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_streaming_encoder_create_opts(
    path: *const c_char,
    metadata_json: *const c_char,
    options: *const EncodeOptionsStruct,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (launch, path, json) = unsafe {
            let launch = Launch::new(cancel, timeout_ms, out_task)?;
            (launch, args::text(path, "path")?, args::text(metadata_json, "metadata_json")?)
        };
        let mut metadata = json_in::metadata(json)?;
        // SAFETY: the header's contract.
        let (options, extra) = unsafe { options::encoding_struct(options)? };
        extra.map_or(Ok(()), |extra| extra.add_to(&mut metadata.extra))?;
        create(path, metadata, options, launch)
    })
}

/// Launches `write` after all earlier calls with this encoder.
///
/// # Errors
/// The errors of [`Launch::task`].
fn launch_write(
    encoder: &AsyncEncoder,
    launch: Launch<'_>,
    write: impl FnOnce(&mut Open) -> Result<()> + Send + 'static,
) -> Result<()> {
    let (task, runtime) = launch.task()?;
    // Cancelled before: nothing is done.
    if !task.is_ready() {
        encoder.queue.push(task, &runtime, write);
    }
    Ok(())
}

/// The arguments of a call that writes an object.
struct ObjectArgs<'a> {
    encoder: &'a AsyncEncoder,
    launch: Launch<'a>,
    descriptor: tgm_std::DataObjectDescriptor,
    data: Vec<u8>,
}

impl ObjectArgs<'_> {
    /// # Safety
    /// The header's contract.
    unsafe fn new(
        enc: *mut AsyncEncoder,
        descriptor_json: *const c_char,
        data: *const u8,
        len: usize,
        cancel: *mut Token,
        timeout_ms: u64,
        out_task: *mut *mut AsyncTask,
    ) -> Result<Self> {
        // SAFETY: the caller makes the same promise.
        let (encoder, data, launch, json) = unsafe {
            let (encoder, data) = (args::required(enc)?, args::slice(data, len)?);
            let launch = Launch::new(cancel, timeout_ms, out_task)?;
            (encoder, data, launch, args::text(descriptor_json, "descriptor_json")?)
        };
        let descriptor = json_in::descriptor(json)?;
        Ok(Self { encoder, launch, descriptor, data: copied(data)? })
    }
}

/// A copy that outlives the call.
fn copied(data: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(data.len()).map_err(|_| Report::new(ENCODING, "out of memory"))?;
    copy.extend_from_slice(data);
    Ok(copy)
}

/// Encodes and writes an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_streaming_encoder_write_object(
    enc: *mut AsyncEncoder,
    descriptor_json: *const c_char,
    data: *const u8,
    len: usize,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let args = unsafe { ObjectArgs::new(enc, descriptor_json, data, len, cancel, timeout_ms, out_task)? };
        let ObjectArgs { encoder, launch, descriptor, data } = args;
        refuse_masks(&descriptor)?;
        launch_write(encoder, launch, move |message| {
            Ok(message.as_mut().ok_or_else(finished)?.write_object(&descriptor, &data)?)
        })
    })
}

/// Encodes and writes an object of a struct, and its metadata before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_streaming_encoder_write_input(
    enc: *mut AsyncEncoder,
    object: *const ObjectInput,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (encoder, launch, object) = unsafe {
            let (encoder, launch) = (args::required(enc)?, Launch::new(cancel, timeout_ms, out_task)?);
            (encoder, launch, objects::builder(object)?.into_owned()?)
        };
        launch_write(encoder, launch, move |message| Ok(message.as_mut().ok_or_else(finished)?.write(object)?))
    })
}

/// Writes an object whose bytes went through the pipeline already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_streaming_encoder_write_pre_encoded(
    enc: *mut AsyncEncoder,
    descriptor_json: *const c_char,
    data: *const u8,
    len: usize,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let args = unsafe { ObjectArgs::new(enc, descriptor_json, data, len, cancel, timeout_ms, out_task)? };
        let ObjectArgs { encoder, launch, descriptor, data } = args;
        launch_write(encoder, launch, move |message| {
            Ok(message.as_mut().ok_or_else(finished)?.write_object_pre_encoded(&descriptor, &data)?)
        })
    })
}

/// Writes metadata of the next object before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_streaming_encoder_write_preceder(
    enc: *mut AsyncEncoder,
    metadata_json: *const c_char,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (encoder, launch, json) = unsafe {
            let (encoder, launch) = (args::required(enc)?, Launch::new(cancel, timeout_ms, out_task)?);
            (encoder, launch, args::text(metadata_json, "metadata_json")?)
        };
        let entry = json_in::exact_entries(json)?;
        launch_write(encoder, launch, move |message| {
            Ok(message.as_mut().ok_or_else(finished)?.write_preceder(entry)?)
        })
    })
}

/// Ends the message. With `backfill` its length is written into it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_streaming_encoder_finish(
    enc: *mut AsyncEncoder,
    backfill: Flag,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (encoder, launch) = unsafe { (args::required(enc)?, Launch::new(cancel, timeout_ms, out_task)?) };
        launch_write(encoder, launch, move |message| {
            let message = message.take().ok_or_else(finished)?;
            let ended = if backfill.is_set() { message.finish_with_backfill() } else { message.finish() };
            Ok(ended.map(drop)?)
        })
    })
}

/// Writes the number of objects, if it is known at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_streaming_encoder_try_object_count(
    enc: *const AsyncEncoder,
    out_count: *mut usize,
) -> CountStatus {
    get(COUNT_NULL_HANDLE, || {
        // SAFETY: the header's contract.
        let (encoder, out) = unsafe { (args::optional(enc)?, args::place(out_count).ok()?) };
        Some(match encoder.queue.progress() {
            Progress::Busy => COUNT_BUSY,
            Progress::Finished => COUNT_FINISHED,
            Progress::Objects(count) => {
                out.put(count);
                COUNT_OK
            }
        })
    })
}

/// The number of objects; `SIZE_MAX` if it is not known at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_streaming_encoder_object_count(enc: *const AsyncEncoder) -> usize {
    get(usize::MAX, || {
        // SAFETY: the header's contract.
        match unsafe { args::optional(enc) }?.queue.progress() {
            Progress::Objects(count) => Some(count),
            Progress::Busy | Progress::Finished => None,
        }
    })
}

/// The path of the file, as it was given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_streaming_encoder_path(enc: *const AsyncEncoder) -> *const c_char {
    // SAFETY: the header's contract.
    get(ptr::null(), || unsafe { args::optional(enc) }.map(|encoder| encoder.path.as_ptr()))
}

/// Frees the encoder. Its tasks go on; a message that is not ended then stays without an end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_streaming_encoder_free(enc: *mut AsyncEncoder) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(enc) });
}
