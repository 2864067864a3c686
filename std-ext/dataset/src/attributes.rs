//! Attributes: out of metadata, and out of what is known of a cube.

use tgm_core::cbor::{Kind, Value};
use tgm_std::deps::ciborium;

use crate::cube::Cube;
use crate::model::{Attribute, Attributes};

/// The attributes that a map of metadata is.
pub(crate) fn of_map(value: &Value<'_>) -> Attributes {
    let Ok(map) = value.as_map() else { return Vec::new() };
    let entries = map.iter().filter_map(|entry| {
        let (key, value) = entry.ok()?;
        Some((key.as_str().ok()?.to_string(), attribute(&value)?))
    });
    entries.collect()
}

/// The attribute that a value of metadata is. `None` for malformed CBOR, which is refused where metadata are read.
pub(crate) fn attribute(value: &Value<'_>) -> Option<Attribute> {
    match value.kind() {
        Kind::Text => value.as_str().ok().map(Attribute::from),
        Kind::Integer => match value.as_i64() {
            Ok(number) => Some(Attribute::Integer(number)),
            Err(_) => nested(value),
        },
        Kind::Float => value.as_f64().ok().map(Attribute::Float),
        Kind::Bool => value.as_bool().ok().map(|truth| Attribute::Integer(i64::from(truth))),
        Kind::Array => list(value).or_else(|| nested(value)),
        _ => nested(value),
    }
}

/// A list of texts or of numbers.
fn list(value: &Value<'_>) -> Option<Attribute> {
    let items: Vec<Value<'_>> = value.as_array().ok()?.iter().collect::<Result<_, _>>().ok()?;
    let all = |kind| items.iter().all(|item| item.kind() == kind);
    if all(Kind::Text) && !items.is_empty() {
        let texts = items.iter().map(|item| item.as_str().ok().map(str::to_string));
        return texts.collect::<Option<_>>().map(Attribute::Texts);
    }
    if all(Kind::Integer) {
        return items.iter().map(|item| item.as_i64().ok()).collect::<Option<_>>().map(Attribute::Integers);
    }
    items.iter().map(|item| item.as_f64().ok()).collect::<Option<_>>().map(Attribute::Floats)
}

/// A value as it is.
fn nested(value: &Value<'_>) -> Option<Attribute> {
    ciborium::from_reader(value.as_encoded()).ok().map(Attribute::Nested)
}

/// The kind of a statistic: as archives and ecCodes call it, and as `cell_methods` of CF does (code table 4.10).
const fn statistic(code: i64) -> Option<(&'static str, &'static str)> {
    Some(match code {
        0 => ("avg", "mean"),
        1 => ("accum", "sum"),
        2 => ("max", "maximum"),
        3 => ("min", "minimum"),
        6 => ("sd", "standard_deviation"),
        9 => ("ratio", ""),
        4 => ("diff", ""),
        5 => ("rms", "root_mean_square"),
        7 => ("cov", ""),
        _ => return None,
    })
}

/// What is known of a cube: names and units by the table, what archives call it, and attributes that its objects have. Where the
/// table lacks them, `named` are units and name that the metadata have.
pub(crate) fn attributes_of(cube: &Cube, own: Option<Value<'_>>, named: &[Option<Value<'_>>; 2]) -> Attributes {
    let mut found: Attributes = Vec::new();
    let mut add = |name: &str, value: Attribute| {
        if !found.iter().any(|(known, _)| known == name) {
            found.push((name.to_string(), value));
        }
    };
    for (name, value) in own.iter().flat_map(of_map) {
        add(&name, value);
    }
    if let Some(table) = cube.kind.table {
        for (name, text) in [
            ("standard_name", table.standard),
            ("long_name", table.long),
            ("units", table.units),
            ("param", table.short),
        ] {
            if !text.is_empty() {
                add(name, text.into());
            }
        }
    }
    for (name, value) in ["units", "long_name"].into_iter().zip(named) {
        if let Some(text) = value.as_ref().and_then(|value| value.as_str().ok()) {
            add(name, text.into());
        }
    }
    if let Some((step, method)) = cube.kind.statistic.and_then(statistic) {
        add("stepType", step.into());
        if !method.is_empty() {
            add("cell_methods", Attribute::Text(format!("step: {method}")));
        }
    }
    if !cube.kind.level.is_empty() {
        add("typeOfLevel", cube.kind.level.as_str().into());
    }
    for (name, label) in &cube.constants {
        add(name, label.into());
    }
    found
}
