//! A part of a file in memory, so that one read serves several places.

/// Bytes of a file from some offset on. An empty window holds none.
#[derive(Debug, Default)]
pub struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// Where the window begins.
    pub(super) const fn start(&self) -> u64 {
        self.start
    }

    /// The bytes of the window from `offset` on. `None` if these are fewer than `wanted`.
    pub fn at(&self, offset: u64, wanted: usize) -> Option<&[u8]> {
        let start = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.bytes.get(start..).filter(|rest| rest.get(..wanted).is_some())
    }

    /// Moves the window: up to `size` bytes from `start` on, fewer if the file ends before.
    ///
    /// # Errors
    /// The errors of `read_at`. The window is empty then.
    pub fn move_to<E>(
        &mut self,
        start: u64,
        size: usize,
        read_at: impl FnOnce(u64, &mut [u8]) -> Result<usize, E>,
    ) -> Result<(), E> {
        // Bytes of an earlier place need no zeros: what is not read over them is cut off.
        self.bytes.resize(size, 0);
        self.start = start;
        let read = read_at(start, &mut self.bytes).inspect_err(|_| self.bytes.clear())?;
        self.bytes.truncate(read);
        Ok(())
    }

    /// `wanted` bytes at `offset`. If the window lacks them, it moves there, and becomes as large as `size` says if that is more.
    /// `None` if the file ends before.
    ///
    /// # Errors
    /// The errors of `read_at`.
    pub fn get<E>(
        &mut self,
        offset: u64,
        wanted: usize,
        size: impl FnOnce() -> usize,
        read_at: impl FnOnce(u64, &mut [u8]) -> Result<usize, E>,
    ) -> Result<Option<&[u8]>, E> {
        if self.at(offset, wanted).is_none() {
            self.move_to(offset, size().max(wanted), read_at)?;
        }
        Ok(self.at(offset, wanted).and_then(|rest| rest.get(..wanted)))
    }
}
