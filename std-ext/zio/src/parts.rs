//! A message to send: header parts owned, payload borrowed where possible.

use std::io::{self, IoSlice, Write};

use bytes::Bytes;
use tgm_core::descriptor::ByteOrder;

use super::payload::Payload;
use crate::wire::{
    COORDS_SIZE, Coords, Envelope, Form, HEADER_PARTS, Level, Message, Outgoing, Prefix, Result, Size, encode_into,
    encoded_len,
};

/// All parts of a message. Payload that was given as a slice stays borrowed.
///
/// ```
/// use tgm_std::ByteOrder;
/// use tgm_zio::{Coords, Envelope, Form, Level, Parts};
///
/// let text = Form::new("TEXT").unwrap();
/// let parts = Parts::new(Level::Info, text, b"greeting", Coords::default(), ByteOrder::Little, [b"hello"]);
/// let frames = parts.frames(Envelope::Dealer, None)?; // to be handed to a DEALER socket
/// assert_eq!((frames.len(), frames[0].len(), frames[1]), (4, 0, &b"ZIO4TEXTgreeting"[..]));
/// assert_eq!(parts.to_buffer()?.len(), 1 + 16 + 1 + 24 + 1 + 5);
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    prefix: Vec<u8>,
    coords: [u8; COORDS_SIZE],
    payloads: Vec<Payload<'a>>,
}

