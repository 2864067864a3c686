//! Files whose methods do not block: for programs on asyncio.
//!
//! | module | what it knows |
//! |---|---|
//! | `file`, `iter` | the classes |
//! | `bridge` | how work on other threads ends an awaitable of a loop |
//! | `runtime` | the threads |

mod bridge;
mod file;
mod iter;
mod runtime;

use pyo3::prelude::*;

/// Adds the classes to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<file::AsyncTensogramFile>()?;
    module.add_class::<iter::AsyncTensogramFileIter>()
}
