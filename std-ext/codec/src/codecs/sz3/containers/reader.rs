//! Reads little-endian fields and runs of bytes from the front of a slice.

use super::defect::Defect;

/// The bytes not yet read.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next `len` bytes, which belong to `part`.
    pub(super) fn bytes(&mut self, len: u64, part: &'static str) -> Result<&'a [u8], Defect> {
        let split = usize::try_from(len).ok().and_then(|len| self.0.split_at_checked(len));
        let (bytes, rest) = split.ok_or(Defect::Truncated(part))?;
        self.0 = rest;
        Ok(bytes)
    }

    /// The next `count` items of `N` bytes, which belong to `part`.
    pub(super) fn chunks<const N: usize>(&mut self, count: u64, part: &'static str) -> Result<&'a [[u8; N]], Defect> {
        let len = count.checked_mul(N as u64).ok_or(Defect::Truncated(part))?;
        Ok(self.bytes(len, part)?.as_chunks().0)
    }

    /// The next `N` bytes, which belong to `part`.
    pub(super) fn array<const N: usize>(&mut self, part: &'static str) -> Result<[u8; N], Defect> {
        let (array, rest) = self.0.split_first_chunk().ok_or(Defect::Truncated(part))?;
        self.0 = rest;
        Ok(*array)
    }

    pub(super) fn u8(&mut self, part: &'static str) -> Result<u8, Defect> {
        self.array(part).map(u8::from_le_bytes)
    }

    pub(super) fn u32(&mut self, part: &'static str) -> Result<u32, Defect> {
        self.array(part).map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self, part: &'static str) -> Result<u64, Defect> {
        self.array(part).map(u64::from_le_bytes)
    }

    pub(super) fn f64(&mut self, part: &'static str) -> Result<f64, Defect> {
        self.array(part).map(f64::from_le_bytes)
    }

    /// The bytes that are left.
    pub(super) const fn rest(self) -> &'a [u8] {
        self.0
    }

    /// Checks that nothing is left of `part`.
    pub(super) const fn finish(self, part: &'static str) -> Result<(), Defect> {
        if self.0.is_empty() { Ok(()) } else { Err(Defect::Surplus(part, self.0.len() as u64)) }
    }
}
