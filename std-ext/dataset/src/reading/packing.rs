//! Packed integers by `simple_packing`, and values as packed integers again.

use tgm_core::descriptor::{Dtype, Encoding, Key};
use tgm_core::packing::Packing;
use tgm_std::DataObjectDescriptor;

use super::Reading;
use super::arithmetic::{Arithmetic, double, single};
use super::numbers::{List, range, reinterpret};

/// The powers of two that are looked for.
const BINARY: std::ops::RangeInclusive<i32> = -256..=256;
/// The powers of ten.
const DECIMAL: std::ops::RangeInclusive<i32> = -30..=30;

/// How `simple_packing` has values that were packed integers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packed(Packing);

impl Packed {
    /// The parameters with which `simple_packing` gives each of `values` again, to the bit, NaN apart. `None` if there are
    /// none. `values` are what [`Reading::cells`] made, in the byte order of the machine.
    pub fn of(reading: &Reading, values: &[u8]) -> Option<Self> {
        let Arithmetic::Double(scale, offset) = reading.arithmetic else { return None };
        let bits = u32::try_from(reading.view.byte_width() * 8).ok().filter(|bits| *bits <= 32)?;
        let (least, _) = range(reading.view)?;
        let scale = scale.unwrap_or(1.0);
        let (binary_scale_factor, decimal_scale_factor) = powers(scale)?;
        #[expect(clippy::cast_precision_loss, reason = "integers have at most 32 bits")]
        let of_least = double(least as f64, Some(scale), offset);
        // Integers that are not negative are packed as they are. Otherwise the least one of the type becomes 0.
        let references = [offset.unwrap_or(0.0), of_least];
        references.into_iter().filter(|reference| reference.is_finite()).find_map(|reference_value| {
            let packing = Packing { reference_value, binary_scale_factor, decimal_scale_factor, bits_per_value: bits };
            is_same(&packing, values).then_some(Self(packing))
        })
    }

    /// Makes the descriptor say so.
    pub fn describe(self, descriptor: &mut DataObjectDescriptor) {
        descriptor.encoding = Encoding::SimplePacking.name().to_string();
        descriptor.set_param(Key::SpReferenceValue, self.0.reference_value);
        descriptor.set_param(Key::SpBinaryScaleFactor, self.0.binary_scale_factor);
        descriptor.set_param(Key::SpDecimalScaleFactor, self.0.decimal_scale_factor);
        descriptor.set_param(Key::SpBitsPerValue, self.0.bits_per_value);
    }
}

/// The powers of two and of ten whose product is the scale, to the bit.
fn powers(scale: f64) -> Option<(i32, i32)> {
    if !scale.is_finite() || scale <= 0.0 {
        return None;
    }
    let of = |binary_scale_factor, decimal_scale_factor| {
        Packing { reference_value: 0.0, binary_scale_factor, decimal_scale_factor, bits_per_value: 0 }.scale()
    };
    // The power of two follows from the power of ten. Small powers of ten come first.
    let decimals = DECIMAL.filter(|decimal| *decimal >= 0).flat_map(|decimal| [decimal, -decimal]);
    decimals.into_iter().find_map(|decimal| {
        #[expect(clippy::cast_possible_truncation, reason = "the exponents of float64 are within 1100")]
        let binary = (scale / of(0, decimal)).log2().round() as i32;
        (BINARY.contains(&binary) && of(binary, decimal).to_bits() == scale.to_bits()).then_some((binary, decimal))
    })
}

/// Whether each value comes back as it was.
fn is_same(packing: &Packing, values: &[u8]) -> bool {
    let (formula, most) = (packing.formula(), (2_f64).powi(packing.bits_per_value.cast_signed()) - 1.0);
    // As the encoder does it.
    let factor = packing.factor();
    values.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).all(|value| {
        let field = ((value - packing.reference_value) * factor).max(0.0).min(most);
        let field = field.floor() + f64::from(field - field.floor() >= 0.5);
        value.is_nan() || formula.value_of(field).to_bits() == value.to_bits()
    })
}

