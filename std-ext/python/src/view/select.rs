//! Indexing of objects: an index of numpy as a box of the tensor, and what is left to do afterwards.

use std::num::NonZeroU64;

use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PySlice, PyTuple};
use tgm_std::DecodeOptions;
use tgm_std::codec::memory::owned;
use tgm_std::core::selection::Pick;
use tgm_std::decode::selection;

use super::object::{Object, shaped};

/// An index as a box.
struct Plan<'py> {
    /// One for each dimension of the object.
    picks: Vec<Pick>,
    /// What is left to do with the box: reversed and new dimensions.
    rest: Vec<Bound<'py, PyAny>>,
    /// Whether anything is left to do.
    has_rest: bool,
    /// Whether the result is a scalar, and not an array without dimensions.
    is_scalar: bool,
}

/// The values that `key` selects of an object.
///
/// # Errors
/// `IndexError` where numpy raises it; the errors of decoding.
pub(super) fn item<'py>(object: &Bound<'py, Object>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let this = object.get();
    if this.is_in_place() {
        return Object::values(object)?.get_item(key);
    }
    let Some(plan) = plan(key, &this.facts().shape)? else {
        return Object::values(object)?.get_item(key);
    };
    planned(this, object.py(), plan, &DecodeOptions::default())
}

/// The values that `key` selects of an object, in a new array.
///
/// # Errors
/// As [`item`].
pub(super) fn boxed<'py>(
    object: &Bound<'py, Object>,
    key: &Bound<'py, PyAny>,
    options: &DecodeOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, this) = (object.py(), object.get());
    match plan(key, &this.facts().shape)? {
        Some(plan) => planned(this, py, plan, options),
        None => this.decode_new(py, options)?.get_item(key),
    }
}

fn planned<'py>(
    object: &Object,
    py: Python<'py>,
    plan: Plan<'py>,
    options: &DecodeOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let values = selected(object, py, &plan.picks, options)?;
    if plan.has_rest {
        return values.get_item(PyTuple::new(py, plan.rest)?);
    }
    // One value is a scalar, as numpy has it.
    if plan.is_scalar { values.get_item(PyTuple::empty(py)) } else { Ok(values) }
}

fn selected<'py>(
    object: &Object,
    py: Python<'py>,
    picks: &[Pick],
    options: &DecodeOptions,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = shape_of(object, py, picks)?;
    let values = object.request(py, |request| Ok(owned(request.options(options).select(picks).bytes()?)?))?;
    shaped(py, object.facts().dtype, &shape, values)
}

/// The dimensions of a box.
fn shape_of(object: &Object, py: Python<'_>, picks: &[Pick]) -> PyResult<Vec<u64>> {
    object.look(py, |object| Ok(selection(object.descriptor(), picks)?.shape().collect()))
}

/// The box that `key` selects, with its dimensions, if the values lie in an array as they lie in the box. None for indices that
/// leave something to do.
///
/// # Errors
/// As [`item`].
pub(super) fn plain_box(object: &Bound<'_, Object>, key: &Bound<'_, PyAny>) -> PyResult<Option<(Vec<Pick>, Vec<u64>)>> {
    let this = object.get();
    let Some(plan) = plan(key, &this.facts().shape)?.filter(|plan| !plan.has_rest && !plan.is_scalar) else {
        return Ok(None);
    };
    let shape = shape_of(this, object.py(), &plan.picks)?;
    Ok(Some((plan.picks, shape)))
}

