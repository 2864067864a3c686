//! What decoding many objects may cost together.
//!
//! [`DecodeLimits`] hold one object at a time. A message can have a million objects, each within them, and a file any number
//! of messages: a few megabytes of bombs would keep a program busy for days. Where all objects of a message or file are
//! decoded one after the other ([validation](crate::validate), `tgm digest`), the sum of what they decode to has a limit too.

use tgm_core::object::DataObject;

use crate::base::error::{Result, TensogramError};
use crate::base::hint::Hint;
use crate::base::limits::DecodeLimits;

/// Decoded bytes that any message or file may have, however short it is: 16 GiB.
const FREE_BYTES: u64 = 16 << 30;

/// Decoded bytes for each byte of the message or file, beyond those: 16,384.
const EXPANSION: u64 = 16 << 10;

/// Limits on what the objects of a message, and those of a file, decode to in all. On by default.
///
/// Counted is what has to be computed, by what descriptors claim and before it is computed. Objects whose values lie in the
/// message as they are cost nothing.
///
/// ```
/// use tgm_std::{DecodeBudget, DecodeLimits};
/// use tgm_std::core::Message;
///
/// # let bytes = std::fs::read("../tests/data/realistic/surface-181x360.tgm").unwrap();
/// let budget = DecodeBudget { max_message_bytes: Some(1000), ..DecodeBudget::default() };
/// let mut spending = budget.of_file(bytes.len() as u64);
/// spending.begin_message(bytes.len() as u64);
/// let message = Message::parse(&bytes)?;
/// let refused = message.objects().flatten().find_map(|object| spending.spend(&object, &DecodeLimits::default()).err());
/// assert!(refused.unwrap().to_string().contains("1000 bytes"));
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecodeBudget {
    /// Decoded bytes of all objects of a message; `None` for 16 GiB and 16,384 for each byte of the message.
    pub max_message_bytes: Option<u64>,
    /// Decoded bytes of all objects of a file; `None` for 16 GiB and 16,384 for each byte of the file.
    pub max_file_bytes: Option<u64>,
}

impl DecodeBudget {
    /// No limits.
    pub const UNLIMITED: Self = Self { max_message_bytes: Some(u64::MAX), max_file_bytes: Some(u64::MAX) };

    /// The whole budget, for a file of `len` bytes.
    pub fn of_file(self, len: u64) -> Spending {
        let file = Allowance::new(self.max_file_bytes, len);
        Spending { budget: self, file, message: file }
    }
}

/// What of a [`DecodeBudget`] is left.
#[derive(Clone, Debug)]
pub struct Spending {
    budget: DecodeBudget,
    file: Allowance,
    message: Allowance,
}

#[derive(Clone, Copy, Debug)]
struct Allowance {
    whole: u64,
    left: u64,
}

impl Allowance {
    fn new(max: Option<u64>, len: u64) -> Self {
        let whole = max.unwrap_or(FREE_BYTES.saturating_add(len.saturating_mul(EXPANSION)));
        Self { whole, left: whole }
    }

    /// Takes `bytes`, or else all that is left.
    fn take(&mut self, bytes: u64, of: &str, limit: Hint) -> Result<()> {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(0);
        left.map(drop).ok_or_else(|| {
            let whole = self.whole;
            let text = format!("the objects of this {of} decode to more than {whole} bytes in all, {limit}");
            TensogramError::encoding(text)
        })
    }
}

impl Spending {
    /// Turns to the next message, of `len` bytes.
    pub fn begin_message(&mut self, len: u64) {
        self.message = Allowance::new(self.budget.max_message_bytes, len);
    }

    /// Takes what decoding `object` costs. Call it before the object is decoded.
    ///
    /// An object that `limits` refuse is free: decoding it is an error at once. After an error nothing is left, so that all
    /// further objects of the message, or of the file, are refused that have to be decoded.
    ///
    /// # Errors
    /// [`TensogramError::Encoding`] naming the limit.
    pub fn spend(&mut self, object: &DataObject<'_>, limits: &DecodeLimits) -> Result<()> {
        let descriptor = object.descriptor();
        let decoded = descriptor.decoded_len().ok().filter(|_| descriptor.pending_stage().is_some());
        let encoded = object.payload().len() as u64;
        let Some(decoded) = decoded.filter(|&decoded| limits.check_bytes(encoded, decoded).is_ok()) else {
            return Ok(());
        };
        self.message.take(decoded, "message", Hint::MaxMessageBytes)?;
        self.file.take(decoded, "file", Hint::MaxFileBytes)
    }
}
