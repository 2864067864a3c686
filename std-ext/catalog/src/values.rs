//! The distinct values of keys in a catalogue, and groups of objects that share values.
//!
//! A distinct value gets an id, a number from 0, when it is first seen. Rows are then compared by ids alone.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use ciborium::Value as Owned;
use tgm_core::cbor::Value;

use super::Catalog;
use super::cbor::encoded;
use super::column::Column;
use super::dictionary::Dictionary;
use super::leaf::{KeyHead, Leaf, Storage};
use tgm_std::Result;
use tgm_std::internal::canonical;
use tgm_std::internal::to_owned;
use tgm_std::metadata::query;

/// Objects that have the same values of some keys.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// The value of each key; `None` where it is missing.
    pub values: Vec<Option<Owned>>,
    /// The objects in the order of the data. Each is the number of its message, and its number in that message.
    pub objects: Vec<(usize, usize)>,
}

/// The values of a key, of all objects in the order of the data.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KeyColumn {
    /// The distinct values, in the order in which they come first.
    pub values: Vec<Owned>,
    /// For each object the number of its value. `None` where it is missing.
    pub codes: Vec<Option<u32>>,
}

/// Where an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectPlace {
    /// The number of its message, from 0.
    pub message: usize,
    /// Its number in the message, from 0.
    pub object: usize,
    /// The first byte of its frame in the data.
    pub offset: u64,
    /// Bytes of its frame.
    pub length: u64,
}

/// The id of a distinct value: its position in [`Distinct::values`]. `None` stands for a missing value.
type Id = Option<u32>;

/// The distinct values of a key in all leaves.
///
/// Values are compared by their canonical encoding. So a number counts once, whether it was encoded with 2 bytes or
/// with 9. An integer and the equal float are two values.
#[derive(Default)]
struct Distinct {
    /// The id of each value's canonical encoding.
    ids: Dictionary,
    values: Vec<Owned>,
}

impl Distinct {
    /// The id of an encoded value. A new value gets the next id.
    fn id(&mut self, encoded: &[u8]) -> Result<u32> {
        let value = to_owned::value(&Value::parse(encoded, 0)?)?;
        let canonical = canonical(&value)?;
        let id = self.ids.code(&canonical)?;
        // The dictionary has grown: the value is new.
        if self.values.len() < self.ids.values().len() {
            self.values.push(value);
        }
        Ok(id)
    }

    /// The id of each row's value. Each distinct number of the column is looked up once.
    fn ids_of(&mut self, key: &KeyHead, column: &Column, rows: usize) -> Result<Vec<Id>> {
        let mut known: HashMap<u64, Id> = HashMap::new();
        if let Storage::Codes(table) = &key.kind {
            for (code, value) in table.iter().enumerate() {
                known.insert(code as u64, Some(self.id(value)?));
            }
        }
        let absent = key.absent();
        let mut found = Vec::with_capacity(rows);
        for row in 0..rows {
            let bits = column.at(row)?;
            let id = match known.get(&bits) {
                Some(id) => *id,
                None if Some(bits) == absent => None,
                None => {
                    let id = Some(self.id(&encoded(bits, matches!(key.kind, Storage::Floats)))?);
                    known.insert(bits, id);
                    id
                }
            };
            found.push(id);
        }
        Ok(found)
    }
}

impl Catalog {
    /// The distinct values of a key among all objects, in ascending order: numbers first, then texts, then others.
    /// Missing values are left out.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`](tgm_std::TensogramError::Metadata) if the catalogue lacks the key or is damaged.
    pub fn distinct(&self, key: &str) -> Result<Vec<Owned>> {
        let mut distinct = Distinct::default();
        let mut seen = BTreeSet::new();
        for leaf in &self.leaves {
            let key = self.key_of(leaf, key)?;
            let column = leaf.object_column(key)?;
            seen.extend(distinct.ids_of(key, column, leaf.covers.objects)?.into_iter().flatten());
        }
        let mut values: Vec<_> =
            seen.into_iter().filter_map(|id| distinct.values.get(usize::try_from(id).ok()?).cloned()).collect();
        values.sort_by(order);
        Ok(values)
    }

