//! Finds the frames of messages.
#![no_std]
#![no_main]

use firmware::report::Line;
use firmware::{machine, messages};
use tgm_core::{Message, Result};

#[unsafe(no_mangle)]
extern "C" fn Reset() -> ! {
    // SAFETY: the machine starts here.
    unsafe { machine::start(run) }
}

fn run(_: &mut [u8]) -> Result<()> {
    for message in messages::all() {
        let (mut frames, mut objects) = (0, 0);
        for frame in Message::parse(message.bytes)?.frames() {
            frames += 1;
            objects += u32::from(frame?.frame_type().is_data_object());
        }
        drop(Line::new("framing").word(message.name).number(frames).number(objects));
    }
    Ok(())
}
