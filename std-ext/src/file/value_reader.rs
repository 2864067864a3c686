//! Values of a stream of messages, before their messages end.

mod way;

use std::collections::VecDeque;
use std::io::Read;

use tgm_core::ErrorKind;
use tgm_core::frame::Frame;
use tgm_core::hash::Verdict;
use tgm_core::object::DataObject;
use tgm_core::push::{Event, FrameEnd, Part, PushDecoder};
use tgm_core::wire::{FRAME_HEADER_SIZE, FrameFlags, FrameType};

use self::way::Decoding;
use super::message_reader::{Buffer, StreamOptions};
use crate::base::error::{Result, TensogramError};
use crate::base::options::DecodeOptions;
use crate::decode;
use crate::model::room::Room;
use crate::model::to_owned;
use crate::model::types::{DataObjectDescriptor, GlobalMetadata};

/// CBOR up to this length is read as it comes. Longer CBOR of an object is read when its frame is complete.
const CBOR: usize = 64 << 10;
/// Bytes that the decoder may have read ahead of a frame's header.
const AHEAD: u64 = 64;

/// What a stream says next.
#[derive(Debug)]
#[non_exhaustive]
pub enum ValueEvent<'r> {
    /// A message begins at this offset of the stream.
    Message {
        /// Bytes from the start of the stream.
        offset: u64,
    },
    /// Metadata: of the whole message before its objects or after them, or of the next object.
    Metadata {
        /// [`FrameType::HeaderMetadata`], [`FrameType::FooterMetadata`] or [`FrameType::PrecederMetadata`].
        frame_type: FrameType,
        /// What the frame says.
        metadata: Box<GlobalMetadata>,
    },
    /// An object, whose values come next.
    Object {
        /// The number of the object in its message.
        index: usize,
        /// What it is.
        descriptor: Box<DataObjectDescriptor>,
    },
    /// The next values of the object, in row-major order.
    Values {
        /// The number of the object in its message.
        index: usize,
        /// Where they begin among the bytes of all its values.
        offset: u64,
        /// The values: whole elements, as [`crate::values`] gives them.
        bytes: &'r [u8],
    },
    /// The end of an object.
    ObjectEnd {
        /// The number of the object in its message.
        index: usize,
        /// Whether its digest is right. If it is wrong, so may be values that came before.
        verdict: Verdict,
    },
    /// The end of a message.
    MessageEnd {
        /// Bytes from the start of the stream to the start of the message.
        offset: u64,
        /// Bytes of the message.
        length: u64,
    },
    /// Bytes that belong to no message, or to one that is damaged.
    Junk {
        /// Bytes from the start of the stream.
        offset: u64,
        /// How many they are.
        length: u64,
    },
}

/// Reads values from `R` while their messages still come.
///
/// Values come early if their object's descriptor lies before its payload
/// ([`EncodeOptions::descriptor_first`](crate::EncodeOptions::descriptor_first)), if the payload is plain, packed by
/// `simple_packing`, or either of both compressed by szip, and if nothing has to be known before: no masks to restore, and
/// no digest to check (`verify_hash`). All other values come when the frame of their object is complete. [`MessageReader`]
/// gives whole messages.
///
/// ```
/// use tgm_std::file::{ValueEvent, ValueReader};
/// use tgm_std::{DecodeOptions, EncodeOptions, MessageBuilder, ObjectBuilder};
///
/// let options = EncodeOptions { descriptor_first: true, ..EncodeOptions::default() };
/// let object = ObjectBuilder::new(&[3], &[1.0_f32, 2.0, 3.0])?;
/// let message = MessageBuilder::new().object(object).options(options).encode()?;
///
/// let mut reader = ValueReader::new(&message[..]); // or standard input, or a socket
/// let mut values = Vec::new();
/// while let Some(event) = reader.next_event()? {
///     match event {
///         ValueEvent::Object { descriptor, .. } => println!("{:?} of {}", descriptor.shape, descriptor.dtype),
///         ValueEvent::Values { bytes, .. } => values.extend_from_slice(bytes),
///         _ => {}
///     }
/// }
/// assert_eq!(values, [1.0_f32, 2.0, 3.0].map(f32::to_ne_bytes).concat());
/// # Ok::<(), tgm_std::TensogramError>(())
/// ```
///
/// # Differences from messages
/// Nothing is known of the end of a message while its values come. So a value may belong to a message that turns out to be
/// damaged: then an error follows, and [`ValueEvent::Junk`] with the bytes that were given up. Digests are compared when a
/// frame ends ([`ValueEvent::ObjectEnd`]). Damage is found by the rules of [`tgm_core::push`].
///
/// # Memory
/// A read, a piece of values, and CBOR of 64 KiB. An object that is decoded as a whole also needs its frame and its values;
/// its frame may have [`StreamOptions::max_message_bytes`] at most.
///
/// # Errors
/// Go on calling after an error. After one of the reader, as [`WouldBlock`](std::io::ErrorKind::WouldBlock), the same call is
/// repeated. After damage, the next message is searched for. After an error of an object, its other values are left out.
///
/// [`MessageReader`]: super::MessageReader
#[derive(Debug)]
pub struct ValueReader<R> {
    reader: R,
    buffer: Buffer,
    decoder: Box<PushDecoder<CBOR>>,
    decode: DecodeOptions,
    limit: u64,
    object: Option<Current>,
    /// Bytes of the payload that were not decoded yet, from `taken` on.
    payload: Vec<u8>,
    taken: usize,
    /// Whether the payload's bytes, or what was kept of them, may give more values.
    is_fed: bool,
    values: Vec<u8>,
    due: VecDeque<Due>,
    end: End,
}

