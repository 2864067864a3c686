//! Messages where they lie: in a memory map, or in a buffer of the caller.
//!
//! | module | what it knows |
//! |---|---|
//! | `file`, `message`, `objects`, `object` | the classes |
//! | `buffer_protocol`, `dlpack` | how other libraries get an object's values |
//! | `select` | indexing |
//! | `out` | decoding into an array of the caller |
//! | `show` | texts for people |
//! | `borrowed` | arrays over memory that is not numpy's |
//! | `memory` | the bytes, and what keeps them |
//!
//! An array keeps its object alive, the object keeps its message, and the message keeps the map or the buffer.

mod borrowed;
mod buffer_protocol;
mod dlpack;
mod file;
mod memory;
mod message;
mod object;
mod objects;
mod out;
mod select;
mod show;

use pyo3::prelude::*;

/// Adds the classes and functions to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<file::MappedFile>()?;
    module.add_class::<message::Message>()?;
    module.add_class::<objects::Objects>()?;
    module.add_class::<object::Object>()?;
    module.add_function(wrap_pyfunction!(file::open_mmap, module)?)?;
    module.add_function(wrap_pyfunction!(object::_object, module)?)
}
