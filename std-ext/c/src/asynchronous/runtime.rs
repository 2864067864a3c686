//! Functions about the threads of the process.

use std::time::Duration;

use super::engine::engine;
use crate::call::{call, get};
use crate::error::Code;

/// Sets the numbers of threads. Parts of uploads are not used: this library does not write to addresses.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_runtime_configure(workers: u32, dispatcher_workers: u32, multipart_part_size_bytes: u64) -> Code {
    call(|| {
        let _ = multipart_part_size_bytes;
        engine().configure(workers, dispatcher_workers)
    })
}

/// Refuses new tasks, and waits for the others for some time. Returns how many had to be cancelled.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_runtime_shutdown_blocking(timeout_ms: u64) -> u64 {
    get(0, || Some(engine().shut_down(Duration::from_millis(timeout_ms))))
}
