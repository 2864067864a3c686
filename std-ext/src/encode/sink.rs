//! The destinations of encoded bytes: memory and streams.

use std::io::{self, Write};

use tgm_codec::fresh::{self, Make};

use crate::base::error::Result;
use crate::base::limits::reserve_more;
use crate::base::span::last;

/// Takes bytes in order.
pub(crate) trait Sink {
    /// Takes bytes that exist.
    ///
    /// # Errors
    /// The errors of the stream.
    fn write(&mut self, bytes: &[u8]) -> Result<()>;

    /// Takes `len` bytes that `make` computes. `make` gets memory of that length and writes all of it, in the final place if
    /// possible.
    ///
    /// # Errors
    /// The errors of the stream, and if there is no memory.
    fn fill(&mut self, len: usize, make: &mut Make<'_>) -> Result<()>;

    /// Asks the sink to keep the next `len` bytes until [`Self::last`] is called. Returns whether it can.
    ///
    /// # Errors
    /// The errors of the stream.
    fn keep(&mut self, _len: usize) -> Result<bool> {
        Ok(false)
    }

    /// The last `len` bytes, which [`Self::keep`] asked for.
    fn last(&self, _len: usize) -> &[u8] {
        &[]
    }
}

impl Sink for Vec<u8> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }

    fn fill(&mut self, len: usize, make: &mut Make<'_>) -> Result<()> {
        Ok(fresh::append(self, len, make)?)
    }

    fn keep(&mut self, _len: usize) -> Result<bool> {
        Ok(true)
    }

    fn last(&self, len: usize) -> &[u8] {
        last(self, len)
    }
}

/// A sink of a message that is written piece by piece.
pub(crate) trait Output: Sink {
    /// How many bytes it took.
    fn written(&self) -> u64;

    /// Makes room for a piece of `len` bytes, if pieces are kept in memory.
    ///
    /// # Errors
    /// If there is no memory.
    fn make_room(&mut self, len: u64) -> Result<()>;

    /// Called when a piece is complete: hands it on, if that is to be done now.
    ///
    /// # Errors
    /// The errors of the stream.
    fn send(&mut self) -> Result<()>;
}

/// A writer that writes one piece after the other, at places of a file.
#[derive(Debug)]
pub(crate) struct Placed<F> {
    pub(crate) write_at: F,
    /// The place of the next piece.
    pub(crate) at: u64,
}

impl<F: FnMut(u64, &[u8]) -> io::Result<()>> Write for Placed<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.write_at)(self.at, bytes)?;
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes that are gathered before they go to the writer.
pub(super) const GATHERED: usize = 16 << 10;

/// A writer with a buffer for small pieces.
#[derive(Debug)]
pub(crate) struct Stream<W> {
    pub(crate) writer: W,
    /// Bytes that the stream took, those in the buffer included.
    pub(crate) written: u64,
    gathered: Vec<u8>,
}

impl<W: Write> Stream<W> {
    pub(crate) const fn new(writer: W) -> Self {
        Self { writer, written: 0, gathered: Vec::new() }
    }
}

impl<W: Write> Output for Stream<W> {
    fn written(&self) -> u64 {
        self.written
    }

    fn make_room(&mut self, _len: u64) -> Result<()> {
        Ok(())
    }

