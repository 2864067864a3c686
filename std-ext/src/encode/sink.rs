//! Where encoded bytes go: memory or a stream, hashed on the way.

use std::hash::Hasher as _;
use std::io::Write;

use twox_hash::XxHash3_64;

use crate::error::Result;
use crate::limits::reserve_more;

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

/// Bytes that are gathered before they are handed on.
const GATHERED: usize = 16 << 10;

/// A stream, to which small pieces go together, and how many bytes were written to it.
#[derive(Debug)]
pub(crate) struct Stream<W> {
    pub(crate) writer: W,
    pub(crate) written: u64,
    gathered: Vec<u8>,
}

impl<W: Write> Stream<W> {
    pub(crate) const fn new(writer: W) -> Self {
        Self { writer, written: 0, gathered: Vec::new() }
    }

    /// Hands on what has been gathered.
    ///
    /// # Errors
    /// Those of the stream.
    pub(crate) fn send(&mut self) -> Result<()> {
        self.writer.write_all(&self.gathered)?;
        self.gathered.clear();
        Ok(())
    }
}

impl<W: Write> Sink for Stream<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.written += bytes.len() as u64;
        if self.gathered.len() + bytes.len() > GATHERED {
            self.send()?;
            if bytes.len() > GATHERED {
                return Ok(self.writer.write_all(bytes)?);
            }
        }
        self.gathered.extend_from_slice(bytes);
        Ok(())
    }

    fn fill(&mut self, len: usize, make: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        if self.gathered.len() + len > GATHERED {
            self.send()?;
        }
        // As long as the longest piece, which stays.
        let start = self.gathered.len();
        reserve_more(&mut self.gathered, len)?;
        self.gathered.resize(start + len, 0);
        if let Some(out) = self.gathered.get_mut(start..) {
            make(out);
        }
        self.written += len as u64;
        Ok(())
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
