//! Arrays with a description from Zarr, which become what they were.

use std::collections::BTreeMap;

use ciborium::Value;
use serde_json::{Map, Value as Json};
use tgm_core::object::DataObject;
use tgm_dataset::zarr_form;
use tgm_std::metadata::json::from_cbor;
use tgm_std::{DecodeLimits, GlobalMetadata, TensogramError};
use zarrs::metadata::v3::MetadataV3;

use super::{Folder, Result, chunk_shape, usual_codecs};
use crate::dimensions::{Dimension, group_of, path_in, seen_from};
use crate::error::metadata;
use crate::given::{Given, elements};
use crate::note::Notes;
use crate::tree::{Axis, BoxOf, Tree, WriteOptions};
use crate::zarr::ZARR;
use crate::zarr::attributes;
use crate::zarr::codecs::make_writable;
use crate::zarr::describe::{Array, numbers};
use crate::zarr::element::Element;

impl Folder {
    /// The array that a message was made of, and the first index of each object in it. What does not fit is reported, and the
    /// objects are written as any others.
    pub(super) fn restored(&self, given: &Given<'_>, notes: &mut Notes<'_>) -> Option<(Restored, Vec<Vec<u64>>)> {
        given.global.extra.get(ZARR)?;
        let what = match Restored::of(given, &self.options) {
            Ok(restored) => match restored.check(given.objects, given.global, &given.decode.limits) {
                Ok(boxes) => return Some((restored, boxes)),
                Err(error) => told_plainly(&error),
            },
            Err(error) => format!("the array it was: {}", told_plainly(&error)),
        };
        notes.not_kept(what);
        None
    }

    /// Writes an array with its description from Zarr.
    pub(super) fn restore(
        &mut self,
        tree: &mut Tree<Self>,
        (restored, boxes): (Restored, &[Vec<u64>]),
        given: &Given<'_>,
        notes: &mut Notes<'_>,
    ) -> Result<()> {
        let attributes = restored.attributes(given.global, &mut |what| notes.not_kept(what));
        let Restored { path, name, mut json, array, .. } = restored;
        let changed = json.get_mut("codecs").map(make_writable).unwrap_or_default();
        if !changed.is_empty() {
            notes.not_kept(format!("codec {}: zstd is written", changed.join(", ")));
        }
        if let Some(map) = json.as_object_mut().filter(|_| !attributes.is_empty()) {
            map.insert("attributes".into(), attributes.into());
        }
        // An array at the root is a store by itself, so nothing else fits beside it.
        let (is_root, is_first) = (path.is_empty(), given.number == 0 && path.is_empty());
        let path = name.unwrap_or(path);
        let taken =
            if is_first { String::new() } else { self.place_array(tree, &path, (&mut json, &array.shape), notes)? };
        if !is_first && (is_root || taken != path) {
            let path = if is_root { "" } else { &path };
            notes.not_kept(format!("the array's path {path:?}: it becomes {taken:?}"));
        }
        let handle = self.handle(&taken, json)?;
        self.is_array = is_first;
        for (index, (object, origin)) in given.objects.iter().zip(boxes).enumerate() {
            match elements(object, given.decode) {
                Ok(elements) => {
                    self.write_box(&handle, BoxOf { origin, shape: &given.shape(index) }, &elements)?;
                }
                Err(error) => notes.at(given.place(index)).failed(error),
            }
        }
        Ok(())
    }

    /// The path of an array with a description from Zarr, whose dimensions get the names that they have in this store.
    ///
    /// Arrays of one store may have dimensions of one name with other lengths, as pictures of several sizes have: they stay, unless
    /// the dimension has labels.
    fn place_array(
        &mut self,
        tree: &mut Tree<Self>,
        path: &str,
        (json, shape): (&mut Json, &[u64]),
        notes: &mut Notes<'_>,
    ) -> Result<String> {
        let group = group_of(&tree.names.path_of(path)).to_string();
        let own_group = group_of(path);
        let mut names = Vec::new();
        let list = json.get_mut("dimension_names").and_then(Json::as_array_mut);
        for (name, len) in list.filter(|list| list.len() == shape.len()).into_iter().flatten().zip(shape) {
            let Some(asked) = name.as_str().map(str::to_string) else {
                names.push((String::new(), String::new()));
                continue;
            };
            let is_other = |known: Dimension| known.labels.is_none() && known.len != *len;
            let has_labels = |group| tree.axes.labels(Some(0), &path_in(group, &asked), *len).is_some();
            let stays =
                !seen_from(own_group).any(has_labels) && tree.dimensions.own(&group, &asked).is_some_and(is_other);
            if !stays {
                let axis = Axis { name: asked.clone(), own_group: own_group.to_string(), len: *len, ..Axis::default() };
                *name = tree.dimension(self, (&group, Some(0)), &axis, notes)?.into();
            }
            names.push((asked, name.as_str().unwrap_or_default().to_string()));
        }
        Ok(tree.dimensions.take_path(path, &names, &mut tree.names))
    }
}

/// An array that a message was made of.
pub(super) struct Restored {
    path: String,
    /// What its first object is called, which may have got another name since then. An array at the root has that of its store.
    name: Option<String>,
    json: Json,
    array: Array,
    /// Whether the description says what stands for chunks that are missing. Saved datasets do not: all of theirs are there.
    has_fill: bool,
}

