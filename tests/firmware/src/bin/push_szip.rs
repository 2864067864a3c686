//! Receives messages in small pieces, checks their digests, and unpacks payloads that szip compressed as they arrive.
//!
//! In these messages descriptors come last, so each message is sent twice: the second time its first descriptor is
//! known.
#![no_std]
#![no_main]

use firmware::pieces::{drain, receive};
use firmware::report::{Line, checksum};
use firmware::{machine, messages};
use tgm_core::Result;
use tgm_core::hash::Verdict;
use tgm_core::push::{Event, SzipUnpacker};

/// Samples of the largest block.
const BLOCK: usize = 16;

#[unsafe(no_mangle)]
extern "C" fn Reset() -> ! {
    // SAFETY: the machine starts here.
    unsafe { machine::start(run) }
}

fn run(buffer: &mut [u8]) -> Result<()> {
    for named in messages::all() {
        let mut good = 0;
        let mut unpacker = None;
        receive(named.bytes, &mut |event| {
            match event {
                Event::Descriptor(object) if object.object_index == 0 => {
                    unpacker = SzipUnpacker::<BLOCK>::new(&object.descriptor).ok()
                }
                Event::FrameEnd(end) => good += u32::from(end.verdict == Verdict::Good),
                _ => {}
            }
            Ok(())
        })?;
        let mut written = 0;
        receive(named.bytes, &mut |event| {
            if let (Event::Chunk(chunk), Some(unpacker)) = (event, &mut unpacker)
                && chunk.object_index == Some(0)
            {
                let mut bytes = chunk.bytes;
                drain(buffer, &mut written, f64::to_le_bytes, |values| unpacker.unpack_into(&mut bytes, values))?;
            }
            Ok(())
        })?;
        if let Some(unpacker) = unpacker {
            unpacker.finish()?;
        }
        let values = buffer.get(..written).unwrap_or_default();
        drop(Line::new("push_szip").word(named.name).number(good).number(written as u32).hex(checksum(values)));
    }
    Ok(())
}