/// Stored numbers that [`Reading::cells`] turns into `values` again, to the bit, and into NaN where they are NaN. `None` if
/// there is not one for each of them. `values` are of [`Reading::dtype`], in the byte order of the machine.
pub fn pack(reading: &Reading, values: &[u8]) -> Option<Vec<u8>> {
    if reading.is_as_stored() {
        return Some(values.to_vec());
    }
    if reading.view.is_float() && !reading.is_plain() {
        return scaled_floats(reading, values);
    }
    if reading.view.byte_width() <= 4
        && !reading.view.is_float()
        && matches!(reading.arithmetic, Arithmetic::Single(..) | Arithmetic::Double(..))
    {
        return pack_short(reading, values);
    }
    let stored = pack_wide(reading, values)?;
    // What is stored again has the same values: numbers that stand for missing cells are not among the others.
    let again = reading.cells(stored.clone()).ok()?;
    (is_equal(reading.dtype(), &again.bytes, values)).then_some(stored)
}

/// [`pack`] to integers of up to 32 bits with a scale or an offset, of which a table knows all values.
#[expect(clippy::cast_precision_loss, reason = "the arithmetic is that of the file")]
fn pack_short(reading: &Reading, values: &[u8]) -> Option<Vec<u8>> {
    match reading.arithmetic {
        Arithmetic::Single(scale, offset) => {
            let (by, from) = (f64::from(scale.unwrap_or(1.0)), f64::from(offset.unwrap_or(0.0)));
            let value_of = |integer: i64| f64::from(single(integer as f32, scale, offset));
            let float = |bytes| f32::from_ne_bytes(bytes).into();
            short(reading, values, float, |value| (value - from) / by, value_of)
        }
        Arithmetic::Double(scale, offset) => {
            let (by, from) = (scale.unwrap_or(1.0), offset.unwrap_or(0.0));
            let value_of = |integer: i64| double(integer as f64, scale, offset);
            short(reading, values, f64::from_ne_bytes, |value| (value - from) / by, value_of)
        }
        _ => None,
    }
}

/// Stored numbers of any width, one for each value. Where none gives the value, it is any number.
fn pack_wide(reading: &Reading, values: &[u8]) -> Option<Vec<u8>> {
    match reading.arithmetic {
        Arithmetic::None => fill(reading, values),
        Arithmetic::Single(scale, offset) => {
            let values = values.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes));
            let wanted = |value: f32| {
                let number = (f64::from(value) - f64::from(offset.unwrap_or(0.0))) / f64::from(scale.unwrap_or(1.0));
                #[expect(clippy::cast_precision_loss, reason = "integers have at most 16 bits")]
                let gives = |integer: i128| single(integer as f32, scale, offset).to_bits() == value.to_bits();
                nearest(number, gives)
            };
            stored(reading, values.map(|value| (!value.is_nan()).then(|| wanted(value))))
        }
        Arithmetic::Double(scale, offset) => {
            let values = values.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
            let wanted = |value: f64| {
                let number = (value - offset.unwrap_or(0.0)) / scale.unwrap_or(1.0);
                #[expect(clippy::cast_precision_loss, reason = "the arithmetic is that of float64")]
                let gives = |integer: i128| double(integer as f64, scale, offset).to_bits() == value.to_bits();
                nearest(number, gives)
            };
            stored(reading, values.map(|value| (!value.is_nan()).then(|| wanted(value))))
        }
        Arithmetic::Integers(scale, offset) => {
            let values = values.as_chunks().0.iter().map(|bytes| i128::from(i64::from_ne_bytes(*bytes)));
            stored(reading, values.map(|value| Some(whole(value, scale, offset))))
        }
        Arithmetic::IntegersOrNan(scale, offset) => {
            let values = values.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes));
            #[expect(clippy::cast_possible_truncation, reason = "such values are integers within 53 bits")]
            let wanted = |value: f64| whole(value as i128, scale, offset);
            stored(reading, values.map(|value| (!value.is_nan()).then(|| wanted(value))))
        }
    }
}

