//! Values that are put together of fields.
//!
//! HDF5 reads single fields: fields of the type in memory and fields of the file belong together by their names.
//!
//! ```text
//! in the file    {time: i64, place: {x: f32, y: f32}}
//! in memory      {place: {y: f32}}                         the values of `y` alone, without padding
//! ```

#![allow(unsafe_code, reason = "the bindings take types of a program only with a promise about their bytes")]

use std::cell::RefCell;

use hdf5_metno::types::{CompoundField, CompoundType, FloatSize, H5Type, TypeDescriptor};

thread_local! {
    /// The names that lead to the field which is read, the outer one first. The bindings ask a type for its description
    /// without a value of it.
    static NAMES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// How deep fields lie within fields.
const MAX_DEPTH: usize = 16;

/// The names that lead to a field, and the types of the values there. Fields of fields have several names.
pub(super) fn fields(compound: &CompoundType) -> Vec<(Vec<String>, &TypeDescriptor)> {
    let mut all = Vec::new();
    collect(compound, &[], &mut all);
    all
}

fn collect<'t>(compound: &'t CompoundType, above: &[String], all: &mut Vec<(Vec<String>, &'t TypeDescriptor)>) {
    for field in &compound.fields {
        let names = [above, std::slice::from_ref(&field.name)].concat();
        match &field.ty {
            TypeDescriptor::Compound(inner) if parts(inner).is_none() && names.len() < MAX_DEPTH => {
                collect(inner, &names, all);
            }
            other => all.push((names, other)),
        }
    }
}

/// The size of the two parts of a complex number. `None` for other compounds.
pub(super) fn parts(compound: &CompoundType) -> Option<FloatSize> {
    let [real, imaginary] = compound.fields.as_slice() else { return None };
    match (&real.ty, &imaginary.ty) {
        (TypeDescriptor::Float(one), TypeDescriptor::Float(other)) if one == other => {
            ((real.name.as_str(), imaginary.name.as_str()) == ("r", "i")).then_some(*one)
        }
        _ => None,
    }
}

/// A value of a field, within [`read`].
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Within<T>(pub(super) T);

// SAFETY: the type has the bytes of `T`. The description is that of `T`, as the only field of compounds that begin with it
// and have its size.
unsafe impl<T: H5Type> H5Type for Within<T> {
    fn type_descriptor() -> TypeDescriptor {
        let within = |inner: TypeDescriptor, name: &String| {
            let size = inner.size();
            let fields = vec![CompoundField::new(name, inner, 0, 0)];
            TypeDescriptor::Compound(CompoundType { fields, size })
        };
        NAMES.with_borrow(|names| names.iter().rev().fold(T::type_descriptor(), within))
    }
}

/// Runs `work`. There, a value of [`Within`] is a value of the field with these names.
pub(super) fn read<R>(names: &[String], work: impl FnOnce() -> R) -> R {
    let before = NAMES.replace(names.to_vec());
    let result = work();
    NAMES.set(before);
    result
}
