//! Variables out of objects: whole ones, records and chunks.

use std::sync::Arc;

use tgm_core::cbor::Value;
use tgm_core::descriptor::Dtype;

use super::{Growing, NUMPY_DTYPE};
use crate::attributes::of_map;
use crate::gather::{DTYPE, EXTRA, Gathered, Row, SHAPE};
use crate::model::{Attribute, Attributes, Content, Conversion, Hole, Pieces, UNCOUNTED, Variable, hole_of, product};
use crate::options::{OpenOptions, element, whole_element};
use crate::reading::{Fate, List, Number, Numbers, Reading};

/// A variable out of the objects that have its name; or why there is none.
pub(super) fn variable(
    gathered: &Gathered,
    name: &str,
    growing: &Growing,
    options: &OpenOptions,
) -> Result<Variable, String> {
    let rows: Vec<(u32, &Row)> = growing
        .rows
        .iter()
        .filter_map(|number| Some((u32::try_from(*number).ok()?, gathered.rows.get(*number)?)))
        .collect();
    if let Some(array) = &growing.array {
        let array = Value::parse(array, 0).map_err(|error| error.to_string())?;
        if rows.iter().all(|(_, row)| gathered.value(&row.cells, "zarr").is_some()) {
            return of_array(gathered, name, &rows, &array, options);
        }
    }
    let [(_, first), ..] = rows.as_slice() else { return Err("it has no values".into()) };
    if list_entry(gathered, first, "netcdf", "origin").is_some() {
        return of_pieces(gathered, name, &rows, options);
    }
    let record =
        list_entry(gathered, first, "netcdf", "record").and_then(|name| name.as_str().ok().map(str::to_string));
    let shape = shape(gathered, first);
    let dtype = dtype(gathered, first)?;
    let mut attributes = own_attributes(gathered, &rows);
    let mut dims = dimensions(gathered, first, shape.len(), name);
    if is_bool(dtype) {
        attributes.retain(|(name, _)| name != "dtype");
    }
    let packed = packing((gathered, &rows), dtype, &mut attributes, options.raw.has(name))?;
    let hole = hole(name, (dtype, packed.as_deref()), None, options);
    let (places, leading, shape) = match (record, rows.as_slice()) {
        (Some(record), _) => {
            let (places, len) = records(gathered, &rows)?;
            dims.insert(0, record);
            (places, 1, [&[len][..], &shape].concat())
        }
        (None, [(number, _)]) => (vec![(0, *number)], 0, shape),
        (None, _) => return Err(format!("{} objects have the name, and none says which part it is", rows.len())),
    };
    let same = |(_, row): &(u32, &Row)| {
        self::shape(gathered, row) == self::shape(gathered, first) && self::dtype(gathered, row) == Ok(dtype)
    };
    if !rows.iter().all(same) {
        return Err("its records have different shapes or types".into());
    }
    product(&shape).ok_or(UNCOUNTED)?;
    let chunk = shape.iter().enumerate().map(|(at, len)| if at < leading { 1 } else { *len }).collect();
    let pieces = Pieces { dtype, packed, chunk, places, leading, hole };
    Ok(Variable { name: name.into(), dims, shape, attributes, content: Content::Pieces(pieces) })
}

/// The records that messages have, in order, each with its number and that of its object; and how many there are.
fn records(gathered: &Gathered, rows: &[(u32, &Row)]) -> Result<(Vec<(u64, u32)>, u64), String> {
    let mut places = Vec::with_capacity(rows.len());
    for (number, row) in rows {
        let about = gathered.about(&row.entry);
        let at = about.and_then(|about| gathered.value(about, &format!("{EXTRA}record"))?.as_u64().ok());
        places.push((at.ok_or("a message does not say which record it has")?, *number));
    }
    places.sort_unstable();
    if places.array_windows().any(|[(one, _), (other, _)]| one == other) {
        return Err("two messages have one record".into());
    }
    let len = places.last().map_or(Some(0), |(last, _)| last.checked_add(1));
    Ok((places, len.ok_or("the number of its last record is too large")?))
}

