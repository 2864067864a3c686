//! Checks the digests of messages and decodes their values: plain, shuffled, packed, compressed by szip, masked.
#![no_std]
#![no_main]

use firmware::report::Line;
use firmware::{machine, messages};
use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Encoding, Filter};
use tgm_core::hash::{Verdict, digest};
use tgm_core::object::DataObject;
use tgm_core::szip::{self, Formula, Params, Start, flags};
use tgm_core::{ErrorKind, Message, Result};

#[unsafe(no_mangle)]
extern "C" fn Reset() -> ! {
    // SAFETY: the machine starts here.
    unsafe { machine::start(run) }
}

fn run(buffer: &mut [u8]) -> Result<()> {
    for named in messages::all() {
        let message = Message::parse(named.bytes)?;
        let mut good = 0;
        for frame in message.verify(message.hash_presence()?) {
            good += u32::from(frame?.verdict == Verdict::Good);
        }
        let values = decode(&message.object(0)?, buffer)?;
        let line = Line::new("decode").word(named.name).number(good);
        drop(line.number(values.len() as u32).hex(digest(values)));
    }
    Ok(())
}

/// All values, little-endian, in the front of `buffer`.
fn decode<'b>(object: &DataObject<'_>, buffer: &'b mut [u8]) -> Result<&'b [u8]> {
    let descriptor = object.descriptor();
    let len = usize::try_from(descriptor.decoded_len()?).ok();
    let values = len.and_then(|len| buffer.get_mut(..len)).ok_or(ErrorKind::OutputLength.at(0))?;
    if descriptor.compression().known() == Some(Compression::Szip) {
        decompress(object, descriptor, values)?;
        object.restore_into(0, ByteOrder::Little, values)?;
    } else {
        object.decode_into(0..descriptor.element_count(), ByteOrder::Little, values)?;
    }
    Ok(values)
}

/// From szip's stream to packed values in one pass.
fn decompress(object: &DataObject<'_>, descriptor: &Descriptor<'_>, values: &mut [u8]) -> Result<()> {
    let stages = (descriptor.encoding().known(), descriptor.filter().known());
    let (Some(Encoding::SimplePacking), Some(Filter::None)) = stages else {
        return Err(ErrorKind::OutputLength.at(descriptor.offset()));
    };
    let (packing, stored) = (descriptor.packing()?, descriptor.szip()?);
    let params = Params::new(packing.bits_per_value, stored.block_size, stored.rsi, stored.flags | flags::MSB)
        .map_err(|kind| kind.at(descriptor.offset()))?;
    let formula = Formula { reference: packing.reference_value, scale: packing.scale() };
    let (slots, _) = values.as_chunks_mut();
    szip::decode_packed_with(object.payload(), &params, Start::default(), formula, slots, f64::to_le_bytes)?;
    Ok(())
}
