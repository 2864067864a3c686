//! A box of a dataset as a message: variables with their coordinates, in the form that files of NetCDF and Zarr have, so that it
//! opens as a dataset again and converts to these formats.

mod computed;

use std::collections::BTreeSet;

use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::deps::ciborium::Value;
use tgm_std::{DataObjectDescriptor, DecodeOptions, MessageBuilder, ObjectBuilder, Result};

use crate::archive::bad;
use crate::dataset::Dataset;
use crate::indices::{Indices, flat};
use crate::label::HOUR;
use crate::labels::{NAMING, attributes_of_times};
use crate::model::{Attribute, Attributes, Coordinate, Values, Variable, text_attribute};
use crate::read::width;
use crate::reading::FILL;
use crate::select::Selector;
use crate::times::{NUMPY_DTYPE, time_of};

pub use self::computed::{Computed, Reduction};

/// What is picked of each dimension.
struct Picks(Vec<(String, Indices)>);

impl Picks {
    fn of(&self, dim: &str, len: u64) -> Indices {
        let found = self.0.iter().find(|(name, _)| name == dim);
        found.map_or_else(|| Indices::all(len), |(_, indices)| indices.clone())
    }

    /// The dimensions that are left.
    fn left<'d>(&self, dims: &'d [String]) -> Vec<&'d str> {
        let is_left = |dim: &&String| !self.0.iter().any(|(name, it)| name == *dim && matches!(it, Indices::Index(_)));
        dims.iter().filter(is_left).map(String::as_str).collect()
    }
}

