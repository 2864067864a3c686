//! What the fields of a column are, and the array that they become.
//!
//! A table is read twice: [`Seen`] looks at all fields and decides the type, then [`Column`] takes the values. So a value takes
//! the bytes of its type.

use ciborium::Value;
use tgm_core::descriptor::{ByteOrder, Dtype};
use tgm_std::{Result, TensogramError};

use super::times::{Time, Unit, Zone};
use crate::arrays::{Array, pack_bools, refused};

/// Texts of values that are missing.
const MISSING: [&str; 6] = ["", "nan", "na", "n/a", "null", "none"];
/// The greatest integer up to which `f64` has all.
const EXACT: u64 = 1 << 53;

/// Whether a field has no value.
fn is_gap(field: &str) -> bool {
    MISSING.iter().any(|missing| field.eq_ignore_ascii_case(missing))
}

fn truth(field: &str) -> Option<bool> {
    let is = |word: &str| field.eq_ignore_ascii_case(word);
    if is("true") { Some(true) } else { is("false").then_some(false) }
}

/// What a field alone may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Looks {
    Gap,
    Number,
    Truth,
    Time,
    Text,
}

impl Looks {
    pub(super) fn of(field: &str) -> Self {
        if is_gap(field) {
            Self::Gap
        } else if field.parse::<f64>().is_ok() {
            Self::Number
        } else if truth(field).is_some() {
            Self::Truth
        } else if Time::parse(field).is_some() {
            Self::Time
        } else {
            Self::Text
        }
    }
}

/// Where a field is that the type of its column does not have.
#[derive(Clone, Debug)]
struct MisfitField {
    line: usize,
    text: String,
}

impl MisfitField {
    fn new(line: usize, field: &str) -> Self {
        Self { line, text: field.chars().take(40).collect() }
    }
}

/// What was seen of the fields of a column.
#[allow(clippy::struct_excessive_bools, reason = "each is a type that the column may not be")]
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    values: u64,
    has_gap: bool,
    is_not_signed: bool,
    is_not_unsigned: bool,
    is_not_truth: bool,
    is_not_time: bool,
    /// The first field that is not a number.
    not_number: Option<MisfitField>,
    /// The first number that `float64` would change.
    inexact: Option<MisfitField>,
    zone: Option<Zone>,
    unit: Unit,
}

/// What a column becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Number(Dtype),
    Truth,
    /// Integers, or floats if values are missing.
    Time(Dtype),
    Text,
}

impl Seen {
    /// Looks at a field.
    pub(super) fn add(&mut self, field: &str, line: usize) {
        if is_gap(field) {
            self.has_gap = true;
            return;
        }
        self.values += 1;
        let float: Option<f64> = field.parse().ok();
        let digits = field.trim_start_matches(['+', '-']);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        // A negative zero is a float.
        let is_negative_zero = float.is_some_and(|float| float == 0.0 && float.is_sign_negative());
        self.is_not_signed |= is_negative_zero || field.parse::<i64>().is_err();
        self.is_not_unsigned |= is_negative_zero || field.parse::<u64>().is_err();
        match float {
            None => _ = self.not_number.get_or_insert_with(|| MisfitField::new(line, field)),
            Some(float) => {
                let magnitude = digits.parse::<u64>().ok();
                #[expect(
                    clippy::cast_precision_loss,
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "what is asked is whether it is the same"
                )]
                let is_exact =
                    |digits: u64| digits <= EXACT || (digits < u64::MAX - 2048 && digits as f64 as u64 == digits);
                let is_beyond =
                    float.is_infinite() && digits.starts_with(|char: char| char.is_ascii_digit() || char == '.');
                if is_beyond || (is_integer && !magnitude.is_some_and(is_exact)) {
                    self.inexact.get_or_insert_with(|| MisfitField::new(line, field));
                }
            }
        }
        // Times are rare, so they are looked for in columns that have nothing else.
        if float.is_some() {
            (self.is_not_truth, self.is_not_time) = (true, true);
            return;
        }
        self.is_not_truth |= truth(field).is_none();
        if !self.is_not_time {
            match Time::parse(field) {
                Some(time) if self.zone.is_none_or(|zone| zone == time.zone) => {
                    self.zone = Some(time.zone);
                    self.unit = self.unit.max(time.unit());
                }
                _ => self.is_not_time = true,
            }
        }
    }

    /// What the column becomes.
    ///
    /// # Errors
    /// A number that no type has beside the others, with its line.
    pub(super) fn kind(&self) -> Result<Type> {
        if self.values == 0 {
            return Ok(Type::Number(Dtype::Float64));
        }
        if self.not_number.is_none() {
            return self.number().map(Type::Number);
        }
        if !self.is_not_truth && !self.has_gap {
            return Ok(Type::Truth);
        }
        if !self.is_not_time {
            return Ok(Type::Time(if self.has_gap { Dtype::Float64 } else { Dtype::Int64 }));
        }
        Ok(Type::Text)
    }

    /// The type of a column of numbers.
    fn number(&self) -> Result<Dtype> {
        match self {
            Self { has_gap: false, is_not_signed: false, .. } => Ok(Dtype::Int64),
            Self { has_gap: false, is_not_unsigned: false, .. } => Ok(Dtype::Uint64),
            Self { inexact: Some(MisfitField { line, text }), .. } => {
                let beside = if self.has_gap { "a missing value" } else { "the other values" };
                Err(refused(format!(
                    "line {line}: {text} is not exact as float64, and has no other type beside {beside}"
                )))
            }
            _ => Ok(Dtype::Float64),
        }
    }

    /// One type for several columns of numbers. An error names the number of its column.
    pub(super) fn common(columns: &[Self]) -> Result<Dtype> {
        for (number, column) in columns.iter().enumerate() {
            if let Some(MisfitField { line, text }) = &column.not_number {
                return Err(refused(format!("line {line}, column {}: {text:?} is not a number", number + 1)));
            }
        }
        let mut all = Self::default();
        for column in columns {
            all.values += column.values;
            all.has_gap |= column.has_gap;
            all.is_not_signed |= column.is_not_signed;
            all.is_not_unsigned |= column.is_not_unsigned;
            all.inexact = all.inexact.or_else(|| column.inexact.clone());
        }
        if all.values == 0 { Ok(Dtype::Float64) } else { all.number() }
    }
}

