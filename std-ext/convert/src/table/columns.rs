//! The first pass: which columns there are, and of which types.

use std::collections::BTreeMap;

use ciborium::Value;
use tgm_std::Result;
#[cfg(doc)]
use tgm_std::TensogramError;

use super::describe::Described;
use super::{TableOptions, cells};
use crate::error::metadata;

/// Integers up to this are exact as floats of 64 bits.
const EXACT: i128 = 1 << 53;

/// The columns of a table.
#[derive(Clone, Debug)]
pub struct Columns {
    pub(super) options: TableOptions,
    seen: BTreeMap<String, Seen>,
}

/// What was seen in a column.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a kind of values, and any of them may be there")]
struct Seen {
    bools: bool,
    /// The least and the greatest integer.
    integers: Option<(i128, i128)>,
    floats: bool,
    bytes: bool,
    others: bool,
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int,
    Uint,
    Float,
    Bytes,
    Text,
}

impl Columns {
    /// No columns of metadata yet.
    pub const fn new(options: TableOptions) -> Self {
        Self { options, seen: BTreeMap::new() }
    }

    /// Takes note of the metadata of a message.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for more columns than the options allow.
    pub fn observe(&mut self, described: &Described) -> Result<()> {
        cells::each_row(described, self.options.rows, |_, cells| {
            for (name, value) in cells {
                // A name is copied once for each column.
                if !self.seen.contains_key(name) {
                    if self.seen.len() >= self.options.max_columns {
                        let max = self.options.max_columns;
                        return Err(metadata(format!(
                            "metadata has more keys than a table has columns, {max}: {name}"
                        )));
                    }
                    self.seen.insert(name.clone(), Seen::default());
                }
                if let Some(seen) = self.seen.get_mut(name) {
                    seen.add(value);
                }
            }
            Ok(())
        })
    }

    /// The columns of metadata, in order of their names.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (&str, Kind)> {
        self.seen.iter().map(|(name, seen)| (name.as_str(), seen.kind()))
    }
}

impl Seen {
    fn add(&mut self, value: &Value) {
        match value {
            Value::Bool(_) => self.bools = true,
            Value::Integer(integer) => {
                let integer = i128::from(*integer);
                let (least, most) = self.integers.unwrap_or((integer, integer));
                self.integers = Some((least.min(integer), most.max(integer)));
            }
            Value::Float(_) => self.floats = true,
            Value::Bytes(_) => self.bytes = true,
            _ => self.others = true,
        }
    }

    fn kind(&self) -> Kind {
        match (self.bools, self.integers, self.floats, self.bytes, self.others) {
            (true, None, false, false, false) => Kind::Bool,
            (false, Some((least, most)), false, false, false) => {
                if i64::try_from(least).is_ok() && i64::try_from(most).is_ok() {
                    Kind::Int
                } else if u64::try_from(least).is_ok() && u64::try_from(most).is_ok() {
                    Kind::Uint
                } else {
                    Kind::Text
                }
            }
            (false, None, true, false, false) => Kind::Float,
            (false, Some((least, most)), true, false, false) if least >= -EXACT && most <= EXACT => Kind::Float,
            (false, None, false, true, false) => Kind::Bytes,
            _ => Kind::Text,
        }
    }
}
