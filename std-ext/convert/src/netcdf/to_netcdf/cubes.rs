//! Datasets of fields as variables of NetCDF.

use ciborium::Value;
use netcdf::{AttributeValue, Extent};
use tgm_core::descriptor::Dtype;
use tgm_dataset::Dataset;
use tgm_std::Result;

use super::texts::put_texts;
use super::{NetcdfWriter, at, extent, put, put_attribute, refused};
use crate::cubes::{Content, Entries, Labels, Plan, Planned, Target, chunk_of, each_batch};
use crate::netcdf::attributes::attribute;
use crate::netcdf::complex;
use crate::netcdf::guarded;
use crate::netcdf::names::safe;
use crate::netcdf::types;
use crate::note::Note;

/// The convention that the file follows.
const CONVENTIONS: (&str, &str) = ("Conventions", "CF-1.7");
/// Labels of a coordinate, from which on they are compressed.
const MANY: u64 = 4096;

impl NetcdfWriter {
    /// Writes each variable of these datasets as one variable of the file, with its coordinates. What cannot be written is left
    /// out and given to `report`.
    ///
    /// Values are read and written box by box, as many bytes at a time as `decode` of the options and their threads need, and
    /// some 100 MiB. Fields that are missing are NaN.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Encoding`] of the libraries, such as a full disk.
    pub fn write_datasets(&mut self, datasets: &[Dataset], report: &mut dyn FnMut(Note)) -> Result<()> {
        let path = self.path.clone();
        guarded(&path, || self.put_datasets(datasets, report))
    }

    fn put_datasets(&mut self, datasets: &[Dataset], report: &mut dyn FnMut(Note)) -> Result<()> {
        let (names, dimensions) = (&mut self.names, &mut self.dimensions);
        let mut free = |wanted: &str| loop {
            // A path would be a group.
            let name = names.take(&wanted.replace('/', "_"));
            if !dimensions.is_there(&name) {
                return name;
            }
        };
        let mut target = Target { free: &mut free, dtype: type_of, float64: self.options.float64 };
        let plan = Plan::of(datasets, &mut target, report);
        let is_new = self.attributes.insert((String::new(), CONVENTIONS.0.into()), CONVENTIONS.1.into()).is_none();
        if is_new && let Err(what) = put_attribute(&mut self.file, "", CONVENTIONS.0, CONVENTIONS.1.into()) {
            report(Note::not_kept("the file", format!("attribute {}: {what}", CONVENTIONS.0)));
        }
        for (name, len) in &plan.dims {
            self.dimensions.add_own(name, *len);
            let len = usize::try_from(*len).map_err(at(&self.path))?;
            self.file.add_dimension(name, len).map_err(at(&self.path))?;
        }
        // All definitions come before all values: the library writes the definitions each time that values follow them.
        for labels in &plan.coordinates {
            self.define_labels(labels, report)?;
        }
        for planned in &plan.variables {
            self.define_variable(planned, report)?;
        }
        for labels in &plan.coordinates {
            self.put_labels(labels, report)?;
        }
        plan.variables.iter().try_for_each(|planned| self.put_variable(planned, report))
    }

    fn define_labels(&mut self, labels: &Labels, report: &mut dyn FnMut(Note)) -> Result<()> {
        let dims: Vec<&str> = labels.dims.iter().map(String::as_str).collect();
        let mut has_nan = false;
        let mut variable = match &labels.content {
            Content::Texts(_) => self.file.add_string_variable(&labels.name, &dims).map_err(at(&self.path))?,
            Content::Numbers(dtype, bytes) => {
                let (_, kind) =
                    types::of_file(*dtype).ok_or_else(|| refused(&self.path, "a coordinate has no type"))?;
                has_nan = *dtype == Dtype::Float64
                    && bytes.as_chunks().0.iter().any(|value| f64::from_ne_bytes(*value).is_nan());
                let added = self.file.add_variable_with_type(&labels.name, &dims, &kind);
                let mut variable = added.map_err(at(&self.path))?;
                let count = bytes.len() as u64 / dtype.byte_width().max(1) as u64;
                if let Some(level) = self.options.deflate_level.filter(|_| count >= MANY && !dims.is_empty()) {
                    variable.set_compression(level.into(), true).map_err(at(&self.path))?;
                }
                variable
            }
        };
        if has_nan {
            variable.put_attribute("_FillValue", f64::NAN).map_err(at(&self.path))?;
        }
        put_attributes(&mut variable, &labels.name, &labels.attributes, report);
        Ok(())
    }

