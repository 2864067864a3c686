//! Receives messages over TCP and handles them as their bytes arrive, in fixed memory.
//!
//! Sender and receiver are both in this program. Run it with `cargo run -p tgm-core --example push_socket`.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use tgm_core::hash::Verdict;
use tgm_core::push::{Event, Link, PushDecoder};

/// Messages as a sender has them: one states its length, one does not.
const MESSAGES: [&[u8]; 2] = [
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/float32-little.tgm")),
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/samples/some-objects.tgm")),
];

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let sender = thread::spawn(move || TcpStream::connect(address)?.write_all(&MESSAGES.concat()));
    receive(listener.accept()?.0)?;
    sender.join().map_err(|_| "the sender panicked")??;
    Ok(())
}

/// Reads messages from a socket until the other side closes it.
fn receive(mut socket: TcpStream) -> Result<(), Box<dyn Error>> {
    // 4 KiB for metadata and descriptors. Payloads are not kept: they pass in slices of `buffer`.
    let mut decoder = PushDecoder::<4096>::new(Link::Reliable);
    let mut buffer = [0; 512];
    loop {
        let count = socket.read(&mut buffer)?;
        if count == 0 {
            // Did the stream end between two messages?
            return Ok(decoder.finish()?);
        }
        let mut piece = &buffer[..count];
        loop {
            match decoder.next_event(&mut piece) {
                Ok(Some(event)) => handle(&event),
                // The piece is used up.
                Ok(None) => break,
                // The decoder looks for the next message by itself.
                Err(error) => println!("a damaged message: {error}"),
            }
        }
    }
}

fn handle(event: &Event<'_>) {
    match event {
        Event::Preamble(preamble) => println!("a message begins, flags {:#06x}", preamble.flags().bits()),
        Event::Descriptor(object) => {
            let descriptor = &object.descriptor;
            println!("  object {}: {} {:?}", object.object_index, descriptor.dtype(), descriptor.shape());
        }
        Event::Chunk(chunk) => println!("  {:?}: {} bytes", chunk.part, chunk.bytes.len()),
        Event::FrameEnd(end) => match end.verdict {
            Verdict::Good => {}
            other => println!("  {}: digest {other:?}", end.frame_type),
        },
        Event::MessageEnd(end) => println!("a message of {} bytes and {} object(s)", end.length, end.object_count),
        _ => {}
    }
}
