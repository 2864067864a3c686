//! Checks the digests of messages, and reports type and number of elements of their first objects.
#![no_std]
#![no_main]

use firmware::report::Line;
use firmware::{machine, messages};
use tgm_core::hash::Verdict;
use tgm_core::{Message, Result};

#[unsafe(no_mangle)]
extern "C" fn Reset() -> ! {
    // SAFETY: the machine starts here.
    unsafe { machine::start(run) }
}

fn run(_: &mut [u8]) -> Result<()> {
    for named in messages::all() {
        let message = Message::parse(named.bytes)?;
        let mut good = 0;
        for frame in message.verify(message.hash_presence()?) {
            good += u32::from(frame?.verdict == Verdict::Good);
        }
        let object = message.object(0)?;
        let descriptor = object.descriptor();
        let line = Line::new("object").word(named.name).number(good);
        drop(line.word(descriptor.dtype().name()).number(descriptor.element_count() as u32));
    }
    Ok(())
}