/// The values of a column.
pub(super) struct Column {
    kind: Type,
    unit: Unit,
    zone: Option<Zone>,
    /// Values in the order of the machine, and a byte for each truth.
    bytes: Vec<u8>,
    texts: Vec<String>,
    text_len: usize,
}

impl Column {
    /// An empty column of a type.
    pub(super) const fn new(kind: Type, seen: &Seen) -> Self {
        Self { kind, unit: seen.unit, zone: seen.zone, bytes: Vec::new(), texts: Vec::new(), text_len: 0 }
    }

    /// Adds a field. `None` if the type does not have it.
    ///
    /// # Errors
    /// Text beyond what metadata takes.
    pub(super) fn push(&mut self, field: &str) -> Result<Option<()>> {
        let is_gap = is_gap(field);
        let value = match self.kind {
            Type::Number(Dtype::Int64) => field.parse::<i64>().ok().map(i64::to_ne_bytes),
            Type::Number(Dtype::Uint64) => field.parse::<u64>().ok().map(u64::to_ne_bytes),
            Type::Number(_) if is_gap => Some(f64::NAN.to_ne_bytes()),
            Type::Number(_) => field.parse::<f64>().ok().map(f64::to_ne_bytes),
            Type::Time(Dtype::Int64) => Time::parse(field).and_then(|time| time.count(self.unit)).map(i64::to_ne_bytes),
            Type::Time(_) if is_gap => Some(f64::NAN.to_ne_bytes()),
            Type::Time(_) => {
                let count = Time::parse(field).and_then(|time| time.count(self.unit));
                #[expect(clippy::cast_precision_loss, reason = "it is at most 2^53")]
                count.filter(|count| count.unsigned_abs() <= EXACT).map(|count| (count as f64).to_ne_bytes())
            }
            Type::Truth => {
                let Some(value) = truth(field) else { return Ok(None) };
                self.bytes.push(value.into());
                return Ok(Some(()));
            }
            Type::Text => {
                self.text_len += field.len();
                Array::check_texts(self.texts.len() + 1, self.text_len)?;
                self.texts.push(field.to_string());
                return Ok(Some(()));
            }
        };
        Ok(value.map(|value| self.bytes.extend_from_slice(&value)))
    }

    /// The values, in the order of the machine.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The array of a column.
    pub(super) fn array(self, rows: u64) -> Result<Array<'static>, TensogramError> {
        match self.kind {
            Type::Number(dtype) => Array::new(dtype, ByteOrder::NATIVE, &[rows], self.bytes),
            Type::Truth => Array::new(Dtype::Bitmask, ByteOrder::NATIVE, &[rows], pack_bools(&self.bytes)),
            Type::Text => {
                let count = self.texts.len() as u64;
                Array::of_texts(self.texts, &[count])
            }
            Type::Time(dtype) => {
                let mut array = Array::new(dtype, ByteOrder::NATIVE, &[rows], self.bytes)?;
                let zone = if self.zone == Some(Zone::None) { "" } else { "T00:00:00Z" };
                let units = format!("{} since 1970-01-01{zone}", self.unit.name());
                let attributes = [("units", units.as_str()), ("calendar", "proleptic_gregorian")];
                let attributes = attributes.map(|(key, value)| (Value::from(key), Value::from(value)));
                array.metadata.insert("attributes".into(), Value::Map(attributes.to_vec()));
                Ok(array)
            }
        }
    }
}
