//! Reads a message in place, as firmware does with a message in flash: no allocation, no copy of the message.
//!
//! Only `print!` needs std here. Run it with `cargo run -p tgm-core --example embedded_read`.

use tgm_core::{Message, Result};

/// A message of one object: values of 16 bits packed with `simple_packing`, and compressed with szip.
static FLASH: &[u8] = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/b16-none-szip.tgm"));

/// The most values that this program can hold.
const MAX_VALUES: usize = 1024;

fn main() -> Result<()> {
    // Opening reads 48 bytes, and walking reads headers. Nothing is decoded yet.
    let message = Message::parse(FLASH)?;
    println!("a message of {} bytes with {} object(s)", FLASH.len(), message.outline()?.object_count);

    // On a machine that received the message over a wire: is it what was sent?
    let found = message.verify_all()?;
    println!("{} of {} frames have a digest, and it is right", found.hashed_frames, found.frames);

    // All memory is the caller's, and its size is known in advance.
    let mut values = [0.0_f32; MAX_VALUES];
    let mut scratch = [0; 4 * MAX_VALUES];
    for object in message.objects() {
        let object = object?;
        let descriptor = object.descriptor();
        println!("{} {:?}, compression {}", descriptor.dtype(), descriptor.shape(), descriptor.compression());

        let count = usize::try_from(descriptor.element_count()).unwrap_or(usize::MAX);
        let Some(values) = values.get_mut(..count) else {
            println!("too many values for this program");
            continue;
        };
        object.decode_floats_into(&mut scratch, values)?;
        let (lowest, highest) =
            values.iter().fold((f32::MAX, f32::MIN), |(low, high), &value| (low.min(value), high.max(value)));
        println!("{count} values from {lowest} to {highest}, the first is {:?}", values.first());
    }
    Ok(())
}