/// The integers of up to 32 bits that give values. `number` is the inverse of the arithmetic, up to rounding, and `value_of` the
/// arithmetic.
///
/// Large files are packed here, so it is one pass: an integer that gives its value needs no second one, if it does not stand for a
/// missing cell.
fn short<const N: usize>(
    reading: &Reading,
    values: &[u8],
    load: impl Fn([u8; N]) -> f64,
    number: impl Fn(f64) -> f64,
    value_of: impl Fn(i64) -> f64,
) -> Option<Vec<u8>> {
    let List::Integers(missing) = &reading.missing else { return None };
    let missing: Vec<i64> = missing.iter().map(|number| i64::try_from(*number).ok()).collect::<Option<_>>()?;
    let (least, greatest) = range(reading.view)?;
    let (least, greatest) = (i64::try_from(least).ok()?, i64::try_from(greatest).ok()?);
    let gives = |integer: i64, value: f64| {
        value_of(integer).to_bits() == value.to_bits()
            && (least..=greatest).contains(&integer)
            && !missing.contains(&integer)
    };
    let width = reading.stored.byte_width();
    let values = values.as_chunks::<N>().0;
    let mut bytes = Vec::with_capacity(values.len().checked_mul(width)?);
    for value in values.iter().map(|bytes| load(*bytes)) {
        let integer = if value.is_nan() {
            *missing.first()?
        } else {
            let middle = number(value);
            if middle.is_nan() || middle.abs() > BEYOND {
                return None;
            }
            // For such numbers this rounds to the nearest integer.
            #[expect(clippy::cast_possible_truncation, reason = "it is within 33 bits")]
            let middle = ((middle + ROUNDING) - ROUNDING) as i64;
            [0, 1, -1, 2, -2].into_iter().map(|step| middle + step).find(|integer| gives(*integer, value))?
        };
        // Unsigned integers of files that have none are the same bits.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the integer is in range, of either sign"
        )]
        match width {
            1 => bytes.push(integer as u8),
            2 => bytes.extend_from_slice(&(integer as u16).to_ne_bytes()),
            _ => bytes.extend_from_slice(&(integer as u32).to_ne_bytes()),
        }
    }
    Some(bytes)
}

/// Floats that give values with a scale or an offset. Where several do, it is the one without a fraction, or the nearest one; and 0
/// comes before -0, which `+ 0.0` makes 0.
fn scaled_floats(reading: &Reading, values: &[u8]) -> Option<Vec<u8>> {
    #[expect(clippy::cast_possible_truncation, reason = "what the file has is found, or nothing is")]
    let value_of = |number: f64| match reading.arithmetic {
        Arithmetic::Single(scale, offset) => f64::from(single(number as f32, scale, offset)),
        Arithmetic::Double(scale, offset) => double(number, scale, offset),
        _ => number,
    };
    let (by, from) = match reading.arithmetic {
        Arithmetic::Single(scale, offset) => (f64::from(scale.unwrap_or(1.0)), f64::from(offset.unwrap_or(0.0))),
        Arithmetic::Double(scale, offset) => (scale.unwrap_or(1.0), offset.unwrap_or(0.0)),
        _ => return None,
    };
    let missing = match &reading.missing {
        List::Floats(list) => list.as_slice(),
        List::Integers(_) => return None,
    };
    let gives = |number: f64, value: f64| value_of(number).to_bits() == value.to_bits() && !missing.contains(&number);
    let values: Vec<f64> = match reading.dtype() {
        Dtype::Float32 => values.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes).into()).collect(),
        _ => values.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect(),
    };
    let nan = missing.first().copied().unwrap_or(f64::NAN);
    let mut bytes = Vec::new();
    for value in values {
        let near = (value - from) / by;
        #[expect(clippy::cast_possible_truncation, reason = "the file has floats of 32 bits")]
        match reading.view {
            Dtype::Float32 => {
                let near = near as f32;
                let all = [near.round() + 0.0, near + 0.0, near, near.next_up(), near.next_down()];
                let found = || all.into_iter().find(|number| gives((*number).into(), value));
                let number = if value.is_nan() { nan as f32 } else { found()? };
                bytes.extend_from_slice(&number.to_ne_bytes());
            }
            Dtype::Float64 => {
                let all = [near.round() + 0.0, near + 0.0, near, near.next_up(), near.next_down()];
                let found = || all.into_iter().find(|number| gives(*number, value));
                let number = if value.is_nan() { nan } else { found()? };
                bytes.extend_from_slice(&number.to_ne_bytes());
            }
            _ => return None,
        }
    }
    Some(bytes)
}

