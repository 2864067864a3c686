//! The compiled half of the Python package `tgm`: Tensogram messages as numpy arrays.
//!
//! The package's `__init__.py` re-exports what this module has. A row uses rows below its own only:
//!
//! | module | what it knows |
//! |---|---|
//! | `functions`, `file`, `iterators`, `streaming` | what Python programs call |
//! | `message` | decoded messages as tuples of Python objects |
//! | `metadata`, `descriptor` | the two classes that describe |
//! | `convert` | single values, in and out |
//! | `work` | work without the GIL |
//! | `errors` | exceptions |

mod convert;
mod descriptor;
mod errors;
mod functions;
mod message;
mod metadata;
mod work;

use pyo3::prelude::*;

/// Tensogram messages as numpy arrays: the compiled half of the package `tgm`.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<metadata::Metadata>()?;
    module.add_class::<descriptor::DataObjectDescriptor>()?;
    functions::add_to(module)
}