/// How far the end of the stream was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    Reached,
    Told,
}

/// The object whose frame is being read.
#[derive(Debug)]
struct Current {
    index: usize,
    /// Where the frame begins in the stream, and its length.
    start: u64,
    len: u64,
    /// Whether the descriptor comes after the payload.
    is_late: bool,
    is_announced: bool,
    /// `None` if the frame is decoded as a whole.
    decoding: Option<Decoding>,
    /// Whether an error was reported, so that nothing more of the object is.
    has_failed: bool,
    /// Bytes of values that came.
    done: u64,
}

impl Current {
    /// Whether values are decoded as they come.
    const fn is_early(&self) -> bool {
        self.decoding.is_some() && !self.has_failed
    }
}

/// An event that is due. Values lie in the reader.
#[derive(Debug)]
enum Due {
    Event(ValueEvent<'static>),
    Values { index: usize, offset: u64 },
}

impl<R: Read> ValueReader<R> {
    /// A reader of a reliable stream.
    pub fn new(reader: R) -> Self {
        Self::with_options(reader, &StreamOptions::default(), &DecodeOptions::default())
    }

    /// A reader with options. Of `decode`, `threads` are not used.
    pub fn with_options(reader: R, stream: &StreamOptions, decode: &DecodeOptions) -> Self {
        Self {
            reader,
            buffer: Buffer::default(),
            decoder: Box::new(PushDecoder::new(stream.link)),
            decode: decode.clone(),
            limit: stream.max_message_bytes,
            object: None,
            payload: Vec::new(),
            taken: 0,
            is_fed: false,
            values: Vec::new(),
            due: VecDeque::new(),
            end: End::Open,
        }
    }

    /// The next event. `None` at the end of the stream.
    ///
    /// # Errors
    /// [`TensogramError::Io`] of the reader; the errors of [`tgm_core::push`], with offsets from the message's first byte;
    /// [`TensogramError::MessageTooLarge`] for an object whose frame has to be whole and is longer than the limit; the
    /// errors of [`crate::values`].
    pub fn next_event(&mut self) -> Result<Option<ValueEvent<'_>>> {
        loop {
            if let Some(due) = self.due.pop_front() {
                return Ok(Some(match due {
                    Due::Event(event) => event,
                    Due::Values { index, offset } => ValueEvent::Values { index, offset, bytes: &self.values },
                }));
            }
            if self.next_values()? || self.step()? {
                continue;
            }
            match self.end {
                End::Open => {
                    self.release();
                    let wanted = self.kept().map_or(0, |object| object.start.saturating_add(object.len));
                    if self.buffer.read(&mut self.reader, wanted)? == 0 {
                        self.end = End::Reached;
                    }
                }
                End::Reached => {
                    self.end = End::Told;
                    self.decoder.finish()?;
                }
                End::Told => return Ok(None),
            }
        }
    }

    /// The reader below. Bytes that were read ahead are not in it any more.
    pub const fn get_ref(&self) -> &R {
        &self.reader
    }

