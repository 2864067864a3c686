//! What is wrong with messages and files.

use std::io;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use tgm_std::TensogramError;
use tgm_std::validate::{FileValidationReport, Progress, ValidationIssue, ValidationReport, validate_file_with};

use crate::convert::arguments::{self, validating};
use crate::convert::buffers::{Bytes, Reads};
use crate::errors::{in_python, of_file};
use crate::work::detached;

/// Looks for everything that is wrong with a message.
///
/// `level` is "quick" (structure), "default" (also metadata, digests and decoding), "checksum" (digests alone) or
/// "full" (also values). `check_canonical` also looks at the order of keys in CBOR.
///
/// Returns a dict: `issues` is a list of dicts with `code`, `description`, `level` and `severity`, and, where they are
/// known, `byte_offset` and `object_index`; `object_count`; `hash_verified`. Nothing in the data raises. Raises
/// ValueError for another level.
///
/// >>> import tgmio as tgm
/// >>> tgm.validate(tgm.encode({}, []))
/// {'hash_verified': False, 'issues': [], 'object_count': 0}
/// >>> tgm.validate(b"")["issues"][0]["code"]
/// 'buffer_too_short'
#[pyfunction]
#[pyo3(signature = (buf, level="default", check_canonical=false))]
pub(crate) fn validate<'py>(
    py: Python<'py>,
    buf: &Bound<'py, PyAny>,
    level: &str,
    check_canonical: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let options = validating(level, check_canonical)?;
    let run = |bytes: &[u8]| tgm_std::validate::validate_message(bytes, &options);
    report_dict(py, &Bytes::borrow(buf, "buf")?.run(py, Reads::All, run)?)
}

/// Looks for everything that is wrong with the messages of a file.
///
/// The other arguments are as for `validate`. `progress(done, total)` is called after each message, with numbers of
/// bytes: `total` is None for a pipe. What it raises ends the call. Returns a dict: `file_issues` is a list of dicts
/// with `byte_offset`, `length` and `description`, one for each part of the file that belongs to no message; `messages`
/// is a list of the reports that `validate` gives. Raises OSError if the file cannot be read, and ValueError for
/// another level.
///
/// >>> import tempfile, tgmio as tgm
/// >>> with tempfile.NamedTemporaryFile() as file:
/// ...     tgm.validate_file(file.name)
/// {'file_issues': [], 'messages': []}
#[pyfunction]
#[pyo3(signature = (path, level="default", check_canonical=false, *, progress=None))]
pub(crate) fn validate_file<'py>(
    py: Python<'py>,
    path: &Bound<'py, PyAny>,
    level: &str,
    check_canonical: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (path, options) = (arguments::path(path, "path")?, validating(level, check_canonical)?);
    let mut raised = None;
    let watch = |Progress { done, total }| {
        let Some(progress) = &progress else { return Ok(()) };
        Python::attach(|py| progress.call1(py, (done, total))).map(drop).map_err(|error| {
            raised = Some(error);
            io::ErrorKind::Interrupted.into()
        })
    };
    let report = detached(py, || validate_file_with(&path, &options, watch))?;
    if let Some(error) = raised {
        return Err(error);
    }
    let report = report.map_err(|error| {
        let what = if error.kind() == io::ErrorKind::NotFound { "file not found" } else { "cannot read" };
        of_file(py, &TensogramError::Io(error), what, &path)
    })?;
    file_report_dict(py, &report)
}

fn file_report_dict<'py>(py: Python<'py>, report: &FileValidationReport) -> PyResult<Bound<'py, PyDict>> {
    let file_issues = PyList::empty(py);
    for issue in &report.file_issues {
        let dict = PyDict::new(py);
        dict.set_item("byte_offset", issue.byte_offset)?;
        dict.set_item("description", &*in_python(&issue.description))?;
        dict.set_item("length", issue.length)?;
        file_issues.append(dict)?;
    }
    let messages = PyList::empty(py);
    report.messages.iter().try_for_each(|message| messages.append(report_dict(py, message)?))?;
    let dict = PyDict::new(py);
    dict.set_item("file_issues", file_issues)?;
    dict.set_item("messages", messages)?;
    Ok(dict)
}

fn report_dict<'py>(py: Python<'py>, report: &ValidationReport) -> PyResult<Bound<'py, PyDict>> {
    let issues = PyList::empty(py);
    report.issues.iter().try_for_each(|issue| issues.append(issue_dict(py, issue)?))?;
    let dict = PyDict::new(py);
    dict.set_item("hash_verified", report.hash_verified)?;
    dict.set_item("issues", issues)?;
    dict.set_item("object_count", report.object_count)?;
    if report.omitted_issues > 0 {
        dict.set_item("omitted_issues", report.omitted_issues)?;
    }
    Ok(dict)
}

/// The keys are in alphabetical order.
fn issue_dict<'py>(py: Python<'py>, issue: &ValidationIssue) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    if let Some(offset) = issue.byte_offset {
        dict.set_item("byte_offset", offset)?;
    }
    dict.set_item("code", issue.code.name())?;
    dict.set_item("description", &*in_python(&issue.description))?;
    dict.set_item("level", issue.level.to_string())?;
    if let Some(index) = issue.object_index {
        dict.set_item("object_index", index)?;
    }
    dict.set_item("severity", issue.severity.to_string())?;
    Ok(dict)
}
