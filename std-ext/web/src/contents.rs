//! What an archive has: messages, datasets, variables.

use ciborium::Value;
use tgm_dataset::{Attributes, Coordinate, Dataset, Variable};
use tgm_std::{Archive, TensogramError};

use crate::answer::Answer;
use crate::failure::map;
use crate::metadata;

/// Labels of a dimension that are handed out.
const MOST_LABELS: usize = 100_000;

/// Datasets with their variables. With `with_grids` each variable names its dimensions of a grid, for which coordinates of files are
/// read.
pub(crate) fn datasets(datasets: &[Dataset], with_grids: bool) -> Value {
    Value::Array(datasets.iter().map(|it| dataset(it, with_grids)).collect())
}

fn dataset(dataset: &Dataset, with_grids: bool) -> Value {
    let names = dataset.coordinate_names();
    let texts = |texts: Vec<String>| Value::Array(texts.into_iter().map(Into::into).collect());
    let of_variable = |it: &Variable| {
        let grid = if with_grids { grid(dataset, it) } else { Value::Null };
        variable(it, grid, names.contains(it.name.as_str()))
    };
    map([
        ("attributes", attributes(&dataset.attributes)),
        ("notes", texts(dataset.notes.clone())),
        ("leftOut", texts(dataset.left_out.iter().map(ToString::to_string).collect())),
        ("coordinates", Value::Array(dataset.coordinates.iter().chain(&dataset.projection).map(coordinate).collect())),
        ("variables", Value::Array(dataset.variables.iter().map(of_variable).collect())),
    ])
}

/// What is a field on the globe: its grid's dimensions. Reading coordinates may fail, which drawing reports.
fn grid(dataset: &Dataset, variable: &Variable) -> Value {
    let grid = dataset.grid_dims(&variable.name).ok().flatten();
    grid.map_or(Value::Null, |dims| Value::Array(dims.into_iter().map(|at| (at as u64).into()).collect()))
}

/// A coordinate of fields.
fn coordinate(coordinate: &Coordinate) -> Value {
    map([
        ("name", coordinate.name.as_str().into()),
        ("dims", Value::Array(coordinate.dims.iter().map(|dim| dim.as_str().into()).collect())),
        ("count", (coordinate.values.len() as u64).into()),
        ("attributes", attributes(&coordinate.attributes)),
    ])
}

fn variable(variable: &Variable, grid: Value, is_coordinate: bool) -> Value {
    map([
        ("name", variable.name.as_str().into()),
        ("dims", Value::Array(variable.dims.iter().map(|dim| dim.as_str().into()).collect())),
        ("shape", Value::Array(variable.shape.iter().map(|len| (*len).into()).collect())),
        ("dtype", variable.dtype().map_or("text", |dtype| dtype.name()).into()),
        ("objects", (variable.object_count() as u64).into()),
        ("holes", variable.hole_count().into()),
        ("isCoordinate", is_coordinate.into()),
        ("grid", grid),
        ("attributes", attributes(&variable.attributes)),
    ])
}

/// Attributes.
pub(crate) fn attributes(attributes: &Attributes) -> Value {
    Value::Map(attributes.iter().map(|(name, it)| (name.as_str().into(), it.into())).collect())
}

/// The labels of a dimension. Null where it has none.
///
/// # Errors
/// The errors of reading them.
pub(crate) fn labels(dataset: &Dataset, dim: &str) -> Answer {
    let Some(found) = dataset.labels(dim)?.filter(|found| found.dims == [dim]) else { return Ok(Value::Null) };
    let count = found.values.len().min(MOST_LABELS);
    Ok(Value::Array((0..count).map(|at| found.label_text(at).into()).collect()))
}

/// The metadata of a message, and the descriptors of its objects.
///
/// # Errors
/// The errors of reading.
pub(crate) fn message(archive: &Archive<'static>, index: usize) -> Answer {
    let message = archive.message(index)?;
    let metadata = metadata::metadata(message.metadata()?.clone());
    let objects = message.objects()?.map(|object| metadata::descriptor(&object?.descriptor()?));
    Ok(map([("metadata", metadata), ("objects", Value::Array(objects.collect::<Result<_, _>>()?))]))
}

/// The dataset, the variable and the leading indices that an object is.
///
/// # Errors
/// [`TensogramError::Object`] for an object that is not a variable.
pub(crate) fn find(datasets: &[Dataset], message: usize, object: usize) -> Answer {
    for (number, dataset) in datasets.iter().enumerate() {
        if let Some((variable, indices)) = dataset.place_of((0, message, object)) {
            return Ok(map([
                ("dataset", (number as u64).into()),
                ("variable", variable.name.as_str().into()),
                ("indices", Value::Array(indices.into_iter().map(Into::into).collect())),
            ]));
        }
    }
    Err(TensogramError::Object("this object is not a variable that can be drawn".into()).into())
}
