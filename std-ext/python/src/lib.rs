//! The compiled half of the Python package `tgmio`: Tensogram messages as numpy arrays.
//!
//! The package's `__init__.py` re-exports what this module has. A row uses rows below its own only:
//!
//! | module | what it knows |
//! |---|---|
//! | `catalog`, `dataset`, `functions`, `file`, `output`, `source`, `iterators`, `streaming`, `asynchronous`, `tool`, `view` | what Python programs call |
//! | `message` | decoded messages as tuples of Python objects |
//! | `metadata`, `descriptor` | the two classes that describe |
//! | `canonical` | how those two are compared, hashed and pickled |
//! | `convert` | single values, in and out |
//! | `html` | tables for notebooks |
//! | `gate` | waiting for other threads |
//! | `work` | work without the GIL |
//! | `errors` | exceptions |

// A build without sources at addresses refuses the calls for them, whatever their arguments.
#![cfg_attr(not(feature = "remote"), allow(unused_variables))]

mod asynchronous;
mod canonical;
mod catalog;
mod convert;
mod dataset;
mod descriptor;
mod errors;
mod file;
mod functions;
mod gate;
mod html;
mod iterators;
mod message;
mod metadata;
mod output;
mod source;
mod streaming;
mod tool;
mod view;
mod work;

use pyo3::prelude::*;

/// Tensogram messages as numpy arrays: the compiled half of the package `tgmio`.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<metadata::Metadata>()?;
    module.add_class::<descriptor::DataObjectDescriptor>()?;
    module.add_class::<file::TensogramFile>()?;
    module.add_class::<file::TensogramFileIter>()?;
    module.add_class::<iterators::MessageIter>()?;
    module.add_class::<streaming::StreamingEncoder>()?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("WIRE_VERSION", tgm_core::wire::WIRE_VERSION)?;
    catalog::add_to(module)?;
    dataset::add_to(module)?;
    functions::add_to(module)?;
    output::add_to(module)?;
    source::add_to(module)?;
    tool::add_to(module)?;
    asynchronous::add_to(module)?;
    view::add_to(module)
}
