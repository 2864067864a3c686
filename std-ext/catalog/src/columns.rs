//! A message whose objects are columns, each with its name.

use std::collections::HashMap;

use tgm_core::Message;
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::wire::FrameType;
use tgm_std::hash;
use tgm_std::{ObjectTable, Result, TensogramError};

use super::bad;
use super::column::{Column, Stored};

/// A message of columns, which are read when they are asked for.
#[derive(Debug)]
pub(super) struct Columns {
    bytes: Vec<u8>,
    table: ObjectTable,
    presence: HashPresence,
    /// The object of each column.
    by_name: HashMap<String, usize>,
}

impl Columns {
    /// Takes a message. Checks the digest of its metadata.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for damaged metadata; the errors of the structure.
    pub(super) fn open(bytes: Vec<u8>) -> Result<Self> {
        let message = Message::parse(&bytes)?;
        let presence = message.hash_presence()?;
        for frame in message.frames() {
            let frame = frame?;
            let is_metadata = matches!(frame.frame_type(), FrameType::HeaderMetadata | FrameType::FooterMetadata);
            if let (true, Verdict::Mismatch(mismatch)) = (is_metadata, hash::check(presence, &frame)) {
                let error = TensogramError::hash_mismatch(None, mismatch);
                return Err(bad(format!("its metadata is damaged: {error}")));
            }
        }
        let table = ObjectTable::by_walk(&message)?;
        let mut by_name = HashMap::new();
        for (index, object) in message.metadata()?.objects().enumerate() {
            if let Some(name) = object?.get_str("name")? {
                by_name.insert(name.to_string(), index);
            }
        }
        Ok(Self { bytes, table, presence, by_name })
    }

    /// The bytes of the message.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The message.
    ///
    /// # Errors
    /// None: it was parsed before.
    pub(super) fn message(&self) -> Result<Message<'_>> {
        Ok(Message::parse(&self.bytes)?)
    }

    /// The column in an object, which has `rows` rows. Its digest is checked.
    ///
    /// # Errors
    /// [`TensogramError::Metadata`] for a damaged column, or one of another length.
    pub(super) fn read(&self, object: usize, name: &str, rows: usize) -> Result<Stored> {
        Column::read(&self.table.object(&self.message()?, object)?, self.presence, name, rows)
    }

    /// The column of a name. Without rows there need not be one.
    ///
    /// # Errors
    /// As [`Self::read`]; [`TensogramError::Metadata`] if there is none.
    pub(super) fn named(&self, name: &str, rows: usize) -> Result<Column> {
        if rows == 0 {
            return Ok(Column::Equal(0));
        }
        let object = *self.by_name.get(name).ok_or_else(|| bad(format!("column {name} is missing")))?;
        Ok(self.read(object, name, rows)?.column)
    }
}
