//! A table of a message's objects, which opens any of them in O(1).

use tgm_core::frame::Frame;
use tgm_core::index::IndexEntry;
use tgm_core::object::DataObject;
use tgm_core::wire::FrameType;
use tgm_core::{ErrorKind, Message};

use crate::base::error::Result;

/// Where the objects of a message are: 16 bytes for each object. The table then opens any of them in O(1).
///
/// It pays off where a message has many objects and more than a few are opened. [`Message::object`] reads the index up
/// to the object's entry each time, and walks over the frames if there is no index. The table borrows nothing, so it
/// can be kept beside the message's bytes.
///
/// | made by | costs | a wrong index |
/// |---|---|---|
/// | [`Self::new`] | reads the index | is followed, as [`Message::object`] follows it; it can lead to other objects |
/// | [`Self::checked`] | walks three times over the frames, and reads the indexes | is an error |
/// | [`Self::by_walk`] | walks once over the frames | is not read |
///
/// ```
/// use tgm_std::ObjectTable;
///
/// # let bytes = std::fs::read("../tests/data/realistic/surface-181x360.tgm").unwrap();
/// let message = tgm_core::Message::parse(&bytes)?;
/// let table = ObjectTable::new(&message)?;
/// let last = table.object(&message, table.len() - 1)?;
/// println!("{} values of {}", last.descriptor().element_count(), last.descriptor().dtype());
/// assert_eq!(table.objects(&message).count(), table.len());
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectTable {
    entries: Box<[IndexEntry]>,
}

impl ObjectTable {
    /// Lists the objects by the message's index, or by a walk over all frames if it has none.
    ///
    /// The index is trusted. An entry must lead to a data object's frame of the stated length. But that frame may lie
    /// inside another object's payload, and the index may leave objects out; [`Message::object`] has the details. For
    /// messages from untrusted sources take [`Self::checked`] or [`Self::by_walk`].
    ///
    /// # Errors
    /// [`ErrorKind::IndexEntry`], a framing error, for an index whose entries do not ascend, because it would number
    /// the objects in another order; the errors of [`Message::find_index`] and of the walk.
    pub fn new(message: &Message<'_>) -> Result<Self> {
        match message.find_index()? {
            Some(index) if index.is_ascending() => Ok(Self { entries: index.iter().collect() }),
            Some(index) => Err(ErrorKind::IndexEntry.at(index.get(0).map_or(0, |entry| entry.offset)).into()),
            None => Self::by_walk(message),
        }
    }

    /// Lists the objects by a walk over all frames, and compares every index of the message with it.
    ///
    /// After this, the table, [`Message::object`] and [`Message::objects`] give the same object for each number.
    ///
    /// # Errors
    /// The errors of [`Message::verify_index`]: a wrong index is a framing error.
    pub fn checked(message: &Message<'_>) -> Result<Self> {
        message.verify_index()?;
        Self::by_walk(message)
    }

    /// Lists the objects by a walk over all frames. No index is read.
    ///
    /// # Errors
    /// The errors of the walk.
    pub fn by_walk(message: &Message<'_>) -> Result<Self> {
        // Errors stay in, so that the collection ends with the first of them.
        let is_object =
            |frame: &tgm_core::Result<Frame<'_>>| !matches!(frame, Ok(f) if f.frame_type() != FrameType::NTensorFrame);
        let entry = |frame: Frame<'_>| IndexEntry { offset: frame.offset(), length: frame.total_length() };
        let entries = message.frames().filter(is_object).map(|frame| frame.map(entry));
        Ok(Self { entries: entries.collect::<tgm_core::Result<_>>()? })
    }

    /// How many objects are listed.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no object is listed.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Where the objects are, in order.
    pub const fn entries(&self) -> &[IndexEntry] {
        &self.entries
    }

    /// Object `index` of `message`: O(1), no allocation. The table must have been made of this message. With another
    /// one the result is an error, or some object of it.
    ///
    /// # Errors
    /// The errors of [`Message::object_at`]. For an object that is not listed, a walk says why:
    /// [`ErrorKind::ObjectOutOfRange`] if the message has no such object, [`ErrorKind::IndexEntry`] if its index leaves
    /// it out.
    pub fn object<'a>(&self, message: &Message<'a>, index: usize) -> Result<DataObject<'a>> {
        let found = match self.entries.get(index) {
            Some(entry) => message.object_at(*entry),
            None => message.object_by_walk(index).and_then(|left_out| {
                let frame = left_out.frame();
                Err(ErrorKind::IndexEntry.at(frame.offset()))
            }),
        };
        Ok(found?)
    }

    /// All objects of `message` in order, each as [`Self::object`] gives it.
    pub fn objects<'a>(&self, message: &Message<'a>) -> impl DoubleEndedIterator<Item = Result<DataObject<'a>>> {
        self.entries.iter().map(|entry| Ok(message.object_at(*entry)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{MessageBuilder, ObjectBuilder};

    fn message(count: usize) -> Vec<u8> {
        let object = || ObjectBuilder::new(&[2], &[1_u8, 2]).unwrap();
        (0..count).fold(MessageBuilder::new(), |message, _| message.object(object())).encode().unwrap()
    }

    #[test]
    fn a_table_has_an_entry_for_each_object() {
        for count in [0, 1, 3] {
            let bytes = message(count);
            let message = Message::parse(&bytes).unwrap();
            for table in
                [ObjectTable::new, ObjectTable::checked, ObjectTable::by_walk].map(|make| make(&message).unwrap())
            {
                assert_eq!((table.len(), table.is_empty(), table.entries().len()), (count, count == 0, count));
                for (index, entry) in table.entries().iter().enumerate() {
                    let frame = *table.object(&message, index).unwrap().frame();
                    assert_eq!((entry.offset, entry.length), (frame.offset(), frame.total_length()));
                }
            }
        }
    }
}
