//! Values of `ciborium`, written canonically.

use std::collections::BTreeMap;

use ciborium::Value;

use super::head::{FALSE, Major, NULL, TRUE, write_float, write_head, write_integer};
use super::writer::Writer;
use crate::base::error::{Result, TensogramError};

impl Writer<'_> {
    /// Appends a map with text keys.
    ///
    /// # Errors
    /// As [`Self::value`].
    pub(crate) fn entries_of(&mut self, entries: &BTreeMap<String, Value>) -> Result<()> {
        self.unsorted_map(entries.len(), |writer| {
            entries.iter().try_for_each(|(key, value)| writer.entry(key, |writer| writer.value(value)))
        })
    }

    /// Appends any value. A tag is written as it is, big numbers (tags 2 and 3) included.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for values that are nested too deeply, and for values that CBOR does not have.
    pub(crate) fn value(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::Null => self.out.push(NULL),
            Value::Bool(false) => self.out.push(FALSE),
            Value::Bool(true) => self.out.push(TRUE),
            Value::Integer(n) => write_integer(i128::from(*n), self.out)?,
            Value::Float(x) => write_float(*x, self.out),
            Value::Bytes(bytes) => {
                write_head(Major::Bytes, bytes.len() as u64, self.out);
                self.out.extend_from_slice(bytes);
            }
            Value::Text(text) => self.text(text),
            Value::Array(items) => self.array(items.len(), |w| items.iter().try_for_each(|item| w.value(item)))?,
            Value::Map(entries) => self.unsorted_map(entries.len(), |writer| {
                entries.iter().try_for_each(|(key, value)| {
                    writer.entry_with(|writer| writer.value(key), |writer| writer.value(value))
                })
            })?,
            Value::Tag(tag, tagged) => self.inside(|writer| {
                write_head(Major::Tag, *tag, writer.out);
                writer.value(tagged)
            })?,
            _ => return Err(TensogramError::Metadata("CBOR value of a kind that the format does not have".into())),
        }
        Ok(())
    }
}
