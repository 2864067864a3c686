//! The profile of files: variables, dimensions and attributes as NetCDF and Zarr have them.
//!
//! An object is a variable, a record of one, or a chunk of one:
//!
//! | what | its place |
//! |---|---|
//! | a variable | its `dimensions` are the variable's |
//! | a record | `netcdf.record` names the first dimension, and the message has the number under `_extra_.record` |
//! | a chunk | `zarr.origin` is its first index; the message has the description of the array under `_extra_.zarr` |
//!
//! Texts lie in `_extra_.texts`. What was appended to a dataset later has `_extra_.part`: its number, from 1 on, and the dimension
//! along which it goes on. Each part is a dataset, as its times may have other units, and its chunks other lengths.

use std::collections::BTreeMap;
use std::sync::Arc;

use tgm_core::cbor::Value;
use tgm_core::descriptor::Dtype;

use crate::archive::Archive;
use crate::attributes::of_map;
use crate::dataset::Dataset;
use crate::gather::{About, Cells, DTYPE, EXTRA, Gathered, Row, SHAPE};
use crate::model::{Attribute, Attributes, Content, Hole, LeftOut, Pieces, UNCOUNTED, Variable, hole_of, product};
use crate::options::{OpenOptions, whole_element};
use crate::reading::{Fate, List, Number, Numbers, Reading};

/// The attribute that tells faces of a type which elements alone do not tell.
const NUMPY_DTYPE: &str = "numpy_dtype";

/// Whether the objects were made from files: they have dimensions by name, or are chunks.
pub(crate) fn is_of_files(gathered: &Gathered) -> bool {
    let has = |key: &str| gathered.keys.find(key.as_bytes()).is_some();
    let of_fields = ["mars.param", "grib.paramId", "grib.discipline", "mars.step", "mars.levelist"];
    let of_files = ["netcdf", "zarr", "dimensions", "_extra_.zarr", "_extra_.netcdf", "_extra_.texts"];
    of_files.into_iter().any(has) && !of_fields.into_iter().any(has)
}

/// A variable in the making.
#[derive(Default)]
struct Growing {
    rows: Vec<usize>,
    /// What the message says of the array that its objects are chunks of.
    array: Option<Box<[u8]>>,
}

/// What belongs to one dataset.
#[derive(Default)]
struct Share<'g> {
    rows: Vec<usize>,
    abouts: Vec<&'g About>,
    along: Option<String>,
}

/// The parts of an archive, in their order: what was written first, and what was appended.
fn shares(gathered: &Gathered) -> Vec<Share<'_>> {
    let key = format!("{EXTRA}part");
    if gathered.keys.find(key.as_bytes()).is_none() {
        let (rows, abouts) = ((0..gathered.rows.len()).collect(), gathered.abouts.iter().collect());
        return vec![Share { rows, abouts, along: None }];
    }
    let part = |source: u32, cells: &Cells| -> Option<((u64, u32), String)> {
        let map = gathered.value(cells, &key)?.as_map().ok()?;
        let number = map.get("number").ok().flatten()?.as_u64().ok()?;
        let dimension = map.get("dimension").ok().flatten()?.as_str().ok()?;
        Some(((number, source), dimension.to_string()))
    };
    let mut found: BTreeMap<(u64, u32), Share<'_>> = BTreeMap::new();
    for about in &gathered.abouts {
        let (place, along) =
            part(about.source, &about.cells).map_or_else(Default::default, |(place, along)| (place, Some(along)));
        let share = found.entry(place).or_default();
        share.along = along;
        share.abouts.push(about);
    }
    for (number, row) in gathered.rows.iter().enumerate() {
        let of_part = gathered.about(&row.entry).and_then(|cells| part(row.entry.source, cells));
        found.entry(of_part.map_or_else(Default::default, |(place, _)| place)).or_default().rows.push(number);
    }
    found.into_values().collect()
}

