//! Messages that come in pieces of any size, from a socket, a UART or a radio: decoded as they come, in fixed memory.
//!
//! [`PushDecoder`] is given pieces and says what they are, one [`Event`] at a time. Payload bytes are not kept: a chunk is a slice
//! of the piece that was given. CBOR is kept until it is whole, in `N` bytes, unless all of it comes in one piece.
//!
//! ```
//! use tgm_core::push::{Event, Link, Part, PushDecoder, Unpacker};
//!
//! # let message: &[u8] = include_bytes!("../../tests/data/layout/cbor-before-payload-mask-rle.tgm");
//! # let received = message.chunks(7);
//! let mut decoder = PushDecoder::<512>::new(Link::Lossy);
//! let mut unpacker = None;
//! let (mut count, mut sum) = (0, 0.0);
//! for mut piece in received {
//!     loop {
//!         match decoder.next_event(&mut piece) {
//!             Ok(Some(Event::Descriptor(object))) => unpacker = Unpacker::new(&object.descriptor).ok(),
//!             Ok(Some(Event::Chunk(chunk))) if chunk.part == Part::Payload => {
//!                 let (mut bytes, mut out) = (chunk.bytes, [0.0_f64; 8]);
//!                 while let Some(Ok(new @ 1..)) = unpacker.as_mut().map(|u| u.elements_into(&mut bytes, &mut out)) {
//!                     count += new;
//!                     sum += out[..new].iter().sum::<f64>();
//!                 }
//!             }
//!             Ok(Some(_)) => {} // metadata, digests that are right or wrong, ends
//!             Ok(None) => break, // all of the piece has been looked at
//!             Err(error) => eprintln!("a message is damaged: {error}"), // the next one will be found
//!         }
//!     }
//! }
//! assert!(count > 0 && sum.is_finite());
//! ```
//!
//! # The descriptor of an object may come last
//!
//! It does in what most writers write. Payload and masks then pass as chunks of [`Part::Region`] before anyone can know what they
//! are, and [`Event::Descriptor`] says afterwards how many of the region's bytes were payload. Where the region ends is said
//! by the frame's tail, so that the last `N` bytes before the tail are held back: chunks hold bytes of the region only. Writers
//! that put descriptors first give a receiver values on the fly; one that knows the descriptor by other means can have them in any
//! case ([`Unpacker`], `SzipUnpacker`).
//!
//! CBOR that neither fits `N` bytes nor comes in one piece (with its frame's tail; a descriptor that comes first, within the
//! first 4 KiB of the piece) is not understood, but the message passes
//! all the same: [`Event::TooLarge`] says what the bytes in the chunks are.
//!
//! # Memory
//!
//! What a receiver needs is known when it is built, whatever comes:
//!
//! | | bytes on a 64-bit machine |
//! |---|---|
//! | `PushDecoder<N>` | N + 832, half of them for the digest |
//! | [`Unpacker`] | 128: a value that pieces cut |
//! | `SzipUnpacker<B>` | 9 · B + 120: a block of B samples, and the bytes of one that pieces cut |
//!
//! What does not fit is said: CBOR by [`Event::TooLarge`], a block of szip by
//! [`ErrorKind::SzipBlockMemory`](crate::ErrorKind::SzipBlockMemory). Other compressions, and the shuffle filter, need the whole
//! payload: [`ErrorKind::NeedsDecoding`](crate::ErrorKind::NeedsDecoding).
//!
//! # Errors, and what they do not stop
//!
//! After an error the decoder looks for the next preamble, from the first byte on that may belong to one, and says with
//! [`Event::Resynchronised`] how much it passed. The work is linear in the bytes that come, whatever they are.
//!
//! A length that is wrong, or bytes lost on the way, make a message reach into the one that follows it. [`Link`] says whether a
//! preamble inside of a frame then ends the message. If it does not, [`PushDecoder::missed`] says where to read again,
//! for those who can.
//!
//! Errors are those of [`crate::Message`] for the same bytes, at the same offsets from the message's first byte. What differs
//! is what the order of arrival demands:
//!
//! - A message of stated length is found to be cut short, or to have no proper end, when its end is due, and not at the beginning:
//!   [`PushDecoder::finish`] says what [`crate::Message::parse`] says at once. An error before that comes first.
//! - A frame in the wrong place is an error at its header, although its end may be damaged as well.
//! - A descriptor that comes first is read before its frame's end is seen, and has to begin with the body
//!   ([`ErrorKind::CborOffset`](crate::ErrorKind::CborOffset) otherwise), where all writers put it.
//! - So that the work stays linear, such a descriptor in pieces is looked at again only when twice as many of its bytes are
//!   there as the last time, or its frame ends. If the stream ends before, that is all that is said of it.
//! - A preamble between frames ends the message ([`ErrorKind::Truncated`](crate::ErrorKind::Truncated) there), as it does for the
//!   scanner; on a lossy link so does one inside of a frame.
//! - CBOR too large for the memory is not checked. That of metadata, index and hash frames is checked by who asks for it.
//! - Which digests are due is decided as the frames come: once a frame was flagged, flags decide; before, the preamble's
//!   promise counts (messages of 0.17 to 0.20). A message whose first flags were cleared is so found damaged rather than unhashed.

