//! Limits on what many objects decode to together.
//!
//! [`DecodeLimits`] apply to one object at a time. A message can have a million objects within these limits, and a file
//! can have any number of messages. A few crafted megabytes could then keep a program busy for days. Code that decodes
//! all objects of a message or file in a row ([validation](crate::validate), `tgm validate --print`) therefore limits the sum as
//! well.

use tgm_core::object::DataObject;

use crate::base::error::{Result, TensogramError};
use crate::base::hint::Hint;
use crate::base::limits::DecodeLimits;

/// Decoded bytes that every message and every file may have, however short it is: 16 GiB.
const FREE_BYTES: u64 = 16 << 30;

/// Further decoded bytes for each byte of the message or file: 16,384.
const EXPANSION: u64 = 16 << 10;

/// Limits on the sum of what the objects of a message, and of a file, decode to. They are on by default.
///
/// The sum counts values that have to be computed. It uses the sizes that descriptors claim, before anything is
/// computed. Objects whose values are stored plainly cost nothing.
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
/// let limits = DecodeLimits::default();
/// let refused = message.objects().flatten().find_map(|object| spending.spend(&object, &limits).err());
/// assert!(refused.unwrap().to_string().contains("1000 bytes"));
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecodeBudget {
    /// Decoded bytes of all objects of a message. `None` means 16 GiB plus 16,384 for each byte of the message.
    pub max_message_bytes: Option<u64>,
    /// Decoded bytes of all objects of a file. `None` means 16 GiB plus 16,384 for each byte of the file.
    pub max_file_bytes: Option<u64>,
}

impl DecodeBudget {
    /// A budget without limits.
    pub const UNLIMITED: Self = Self { max_message_bytes: Some(u64::MAX), max_file_bytes: Some(u64::MAX) };

    /// The whole budget for a file of `len` bytes, ready to be spent.
    pub fn of_file(self, len: u64) -> Spending {
        let file = Allowance::new(self.max_file_bytes, len);
        Spending { budget: self, file, message: file }
    }
}

/// The part of a [`DecodeBudget`] that is left.
#[derive(Clone, Debug)]
pub struct Spending {
    budget: DecodeBudget,
    file: Allowance,
    message: Allowance,
}

/// One of the two sums: the limit, and the bytes that are left of it.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    whole: u64,
    left: u64,
}

impl Allowance {
    fn new(max: Option<u64>, len: u64) -> Self {
        // Here and below: a number beyond 64 bits sets no limit.
        let whole = max.unwrap_or(FREE_BYTES.saturating_add(len.saturating_mul(EXPANSION)));
        Self { whole, left: whole }
    }

    /// Takes `bytes`. If fewer are left, takes these and returns the error.
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
    /// Starts the next message, which has `len` bytes.
    pub fn begin_message(&mut self, len: u64) {
        self.message = Allowance::new(self.budget.max_message_bytes, len);
    }

    /// Adds what `len` more bytes of the file allow. For files whose length is not known in advance.
    pub(crate) const fn extend_file(&mut self, len: u64) {
        if self.budget.max_file_bytes.is_none() {
            let more = len.saturating_mul(EXPANSION);
            self.file.whole = self.file.whole.saturating_add(more);
            self.file.left = self.file.left.saturating_add(more);
        }
    }

    /// What a copy of this has taken of the file's allowance.
    pub(crate) const fn spent_by(&self, copy: &Self) -> u64 {
        self.file.left.saturating_sub(copy.file.left)
    }

    /// Takes what a message spent of a copy of this. `false`, and nothing is taken, if so much is not left: then the message
    /// would have been refused something.
    pub(crate) const fn take_of_file(&mut self, spent: u64) -> bool {
        let Some(left) = self.file.left.checked_sub(spent) else { return false };
        self.file.left = left;
        true
    }

    /// Takes the cost of decoding `object`. Call it before you decode the object.
    ///
    /// An object that `limits` refuse costs nothing, because decoding it fails at once. After an error nothing is left:
    /// all further objects of the message, or of the file, are refused if they need decoding.
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