/// The datasets of all variables of a group: one, and one for each part that was appended later. The first one lists the others
/// as left out.
pub(crate) fn datasets(gathered: &Gathered, archive: &Arc<Archive>, options: &OpenOptions) -> Vec<Dataset> {
    let shares = shares(gathered);
    let later = shares.iter().enumerate().filter_map(|(number, share)| {
        let why = format!("it was appended along {}, and is a dataset of its own", share.along.as_ref()?);
        Some(LeftOut { name: format!("part {number}"), what: String::new(), why, objects: share.rows.len() })
    });
    let later: Vec<LeftOut> = later.collect();
    let mut found: Vec<Dataset> = shares.into_iter().map(|share| dataset(gathered, archive, options, share)).collect();
    if let Some(first) = found.first_mut().filter(|first| first.along.is_none()) {
        first.left_out.extend(later);
    }
    found
}

/// The dataset of one part.
fn dataset(gathered: &Gathered, archive: &Arc<Archive>, options: &OpenOptions, share: Share<'_>) -> Dataset {
    let mut all: BTreeMap<String, Growing> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    let mut entry = |name: &str, f: &mut dyn FnMut(&mut Growing)| {
        if !all.contains_key(name) {
            order.push(name.to_string());
        }
        f(all.entry(name.to_string()).or_default());
    };
    for (number, row) in share.rows.iter().filter_map(|number| Some((*number, gathered.rows.get(*number)?))) {
        let name = gathered.value(&row.cells, "name").and_then(|name| name.as_str().ok().map(str::to_string));
        let name = name.unwrap_or_else(|| format!("object_{}", row.entry.object));
        entry(&name, &mut |growing| growing.rows.push(number));
    }
    for about in &share.abouts {
        let Some(zarr) = gathered.value(&about.cells, &format!("{EXTRA}zarr")) else { continue };
        let of_map = |key: &str| zarr.as_map().ok()?.get(key).ok().flatten();
        let Some((path, array)) = of_map("path").and_then(|path| path.as_str().ok()).zip(of_map("array")) else {
            continue;
        };
        // An array at the root is called by its store, which its objects know.
        let place = (about.source, about.message);
        let first = gathered.rows.partition_point(|row| (row.entry.source, row.entry.message) < place);
        let own = gathered.rows.get(first).filter(|row| (row.entry.source, row.entry.message) == place);
        let name = own
            .and_then(|row| gathered.value(&row.cells, "name"))
            .and_then(|name| name.as_str().ok().map(str::to_string));
        let name = name.unwrap_or_else(|| path.to_string());
        entry(&name, &mut |growing| growing.array = Some(array.as_encoded().into()));
    }
    let (mut variables, mut left_out) = (Vec::new(), Vec::new());
    for name in order {
        let Some(growing) = all.get(&name) else { continue };
        let Some(own) = own_name(&name, options.group.as_deref()) else {
            left_out.push(LeftOut {
                what: String::new(),
                why: "it is in another group".into(),
                objects: growing.rows.len(),
                name,
            });
            continue;
        };
        match variable(gathered, own, growing, options) {
            Ok(found) => variables.push(found),
            Err(why) => left_out.push(LeftOut { what: String::new(), why, objects: growing.rows.len(), name }),
        }
    }
    variables.extend(texts(gathered, &share.abouts, options.group.as_deref()));
    let attributes = group_attributes(gathered, &share.abouts, options.group.as_deref());
    let unlimited = unlimited(gathered, &share.abouts, options.group.as_deref());
    Dataset {
        attributes,
        coordinates: Vec::new(),
        variables,
        left_out,
        notes: Vec::new(),
        unused_keys: Vec::new(),
        along: share.along,
        unlimited,
        archive: Arc::clone(archive),
    }
}

/// The names of all groups.
pub(crate) fn groups(gathered: &Gathered) -> Vec<String> {
    let mut found = std::collections::BTreeSet::new();
    let names =
        gathered.rows.iter().filter_map(|row| gathered.value(&row.cells, "name")?.as_str().ok().map(str::to_string));
    let mut add = |path: &str| {
        for (at, _) in path.match_indices('/') {
            found.extend(path.get(..at).map(str::to_string));
        }
    };
    names.for_each(|name| add(&name));
    for about in &gathered.abouts {
        for key in ["groups", "texts"] {
            let Some(map) = gathered.value(&about.cells, &format!("{EXTRA}{key}")) else { continue };
            let Ok(map) = map.as_map() else { continue };
            for (name, _) in map.iter().filter_map(Result::ok) {
                if let Ok(name) = name.as_str() {
                    // A group is a path by itself, and a text lies in one.
                    add(&if key == "groups" { format!("{name}/") } else { name.to_string() });
                }
            }
        }
    }
    found.remove("");
    found.into_iter().collect()
}

