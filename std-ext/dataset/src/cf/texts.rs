//! Variables of texts, which lie in metadata.

use tgm_core::cbor::Value;

use super::arrays::names;
use super::{NUMPY_DTYPE, own_name};
use crate::attributes::of_map;
use crate::gather::{About, EXTRA, Gathered};
use crate::model::{Attribute, Content, LeftOut, Variable, product};

/// Variables of texts. What cannot be one is added to `left_out`.
pub(super) fn texts(
    gathered: &Gathered,
    abouts: &[&About],
    group: Option<&str>,
    left_out: &mut Vec<LeftOut>,
) -> Vec<Variable> {
    let mut found: Vec<Variable> = Vec::new();
    let mut refuse = |name: &str, why: &str| {
        // Each message of a file may have the same ones.
        if !left_out.iter().any(|it: &LeftOut| it.name == name && it.why == why) {
            left_out.push(LeftOut { name: name.into(), what: "texts".into(), why: why.into(), objects: 0 });
        }
    };
    for about in abouts {
        // Most messages have no texts.
        let Some(texts) = gathered.value(&about.cells, &format!("{EXTRA}texts")) else { continue };
        let Ok(texts) = texts.as_map() else {
            refuse("texts", "the metadata have no map of them");
            continue;
        };
        for entry in &texts {
            let path = entry.as_ref().ok().and_then(|(path, _)| path.as_str().ok());
            let (Ok((_, text)), Some(path)) = (&entry, path) else {
                refuse("texts", "their name is not a text");
                continue;
            };
            let Some(name) = own_name(path, group) else {
                refuse(path, "it is in another group");
                continue;
            };
            let known = found.iter().find(|known| known.name == name);
            match (text_variable(name, text), known) {
                (None, _) => refuse(name, "its shape and its values do not fit each other"),
                (Some(variable), None) => found.push(variable),
                (Some(variable), Some(known)) if !is_same(&variable, known) => {
                    refuse(name, "another message has other texts under this name");
                }
                (Some(_), Some(_)) => {}
            }
        }
    }
    found
}

/// Whether two variables of one name have the same dimensions and texts.
fn is_same(one: &Variable, other: &Variable) -> bool {
    let texts = |it: &Variable| if let Content::Texts(texts) = &it.content { Some(texts.clone()) } else { None };
    (&one.dims, &one.shape, texts(one)) == (&other.dims, &other.shape, texts(other))
}

/// A variable of texts. `None` if it has no list of texts, or not as many as its shape says.
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
