//! The values of keys: the distinct ones, and the objects that share them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use ciborium::Value as Owned;
use tgm_core::cbor::Value;

use super::Catalog;
use super::column::Column;
use super::leaf::{KeyHead, Leaf, Storage};
use super::part::Dictionary;
use super::select::encoded;
use crate::base::error::Result;
use crate::model::cbor;
use crate::model::query::compare as query;
use crate::model::to_owned;

/// Objects that have the same values of some keys.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// The value of each key; `None` where it is missing.
    pub values: Vec<Option<Owned>>,
    /// The objects, each as the numbers of its message and of the object in it, in order.
    pub objects: Vec<(usize, usize)>,
}

/// The number of a distinct value; `None` is a missing one.
type Number = Option<u32>;

/// The distinct values of a key in all leaves. Numbers of one value count as one, however they were encoded.
#[derive(Default)]
struct Distinct {
    numbers: Dictionary,
    values: Vec<Owned>,
}

impl Distinct {
    fn number(&mut self, encoded: &[u8]) -> Result<u32> {
        let value = to_owned::value(&Value::parse(encoded, 0)?)?;
        let canonical = cbor::written(|writer| writer.value(&value))?;
        let number = self.numbers.code(&canonical)?;
        if self.values.len() < self.numbers.values().len() {
            self.values.push(value);
        }
        Ok(number)
    }

    /// The number for each row of a column.
    fn numbers_of(&mut self, key: &KeyHead, column: &Column, rows: usize) -> Result<Vec<Number>> {
        let mut known: HashMap<u64, Number> = HashMap::new();
        if let Storage::Codes(table) = &key.kind {
            for (code, value) in table.iter().enumerate() {
                known.insert(code as u64, Some(self.number(value)?));
            }
        }
        let absent = key.absent();
        let mut found = Vec::with_capacity(rows);
        for row in 0..rows {
            let bits = column.at(row);
            let number = match known.get(&bits) {
                Some(number) => *number,
                None if Some(bits) == absent => None,
                None => {
                    let number = Some(self.number(&encoded(bits, matches!(key.kind, Storage::Floats)))?);
                    known.insert(bits, number);
                    number
                }
            };
            found.push(number);
        }
        Ok(found)
    }
}

impl Catalog {
    /// The distinct values of a key among all objects: numbers first, then texts, then others, each in order.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`](crate::TensogramError::Metadata) if the catalogue lacks the key or is damaged.
    pub fn distinct(&self, key: &str) -> Result<Vec<Owned>> {
        let mut distinct = Distinct::default();
        let mut seen = BTreeSet::new();
        for leaf in &self.leaves {
            let key = self.key_of(leaf, key)?;
            let column = leaf.object_column(key)?;
            seen.extend(distinct.numbers_of(key, column, leaf.covers.objects)?.into_iter().flatten());
        }
        let mut values: Vec<_> =
            seen.into_iter().filter_map(|number| distinct.values.get(usize::try_from(number).ok()?).cloned()).collect();
        values.sort_by(order);
        Ok(values)
    }

    /// All objects, those with the same values of these keys together. Groups come in the order of their values.
    ///
    /// # Errors
    /// As [`Self::distinct`].
    pub fn group_by(&self, keys: &[&str]) -> Result<Vec<Group>> {
        let mut distinct: Vec<Distinct> = keys.iter().map(|_| Distinct::default()).collect();
        let mut groups: BTreeMap<Vec<Number>, Vec<(usize, usize)>> = BTreeMap::new();
        for leaf in &self.leaves {
            let mut columns = Vec::new();
            for (key, distinct) in keys.iter().zip(&mut distinct) {
                let key = self.key_of(leaf, key)?;
                columns.push(distinct.numbers_of(key, leaf.object_column(key)?, leaf.covers.objects)?);
            }
            Self::each_object(leaf, |row, object| {
                let values = columns.iter().map(|column| column.get(row).copied().flatten()).collect();
                groups.entry(values).or_default().push(object);
            })?;
        }
        let value = |distinct: &Distinct, number: Number| distinct.values.get(usize::try_from(number?).ok()?).cloned();
        let group = |(numbers, objects): (Vec<Number>, _)| Group {
            values: distinct.iter().zip(numbers).map(|(distinct, number)| value(distinct, number)).collect(),
            objects,
        };
        let mut groups: Vec<_> = groups.into_iter().map(group).collect();
        groups.sort_by(|one, other| {
            let orders = one.values.iter().zip(&other.values).map(|(one, other)| match (one, other) {
                (Some(one), Some(other)) => order(one, other),
                (one, other) => one.is_some().cmp(&other.is_some()).reverse(),
            });
            orders.fold(Ordering::Equal, Ordering::then)
        });
        Ok(groups)
    }

    /// Calls `found` for each object of a leaf with its row and its numbers.
    fn each_object(leaf: &Leaf, mut found: impl FnMut(usize, (usize, usize))) -> Result<()> {
        let first = usize::try_from(leaf.covers.first).unwrap_or(usize::MAX);
        for message in 0..leaf.covers.messages {
            for (object, row) in leaf.objects_of(message)?.enumerate() {
                found(row, (first.saturating_add(message), object));
            }
        }
        Ok(())
    }
}

/// The order of values: numbers, texts, others.
fn order(one: &Owned, other: &Owned) -> Ordering {
    let rank = |value: &Owned| match value {
        Owned::Integer(_) | Owned::Float(_) => 0,
        Owned::Text(_) => 1,
        _ => 2,
    };
    let number = |value: &Owned| match value {
        Owned::Integer(integer) => Some(query::Number::Integer(i128::from(*integer))),
        Owned::Float(float) => Some(query::Number::Float(*float)),
        _ => None,
    };
    let by_value = || match (one, other) {
        (Owned::Text(one), Owned::Text(other)) => Some(one.cmp(other)),
        _ => match (number(one), number(other)) {
            (Some(one), Some(other)) => one.order(other),
            _ => one.partial_cmp(other),
        },
    };
    rank(one).cmp(&rank(other)).then_with(|| by_value().unwrap_or(Ordering::Equal))
}