/// The name of a variable within a group. `None` for a variable of another group.
fn own_name<'n>(name: &'n str, group: Option<&str>) -> Option<&'n str> {
    let own = match group.map(|group| group.trim_matches('/')).filter(|group| !group.is_empty()) {
        Some(group) => name.strip_prefix(group)?.strip_prefix('/')?,
        None => name,
    };
    (!own.contains('/') && !own.is_empty()).then_some(own)
}

fn group_attributes(gathered: &Gathered, abouts: &[&About], group: Option<&str>) -> Attributes {
    let group = group.map(|group| group.trim_matches('/')).filter(|group| !group.is_empty());
    for about in abouts {
        let found = match group {
            None => gathered.value(&about.cells, &format!("{EXTRA}attributes")),
            Some(group) => gathered
                .value(&about.cells, &format!("{EXTRA}groups"))
                .and_then(|groups| groups.as_map().ok()?.get(group).ok().flatten()),
        };
        if let Some(found) = found {
            return of_map(&found);
        }
    }
    Vec::new()
}

/// The dimensions of a group that have no fixed length.
fn unlimited(gathered: &Gathered, abouts: &[&About], group: Option<&str>) -> Vec<String> {
    let mut found = std::collections::BTreeSet::new();
    for about in abouts {
        let Some(Ok(paths)) = gathered.value(&about.cells, &format!("{EXTRA}unlimited")).map(|it| it.as_array()) else {
            continue;
        };
        let paths = paths.iter().filter_map(|path| path.ok()?.as_str().ok());
        found.extend(paths.filter_map(|path| own_name(path, group)).map(str::to_string));
    }
    found.into_iter().collect()
}

