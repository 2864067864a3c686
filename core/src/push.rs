//! Decoding messages that come in pieces of any size, from a socket, a UART or a radio, in fixed memory.
//!
//! [`PushDecoder`] takes pieces and returns one [`Event`] after the other. It does not keep payload bytes: a chunk is a
//! slice of the given piece. It keeps CBOR until it is whole, in `N` bytes, unless all of it comes in one piece.
//!
//! ```
//! use tgm_core::push::{Event, Link, Part, PushDecoder, Unpacker};
//!
//! # let message: &[u8] = include_bytes!("../samples/cbor-before-payload-mask-rle.tgm");
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
//!             Ok(Some(_)) => {} // metadata, results of digests, ends of frames and messages
//!             Ok(None) => break, // the piece is used up
//!             Err(error) => eprintln!("a message is damaged: {error}"), // go on: the next one will be found
//!         }
//!     }
//! }
//! assert!(count > 0 && sum.is_finite());
//! ```
//!
//! # The descriptor of an object may come last
//!
//! Most writers put it last. Payload and masks then come as chunks of [`Part::Region`], before their meaning is known.
//! [`Event::Descriptor`] comes after them, and says how many bytes of the region were payload. Only the frame's tail says
//! where the region ends, so the decoder holds back the last `N` bytes before the tail. Chunks therefore contain only bytes
//! of the region.
//!
//! If descriptors come first, a receiver can decode values as they arrive. A receiver that knows the descriptor in another
//! way can always do that ([`Unpacker`], `SzipUnpacker`).
//!
//! # CBOR that does not fit
//!
//! CBOR is read if it fits `N` bytes, or if it comes in one piece together with its frame's tail. A descriptor that comes
//! first is also read if it is within the first 4 KiB of a piece. Other CBOR is not read, but the rest of the message is:
//! [`Event::TooLarge`] says what the bytes in the chunks are.
//!
//! # Memory
//!
//! The memory of a receiver is known when the program is built. It does not depend on the data:
//!
//! | | bytes on a 64-bit machine |
//! |---|---|
//! | `PushDecoder<N>` | N + 832; half of the 832 are for the digest |
//! | [`Unpacker`] | 128, for a value that is cut by the end of a piece |
//! | `SzipUnpacker<B>` | 9 · B + 120, for a block of B samples, and for the bytes of an incomplete block |
//!
//! If data does not fit, the decoder says so: [`Event::TooLarge`] for CBOR,
//! [`ErrorKind::SzipBlockMemory`](crate::ErrorKind::SzipBlockMemory) for a block of szip. Other compressions, and the
//! shuffle filter, need the whole payload: [`ErrorKind::NeedsDecoding`](crate::ErrorKind::NeedsDecoding).
//!
//! # After an error
//!
//! The decoder looks for the next preamble, beginning with the first byte that may belong to one. It then returns
//! [`Event::Resynchronised`] with the number of skipped bytes. The work is linear in the bytes that come, whatever they are.
//!
//! A wrong length, or bytes lost on the way, make a message reach into the next one. [`Link`] says whether a preamble
//! inside a frame then ends the message. If it does not, [`PushDecoder::missed`] says where the stream would have to be
//! read again.
//!
//! # Differences from [`crate::Message`]
//!
//! Errors have the same kinds and the same offsets, counted from the message's first byte. The order of arrival makes some
//! of them different:
//!
//! - A message that states its length and is cut short is reported by [`PushDecoder::finish`], or when its end is due.
//!   [`crate::Message::parse`] reports it at once. If there is another error before the end, it comes first.
//! - A frame in the wrong place is an error at its header, even if its end is damaged too.
//! - A descriptor that comes first is read before its frame's tail. It must begin at the start of the body, where all
//!   writers put it; otherwise the error is [`ErrorKind::CborOffset`](crate::ErrorKind::CborOffset).
//! - Such a descriptor, if it comes in several pieces, is tried again only when twice as many of its bytes have come, or
//!   when its frame ends. This keeps the work linear. If the stream ends before, the descriptor's own error is not found.
//! - A preamble between frames ends the message, with [`ErrorKind::Truncated`](crate::ErrorKind::Truncated) there, as in
//!   the scanner. On a lossy link a preamble inside a frame does the same.
//! - CBOR that does not fit the memory is not checked. The CBOR of metadata, index and hash frames is checked only when
//!   the caller parses it.
//! - Whether a frame has a digest is decided as the frames come. Before the first flagged frame, the preamble's flag counts
//!   (messages of 0.17 to 0.20); after it, each frame's flag does. If someone cleared the first flags, those frames are
//!   reported as damaged, and not as frames without a digest.

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

