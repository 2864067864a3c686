//! Files at addresses.

use std::ffi::c_char;

use super::launch::{AsyncTask, Launch};
use super::token::Token;
use crate::args::Flag;
use crate::call::call;
use crate::error::{Code, Result};

/// Opens a source by its address, with options of its store.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_async_file_open_remote(
    url: *const c_char,
    storage_keys: *const *const c_char,
    storage_values: *const *const c_char,
    nopts: usize,
    bidirectional: Flag,
    cancel: *mut Token,
    timeout_ms: u64,
    out_task: *mut *mut AsyncTask,
) -> Code {
    call(|| {
        #[cfg(not(feature = "async-remote"))]
        refuse()?;
        // SAFETY: the header's contract.
        unsafe {
            let launch = Launch::new(cancel, timeout_ms, out_task)?;
            open(url, storage_keys, storage_values, nopts, bidirectional, launch)
        }
    })
}

#[cfg(not(feature = "async-remote"))]
use absent::{open, refuse};
#[cfg(feature = "async-remote")]
use present::open;

#[cfg(not(feature = "async-remote"))]
mod absent {
    use super::{Flag, Launch, Result, c_char};
    use crate::error::{REMOTE, Report};

    /// The failure of any call, whatever its arguments are.
    pub(super) fn refuse() -> Result<()> {
        Err(Report::new(REMOTE, "remote error: addresses are read with feature async-remote, which is not compiled in")
            .into())
    }

    /// Opens nothing.
    pub(super) unsafe fn open(
        _: *const c_char,
        _: *const *const c_char,
        _: *const *const c_char,
        _: usize,
        _: Flag,
        _: Launch<'_>,
    ) -> Result<()> {
        refuse()
    }
}

#[cfg(feature = "async-remote")]
mod present {
    use std::collections::BTreeMap;

    use tgm_std::TensogramFile;
    use tgm_std::file::RemoteScanOptions;

    use super::super::files::AsyncFile;
    use super::{Flag, Launch, Result, c_char};
    use crate::args;
    use crate::error::invalid;

    /// Opens the address.
    ///
    /// # Safety
    /// The header's contract.
    pub(super) unsafe fn open(
        url: *const c_char,
        keys: *const *const c_char,
        values: *const *const c_char,
        count: usize,
        bidirectional: Flag,
        launch: Launch<'_>,
    ) -> Result<()> {
        // SAFETY: the caller makes the same promise.
        let (url, keys, values) = unsafe {
            (args::text(url, "url")?, texts(keys, count, "storage key")?, texts(values, count, "storage value")?)
        };
        let url = url.to_string();
        // The last of equal keys counts.
        let storage: BTreeMap<String, String> = keys.into_iter().zip(values).collect();
        let scan = RemoteScanOptions { bidirectional: bidirectional.is_set() };
        launch.start(async move {
            let file = TensogramFile::open_remote_async(&url, &storage, Some(scan)).await?;
            Ok(AsyncFile::new(url, file))
        })
    }

    /// The texts of an array. `what` names them in errors.
    ///
    /// # Safety
    /// The header's contract.
    unsafe fn texts(array: *const *const c_char, count: usize, what: &str) -> Result<Vec<String>> {
        if count > 0 && array.is_null() {
            return Err(invalid("null storage opts pointer"));
        }
        // SAFETY: the caller makes the same promise.
        let pointers = unsafe { args::slice_or_empty(array, count)? };
        let text = |pointer: &*const c_char| {
            if pointer.is_null() {
                return Err(invalid("null storage opt entry"));
            }
            // SAFETY: the caller makes the same promise for each entry.
            Ok(unsafe { args::text(*pointer, what)? }.to_string())
        };
        pointers.iter().map(text).collect()
    }
}
