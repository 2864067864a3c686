//! Mutations that keep a message whole: one part of it is changed, and lengths, offsets and digests are adjusted.
//! Random changes of bytes seldom get past the check of a length.

mod values;

use tgm_std::core::Message;
use tgm_std::core::frame::Frame;
use tgm_std::core::hash::digest;
use tgm_std::core::wire::{
    DATA_OBJECT_FOOTER_SIZE, END_MAGIC, FRAME_ALIGNMENT, FRAME_COMMON_FOOTER_SIZE, FRAME_END, FRAME_HEADER_SIZE,
    FRAME_MAGIC, POSTAMBLE_SIZE, PREAMBLE_SIZE,
};

/// Changes bytes in some way.
type Scribble = fn(&mut Vec<u8>, &mut Chance);

/// The message at the start of `bytes` with one part changed; `scribble` changes parts that are plain bytes. `None` if
/// there is no message.
pub fn mutated(bytes: &[u8], chance: &mut Chance, scribble: Scribble) -> Option<Vec<u8>> {
    let message = Message::parse(bytes).ok()?;
    let mut frames: Vec<Part> = message.frames().map_while(Result::ok).map(|frame| Part::of(&frame)).collect();
    let index = chance.below(frames.len());
    frames.get(index)?;
    match chance.below(16) {
        // Frames in another order, or number.
        0 => frames.swap(index, 0),
        1 => {
            let frame = frames.get(index)?.clone();
            frames.insert(chance.below(frames.len()), frame);
        }
        2 if frames.len() > 1 => {
            frames.remove(index);
        }
        _ => frames.get_mut(index)?.change(chance, scribble)?,
    }
    let is_stated = message.total_length().is_some();
    Some(written(&bytes[..PREAMBLE_SIZE], &frames, is_stated))
}

/// A frame in its parts.
#[derive(Clone)]
struct Part {
    /// Type, version and flags, as in the header.
    head: [u8; 6],
    /// Payload and masks of an object.
    region: Option<Vec<u8>>,
    /// Descriptor or metadata.
    cbor: Vec<u8>,
}

impl Part {
    fn of(frame: &Frame<'_>) -> Self {
        let header = frame.header();
        let [a, b] = header.frame_type.to_bytes();
        let [c, d] = header.version.to_bytes();
        let [e, f] = header.flags.to_bytes();
        let head = [a, b, c, d, e, f];
        let body = frame.body();
        if !frame.frame_type().is_data_object() {
            return Self { head, region: None, cbor: body.to_vec() };
        }
        let split = usize::try_from(frame.cbor_offset()).unwrap_or_default().saturating_sub(FRAME_HEADER_SIZE);
        let (region, cbor) = body.split_at(split.min(body.len()));
        Self { head, region: Some(region.to_vec()), cbor: cbor.to_vec() }
    }

    fn change(&mut self, chance: &mut Chance, scribble: Scribble) -> Option<()> {
        match (chance.below(12), &mut self.region) {
            (0, _) => self.head[chance.below(6)] = chance.byte(),
            (1..4, Some(region)) => scribble(region, chance),
            (4, _) => scribble(&mut self.cbor, chance),
            _ => values::change(&mut self.cbor, chance)?,
        }
        Some(())
    }

    fn write(&self, out: &mut Vec<u8>) {
        let body_len = self.cbor.len() + self.region.as_ref().map_or(0, Vec::len);
        let tail = if self.region.is_some() { DATA_OBJECT_FOOTER_SIZE } else { FRAME_COMMON_FOOTER_SIZE };
        out.extend(FRAME_MAGIC);
        out.extend(self.head);
        out.extend(((FRAME_HEADER_SIZE + body_len + tail) as u64).to_be_bytes());
        let start = out.len();
        out.extend(self.region.iter().flatten());
        let cbor_offset = FRAME_HEADER_SIZE + out.len() - start;
        out.extend(&self.cbor);
        let digest = digest(&out[start..]);
        if self.region.is_some() {
            out.extend((cbor_offset as u64).to_be_bytes());
        }
        out.extend(digest.to_be_bytes());
        out.extend(FRAME_END);
        out.resize(out.len().next_multiple_of(FRAME_ALIGNMENT), 0);
    }

    /// Whether the type is one of the footer.
    fn is_footer(&self) -> bool {
        matches!(self.head, [0, 5..=7, ..])
    }
}

fn written(preamble: &[u8], frames: &[Part], is_stated: bool) -> Vec<u8> {
    let mut out = preamble.to_vec();
    let mut footer = None;
    for frame in frames {
        if frame.is_footer() {
            footer = footer.or(Some(out.len()));
        }
        frame.write(&mut out);
    }
    let footer = footer.unwrap_or(out.len()) as u64;
    let length = (out.len() + POSTAMBLE_SIZE) as u64;
    out.extend(footer.to_be_bytes());
    out.extend(length.to_be_bytes());
    out.extend(END_MAGIC);
    if is_stated {
        out[16..24].copy_from_slice(&length.to_be_bytes());
    }
    out
}

/// Random numbers that depend on a seed alone (splitmix64).
#[derive(Debug)]
pub struct Chance(u64);

impl Chance {
    /// The numbers of this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end`, or 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % end.max(1) as u64) as usize
    }

    /// Any byte.
    pub fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }

    /// One of the choices.
    pub fn choice<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}