    /// Takes one step of the decoder. Returns whether there may be another one.
    fn step(&mut self) -> Result<bool> {
        let message = self.decoder.message_offset();
        let mut bytes = self.buffer.from(self.decoder.position());
        let event = match self.decoder.next_event(&mut bytes) {
            Ok(Some(event)) => event,
            Ok(None) => return Ok(false),
            Err(error) => {
                self.object = None;
                return Err(error.into());
            }
        };
        match event {
            Event::Resynchronised { skipped } if skipped > 0 => {
                self.due.push_back(Due::Event(ValueEvent::Junk { offset: message, length: skipped }));
            }
            Event::Preamble(_) => self.due.push_back(Due::Event(ValueEvent::Message { offset: message })),
            Event::FrameBegin(begin) => {
                self.object = begin.object_index.map(|index| Current {
                    index: usize::try_from(index).unwrap_or(usize::MAX),
                    start: message.saturating_add(begin.offset),
                    len: begin.total_length,
                    is_late: begin.flags.has(FrameFlags::CBOR_AFTER_PAYLOAD),
                    is_announced: false,
                    decoding: None,
                    has_failed: false,
                    done: 0,
                });
                if self.object.as_ref().is_some_and(|object| object.is_late) {
                    return self.check_len(message);
                }
            }
            Event::Cbor(cbor) if is_metadata(cbor.frame_type()) => {
                let room = Room::new(&self.decode.limits);
                let metadata = Box::new(to_owned::frame_metadata(&cbor.metadata()?, &room)?);
                let frame_type = cbor.frame_type();
                self.due.push_back(Due::Event(ValueEvent::Metadata { frame_type, metadata }));
            }
            Event::Descriptor(found) => {
                let Some(object) = self.object.as_mut().filter(|object| !object.has_failed) else { return Ok(true) };
                let descriptor = to_owned::descriptor(&found.descriptor, &Room::new(&self.decode.limits));
                object.has_failed = descriptor.is_err();
                let descriptor = Box::new(descriptor?);
                object.is_announced = true;
                self.due.push_back(Due::Event(ValueEvent::Object { index: object.index, descriptor }));
                if !object.is_late {
                    object.decoding = Decoding::of(&found.descriptor, found.payload_len, &self.decode);
                    return self.check_len(message);
                }
            }
            Event::Chunk(chunk)
                if chunk.part == Part::Payload && self.object.as_ref().is_some_and(Current::is_early) =>
            {
                self.payload.clear();
                self.payload.extend_from_slice(chunk.bytes);
                (self.taken, self.is_fed) = (0, true);
            }
            Event::TooLarge(_) => return self.check_len(message),
            Event::FrameEnd(end) => return self.end_object(end),
            Event::MessageEnd(end) => {
                self.due.push_back(Due::Event(ValueEvent::MessageEnd { offset: message, length: end.length }));
            }
            _ => {}
        }
        Ok(true)
    }

    /// The object whose frame is kept, because it is decoded as a whole.
    fn kept(&self) -> Option<&Current> {
        self.object.as_ref().filter(|object| object.decoding.is_none() && !object.has_failed)
    }

    /// Gives up the object that is being read if its frame has to be kept and is too long.
    fn check_len(&mut self, message: u64) -> Result<bool> {
        if self.kept().is_none_or(|object| object.len <= self.limit) {
            return Ok(true);
        }
        self.object = None;
        Err(TensogramError::MessageTooLarge { offset: message, length: None, limit: self.limit })
    }

    /// Drops the bytes that are not needed any more.
    fn release(&mut self) {
        let position = self.decoder.position();
        let start = self.kept().map_or(position, |object| object.start);
        self.buffer.drop_before(start.min(position.saturating_sub(AHEAD)));
    }

    /// Decodes the next values of the payload. Returns whether there are any.
    fn next_values(&mut self) -> Result<bool> {
        let Some(object) = self.object.as_mut().filter(|object| self.is_fed && !object.has_failed) else {
            return Ok(false);
        };
        let Some(decoding) = &mut object.decoding else { return Ok(false) };
        let mut bytes = self.payload.get(self.taken..).unwrap_or_default();
        if let Err(error) = decoding.next_values(&mut bytes, &mut self.values) {
            object.has_failed = true;
            return Err(error);
        }
        self.taken = self.payload.len().saturating_sub(bytes.len());
        if self.values.is_empty() {
            self.is_fed = false;
            return Ok(false);
        }
        self.due.push_back(Due::Values { index: object.index, offset: object.done });
        object.done = object.done.saturating_add(self.values.len() as u64);
        Ok(true)
    }

    /// Ends the object whose frame has ended, if it was one. Decodes it if its frame was kept.
    fn end_object(&mut self, end: FrameEnd) -> Result<bool> {
        let Some(object) = self.object.take().filter(|object| !object.has_failed) else { return Ok(true) };
        let Current { index, start, len, .. } = object;
        match &object.decoding {
            Some(decoding) if decoding.is_complete() => {}
            Some(_) => return Err(ErrorKind::PayloadSize.at(FRAME_HEADER_SIZE as u64).into()),
            None => {
                let (frame, _) = Frame::parse(self.buffer.slice(start, len))?;
                let view = DataObject::parse(frame)?;
                if !object.is_announced {
                    let room = Room::new(&self.decode.limits);
                    let descriptor = Box::new(to_owned::descriptor(view.descriptor(), &room)?);
                    self.due.push_back(Due::Event(ValueEvent::Object { index, descriptor }));
                }
                let values = decode::values(&view, &self.decode)?;
                self.values.clear();
                self.values.extend_from_slice(&values);
                if !values.is_empty() {
                    self.due.push_back(Due::Values { index, offset: 0 });
                }
            }
        }
        self.due.push_back(Due::Event(ValueEvent::ObjectEnd { index, verdict: end.verdict }));
        Ok(true)
    }
}

/// Whether frames of this type hold metadata.
const fn is_metadata(frame_type: FrameType) -> bool {
    matches!(frame_type, FrameType::HeaderMetadata | FrameType::FooterMetadata | FrameType::PrecederMetadata)
}
