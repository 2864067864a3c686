//! Which objects keep their values where lossy stages are asked for: coordinates, moments and codes.

use std::collections::{BTreeMap, BTreeSet};

use ciborium::Value;
use tgm_core::descriptor::Dtype;
use tgm_dataset::{are_codes, coordinates_by};

/// What the metadata of one object say.
pub(crate) type About = BTreeMap<String, Value>;

/// The name of an object. Names of groups come before it.
fn name(about: &About) -> &str {
    let path = about.get("name").and_then(Value::as_text).unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default()
}

fn attribute<'a>(about: &'a About, key: &str) -> Option<&'a Value> {
    let attributes = about.get("attributes")?.as_map()?;
    attributes.iter().find(|(name, _)| name.as_text() == Some(key)).map(|(_, value)| value)
}

/// The names of coordinates that these objects tell.
pub(crate) fn coordinates<'a>(objects: impl IntoIterator<Item = &'a About>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for about in objects {
        let dims = about.get("dimensions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let dims: Vec<_> = dims.iter().map(|dim| dim.as_text().unwrap_or_default()).collect();
        let text = |key: &str| attribute(about, key)?.as_text();
        names.extend(coordinates_by(name(about), &dims, text).map(str::to_string));
    }
    names
}

/// Whether an object of this type keeps its values, beside coordinates with these names.
pub(crate) fn keeps_values(dtype: Dtype, about: Option<&About>, coordinates: &BTreeSet<String>) -> bool {
    let attribute = |key: &str| about.and_then(|about| attribute(about, key)).map(Value::as_text);
    about.is_some_and(|about| coordinates.contains(name(about))) || are_codes(dtype, attribute)
}
