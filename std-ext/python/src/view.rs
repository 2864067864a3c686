//! Messages where they lie: in a memory map, in a buffer of the caller, in a file, or at an address.
//!
//! | module | what it knows |
//! |---|---|
//! | `archive`, `message`, `objects`, `object` | the classes |
//! | `message_methods`, `object_methods` | what Python calls of a message and of an object |
//! | `open`, `origin` | opening, and what is not an archive; what an archive was opened with |
//! | `backing` | reading what is not in memory |
//! | `facts` | what an object is |
//! | `read` | requests for values |
//! | `buffer_protocol`, `dlpack` | how other libraries get an object's values |
//! | `select` | indexing |
//! | `out` | decoding into an array of the caller |
//! | `show` | texts for people |
//! | `numpy_memory` | the types and the memory of numpy's arrays |
//! | `memory` | the bytes, and what keeps them |
//!
//! An array keeps its object alive, the object keeps its message, and the message keeps the map or the buffer.

mod archive;
mod backing;
mod buffer_protocol;
mod dlpack;
mod facts;
mod memory;
mod message;
mod message_methods;
mod numpy_memory;
mod object;
mod object_methods;
mod objects;
mod open;
mod origin;
mod out;
mod read;
mod select;
mod show;

use pyo3::prelude::*;

pub(crate) use self::archive::Archive;

/// Adds the classes and functions to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<archive::Archive>()?;
    module.add_class::<message::Message>()?;
    module.add_class::<objects::Objects>()?;
    module.add_class::<object::Object>()?;
    module.add_function(wrap_pyfunction!(open::_open, module)?)?;
    module.add_function(wrap_pyfunction!(open::_archive_again, module)?)?;
    module.add_function(wrap_pyfunction!(object_methods::_object, module)?)
}