/// A variable out of chunks.
fn of_array(
    gathered: &Gathered,
    name: &str,
    rows: &[(u32, &Row)],
    array: &Value<'_>,
    options: &OpenOptions,
) -> Result<Variable, String> {
    let get = |path: &[&str]| path.iter().try_fold(*array, |value, key| value.as_map().ok()?.get(key).ok().flatten());
    let shape = get(&["shape"]).and_then(numbers).ok_or("its description has no shape")?;
    product(&shape).ok_or(UNCOUNTED)?;
    let chunk = get(&["chunk_grid", "configuration", "chunk_shape"]).and_then(numbers);
    let chunk = chunk.filter(|chunk| chunk.len() == shape.len() && !chunk.contains(&0));
    let chunk = chunk.ok_or("its description has no regular chunks")?;
    let dtype = if let Some((_, first)) = rows.first() {
        dtype(gathered, first)?
    } else {
        let name = get(&["data_type"]).and_then(|name| name.as_str().ok()).unwrap_or("");
        let found = if name == "bool" { Some(Dtype::Bitmask) } else { Dtype::from_name(name) };
        found.ok_or("its type is not one of numbers")?
    };
    let places = places(gathered, rows, "zarr", (&shape, &chunk, dtype))?;
    let mut attributes = own_attributes(gathered, rows);
    if let Some(own) = get(&["attributes"]).filter(|_| rows.is_empty()) {
        attributes = of_map(&own);
    }
    let dims = match rows.first() {
        Some((_, first)) => dimensions(gathered, first, shape.len(), name),
        None => names(get(&["dimension_names"]), shape.len(), name),
    };
    let fill = get(&["fill_value"]).filter(|value| !value.is_null());
    let fill_read = fill.as_ref().and_then(|value| fill_element(dtype, value));
    let packed = packing((gathered, rows), dtype, &mut attributes, options.raw.has(name))?;
    let is_unread = fill.is_some() && fill_read.is_none();
    let hole = hole(name, (dtype, packed.as_deref()), fill_read, options);
    let pieces = Pieces { dtype, packed, chunk, places, leading: 0, hole };
    let found = Variable { name: name.into(), dims, shape, attributes, content: Content::Pieces(pieces) };
    if is_unread && found.hole_count() > 0 && options.hole_of(name, dtype).is_none() {
        return Err(format!("chunks are missing, and its fill value is not an element of type {}", dtype.name()));
    }
    Ok(found)
}

/// A variable out of boxes.
fn of_pieces(gathered: &Gathered, name: &str, rows: &[(u32, &Row)], options: &OpenOptions) -> Result<Variable, String> {
    let [(_, first), ..] = rows else { return Err("it has no values".into()) };
    let list = |row: &Row, key: &str| list_entry(gathered, row, "netcdf", key).and_then(numbers);
    let shape = list(first, "shape").ok_or("its first object does not say which shape it has")?;
    product(&shape).ok_or(UNCOUNTED)?;
    let chunk = list(first, "chunk_shape").filter(|chunk| chunk.len() == shape.len() && !chunk.contains(&0));
    let chunk = chunk.ok_or("its first object does not say which shape its pieces have")?;
    let is_same = |(_, row): &(u32, &Row)| {
        list(row, "shape").as_ref() == Some(&shape) && list(row, "chunk_shape").as_ref() == Some(&chunk)
    };
    if !rows.iter().all(is_same) {
        return Err("its objects are pieces of different arrays".into());
    }
    let dtype = dtype(gathered, first)?;
    let places = places(gathered, rows, "netcdf", (&shape, &chunk, dtype))?;
    let mut attributes = own_attributes(gathered, rows);
    let dims = dimensions(gathered, first, shape.len(), name);
    let packed = packing((gathered, rows), dtype, &mut attributes, options.raw.has(name))?;
    let hole = hole(name, (dtype, packed.as_deref()), None, options);
    let pieces = Pieces { dtype, packed, chunk, places, leading: 0, hole };
    Ok(Variable { name: name.into(), dims, shape, attributes, content: Content::Pieces(pieces) })
}

