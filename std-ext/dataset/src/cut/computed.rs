//! What was computed of variables, as a message with the coordinates that are left.

use tgm_core::descriptor::Dtype;
use tgm_std::deps::ciborium::Value;
use tgm_std::{DecodeOptions, MessageBuilder, Result};

use super::{Picks, Piece, map_of, named, object_of};
use crate::archive::bad;
use crate::dataset::Dataset;
use crate::model::{Attribute, Attributes, Variable, text_attribute};
use crate::select::Selector;

/// Attributes that say how values are stored, or which of them mean something else. What was computed is stored otherwise.
const OF_STORAGE: [&str; 10] = [
    "_FillValue",
    "missing_value",
    "scale_factor",
    "add_offset",
    "valid_min",
    "valid_max",
    "valid_range",
    "flag_values",
    "flag_masks",
    "flag_meanings",
];

/// Values that were computed of a variable, such as its mean over some of its dimensions.
#[derive(Clone, Debug)]
pub struct Computed {
    /// The name of the variable that they are.
    pub name: String,
    /// One for each place of the dimensions that are left, row-major.
    pub values: Vec<f64>,
    /// The same as whole numbers of 64 bits, if they are such: `float64` rounds them beyond 2^53. They are stored as the type of the
    /// variable, unless a place has none.
    pub integers: Option<Vec<Option<i128>>>,
    /// How they were computed, for the attribute `cell_methods`: `mean`.
    pub method: String,
    /// Their units. `None` for the units of the variable.
    pub units: Option<&'static str>,
}

/// What was computed of one variable over some of its dimensions.
#[derive(Clone, Debug)]
pub struct Reduction<'r> {
    /// The variable.
    pub variable: &'r str,
    /// What was picked of it.
    pub selectors: &'r [Selector],
    /// The dimensions that are gone.
    pub over: &'r [&'r str],
    /// What was computed.
    pub results: &'r [Computed],
}

