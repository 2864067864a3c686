//! The form of a listing: text, CSV or JSON, in which order, and how much of it.

use std::cmp::Ordering;
use std::str::FromStr;

use serde_json::Value as Json;
use tgm_std::metadata::query::compare::Number;

/// The notation of a listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Notation {
    /// Text for people.
    #[default]
    Text,
    /// Rows with commas between values, below a row of titles.
    Csv,
    /// One JSON document.
    Json,
    /// A line of JSON for each item.
    JsonLines,
}

/// The form of a listing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    /// The notation.
    pub(crate) notation: Notation,
    /// The number of rows or items that are listed at most.
    pub(crate) limit: Option<u64>,
    /// The keys by which rows or items are sorted, the first one counts most.
    pub(crate) sort: Vec<SortKey>,
}

/// A key to sort by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SortKey {
    /// The title of a column, or a key of the metadata.
    pub(crate) key: String,
    /// Whether the greatest value comes first.
    pub(crate) descending: bool,
}

impl FromStr for SortKey {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (key, descending) = match text.rsplit_once(':') {
            Some((key, "desc")) => (key, true),
            Some((key, "asc")) => (key, false),
            _ => (text, false),
        };
        let key = key.to_string();
        if key.is_empty() { Err("expected KEY, KEY:asc or KEY:desc") } else { Ok(Self { key, descending }) }
    }
}

impl Form {
    /// Sorts `rows`, and drops those beyond the limit. `value` is the value of a row for the sort key of a number.
    /// Returns a sentence for each key that no row has.
    pub(crate) fn arrange<R>(&self, rows: &mut Vec<R>, value: impl Fn(&R, usize) -> String) -> Vec<String> {
        if self.sort.is_empty() {
            return Vec::new();
        }
        let is_nowhere = |number: usize| !rows.is_empty() && rows.iter().all(|row| value(row, number).is_empty());
        let nowhere = self.sort.iter().enumerate().filter(|(number, _)| is_nowhere(*number));
        let told =
            nowhere.map(|(_, sort)| format!("cannot sort by {}: 0 of {} have it", sort.key, rows.len())).collect();
        rows.sort_by(|a, b| {
            let by_key = self.sort.iter().enumerate().map(|(number, key)| {
                let (a, b) = (value(a, number), value(b, number));
                // A row without the value stays behind the others in both directions.
                match (a.is_empty(), b.is_empty()) {
                    (false, false) if key.descending => compare(&b, &a),
                    (false, false) => compare(&a, &b),
                    (a, b) => a.cmp(&b),
                }
            });
            by_key.fold(Ordering::Equal, Ordering::then)
        });
        rows.truncate(self.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX));
        told
    }
}

/// Two numbers compare as numbers, without rounding; all else as text.
fn compare(a: &str, b: &str) -> Ordering {
    match (number(a), number(b)) {
        // NaN stands after all other numbers.
        (Some(a), Some(b)) => a.order(b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b))),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

fn number(text: &str) -> Option<Number> {
    let integer = text.parse().ok().map(Number::Integer);
    integer.or_else(|| text.parse().ok().map(Number::Float))
}

const fn is_nan(number: Number) -> bool {
    matches!(number, Number::Float(float) if float.is_nan())
}

/// The value of a JSON item for a sort key: of its values, of the item itself, or of its first object.
pub(crate) fn of_item<'j>(item: &'j Json, key: &str) -> Option<&'j Json> {
    let own = item.get("values").and_then(|values| values.get(key)).or_else(|| item.get(key));
    own.or_else(|| of_item(item.get("objects")?.get(0)?, key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sorted(keys: &[&str], limit: Option<u64>, rows: &[[&str; 2]]) -> Vec<String> {
        let sort = keys.iter().map(|key| key.parse().unwrap()).collect();
        let mut rows = rows.to_vec();
        let told = Form { sort, limit, notation: Notation::Text }.arrange(&mut rows, |row, key| row[key].to_string());
        assert_eq!(told, [""; 0]);
        rows.iter().map(|row| row.concat()).collect()
    }

    #[test]
    fn numbers_sort_as_numbers_and_missing_values_come_last() {
        let rows = [["10", "b"], ["9", "a"], ["", "c"], ["x", "d"], ["9", "b"]];
        assert_eq!(sorted(&["k"], None, &rows), ["9a", "9b", "10b", "xd", "c"]);
        assert_eq!(sorted(&["k:desc", "l:desc"], Some(3), &rows), ["xd", "10b", "9b"]);
        let large = [["9007199254740993", ""], ["9007199254740992.0", ""], ["nan", ""], ["-1e300", ""]];
        let order = ["-1e300", "9007199254740992.0", "9007199254740993", "nan"];
        assert_eq!(sorted(&["k"], None, &large), order);
        assert!("".parse::<SortKey>().is_err() && ":desc".parse::<SortKey>().is_err());
    }

    #[test]
    fn items_have_values_of_their_own_or_of_their_first_object() {
        let item = json!({"step": 1, "values": {"step": 2}, "objects": [{"name": "t"}, {"name": "u"}]});
        assert_eq!(of_item(&item, "step"), Some(&json!(2)));
        assert_eq!((of_item(&item, "name"), of_item(&item, "none")), (Some(&json!("t")), None));
    }
}
