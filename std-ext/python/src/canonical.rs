//! Values that their canonical CBOR identifies: how they are compared, hashed and pickled.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// What pickle wants: a function, and its arguments.
pub(crate) type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>,));

/// A class whose instances are equal if their CBOR is. A NaN in them equals itself.
pub(crate) trait Canonical: PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + Sync {
    /// The function of the module that makes an instance from CBOR.
    const MAKER: &'static str;

    /// The canonical CBOR.
    ///
    /// # Errors
    /// The errors of the library, as exceptions.
    fn cbor(&self, py: Python<'_>) -> PyResult<Vec<u8>>;

    /// `__eq__`: other classes are not equal.
    ///
    /// # Errors
    /// The errors of [`Self::cbor`].
    fn equals(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (py, Ok(other)) = (other.py(), other.cast::<Self>()) else {
            return Ok(false);
        };
        Ok(std::ptr::eq(self, other.get()) || self.cbor(py)? == other.get().cbor(py)?)
    }

    /// `__hash__`.
    ///
    /// # Errors
    /// The errors of [`Self::cbor`].
    fn hashed(&self, py: Python<'_>) -> PyResult<u64> {
        let mut hasher = DefaultHasher::new();
        self.cbor(py)?.hash(&mut hasher);
        Ok(hasher.finish())
    }

    /// `__reduce__`.
    ///
    /// # Errors
    /// The errors of [`Self::cbor`].
    fn reduced<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let make = py.import("tgmio._native")?.getattr(Self::MAKER)?;
        Ok((make, (PyBytes::new(py, &self.cbor(py)?),)))
    }
}