/// The box that `key` selects; None for an index that selects something else than a box.
fn plan<'py>(key: &Bound<'py, PyAny>, shape: &[u64]) -> PyResult<Option<Plan<'py>>> {
    let py = key.py();
    let keys: Vec<Bound<'py, PyAny>> = match key.cast::<PyTuple>() {
        Ok(keys) => keys.iter().collect(),
        Err(_) => vec![key.clone()],
    };
    let is_ellipsis = |key: &Bound<'_, PyAny>| key.is_instance_of::<PyEllipsis>();
    let named = keys.iter().filter(|key| !key.is_none() && !is_ellipsis(key)).count();
    let ellipses = keys.iter().filter(|key| is_ellipsis(key)).count();
    if ellipses > 1 {
        return Err(PyIndexError::new_err("an index can only have a single ellipsis ('...')"));
    }
    let Some(left) = shape.len().checked_sub(named) else {
        // An array of truth values stands for several dimensions. numpy knows.
        if !keys.iter().all(is_simple) {
            return Ok(None);
        }
        return Err(PyIndexError::new_err(format!(
            "too many indices for array: array is {}-dimensional, but {named} were indexed",
            shape.len()
        )));
    };
    let mut plan = Plan { picks: Vec::with_capacity(shape.len()), rest: Vec::new(), has_rest: false, is_scalar: false };
    let everything = || PySlice::full(py).into_any();
    let all = |plan: &mut Plan<'py>| {
        for _ in 0..left {
            plan.picks.push(Pick::All);
            plan.rest.push(everything());
        }
    };
    for key in &keys {
        if key.is_none() {
            plan.rest.push(key.clone());
            plan.has_rest = true;
        } else if is_ellipsis(key) {
            all(&mut plan);
        } else {
            let axis = plan.picks.len();
            let len = shape.get(axis).copied().unwrap_or(0);
            let len = isize::try_from(len).map_err(|_| PyOverflowError::new_err("the dimension is too large"))?;
            if let Ok(slice) = key.cast::<PySlice>() {
                let (pick, is_reversed) = slice_pick(slice, len)?;
                plan.picks.push(pick);
                plan.rest.push(if is_reversed { reversed(py)? } else { everything() });
                plan.has_rest |= is_reversed;
            } else if is_integer(key) {
                plan.picks.push(Pick::Index(index(key, axis, len)?));
            } else {
                return Ok(None);
            }
        }
    }
    if ellipses == 0 {
        all(&mut plan);
    }
    plan.is_scalar = plan.rest.is_empty() && ellipses == 0;
    Ok(Some(plan))
}

/// Whether an index is a number, a slice, `...` or `None`, and not an array.
fn is_simple(key: &Bound<'_, PyAny>) -> bool {
    key.is_none() || key.is_instance_of::<PyEllipsis>() || key.is_instance_of::<PySlice>() || is_integer(key)
}

/// Whether an index is a number. Truth values are numbers for Python, and masks for numpy.
fn is_integer(key: &Bound<'_, PyAny>) -> bool {
    !key.is_instance_of::<PyBool>() && key.extract::<i128>().is_ok()
}

fn index(key: &Bound<'_, PyAny>, axis: usize, len: isize) -> PyResult<u64> {
    let number = key.extract::<i128>()?;
    let from_start = if number < 0 { number.saturating_add(len as i128) } else { number };
    u64::try_from(from_start).ok().filter(|&index| i128::from(index) < len as i128).ok_or_else(|| {
        PyIndexError::new_err(format!("index {number} is out of bounds for axis {axis} with size {len}"))
    })
}

/// The indices of a slice in ascending order, and whether they are wanted in descending order.
fn slice_pick(slice: &Bound<'_, PySlice>, len: isize) -> PyResult<(Pick, bool)> {
    let indices = slice.indices(len)?;
    let count = indices.slicelength as u64;
    if count == 0 {
        return Ok((Pick::from(0..0), false));
    }
    let (start, distance) = (indices.start.unsigned_abs() as u64, indices.step.unsigned_abs() as u64);
    let span = count.saturating_sub(1).saturating_mul(distance);
    let (first, last) =
        if indices.step < 0 { (start.saturating_sub(span), start) } else { (start, start.saturating_add(span)) };
    let step = NonZeroU64::new(distance).unwrap_or(NonZeroU64::MIN);
    Ok((Pick::Range { start: first, end: last.saturating_add(1), step }, indices.step < 0))
}

/// The slice `::-1`.
fn reversed(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.get_type::<PySlice>().call1((py.None(), py.None(), -1))
}
