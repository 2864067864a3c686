//! Where encoded bytes go: memory or a stream, hashed on the way.

use std::hash::Hasher as _;
use std::io::Write;

use twox_hash::XxHash3_64;

use crate::base::error::Result;
use crate::base::limits::reserve_more;

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

    /// Prepares for the next `len` bytes to be there still, for [`Self::last`], once all of them are taken. Returns whether
    /// they will be.
    ///
    /// # Errors
    /// Those of the stream behind it.
    fn keep(&mut self, len: usize) -> Result<bool>;

    /// The last `len` bytes that it took, of those that [`Self::keep`] was told of.
    fn last(&self, len: usize) -> &[u8];
}

/// The last `len` of some bytes.
fn last(bytes: &[u8], len: usize) -> &[u8] {
    bytes.get(bytes.len().saturating_sub(len)..).unwrap_or_default()
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

    fn keep(&mut self, _len: usize) -> Result<bool> {
        Ok(true)
    }

    fn last(&self, len: usize) -> &[u8] {
        last(self, len)
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

    fn keep(&mut self, len: usize) -> Result<bool> {
        if self.gathered.len() + len > GATHERED {
            self.send()?;
        }
        Ok(len <= GATHERED)
    }

    fn last(&self, len: usize) -> &[u8] {
        last(&self.gathered, len)
    }
}

/// Bytes that are hashed when all of them are there, and still near. Of more the digest is kept up as they come.
const HASHED_AT_ONCE: usize = 8 << 10;

/// A sink that also computes the XXH3-64 of what passes through, if it is asked to.
pub(crate) struct Hashing<'s, S> {
    sink: &'s mut S,
    digest: Digest,
}

enum Digest {
    None,
    /// To be made of the last so many bytes.
    AtOnce(usize),
    Running(Box<XxHash3_64>),
}

impl<'s, S: Sink> Hashing<'s, S> {
    /// `len` bytes will pass through.
    ///
    /// # Errors
    /// Those of the sink.
    pub(crate) fn new(sink: &'s mut S, len: u64, hashing: bool) -> Result<Self> {
        let digest = match usize::try_from(len) {
            _ if !hashing => Digest::None,
            Ok(len) if len <= HASHED_AT_ONCE && sink.keep(len)? => Digest::AtOnce(len),
            _ => Digest::Running(Box::default()),
        };
        Ok(Self { sink, digest })
    }

    /// The sink behind.
    pub(crate) fn into_sink(self) -> &'s mut S {
        self.sink
    }

    /// The digest of everything, now that it is complete; `None` if none is computed.
    pub(crate) fn digest(&self) -> Option<u64> {
        match &self.digest {
            Digest::None => None,
            Digest::AtOnce(len) => Some(XxHash3_64::oneshot(self.sink.last(*len))),
            Digest::Running(hasher) => Some(hasher.finish()),
        }
    }
}

impl<S: Sink> Sink for Hashing<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if let Digest::Running(hasher) = &mut self.digest {
            hasher.write(bytes);
        }
        self.sink.write(bytes)
    }

    fn fill(&mut self, len: usize, make: &mut dyn FnMut(&mut [u8])) -> Result<()> {
        let digest = &mut self.digest;
        self.sink.fill(len, &mut |out| {
            make(out);
            if let Digest::Running(hasher) = digest {
                hasher.write(out);
            }
        })
    }

    fn keep(&mut self, len: usize) -> Result<bool> {
        self.sink.keep(len)
    }

    fn last(&self, len: usize) -> &[u8] {
        self.sink.last(len)
    }
}