/// Beyond all integers of 32 bits.
const BEYOND: f64 = 8_589_934_592.0;
/// Added and taken away, this leaves the nearest integer: floats of its size have no fractions.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// The integer that gives a whole value. Whether it does is checked with all others.
fn whole(value: i128, scale: Option<i128>, offset: Option<i128>) -> Option<i128> {
    value.checked_sub(offset.unwrap_or(0))?.checked_div(scale.unwrap_or(1))
}

/// The integer near `number` that gives the value.
fn nearest(number: f64, gives: impl Fn(i128) -> bool) -> Option<i128> {
    if !number.is_finite() || number.abs() > 2_f64.powi(64) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is within 64 bits")]
    let middle = number.round() as i128;
    [0, 1, -1, 2, -2].into_iter().map(|step| middle + step).find(|integer| gives(*integer))
}

/// Integers as the file stores them. The inner `None` is a value that none gives, and the outer one a missing cell.
fn stored(reading: &Reading, integers: impl Iterator<Item = Option<Option<i128>>>) -> Option<Vec<u8>> {
    let missing = match &reading.missing {
        List::Integers(list) => list.first().copied(),
        List::Floats(_) => return None,
    };
    let (least, greatest) = range(reading.view)?;
    let width = reading.stored.byte_width();
    let mut bytes = Vec::new();
    for integer in integers {
        let integer = integer.unwrap_or(missing)?;
        if !(least..=greatest).contains(&integer) {
            return None;
        }
        let all = reinterpret(reading.stored, integer).to_le_bytes();
        let own = all.get(..width)?;
        if cfg!(target_endian = "big") {
            bytes.extend(own.iter().rev());
        } else {
            bytes.extend_from_slice(own);
        }
    }
    Some(bytes)
}

/// Floats with the number that stands for missing cells in place of NaN.
fn fill(reading: &Reading, values: &[u8]) -> Option<Vec<u8>> {
    fn each<const N: usize>(values: &[u8], fill: [u8; N], is_nan: impl Fn([u8; N]) -> bool) -> Vec<u8> {
        values.as_chunks().0.iter().flat_map(|bytes| if is_nan(*bytes) { fill } else { *bytes }).collect()
    }
    let List::Floats(list) = &reading.missing else { return None };
    let fill = *list.first()?;
    #[expect(clippy::cast_possible_truncation, reason = "it is exact in the type")]
    match reading.view {
        Dtype::Float32 => Some(each(values, (fill as f32).to_ne_bytes(), |bytes| f32::from_ne_bytes(bytes).is_nan())),
        Dtype::Float64 => Some(each(values, fill.to_ne_bytes(), |bytes| f64::from_ne_bytes(bytes).is_nan())),
        _ => None,
    }
}

/// Whether values are the same to the bit, NaN apart.
fn is_equal(dtype: Dtype, one: &[u8], other: &[u8]) -> bool {
    fn all<const N: usize>(one: &[u8], other: &[u8], is_nan: impl Fn([u8; N]) -> bool) -> bool {
        let pairs = one.as_chunks().0.iter().zip(other.as_chunks().0);
        one.len() == other.len() && pairs.into_iter().all(|(one, other)| one == other || is_nan(*one) && is_nan(*other))
    }
    match dtype {
        Dtype::Float32 => all(one, other, |bytes| f32::from_ne_bytes(bytes).is_nan()),
        Dtype::Float64 => all(one, other, |bytes| f64::from_ne_bytes(bytes).is_nan()),
        _ => one == other,
    }
}
