//! The prefix of a message, in its first part: level, form and label.

use core::fmt;

use super::error::{ErrorKind, Result};

/// The first bytes of a prefix.
pub const MAGIC: [u8; 3] = *b"ZIO";
/// Bytes of a prefix before its label.
pub const PREFIX_SIZE: usize = 8;

/// How important a message is.
///
/// ```
/// use tgm_zio::Level;
///
/// assert_eq!(Level::from_digit(b'4'), Some(Level::Info));
/// assert!(Level::Info < Level::Error);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Level {
    /// Not stated.
    #[default]
    Undefined,
    /// Trace.
    Trace,
    /// Verbose.
    Verbose,
    /// Debug.
    Debug,
    /// Info.
    Info,
    /// Summary.
    Summary,
    /// Warning.
    Warning,
    /// Error.
    Error,
    /// Fatal.
    Fatal,
}

impl Level {
    /// All levels, by number.
    pub const ALL: [Self; 9] = [
        Self::Undefined,
        Self::Trace,
        Self::Verbose,
        Self::Debug,
        Self::Info,
        Self::Summary,
        Self::Warning,
        Self::Error,
        Self::Fatal,
    ];

    /// The level with this number, 0 to 8.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The level that is written as this ASCII digit.
    pub fn from_digit(digit: u8) -> Option<Self> {
        digit.checked_sub(b'0').and_then(Self::from_number)
    }

    /// The number, 0 to 8.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The ASCII digit on the wire.
    pub const fn digit(self) -> u8 {
        b'0'.wrapping_add(self.number())
    }

    /// The name that ZIO's documentation uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Trace => "trace",
            Self::Verbose => "verbose",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Summary => "summary",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Fatal => "fatal",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The kind of message that the sender states: four bytes, padded with spaces. A message of any form can hold tensors.
///
/// ```
/// use tgm_zio::Form;
///
/// assert_eq!(Form::new("RAW"), Some(Form(*b"RAW ")));
/// assert_eq!(Form::new("LONGER"), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Form(pub [u8; 4]);

impl Form {
    /// The form of tensor messages.
    pub const TENS: Self = Self(*b"TENS");
    /// The form of messages of the FLOW protocol, which may hold tensors.
    pub const FLOW: Self = Self(*b"FLOW");

    /// A form of at most four bytes, padded with spaces. `None` for longer text.
    pub fn new(text: &str) -> Option<Self> {
        let mut form = *b"    ";
        form.get_mut(..text.len())?.iter_mut().zip(text.bytes()).for_each(|(out, byte)| *out = byte);
        Some(Self(form))
    }

    /// The four bytes as text, padding included, if they are printable ASCII.
    pub fn as_str(&self) -> Option<&str> {
        let is_printable = self.0.iter().all(|byte| matches!(byte, b' '..=b'~'));
        if is_printable { core::str::from_utf8(&self.0).ok() } else { None }
    }
}

impl Default for Form {
    fn default() -> Self {
        Self::TENS
    }
}

/// Shows the text. Bytes that are not printable are escaped as in a program.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.escape_ascii().fmt(f)
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Form(\"{self}\")")
    }
}

/// A prefix, borrowed from part 0.
///
/// ```
/// use tgm_zio::{Form, Prefix};
///
/// let prefix = Prefix::parse(b"ZIO4TEXThello")?;
/// assert_eq!((prefix.form(), prefix.label()), (Form(*b"TEXT"), &b"hello"[..]));
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix<'a> {
    level: Level,
    form: Form,
    label: &'a [u8],
}

impl<'a> Prefix<'a> {
    /// Reads part 0. The label is not interpreted.
    ///
    /// # Errors
    /// [`ErrorKind::PrefixTooShort`], [`ErrorKind::BadMagic`], [`ErrorKind::BadLevel`].
    pub fn parse(part: &'a [u8]) -> Result<Self> {
        let (head, label) =
            part.split_first_chunk::<PREFIX_SIZE>().ok_or(ErrorKind::PrefixTooShort(part.len()).at(0, 0))?;
        let [z, i, o, level, form @ ..] = *head;
        if [z, i, o] != MAGIC {
            return Err(ErrorKind::BadMagic.at(0, 0));
        }
        let level = Level::from_digit(level).ok_or(ErrorKind::BadLevel(level).at(0, 3))?;
        Ok(Self { level, form: Form(form), label })
    }

    /// How important the message is.
    pub const fn level(&self) -> Level {
        self.level
    }

    /// The kind of message that the sender states.
    pub const fn form(&self) -> Form {
        self.form
    }

    /// The label, uninterpreted.
    pub const fn label(&self) -> &'a [u8] {
        self.label
    }

    /// The eight bytes before a label.
    pub const fn head(level: Level, form: Form) -> [u8; PREFIX_SIZE] {
        let [z, i, o] = MAGIC;
        let [first, second, third, fourth] = form.0;
        [z, i, o, level.digit(), first, second, third, fourth]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_read_and_its_head_written_back() {
        let part = b"ZIO4TENS{}";
        let prefix = Prefix::parse(part).unwrap();
        assert_eq!((prefix.level(), prefix.form(), prefix.label()), (Level::Info, Form::TENS, &b"{}"[..]));
        assert_eq!(Prefix::head(Level::Info, Form::TENS), part[..8]);
    }

    #[test]
    fn only_digits_up_to_eight_are_levels() {
        for byte in 0..=u8::MAX {
            assert_eq!(Level::from_digit(byte).is_some(), (b'0'..=b'8').contains(&byte));
        }
    }

    #[test]
    fn forms_are_padded_and_never_cut() {
        assert_eq!(Form::new("AB"), Some(Form(*b"AB  ")));
        assert_eq!(Form::new("ABCDE"), None);
        assert_eq!(Form([0, 0xFF, b'a', b'b']).as_str(), None);
    }
}
