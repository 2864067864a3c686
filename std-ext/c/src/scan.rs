//! Finding the messages of a buffer.

use crate::args;
use crate::call::{call, get, run};
use crate::error::{Code, invalid};

/// A `tgm_scan_result_t` of C.
#[derive(Debug)]
pub struct ScanResult {
    /// Offset and length of each message.
    extents: Vec<(usize, usize)>,
}

/// A `tgm_scan_entry_t` of C.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ScanEntry {
    offset: usize,
    length: usize,
}

/// The entry for an index that does not exist.
const ABSENT: ScanEntry = ScanEntry { offset: usize::MAX, length: 0 };

/// Finds the messages of a buffer. Bytes between them are skipped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_scan(buf: *const u8, buf_len: usize, out: *mut *mut ScanResult) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (bytes, out) = unsafe { (args::slice_or_empty(buf, buf_len)?, args::place(out)?) };
        out.put_handle(ScanResult { extents: tgm_std::scan(bytes) });
        Ok(())
    })
}

/// The number of messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_scan_count(result: *const ScanResult) -> usize {
    // SAFETY: the header's contract.
    get(0, || unsafe { args::optional(result) }.map(|result| result.extents.len()))
}

/// The place of a message. An index that does not exist is an error; the place is then `{SIZE_MAX, 0}`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_scan_entry(result: *const ScanResult, index: usize) -> ScanEntry {
    let mut entry = ABSENT;
    call(|| {
        // SAFETY: the header's contract.
        let extents = &unsafe { args::required(result)? }.extents;
        let found = extents
            .get(index)
            .ok_or_else(|| invalid(format!("scan entry index {index} out of range (count={})", extents.len())))?;
        entry = ScanEntry { offset: found.0, length: found.1 };
        Ok(())
    });
    entry
}

/// Frees the result of a scan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_scan_free(result: *mut ScanResult) {
    // SAFETY: the header's contract.
    run(|| unsafe { args::free(result) });
}
