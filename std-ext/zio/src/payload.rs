//! The bytes of a payload part, wherever they are.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use bytes::Bytes;

/// The bytes of a payload part: borrowed, owned, or shared with a received message. It reads like a slice.
///
/// ```
/// use bytes::Bytes;
/// use tgm_zio::Payload;
///
/// let frame = Bytes::from(vec![1, 2, 3]);
/// let payload = Payload::from(frame.clone());
/// assert_eq!(payload.len(), 3);
/// assert_eq!(payload.into_bytes().as_ptr(), frame.as_ptr()); // the same memory
/// ```
#[derive(Clone)]
pub enum Payload<'a> {
    /// The caller's.
    Borrowed(&'a [u8]),
    /// Its own.
    Owned(Vec<u8>),
    /// Counted by reference: a clone is the same memory.
    Shared(Bytes),
}

impl Payload<'_> {
    /// The bytes as a vector. Borrowed ones are copied, and shared ones that others hold too.
    pub fn into_vec(self) -> Vec<u8> {
        match self {
            Self::Borrowed(bytes) => bytes.to_vec(),
            Self::Owned(bytes) => bytes,
            Self::Shared(bytes) => bytes.into(),
        }
    }

    /// The bytes, shared. Only borrowed ones are copied.
    pub fn into_bytes(self) -> Bytes {
        match self {
            Self::Borrowed(bytes) => Bytes::copy_from_slice(bytes),
            Self::Owned(bytes) => bytes.into(),
            Self::Shared(bytes) => bytes,
        }
    }
}

impl Deref for Payload<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Owned(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Payload<'_> {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// Bytes are compared, wherever they are.
impl PartialEq for Payload<'_> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Payload<'_> {}

/// Shows the length.
impl fmt::Debug for Payload<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes)", self.len())
    }
}

impl<'a> From<&'a [u8]> for Payload<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Borrowed(bytes)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Payload<'a> {
    fn from(bytes: &'a [u8; N]) -> Self {
        Self::Borrowed(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Payload<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Borrowed(bytes)
    }
}

impl From<Vec<u8>> for Payload<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Owned(bytes)
    }
}

impl From<Bytes> for Payload<'_> {
    fn from(bytes: Bytes) -> Self {
        Self::Shared(bytes)
    }
}

impl<'a> From<Cow<'a, [u8]>> for Payload<'a> {
    fn from(bytes: Cow<'a, [u8]>) -> Self {
        match bytes {
            Cow::Borrowed(bytes) => Self::Borrowed(bytes),
            Cow::Owned(bytes) => Self::Owned(bytes),
        }
    }
}
