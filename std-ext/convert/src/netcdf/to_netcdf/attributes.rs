//! Attributes of the file, of groups and of variables, and dimensions without a variable.

use std::collections::HashSet;
use std::fmt::Display;

use ciborium::Value;
use netcdf::{AttributeValue, FileMut, VariableMut};
use tgm_dataset::reading::FILL;
use tgm_std::{GlobalMetadata, Result};

use super::{CONVENTIONS, Nc, times};
use crate::dimensions::group_of;
use crate::given::Given;
use crate::maps::{get, map};
use crate::netcdf::attributes::attribute;
use crate::netcdf::names::safe;
use crate::netcdf::values::{Attribute, Values, groups_of_zarr, metadata};
use crate::netcdf::{DIMENSIONS, NETCDF, TYPES, types};
use crate::note::Notes;
use crate::tree::{Axis, Target as _, Tree};

impl Nc {
    /// Writes the attributes of the file and of groups, each once.
    pub(super) fn write_attributes(&mut self, global: &GlobalMetadata, notes: &mut Notes<'_>) {
        let of = |key| global.extra.get(key).and_then(Value::as_map).map_or(&[][..], Vec::as_slice);
        let (more, types_of_groups) = (of(NETCDF), map(of(NETCDF), "groups"));
        let mut all = vec![(String::new(), of("attributes"), map(more, TYPES))];
        // Attributes of the groups above an array of Zarr have no types.
        let groups = of("groups").iter().map(|it| (it, types_of_groups));
        for ((key, entries), types) in groups.chain(groups_of_zarr(global).iter().map(|it| (it, &[][..]))) {
            if let Some(key) = key.as_text() {
                let path: Vec<String> = key.split('/').filter(|part| !part.is_empty()).map(safe).collect();
                all.push((path.join("/"), entries.as_map().map_or(&[][..], Vec::as_slice), map(types, key)));
            }
        }
        for (group, entries, types) in all {
            if let Err(error) = self.add_group(&group) {
                notes.not_kept(format!("group {group}: {error}"));
                continue;
            }
            for (key, value) in entries {
                if let Err(what) = self.write_attribute(&group, (key, value), types) {
                    notes.not_kept(what);
                }
            }
        }
    }

    /// Writes an attribute of the file, or of a group, unless it is there.
    fn write_attribute(
        &mut self,
        group: &str,
        (key, value): (&Value, &Value),
        types: &[(Value, Value)],
    ) -> Result<(), String> {
        let name = key.as_text().ok_or("an attribute whose name is not text")?;
        let known = self.attributes.entry((group.to_string(), safe(name))).or_insert(Value::Null);
        if is_same(known, value) {
            return Ok(());
        }
        if *known != Value::Null {
            return Err(format!("attribute {name}: the file has another value for it"));
        }
        *known = value.clone();
        let value = attribute(value, get(types, name).and_then(Value::as_text)).ok_or_else(|| NONE.to_string());
        let written = value.and_then(|value| put_attribute(&mut self.file, group, name, value));
        written.map_err(|what| format!("attribute {name}: {what}"))
    }

    /// Says which convention the file follows.
    pub(super) fn put_conventions(&mut self, notes: &mut Notes<'_>) {
        let (name, value) = CONVENTIONS;
        let is_new = self.attributes.insert((String::new(), name.into()), value.into()).is_none();
        if is_new && let Err(what) = put_attribute(&mut self.file, "", name, value.into()) {
            notes.not_kept(format!("attribute {name}: {what}"));
        }
    }

    /// Makes the dimensions that no variable has.
    pub(super) fn write_dimensions(&mut self, tree: &mut Tree<Self>, given: &Given<'_>) -> Result<()> {
        let all = given.global.extra.get(DIMENSIONS).and_then(Value::as_map);
        for (path, len) in all.into_iter().flatten() {
            let len = len.as_integer().and_then(|len| u64::try_from(len).ok());
            if let (Some(path), Some(len)) = (path.as_text(), len) {
                let axis = Axis::of_path(path, len, given);
                let quiet = &mut Notes { place: String::new(), report: &mut |_| {} };
                tree.dimension(self, (group_of(path), None), &axis, quiet)?;
            }
        }
        Ok(())
    }
}

/// What is said of a value that no attribute can have.
const NONE: &str = "NetCDF has no such attributes";

/// Writes an attribute of a variable. `called` says what a note calls it.
pub(super) fn put_one(
    variable: &mut VariableMut<'_>,
    (name, called): (&str, &dyn Display),
    value: Option<AttributeValue>,
    notes: &mut Notes<'_>,
) {
    let put = |value| variable.put_attribute(&safe(name), value).map(drop).map_err(|error| error.to_string());
    if let Err(what) = value.map_or_else(|| Err(NONE.to_string()), put) {
        notes.not_kept(format!("attribute {called}: {what}"));
    }
}

/// Writes the attributes of the variable of an object, whose values are of the type that is called `kind`.
pub(super) fn put(
    variable: &mut VariableMut<'_>,
    (global, index): (&GlobalMetadata, usize),
    (values, kind): (&Values<'_>, &'static str),
    notes: &mut Notes<'_>,
) {
    let times = times::of_object(global, index, values.dtype);
    let is_told = |it: &Attribute<'_>| times.is_empty() || !it.name.starts_with(times::PREFIX);
    let attributes = values.attributes(kind).into_iter().chain(metadata(global, index).into_iter().filter(is_told));
    let attributes = attributes.chain(times.iter().map(|(name, value)| Attribute {
        name: (*name).to_string(),
        value: Some(value),
        kind: (*name == FILL).then_some(kind),
    }));
    let truth = Value::from("bool");
    let is_bool = values.is_bool.then(|| Attribute { name: "dtype".to_string(), value: Some(&truth), kind: None });
    let attributes = is_bool.into_iter().chain(attributes.filter(|it| !(values.is_bool && it.name == "dtype")));
    let mut taken = HashSet::new();
    for Attribute { name, value, kind: own } in attributes {
        let refusal = match value.and_then(|value| attribute(value, own)) {
            // The later one would replace the earlier one.
            Some(_) if !taken.insert(safe(&name)) => "there is one of this name already".to_string(),
            // It has to have the type of the values.
            Some(value) if name == FILL && types::of_attribute(&value) != kind => format!("it is not of type {kind}"),
            value => {
                put_one(variable, (&name, &name), value, notes);
                continue;
            }
        };
        notes.not_kept(format!("attribute {name}: {refusal}"));
    }
}

/// Whether two values of metadata are the same, NaN being the same as NaN.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => one.to_bits() == other.to_bits(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        _ => one == other,
    }
}

/// Writes an attribute of the file, or of a group.
fn put_attribute(file: &mut FileMut, group: &str, name: &str, value: AttributeValue) -> Result<(), String> {
    let name = safe(name);
    let written = if group.is_empty() {
        file.add_attribute(&name, value).map(drop)
    } else {
        match file.group_mut(group) {
            Ok(Some(mut group)) => group.add_attribute(&name, value).map(drop),
            Ok(None) => return Err(format!("group {group} is not there")),
            Err(error) => Err(error),
        }
    };
    written.map_err(|error| error.to_string())
}
