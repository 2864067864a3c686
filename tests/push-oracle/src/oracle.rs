//! The same facts from the slice parser.

use zerocopy::FromBytes;

use crate::Fact;
use tgm_core::descriptor::Descriptor;
use tgm_core::error::{Error, ErrorKind};
use tgm_core::frame::{Frame, Frames, check_header};
use tgm_core::hash::{HashPresence, Verdict};
use tgm_core::message::{Message, check_postamble, check_preamble};
use tgm_core::object::DataObject;
use tgm_core::phase::DecodePhase;
use tgm_core::wire::{
    END_MAGIC, FrameFlags, FrameHeader, MessageFlags, POSTAMBLE_SIZE, PREAMBLE_SIZE, Postamble, Preamble,
};

/// The facts of the message that `bytes` begin with, from a walk, up to the first error. `None` if the message states a
/// length beyond the bytes, because the slice parser then does not walk it.
///
/// It is the slice parser's answer but for the order in which two errors of one frame are found, which arrival decides.
pub fn facts(bytes: &[u8]) -> Option<Vec<Fact>> {
    let mut facts = Vec::new();
    let error = match walk(bytes, &mut facts)? {
        Ok(()) => return Some(facts),
        // A streamed message that is too short for any end. Reported at once, unless there is an earlier error.
        Err(error) if is_streamed(bytes) && is_end(error) => Message::parse(bytes).err().unwrap_or(error),
        Err(error) => error,
    };
    facts.push(Fact::Error(error));
    Some(facts)
}

fn is_streamed(bytes: &[u8]) -> bool {
    Preamble::ref_from_prefix(bytes).is_ok_and(|(preamble, _)| preamble.total_length.get() == 0)
}

/// Whether this error means that bytes are missing at the end.
const fn is_end(error: Error) -> bool {
    matches!(error.kind(), ErrorKind::Truncated | ErrorKind::FrameExceedsMessage | ErrorKind::EndMagic)
}

fn walk(bytes: &[u8], facts: &mut Vec<Fact>) -> Option<Result<(), Error>> {
    let Ok((preamble, _)) = Preamble::ref_from_prefix(bytes) else {
        let at = bytes.len() as u64;
        return Some(if at == 0 { Ok(()) } else { Err(ErrorKind::Truncated.at(at)) });
    };
    let stated = match check_preamble(preamble, u64::MAX) {
        Ok(Some(length)) => Some(usize::try_from(length).ok().filter(|&length| length <= bytes.len())?),
        Ok(None) => None,
        Err(error) => return Some(Err(error)),
    };
    facts.push(Fact::Start);
    let end = stated.map_or(bytes.len(), |length| length - POSTAMBLE_SIZE);
    let mut walk = FrameWalk {
        bytes: &bytes[..end],
        phase: DecodePhase::Header,
        presence: HashPresence::Flagged,
        objects: 0,
        last_end: PREAMBLE_SIZE as u64,
        facts,
    };
    if preamble.flags().has(MessageFlags::HASHES_PRESENT) {
        walk.presence = HashPresence::All;
    }
    let sealed = stated.map(|length| sealed(&bytes[..length]));
    let mut frames = match &sealed {
        Some(sealed) => Message::parse(sealed).unwrap().frames(),
        None => Frames::open_ended(&bytes[PREAMBLE_SIZE..], PREAMBLE_SIZE as u64),
    };
    while let Some(frame) = frames.next() {
        let told = match frame {
            Ok(frame) => walk.frame(&frame),
            Err(error) => {
                let position = frames.position();
                let earlier = walk.earlier_error(position, error);
                // A message that is too short for any end comes to its end first.
                let too_short = Message::parse(bytes).err().filter(|_| walk.is_not_begun(position));
                Err(too_short.unwrap_or(earlier))
            }
        };
        if let Err(error) = told {
            return Some(Err(error));
        }
    }
    let objects = walk.objects;
    let length = match stated {
        None => frames.position() + POSTAMBLE_SIZE as u64,
        Some(length) => {
            let postamble = Postamble::ref_from_bytes(&bytes[end..length]).unwrap();
            if let Err(error) = check_postamble(postamble, length as u64) {
                return Some(Err(error));
            }
            length as u64
        }
    };
    facts.push(Fact::End { length, objects });
    Some(Ok(()))
}

/// The message with a proper end, so that it opens. Its real end is checked after its frames.
fn sealed(message: &[u8]) -> Vec<u8> {
    let mut sealed = message.to_vec();
    let (_, postamble) = sealed.split_at_mut(message.len() - POSTAMBLE_SIZE);
    postamble[8..16].copy_from_slice(&(message.len() as u64).to_be_bytes());
    postamble[16..].copy_from_slice(END_MAGIC);
    sealed
}

struct FrameWalk<'a, 'f> {
    bytes: &'a [u8],
    phase: DecodePhase,
    presence: HashPresence,
    objects: u64,
    /// Where the last frame ends, or the preamble.
    last_end: u64,
    facts: &'f mut Vec<Fact>,
}