    /// Writes the gathered bytes.
    fn send(&mut self) -> Result<()> {
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

    fn fill(&mut self, len: usize, make: &mut Make<'_>) -> Result<()> {
        if self.gathered.len() + len > GATHERED {
            self.send()?;
        }
        // The buffer grows to the longest piece, and keeps that size.
        reserve_more(&mut self.gathered, len)?;
        fresh::append(&mut self.gathered, len, make)?;
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

/// A piece in memory, until it is taken out by a writer that cannot be called from here.
#[cfg(feature = "async")]
#[derive(Debug, Default)]
pub(crate) struct Piece {
    bytes: Vec<u8>,
    /// Bytes of the pieces before.
    taken: u64,
}

#[cfg(feature = "async")]
impl Piece {
    /// Longer buffers are not kept for the next piece.
    const KEPT: usize = 1 << 20;

    /// The bytes of the piece.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Begins the next piece.
    pub(crate) fn next(&mut self) {
        self.taken += self.bytes.len() as u64;
        self.bytes.clear();
        self.bytes.shrink_to(Self::KEPT);
    }
}

#[cfg(feature = "async")]
impl Output for Piece {
    fn written(&self) -> u64 {
        self.taken + self.bytes.len() as u64
    }

    fn make_room(&mut self, len: u64) -> Result<()> {
        reserve_more(&mut self.bytes, crate::base::span::index(len))
    }

    /// This does not flush the writer. Its owner does.
    fn send(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(feature = "async")]
impl Sink for Piece {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        Sink::write(&mut self.bytes, bytes)
    }

    fn fill(&mut self, len: usize, make: &mut Make<'_>) -> Result<()> {
        Sink::fill(&mut self.bytes, len, make)
    }

    fn keep(&mut self, _len: usize) -> Result<bool> {
        Ok(true)
    }

    fn last(&self, len: usize) -> &[u8] {
        last(&self.bytes, len)
    }
}

#[cfg(test)]
mod tests {
    use tgm_codec::fresh::cleared;

    use super::*;

    /// The lengths of all writes.
    #[derive(Default)]
    struct Writes(Vec<usize>);

    impl Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A stream into which as many bytes were written that they are all gathered.
    fn gathered<W: Write + Default>(len: usize) -> Stream<W> {
        let mut stream = Stream::new(W::default());
        stream.write(&vec![1; len]).unwrap();
        stream
    }

    #[test]
    fn small_pieces_are_gathered_and_long_ones_written_as_they_are() {
        let written = |before: usize, len: usize| {
            let mut stream = gathered::<Writes>(before);
            stream.write(&vec![2; len]).unwrap();
            assert_eq!(stream.written, (before + len) as u64);
            stream.writer.0
        };
        assert!(written(0, GATHERED).is_empty() && written(100, GATHERED - 100).is_empty());
        assert_eq!(written(GATHERED, 1), [GATHERED]);
        assert_eq!(written(100, GATHERED), [100], "the piece itself is gathered");
        assert_eq!(written(100, GATHERED + 1), [100, GATHERED + 1]);
        assert_eq!(written(0, GATHERED + 1), [GATHERED + 1]);

        let filled = |before: usize, len: usize| {
            let mut stream = gathered::<Writes>(before);
            stream
                .fill(len, &mut |memory| {
                    let bytes = cleared(memory);
                    bytes.fill(3);
                    bytes
                })
                .unwrap();
            assert_eq!((stream.written, stream.last(len)), ((before + len) as u64, &*vec![3; len]));
            stream.writer.0
        };
        assert!(filled(0, GATHERED).is_empty() && filled(100, GATHERED - 100).is_empty());
        assert_eq!(filled(101, GATHERED - 100), [101]);
        assert_eq!(filled(100, GATHERED + 1), [100], "made in the buffer, which grows");
    }

    #[test]
    fn what_is_kept_fits_behind_what_was_gathered() {
        let kept = |before: usize, len: usize| {
            let mut stream = gathered::<Writes>(before);
            (stream.keep(len).unwrap(), stream.writer.0)
        };
        assert_eq!(kept(100, GATHERED - 100), (true, vec![]));
        assert_eq!(kept(101, GATHERED - 100), (true, vec![101]));
        assert_eq!(kept(0, GATHERED), (true, vec![]));
        assert!(!kept(0, GATHERED + 1).0);
    }

    #[cfg(feature = "async")]
    #[test]
    fn a_piece_has_room_before_it_is_written() {
        let mut piece = Piece::default();
        piece.make_room(1000).unwrap();
        assert!(piece.bytes.capacity() >= 1000);
    }
}
