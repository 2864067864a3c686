//! A ZIO message: its header, and its payload in place.

use core::iter::FusedIterator;
use core::slice;

use tgm_core::descriptor::ByteOrder;

use super::codec::{PackedParts, parts};
use super::coords::Coords;
use super::error::{ErrorKind, Result};
use super::prefix::{Form, Level, Prefix};

/// The number of parts before the payload.
pub const HEADER_PARTS: usize = 2;

/// The frames that a transport puts before a message's parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Envelope {
    /// No frame: PUSH and PULL, PUB and SUB, PAIR, CLIENT and SERVER.
    #[default]
    Plain,
    /// An empty frame: a DEALER receives this.
    Dealer,
    /// The peer's identity and an empty frame: a ROUTER receives this.
    Router,
}

impl Envelope {
    /// Takes the envelope off. Returns the peer's identity, if there is one, and the frames of the message.
    ///
    /// # Errors
    /// [`ErrorKind::NoDelimiter`] if the empty frame is missing.
    pub fn strip<P: AsRef<[u8]>>(self, frames: &[P]) -> Result<(Option<&[u8]>, &[P])> {
        let (identity, rest) = match self {
            Self::Plain => return Ok((None, frames)),
            Self::Dealer => (None, frames),
            Self::Router => {
                let (identity, rest) = frames.split_first().ok_or(ErrorKind::NoDelimiter.at(0, 0))?;
                (Some(identity.as_ref()), rest)
            }
        };
        match rest.split_first() {
            Some((delimiter, message)) if delimiter.as_ref().is_empty() => Ok((identity, message)),
            _ => Err(ErrorKind::NoDelimiter.at(0, 0)),
        }
    }

    /// Puts the envelope on: the frames that go to the socket. The reverse of [`Self::strip`], with the identity that
    /// it returned. Nothing is copied.
    ///
    /// ```
    /// use tgm_zio::Envelope;
    ///
    /// let message = [&b"ZIO0TENS{}"[..], &[0; 24]];
    /// let frames: Vec<_> = Envelope::Router.wrap(Some(b"peer"), message)?.collect();
    /// assert_eq!(Envelope::Router.strip(&frames)?, (Some(&b"peer"[..]), &message[..]));
    /// # Ok::<(), tgm_zio::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoIdentity`] if a ROUTER is not told the peer. Other sockets do not use the identity.
    pub fn wrap<'p, I: IntoIterator<Item = &'p [u8]>>(
        self,
        identity: Option<&'p [u8]>,
        parts: I,
    ) -> Result<impl Iterator<Item = &'p [u8]> + use<'p, I>> {
        let delimiter: &'p [u8] = &[];
        let head = match self {
            Self::Plain => [None, None],
            Self::Dealer => [None, Some(delimiter)],
            Self::Router => [Some(identity.ok_or(ErrorKind::NoIdentity.at(0, 0))?), Some(delimiter)],
        };
        Ok(head.into_iter().flatten().chain(parts))
    }
}

/// A ZIO message, borrowed from a list of parts or from one buffer.
///
/// Holding one means: header and framing are valid. The label was not interpreted.
///
/// ```
/// use tgm_core::descriptor::ByteOrder;
/// use tgm_zio::{Form, Level, Message};
///
/// let parts = [&b"ZIO4TEXThello"[..], &[0; 24], b"payload"];
/// let message = Message::from_parts(&parts, ByteOrder::Little)?;
/// assert_eq!((message.level(), message.form(), message.label()), (Level::Info, Form(*b"TEXT"), &b"hello"[..]));
/// assert!(message.payloads().eq([b"payload"]));
/// # Ok::<(), tgm_zio::Error>(())
/// ```
#[derive(Debug)]
pub struct Message<'a, P = &'a [u8]> {
    prefix: Prefix<'a>,
    coords: Coords,
    order: ByteOrder,
    payloads: Payloads<'a, P>,
}

