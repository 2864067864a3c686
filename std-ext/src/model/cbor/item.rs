//! Items that are put together before they are written.

use std::collections::BTreeMap;

use ciborium::Value;

use super::writer::Writer;
use crate::base::error::Result;
#[cfg(doc)]
use crate::base::error::TensogramError;

/// A CBOR item that borrows its content.
pub(crate) enum Item<'a> {
    /// An unsigned integer.
    Uint(u64),
    /// A text.
    Text(&'a str),
    /// An array of texts.
    Texts(&'a [String]),
    /// A map with text keys.
    Entries(&'a BTreeMap<String, Value>),
    /// An array.
    Array(Vec<Item<'a>>),
    /// A map whose keys the format names.
    Map(Vec<(&'a str, Item<'a>)>),
}

impl Writer<'_> {
    /// Appends an item. Repeated keys of maps stay, in their order.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for items that are nested too deeply, and for values that CBOR does not have.
    pub(crate) fn item(&mut self, item: &Item<'_>) -> Result<()> {
        match item {
            Item::Uint(n) => self.uint(*n),
            Item::Text(text) => self.text(text),
            Item::Texts(texts) => self.array(texts.len(), |writer| {
                texts.iter().for_each(|text| writer.text(text));
                Ok(())
            })?,
            Item::Entries(entries) => self.entries_of(entries)?,
            Item::Array(items) => self.array(items.len(), |w| items.iter().try_for_each(|item| w.item(item)))?,
            Item::Map(entries) => self.unsorted_map(entries.len(), |writer| {
                entries.iter().try_for_each(|(key, item)| writer.entry(key, |writer| writer.item(item)))
            })?,
        }
        Ok(())
    }
}
