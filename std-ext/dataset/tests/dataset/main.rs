//! Archives as datasets.

#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "tests may panic, and know the exact values")]

mod archives;
mod boxes;
mod catalogs;
mod cubes;
mod descriptions;
mod extremes;
mod files;
mod fills;
mod joins;
mod picks;
mod profiles;
#[cfg(feature = "json")]
mod references;
#[path = "../../../../tests/src/rng.rs"]
#[allow(unreachable_pub, reason = "other tests share it")]
mod rng;
#[path = "../../../../tests/src/scale.rs"]
mod scale;
mod sources;
mod trees;

use tgm_dataset::{Coordinate, Dataset, Indices, OpenOptions, Values, open};
use tgm_std::deps::ciborium::Value;
use tgm_std::{MessageBuilder, ObjectBuilder, Result};

/// A folder with one archive.
struct Archive {
    folder: tempfile::TempDir,
}

impl Archive {
    fn new(messages: &[Vec<u8>]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.tgm"), messages.concat()).unwrap();
        Self { folder }
    }

    fn path(&self) -> String {
        self.folder.path().join("a.tgm").display().to_string()
    }

    fn open(&self) -> Result<Dataset> {
        open(&[self.path()], &OpenOptions::default())
    }
}

/// A map of metadata.
fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| ((*key).into(), value.clone())).collect())
}

/// A message with a field of 2 × 3 points, whose values are `value` and the numbers after it.
fn field(value: f64, mars: &[(&str, Value)], grib: &[(&str, Value)]) -> Vec<u8> {
    let values: Vec<f64> = (0..6_u8).map(|number| value + f64::from(number)).collect();
    let object = ObjectBuilder::new(&[2, 3], &values).unwrap().metadata("mars", map(mars)).metadata("grib", map(grib));
    MessageBuilder::new().object(object).encode().unwrap()
}

fn names(names: &[&str]) -> Value {
    Value::Array(names.iter().map(|name| Value::from(*name)).collect())
}

fn named<'v>(object: ObjectBuilder<'v>, name: &str, dims: &[&str]) -> ObjectBuilder<'v> {
    object.metadata("name", name).metadata("dimensions", names(dims))
}

fn all(dataset: &Dataset, name: &str) -> Vec<Indices> {
    dataset.variable(name).unwrap().shape.iter().map(|len| Indices::all(*len)).collect()
}

/// The seconds since 1970 of the labels of a coordinate.
fn seconds(coordinate: &Coordinate) -> Vec<i64> {
    match &coordinate.values {
        Values::Times(times) => times.seconds(),
        other => panic!("{other:?} are not times"),
    }
}
