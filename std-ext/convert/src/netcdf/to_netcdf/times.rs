//! Times of numpy as the convention CF has them.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_core::descriptor::Dtype;
use tgm_std::GlobalMetadata;

use crate::arrays::TIME;
use tgm_dataset::reading::{FILL, NUMPY_UNITS};

/// How the names of attributes begin that would say the same.
pub(super) const PREFIX: &str = "numpy.";

/// The attributes of integers that are times: units, calendar or type, and the number that is not a time. Nothing for other
/// objects, and for units that the convention lacks, such as weeks and 25 seconds.
pub(super) fn of_object(global: &GlobalMetadata, index: usize, dtype: Dtype) -> Vec<(&'static str, Value)> {
    let entry = global.base.get(index).filter(|_| dtype == Dtype::Int64);
    // Units that the object's own attributes tell come first.
    let has_units = |entry: &BTreeMap<String, Value>| {
        let attributes = entry.get("attributes").and_then(Value::as_map).map_or(&[][..], Vec::as_slice);
        attributes.iter().any(|(key, _)| matches!(key.as_text(), Some("units" | "calendar" | "dtype" | FILL)))
    };
    let Some(entry) = entry.filter(|entry| !has_units(entry)) else { return Vec::new() };
    let Some(time) = entry.get(TIME).and_then(Value::as_map) else { return Vec::new() };
    let get = |key: &str| time.iter().find(|(name, _)| name.as_text() == Some(key)).map(|(_, value)| value);
    let text = |key: &str| get(key).and_then(Value::as_text);
    let is_single = get("multiple").is_none_or(|multiple| *multiple == Value::from(1));
    let unit = text("unit").filter(|_| is_single);
    let unit = unit.and_then(|unit| NUMPY_UNITS.iter().find(|(own, _)| *own == unit)).map(|(_, unit)| *unit);
    let no_time = (FILL, Value::from(i64::MIN));
    match (text("dtype"), unit) {
        (Some("datetime64"), Some(unit)) => vec![
            ("units", format!("{unit} since 1970-01-01").into()),
            ("calendar", "proleptic_gregorian".into()),
            no_time,
        ],
        // As xarray writes them.
        (Some("timedelta64"), Some(unit)) => {
            vec![("units", unit.into()), ("dtype", "timedelta64[ns]".into()), no_time]
        }
        _ => Vec::new(),
    }
}
