//! Keys: looking them up in metadata, and choosing messages by them.
//!
//! A key is a dotted path. In a message it is looked up in the objects, the first that has it counts, then in the
//! message's annotations; `extra.KEY` looks there only. In an object it is looked up in that object, then in the
//! annotations. `version` is the version of the format.

use std::collections::BTreeMap;
use std::str::FromStr;

use clap::Args;
use serde_json::Value as Json;
use tgm_core::metadata::{MessageMetadata, ObjectMetadata};
use tgm_std::WIRE_VERSION;

use crate::show::json;

/// The message's annotations under the keys that objects are asked for, looked up once for all of them.
pub(crate) type Annotations = BTreeMap<String, Json>;

/// Where keys are looked up.
#[derive(Clone, Copy)]
pub(crate) enum Scope<'m, 'a> {
    /// In a message.
    Message(&'m MessageMetadata<'a>),
    /// In an object, then among the annotations of its message.
    Object(&'m ObjectMetadata<'a>, &'m Annotations),
}

impl Scope<'_, '_> {
    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> tgm_core::Result<Option<Json>> {
        if key == "version" {
            return Ok(Some(WIRE_VERSION.into()));
        }
        let found = match self {
            Self::Message(message) => message.get(key)?,
            Self::Object(object, annotations) => match object.get(key)? {
                None => return Ok(annotations.get(key).cloned()),
                found => found,
            },
        };
        found.map(|value| json::from_cbor(&value)).transpose()
    }

    /// The value of the first of `keys` that has one.
    pub(crate) fn first(&self, keys: &[&str]) -> tgm_core::Result<Option<Json>> {
        keys.iter().find_map(|key| self.get(key).transpose()).transpose()
    }
}

/// The annotations of a message under `keys`, with or without the prefix that says that they are meant.
pub(crate) fn annotations<'k>(
    message: &MessageMetadata<'_>,
    keys: impl IntoIterator<Item = &'k str>,
) -> tgm_core::Result<Annotations> {
    let mut found = Annotations::new();
    for key in keys {
        let is_prefixed = key.starts_with("extra.") || key.starts_with("_extra_.");
        let path = if is_prefixed { key.to_string() } else { format!("extra.{key}") };
        if let Some(value) = message.get(&path)? {
            found.insert(key.to_string(), json::from_cbor(&value)?);
        }
    }
    Ok(found)
}

/// A value as it is compared and listed: text as it is, anything else as JSON.
pub(crate) fn text(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => json::compact(other),
    }
}

/// Which messages, or objects, are wanted.
#[derive(Args, Debug)]
pub(crate) struct Filter {
    /// Only messages where KEY is one of the values (KEY!=...: none of them, or missing); may be repeated, all must hold
    #[arg(short = 'w', long = "where", value_name = "KEY=VALUE[/VALUE...]")]
    clauses: Vec<Clause>,
}

impl Filter {
    /// Whether nothing is left out.
    pub(crate) const fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// The keys that are looked at.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.clauses.iter().map(|clause| clause.key.as_str())
    }

    /// Whether every clause holds.
    pub(crate) fn matches(&self, scope: &Scope<'_, '_>) -> tgm_core::Result<bool> {
        for clause in &self.clauses {
            if !clause.matches(scope.get(&clause.key)?.as_ref()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// `KEY=VALUE[/VALUE…]` or `KEY!=VALUE[/VALUE…]`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Clause {
    key: String,
    values: Vec<String>,
    wanted: bool,
}

impl Clause {
    fn matches(&self, value: Option<&Json>) -> bool {
        value.is_some_and(|value| self.values.contains(&text(value))) == self.wanted
    }
}

impl FromStr for Clause {
    type Err = &'static str;

    fn from_str(clause: &str) -> Result<Self, Self::Err> {
        let (key, values) = clause.split_once('=').ok_or("expected KEY=VALUE or KEY!=VALUE")?;
        let (key, wanted) = key.strip_suffix('!').map_or((key, true), |key| (key, false));
        if key.is_empty() {
            return Err("the key is missing");
        }
        Ok(Self { key: key.to_string(), values: values.split('/').map(str::to_string).collect(), wanted })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn clauses_compare_text_and_treat_missing_keys_as_different() {
        let is: Clause = "step=6/24".parse().unwrap();
        assert!(is.matches(Some(&json!(24))) && is.matches(Some(&json!("6"))));
        assert!(!is.matches(Some(&json!(2))) && !is.matches(None));
        let is_not: Clause = "step!=6/24".parse().unwrap();
        assert!(!is_not.matches(Some(&json!(24))) && is_not.matches(Some(&json!(2))) && is_not.matches(None));
        assert_eq!("a=b=c".parse::<Clause>().unwrap().values, ["b=c"]);
        assert!(
            "step".parse::<Clause>().is_err() && "=1".parse::<Clause>().is_err() && "!=1".parse::<Clause>().is_err()
        );
    }
}
