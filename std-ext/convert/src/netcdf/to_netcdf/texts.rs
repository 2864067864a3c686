//! Variables of texts, which messages have as annotations.

use ciborium::Value;
use netcdf::types::NcVariableType;
use netcdf::{AttributeValue, Extent, VariableMut};
use tgm_std::{GlobalMetadata, Result};

use super::super::complex::Character;
use super::{Named, NetcdfWriter, at, attribute, extent, safe, unnamed};
use crate::dimensions::{Dimension, group_of};
use crate::error::encoding;
use crate::names::leaf;
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
                (Some(name), Some(texts)) => self.write_text((name, None), &texts, global, place, report)?,
            }
        }
        Ok(())
    }

    /// Writes a variable of texts, unless a message before had the same.
    pub(super) fn write_text(
        &mut self,
        (name, object): (&str, Option<usize>),
        texts: &Texts<'_>,
        global: &GlobalMetadata,
        place: &str,
        report: &mut dyn FnMut(Note),
    ) -> Result<()> {
        let labels = self.axes.of_texts(object, texts);
        if !self.texts.is_new(name, texts, &labels) {
            return Ok(());
        }
        let unlimited = global.extra.get("unlimited").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut wanted = Vec::new();
        let dimensions = texts.dimensions.iter().zip(&texts.shape).zip(labels).zip(unnamed(&texts.shape));
        for (((path, len), labels), unnamed) in dimensions {
            let is_unlimited = path.is_some() && unlimited.iter().any(|it| it.as_text() == *path);
            let place_of_dimension = path.map(|path| group_of(path).to_string());
            let dimension = Dimension { len: *len, is_unlimited, labels };
            wanted.push(Named::Wanted(
                path.map_or(unnamed, |path| leaf(path).to_string()),
                dimension,
                place_of_dimension,
            ));
        }
        let characters = texts.characters.and_then(|characters| Some((characters, texts.bytes()?)));
        if texts.characters.is_some() && characters.is_none() {
            report(Note::not_kept(place, format!("{name} as characters: a text is longer than their dimension")));
        }
        if let Some((path, len)) = characters.as_ref().and_then(|(characters, _)| characters.length) {
            let name = path.map_or_else(|| format!("string{len}"), |path| leaf(path).to_string());
            let dimension = Dimension { len, is_unlimited: false, labels: None };
            wanted.push(Named::Wanted(name, dimension, path.map(|path| group_of(path).to_string())));
        }
        let (path, names) = self.take_path((name, place), wanted, report)?;
        let names: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
        let values = texts.values.iter().copied();
        if let Some((characters, bytes)) = characters {
            let length = characters.length.map(|(_, len)| len);
            let mut variable =
                self.file.add_variable_with_type(&path, &names, &NcVariableType::Char).map_err(at(&self.path))?;
            put_attributes(&mut variable, texts.attributes_of_characters(), (name, place), report);
            let bytes: Vec<Character> = bytes.into_iter().map(Character).collect();
            if bytes.is_empty() {
                return Ok(());
            }
            // Records are there once they are written, so their number is said.
            let lens = texts.shape.iter().copied().chain(length);
            let extents: Vec<Extent> = lens.map(|len| extent(0, len)).collect();
            return variable.put_values(&bytes, extents).map_err(at(&self.path));
        }
        let mut variable = self.file.add_string_variable(&path, &names).map_err(at(&self.path))?;
        put_attributes(&mut variable, texts.attributes(), (name, place), report);
        put_texts(&mut variable, (&path, values), &texts.shape, report).map_err(at(&self.path))
    }
}

/// Writes the attributes of a variable of texts or of characters.
fn put_attributes<'m>(
    variable: &mut VariableMut<'_>,
    attributes: impl IntoIterator<Item = &'m (Value, Value)>,
    (name, place): (&str, &str),
    report: &mut dyn FnMut(Note),
) {
    let is_char = variable.vartype() == NcVariableType::Char;
    for (key, value) in attributes {
        let Some(key) = key.as_text() else {
            report(Note::not_kept(place, format!("an attribute of {name} whose name is not text")));
            continue;
        };
        let written = match attribute(value, None) {
            // It has to have the type of the values: one character, or a text.
            Some(AttributeValue::Str(fill)) if key == FILL && is_char => {
                (fill.len() == 1).then_some(AttributeValue::Str(fill))
            }
            Some(AttributeValue::Str(fill)) if key == FILL => Some(AttributeValue::Strs(vec![fill])),
            _ if key == FILL => None,
            written => written,
        };
        match written.map(|value| variable.put_attribute(&safe(key), value)) {
            Some(Ok(_)) => {}
            Some(Err(error)) => report(Note::not_kept(place, format!("attribute {key} of {name}: {error}"))),
            None => report(Note::not_kept(place, format!("attribute {key} of {name}: NetCDF has no such attributes"))),
        }
    }
}

/// Writes texts to a variable of this shape. NUL would end a text: a space takes its place, which is told.
pub(super) fn put_texts<'t>(
    variable: &mut VariableMut<'_>,
    (name, texts): (&str, impl Iterator<Item = &'t str>),
    shape: &[u64],
    report: &mut dyn FnMut(Note),
) -> Result<(), netcdf::Error> {
    let (mut index, mut with_nul) = (vec![0_usize; shape.len()], 0_u64);
    for text in texts {
        if text.contains('\0') {
            with_nul += 1;
            variable.put_string(&text.replace('\0', " "), index.as_slice())?;
        } else {
            variable.put_string(text, index.as_slice())?;
        }
        for (place, len) in index.iter_mut().zip(shape).rev() {
            *place += 1;
            if (*place as u64) < *len {
                break;
            }
            *place = 0;
        }
    }
    if with_nul > 0 {
        report(Note::not_kept(name, format!("NUL within {with_nul} of its texts: a space takes its place")));
    }
    Ok(())
}
