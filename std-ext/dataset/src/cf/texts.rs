//! Variables of texts, which lie in metadata.

use tgm_core::cbor::Value;

use super::arrays::names;
use super::{NUMPY_DTYPE, own_name};
use crate::attributes::of_map;
use crate::gather::{About, EXTRA, Gathered};
use crate::model::{Attribute, Content, Variable, product};

/// Variables of texts.
pub(super) fn texts(gathered: &Gathered, abouts: &[&About], group: Option<&str>) -> Vec<Variable> {
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