impl FrameWalk<'_, '_> {
    fn frame(&mut self, frame: &Frame<'_>) -> Result<(), Error> {
        self.phase = self.phase.after(frame.frame_type()).unwrap();
        let is_object = frame.frame_type().is_data_object();
        self.begin(frame.header(), frame.offset());
        if frame.has_hash_flag() {
            self.presence = HashPresence::Flagged;
        }
        if is_object {
            let object = Self::object(frame)?;
            self.facts.push(object);
        } else {
            self.facts.push(Fact::Cbor { bytes: frame.body().to_vec(), offset: frame.body_offset() });
        }
        let verdict: Verdict = self.presence.check(frame);
        self.facts.push(Fact::FrameEnd { offset: frame.end_offset(), verdict });
        self.last_end = frame.end_offset();
        Ok(())
    }

    fn begin(&mut self, header: &FrameHeader, offset: u64) {
        let (frame_type, length) = check_header(header, u64::MAX).unwrap();
        let object_index = frame_type.is_data_object().then_some(self.objects);
        self.objects += u64::from(frame_type.is_data_object());
        self.facts.push(Fact::Frame { frame_type, offset, length, object_index });
    }

    fn object(frame: &Frame<'_>) -> Result<Fact, Error> {
        if !frame.flags().has(FrameFlags::CBOR_AFTER_PAYLOAD) && frame.cbor_offset() != 16 {
            first_descriptor(frame.body(), frame.body_offset(), true)?;
            return Err(ErrorKind::CborOffset.at(frame.end_offset() - 20));
        }
        let object = DataObject::parse(*frame)?;
        Ok(Fact::Object {
            region: object.region().to_vec(),
            region_offset: if object.region().is_empty() { 0 } else { object.region_offset() },
            descriptor: object.descriptor().as_encoded().to_vec(),
            cbor_offset: object.descriptor().offset(),
            payload_len: object.payload().len() as u64,
        })
    }

    /// Whether the push decoder has not yet begun the frame at `position` when the bytes end. A postamble may begin in the last
    /// byte of the gap before the frame, so the push decoder waits for all bytes of that.
    fn is_not_begun(&self, position: u64) -> bool {
        let left = (self.bytes.len() as u64).saturating_sub(position);
        is_streamed(self.bytes) && position > self.last_end && left < POSTAMBLE_SIZE as u64 - 1
    }

    /// The error of the frame at `position` that comes before this one in the order of arrival.
    fn earlier_error(&mut self, position: u64, error: Error) -> Error {
        let late = matches!(error.kind(), ErrorKind::FrameEnd | ErrorKind::CborOffset | ErrorKind::FrameExceedsMessage);
        let at = usize::try_from(position).unwrap();
        let Ok((header, rest)) = FrameHeader::ref_from_prefix(&self.bytes[at..]) else { return error };
        let Ok((frame_type, length)) = check_header(header, u64::MAX) else { return error };
        // Where the length is stated a frame that exceeds it is one at its header, and so is one that leaves no numbers for a
        // room for a postamble below 2^64.
        let is_endless = position.checked_add(length).is_none_or(|end| end > u64::MAX - POSTAMBLE_SIZE as u64);
        if !late || error.kind() == ErrorKind::FrameExceedsMessage && (is_endless || !is_streamed(self.bytes)) {
            return error;
        }
        if let Err(kind) = self.phase.after(frame_type) {
            return kind.at(position);
        }
        if self.is_not_begun(position) {
            return error;
        }
        self.begin(header, position);
        if frame_type.is_data_object() && !header.flags().has(FrameFlags::CBOR_AFTER_PAYLOAD) {
            // A body may be longer than the addresses of the machine.
            let body_len = length - 36;
            let body = usize::try_from(body_len).ok().and_then(|len| rest.get(..len)).unwrap_or(rest);
            if let Err(error) = first_descriptor(body, position + 16, body.len() as u64 == body_len) {
                return error;
            }
        }
        error
    }
}

/// Reads the descriptor at the start of `body`, which may be incomplete.
fn first_descriptor(body: &[u8], offset: u64, is_all: bool) -> Result<(), Error> {
    match Descriptor::parse(body, offset) {
        Ok(_) if !is_all => Ok(()),
        Ok(descriptor) => {
            let region_len = (body.len() - descriptor.as_encoded().len()) as u64;
            let beyond = descriptor
                .masks()
                .iter()
                .map(|(_, mask)| mask)
                .find(|mask| mask.offset().checked_add(mask.length()).is_none_or(|end| end > region_len));
            beyond.map_or(Ok(()), |mask| Err(ErrorKind::MaskBounds.at(mask.position())))
        }
        Err(error) if error.kind() == ErrorKind::Truncated && !is_all => Ok(()),
        Err(error) => Err(error),
    }
}
