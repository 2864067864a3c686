//! Functions of tasks: waiting for the end, and being told of it.

use std::ffi::c_void;
use std::sync::Arc;

use super::encoder::AsyncEncoder;
use super::engine::engine;
use super::files::AsyncFile;
use super::launch::AsyncTask;
use super::pool::{Callback, CompletionFn};
use super::task::Task;
use crate::args::{self, Place};
use crate::buffers::{TgmBytes, give, give_array, take_back_array};
use crate::call::{call, get, run};
use crate::error::{Code, Result, invalid};
use crate::message::Message;
use crate::metadata::Metadata;

/// The task of a handle, which a callback may free while this call still needs the task.
///
/// # Safety
/// The header's contract.
unsafe fn shared(task: *const AsyncTask) -> Result<Arc<Task>> {
    if task.is_null() {
        return Err(invalid("null task"));
    }
    // SAFETY: the caller makes the same promise.
    unsafe { args::required(task) }.map(|task| Arc::clone(&task.0))
}

/// The place of a join's value.
///
/// # Safety
/// The header's contract.
unsafe fn result<'a, T>(pointer: *mut T) -> Result<Place<'a, T>> {
    if pointer.is_null() {
        return Err(invalid("null out pointer"));
    }
    // SAFETY: the caller makes the same promise.
    unsafe { args::place(pointer) }
}

/// Lets a function be called once, when the task has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_task_set_completion(
    task: *mut AsyncTask,
    cb: CompletionFn,
    userdata: *mut c_void,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let task = unsafe { shared(task)? };
        let callback = Callback::new(cb, userdata).ok_or_else(|| invalid("null argument"))?;
        let engine = engine();
        engine.start_pool()?;
        task.on_completion(callback, &engine.pool)
    })
}

/// Whether the task has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_task_is_ready(task: *const AsyncTask) -> bool {
    // SAFETY: the header's contract.
    get(false, || unsafe { args::optional(task) }.map(|task| task.0.is_ready()))
}

/// Ends the task as cancelled, if it has not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_task_cancel(task: *mut AsyncTask) {
    run(|| {
        // SAFETY: the header's contract.
        if let Some(task) = unsafe { args::optional(task) }.map(|task| Arc::clone(&task.0)) {
            task.cancel();
        }
    });
}

/// Frees a task, which goes on if it has not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_task_free(task: *mut AsyncTask) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(task) });
}

/// Waits for a task without a value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_task_join_void(task: *mut AsyncTask) -> Code {
    // SAFETY: the header's contract.
    call(|| unsafe { shared(task)? }.join("void"))
}

/// Waits for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_task_join_size(task: *mut AsyncTask, out: *mut u64) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (out, task) = unsafe { (result(out)?, shared(task)?) };
        out.put(task.join("size")?);
        Ok(())
    })
}

/// Waits for bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_task_join_bytes(task: *mut AsyncTask, out: *mut TgmBytes) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (out, task) = unsafe { (result(out)?, shared(task)?) };
        out.put(give(task.join("bytes")?)?);
        Ok(())
    })
}

/// Waits for the values of ranges.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_task_join_multi_bytes(
    task: *mut AsyncTask,
    out_array: *mut *mut TgmBytes,
    out_count: *mut usize,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (out, count, task) = unsafe { (result(out_array)?, result(out_count)?, shared(task)?) };
        let parts: Vec<Vec<u8>> = task.join("multi_bytes")?;
        let len = parts.len();
        out.put(give_array(parts)?);
        count.put(len);
        Ok(())
    })
}

/// Frees what `tgm_async_task_join_multi_bytes` gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_multi_bytes_free(array: *mut TgmBytes, count: usize) {
    run(|| {
        // The array knows its length.
        let _ = count;
        // SAFETY: the header's contract.
        unsafe { take_back_array(array) };
    });
}

/// Waits for a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_task_join_message(task: *mut AsyncTask, out: *mut *mut Message) -> Code {
    // SAFETY: the header's contract.
    call(|| unsafe { join_handle(task, out, "message") })
}

/// Waits for metadata.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_task_join_metadata(task: *mut AsyncTask, out: *mut *mut Metadata) -> Code {
    // SAFETY: the header's contract.
    call(|| unsafe { join_handle(task, out, "metadata") })
}

/// Waits for a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_task_join_async_file(task: *mut AsyncTask, out: *mut *mut AsyncFile) -> Code {
    // SAFETY: the header's contract.
    call(|| unsafe { join_handle(task, out, "async_file") })
}

/// Waits for an encoder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_task_join_async_streaming_encoder(
    task: *mut AsyncTask,
    out: *mut *mut AsyncEncoder,
) -> Code {
    // SAFETY: the header's contract.
    call(|| unsafe { join_handle(task, out, "async_streaming_encoder") })
}

/// Waits for something that the caller gets a handle of.
///
/// # Safety
/// The header's contract.
unsafe fn join_handle<T: 'static>(task: *mut AsyncTask, out: *mut *mut T, expected: &str) -> Result<()> {
    // SAFETY: the caller makes the same promise.
    let (out, task) = unsafe { (result(out)?, shared(task)?) };
    out.put_handle(task.join(expected)?);
    Ok(())
}