/// Which piece of an array each object is, by where it begins, in order.
fn places(
    gathered: &Gathered,
    rows: &[(u32, &Row)],
    map: &str,
    (shape, chunk, dtype): (&[u64], &[u64], Dtype),
) -> Result<Vec<(u64, u32)>, String> {
    let mut places = Vec::with_capacity(rows.len());
    let counts: Vec<u64> = shape.iter().zip(chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
    for (number, row) in rows {
        let origin = list_entry(gathered, row, map, "origin").and_then(numbers);
        let origin =
            origin.filter(|origin| origin.len() == shape.len()).ok_or("a chunk does not say where it begins")?;
        let ends = origin.iter().zip(shape.iter().zip(chunk));
        // Nothing is left of a chunk after the array's end, which is not the shape of any.
        let expected: Vec<u64> = ends.map(|(start, (len, chunk))| len.saturating_sub(*start).min(*chunk)).collect();
        let is_aligned = origin.iter().zip(chunk).all(|(start, chunk)| start % chunk == 0);
        if !is_aligned || self::shape(gathered, row) != expected || self::dtype(gathered, row)? != dtype {
            return Err("a chunk has another shape or type than the array says".into());
        }
        let mut place = origin.iter().zip(chunk.iter().zip(&counts));
        let place = place.try_fold(0_u64, |place: u64, (start, (chunk, count))| {
            place.checked_mul(*count)?.checked_add(start / chunk)
        });
        places.push((place.ok_or(UNCOUNTED)?, *number));
    }
    places.sort_unstable();
    places.dedup_by_key(|(place, _)| *place);
    if places.len() != rows.len() {
        return Err("two objects have one chunk".into());
    }
    Ok(places)
}

fn numbers(value: Value<'_>) -> Option<Vec<u64>> {
    value.as_array().ok()?.iter().map(|number| number.ok()?.as_u64().ok()).collect()
}

/// How the objects of a variable become values, if they are packed integers. The attributes then become what is true of the values.
/// With `is_raw` it is how they become stored numbers, if they are values.
fn packing(
    (gathered, rows): (&Gathered, &[(u32, &Row)]),
    dtype: Dtype,
    attributes: &mut Attributes,
    is_raw: bool,
) -> Result<Option<Arc<Conversion>>, String> {
    let mut found: Option<(Option<Reading>, Option<Reading>)> = None;
    let recorded = |row: &Row| list_entry(gathered, row, "netcdf", "packing").filter(|_| is_raw);
    // Some chunks have no attributes.
    for (_, row) in rows {
        let attributes = gathered.value(&row.cells, "attributes");
        let (record, netcdf) = (recorded(row), gathered.value(&row.cells, "netcdf"));
        if attributes.is_none() && record.is_none() {
            continue;
        }
        let own = match record {
            Some(record) => (Reading::of_record(&record, attributes.as_ref()), None),
            None if is_raw => (None, None),
            None => (
                Reading::of_maps(dtype, attributes.as_ref(), netcdf.as_ref()),
                Reading::of_amounts_by(dtype, attributes.as_ref(), netcdf.as_ref()),
            ),
        };
        if found.as_ref().is_some_and(|found| *found != own) {
            return Err("its objects are packed in different ways".into());
        }
        found = Some(own);
    }
    let Some(reading) = found.and_then(|(reading, _)| reading) else { return Ok(None) };
    if is_raw {
        let record = rows.iter().find_map(|(_, row)| recorded(row));
        // Values of another type are not what was made of these numbers.
        let Some(record) = record.filter(|_| reading.dtype() == dtype) else { return Ok(None) };
        let stored = record.as_map().ok().and_then(|map| map.get("attributes").ok().flatten());
        let changed: Vec<&str> = reading.changed().collect();
        attributes.retain(|(name, _)| !changed.contains(&name.as_str()));
        attributes.extend(stored.as_ref().map(of_map).unwrap_or_default());
        return Ok(Some(Arc::new(Conversion::ToStored(reading))));
    }
    let stays = |(name, value): (String, Attribute)| {
        let value = match reading.fate(&name) {
            Fate::Stays => Some(value),
            Fate::Dropped => None,
            Fate::Becomes(numbers) => Some(of_numbers(numbers)),
        };
        value.map(|value| (name, value))
    };
    *attributes = std::mem::take(attributes).into_iter().filter_map(stays).collect();
    Ok(Some(Arc::new(Conversion::ToValues(reading))))
}

/// Numbers as an attribute.
fn of_numbers(numbers: &Numbers) -> Attribute {
    let integers = match &numbers.list {
        List::Integers(list) => list.iter().map(|integer| i64::try_from(*integer).ok()).collect::<Option<Vec<_>>>(),
        List::Floats(_) => None,
    };
    if let Some(integers) = integers {
        return if let [one] = integers.as_slice() { Attribute::Integer(*one) } else { Attribute::Integers(integers) };
    }
    let floats: Vec<f64> = numbers.list.iter().map(Number::to_f64).collect();
    if let [one] = floats.as_slice() { Attribute::Float(*one) } else { Attribute::Floats(floats) }
}

/// What stands where no object is: what the caller says, the array's own fill value, or what the type of the values has.
fn hole(
    name: &str,
    (dtype, packed): (Dtype, Option<&Conversion>),
    fill: Option<Vec<u8>>,
    options: &OpenOptions,
) -> Hole {
    let of_values = packed.map_or(dtype, Conversion::dtype);
    let own = fill.and_then(|fill| packed.map_or(Some(fill.clone()), |it| it.apply(fill).ok()));
    let usual = || match packed {
        // Integers that were stored do not become floats.
        Some(Conversion::ToStored(reading)) if !reading.stored().is_float() => Hole::Refused,
        _ => hole_of(of_values),
    };
    options.hole_of(name, of_values).or_else(|| own.map(Hole::Fill)).unwrap_or_else(usual)
}

/// The type of times of numpy that integers are, as an attribute that faces turn into the type.
fn time_attribute(gathered: &Gathered, row: &Row) -> Option<(String, Attribute)> {
    let value = |key: &str| gathered.value(&row.cells, key);
    let text = |key: &str| value(key).and_then(|text| text.as_str().ok());
    let (kind, unit) = (text("numpy.dtype")?, text("numpy.unit")?);
    if dtype(gathered, row) != Ok(Dtype::Int64) {
        return None;
    }
    let multiple =
        value("numpy.multiple").and_then(|multiple| multiple.as_u64().ok()).filter(|multiple| *multiple != 1);
    let multiple = multiple.map(|multiple| multiple.to_string()).unwrap_or_default();
    Some((NUMPY_DTYPE.into(), Attribute::Text(format!("{kind}[{multiple}{unit}]"))))
}

/// The element that a fill value of Zarr is, in the byte order of the machine. `None` if it is none of the type.
fn fill_element(dtype: Dtype, value: &Value<'_>) -> Option<Vec<u8>> {
    let float = |value: &Value<'_>| match value.as_str() {
        Ok("NaN") => Some(f64::NAN),
        Ok("Infinity") => Some(f64::INFINITY),
        Ok("-Infinity") => Some(f64::NEG_INFINITY),
        Ok(_) => None,
        Err(_) => value.as_f64().ok(),
    };
    let of_float = |dtype: Dtype, value: &Value<'_>| float(value).and_then(|number| element(dtype, number));
    let bits = value.as_str().ok().and_then(|text| text.strip_prefix("0x"));
    match dtype {
        _ if dtype.is_float() && !matches!(dtype, Dtype::Complex64 | Dtype::Complex128) && bits.is_some() => {
            of_bits(dtype, bits?)
        }
        Dtype::Complex64 | Dtype::Complex128 => {
            let part = if dtype == Dtype::Complex64 { Dtype::Float32 } else { Dtype::Float64 };
            let [re, im] = [0, 1].map(|at| value.as_array().ok()?.iter().nth(at)?.ok());
            Some([of_float(part, &re?)?, of_float(part, &im?)?].concat())
        }
        Dtype::Bitmask => whole_element(dtype, i128::from(value.as_bool().ok()?)),
        _ if dtype.is_float() => of_float(dtype, value),
        _ => whole_element(dtype, value.as_integer().ok()?),
    }
}

