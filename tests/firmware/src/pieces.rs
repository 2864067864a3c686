//! Messages that arrive in small pieces, and values out of them.

use tgm_core::push::{Event, Link, PushDecoder};
use tgm_core::{ErrorKind, Result};

/// Bytes of a piece.
const PIECE: usize = 64;
/// Bytes of the decoder's memory for CBOR.
const MEMORY: usize = 512;

/// Calls `look` with each event of a message that arrives in pieces.
// Never inlined: otherwise two decoders would be on the stack at once. Not generic: otherwise the decoder's code would be
// there for each `look`.
#[inline(never)]
pub fn receive(message: &[u8], look: &mut dyn FnMut(&Event<'_>) -> Result<()>) -> Result<()> {
    let mut decoder = PushDecoder::<MEMORY>::new(Link::Lossy);
    for mut piece in message.chunks(PIECE) {
        while let Some(event) = decoder.next_event(&mut piece)? {
            look(&event)?;
        }
    }
    decoder.finish()
}

/// Writes what `next` yields until it yields nothing.
pub fn drain<T: Copy + Default, const WIDTH: usize>(
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
