//! The distinct values of a key, each with a code.

use std::collections::HashMap;

use tgm_std::Result;

use super::bad;

/// The code of a missing value.
pub(super) const ABSENT: u32 = u32::MAX;
/// Bytes of one value of a key, at most.
pub(super) const LONGEST_VALUE: usize = 1 << 16;

/// The distinct values of a key as CBOR, each with its code.
#[derive(Clone, Debug, Default)]
pub(super) struct Dictionary {
    codes: HashMap<Box<[u8]>, u32>,
    values: Vec<Box<[u8]>>,
    /// The code that was asked for last: neighbours are often equal.
    last: u32,
}

impl Dictionary {
    /// The code of a value. A new one is entered.
    pub(super) fn code(&mut self, encoded: &[u8]) -> Result<u32> {
        if self.values.get(self.last as usize).is_some_and(|last| **last == *encoded) {
            return Ok(self.last);
        }
        let code = match self.codes.get(encoded) {
            Some(code) => *code,
            None => self.enter(encoded)?,
        };
        self.last = code;
        Ok(code)
    }

    fn enter(&mut self, encoded: &[u8]) -> Result<u32> {
        if encoded.len() > LONGEST_VALUE {
            let len = encoded.len();
            return Err(bad(format!("a value of {len} bytes is too long for a catalogue ({LONGEST_VALUE} at most)")));
        }
        let code = u32::try_from(self.values.len()).ok().filter(|code| *code != ABSENT);
        let code = code.ok_or_else(|| bad("a key has too many values"))?;
        self.values.push(encoded.into());
        self.codes.insert(encoded.into(), code);
        Ok(code)
    }

    /// The values in the order of their codes.
    pub(super) fn values(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.values.iter().map(|value| &**value)
    }
}