impl Dataset {
    /// A message of variables, cut to what selectors pick, with their coordinates: an object for each, and texts beside. `open`
    /// makes a dataset of it again, whose dimensions, coordinates and attributes are the same. A dimension of which one label
    /// is picked becomes a coordinate without dimension.
    ///
    /// All values are in memory. Times are whole seconds.
    ///
    /// # Errors
    /// The errors of [`Self::select`] and [`Self::read_into`]. A selector must be of a dimension of one of the variables, at
    /// least; other variables are whole along it.
    pub fn cut(
        &self,
        variables: &[&str],
        selectors: &[Selector],
        options: &DecodeOptions,
    ) -> Result<MessageBuilder<'static>> {
        let picks = self.picks(variables, selectors)?;
        let mut message = self.empty_message();
        let mut texts = Vec::new();
        for name in self.belonging(variables)? {
            if let Some(coordinate) = self.coordinate(&name) {
                match self.coordinate_object(coordinate, &picks)? {
                    Piece::Object(object) => message = message.object(*object),
                    Piece::Texts(text) => texts.push((Value::from(name.as_str()), text)),
                }
            } else if let Some(variable) = self.variable(&name) {
                match self.variable_object(variable, &picks, options)? {
                    Piece::Object(object) => message = message.object(*object),
                    Piece::Texts(text) => texts.push((Value::from(name.as_str()), text)),
                }
            }
        }
        Ok(if texts.is_empty() { message } else { message.extra("texts", Value::Map(texts)) })
    }

    fn picks(&self, variables: &[&str], selectors: &[Selector]) -> Result<Picks> {
        let mut found: Vec<(String, Indices)> = Vec::new();
        for selector in selectors {
            let mut refused = None;
            let mut is_used = false;
            for name in variables {
                match self.select(name, std::slice::from_ref(selector)) {
                    Ok(indices) => {
                        is_used = true;
                        let dims = &self.known(name)?.dims;
                        let own = dims.iter().zip(indices).find(|(dim, _)| *dim == selector.dim());
                        found.extend(own.map(|(dim, indices)| (dim.clone(), indices)));
                    }
                    // One that lacks the dimension is whole; labels that are not there are an error of all.
                    Err(error) if self.known(name)?.dims.iter().any(|dim| dim == selector.dim()) => return Err(error),
                    Err(error) => refused = Some(error),
                }
            }
            if let Some(error) = refused.filter(|_| !is_used) {
                return Err(error);
            }
        }
        found.dedup();
        Ok(Picks(found))
    }

    /// Variables, and the coordinates and other variables that belong to them: these first.
    fn belonging(&self, variables: &[&str]) -> Result<Vec<String>> {
        let mut dims: BTreeSet<&str> = BTreeSet::new();
        let mut named: BTreeSet<&str> = BTreeSet::new();
        let mut waiting = variables.iter().map(|name| self.known(name)).collect::<Result<Vec<_>>>()?;
        while let Some(variable) = waiting.pop() {
            dims.extend(variable.dims.iter().map(String::as_str));
            let of_dims = variable.dims.iter().map(String::as_str);
            let texts = NAMING.iter().filter_map(|key| text_attribute(&variable.attributes, key));
            for name in texts.flat_map(|text| text.split([' ', ':'])).chain(of_dims) {
                if let Some(other) = self.variable(name)
                    && !variables.contains(&name)
                    && named.insert(&other.name)
                {
                    waiting.push(other);
                }
            }
        }
        let coordinates = self.coordinates.iter().filter(|it| {
            let bounds = it.dims.iter().filter(|dim| !dims.contains(dim.as_str()));
            // Bounds have a dimension of their own, for both ends.
            bounds.count() <= usize::from(it.name.ends_with("bounds") || self.are_bounds(&it.name))
        });
        let mut found: Vec<String> = coordinates.map(|it| it.name.clone()).collect();
        found.extend(named.into_iter().map(str::to_string));
        found.extend(variables.iter().map(|name| (*name).to_string()));
        Ok(found)
    }

    fn coordinate_object(&self, coordinate: &Coordinate, picks: &Picks) -> Result<Piece> {
        let Coordinate { name, dims, values, attributes } = coordinate;
        let lens = self.lens(dims, values.len());
        let indices: Vec<Indices> = dims.iter().zip(&lens).map(|(dim, len)| picks.of(dim, *len)).collect();
        let at = flat(&lens, &indices)?;
        let shape: Vec<u64> = kept(&indices);
        let mut attributes = attributes.clone();
        let whole = |numbers: &[i64]| -> Vec<i64> { at.iter().filter_map(|at| numbers.get(*at)).copied().collect() };
        let object = match values {
            Values::Texts(texts) => {
                let texts: Vec<Value> =
                    at.iter().filter_map(|at| texts.get(*at)).map(|it| it.as_str().into()).collect();
                return Ok(Piece::Texts(text_value(&picks.left(dims), &shape, texts, &attributes)));
            }
            Values::Floats(numbers) => {
                let picked: Vec<f64> = at.iter().filter_map(|at| numbers.get(*at)).copied().collect();
                object_of(Dtype::Float64, &shape, picked.iter().flat_map(|it| it.to_ne_bytes()).collect())
            }
            Values::Integers(numbers) => of_whole(&shape, &whole(numbers)),
            Values::Times(times) => {
                attributes.extend(attributes_of_times(false, "seconds since 1970-01-01"));
                let times = whole(&times.seconds());
                mark_missing(&mut attributes, &times);
                of_whole(&shape, &times)
            }
            Values::Durations(steps) => {
                let steps = whole(steps);
                let is_hours = steps.iter().all(|step| step % HOUR == 0);
                attributes.extend(attributes_of_times(true, if is_hours { "hours" } else { "seconds" }));
                mark_missing(&mut attributes, &steps);
                let steps: Vec<i64> = if is_hours { steps.iter().map(|step| step / HOUR).collect() } else { steps };
                of_whole(&shape, &steps)
            }
        };
        Ok(Piece::Object(Box::new(named(object, name, &picks.left(dims), &attributes))))
    }

    /// The lengths of dimensions. `count` values lie along them.
    fn lens(&self, dims: &[String], count: usize) -> Vec<u64> {
        let of_variable = |dim: &String| {
            self.variables
                .iter()
                .find_map(|it| it.dims.iter().position(|of| of == dim).and_then(|at| it.shape.get(at)).copied())
        };
        let known = dims.iter().filter_map(of_variable).fold(1, u64::saturating_mul).max(1);
        // A dimension of no variable, of bounds, has what is left.
        dims.iter().map(|dim| of_variable(dim).unwrap_or(count as u64 / known)).collect()
    }

    fn variable_object(&self, variable: &Variable, picks: &Picks, options: &DecodeOptions) -> Result<Piece> {
        let Variable { name, dims, shape, attributes, .. } = variable;
        let indices: Vec<Indices> = dims.iter().zip(shape).map(|(dim, len)| picks.of(dim, *len)).collect();
        let left = picks.left(dims);
        let out = kept(&indices);
        if let Some(texts) = variable.texts() {
            let texts = flat(shape, &indices)?.into_iter().filter_map(|at| texts.get(at)).map(|it| it.as_str().into());
            return Ok(Piece::Texts(text_value(&left, &out, texts.collect(), attributes)));
        }
        self.check_places(name, &indices)?;
        let dtype = variable.dtype().unwrap_or(Dtype::Float64);
        let count = indices.iter().fold(1_u64, |all, indices| all.saturating_mul(indices.count()));
        let len = usize::try_from(count).ok().and_then(|count| count.checked_mul(width(dtype)));
        let mut bytes =
            tgm_std::internal::reserve(len.ok_or_else(|| bad(format!("{name}: {count} values cannot be addressed")))?)?;
        self.read_into(name, &indices, options, &mut bytes)?;
        if dtype == Dtype::Bitmask {
            let bits =
                |truths: &[u8]| truths.iter().enumerate().fold(0_u8, |byte, (bit, truth)| byte | truth << 7 >> bit);
            bytes = bytes.chunks(8).map(bits).collect();
        }
        let mut attributes = attributes.clone();
        // Formats that have no such type have units.
        if let Some(found) = text_attribute(&attributes, NUMPY_DTYPE).and_then(time_of) {
            attributes.retain(|(key, _)| key != NUMPY_DTYPE && key != FILL);
            attributes.extend(found.into_iter().map(|(key, text)| (key.to_string(), Attribute::Text(text))));
            attributes.push((FILL.into(), Attribute::Integer(i64::MIN)));
        }
        // Variables of files name theirs themselves.
        let aside = self.coordinates.iter().filter(|_| !self.is_of_files).filter(|it| {
            let is_along = it.dims.iter().all(|dim| dims.contains(dim) || it.name.ends_with("bounds"));
            is_along && picks.left(&it.dims) != [it.name.as_str()]
        });
        let aside: Vec<&str> = aside.map(|it| it.name.as_str()).collect();
        if !aside.is_empty() && !attributes.iter().any(|(key, _)| key == "coordinates") {
            attributes.push(("coordinates".into(), Attribute::Text(aside.join(" "))));
        }
        Ok(Piece::Object(Box::new(named(object_of(dtype, &out, bytes), name, &left, &attributes))))
    }
}