impl Dataset {
    /// A message of what was computed of variables: a variable for each, with the coordinates along the dimensions that are left, as
    /// [`Self::cut`] has them. Values are `float32` if the variable's are, whole numbers of 64 bits if they are computed as such, else
    /// `float64`.
    ///
    /// # Errors
    /// The errors of [`Self::cut`]; [`tgm_std::TensogramError::Metadata`] for a list of values that is not as long as there are places.
    pub fn computed(&self, all: &[Reduction<'_>]) -> Result<MessageBuilder<'static>> {
        let (mut message, mut texts, mut there) = (self.empty_message(), Vec::new(), Vec::new());
        for reduction in all {
            let Reduction { selectors, over, .. } = *reduction;
            let picks = self.picks(&[reduction.variable], selectors)?;
            let variable = self.known(reduction.variable)?;
            let is_reduced = |dims: &[String]| dims.iter().any(|dim| over.contains(&dim.as_str()));
            for name in self.belonging(&[&variable.name])? {
                let piece = match (self.coordinate(&name), self.variable(&name)) {
                    _ if there.contains(&name) => continue,
                    (Some(found), _) if !is_reduced(&found.dims) => self.coordinate_object(found, &picks)?,
                    (None, Some(found)) if !is_reduced(&found.dims) && found.name != variable.name => {
                        self.variable_object(found, &picks, &DecodeOptions::default())?
                    }
                    _ => continue,
                };
                match piece {
                    Piece::Object(object) => message = message.object(*object),
                    Piece::Texts(text) => texts.push((name.as_str().into(), text)),
                }
                there.push(name);
            }
            let left = picks.left(&variable.dims).into_iter().filter(|dim| !over.contains(dim));
            let left: Vec<&str> = left.collect();
            let shape = variable.dims.iter().zip(&variable.shape).filter(|(dim, _)| left.contains(&dim.as_str()));
            let shape: Vec<u64> = shape.map(|(dim, len)| picks.of(dim, *len).count()).collect();
            for result in reduction.results {
                let attributes = self.attributes_of_result(variable, result, (over, &left, &there, &picks));
                let (dtype, bytes) = result.stored(variable.dtype(), &shape)?;
                let object = object_of(dtype, &shape, bytes);
                message = message.object(named(object, &result.name, &left, &attributes));
            }
        }
        Ok(if texts.is_empty() { message } else { message.extra("texts", Value::Map(texts)) })
    }

    /// A message with the attributes of the dataset alone.
    pub(super) fn empty_message(&self) -> MessageBuilder<'static> {
        let mut attributes = self.attributes.clone();
        if text_attribute(&attributes, "Conventions").is_none() {
            attributes.push(("Conventions".into(), "CF-1.8".into()));
        }
        MessageBuilder::new().allow_nan().allow_inf().extra("attributes", map_of(&attributes))
    }

    fn attributes_of_result(
        &self,
        variable: &Variable,
        result: &Computed,
        (over, left, there, picks): (&[&str], &[&str], &[String], &Picks),
    ) -> Attributes {
        let is_kept = |(key, _): &&(String, Attribute)| {
            let is_other = !matches!(key.as_str(), "cell_methods" | "coordinates" | "units");
            is_other && !OF_STORAGE.contains(&key.as_str())
        };
        let mut attributes: Attributes = variable.attributes.iter().filter(is_kept).cloned().collect();
        let own = |name: &str| text_attribute(&variable.attributes, name);
        if let Some(units) = result.units.or_else(|| own("units")) {
            attributes.push(("units".into(), units.into()));
        }
        let reduced = variable.dims.iter().filter(|dim| over.contains(&dim.as_str())).map(|dim| format!("{dim}:"));
        let method = format!("{} {}", reduced.collect::<Vec<_>>().join(" "), result.method);
        let before = own("cell_methods").map_or_else(String::new, |before| format!("{before} "));
        attributes.push(("cell_methods".into(), Attribute::Text(before + &method)));
        let of_fields = self.coordinates.iter().filter(|it| {
            let is_along = it.dims.iter().all(|dim| left.contains(&dim.as_str()) || it.name.ends_with("bounds"));
            !self.is_of_files && is_along && picks.left(&it.dims) != [it.name.as_str()]
        });
        let of_files = own("coordinates").unwrap_or_default().split(' ');
        let aside =
            of_fields.map(|it| it.name.as_str()).chain(of_files).filter(|name| there.iter().any(|it| it == name));
        let mut aside: Vec<&str> = aside.collect();
        aside.dedup();
        if !aside.is_empty() {
            attributes.push(("coordinates".into(), Attribute::Text(aside.join(" "))));
        }
        attributes
    }
}

impl Computed {
    /// The type and the bytes of the values in this shape, in the byte order of the machine. `of_variable` is the type of the variable.
    ///
    /// # Errors
    /// [`tgm_std::TensogramError::Metadata`] if there is not a value for each place, and for a whole number that `float64` rounds, where
    /// another place has none.
    #[expect(clippy::cast_possible_truncation, reason = "float32 is the type of the variable")]
    pub fn stored(&self, of_variable: Option<Dtype>, shape: &[u64]) -> Result<(Dtype, Vec<u8>)> {
        let places = shape.iter().try_fold(1_u64, |all, len| all.checked_mul(*len));
        let len = self.integers.as_ref().map_or(self.values.len(), Vec::len);
        if places != Some(len as u64) || len != self.values.len() {
            return Err(bad(format!("{}: {} values are not {shape:?}", self.name, self.values.len())));
        }
        if let Some(integers) = &self.integers {
            return self.stored_integers(integers, of_variable);
        }
        Ok(match of_variable {
            Some(Dtype::Float32) => {
                (Dtype::Float32, self.values.iter().flat_map(|value| (*value as f32).to_ne_bytes()).collect())
            }
            _ => (Dtype::Float64, self.values.iter().flat_map(|value| value.to_ne_bytes()).collect()),
        })
    }

    fn stored_integers(&self, integers: &[Option<i128>], of_variable: Option<Dtype>) -> Result<(Dtype, Vec<u8>)> {
        let signed = || elements(integers, |number| i64::try_from(number).ok().map(i64::to_ne_bytes));
        let unsigned = || elements(integers, |number| u64::try_from(number).ok().map(u64::to_ne_bytes));
        if of_variable != Some(Dtype::Uint64)
            && let Some(bytes) = signed()
        {
            return Ok((Dtype::Int64, bytes));
        }
        if let Some(bytes) = unsigned() {
            return Ok((Dtype::Uint64, bytes));
        }
        let is_exact = |number: &i128| number.unsigned_abs() <= 1 << 53;
        if !integers.iter().flatten().all(is_exact) {
            let text = "a place has no value, and float64, which has NaN for it, does not hold the numbers of others";
            return Err(bad(format!("{}: {text}", self.name)));
        }
        Ok((Dtype::Float64, self.values.iter().flat_map(|value| value.to_ne_bytes()).collect()))
    }
}

/// The bytes of all numbers. `None` if one is not there, or not of the type.
fn elements(integers: &[Option<i128>], of: impl Fn(i128) -> Option<[u8; 8]>) -> Option<Vec<u8>> {
    integers.iter().map(|number| of((*number)?)).collect::<Option<Vec<_>>>().map(|found| found.concat())
}