impl<'a> Message<'a> {
    /// Opens the message that is packed in the whole `buffer`. `order` is the sender's byte order. O(number of parts).
    ///
    /// # Errors
    /// The errors of [`parts`](super::parts), then the errors of [`Self::from_parts`].
    pub fn from_buffer(buffer: &'a [u8], order: ByteOrder) -> Result<Self> {
        Self::packed(buffer, order)
    }
}

impl<'a, P: AsRef<[u8]>> Message<'a, P> {
    /// Opens the message that consists of `parts`. `order` is the sender's byte order. O(1).
    ///
    /// # Errors
    /// [`ErrorKind::TooFewParts`]; the errors of [`Prefix::parse`] and [`Coords::parse`].
    pub fn from_parts(parts: &'a [P], order: ByteOrder) -> Result<Self> {
        let [prefix, coords, payloads @ ..] = parts else { return Err(ErrorKind::TooFewParts(parts.len()).at(0, 0)) };
        Self::open(prefix.as_ref(), coords.as_ref(), order, Payloads(Source::Listed(payloads.iter())))
    }

    /// Opens the message in the frames of a transport: takes the envelope off, and unpacks a single frame that is left.
    ///
    /// # Errors
    /// The errors of [`Envelope::strip`], [`Self::from_parts`] and [`Message::from_buffer`].
    pub fn from_frames(frames: &'a [P], envelope: Envelope, order: ByteOrder) -> Result<Self> {
        match envelope.strip(frames)?.1 {
            [buffer] => Self::packed(buffer.as_ref(), order),
            parts => Self::from_parts(parts, order),
        }
    }

    fn packed(buffer: &'a [u8], order: ByteOrder) -> Result<Self> {
        let mut count = 0_usize;
        for part in parts(buffer) {
            part?;
            count = count.saturating_add(1);
        }
        let mut walk = parts(buffer);
        let few = ErrorKind::TooFewParts(count).at(0, 0);
        let prefix = walk.next().ok_or(few)??;
        let coords = walk.next().ok_or(few)??;
        Self::open(prefix, coords, order, Payloads(Source::Packed(walk, count.saturating_sub(HEADER_PARTS))))
    }

    fn open(prefix: &'a [u8], coords: &[u8], order: ByteOrder, payloads: Payloads<'a, P>) -> Result<Self> {
        Ok(Self { prefix: Prefix::parse(prefix)?, coords: Coords::parse(coords, order)?, order, payloads })
    }

    /// How important the message is.
    pub const fn level(&self) -> Level {
        self.prefix.level()
    }

    /// The kind of message that the sender states.
    pub const fn form(&self) -> Form {
        self.prefix.form()
    }

    /// The label, uninterpreted.
    pub const fn label(&self) -> &'a [u8] {
        self.prefix.label()
    }

    /// The coordinates: sender, time and position in a sequence.
    pub const fn coords(&self) -> Coords {
        self.coords
    }

    /// The sender's byte order, as the caller stated it.
    pub const fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// The payload parts in order. Their number is known.
    pub fn payloads(&self) -> Payloads<'a, P> {
        self.payloads.clone()
    }

    /// Payload part `index`: O(1) in a list of parts, O(index) in a buffer.
    pub fn payload(&self, index: usize) -> Option<&'a [u8]> {
        self.payloads().nth(index)
    }
}

impl<P> Clone for Message<'_, P> {
    fn clone(&self) -> Self {
        Self { prefix: self.prefix, coords: self.coords, order: self.order, payloads: self.payloads.clone() }
    }
}

/// The payload parts of a message, in order.
#[derive(Debug)]
pub struct Payloads<'a, P = &'a [u8]>(Source<'a, P>);

#[derive(Debug)]
enum Source<'a, P> {
    Listed(slice::Iter<'a, P>),
    /// Parts that were walked before, and the number of those that are left.
    Packed(PackedParts<'a>, usize),
}

impl<P> Clone for Payloads<'_, P> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Source::Listed(parts) => Source::Listed(parts.clone()),
            Source::Packed(parts, count) => Source::Packed(parts.clone(), *count),
        })
    }
}