    fn put_labels(&mut self, labels: &Labels, report: &mut dyn FnMut(Note)) -> Result<()> {
        let variable = self.file.variable_mut(&labels.name);
        let mut variable = variable.ok_or_else(|| refused(&self.path, &format!("{} is not there", labels.name)))?;
        let lens: Vec<u64> = variable.dimensions().iter().map(|dimension| dimension.len() as u64).collect();
        match &labels.content {
            Content::Numbers(dtype, bytes) => {
                let extents: Vec<Extent> = lens.iter().map(|len| extent(0, *len)).collect();
                put(*dtype, bytes, &mut variable, extents).map_err(at(&self.path))
            }
            Content::Texts(texts) => {
                let texts = texts.iter().map(String::as_str);
                put_texts(&mut variable, (&labels.name, texts), &lens, report).map_err(at(&self.path))
            }
        }
    }

    fn define_variable(&mut self, planned: &Planned<'_>, report: &mut dyn FnMut(Note)) -> Result<()> {
        let dims: Vec<&str> = planned.dims.iter().map(String::as_str).collect();
        let (_, kind) = types::of_file(planned.dtype)
            .ok_or_else(|| refused(&self.path, &format!("{} has no type", planned.dtype.name())))?;
        complex::define(&mut self.file, &kind).map_err(at(&self.path))?;
        let mut variable = self.file.add_variable_with_type(&planned.name, &dims, &kind).map_err(at(&self.path))?;
        if !dims.is_empty() {
            let chunk = chunk_of(planned.variable, planned.dtype.byte_width() as u64);
            let chunk: Vec<usize> = chunk.iter().map(|len| usize::try_from(*len).unwrap_or(usize::MAX)).collect();
            variable.set_chunking(&chunk).map_err(at(&self.path))?;
            if let Some(level) = self.options.deflate_level {
                variable.set_compression(level.into(), true).map_err(at(&self.path))?;
            }
        }
        let fill = match planned.dtype {
            Dtype::Float32 => Some(AttributeValue::Float(f32::NAN)),
            Dtype::Float64 => Some(AttributeValue::Double(f64::NAN)),
            _ => None,
        };
        if let Some(fill) = fill {
            variable.put_attribute("_FillValue", fill).map_err(at(&self.path))?;
        }
        if planned.variable.dtype() == Some(Dtype::Bitmask) {
            variable.put_attribute("dtype", "bool").map_err(at(&self.path))?;
        }
        put_attributes(&mut variable, &planned.name, &planned.attributes, report);
        Ok(())
    }

    fn put_variable(&mut self, planned: &Planned<'_>, report: &mut dyn FnMut(Note)) -> Result<()> {
        let (path, options) = (self.path.clone(), self.options.decode.clone());
        let variable = self.file.variable_mut(&planned.name);
        let mut variable = variable.ok_or_else(|| refused(&path, &format!("{} is not there", planned.name)))?;
        let chunk = chunk_of(planned.variable, planned.dtype.byte_width() as u64);
        each_batch(planned, &chunk, &options, report, &mut |boxes| {
            for found in boxes.iter().filter(|found| !found.bytes.is_empty()) {
                let extents = found.origin.iter().zip(&found.shape).map(|(start, len)| extent(*start, *len)).collect();
                put(planned.dtype, &found.bytes, &mut variable, extents).map_err(at(&path))?;
            }
            Ok(())
        })
    }
}

/// The type that NetCDF has for elements.
fn type_of(dtype: Dtype) -> Option<Dtype> {
    match dtype {
        Dtype::Float16 | Dtype::Bfloat16 => Some(Dtype::Float32),
        Dtype::Bitmask => Some(Dtype::Int8),
        dtype => types::of_file(dtype).map(|_| dtype),
    }
}

fn put_attributes(
    variable: &mut netcdf::VariableMut<'_>,
    place: &str,
    attributes: &Entries,
    report: &mut dyn FnMut(Note),
) {
    for (key, value) in attributes {
        let Some(name) = key.as_text().filter(|name| *name != "_FillValue") else { continue };
        let written = match attribute(value, None) {
            Some(value) => variable.put_attribute(&safe(name), value).map(drop).map_err(|error| error.to_string()),
            None => Err(format!("NetCDF has no such attributes ({})", short(value))),
        };
        if let Err(what) = written {
            report(Note::not_kept(place, format!("attribute {name}: {what}")));
        }
    }
}

/// What a value is, in a word.
const fn short(value: &Value) -> &'static str {
    match value {
        Value::Array(_) => "a list",
        Value::Map(_) => "a map",
        Value::Null => "null",
        _ => "a value",
    }
}
