//! Variables of texts, which messages have as annotations.

use netcdf::{AttributeValue, VariableMut};
use tgm_std::{GlobalMetadata, Result};

use super::{Named, NetcdfWriter, at, attribute, safe, unnamed};
use crate::error::encoding;
use crate::note::Note;
use crate::texts::Texts;
use tgm_dataset::reading::FILL;

impl NetcdfWriter {
    /// Writes variables of texts. Each message of a file repeats them.
    pub(super) fn write_texts(
        &mut self,
        global: &GlobalMetadata,
        place: &str,
        report: &mut dyn FnMut(Note),
    ) -> Result<()> {
        if global.extra.contains_key("links") && self.messages == 1 {
            report(Note::not_kept(place, "links: NetCDF has one name for each variable"));
        }
        for (name, texts) in Texts::of_message(global) {
            match (name, texts) {
                (None, _) => report(Note::failed(place, encoding("texts have no name"))),
                (Some(name), None) => {
                    let what = format!("texts {name}: their number is not that of their shape");
                    report(Note::failed(place, encoding(what)));
                }
                (Some(name), Some(texts)) => self.write_text(name, &texts, global, place, report)?,
            }
        }
        Ok(())
    }

    /// Writes a variable of texts, unless a message before had the same.
    pub(super) fn write_text(
        &mut self,
        name: &str,
        texts: &Texts<'_>,
        global: &GlobalMetadata,
        place: &str,
        report: &mut dyn FnMut(Note),
    ) -> Result<()> {
        if !self.texts.is_new(name, texts) {
            return Ok(());
        }
        let path = self.names.take(name);
        if path != name.trim_matches('/') {
            report(Note::not_kept(place, format!("the name {name:?}: it becomes {path:?}")));
        }
        let group = path.rsplit_once('/').map_or("", |(group, _)| group).to_string();
        self.add_group(&group).map_err(at(&self.path))?;
        let unlimited =
            global.extra.get("unlimited").and_then(ciborium::Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut names = Vec::new();
        for ((path, len), unnamed) in texts.dimensions.iter().zip(&texts.shape).zip(unnamed(&texts.shape)) {
            let (place_of_dimension, name) = match path {
                Some(path) => path.rsplit_once('/').map_or((Some(""), *path), |(group, name)| (Some(group), name)),
                None => (None, unnamed.as_str()),
            };
            let is_unlimited = path.is_some() && unlimited.iter().any(|it| it.as_text() == *path);
            let wanted = Named::Wanted(name.to_string(), *len, is_unlimited, place_of_dimension.map(str::to_string));
            let taken = self.dimension(&group, wanted, place, report)?;
            if is_unlimited && place_of_dimension == Some("") {
                self.records.of_texts.insert(taken.clone());
            }
            names.push(taken);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut variable = self.file.add_string_variable(&path, &names).map_err(at(&self.path))?;
        for (key, value) in texts.attributes() {
            let Some(key) = key.as_text() else {
                report(Note::not_kept(place, format!("an attribute of {name} whose name is not text")));
                continue;
            };
            let written = match attribute(value, None) {
                // It has to have the type of the values.
                Some(AttributeValue::Str(fill)) if key == FILL => Some(AttributeValue::Strs(vec![fill])),
                _ if key == FILL => None,
                written => written,
            };
            match written.map(|value| variable.put_attribute(&safe(key), value)) {
                Some(Ok(_)) => {}
                Some(Err(error)) => report(Note::not_kept(place, format!("attribute {key} of {name}: {error}"))),
                None => {
                    report(Note::not_kept(place, format!("attribute {key} of {name}: NetCDF has no such attributes")));
                }
            }
        }
        put(&mut variable, texts).map_err(at(&self.path))
    }
}

fn put(variable: &mut VariableMut<'_>, texts: &Texts<'_>) -> Result<(), netcdf::Error> {
    let mut index = vec![0_usize; texts.shape.len()];
    for value in &texts.values {
        variable.put_string(value, index.as_slice())?;
        for (place, len) in index.iter_mut().zip(&texts.shape).rev() {
            *place += 1;
            if (*place as u64) < *len {
                break;
            }
            *place = 0;
        }
    }
    Ok(())
}