/// The element with these bits, as hexadecimal digits, the most significant first.
fn of_bits(dtype: Dtype, digits: &str) -> Option<Vec<u8>> {
    let width = dtype.byte_width();
    let bits = u64::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 2 * width)?;
    let bytes = bits.to_be_bytes();
    let mut element = bytes.get(bytes.len().checked_sub(width)?..)?.to_vec();
    if cfg!(target_endian = "little") {
        element.reverse();
    }
    Some(element)
}

const fn is_bool(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::Bitmask)
}

/// A value in a map that an object has.
pub(super) fn list_entry<'g>(gathered: &'g Gathered, row: &Row, map: &str, key: &str) -> Option<Value<'g>> {
    gathered.value(&row.cells, map)?.as_map().ok()?.get(key).ok().flatten()
}

fn shape(gathered: &Gathered, row: &Row) -> Vec<u64> {
    let (shape, _) = gathered.bytes(&row.cells, SHAPE).unwrap_or(&[]).as_chunks::<8>();
    shape.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

fn dtype(gathered: &Gathered, row: &Row) -> Result<Dtype, String> {
    let name = gathered.bytes(&row.cells, DTYPE).and_then(|name| std::str::from_utf8(name).ok()).unwrap_or("");
    Dtype::from_name(name).ok_or_else(|| format!("its type {name} is not known"))
}

/// The attributes of the first object that has any: of chunks, some repeat them.
fn own_attributes(gathered: &Gathered, rows: &[(u32, &Row)]) -> Attributes {
    let found = rows.iter().find_map(|(_, row)| gathered.value(&row.cells, "attributes"));
    let mut found = found.as_ref().map(of_map).unwrap_or_default();
    if let Some((_, row)) = rows.first() {
        found.extend(time_attribute(gathered, row));
    }
    found
}

/// The names of the dimensions of an object. Dimensions without a name are called by the variable and their number.
fn dimensions(gathered: &Gathered, row: &Row, count: usize, name: &str) -> Vec<String> {
    names(gathered.value(&row.cells, "dimensions").or_else(|| gathered.value(&row.cells, "dim_names")), count, name)
}

pub(super) fn names(value: Option<Value<'_>>, count: usize, variable: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(count);
    let given: Vec<Option<String>> = value
        .and_then(|value| value.as_array().ok())
        .map(|array| array.iter().map(|name| name.ok()?.as_str().ok().map(str::to_string)).collect())
        .unwrap_or_default();
    for at in 0..count {
        // The last part of a path.
        let name = given.get(at).cloned().flatten();
        let name = name.map(|name| name.rsplit('/').next().unwrap_or("").to_string());
        names.push(name.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("{variable}_dim_{at}")));
    }
    names
}
