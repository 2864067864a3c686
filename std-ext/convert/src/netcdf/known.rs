//! Coordinates of grids in files: the variables that have their names are read, and no others.

use std::path::Path;

use ciborium::Value;
use tgm_core::descriptor::Dtype;
use tgm_std::{DecodeLimits, Result};

use super::guarded;
use super::to_tgm::with_tree;
use super::tree::{Tree, Variable};

/// Numbers of a variable, and its units.
pub(crate) type Numbers = (Vec<f64>, Option<String>);

/// What `find` makes of a function that gives the floats of a variable, and of one that gives a text about the file.
///
/// # Errors
/// The errors of the libraries.
pub(crate) fn with_numbers<T>(
    path: &Path,
    limits: &DecodeLimits,
    find: impl FnOnce(&dyn Fn(&str) -> Result<Option<Numbers>>, &dyn Fn(&str) -> Option<String>) -> Result<T>,
) -> Result<T> {
    guarded(path, || {
        with_tree(path, limits, &mut |_| {}, |_, tree, _| {
            let numbers = |name: &str| tree.variables.iter().find(|it| it.path == name).map(numbers).transpose();
            find(&|name| Ok(numbers(name)?.flatten()), &|name| text(tree, name))
        })
    })
}

fn numbers(variable: &Variable<'_>) -> Result<Option<Numbers>> {
    let units = variable.attributes.iter().find(|it| it.name == "units").and_then(|it| it.value.as_text());
    let units = units.map(str::to_string);
    let floats = match variable.kind.dtype() {
        Dtype::Float64 => (variable.read)(None)?.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect(),
        Dtype::Float32 => {
            (variable.read)(None)?.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes).into()).collect()
        }
        _ => return Ok(None),
    };
    Ok(Some((floats, units)))
}

fn text(tree: &Tree<'_>, name: &str) -> Option<String> {
    tree.attributes.iter().find(|it| it.name == name).and_then(|it| Value::as_text(&it.value)).map(str::to_string)
}
