//! Writing a label into the caller's memory, byte for byte as ZIO's C++ writes it.
//!
//! Without `core::fmt`: its code is large for firmware, and cannot be proven free of panics.

use tgm_core::descriptor::Dtype;

use super::dtype::kind_of;
use super::error::{ErrorKind, Result};

/// Text in a slice of the caller. Methods return `None` for what does not fit.
#[derive(Debug)]
pub(super) struct Text<'o> {
    out: &'o mut [u8],
    len: usize,
}

impl<'o> Text<'o> {
    pub(super) const fn new(out: &'o mut [u8]) -> Self {
        Self { out, len: 0 }
    }

    /// The text that was written.
    pub(super) fn finish(self) -> &'o [u8] {
        self.out.get(..self.len).unwrap_or_default()
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Appends bytes, all or none.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Option<()> {
        let place = self.out.get_mut(self.len..)?.get_mut(..bytes.len())?;
        place.iter_mut().zip(bytes).for_each(|(out, byte)| *out = *byte);
        self.len = self.len.saturating_add(bytes.len());
        Some(())
    }

    /// Appends a number in decimal digits.
    pub(super) fn number(&mut self, number: u64) -> Option<()> {
        let mut digits = [0; 20];
        let (mut rest, mut used) = (number, 0_usize);
        for digit in digits.iter_mut().rev() {
            let [last, ..] = rest.wrapping_rem(10).to_le_bytes();
            *digit = b'0'.wrapping_add(last);
            rest = rest.wrapping_div(10);
            used = used.saturating_add(1);
            if rest == 0 {
                break;
            }
        }
        self.put(digits.get(digits.len().saturating_sub(used)..)?)
    }
}

/// A writer of labels, for machines without an allocator. Tensor i is in payload part i.
///
/// ```
/// use tgm_core::descriptor::{ByteOrder, Dtype};
/// use tgm_zio::{Coords, Form, LabelWriter, Level, Message, Prefix, TensLabel};
///
/// let mut prefix = [0; 128];
/// let (head, label) = prefix.split_at_mut(8);
/// head.copy_from_slice(&Prefix::head(Level::Info, Form::TENS));
/// let mut writer = LabelWriter::new(label);
/// writer.tensor(Dtype::Int16, &[2, 3])?;
/// let len = 8 + writer.finish()?.len();
///
/// let coords = Coords { origin: 1, granule: 0, seqno: 7 }.to_bytes(ByteOrder::Little);
/// let parts = [&prefix[..len], &coords, &[0; 12]]; // to be sent
/// assert!(parts[0].starts_with(br#"ZIO4TENS{"TENS":{"tensors":[{"dtype":"i","part":0,"shape":[2,3],"word":2}]}}"#));
/// let message = Message::from_parts(&parts, ByteOrder::Little)?;
/// assert_eq!(TensLabel::of(&message)?.tensors().count(), 1);
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Debug)]
pub struct LabelWriter<'o> {
    text: Text<'o>,
    tensors: usize,
    is_full: bool,
}

impl<'o> LabelWriter<'o> {
    /// A label without tensors yet, to be written to the front of `out`.
    pub const fn new(out: &'o mut [u8]) -> Self {
        Self { text: Text::new(out), tensors: 0, is_full: false }
    }

    /// Adds a tensor of dense elements in row-major order, in the next payload part.
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`] if the label does not fit. Every later call then fails too.
    pub fn tensor(&mut self, dtype: Dtype, shape: &[u64]) -> Result<()> {
        let (kind, word) = kind_of(dtype);
        self.tensor_of_kind(kind, word, shape)
    }

    /// Adds a tensor of any kind and width, as [`Self::tensor`]. The kind is an ASCII letter by convention.
    ///
    /// # Errors
    /// [`ErrorKind::BadDtype`] for a kind that is not an ASCII letter or a question mark; [`ErrorKind::OutputLength`].
    pub fn tensor_of_kind(&mut self, kind: char, word: u32, shape: &[u64]) -> Result<()> {
        if !kind.is_ascii_alphabetic() && kind != '?' {
            return Err(ErrorKind::BadDtype.of(self.tensors, "dtype"));
        }
        let part = self.tensors;
        let before: &[u8] = if part == 0 { b"{\"TENS\":{\"tensors\":[" } else { b"," };
        self.put(|text| {
            text.put(before)?;
            text.put(b"{\"dtype\":\"")?;
            // An ASCII letter, as was checked.
            text.put(&[kind as u8])?;
            text.put(b"\",\"part\":")?;
            text.number(part as u64)?;
            text.put(b",\"shape\":[")?;
            for (index, dim) in shape.iter().enumerate() {
                text.put(if index == 0 { b"" } else { b"," })?;
                text.number(*dim)?;
            }
            text.put(b"],\"word\":")?;
            text.number(u64::from(word))?;
            text.put(b"}")
        })?;
        self.tensors = part.saturating_add(1);
        Ok(())
    }

    /// Ends the label, and returns it.
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`].
    pub fn finish(self) -> Result<&'o [u8]> {
        self.end(b"}")
    }

    /// Ends the label as one of FLOW's messages with data (DAT), and returns it.
    ///
    /// # Errors
    /// [`ErrorKind::OutputLength`].
    pub fn finish_flow(self) -> Result<&'o [u8]> {
        self.end(b",\"flow\":\"DAT\"}")
    }

    fn end(mut self, last: &[u8]) -> Result<&'o [u8]> {
        let tens: &[u8] = if self.tensors == 0 { b"{\"TENS\":{}" } else { b"]}" };
        self.put(|text| text.put(tens).and_then(|()| text.put(last)))?;
        Ok(self.text.finish())
    }

    fn put(&mut self, write: impl FnOnce(&mut Text<'o>) -> Option<()>) -> Result<()> {
        let full = ErrorKind::OutputLength.at_byte(self.text.len());
        if self.is_full {
            return Err(full);
        }
        write(&mut self.text).ok_or_else(|| {
            self.is_full = true;
            full
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_those_of_cpp() {
        let mut out = [0; 200];
        let mut writer = LabelWriter::new(&mut out);
        writer.tensor(Dtype::Float32, &[]).unwrap();
        writer.tensor_of_kind('?', 12, &[1, u64::MAX]).unwrap();
        let expected: &[u8] = br#"{"TENS":{"tensors":[{"dtype":"f","part":0,"shape":[],"word":4},{"dtype":"?","part":1,"shape":[1,18446744073709551615],"word":12}]},"flow":"DAT"}"#;
        assert_eq!(writer.finish_flow().unwrap(), expected);
        assert_eq!(LabelWriter::new(&mut out).finish().unwrap(), b"{\"TENS\":{}}");
    }

    #[test]
    fn a_label_that_does_not_fit_is_an_error_from_then_on() {
        let mut out = [0; 70];
        let mut writer = LabelWriter::new(&mut out);
        writer.tensor(Dtype::Uint8, &[1]).unwrap();
        assert_eq!(writer.tensor(Dtype::Uint8, &[1]).unwrap_err().kind(), ErrorKind::OutputLength);
        assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::OutputLength);
        assert_eq!(LabelWriter::new(&mut []).tensor_of_kind('"', 1, &[]).unwrap_err().kind(), ErrorKind::BadDtype);
    }
}
