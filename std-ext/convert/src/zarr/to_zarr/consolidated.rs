//! The descriptions of all nodes in the one of the root, so that readers need not list folders, which servers of files cannot.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};
use tgm_std::TensogramError;

use super::boxes::write_description;
use super::{DESCRIPTION, Result};
use crate::error::{encoding, metadata, reason_in};

/// Adds the descriptions of all nodes below `root` to its own.
///
/// # Errors
/// [`TensogramError::Io`].
pub(super) fn consolidate(root: &Path) -> Result<()> {
    let mut nodes = BTreeMap::new();
    collect(root, "", &mut nodes)?;
    let mut json = description(root)?;
    if let Some(entries) = json.as_object_mut() {
        let all = json!({"kind": "inline", "must_understand": false, "metadata": nodes});
        entries.insert("consolidated_metadata".into(), all);
    }
    write_description(root, &json)
}

/// Adds the nodes below a group by their paths.
fn collect(folder: &Path, path: &str, nodes: &mut BTreeMap<String, Json>) -> Result<()> {
    let failed = |error| TensogramError::io(folder, &error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let below = entry.path();
        if !below.join(DESCRIPTION).is_file() {
            continue;
        }
        let name = entry.file_name().into_string();
        let name = name.map_err(|name| encoding(format!("the name of the folder {} is not text", name.display())))?;
        let path = if path.is_empty() { name } else { format!("{path}/{name}") };
        let json = description(&below)?;
        if json.get("node_type").and_then(Json::as_str) == Some("group") {
            collect(&below, &path, nodes)?;
        }
        nodes.insert(path, json);
    }
    Ok(())
}

fn description(folder: &Path) -> Result<Json> {
    let path = folder.join(DESCRIPTION);
    let bytes = fs::read(&path).map_err(|error| TensogramError::io(&path, &error))?;
    serde_json::from_slice(&bytes).map_err(|error| metadata(reason_in(DESCRIPTION)(error)))
}
