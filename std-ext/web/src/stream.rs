//! Messages of a stream, as its pieces come.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};

use ciborium::Value;
use tgm_std::TensogramError;
use tgm_std::core::wire::MAGIC;
use tgm_std::file::{MessageReader, StreamOptions, StreamPart};

use crate::answer::{buffer, run};
use crate::failure::{Failure, map, wrong};
use crate::memory::Table;

thread_local! {
    static STREAMS: RefCell<Table<MessageReader<Pieces>>> = const { RefCell::new(Table::EMPTY) };
}

/// The pieces that came and are not read yet.
#[derive(Debug, Default)]
struct Pieces {
    waiting: VecDeque<u8>,
    is_ended: bool,
}

impl Read for Pieces {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.waiting.is_empty() && !self.is_ended {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.waiting.read(out)
    }
}

/// `max`: the number of a stream whose messages have at most so many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_stream_new(args: u32) -> u32 {
    run(args, |mut args| {
        let mut options = StreamOptions { max_junk_bytes: MAGIC.len(), ..StreamOptions::default() };
        if let Some(max) = args.optional("max")? {
            options.max_message_bytes = max;
        }
        let stream = MessageReader::with_options(Pieces::default(), &options);
        Ok(STREAMS.with_borrow_mut(|table| table.put(stream)).into())
    })
}

/// `stream`, `bytes`, `end`: the parts that are complete now. Messages have `offset` and `bytes`, junk has `offset`,
/// `length` and `wasMessage`, whether it begins as a message does.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_stream_push(args: u32) -> u32 {
    run(args, |mut args| {
        let (number, piece, is_ended) = (args.integer("stream")?, args.bytes("bytes")?, args.flag("end"));
        STREAMS.with_borrow_mut(|table| {
            let stream = table.get_mut(number).ok_or_else(|| wrong("there is no such stream"))?;
            let pieces = stream.get_mut();
            pieces.waiting.extend(piece);
            pieces.is_ended |= is_ended;
            parts(stream)
        })
    })
}

fn parts(stream: &mut MessageReader<Pieces>) -> Result<Value, Failure> {
    let mut found = Vec::new();
    loop {
        match stream.next_part() {
            Ok(Some(StreamPart::Message(message))) => {
                let bytes = buffer(message.as_bytes().to_vec());
                found.push(map([("offset", message.offset().into()), ("bytes", bytes)]));
            }
            Ok(Some(StreamPart::Junk { offset, length, beginning })) => {
                let was_message = (beginning == MAGIC).into();
                found.push(map([("offset", offset.into()), ("length", length.into()), ("wasMessage", was_message)]));
            }
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(TensogramError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Value::Array(found))
}

/// Frees a stream.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_stream_free(stream: u32) {
    drop(STREAMS.with_borrow_mut(|table| table.take(stream)));
}