impl<'a, P: AsRef<[u8]>> Iterator for Payloads<'a, P> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        match &mut self.0 {
            Source::Listed(parts) => parts.next().map(AsRef::as_ref),
            Source::Packed(parts, count) => {
                *count = count.saturating_sub(1);
                parts.next().and_then(Result::ok)
            }
        }
    }

    fn nth(&mut self, n: usize) -> Option<&'a [u8]> {
        match &mut self.0 {
            Source::Listed(parts) => parts.nth(n).map(AsRef::as_ref),
            Source::Packed(parts, count) => {
                *count = count.saturating_sub(n).saturating_sub(1);
                parts.nth(n).and_then(Result::ok)
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len(), Some(self.len()))
    }
}

impl<P: AsRef<[u8]>> ExactSizeIterator for Payloads<'_, P> {
    fn len(&self) -> usize {
        match &self.0 {
            Source::Listed(parts) => parts.as_slice().len(),
            Source::Packed(_, count) => *count,
        }
    }
}

impl<P: AsRef<[u8]>> FusedIterator for Payloads<'_, P> {}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::wire::{encode_into, encoded_len};

    const ORDER: ByteOrder = ByteOrder::Little;

    fn sample() -> Vec<&'static [u8]> {
        vec![b"ZIO2FLOWx", &[9; 24], b"one", b"", b"three"]
    }

    #[test]
    fn list_and_buffer_look_the_same() {
        let parts = sample();
        let len = encoded_len(parts.iter().map(|part| part.len())).unwrap();
        let mut buffer = vec![0; usize::try_from(len).unwrap()];
        encode_into(&parts, &mut buffer).unwrap();
        let packed = Message::from_buffer(&buffer, ORDER).unwrap();
        let listed = Message::from_parts(&parts, ORDER).unwrap();
        for message in [&packed, &listed] {
            assert_eq!((message.payloads().len(), message.payloads().size_hint()), (3, (3, Some(3))));
            assert!(message.payloads().eq(parts[2..].iter().copied()));
            assert_eq!((message.payload(2), message.payload(3)), (Some(&b"three"[..]), None));
            assert_eq!((message.level(), message.form(), message.label()), (Level::Verbose, Form::FLOW, &b"x"[..]));
        }
        let one = [buffer.as_slice()];
        let framed = Message::from_frames(&one, Envelope::Plain, ORDER).unwrap();
        assert!(framed.payloads().eq(packed.payloads()));
    }

    #[test]
    fn envelopes_are_taken_off() {
        let parts = sample();
        let dealer = [vec![&b""[..]], parts.clone()].concat();
        let router = [vec![&b"id"[..], b""], parts.clone()].concat();
        assert!(Message::from_frames(&dealer, Envelope::Dealer, ORDER).unwrap().payloads().len() == 3);
        assert_eq!(Envelope::Router.strip(&router).unwrap(), (Some(&b"id"[..]), &parts[..]));
        for envelope in [Envelope::Dealer, Envelope::Router] {
            assert_eq!(envelope.strip(&parts).unwrap_err().kind(), ErrorKind::NoDelimiter);
            assert_eq!(envelope.strip(&parts[..0]).unwrap_err().kind(), ErrorKind::NoDelimiter);
        }
        assert!(Envelope::Dealer.wrap(None, parts.clone()).unwrap().eq(dealer.iter().copied()));
        assert!(Envelope::Router.wrap(Some(b"id"), parts.clone()).unwrap().eq(router.iter().copied()));
        assert!(Envelope::Plain.wrap(Some(b"id"), parts.clone()).unwrap().eq(parts.iter().copied()));
        assert_eq!(Envelope::Router.wrap(None, parts).err().unwrap().kind(), ErrorKind::NoIdentity);
        let error = Message::from_frames(&dealer, Envelope::Plain, ORDER).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PrefixTooShort(0));
    }
}
