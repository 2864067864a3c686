//! Variables of texts, which messages have as annotations.

use ciborium::Value;
use netcdf::types::NcVariableType;
use netcdf::{AttributeValue, VariableMut};
use tgm_dataset::reading::FILL;
use tgm_std::Result;

use super::attributes::put_one;
use super::{Nc, at, extents};
use crate::dimensions::group_of;
use crate::names::leaf;
use crate::netcdf::attributes::attribute;
use crate::netcdf::complex::Character;
use crate::note::Notes;
use crate::texts::Texts;
use crate::tree::{Axis, Made, Tree};

impl Nc {
    /// Makes a variable of texts, or of characters if the file had these.
    pub(super) fn define_variable_of_texts(
        &mut self,
        tree: &mut Tree<Self>,
        &Made { path, dims, .. }: &Made<'_>,
        texts: &Texts<'_>,
        notes: &mut Notes<'_>,
    ) -> Result<String> {
        let mut names: Vec<String> = dims.to_vec();
        let characters = texts.characters.filter(|_| texts.bytes().is_some());
        if texts.characters.is_some() && characters.is_none() {
            notes.not_kept(format!("{path} as characters: a text is longer than their dimension"));
        }
        if let Some((of, len)) = characters.and_then(|characters| characters.length) {
            let name = of.map_or_else(|| format!("string{len}"), |of| leaf(of).to_string());
            let axis = Axis { name, place: of.map(group_of).map(str::to_string), len, ..Axis::default() };
            names.push(tree.dimension(self, (group_of(path), None), &axis, notes)?);
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let file = self.path.clone();
        if characters.is_some() {
            let added = self.file.add_variable_with_type(path, &names, &NcVariableType::Char);
            let all = texts.attributes_of_characters();
            put_attributes(&mut added.map_err(at(&file))?, all, path, notes);
        } else {
            let mut added = self.file.add_string_variable(path, &names).map_err(at(&file))?;
            put_attributes(&mut added, texts.attributes(), path, notes);
        }
        Ok(path.to_string())
    }

    /// Writes all texts of a variable.
    pub(super) fn put_values_of_texts(&mut self, path: &str, texts: &Texts<'_>, notes: &mut Notes<'_>) -> Result<()> {
        let file = self.path.clone();
        let mut variable = self.variable(path)?;
        if variable.vartype() != NcVariableType::Char {
            return put_texts(&mut variable, texts, notes).map_err(at(&file));
        }
        let bytes: Vec<Character> = texts.bytes().unwrap_or_default().into_iter().map(Character).collect();
        if bytes.is_empty() {
            return Ok(());
        }
        // Records are there once they are written, so their number is said.
        let length = texts.characters.and_then(|characters| characters.length).map(|(_, len)| len);
        let lens: Vec<u64> = texts.shape.iter().copied().chain(length).collect();
        variable.put_values(&bytes, extents(&vec![0; lens.len()], &lens)).map_err(at(&file))
    }
}

/// Writes the attributes of a variable of texts or of characters.
fn put_attributes<'m>(
    variable: &mut VariableMut<'_>,
    attributes: impl IntoIterator<Item = &'m (Value, Value)>,
    name: &str,
    notes: &mut Notes<'_>,
) {
    let is_char = variable.vartype() == NcVariableType::Char;
    for (key, value) in attributes {
        let Some(key) = key.as_text() else {
            notes.not_kept(format!("an attribute of {name} whose name is not text"));
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
        put_one(variable, (key, &format_args!("{key} of {name}")), written, notes);
    }
}

/// Writes texts to a variable. NUL would end a text: a space takes its place, which is reported.
fn put_texts(variable: &mut VariableMut<'_>, texts: &Texts<'_>, notes: &mut Notes<'_>) -> Result<(), netcdf::Error> {
    let (mut index, mut with_nul) = (vec![0_usize; texts.shape.len()], 0_u64);
    for text in &texts.values {
        if text.contains('\0') {
            with_nul += 1;
            variable.put_string(&text.replace('\0', " "), index.as_slice())?;
        } else {
            variable.put_string(text, index.as_slice())?;
        }
        for (place, len) in index.iter_mut().zip(&texts.shape).rev() {
            *place += 1;
            if (*place as u64) < *len {
                break;
            }
            *place = 0;
        }
    }
    if with_nul > 0 {
        let mut notes = notes.at(variable.name());
        notes.not_kept(format!("NUL within {with_nul} of its texts: a space takes its place"));
    }
    Ok(())
}
