//! Receives messages in small pieces, checks their digests, and makes values of payloads as they come.
//!
//! In these messages descriptors come last, so each is sent twice: what its first object is, the second time is known.
#![no_std]
#![no_main]

use firmware::report::Line;
use firmware::{machine, messages};
use tgm_core::descriptor::Dtype;
use tgm_core::hash::{Verdict, digest};
use tgm_core::push::{Event, Link, PushDecoder, Unpacker};
use tgm_core::{ErrorKind, Result};

/// Bytes that come at a time.
const PIECE: usize = 64;
/// Bytes for CBOR.
const MEMORY: usize = 512;

#[unsafe(no_mangle)]
extern "C" fn Reset() -> ! {
    // SAFETY: the machine starts here.
    unsafe { machine::start(run) }
}

fn run(buffer: &mut [u8]) -> Result<()> {
    for named in messages::all() {
        let mut good = 0;
        let mut values = None;
        receive(named.bytes, |event| {
            match event {
                Event::Descriptor(object) if object.object_index == 0 => {
                    values = Values::of(object.descriptor.dtype(), Unpacker::new(&object.descriptor))
                }
                Event::FrameEnd(end) => good += u32::from(end.verdict == Verdict::Good),
                _ => {}
            }
            Ok(())
        })?;
        let mut written = 0;
        receive(named.bytes, |event| {
            if let (Event::Chunk(chunk), Some(values)) = (event, &mut values)
                && chunk.object_index == Some(0)
            {
                values.write(chunk.bytes, buffer, &mut written)?;
            }
            Ok(())
        })?;
        let values = buffer.get(..written).unwrap_or_default();
        drop(Line::new("push").word(named.name).number(good).number(written as u32).hex(digest(values)));
    }
    Ok(())
}

/// Calls `look` with each event of a message that comes in pieces.
// Never inlined: two of them would lie on the stack side by side.
#[inline(never)]
fn receive(message: &[u8], mut look: impl FnMut(&Event<'_>) -> Result<()>) -> Result<()> {
    let mut decoder = PushDecoder::<MEMORY>::new(Link::Lossy);
    for mut piece in message.chunks(PIECE) {
        while let Some(event) = decoder.next_event(&mut piece)? {
            look(&event)?;
        }
    }
    decoder.finish()
}

/// Values of the two types that the messages have.
enum Values {
    Singles(Unpacker),
    Doubles(Unpacker),
}

impl Values {
    /// `None` for what chunks cannot be unpacked from.
    fn of(dtype: Dtype, unpacker: Result<Unpacker>) -> Option<Self> {
        match (dtype, unpacker) {
            (Dtype::Float32, Ok(unpacker)) => Some(Self::Singles(unpacker)),
            (Dtype::Float64, Ok(unpacker)) => Some(Self::Doubles(unpacker)),
            _ => None,
        }
    }

    /// Writes the values of a chunk, little-endian, behind the `written` bytes of `out`.
    fn write(&mut self, mut chunk: &[u8], out: &mut [u8], written: &mut usize) -> Result<()> {
        match self {
            Self::Singles(unpacker) => {
                drain(out, written, f32::to_le_bytes, |values| unpacker.elements_into(&mut chunk, values))
            }
            Self::Doubles(unpacker) => {
                drain(out, written, f64::to_le_bytes, |values| unpacker.unpack_into(&mut chunk, values))
            }
        }
    }
}

/// Writes what `next` yields until it yields nothing.
fn drain<T: Copy + Default, const WIDTH: usize>(
    out: &mut [u8],
    written: &mut usize,
    bytes: impl Fn(T) -> [u8; WIDTH],
    mut next: impl FnMut(&mut [T]) -> Result<usize>,
) -> Result<()> {
    let mut few = [T::default(); 8];
    loop {
        let count = next(&mut few)?;
        if count == 0 {
            return Ok(());
        }
        let (slots, _) = out.get_mut(*written..).unwrap_or_default().as_chunks_mut::<WIDTH>();
        let slots = slots.get_mut(..count).ok_or(ErrorKind::OutputLength.at(0))?;
        for (slot, value) in slots.iter_mut().zip(few) {
            *slot = bytes(value);
        }
        *written = written.saturating_add(count.saturating_mul(WIDTH));
    }
}
