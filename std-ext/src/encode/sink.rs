//! The destinations of encoded bytes, memory and streams, and hashing on the way.

use std::hash::Hasher as _;
use std::io::{self, Write};

use tgm_codec::fresh::{self, Make};
use twox_hash::XxHash3_64;

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
    fn keep(&mut self, len: usize) -> Result<bool>;

    /// The last `len` bytes, which [`Self::keep`] asked for.
    fn last(&self, len: usize) -> &[u8];
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
const GATHERED: usize = 16 << 10;

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

/// Up to this many bytes are hashed together after all of them were taken. More bytes are hashed as they come.
const HASHED_AT_ONCE: usize = 8 << 10;

/// A sink that also computes the XXH3-64 of all bytes, if `hashing`.
pub(crate) struct Hashing<'s, S> {
    sink: &'s mut S,
    digest: Digest,
}

enum Digest {
    None,
    /// Computed at the end, from the last bytes. The number says how many.
    AtOnce(usize),
    Running(Box<XxHash3_64>),
}

impl<'s, S: Sink> Hashing<'s, S> {
    /// Begins to hash the next `len` bytes.
    ///
    /// # Errors
    /// The errors of the sink.
    pub(crate) fn new(sink: &'s mut S, len: u64, hashing: bool) -> Result<Self> {
        let digest = match usize::try_from(len) {
            _ if !hashing => Digest::None,
            Ok(len) if len <= HASHED_AT_ONCE && sink.keep(len)? => Digest::AtOnce(len),
            _ => Digest::Running(Box::default()),
        };
        Ok(Self { sink, digest })
    }

    /// The sink that the bytes went to.
    pub(crate) fn into_sink(self) -> &'s mut S {
        self.sink
    }

    /// The digest, after all bytes were taken. `None` if nothing is hashed.
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

    fn fill(&mut self, len: usize, make: &mut Make<'_>) -> Result<()> {
        let digest = &mut self.digest;
        self.sink.fill(len, &mut |memory| {
            let bytes = make(memory);
            if let Digest::Running(hasher) = digest {
                hasher.write(bytes);
            }
            bytes
        })
    }

    fn keep(&mut self, len: usize) -> Result<bool> {
        self.sink.keep(len)
    }

    fn last(&self, len: usize) -> &[u8] {
        self.sink.last(len)
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

    /// Whether the digest of a frame of this length is computed from the frame's bytes at the end.
    fn is_at_once(sink: &mut impl Sink, len: usize) -> bool {
        matches!(Hashing::new(sink, len as u64, true).unwrap().digest, Digest::AtOnce(kept) if kept == len)
    }

    /// A digest that runs along takes memory of its own.
    #[test]
    fn short_frames_are_hashed_at_once_and_longer_ones_as_they_come() {
        for len in [0, 1, HASHED_AT_ONCE] {
            assert!(is_at_once(&mut Vec::new(), len) && is_at_once(&mut gathered::<Writes>(100), len));
            #[cfg(feature = "async")]
            assert!(is_at_once(&mut Piece::default(), len));
        }
        assert!(!is_at_once(&mut Vec::new(), HASHED_AT_ONCE + 1));
    }

    #[cfg(feature = "async")]
    #[test]
    fn a_piece_has_room_before_it_is_written() {
        let mut piece = Piece::default();
        piece.make_room(1000).unwrap();
        assert!(piece.bytes.capacity() >= 1000);
    }

    #[test]
    fn a_digest_is_of_all_its_bytes_however_full_the_buffer_was() {
        for len in [0, 1, 200, HASHED_AT_ONCE, HASHED_AT_ONCE + 1, GATHERED, GATHERED + 1, 3 * GATHERED] {
            let bytes: Vec<u8> = (0..=250).cycle().take(len).collect();
            for before in [0, 100, GATHERED - 200, GATHERED - 100, GATHERED] {
                for piece in [37, 4096, GATHERED + 5] {
                    let mut stream = gathered::<Vec<u8>>(before);
                    let mut hashing = Hashing::new(&mut stream, len as u64, true).unwrap();
                    for (number, piece) in bytes.chunks(piece).enumerate() {
                        if number % 2 == 0 {
                            hashing.write(piece).unwrap();
                        } else {
                            hashing.fill(piece.len(), &mut |memory| memory.write_copy_of_slice(piece)).unwrap();
                        }
                    }
                    assert_eq!(hashing.digest(), Some(XxHash3_64::oneshot(&bytes)), "{len} after {before}");
                    stream.send().unwrap();
                    assert!(stream.writer.ends_with(&bytes) && stream.writer.len() == before + len);
                }
            }
        }
    }
}
