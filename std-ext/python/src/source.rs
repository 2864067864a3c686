//! Sources that are objects of Python: files that can seek, and streams that can only be read.

pub(crate) mod buffer;
mod python_file;
mod stream;
mod turn;

use pyo3::prelude::*;

pub(crate) use self::python_file::{PythonFile, SharedFile, title};

/// Adds the classes and functions to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<stream::MessageStream>()
}
