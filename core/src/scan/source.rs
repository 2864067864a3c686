//! The sources that a scan can read from.

use core::convert::Infallible;

use super::find::find;

/// Bytes that can be read at any position: a slice, a file, a region of an object store.
///
/// Positions are bytes from the source's start.
pub trait Source {
    /// The error of reading.
    type Error;

    /// Bytes of the source. It must not change during a scan.
    fn len(&self) -> u64;

    /// Whether the source has no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `out` with bytes from `offset` on, and returns their number. It may be smaller than the length of `out` only at
    /// the source's end.
    ///
    /// # Errors
    /// The errors of the source.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, Self::Error>;

    /// The `N` bytes at `offset`. Bytes beyond the end are zero.
    ///
    /// # Errors
    /// The errors of the source.
    fn read<const N: usize>(&self, offset: u64) -> Result<[u8; N], Self::Error> {
        let mut bytes = [0; N];
        self.read_at(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// The first place at or after `from` where `magic` is, if it also ends before `end`.
    ///
    /// This default reads 512 bytes at a time. A source with a larger buffer, or without the need to copy, should do better.
    ///
    /// # Errors
    /// The errors of the source.
    fn find(&self, magic: &[u8; 8], from: u64, end: u64) -> Result<Option<u64>, Self::Error> {
        let mut chunk = [0; 512];
        find_in_chunks(self, magic, from, end, &mut chunk, find)
    }
}

/// [`Source::find`] with the caller's buffer and search. The buffer `chunk` must be longer than 8 bytes. `find` searches a
/// slice: [`find()`], or a faster function.
///
/// # Errors
/// The errors of the source.
pub fn find_in_chunks<S: Source + ?Sized>(
    source: &S,
    magic: &[u8; 8],
    from: u64,
    end: u64,
    chunk: &mut [u8],
    find: impl Fn(&[u8], &[u8; 8]) -> Option<usize>,
) -> Result<Option<u64>, S::Error> {
    let mut from = from;
    loop {
        let room = end.saturating_sub(from);
        let wanted = usize::try_from(room).unwrap_or(usize::MAX).min(chunk.len());
        let read = source.read_at(from, chunk.get_mut(..wanted).unwrap_or_default())?;
        if let Some(at) = find(chunk.get(..read).unwrap_or_default(), magic) {
            return Ok(Some(from.saturating_add(at as u64)));
        }
        // The last seven bytes may be the beginning of a magic.
        let done = read.saturating_sub(magic.len().saturating_sub(1));
        if done == 0 || read as u64 >= room {
            return Ok(None);
        }
        from = from.saturating_add(done as u64);
    }
}

impl Source for &[u8] {
    type Error = Infallible;

    #[inline]
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    #[inline]
    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, Infallible> {
        let rest = usize::try_from(offset).ok().and_then(|start| self.get(start..)).unwrap_or_default();
        let read = rest.len().min(out.len());
        out.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        Ok(read)
    }

    #[inline]
    fn read<const N: usize>(&self, offset: u64) -> Result<[u8; N], Infallible> {
        let whole = usize::try_from(offset).ok().and_then(|start| self.get(start..)?.first_chunk());
        if let Some(bytes) = whole {
            return Ok(*bytes);
        }
        let mut bytes = [0; N];
        self.read_at(offset, &mut bytes)?;
        Ok(bytes)
    }

    #[inline]
    fn find(&self, magic: &[u8; 8], from: u64, end: u64) -> Result<Option<u64>, Infallible> {
        let end = usize::try_from(end).unwrap_or(usize::MAX).min(<[u8]>::len(self));
        let start = usize::try_from(from).unwrap_or(usize::MAX);
        let region = self.get(start..end).unwrap_or_default();
        Ok(find(region, magic).map(|at| from.saturating_add(at as u64)))
    }
}
