//! The range of valid values.

use tgm_core::descriptor::Dtype;

use super::arithmetic::{Arithmetic, double, integers, single};
use super::numbers::{List, Number, Numbers, range};
use super::{AttributeValue, Fate, NotApplied, Reading};

/// Converts the bounds as the values are converted.
pub(super) fn read<'t>(reading: &mut Reading, find: &dyn Fn(&str) -> Option<&'t AttributeValue>) {
    if reading.is_plain() && reading.view == reading.stored {
        return;
    }
    let reverses = reading.arithmetic.reverses();
    for (name, opposite) in [("valid_min", "valid_max"), ("valid_max", "valid_min"), ("valid_range", "valid_range")] {
        let Some(told) = find(name) else { continue };
        let Some(mut numbers) = converted(reading, told) else {
            let why = "it is not of the type of the stored numbers, and stays as it is";
            reading.not_applied.push(NotApplied { name, why });
            continue;
        };
        if !reverses {
            reading.fates.push((name, Fate::Becomes(numbers)));
            continue;
        }
        match &mut numbers.list {
            List::Integers(list) => list.reverse(),
            List::Floats(list) => list.reverse(),
        }
        reading.fates.push((opposite, Fate::Becomes(numbers)));
        if name != opposite && find(opposite).is_none() {
            reading.fates.push((name, Fate::Dropped));
        }
    }
}

/// Bounds as values.
fn converted(reading: &Reading, told: &AttributeValue) -> Option<Numbers> {
    let AttributeValue::Numbers(numbers) = told else { return None };
    if numbers.dtype.is_some_and(|dtype| dtype != reading.stored && dtype != reading.view) {
        return None;
    }
    // JSON has no types. Writers put 200.0 where a bound is a value, and 200 where it is a stored integer.
    let is_float = matches!(numbers.list, List::Floats(_));
    if numbers.dtype.is_none() && is_float && range(reading.stored).is_some() {
        return None;
    }
    let list = match numbers.exact(reading.stored) {
        Some(list) => list.viewed(reading.stored, reading.view),
        None => numbers.exact(reading.view)?,
    };
    let list = match reading.arithmetic {
        Arithmetic::None => list,
        #[expect(clippy::cast_possible_truncation, reason = "stored numbers are exact in f32 where this is chosen")]
        Arithmetic::Single(scale, offset) => {
            floats(&list, |number| single(number.to_f64() as f32, scale, offset).into())
        }
        Arithmetic::Double(scale, offset) => floats(&list, |number| double(number.to_f64(), scale, offset)),
        Arithmetic::Integers(scale, offset) | Arithmetic::IntegersOrNan(scale, offset) => {
            let convert = |number| match number {
                Number::Integer(integer) => integers(integer, scale, offset).filter(|it| i64::try_from(*it).is_ok()),
                Number::Float(_) => None,
            };
            let converted = List::Integers(list.iter().map(convert).collect::<Option<_>>()?);
            if reading.dtype() == Dtype::Int64 { converted } else { floats(&converted, Number::to_f64) }
        }
    };
    Some(Numbers { dtype: Some(reading.dtype()), list })
}

fn floats(list: &List, convert: impl Fn(Number) -> f64) -> List {
    List::Floats(list.iter().map(convert).collect())
}
