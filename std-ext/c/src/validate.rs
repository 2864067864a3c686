//! Validation of messages and files, and the self-test of this library.

use std::ffi::c_char;
use std::path::Path;

use tgm_std::validate::Damage;
use tgm_std::{ValidateOptions, ValidationLevel, check_message, doctor, validate_file, validate_message};

use crate::args;
use crate::buffers::{TgmBytes, give};
use crate::call::call;
use crate::error::{Code, Failure, Report, Result, invalid, io};
use crate::json_out;

/// The options for a level's name. NULL is the default level.
///
/// # Safety
/// `level` is NULL, or a text that ends with NUL.
unsafe fn options(level: *const c_char, check_canonical: i32) -> Result<ValidateOptions> {
    // SAFETY: the caller makes the same promise.
    let level = unsafe { args::optional_text(level, "level")? };
    let (max_level, checksum_only) = match level {
        None | Some("default") => (ValidationLevel::Integrity, false),
        Some("quick") => (ValidationLevel::Structure, false),
        Some("checksum") => (ValidationLevel::Integrity, true),
        Some("full") => (ValidationLevel::Fidelity, false),
        Some(other) => {
            return Err(invalid(format!("unknown validation level: {other} (known: quick, default, checksum, full)")));
        }
    };
    let check_canonical = check_canonical != 0;
    Ok(ValidateOptions { max_level, checksum_only, check_canonical, ..ValidateOptions::default() })
}

/// A report as JSON, in bytes that the caller frees.
fn give_report(report: &impl serde::Serialize) -> Result<TgmBytes> {
    give(json_out::report(report).ok_or_else(Report::internal)?)
}

/// Validates a message. Writes the findings as JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_validate(
    buf: *const u8,
    buf_len: usize,
    level: *const c_char,
    check_canonical: i32,
    out: *mut TgmBytes,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (bytes, options, out) =
            unsafe { (args::slice_or_empty(buf, buf_len)?, options(level, check_canonical)?, args::place(out)?) };
        out.put(give_report(&validate_message(bytes, &options))?);
        Ok(())
    })
}

/// Validates all messages of a file. Writes the findings as JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_validate_file(
    path: *const c_char,
    level: *const c_char,
    check_canonical: i32,
    out: *mut TgmBytes,
) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let (path, options, out) =
            unsafe { (args::text(path, "path")?, options(level, check_canonical)?, args::place(out)?) };
        let report = validate_file(Path::new(path), &options).map_err(|error| io(&error))?;
        out.put(give_report(&report)?);
        Ok(())
    })
}

/// Checks the structure and all digests of a message. The error is the first damage.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_check_message(buf: *const u8, buf_len: usize) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let bytes = unsafe { args::slice(buf, buf_len)? };
        check_message(bytes).map_err(|damage| failure(&damage))
    })
}

/// The error of a damage: it names the byte and the object.
pub(crate) fn failure(damage: &Damage) -> Failure {
    Report::from(damage.error()).at(damage.offset(), damage.object()).into()
}

/// Tests this library. Writes what it was built with, and the results, as JSON.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tgm_doctor_to_json(out: *mut TgmBytes) -> Code {
    call(|| {
        // SAFETY: the header's contract.
        let out = unsafe { args::place(out)? };
        out.put(give_report(&doctor::run_diagnostics())?);
        Ok(())
    })
}
