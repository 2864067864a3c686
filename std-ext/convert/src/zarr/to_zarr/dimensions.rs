//! Names of dimensions. Each group has its own: a reader opens one group, in which a name has one length.

use ciborium::Value;
use serde_json::Value as Json;
use tgm_std::GlobalMetadata;

use super::records::Record;
use super::{ZarrWriter, unnamed};
use crate::dimensions::{Dimension, Wanted, group_of, path_in, seen_from};
use crate::names::leaf;
use crate::texts::Texts;

/// The path of an array, and the names of its dimensions.
pub(super) type Placed = (String, Vec<String>);

impl ZarrWriter {
    /// The place of an object that is called `wanted`. xarray opens no store in which a dimension has no name, so lengths name
    /// these.
    pub(super) fn place_object(
        &mut self,
        wanted: &str,
        (global, index, shape): (&GlobalMetadata, usize, &[u64]),
        record: Option<Record<'_>>,
        tell: &mut dyn FnMut(String),
    ) -> Placed {
        let own = global.base.get(index).and_then(|entry| entry.get("dimensions")).and_then(Value::as_array);
        let own = own.filter(|names| names.len() == shape.len()).map_or(&[][..], Vec::as_slice);
        let mut own = own.iter().map(Value::as_text);
        let names: Vec<String> =
            unnamed(shape).into_iter().map(|unnamed| own.next().flatten().map_or(unnamed, str::to_string)).collect();
        self.place(wanted, (Some(index), &names, shape), record, tell)
    }

    /// The place of an array of texts that is called `wanted`.
    pub(super) fn place_texts(
        &mut self,
        (wanted, object): (&str, Option<usize>),
        texts: &Texts<'_>,
        tell: &mut dyn FnMut(String),
    ) -> Placed {
        let names = texts.dimensions.iter().zip(unnamed(&texts.shape));
        let names: Vec<String> = names.map(|(path, unnamed)| path.map_or(unnamed, |path| leaf(path).into())).collect();
        self.place(wanted, (object, &names, &texts.shape), None, tell)
    }

    /// The path of an array with a description from Zarr, whose dimensions get the names that they have in this store.
    ///
    /// Arrays of one store may have dimensions of one name with other lengths, as pictures of several sizes have: they stay, unless
    /// the dimension has labels.
    pub(super) fn place_array(
        &mut self,
        path: &str,
        (json, shape): (&mut Json, &[u64]),
        tell: &mut dyn FnMut(String),
    ) -> String {
        let group = group_of(&self.names.path_of(path)).to_string();
        let mut names = Vec::new();
        let list = json.get_mut("dimension_names").and_then(Json::as_array_mut);
        for (name, len) in list.filter(|list| list.len() == shape.len()).into_iter().flatten().zip(shape) {
            let Some(asked) = name.as_str().map(str::to_string) else {
                names.push((String::new(), String::new()));
                continue;
            };
            let is_other = |known: Dimension| known.labels.is_none() && known.len != *len;
            let stays = self.labels(Some(0), (group_of(path), &asked), *len).is_none()
                && self.dimensions.own(&group, &asked).is_some_and(is_other);
            if !stays {
                *name = self.dimension(&group, (Some(0), group_of(path), &asked), *len, tell).into();
            }
            names.push((asked, name.as_str().unwrap_or_default().to_string()));
        }
        self.dimensions.take_path(path, &names, &mut self.names)
    }

    fn place(
        &mut self,
        wanted: &str,
        (object, names, shape): (Option<usize>, &[String], &[u64]),
        record: Option<Record<'_>>,
        tell: &mut dyn FnMut(String),
    ) -> Placed {
        let group = group_of(&self.names.path_of(wanted)).to_string();
        let mut pairs = Vec::new();
        pairs.extend(record.map(|(_, dimension)| (dimension.to_string(), self.dimension_of_records(dimension))));
        for (name, len) in names.iter().zip(shape) {
            let asked = (object, group_of(wanted.trim_matches('/')), name.as_str());
            let taken = self.dimension(&group, asked, *len, tell);
            if group.is_empty() {
                self.note_unlimited(name, &taken, pairs.is_empty() && object.is_some() && *len > 0);
            }
            pairs.push((name.clone(), taken));
        }
        let path = self.dimensions.take_path(wanted, &pairs, &mut self.names);
        (path, pairs.into_iter().map(|(_, name)| name).collect())
    }

    /// The name of a dimension of an array in `group`, which the message calls by another path.
    fn dimension(
        &mut self,
        group: &str,
        (object, own_group, name): (Option<usize>, &str, &str),
        len: u64,
        tell: &mut dyn FnMut(String),
    ) -> String {
        let found = self.labels(object, (own_group, name), len);
        let has_variable = found.is_some_and(|(_, place)| place == own_group);
        let dimension = Dimension { len, is_unlimited: false, labels: found.map(|(labels, _)| labels) };
        let wanted = Wanted { group, place: Some(group), name, dimension, has_variable };
        let taken = self.dimensions.take(&wanted, &mut self.names);
        taken.told.into_iter().for_each(tell);
        taken.name
    }

    /// The labels along a dimension, in the group itself or the nearest above, and that group.
    fn labels<'g>(&self, object: Option<usize>, (group, name): (&'g str, &str), len: u64) -> Option<(u64, &'g str)> {
        seen_from(group).find_map(|group| Some((self.axes.labels(object, &path_in(group, name), len)?, group)))
    }
}