/// A decoder of messages that come in pieces. It keeps at most `N` bytes of CBOR.
///
/// Choose `N` for the largest metadata and descriptor to expect. A descriptor takes 110 bytes or more, metadata often a few
/// hundred bytes for each object. The decoder takes 832 bytes more on a 64-bit machine, half of them for the digest.
///
/// ```
/// use tgm_core::push::{Event, Link, PushDecoder};
///
/// # let message: &[u8] = include_bytes!("../samples/float32-little.tgm");
/// let mut decoder = PushDecoder::<512>::new(Link::Reliable);
/// let mut objects = 0;
/// for mut piece in message.chunks(100) {
///     while let Some(event) = decoder.next_event(&mut piece)? {
///         if let Event::MessageEnd(end) = event {
///             objects += end.object_count;
///         }
///     }
/// }
/// decoder.finish()?; // the stream did not end inside a message
/// assert_eq!(objects, 1);
/// # Ok::<(), tgm_core::Error>(())
/// ```
pub struct PushDecoder<const N: usize> {
    memory: [u8; N],
    state: PushState,
}

impl<const N: usize> PushDecoder<N> {
    /// A decoder at the beginning of a stream.
    pub const fn new(link: Link) -> Self {
        Self { memory: [0; N], state: PushState::new(link) }
    }

    /// Reads `input` up to the next event, and takes the bytes that it read from the front. `None` if it needs more bytes.
    ///
    /// Call it with one piece until it returns `None`, then with the next piece.
    ///
    /// # Errors
    /// The errors of [`crate::Message::parse`], [`crate::Message::frames`] and [`crate::object::DataObject::parse`], with the
    /// differences that the module lists. Offsets count from the message's first byte.
    /// [`crate::ErrorKind::StartMagic`] means that the bytes are not a message.
    ///
    /// After an error the message is given up, and the decoder looks for the next one: go on calling.
    #[inline]
    pub fn next_event<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Result<Option<Event<'a>>> {
        self.state.next_event(&mut self.memory, input)
    }

    /// Checks that the stream may end here. Call it when all events have been taken.
    ///
    /// # Errors
    /// [`crate::ErrorKind::MessageExceedsBuffer`] inside a message that states its length; in any other message
    /// [`crate::ErrorKind::Truncated`], [`crate::ErrorKind::FrameExceedsMessage`] or [`crate::ErrorKind::EndMagic`].
    pub fn finish(&self) -> Result<()> {
        self.state.finish()
    }

    /// Starts anew: expects a message whose first byte is byte `position` of the stream.
    ///
    /// For a link on which a pause separates messages, and to read again from [`Self::missed`] on.
    pub fn reset(&mut self, position: u64) {
        self.state.reset(position);
    }

    /// The number of bytes of the stream that were taken.
    pub const fn position(&self) -> u64 {
        self.state.position()
    }

    /// Where in the stream the current message begins, or the bytes that belong to none.
    pub const fn message_offset(&self) -> u64 {
        self.state.message_offset()
    }

    /// Whether the decoder is looking for a preamble, after an error.
    pub fn is_searching(&self) -> bool {
        self.state.is_searching()
    }

    /// Where in the stream a preamble was seen inside the current message, or inside the one that was given up.
    ///
    /// If that message is damaged, another message may begin there. A caller that can read the stream again then starts
    /// there, with [`Self::reset`]. Always `None` on a lossy link, because no preamble is passed over there.
    pub const fn missed(&self) -> Option<u64> {
        self.state.missed()
    }
}