fn variable(gathered: &Gathered, name: &str, growing: &Growing, options: &OpenOptions) -> Result<Variable, String> {
    let rows: Vec<(u32, &Row)> = growing
        .rows
        .iter()
        .filter_map(|number| Some((u32::try_from(*number).ok()?, gathered.rows.get(*number)?)))
        .collect();
    let mut sources = rows.iter().map(|(_, row)| row.entry.source);
    let first = sources.next();
    if sources.any(|source| Some(source) != first) {
        // Where a file goes on along which dimension is not in it.
        return Err("several files have it: open each by itself and join them, as xarray.open_mfdataset does".into());
    }
    if let Some(array) = &growing.array {
        let array = Value::parse(array, 0).map_err(|error| error.to_string())?;
        if rows.iter().all(|(_, row)| gathered.value(&row.cells, "zarr").is_some()) {
            return of_array(gathered, name, &rows, &array, options);
        }
    }
    let [(_, first), ..] = rows.as_slice() else { return Err("it has no values".into()) };
    let record =
        list_entry(gathered, first, "netcdf", "record").and_then(|name| name.as_str().ok().map(str::to_string));
    let shape = shape(gathered, first);
    let dtype = dtype(gathered, first)?;
    let mut attributes = own_attributes(gathered, &rows);
    let mut dims = dimensions(gathered, first, shape.len(), name);
    if is_bool(dtype) {
        attributes.retain(|(name, _)| name != "dtype");
    }
    let packed = packing(gathered, &rows, dtype, &mut attributes)?;
    let hole = hole(name, (dtype, packed.as_deref()), None, options);
    let (places, leading, shape) = match record {
        Some(record) => {
            let mut places = Vec::with_capacity(rows.len());
            for (number, row) in &rows {
                let about = gathered.about(&row.entry);
                let at = about.and_then(|about| gathered.value(about, &format!("{EXTRA}record"))?.as_u64().ok());
                places.push((at.ok_or("a message does not say which record it has")?, *number));
            }
            places.sort_unstable();
            dims.insert(0, record);
            let len = places.last().map_or(Some(0), |(last, _)| last.checked_add(1));
            let len = len.ok_or("the number of its last record is too large")?;
            (places, 1, [&[len][..], &shape].concat())
        }
        None if rows.len() == 1 => (vec![(0, rows.first().map_or(0, |(number, _)| *number))], 0, shape),
        None => return Err(format!("{} objects have the name, and none says which part it is", rows.len())),
    };
    let is_twice = places.windows(2).any(|pair| matches!(pair, [(one, _), (other, _)] if one == other));
    if is_twice {
        return Err("two messages have one record".into());
    }
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

/// A variable out of chunks.
fn of_array(
    gathered: &Gathered,
    name: &str,
    rows: &[(u32, &Row)],
    array: &Value<'_>,
    options: &OpenOptions,
) -> Result<Variable, String> {
    let get = |path: &[&str]| path.iter().try_fold(*array, |value, key| value.as_map().ok()?.get(key).ok().flatten());
    let numbers = |value: Value<'_>| -> Option<Vec<u64>> {
        value.as_array().ok()?.iter().map(|number| number.ok()?.as_u64().ok()).collect()
    };
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
    let mut places = Vec::with_capacity(rows.len());
    let counts: Vec<u64> = shape.iter().zip(&chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
    for (number, row) in rows {
        let origin = list_entry(gathered, row, "zarr", "origin").and_then(numbers);
        let origin =
            origin.filter(|origin| origin.len() == shape.len()).ok_or("a chunk does not say where it begins")?;
        let ends = origin.iter().zip(shape.iter().zip(&chunk));
        // Of a chunk behind the array's end nothing is left, which is not the shape of any.
        let expected: Vec<u64> = ends.map(|(start, (len, chunk))| len.saturating_sub(*start).min(*chunk)).collect();
        let is_aligned = origin.iter().zip(&chunk).all(|(start, chunk)| start % chunk == 0);
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
    let mut attributes = own_attributes(gathered, rows);
    if let Some(own) = get(&["attributes"]).filter(|_| rows.is_empty()) {
        attributes = of_map(&own);
    }
    if dtype == Dtype::Int64
        && let Some(time) = rows.first().and_then(|(_, row)| gathered.value(&row.cells, "time"))
    {
        attributes.extend(time_attributes(&time));
    }
    let dims = match rows.first() {
        Some((_, first)) => dimensions(gathered, first, shape.len(), name),
        None => names(get(&["dimension_names"]), shape.len(), name),
    };
    let fill = get(&["fill_value"]).and_then(|value| fill_element(dtype, &value));
    let packed = packing(gathered, rows, dtype, &mut attributes)?;
    let hole = hole(name, (dtype, packed.as_deref()), fill, options);
    let pieces = Pieces { dtype, packed, chunk, places, leading: 0, hole };
    Ok(Variable { name: name.into(), dims, shape, attributes, content: Content::Pieces(pieces) })
}

/// How the objects of a variable become values, if they are packed integers. The attributes then become what is true of the values.
fn packing(
    gathered: &Gathered,
    rows: &[(u32, &Row)],
    dtype: Dtype,
    attributes: &mut Attributes,
) -> Result<Option<Arc<Reading>>, String> {
    let mut found: Option<Option<Reading>> = None;
    // Of chunks, some have no attributes.
    for (_, row) in rows {
        let Some(own) = gathered.value(&row.cells, "attributes") else { continue };
        let own = Reading::of_maps(dtype, Some(&own), gathered.value(&row.cells, "netcdf").as_ref());
        if found.as_ref().is_some_and(|found| *found != own) {
            return Err("its objects are packed in different ways".into());
        }
        found = Some(own);
    }
    let Some(reading) = found.flatten() else { return Ok(None) };
    let stays = |(name, value): (String, Attribute)| {
        let value = match reading.fate(&name) {
            Fate::Stays => Some(value),
            Fate::Dropped => None,
            Fate::Becomes(numbers) => Some(of_numbers(numbers)),
        };
        value.map(|value| (name, value))
    };
    *attributes = std::mem::take(attributes).into_iter().filter_map(stays).collect();
    Ok(Some(Arc::new(reading)))
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
fn hole(name: &str, (dtype, packed): (Dtype, Option<&Reading>), fill: Option<Vec<u8>>, options: &OpenOptions) -> Hole {
    let of_values = packed.map_or(dtype, Reading::dtype);
    let own =
        fill.and_then(|fill| packed.map_or(Some(fill.clone()), |it| it.cells(fill).ok().map(|cells| cells.bytes)));
    options.hole_of(name, of_values).or_else(|| own.map(Hole::Fill)).unwrap_or_else(|| hole_of(of_values))
}

/// Unit and multiple of times of numpy, as attributes that faces turn into a type.
fn time_attributes(time: &Value<'_>) -> Attributes {
    let get = |key: &str| time.as_map().ok()?.get(key).ok().flatten();
    let kind = get("dtype").and_then(|kind| kind.as_str().ok()).unwrap_or("");
    let unit = get("unit").and_then(|unit| unit.as_str().ok()).unwrap_or("");
    let multiple = get("multiple").and_then(|multiple| multiple.as_u64().ok()).unwrap_or(1);
    vec![(NUMPY_DTYPE.into(), Attribute::Text(format!("{kind}[{multiple}{unit}]")))]
}

/// The element that a fill value of Zarr is.
fn fill_element(dtype: Dtype, value: &Value<'_>) -> Option<Vec<u8>> {
    let float = || match value.as_str() {
        Ok("NaN") => Some(f64::NAN),
        Ok("Infinity") => Some(f64::INFINITY),
        Ok("-Infinity") => Some(f64::NEG_INFINITY),
        _ => value.as_f64().ok(),
    };
    #[expect(clippy::cast_possible_truncation, reason = "elements of 32 bits hold the nearest float")]
    match dtype {
        Dtype::Float32 => Some((float()? as f32).to_ne_bytes().to_vec()),
        Dtype::Float64 => Some(float()?.to_ne_bytes().to_vec()),
        Dtype::Bitmask => whole_element(dtype, i128::from(value.as_bool().ok()?)),
        _ => whole_element(dtype, value.as_integer().ok()?),
    }
}

const fn is_bool(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::Bitmask)
}

/// A value in a map that an object has.
fn list_entry<'g>(gathered: &'g Gathered, row: &Row, map: &str, key: &str) -> Option<Value<'g>> {
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
    found.as_ref().map(of_map).unwrap_or_default()
}