impl Restored {
    fn of(given: &Given<'_>, options: &WriteOptions) -> Result<Self> {
        let global = given.global;
        let get = |key: &str| global.get_value(&format!("extra.{ZARR}.{key}"));
        let path = get("path").and_then(Value::as_text).ok_or_else(|| metadata("extra.zarr has no path"))?;
        // Attributes may have what JSON lacks, and are asked for apart.
        let recorded = get("array").and_then(Value::as_map).ok_or_else(|| metadata("extra.zarr has no array"))?;
        let is_described = |(key, _): &&(Value, Value)| key.as_text() != Some("attributes");
        let recorded = Value::Map(recorded.iter().filter(is_described).cloned().collect());
        let mut json = from_cbor(&recorded, "extra.zarr.array")?;
        let has_fill = !json.get("fill_value").is_none_or(Json::is_null);
        if let (false, Some(name)) = (has_fill, json.get("data_type").and_then(Json::as_str)) {
            // A store has to name one. No chunk takes it.
            json["fill_value"] = Element::parse(&MetadataV3::new(name))?.usual_fill(true);
        }
        let mut array = Array::parse(&json)?;
        if options.chunks.is_some() {
            let chunk = chunk_shape(&array.shape, options.chunks.as_deref());
            let codecs = usual_codecs(array.element, options.zstd_level);
            let map = json.as_object_mut().ok_or_else(|| metadata("extra.zarr.array is not a map"))?;
            map.insert("chunk_grid".into(), zarr_form::regular(&chunk));
            map.insert("codecs".into(), codecs);
            array = Array::parse(&json)?;
        }
        let name = given.called(0).filter(|name| !name.is_empty());
        Ok(Self { path: path.to_string(), name, json, array, has_fill })
    }

    /// The attributes of the array: of the first object that has some. A message without objects has them beside the description,
    /// where messages of older versions have them too.
    fn attributes(&self, global: &GlobalMetadata, tell: &mut dyn FnMut(String)) -> Map<String, Json> {
        let of_objects = global.base.iter().find_map(|entry| entry.get("attributes").and_then(Value::as_map));
        let beside = || global.get_value(&format!("extra.{ZARR}.array.attributes")).and_then(Value::as_map);
        let entries = of_objects.or_else(beside).map_or(&[][..], Vec::as_slice);
        attributes::of_map(entries, self.array.element.dtype, tell)
    }

    /// The first index of each object in the array.
    fn check(
        &self,
        objects: &[DataObject<'_>],
        global: &GlobalMetadata,
        limits: &DecodeLimits,
    ) -> Result<Vec<Vec<u64>>> {
        let array = &self.array;
        array.grid(limits)?;
        let place = |(index, object): (usize, &DataObject<'_>)| {
            let descriptor = object.descriptor();
            if descriptor.dtype() != array.element.dtype {
                let name = array.element.name();
                let found = descriptor.dtype();
                return Err(metadata(format!("data type {name} of the array: object {index} is {found}")));
            }
            let shape: Vec<u64> = descriptor.shape().iter().collect();
            let own = global.base.get(index).and_then(|entry| entry.get(ZARR));
            let origin = match own.map(|own| from_cbor(own, ZARR)).transpose()? {
                Some(zarr) => numbers(zarr.get("origin").unwrap_or(&Json::Null), "origin")?,
                None if shape == array.shape => vec![0; shape.len()],
                None => return Err(metadata(format!("the array: object {index} has no origin in it"))),
            };
            let ends = origin.iter().zip(&shape).map(|(at, len)| at.checked_add(*len));
            let is_within = ends.zip(&array.shape).all(|(end, dim)| end.is_some_and(|end| end <= *dim));
            let dims = array.shape.len();
            if origin.len() != dims || shape.len() != dims || !is_within {
                let whole = &array.shape;
                return Err(metadata(format!("the array: object {index} is not within its shape {whole:?}")));
            }
            Ok(origin)
        };
        let boxes: Vec<Vec<u64>> = objects.iter().enumerate().map(place).collect::<Result<_>>()?;
        if !self.has_fill && !self.is_full(objects, &boxes) {
            return Err(metadata("the array: objects are missing, and it does not say which value stands for them"));
        }
        Ok(boxes)
    }

    /// Whether the objects, which begin at these indices, have all elements of the array.
    fn is_full(&self, objects: &[DataObject<'_>], boxes: &[Vec<u64>]) -> bool {
        let lens = objects.iter().map(|object| object.descriptor().element_count());
        let by_origin: BTreeMap<&Vec<u64>, u64> = boxes.iter().zip(lens).collect();
        let count = by_origin.values().try_fold(0_u64, |all, len| all.checked_add(*len));
        count.is_some() && count == self.array.shape.iter().try_fold(1_u64, |all, len| all.checked_mul(*len))
    }
}

/// What an error says, without its kind: a note is not an error.
fn told_plainly(error: &TensogramError) -> String {
    match error {
        TensogramError::Metadata(reason) | TensogramError::Encoding(reason) => reason.to_string(),
        other => other.to_string(),
    }
}
