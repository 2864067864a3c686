//! The bytes that a request needs, once they were fetched: decoding them reads nothing.

use tgm_core::descriptor::Descriptor;
use tgm_core::hash::HashPresence;
use zerocopy::IntoBytes as _;

use super::bounds::check_output;
use super::checked::CheckedMessage;
use super::lone_frame::LoneFrame;
use super::range::convert_ranges;
use super::scratch::Scratch;
use super::trust::Trusted;
use super::typed::zeros;
use super::wanted::{self, Wanted, check_type};
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::model::number::{Floats, Number};

/// What was fetched of an object.
#[derive(Debug)]
pub(crate) enum AtHand {
    /// All of its frame.
    Frame(FrameAtHand),
    /// The values that are wanted and nothing else: they are decoded already, by the options that they were asked with.
    Values(DecodedParts),
}

/// All of an object's frame.
#[derive(Debug)]
pub(crate) enum FrameAtHand {
    /// In its message, with the number of the object.
    InMessage { bytes: Vec<u8>, index: usize },
    /// Without its message: its place there, the number of the object, and how to know whether the frame has a digest.
    Alone { bytes: Vec<u8>, offset: u64, index: usize, presence: HashPresence },
}

/// Values of an object of which only parts were fetched.
#[derive(Debug)]
pub(crate) struct DecodedParts {
    /// The descriptor's CBOR, and its place in the message.
    pub(crate) descriptor: (Vec<u8>, u64),
    /// The values of each range one after the other, or the values of a box.
    pub(crate) bytes: Vec<u8>,
}

impl FrameAtHand {
    /// Opens the object, whose digest is checked if the options ask for it.
    ///
    /// # Errors
    /// The errors of the message, the frame and the digest; the errors of `read`.
    fn open<R>(&self, options: &DecodeOptions, read: impl FnOnce(Trusted<'_, '_>) -> Result<R>) -> Result<R> {
        match self {
            Self::InMessage { bytes, index } => CheckedMessage::read_object(bytes, *index, options, read),
            &Self::Alone { ref bytes, offset, index, presence } => {
                LoneFrame { bytes, offset, index, presence }.read(options, read)
            }
        }
    }
}

impl AtHand {
    /// The values as bytes.
    ///
    /// # Errors
    /// The errors of [`wanted::bytes`], of the message, the frame and the digest.
    pub(crate) fn bytes(self, wanted: Wanted<'_>, options: &DecodeOptions) -> Result<Vec<u8>> {
        match self {
            Self::Frame(frame) => {
                frame.open(options, |object| options.limits.owned(wanted::bytes(object, wanted, options)?))
            }
            Self::Values(parts) => Ok(parts.bytes),
        }
    }

    /// [`Self::bytes`] into all of `out`.
    ///
    /// # Errors
    /// The errors of [`wanted::bytes_into`], of the message, the frame and the digest.
    pub(crate) fn bytes_into(
        &self,
        wanted: Wanted<'_>,
        options: &DecodeOptions,
        scratch: &mut Scratch,
        out: &mut [u8],
    ) -> Result<()> {
        match self {
            Self::Frame(frame) => {
                frame.open(options, |object| wanted::bytes_into(object, wanted, None, options, scratch, out))
            }
            Self::Values(parts) => copy_into(&parts.bytes, out),
        }
    }

    /// The values as a vector of type `T`. The options with which parts were asked for must have said that values are in
    /// this machine's byte order.
    ///
    /// # Errors
    /// The errors of [`wanted::values`], of the message, the frame and the digest.
    pub(crate) fn values<T: Number>(
        &self,
        wanted: Wanted<'_>,
        options: &DecodeOptions,
        scratch: &mut Scratch,
    ) -> Result<Vec<T>> {
        match self {
            Self::Frame(frame) => frame.open(options, |object| wanted::values(object, wanted, options, scratch)),
            Self::Values(parts) => {
                let view = parts.descriptor()?;
                check_type::<T>(&view)?;
                let mut out = zeros(wanted.count(&view, options)?, u64::MAX, options)?;
                parts.values_into(&view, wanted, options, &mut out)?;
                Ok(out)
            }
        }
    }

    /// [`Self::values`] into all of `out`.
    ///
    /// # Errors
    /// The errors of [`wanted::values_into`], of the message, the frame and the digest.
    pub(crate) fn values_into<T: Number>(
        &self,
        wanted: Wanted<'_>,
        options: &DecodeOptions,
        scratch: &mut Scratch,
        out: &mut [T],
    ) -> Result<()> {
        match self {
            Self::Frame(frame) => {
                frame.open(options, |object| wanted::values_into(object, wanted, options, scratch, out))
            }
            Self::Values(parts) => {
                let view = parts.descriptor()?;
                check_type::<T>(&view)?;
                parts.values_into(&view, wanted, options, out)
            }
        }
    }
}

impl DecodedParts {
    fn descriptor(&self) -> Result<Descriptor<'_>> {
        Ok(Descriptor::parse(&self.descriptor.0, self.descriptor.1)?)
    }

    fn values_into<T: Number>(
        &self,
        descriptor: &Descriptor<'_>,
        wanted: Wanted<'_>,
        options: &DecodeOptions,
        out: &mut [T],
    ) -> Result<()> {
        let (given, expected) = (out.len(), wanted.count(descriptor, options)?);
        if given as u64 != expected {
            return Err(TensogramError::encoding(format!("output has {given} values, the request has {expected}")));
        }
        let all = [(0, expected)];
        let ranges = if let Wanted::Ranges(ranges) = wanted { ranges } else { &all };
        match T::floats(out) {
            Some(Floats::F32(out)) => return convert_ranges(descriptor.dtype(), &self.bytes, ranges, out),
            Some(Floats::F64(out)) => return convert_ranges(descriptor.dtype(), &self.bytes, ranges, out),
            None => {}
        }
        copy_into(&self.bytes, T::as_elements_mut(out).as_mut_bytes())
    }
}

/// Copies values to a buffer of their length.
fn copy_into(values: &[u8], out: &mut [u8]) -> Result<()> {
    check_output(values.len() as u64, out)?;
    out.copy_from_slice(values);
    Ok(())
}
