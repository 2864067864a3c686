//! Metadata from the command line: a JSON file, and single keys.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

use ciborium::Value;
use clap::Args;
use serde_json::Value as Json;
use tgm_std::file::SourceName;
use tgm_std::metadata::segments;
use tgm_std::{GlobalMetadata, RESERVED_KEY, TensogramError};

use crate::args::key_path::{KeyOwner, KeyPath};
use crate::args::values::{json, key_and_value, split, to_cbor};
use crate::write::destination::Failure;

/// A map with text keys.
type Entries = BTreeMap<String, Value>;

/// Flags for the metadata of messages and objects.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Metadata")]
pub(crate) struct MetadataFlags {
    /// JSON object with "base", one entry for every object or a list of them, and "extra", about the message
    #[arg(long, value_name = "FILE.json")]
    metadata: Option<PathBuf>,
    /// Set keys of every object, or of the message with extra.KEY; dots lead into maps; values are JSON (5 is
    /// an integer), and text otherwise; KEY:s=VALUE is text, KEY:i= an integer, KEY:d= a float
    #[arg(short = 's', long = "set", value_name = "KEY=VALUE,...")]
    settings: Vec<Settings>,
}

/// Metadata for messages that are being made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Described {
    base: Base,
    extra: Entries,
    settings: Vec<Setting>,
}

/// The entries of `base`.
#[derive(Clone, Debug)]
enum Base {
    /// One entry that every object gets.
    Same(Entries),
    /// One entry for each object.
    Each(Vec<Entries>),
}

impl Default for Base {
    fn default() -> Self {
        Self::Same(Entries::new())
    }
}

impl MetadataFlags {
    /// The metadata file, if the user gave one.
    pub(crate) const fn file(&self) -> Option<&PathBuf> {
        self.metadata.as_ref()
    }

    /// Reads the file, for messages with `count` objects in all.
    ///
    /// # Errors
    /// For a file that cannot be read, and for content that is not metadata.
    pub(crate) fn read(&self, count: usize) -> Result<Described, Failure> {
        let mut described = Described::default();
        if let Some(path) = &self.metadata {
            let place = SourceName::of(path).to_string();
            let text = std::fs::read_to_string(path).map_err(Failure::at(&*place))?;
            let json = json(&text).map_err(|error| Failure::said(&*place, error.to_string()))?;
            described = parse(json).map_err(|text| Failure::said(&*place, text))?;
            if let Base::Each(list) = &described.base
                && list.len() != count
            {
                let text = format!("base has {} entries, and there are {count} objects", list.len());
                return Err(Failure::said(place, text));
            }
        }
        described.settings = self.settings.iter().flat_map(|settings| settings.0.clone()).collect();
        // Settings that cannot be applied are reported here, before any input is read.
        described.of(0..count.min(1)).map_err(|text| Failure::said("-s", text))?;
        Ok(described)
    }
}

impl Described {
    /// The metadata of a message that holds the objects of these numbers.
    ///
    /// # Errors
    /// For a setting whose path leads into a value that is not a map, or that would replace a map.
    pub(crate) fn of(&self, objects: std::ops::Range<usize>) -> Result<GlobalMetadata, String> {
        let entry = |index| match &self.base {
            Base::Same(entry) => entry.clone(),
            Base::Each(list) => list.get(index).cloned().unwrap_or_default(),
        };
        let mut metadata =
            GlobalMetadata { base: objects.map(entry).collect(), reserved: Entries::new(), extra: self.extra.clone() };
        for Setting { key, value } in &self.settings {
            let set = |entries: &mut Entries| key.set(entries, value).map_err(words);
            match key.place() {
                KeyOwner::Extra => set(&mut metadata.extra)?,
                _ => metadata.base.iter_mut().try_for_each(set)?,
            }
        }
        Ok(metadata)
    }
}

fn parse(json: Json) -> Result<Described, String> {
    let Json::Object(entries) = json else { return Err("expected a JSON object".into()) };
    let mut described = Described::default();
    for (key, value) in entries {
        match (key.as_str(), value) {
            ("base", Json::Array(list)) => {
                let list = list.into_iter().map(|entry| entries_of(entry, "an entry of base"));
                described.base = Base::Each(list.collect::<Result<_, _>>()?);
            }
            ("base", entry) => described.base = Base::Same(entries_of(entry, "base")?),
            ("extra" | "_extra_", entry) => described.extra = entries_of(entry, "extra")?,
            (other, _) => return Err(format!("there is no place for {other:?}: only for \"base\" and \"extra\"")),
        }
    }
    Ok(described)
}

fn entries_of(json: Json, what: &str) -> Result<Entries, String> {
    let Json::Object(entries) = json else { return Err(format!("{what} is not a JSON object")) };
    if entries.contains_key(RESERVED_KEY) {
        return Err(format!("{what}: {RESERVED_KEY} is not for users to write"));
    }
    Ok(entries.into_iter().map(|(key, value)| (key, to_cbor(&value))).collect())
}

/// Several settings, separated by commas.
#[derive(Clone, Debug)]
struct Settings(Vec<Setting>);

/// One key and its value.
#[derive(Clone, Debug)]
struct Setting {
    key: KeyPath,
    value: Value,
}

impl FromStr for Settings {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        split(text).into_iter().map(Setting::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl Setting {
    fn parse(text: &str) -> Result<Self, String> {
        let (key, value) = key_and_value(text)?;
        let key = KeyPath::parse(key, |_, key| {
            format!("write {key}=... for all objects, or a list of entries under \"base\" in the file of --metadata")
        })?;
        if segments(key.path()).next() == Some(RESERVED_KEY) {
            return Err(format!("{RESERVED_KEY} is not for users to write"));
        }
        if matches!(key.place(), KeyOwner::Descriptor(_)) {
            return Err(format!("{}: descriptors are not set here; `tgm set` does", key.text()));
        }
        Ok(Self { key, value })
    }
}

/// The text of a metadata error without its prefix.
fn words(error: TensogramError) -> String {
    match error {
        TensogramError::Metadata(reason) => reason.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_that_cannot_be_set_are_refused() {
        for text in ["a", "=1", "a..b=1", ".a=1", "_reserved_.x=1", "a=1,", "extra=1", "base.0.x=1", "objects.0.x=1"] {
            assert!(text.parse::<Settings>().is_err(), "{text}");
        }
    }

    #[test]
    fn values_are_json_or_text_and_dots_lead_into_maps() {
        let settings: Settings = "mars.param=2t,mars.step=6,flag=true,extra.x.y=-1.5,name=\"6\"".parse().unwrap();
        let described = Described { settings: settings.0, ..Described::default() };
        let metadata = described.of(0..1).unwrap();
        let json = serde_json::to_value(&metadata).unwrap();
        let expected = json!({
            "base": [{"mars": {"param": "2t", "step": 6}, "flag": true, "name": "6"}], "_extra_": {"x": {"y": -1.5}}
        });
        assert_eq!(json, expected);
        for (conflict, text) in
            [("a=1,a.b=2", "cannot set a.b: a is not a map"), ("a.b=1,a=2", "cannot set a: it is a map;")]
        {
            let settings: Settings = conflict.parse().unwrap();
            let error = Described { settings: settings.0, ..Described::default() }.of(0..1).unwrap_err();
            assert!(error.starts_with(text), "{error}");
        }
    }

    #[test]
    fn metadata_has_base_and_extra_only() {
        assert!(
            parse(json!({"base": [1]})).is_err() && parse(json!({"bse": {}})).is_err() && parse(json!([])).is_err()
        );
        assert!(parse(json!({"base": {"_reserved_": {}}})).is_err());
    }
}
