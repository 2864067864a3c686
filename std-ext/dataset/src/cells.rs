//! Values of an object's keys, by their numbers: listed, or in the columns of a catalogue, which take a byte or nothing a value.

use std::sync::Arc;

use tgm_catalog::FactColumn;

/// Numbers of keys, each with the number of its value. In the order of the keys.
pub(crate) type List = Vec<(u32, u32)>;

/// Columns for the objects of a leaf of a catalogue.
#[derive(Debug)]
pub(crate) struct Block(Vec<(u32, Vec<u32>, FactColumn)>);

impl Block {
    /// Takes columns, each with the number of its key, and for each of its own values the number of that.
    pub(crate) fn new(mut columns: Vec<(u32, Vec<u32>, FactColumn)>) -> Self {
        columns.sort_unstable_by_key(|(key, ..)| *key);
        Self(columns)
    }
}

/// The values of an object's keys.
#[derive(Clone, Debug)]
pub(crate) enum Cells {
    Listed(List),
    /// A row of columns.
    Row(Arc<Block>, u32),
}

impl Cells {
    /// The number of the value of a key.
    pub(crate) fn get(&self, key: u32) -> Option<u32> {
        match self {
            Self::Listed(list) => {
                let found = list.binary_search_by_key(&key, |(key, _)| *key).ok()?;
                list.get(found).map(|(_, value)| *value)
            }
            Self::Row(block, row) => {
                let found = block.0.binary_search_by_key(&key, |(key, ..)| *key).ok()?;
                let (_, values, column) = block.0.get(found)?;
                values.get(column.code(usize::try_from(*row).ok()?)?).copied()
            }
        }
    }

    /// The keys that do not have the same value here and there, of `count` keys.
    pub(crate) fn differing(&self, other: &Self, count: usize) -> Vec<u32> {
        let keys = (0..count).filter_map(|key| u32::try_from(key).ok());
        keys.filter(|key| self.get(*key) != other.get(*key)).collect()
    }
}
