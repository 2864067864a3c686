//! Whole messages over TCP: the sender writes them one after the other, the receiver finds their ends by the format.
//!
//! A message states its length in its first 24 bytes, so that no other framing is needed. The receiver limits the
//! length before it takes memory, and checks that what came is what was sent.

use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use tgm_std::core::message::check_preamble;
use tgm_std::core::wire::{PREAMBLE_SIZE, Preamble};
use tgm_std::deps::zerocopy::FromBytes as _;
use tgm_std::{MessageBuilder, ObjectBuilder, Result, TensogramError, check_message, read};

/// The longest message that the receiver accepts.
const MOST: u64 = 64 << 20;

/// Sends three messages and receives them.
pub fn main() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let sender = thread::spawn(move || send(TcpStream::connect(address)?));

    let (stream, _) = listener.accept()?;
    let mut stream = BufReader::new(stream);
    let mut received = Vec::new();
    while let Some(bytes) = receive(&mut stream)? {
        let message = tgm_std::core::Message::parse(&bytes)?;
        let step = message.metadata()?.get_u64("step")?;
        let values: Vec<f32> = read(&message.object(0)?).values()?;
        println!("step {step:?}: {} bytes, {} values", bytes.len(), values.len());
        received.push((step, values.len()));
    }
    sender.join().expect("the sender does not panic")?;
    assert_eq!(received, [(Some(0), 1000), (Some(1), 2000), (Some(2), 3000)]);
    Ok(())
}

fn send(mut stream: TcpStream) -> Result<()> {
    for step in 0..3_u16 {
        let values: Vec<f32> = (0..1000 * (step + 1)).map(f32::from).collect();
        let object = ObjectBuilder::new(&[values.len() as u64], &values)?.metadata("step", step);
        stream.write_all(&MessageBuilder::new().object(object).encode()?)?;
    }
    Ok(())
}

/// Reads the next message; `None` at the end of the stream.
fn receive(stream: &mut impl Read) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    stream.by_ref().take(PREAMBLE_SIZE as u64).read_to_end(&mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let preamble = Preamble::ref_from_bytes(&bytes).map_err(|_| not_accepted("the stream ends early"))?;
    let length = check_preamble(preamble, MOST)?; // an error if this is not a message, or longer than MOST
    let length = length.ok_or_else(|| not_accepted("the message does not state its length"))?;
    stream.by_ref().take(length - PREAMBLE_SIZE as u64).read_to_end(&mut bytes)?;
    check_message(&bytes)?; // also finds a message that was cut off
    Ok(Some(bytes))
}

fn not_accepted(why: &str) -> TensogramError {
    TensogramError::Framing(why.into())
}
