//! Receives messages in small pieces, checks their digests, and unpacks payloads as they arrive.
//!
//! In these messages descriptors come last, so each message is sent twice: the second time its first descriptor is
//! known.
#![no_std]
#![no_main]

use firmware::pieces::{drain, receive};
use firmware::report::{Line, checksum};
use firmware::{machine, messages};
use tgm_core::Result;
use tgm_core::descriptor::Dtype;
use tgm_core::hash::Verdict;
use tgm_core::push::{Event, Unpacker};

#[unsafe(no_mangle)]
extern "C" fn Reset() -> ! {
    // SAFETY: the machine starts here.
    unsafe { machine::start(run) }
}

fn run(buffer: &mut [u8]) -> Result<()> {
    for named in messages::all() {
        let mut good = 0;
        let mut values = None;
        receive(named.bytes, &mut |event| {
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
        receive(named.bytes, &mut |event| {
            if let (Event::Chunk(chunk), Some(values)) = (event, &mut values)
                && chunk.object_index == Some(0)
            {
                values.write(chunk.bytes, buffer, &mut written)?;
            }
            Ok(())
        })?;
        let values = buffer.get(..written).unwrap_or_default();
        drop(Line::new("push").word(named.name).number(good).number(written as u32).hex(checksum(values)));
    }
    Ok(())
}

/// Values of the two types that the messages have.
enum Values {
    Singles(Unpacker),
    Doubles(Unpacker),
}

impl Values {
    /// `None` if chunks of the payload cannot be unpacked.
    fn of(dtype: Dtype, unpacker: Result<Unpacker>) -> Option<Self> {
        match (dtype, unpacker) {
            (Dtype::Float32, Ok(unpacker)) => Some(Self::Singles(unpacker)),
            (Dtype::Float64, Ok(unpacker)) => Some(Self::Doubles(unpacker)),
            _ => None,
        }
    }

    /// Writes the values of a chunk, little-endian, after the `written` bytes of `out`.
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
