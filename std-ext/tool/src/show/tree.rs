//! Metadata and parameters as an indented tree, for people: long arrays and strings are abbreviated.

use std::io::{self, Write};

use serde_json::{Map, Value as Json};

use crate::show::json::compact;
use crate::show::output::Out;
use crate::show::text::{escape, escaped, shorten};

/// Number of array items that are shown.
const ITEMS: usize = 8;
/// Limit on indentation. Deeper values stand on one line: indentation by depth would make nested maps take the square
/// of their bytes.
const INDENT: usize = 40;
/// Number of characters of a text that are shown.
const CHARACTERS: usize = 200;

/// Writes one entry a line, maps as indented entries. Values of one map are aligned.
pub(crate) fn tree(out: &mut Out, entries: &Map<String, Json>, indent: usize) -> io::Result<()> {
    lines(entries, indent).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// The lines of [`tree`].
pub(crate) fn lines(entries: &Map<String, Json>, indent: usize) -> Vec<String> {
    let mut found = Vec::new();
    collect(entries, indent, &mut found);
    found
}

fn collect(entries: &Map<String, Json>, indent: usize, lines: &mut Vec<String>) {
    let is_branch = |value: &Json| indent < INDENT && is_branch(value);
    let names = entries.iter().filter(|(_, value)| !is_branch(value)).map(|(name, _)| escape(name).chars().count());
    // One long name must not push the values of the others far to the right.
    let width = names.max().unwrap_or(0).min(30);
    for (name, value) in entries {
        let name = escape(&shorten(name, CHARACTERS));
        match value {
            Json::Object(map) if is_branch(value) => {
                lines.push(format!("{:indent$}{name}", ""));
                collect(map, indent + 2, lines);
            }
            leaf => lines.push(format!("{:indent$}{name:width$}  {}", "", inline(leaf))),
        }
    }
}

/// Whether the value is a map that gets lines of its own.
fn is_branch(value: &Json) -> bool {
    value.as_object().is_some_and(|map| !map.is_empty() && map.keys().all(|key| !key.starts_with('$')))
}

/// A value on one line.
pub(crate) fn inline(value: &Json) -> String {
    match value {
        Json::String(text) => escaped(shorten(text, CHARACTERS)),
        Json::Array(items) => shorten(&array(items), CHARACTERS),
        Json::Object(map) => {
            let entry = |(name, value): (&String, &Json)| format!("{}: {}", escape(name), inline(value));
            let entries = map.iter().map(entry).collect::<Vec<_>>().join(", ");
            shorten(&format!("{{{entries}}}"), CHARACTERS)
        }
        scalar => compact(scalar),
    }
}

fn array(items: &[Json]) -> String {
    let mut shown: Vec<_> = items.iter().take(ITEMS).map(inline).collect();
    if items.len() > ITEMS {
        shown.push(format!("… ({} items)", items.len()));
    }
    format!("[{}]", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_values_are_abbreviated() {
        assert_eq!(inline(&json!([1, 2])), "[1, 2]");
        assert_eq!(inline(&json!((0..10).collect::<Vec<_>>())), "[0, 1, 2, 3, 4, 5, 6, 7, … (10 items)]");
        assert_eq!(inline(&json!("a\nb")), "a\\nb");
        assert_eq!(inline(&json!({"$float": "nan"})), "{$float: nan}");
    }
}
