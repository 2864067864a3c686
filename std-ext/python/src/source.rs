//! Sources that are objects of Python: files that can seek, and streams that can only be read.

mod python_file;
mod source_file;
mod stream;
mod turn;

use pyo3::prelude::*;

/// Adds the classes and functions to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<source_file::SourceFile>()?;
    module.add_class::<stream::MessageStream>()?;
    Ok(())
}