/// An object, or texts, which are not one.
enum Piece {
    Object(Box<ObjectBuilder<'static>>),
    Texts(Value),
}

/// A moment that is missing is the fill value of readers.
fn mark_missing(attributes: &mut Attributes, numbers: &[i64]) {
    if numbers.contains(&i64::MIN) {
        attributes.push(("_FillValue".into(), Attribute::Integer(i64::MIN)));
    }
}

fn of_whole(shape: &[u64], numbers: &[i64]) -> ObjectBuilder<'static> {
    object_of(Dtype::Int64, shape, numbers.iter().flat_map(|number| number.to_ne_bytes()).collect())
}

fn object_of(dtype: Dtype, shape: &[u64], bytes: Vec<u8>) -> ObjectBuilder<'static> {
    ObjectBuilder::from_parts(DataObjectDescriptor::new(dtype, ByteOrder::NATIVE, shape), bytes)
}

fn named(object: ObjectBuilder<'static>, name: &str, dims: &[&str], attributes: &Attributes) -> ObjectBuilder<'static> {
    let object = object.metadata("name", name).metadata("dimensions", texts(dims));
    if attributes.is_empty() { object } else { object.metadata("attributes", map_of(attributes)) }
}

fn texts(all: &[&str]) -> Value {
    Value::Array(all.iter().map(|text| Value::from(*text)).collect())
}

fn text_value(dims: &[&str], shape: &[u64], values: Vec<Value>, attributes: &Attributes) -> Value {
    let mut entries = vec![
        ("dimensions".into(), texts(dims)),
        ("shape".into(), Value::Array(shape.iter().map(|len| Value::from(*len)).collect())),
        ("values".into(), Value::Array(values)),
    ];
    if !attributes.is_empty() {
        entries.push(("attributes".into(), map_of(attributes)));
    }
    Value::Map(entries)
}

fn map_of(attributes: &Attributes) -> Value {
    Value::Map(attributes.iter().map(|(name, it)| (name.as_str().into(), it.into())).collect())
}

/// The lengths of the dimensions that are left.
fn kept(indices: &[Indices]) -> Vec<u64> {
    indices.iter().filter(|it| !matches!(it, Indices::Index(_))).map(Indices::count).collect()
}