    /// The values of a key.
    ///
    /// # Errors
    /// As [`Self::distinct`].
    pub fn column(&self, key: &str) -> Result<KeyColumn> {
        let (mut distinct, mut codes) = (Distinct::default(), Vec::with_capacity(self.object_count()));
        for leaf in &self.leaves {
            let key = self.key_of(leaf, key)?;
            codes.extend(distinct.ids_of(key, leaf.object_column(key)?, leaf.covers.objects)?);
        }
        Ok(KeyColumn { values: distinct.values, codes })
    }

    /// Where all objects are, in the order of the data.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`](tgm_std::TensogramError::Metadata) if the catalogue is damaged.
    pub fn objects(&self) -> Result<Vec<ObjectPlace>> {
        let mut found = Vec::with_capacity(self.object_count());
        for leaf in &self.leaves {
            let places = &leaf.places()?.objects;
            Self::each_object(leaf, |row, (message, object)| {
                found.extend(places.get(row).map(|(offset, length)| ObjectPlace {
                    message,
                    object,
                    offset: *offset,
                    length: *length,
                }));
            })?;
        }
        Ok(found)
    }

    /// Groups all objects by their values of these keys: objects with the same values are in the same group. Groups are
    /// in the order of their values, by the first key, then by the second, and so on. A missing value comes last.
    ///
    /// # Errors
    /// As [`Self::distinct`].
    pub fn group_by(&self, keys: &[&str]) -> Result<Vec<Group>> {
        let mut distinct: Vec<Distinct> = keys.iter().map(|_| Distinct::default()).collect();
        let mut groups: BTreeMap<Vec<Id>, Vec<(usize, usize)>> = BTreeMap::new();
        for leaf in &self.leaves {
            let mut columns = Vec::new();
            for (key, distinct) in keys.iter().zip(&mut distinct) {
                let key = self.key_of(leaf, key)?;
                columns.push(distinct.ids_of(key, leaf.object_column(key)?, leaf.covers.objects)?);
            }
            Self::each_object(leaf, |row, object| {
                let ids = columns.iter().map(|column| column.get(row).copied().flatten()).collect();
                groups.entry(ids).or_default().push(object);
            })?;
        }
        let value = |distinct: &Distinct, id: Id| distinct.values.get(usize::try_from(id?).ok()?).cloned();
        let group = |(ids, objects): (Vec<Id>, _)| Group {
            values: distinct.iter().zip(ids).map(|(distinct, id)| value(distinct, id)).collect(),
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

    /// Calls `found` for each object of a leaf. It gets the object's row in the leaf, the number of its message, and
    /// its number in that message.
    fn each_object(leaf: &Leaf, mut found: impl FnMut(usize, (usize, usize))) -> Result<()> {
        for message in 0..leaf.covers.messages {
            for (object, row) in leaf.objects_of(message)?.enumerate() {
                found(row, (leaf.covers.first + message, object));
            }
        }
        Ok(())
    }
}

/// The order of values: numbers by size, then NaN, then texts, then others by their canonical encoding.
///
/// It is an order of all values, as sorting demands: NaN that were equal to every number would not be one.
fn order(one: &Owned, other: &Owned) -> Ordering {
    let rank = |value: &Owned| match value {
        Owned::Float(float) if float.is_nan() => 1,
        Owned::Integer(_) | Owned::Float(_) => 0,
        Owned::Text(_) => 2,
        _ => 3,
    };
    let number = |value: &Owned| match value {
        Owned::Integer(integer) => Some(query::compare::Number::Integer(i128::from(*integer))),
        Owned::Float(float) => Some(query::compare::Number::Float(*float)),
        _ => None,
    };
    // Values of a catalogue were read from CBOR, so they can be written.
    let encoded = |value: &Owned| canonical(value).unwrap_or_default();
    let by_value = || match (one, other) {
        (Owned::Text(one), Owned::Text(other)) => one.cmp(other),
        _ => match (number(one), number(other)) {
            (Some(one), Some(other)) => one.order(other).unwrap_or(Ordering::Equal),
            _ => encoded(one).cmp(&encoded(other)),
        },
    };
    rank(one).cmp(&rank(other)).then_with(by_value)
}