mod body;
mod event;
mod frame_state;
mod link;
mod machine;
mod outside;
mod run;
mod running;
mod step;
#[cfg(feature = "szip")]
mod szip_unpacker;
#[cfg(test)]
mod tests;
mod unpacker;
mod watch;

use core::fmt;

pub use event::{Cbor, Chunk, Event, FrameBegin, FrameEnd, MessageEnd, ObjectDescriptor, Part, TooLarge};
pub use link::Link;
#[cfg(feature = "szip")]
pub use szip_unpacker::SzipUnpacker;
pub use unpacker::Unpacker;

use crate::error::Result;
use machine::{Machine, State};
use step::Step;

/// A decoder of messages that come in pieces, which keeps at most `N` bytes of CBOR.
///
/// `N` should hold the largest metadata and descriptor expected: descriptors take 110 bytes and more, metadata
/// often a few hundred for each object. Beside them the decoder takes 832 bytes on a 64-bit machine, half of them for the digest.
pub struct PushDecoder<const N: usize> {
    memory: [u8; N],
    machine: Machine,
}

impl<const N: usize> PushDecoder<N> {
    /// A decoder at the beginning of a stream.
    pub const fn new(link: Link) -> Self {
        Self { memory: [0; N], machine: Machine::new(link, 0) }
    }

    /// Looks at `input` up to the next event, and takes from its front what it has looked at; `None` when it needs more.
    ///
    /// Call it until it returns `None`, with what is left of the piece, then with the next piece.
    ///
    /// # Errors
    /// What is wrong with the message; offsets count from its first byte. The message is given up and the next one is looked
    /// for: go on calling. [`crate::ErrorKind::StartMagic`] says that there is something else than a message.
    ///
    /// Those of [`crate::Message::parse`], [`crate::Message::frames`] and [`crate::object::DataObject::parse`], with the
    /// differences that the module names.
    pub fn next_event<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Event<'a>>> {
        let Self { memory, machine } = self;
        let step = match machine.step(memory, input) {
            Ok(Some(step)) => step,
            Ok(None) => return Ok(None),
            Err(error) => {
                machine.fail();
                return Err(error);
            }
        };
        let frame = machine.frame;
        Ok(Some(match step {
            Step::Resynchronised { skipped } => Event::Resynchronised { skipped },
            Step::Preamble(preamble) => Event::Preamble(preamble),
            Step::FrameBegin(begin) => Event::FrameBegin(begin),
            Step::Cbor(span) => frame.cbor(span.bytes(memory, machine.carry.as_slice())),
            // No descriptor is as short as what is carried.
            Step::Descriptor(span) => match frame.descriptor(span.bytes(memory, &[])) {
                Ok(descriptor) => descriptor,
                Err(error) => {
                    machine.fail();
                    return Err(error);
                }
            },
            Step::Chunk { bytes, part, body_offset } => {
                frame.chunk(bytes.bytes(memory, machine.carry.as_slice()), part, body_offset)
            }
            Step::TooLarge(too_large) => Event::TooLarge(too_large),
            Step::FrameEnd(end) => Event::FrameEnd(end),
            Step::MessageEnd(end) => Event::MessageEnd(end),
        }))
    }

    /// Says what is wrong if the stream ends here, after all events have been taken.
    ///
    /// # Errors
    /// [`crate::ErrorKind::MessageExceedsBuffer`] inside of a message that states its length;
    /// [`crate::ErrorKind::Truncated`], [`crate::ErrorKind::FrameExceedsMessage`] or [`crate::ErrorKind::EndMagic`]
    /// inside of one that does not.
    pub fn finish(&self) -> Result<()> {
        self.machine.finish()
    }

    /// Forgets everything and expects a message, whose first byte is byte `position` of the stream: after a pause that only
    /// stands between messages, or to read again from [`Self::missed`] on.
    pub fn reset(&mut self, position: u64) {
        self.machine = Machine::new(self.machine.link, position);
    }

    /// How many bytes of the stream have been taken.
    pub const fn position(&self) -> u64 {
        self.machine.position
    }

    /// Where the message begins in the stream, or what belongs to none.
    pub const fn message_offset(&self) -> u64 {
        self.machine.message
    }

    /// Whether a preamble is being looked for.
    pub fn is_searching(&self) -> bool {
        self.machine.state == State::Search
    }

    /// Where in the stream a preamble was seen inside of the message that is being received or was given up: if that turns
    /// out to be damaged, another message may begin there. `None` on a lossy link, which misses none.
    ///
    /// Who can read the stream again after an error starts there, with [`Self::reset`].
    pub const fn missed(&self) -> Option<u64> {
        self.machine.missed
    }
}

impl<const N: usize> fmt::Debug for PushDecoder<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushDecoder")
            .field("memory", &N)
            .field("link", &self.machine.link)
            .field("state", &self.machine.state)
            .field("position", &self.machine.position)
            .field("message_offset", &self.machine.message)
            .finish_non_exhaustive()
    }
}
