//! A message of a file, and its place.

/// The place of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Which message of the file.
    pub(crate) index: usize,
    /// Bytes from the file's start.
    pub(crate) offset: u64,
    /// Bytes of the message.
    pub(crate) length: u64,
}

/// A message of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'f> {
    /// The file's name as the user gave it.
    pub(crate) file: &'f str,
    /// Which message of the file.
    pub(crate) index: usize,
    /// Bytes from the file's start.
    pub(crate) offset: u64,
    /// The message's bytes. Parts that were not [`Wanted`](crate::read::input::Wanted) are 0.
    pub(crate) bytes: &'f [u8],
}

impl<'f> Entry<'f> {
    /// The message at `place` of a file, which has these bytes.
    pub(crate) const fn new(file: &'f str, place: Place, bytes: &'f [u8]) -> Self {
        Self { file, index: place.index, offset: place.offset, bytes }
    }

    /// The message's place as text.
    pub(crate) fn place(&self) -> String {
        format!("{}: message {}", self.file, self.index)
    }

    /// An object's place as text.
    pub(crate) fn object_place(&self, object: usize) -> String {
        format!("{}, object {object}", self.place())
    }

    /// Bytes of the message.
    pub(crate) const fn length(&self) -> u64 {
        self.bytes.len() as u64
    }
}
