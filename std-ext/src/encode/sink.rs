//! Where encoded bytes go: memory or a stream, hashed on the way.

use std::hash::Hasher as _;
use std::io::Write;

use twox_hash::XxHash3_64;

use crate::error::Result;
use crate::limits::reserve;

/// Takes bytes in order.
pub(crate) trait Sink {
    /// Takes bytes that exist.
    ///
    /// # Errors
    /// Those of the stream behind it.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Takes `len` bytes that `make` writes over all of a slice of that length, in place where it can.
    ///
    /// # Errors
    /// Those of the stream behind it, and want of memory.
    fn fill(&mut self, len: usize, make: &mut dyn FnMut(&mut [u8])) -> Result<()>;
}

impl Sink for Vec<u8> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }

    fn fill(&mut self, len: usize, make: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        let start = self.len();
        self.resize(start + len, 0);
        if let Some(out) = self.get_mut(start..) {
            make(out);
        }
        Ok(())
    }
}

/// A stream, and how many bytes went there.
#[derive(Debug)]
pub(crate) struct Stream<W> {
    pub(crate) writer: W,
    pub(crate) written: u64,
}

impl<W: Write> Sink for Stream<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    fn fill(&mut self, len: usize, make: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        let mut bytes = reserve(len)?;
        make(&mut bytes);
        self.write(&bytes)
    }
}

/// A sink that also computes the XXH3-64 of what passes through, if it is asked to.
pub(crate) struct Hashing<'s, S> {
    sink: &'s mut S,
    hasher: Option<XxHash3_64>,
}

impl<'s, S: Sink> Hashing<'s, S> {
    pub(crate) fn new(sink: &'s mut S, hashing: bool) -> Self {
        Self { sink, hasher: hashing.then(XxHash3_64::new) }
    }

    /// The sink behind.
    pub(crate) fn into_sink(self) -> &'s mut S {
        self.sink
    }

    /// The digest of everything so far; `None` if none is computed.
    pub(crate) fn digest(&self) -> Option<u64> {
        self.hasher.as_ref().map(XxHash3_64::finish)
    }
}

impl<S: Sink> Sink for Hashing<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some(hasher) = &mut self.hasher {
            hasher.write(bytes);
        }
        self.sink.write(bytes)
    }

    fn fill(&mut self, len: usize, make: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        let hasher = &mut self.hasher;
        self.sink.fill(len, &mut |out| {
            make(out);
            if let Some(hasher) = hasher {
                hasher.write(out);
            }
        })
    }
}
