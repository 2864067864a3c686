//! Variables of texts, which messages have as annotations.

use ciborium::Value;
use netcdf::types::NcVariableType;
use netcdf::{AttributeValue, VariableMut};
use tgm_dataset::reading::FILL;

use super::attributes::put_one;
use crate::netcdf::attributes::attribute;
use crate::note::Notes;
use crate::texts::Texts;

/// Writes the attributes of a variable of texts or of characters.
pub(super) fn put_attributes<'m>(
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
pub(super) fn put_texts(
    variable: &mut VariableMut<'_>,
    texts: &Texts<'_>,
    notes: &mut Notes<'_>,
) -> Result<(), netcdf::Error> {
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
