//! The objects of a message, each within reach.

use tgm_core::frame::Frame;
use tgm_core::index::IndexEntry;
use tgm_core::object::DataObject;
use tgm_core::wire::FrameType;
use tgm_core::{ErrorKind, Message};

use crate::base::error::Result;

/// Where the objects of a message are: 16 bytes for each, after which any of them is opened in O(1).
///
/// Worth making for whoever opens more than a few objects of a message that has many: [`Message::object`] reads the
/// index up to the object's entry each time, and walks if there is no index. Borrows nothing, so that it can be kept
/// beside the message's bytes.
///
/// | made by | costs | an index that lies |
/// |---|---|---|
/// | [`Self::new`] | the index is read | is followed, as [`Message::object`] follows it: other objects are possible |
/// | [`Self::checked`] | three walks over the frames, and the indexes are read | is an error |
/// | [`Self::by_walk`] | one walk over the frames | is not looked at |
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
    /// Lists the objects: by the index where the message has one, or else by a walk over all frames.
    ///
    /// The index is believed. When an entry is followed, there has to be a data object's frame of the stated length, but
    /// that frame may stand inside another object's payload, and an index may leave objects out: what
    /// [`Message::object`] says about an index that lies. For messages of strangers there are [`Self::checked`] and
    /// [`Self::by_walk`].
    ///
    /// # Errors
    /// [`ErrorKind::IndexEntry`], a framing error, for an index whose entries are in another order than the frames, which
    /// would lead to other objects; those of [`Message::find_index`] and of the walk.
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
    /// Those of [`Message::verify_index`]: an index that lies is a framing error.
    pub fn checked(message: &Message<'_>) -> Result<Self> {
        message.verify_index()?;
        Self::by_walk(message)
    }

    /// Lists the objects by a walk over all frames, whatever an index says.
    ///
    /// # Errors
    /// Those of the walk.
    pub fn by_walk(message: &Message<'_>) -> Result<Self> {
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

    /// Whether none is listed.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Where the objects are, in order.
    pub const fn entries(&self) -> &[IndexEntry] {
        &self.entries
    }

    /// Object `index` of `message`, which is the one that the table was made of: O(1), no allocation. With another
    /// message, it is an error or an object of that one.
    ///
    /// # Errors
    /// Those of [`Message::object_at`]. For an object that is not listed, a walk says what is wrong:
    /// [`ErrorKind::ObjectOutOfRange`] if there is none, [`ErrorKind::IndexEntry`] if an index leaves it out.
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
