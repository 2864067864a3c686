//! `.zio` files: a sequence of messages, each packed into one buffer.
//!
//! A single buffer does not state its end, and a payload part may look like the start of another message. So the codec
//! that packs parts is applied once more: a file is `{ size message }*`, where a message is the single buffer of its
//! parts. Files can be appended to and joined end to end. Messages of 4 GiB and more do not fit.
//!
//! ```text
//! file     FF 00 00 01 2C  ‹message of 300 bytes›   9A ‹message of 154 bytes›  …
//! message  85 ZIO4TENS{…}  18 ‹coordinates›  30 ‹payload›
//! ```
//!
//! The bare buffer of one message is read as well. It has `ZIO` behind its first size, which cannot stand there in a
//! sequence.

use std::io::{self, Write};

use tgm_core::zio::{Error, MAGIC, Parts as Walk, Size, parts};

use super::parts::Parts;

/// The messages of a file, each as the buffer that [`Message::from_buffer`](super::Message::from_buffer) opens, with
/// the byte that it starts at. Ends after an error, which concerns the file's framing.
pub const fn messages(file: &[u8]) -> Messages<'_> {
    Messages { file, walk: parts(file), is_started: false }
}

/// The messages of a file. See [`messages`].
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    file: &'a [u8],
    walk: Walk<'a>,
    is_started: bool,
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<(u64, &'a [u8]), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.is_started {
            self.is_started = true;
            if is_bare(self.file) {
                self.walk = parts(&[]);
                return Some(Ok((0, self.file)));
            }
        }
        let message = self.walk.next()?;
        let end = self.walk.offset();
        Some(message.map(|message| (end.saturating_sub(message.len() as u64), message)))
    }
}

impl std::iter::FusedIterator for Messages<'_> {}

/// Whether a file is the buffer of one message instead of a sequence.
fn is_bare(file: &[u8]) -> bool {
    let ([0xFF, _, _, _, _, behind_size @ ..] | [_, behind_size @ ..]) = file else { return false };
    behind_size.starts_with(&MAGIC)
}

/// Appends a message to a sequence.
///
/// # Errors
/// Errors of `sink`. A message that is too large gives `InvalidInput` before anything is written.
pub fn write(sink: &mut impl Write, message: &Parts<'_>) -> io::Result<()> {
    let invalid = |error: Error| io::Error::new(io::ErrorKind::InvalidInput, error);
    let len = message.encoded_len().map_err(invalid)?;
    let size = Size::of(0, usize::try_from(len).unwrap_or(usize::MAX)).map_err(invalid)?;
    sink.write_all(size.as_bytes())?;
    message.write_to(sink)
}
