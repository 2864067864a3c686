//! The label as JSON: strict reading, and writing as ZIO's C++ does it.

use serde_json::{Map, Value as Json};

use crate::wire::{Error, ErrorKind as K};

/// The members of a JSON object.
pub(super) type Members = Map<String, Json>;

/// The key of the label that describes tensors.
pub(super) const TENS: &str = "TENS";
/// The key of TENS that lists tensors.
pub(super) const TENSORS: &str = "tensors";
/// The key of TENS, and of a tensor, for the application's metadata.
pub(super) const METADATA: &str = "metadata";

/// Reads a label. The last of repeated keys counts. Nesting is limited to 128.
///
/// # Errors
/// [`K::LabelNotUtf8`], [`K::LabelNotJson`], [`K::LabelNotObject`].
pub(super) fn parse(label: &[u8]) -> Result<Members, Error> {
    let text = std::str::from_utf8(label).map_err(|error| K::LabelNotUtf8.at_byte(error.valid_up_to()))?;
    match serde_json::from_str(text) {
        Ok(Json::Object(members)) => Ok(members),
        Ok(_) => Err(K::LabelNotObject.in_label()),
        Err(error) => Err(K::LabelNotJson.at_byte(offset(text, error.line(), error.column()))),
    }
}

/// The byte offset of a JSON reader's line and column, both counted from 1.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    before.saturating_add(column.saturating_sub(1)).min(text.len())
}

/// Writes a label as ZIO's C++ does: keys sorted at every level, no spaces, UTF-8 without escapes.
pub(super) fn write(members: Members) -> String {
    let mut label = Json::Object(members);
    label.sort_all_objects();
    label.to_string()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_repeated_keys_counts() {
        assert_eq!(parse(br#"{"a":1,"b":2,"a":3}"#).unwrap()["a"], 3);
    }

    #[test]
    fn errors_name_the_byte() {
        for (label, offset) in [(&b"{\"a\":\n NaN}"[..], 7), (b"{}x", 2), (b"", 0)] {
            let error = parse(label).unwrap_err();
            assert_eq!(error.kind(), K::LabelNotJson, "{label:?}");
            assert!(error.offset().unwrap().abs_diff(offset) <= 1, "{error}");
        }
        assert_eq!(parse(b"{\"a\xFF").unwrap_err(), K::LabelNotUtf8.at_byte(3));
        assert_eq!(parse(b"\xEF\xBB\xBF{}").unwrap_err().kind(), K::LabelNotJson);
        assert_eq!(parse(b"{}\0").unwrap_err().kind(), K::LabelNotJson);
    }

    #[test]
    fn nesting_is_bounded() {
        let label = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(parse(label.as_bytes()).unwrap_err().kind(), K::LabelNotJson);
    }

    #[test]
    fn labels_are_written_sorted_and_compact() {
        let label = "{\"b\": {\"z\": 1, \"a\": [1.5, {\"y\": 2, \"x\": \"µ\"}]}, \"a\": null}";
        assert_eq!(write(parse(label.as_bytes()).unwrap()), r#"{"a":null,"b":{"a":[1.5,{"x":"µ","y":2}],"z":1}}"#);
    }
}
