//! A message that came through a socket, with its frames.

use bytes::Bytes;
use tgm_core::descriptor::ByteOrder;

use super::build::TensBuilder;
use super::parts::Parts;
use super::payload::Payload;
use super::tens::Tens;
use crate::wire::{Envelope, Message, Result, parts};

/// The frames of a message that came: owned, so that it can go to another thread, be kept, and be sent on. Frames are
/// counted by reference, and none is copied. Parts of a single buffer are slices of it.
///
/// ```
/// use bytes::Bytes;
/// use tgm_std::ByteOrder;
/// use tgm_zio::{Envelope, Received, Tens};
///
/// let frames = [&b"peer"[..], b"", br#"ZIO0TENS{"TENS":{"tensors":[{"shape":[2],"word":1,"dtype":"u"}]}}"#, &[0; 24], &[5, 6]];
/// let frames: Vec<Bytes> = frames.into_iter().map(Bytes::copy_from_slice).collect();
/// let payload = frames[4].as_ptr();
///
/// let received = Received::from_frames(frames, Envelope::Router, ByteOrder::Little)?;
/// let message = received.message()?;
/// assert_eq!(Tens::parse(&message)?.tensors()[0].bytes(), [5, 6]);
///
/// // Back to the peer, with a note in the label.
/// let answer = received.to_builder()?.metadata("seen").build()?.parts;
/// let frames = answer.into_frames(Envelope::Router, received.identity())?;
/// assert_eq!((&*frames[0], frames[4].as_ptr()), (&b"peer"[..], payload));
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Received {
    identity: Option<Bytes>,
    parts: Vec<Bytes>,
    order: ByteOrder,
}

impl Received {
    /// Takes the envelope off, and unpacks a single frame that is left. `order` is the sender's byte order.
    ///
    /// # Errors
    /// The errors of [`Envelope::strip`], and of [`parts`] for a single frame.
    pub fn from_frames<B: Into<Bytes>>(
        frames: impl IntoIterator<Item = B>,
        envelope: Envelope,
        order: ByteOrder,
    ) -> Result<Self> {
        let mut frames: Vec<Bytes> = frames.into_iter().map(Into::into).collect();
        let (identity, rest) = envelope.strip(&frames)?;
        let (has_identity, head) = (identity.is_some(), frames.len().saturating_sub(rest.len()));
        let parts = frames.split_off(head);
        let identity = frames.into_iter().next().filter(|_| has_identity);
        let parts = match <[Bytes; 1]>::try_from(parts) {
            Ok([buffer]) => parts_of(&buffer)?,
            Err(parts) => parts,
        };
        Ok(Self { identity, parts, order })
    }

    /// The message of a single buffer, as CLIENT and SERVER carry it and as files hold it.
    ///
    /// # Errors
    /// The errors of [`parts`].
    pub fn from_buffer(buffer: impl Into<Bytes>, order: ByteOrder) -> Result<Self> {
        Ok(Self { identity: None, parts: parts_of(&buffer.into())?, order })
    }

    /// The peer that a ROUTER received from, for the answer.
    pub const fn identity(&self) -> Option<&Bytes> {
        self.identity.as_ref()
    }

    /// The parts: prefix, coordinates, payload.
    pub fn parts(&self) -> &[Bytes] {
        &self.parts
    }

    /// The message. O(1).
    ///
    /// # Errors
    /// The errors of [`Message::from_parts`].
    pub fn message(&self) -> Result<Message<'_, Bytes>> {
        Message::from_parts(&self.parts, self.order)
    }

    /// The message to be sent on as it is, byte for byte.
    ///
    /// # Errors
    /// The errors of [`Self::message`].
    pub fn to_parts(&self) -> Result<Parts<'static>> {
        let message = self.message()?;
        let payloads = self.payloads();
        Ok(Parts::new(
            message.level(),
            message.form(),
            message.label(),
            message.coords(),
            message.byte_order(),
            payloads,
        ))
    }

    /// A builder that has the message's header, tensors and parts: to be added to, annotated, and sent on. No value is
    /// decoded, and no payload is copied.
    ///
    /// # Errors
    /// The errors of [`Self::message`] and [`Tens::parse`].
    pub fn to_builder(&self) -> Result<TensBuilder<'static>> {
        Ok(TensBuilder::of_tens(&Tens::parse(&self.message()?)?, self.payloads()))
    }

    fn payloads(&self) -> impl Iterator<Item = Payload<'static>> {
        self.parts.iter().skip(crate::wire::HEADER_PARTS).cloned().map(Payload::Shared)
    }
}

/// The parts of a buffer, as slices that share it.
fn parts_of(buffer: &Bytes) -> Result<Vec<Bytes>> {
    parts(buffer).map(|part| part.map(|part| buffer.slice_ref(part))).collect()
}