/// The names of the dimensions of an object. Dimensions without a name are called by the variable and their number.
fn dimensions(gathered: &Gathered, row: &Row, count: usize, name: &str) -> Vec<String> {
    names(gathered.value(&row.cells, "dimensions").or_else(|| gathered.value(&row.cells, "dim_names")), count, name)
}

fn names(value: Option<Value<'_>>, count: usize, variable: &str) -> Vec<String> {
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

/// Variables of texts.
fn texts(gathered: &Gathered, abouts: &[&About], group: Option<&str>) -> Vec<Variable> {
    let mut found: Vec<Variable> = Vec::new();
    for about in abouts {
        let Some(texts) = gathered.value(&about.cells, &format!("{EXTRA}texts")) else { continue };
        let Ok(texts) = texts.as_map() else { continue };
        for (path, text) in texts.iter().filter_map(Result::ok) {
            let Some(name) = path.as_str().ok().and_then(|path| own_name(path, group)) else { continue };
            if found.iter().any(|known| known.name == name) {
                continue;
            }
            found.extend(text_variable(name, &text));
        }
    }
    found
}

fn text_variable(name: &str, text: &Value<'_>) -> Option<Variable> {
    let map = text.as_map().ok()?;
    let get = |key: &str| map.get(key).ok().flatten();
    let shape =
        get("shape")?.as_array().ok()?.iter().map(|len| len.ok()?.as_u64().ok()).collect::<Option<Vec<u64>>>()?;
    let values = get("values")?.as_array().ok()?;
    let values: Vec<String> =
        values.iter().map(|it| it.ok()?.as_str().ok().map(str::to_string)).collect::<Option<_>>()?;
    if product(&shape) != Some(values.len() as u64) {
        return None;
    }
    let dims = names(get("dimensions"), shape.len(), name);
    let mut attributes = get("attributes").as_ref().map(of_map).unwrap_or_default();
    // Characters whose encoding a file does not tell are bytes for readers.
    let is_characters = get("type").and_then(|kind| kind.as_str().ok()) == Some("char");
    if is_characters && !attributes.iter().any(|(name, _)| name == "_Encoding") {
        attributes.push((NUMPY_DTYPE.into(), Attribute::Text("S".into())));
    }
    Some(Variable { name: name.into(), dims, shape, attributes, content: Content::Texts(values) })
}
