//! A source of bytes that counts the bytes read from it.

use std::cell::Cell;
use std::convert::Infallible;

use tgm_core::scan::Source;

/// What a call costs, in bytes, on top of the bytes that it reads.
pub(crate) const CALL: u64 = 8;

/// A slice that counts the bytes read from it.
pub(crate) struct Counted<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) work: &'a Cell<u64>,
}

impl Source for Counted<'_> {
    type Error = Infallible;

    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> Result<usize, Infallible> {
        let rest = self.bytes.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
        let read = rest.len().min(out.len());
        out[..read].copy_from_slice(&rest[..read]);
        self.work.set(self.work.get() + read as u64 + CALL);
        Ok(read)
    }

    fn find(&self, magic: &[u8; 8], from: u64, end: u64) -> Result<Option<u64>, Infallible> {
        let region = &self.bytes[usize::try_from(from).unwrap().min(self.bytes.len())..];
        let region = &region[..usize::try_from(end.saturating_sub(from)).unwrap().min(region.len())];
        let at = tgm_core::scan::find(region, magic);
        let looked_at = at.map_or(region.len(), |at| at + magic.len());
        self.work.set(self.work.get() + looked_at as u64 + CALL);
        Ok(at.map(|at| from + at as u64))
    }
}
