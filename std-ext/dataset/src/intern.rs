//! Numbers in place of bytes that occur often.

use std::collections::HashMap;

/// Distinct texts of bytes, each with its number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interner {
    codes: HashMap<Box<[u8]>, u32>,
    items: Vec<Box<[u8]>>,
}

impl Interner {
    /// The number of these bytes. New ones get the next number.
    pub(crate) fn code(&mut self, bytes: &[u8]) -> u32 {
        if let Some(code) = self.codes.get(bytes) {
            return *code;
        }
        // Each item takes more memory than a machine with so many of them has.
        let code = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        self.items.push(bytes.into());
        self.codes.insert(bytes.into(), code);
        code
    }

    /// The number of bytes that are known.
    pub(crate) fn find(&self, bytes: &[u8]) -> Option<u32> {
        self.codes.get(bytes).copied()
    }

    /// The bytes of a number.
    pub(crate) fn get(&self, code: u32) -> &[u8] {
        usize::try_from(code).ok().and_then(|code| self.items.get(code)).map_or(&[], |bytes| &**bytes)
    }

    /// All bytes, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.items.iter().map(|bytes| &**bytes)
    }
}
