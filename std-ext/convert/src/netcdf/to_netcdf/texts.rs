//! Variables of texts, which messages have as annotations.

use ciborium::Value;
use netcdf::VariableMut;
use tgm_std::{GlobalMetadata, Result};

use super::{Named, NetcdfWriter, at, attribute, get, safe, unnamed};
use crate::netcdf::{DIMENSIONS, TEXTS};
use crate::note::Note;

/// A variable of texts, as the metadata of a message has it.
struct Texts<'m> {
    values: Vec<&'m str>,
    shape: Vec<u64>,
    /// Paths of dimensions.
    dimensions: Vec<Option<&'m str>>,
    attributes: &'m [(Value, Value)],
}

impl<'m> Texts<'m> {
    /// `None` if the texts do not fit their shape.
    fn read(map: &'m [(Value, Value)]) -> Option<Self> {
        let list = |key| get(map, key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let number = |value: &Value| value.as_integer().and_then(|len| u64::try_from(len).ok());
        let shape: Vec<u64> = list("shape").iter().map(number).collect::<Option<_>>()?;
        let values: Vec<&str> = list("values").iter().map(Value::as_text).collect::<Option<_>>()?;
        let count = shape.iter().try_fold(1_u64, |product, len| product.checked_mul(*len))?;
        let mut dimensions: Vec<Option<&str>> = list(DIMENSIONS).iter().map(Value::as_text).collect();
        dimensions.resize(shape.len(), None);
        let attributes = get(map, "attributes").and_then(Value::as_map).map_or(&[][..], Vec::as_slice);
        (count == values.len() as u64).then_some(Self { values, shape, dimensions, attributes })
    }
}

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
        let all = global.extra.get(TEXTS).and_then(Value::as_map).map_or(&[][..], Vec::as_slice);
        for (name, map) in all {
            let (Some(name), Some(map)) = (name.as_text(), map.as_map()) else {
                report(Note::not_kept(place, "texts without a name"));
                continue;
            };
            if self.names.is_taken(name) {
                continue;
            }
            match Texts::read(map) {
                None => report(Note::not_kept(place, format!("texts {name}: their number is not that of their shape"))),
                Some(texts) => self.write_text(name, &texts, global, place, report)?,
            }
        }
        Ok(())
    }

    fn write_text(
        &mut self,
        name: &str,
        texts: &Texts<'_>,
        global: &GlobalMetadata,
        place: &str,
        report: &mut dyn FnMut(Note),
    ) -> Result<()> {
        let path = self.names.take(name);
        let group = path.rsplit_once('/').map_or("", |(group, _)| group).to_string();
        self.add_group(&group).map_err(at(&self.path))?;
        let unlimited = global.extra.get("unlimited").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
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
        for (key, value) in texts.attributes {
            let written = key.as_text().zip(attribute(value, None)).filter(|(key, _)| *key != "_FillValue");
            match written {
                Some((key, value)) => {
                    variable.put_attribute(&safe(key), value).map_err(at(&self.path))?;
                }
                None => report(Note::not_kept(place, format!("an attribute of {name}: {key:?}"))),
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