impl<'a> Parts<'a> {
    /// A message of any form. `label` is copied after the header, payload is not copied.
    pub fn new<B: Into<Payload<'a>>>(
        level: Level,
        form: Form,
        label: &[u8],
        coords: Coords,
        order: ByteOrder,
        payloads: impl IntoIterator<Item = B>,
    ) -> Self {
        let prefix = [Prefix::head(level, form).as_slice(), label].concat();
        Self { prefix, coords: coords.to_bytes(order), payloads: payloads.into_iter().map(Into::into).collect() }
    }

    /// The parts of a received message.
    pub fn of_message<P: AsRef<[u8]>>(message: &Message<'a, P>) -> Self {
        let order = message.byte_order();
        Self::new(message.level(), message.form(), message.label(), message.coords(), order, message.payloads())
    }

    /// A message of FLOW without payload: what [`Flow::poll`](super::Flow::poll) says is to be sent.
    pub fn of_flow(sent: &Outgoing, order: ByteOrder) -> Self {
        Self { prefix: sent.prefix().as_bytes().to_vec(), coords: sent.coords().to_bytes(order), payloads: Vec::new() }
    }

    /// The payload parts.
    pub fn payloads(&self) -> &[Payload<'a>] {
        &self.payloads
    }

    /// Replaces the label.
    pub fn set_label(&mut self, label: &[u8]) {
        self.prefix.truncate(crate::wire::PREFIX_SIZE);
        self.prefix.extend_from_slice(label);
    }

    /// The label.
    pub fn label(&self) -> &[u8] {
        self.prefix.get(crate::wire::PREFIX_SIZE..).unwrap_or_default()
    }

    /// All parts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        [self.prefix.as_slice(), &self.coords].into_iter().chain(self.payloads.iter().map(AsRef::as_ref))
    }

    /// All parts, in order, as most bindings of ZeroMQ take them.
    pub fn as_slices(&self) -> Vec<&[u8]> {
        let mut slices = Vec::with_capacity(HEADER_PARTS.saturating_add(self.payloads.len()));
        slices.extend(self.iter());
        slices
    }

    /// All parts, in order, for vectored writes: nothing is copied.
    pub fn io_slices(&self) -> Vec<IoSlice<'_>> {
        self.iter().map(IoSlice::new).collect()
    }

    /// Bytes of the single buffer that packs all parts.
    ///
    /// # Errors
    /// [`PartTooLarge`](crate::ErrorKind::PartTooLarge).
    pub fn encoded_len(&self) -> Result<u64> {
        encoded_len(self.iter().map(<[u8]>::len))
    }

    /// Packs all parts into `out`, which must be [`encoded_len`](Self::encoded_len) bytes.
    ///
    /// # Errors
    /// [`PartTooLarge`](crate::ErrorKind::PartTooLarge) and
    /// [`OutputLength`](crate::ErrorKind::OutputLength); nothing is written then.
    pub fn encode_into(&self, out: &mut [u8]) -> Result<()> {
        encode_into(&self.as_slices(), out)
    }

    /// The single buffer as a list of slices: sizes and parts. The sizes are stored in `sizes`. Nothing is copied.
    ///
    /// # Errors
    /// [`PartTooLarge`](crate::ErrorKind::PartTooLarge).
    pub fn buffer_slices<'s>(&'s self, sizes: &'s mut Vec<Size>) -> Result<Vec<IoSlice<'s>>> {
        *sizes = self.iter().enumerate().map(|(index, part)| Size::of(index, part.len())).collect::<Result<_>>()?;
        let pairs = sizes.iter().zip(self.iter());
        Ok(pairs.flat_map(|(size, part)| [IoSlice::new(size.as_bytes()), IoSlice::new(part)]).collect())
    }

    /// All parts packed into one buffer.
    ///
    /// # Errors
    /// [`PartTooLarge`](crate::ErrorKind::PartTooLarge).
    pub fn to_buffer(&self) -> Result<Vec<u8>> {
        let sizes = self.iter().enumerate().map(|(index, part)| Ok((Size::of(index, part.len())?, part)));
        let sizes = sizes.collect::<Result<Vec<_>>>()?;
        let len = self.encoded_len()?;
        let mut buffer = Vec::with_capacity(usize::try_from(len).unwrap_or_default());
        for (size, part) in sizes {
            buffer.extend_from_slice(size.as_bytes());
            buffer.extend_from_slice(part);
        }
        Ok(buffer)
    }

    /// Writes all parts to `sink`, packed as into one buffer.
    ///
    /// # Errors
    /// Errors of the sink. A part that is too large gives `InvalidInput` before anything is written.
    pub fn write_to(&self, sink: &mut impl Write) -> io::Result<()> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
        self.encoded_len().map_err(invalid)?;
        for (index, part) in self.iter().enumerate() {
            sink.write_all(Size::of(index, part.len()).map_err(invalid)?.as_bytes())?;
            sink.write_all(part)?;
        }
        Ok(())
    }

    /// All parts, owned. Only borrowed payload is copied.
    pub fn into_vecs(self) -> Vec<Vec<u8>> {
        let header = [self.prefix, self.coords.to_vec()];
        header.into_iter().chain(self.payloads.into_iter().map(Payload::into_vec)).collect()
    }

    /// All parts, shared. Only the header's 24 bytes and borrowed payload are copied.
    pub fn into_bytes(self) -> Vec<Bytes> {
        let header = [Bytes::from(self.prefix), Bytes::copy_from_slice(&self.coords)];
        header.into_iter().chain(self.payloads.into_iter().map(Payload::into_bytes)).collect()
    }

    /// The frames for a socket: all parts in their envelope. A ROUTER needs the peer's identity. Nothing is copied.
    ///
    /// # Errors
    /// The errors of [`Envelope::wrap`].
    pub fn frames<'s>(&'s self, envelope: Envelope, identity: Option<&'s [u8]>) -> Result<Vec<&'s [u8]>> {
        Ok(envelope.wrap(identity, self)?.collect())
    }

    /// The frames for a socket, shared: [`Self::into_bytes`] in their envelope.
    ///
    /// # Errors
    /// The errors of [`Envelope::wrap`].
    pub fn into_frames(self, envelope: Envelope, identity: Option<&Bytes>) -> Result<Vec<Bytes>> {
        let wrapped = envelope.wrap(identity.map(|identity| &**identity), [])?;
        let head: Vec<Bytes> = wrapped.map(|frame| share(frame, identity)).collect();
        Ok(head.into_iter().chain(self.into_bytes()).collect())
    }
}

/// All parts, in order.
impl<'s> IntoIterator for &'s Parts<'_> {
    type Item = &'s [u8];
    type IntoIter = std::vec::IntoIter<&'s [u8]>;

    fn into_iter(self) -> Self::IntoIter {
        self.as_slices().into_iter()
    }
}

/// A frame of an envelope: the identity, or the delimiter.
fn share(frame: &[u8], identity: Option<&Bytes>) -> Bytes {
    identity.filter(|identity| **identity == frame).cloned().unwrap_or_default()
}