/// The state of a [`PushDecoder`] whose memory for CBOR is apart: for callers that know its size only when they run.
///
/// ```
/// use tgm_core::push::{Event, Link, PushState};
///
/// # let message: &[u8] = include_bytes!("../samples/float32-little.tgm");
/// let mut memory = vec![0; 512];
/// let (mut state, mut objects) = (PushState::new(Link::Reliable), 0);
/// for mut piece in message.chunks(100) {
///     while let Some(event) = state.next_event(&mut memory, &mut piece)? {
///         if let Event::MessageEnd(end) = event {
///             objects += end.object_count;
///         }
///     }
/// }
/// assert_eq!(objects, 1);
/// # Ok::<(), tgm_core::Error>(())
/// ```
pub struct PushState {
    machine: Machine,
}

impl PushState {
    /// The state at the beginning of a stream.
    pub const fn new(link: Link) -> Self {
        Self { machine: Machine::new(link, 0) }
    }

    /// [`PushDecoder::next_event`], with `memory` for CBOR.
    ///
    /// Every call must have the same memory. With other memory nothing panics, but the CBOR of a frame that has begun may
    /// be wrong.
    ///
    /// # Errors
    /// The errors of [`PushDecoder::next_event`].
    #[inline]
    pub fn next_event<'a, 'i: 'a>(
        &'a mut self,
        memory: &'a mut [u8],
        input: &mut &'i [u8],
    ) -> Result<Option<Event<'a>>> {
        let machine = &mut self.machine;
        let step = match machine.step(memory, input) {
            Ok(Some(step)) => step,
            Ok(None) => return Ok(None),
            Err(error) => {
                machine.fail();
                return Err(error);
            }
        };
        // A copy, so that the event can borrow the carry of the machine.
        let frame = machine.frame;
        Ok(Some(match step {
            Step::Resynchronised { skipped } => Event::Resynchronised { skipped },
            Step::Preamble(preamble) => Event::Preamble(preamble),
            Step::FrameBegin(begin) => Event::FrameBegin(begin),
            Step::Cbor(span) => frame.cbor(span.bytes(memory, machine.carry.as_slice())),
            // A descriptor is longer than the carry, so it is never in there.
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

    /// Checks that the stream may end here. Call it when all events have been taken.
    ///
    /// # Errors
    /// [`crate::ErrorKind::MessageExceedsBuffer`] inside a message that states its length; in any other message
    /// [`crate::ErrorKind::Truncated`], [`crate::ErrorKind::FrameExceedsMessage`] or [`crate::ErrorKind::EndMagic`].
    pub fn finish(&self) -> Result<()> {
        self.machine.finish()
    }

    /// Starts anew: expects a message whose first byte is byte `position` of the stream.
    ///
    /// For a link on which a pause separates messages, and to read again from [`Self::missed`] on.
    pub fn reset(&mut self, position: u64) {
        self.machine = Machine::new(self.machine.link, position);
    }

    /// The number of bytes of the stream that were taken.
    pub const fn position(&self) -> u64 {
        self.machine.position
    }

    /// Where in the stream the current message begins, or the bytes that belong to none.
    pub const fn message_offset(&self) -> u64 {
        self.machine.message
    }

    /// Whether the decoder is looking for a preamble, after an error.
    pub fn is_searching(&self) -> bool {
        self.machine.state == State::Search
    }

    /// Where in the stream a preamble was seen inside the current message, or inside the one that was given up.
    ///
    /// If that message is damaged, another message may begin there. A caller that can read the stream again then starts
    /// there, with [`Self::reset`]. Always `None` on a lossy link, because no preamble is passed over there.
    pub const fn missed(&self) -> Option<u64> {
        self.machine.missed
    }
}

impl<const N: usize> fmt::Debug for PushDecoder<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushDecoder").field("memory", &N).field("state", &self.state).finish_non_exhaustive()
    }
}

impl fmt::Debug for PushState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushState")
            .field("link", &self.machine.link)
            .field("state", &self.machine.state)
            .field("position", &self.machine.position)
            .field("message_offset", &self.machine.message)
            .finish_non_exhaustive()
    }
}
