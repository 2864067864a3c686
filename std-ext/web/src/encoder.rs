//! Messages that are written object by object.

use std::cell::RefCell;
use std::io::{self, Write};
use std::mem;
use std::rc::Rc;

use ciborium::Value;
use tgm_std::{Compress, ObjectBuilder, StreamingEncoder};

use crate::answer::{buffer, run};
use crate::args::{Args, entries};
use crate::failure::{Failure, map, wrong};
use crate::memory::Table;
use crate::metadata::to_metadata;
use crate::write::{encoding, object};

thread_local! {
    static ENCODERS: RefCell<Table<Encoder>> = const { RefCell::new(Table::EMPTY) };
}

/// An encoder, and what it wrote since the last call.
struct Encoder {
    encoder: StreamingEncoder<Written>,
    written: Written,
}

/// The bytes that JavaScript has not taken yet.
#[derive(Clone, Default)]
struct Written(Rc<RefCell<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    /// What a call answers.
    fn answer(&self, number: u32, count: usize) -> Value {
        let bytes = mem::take(&mut *self.0.borrow_mut());
        map([("encoder", number.into()), ("count", (count as u64).into()), ("bytes", buffer(bytes))])
    }
}

/// `metadata`, options: `encoder`, the number of an encoder; `bytes`, what it has written; `count`, how many objects.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_encoder_new(args: u32) -> u32 {
    run(args, |mut args| {
        let metadata = to_metadata(args.value("metadata").ok_or_else(|| wrong("no metadata"))?)?;
        let written = Written::default();
        let encoder = StreamingEncoder::new(written.clone(), &metadata, &encoding(&mut args)?)?;
        let answer = written.clone();
        let number = ENCODERS.with_borrow_mut(|table| table.put(Encoder { encoder, written }));
        Ok(answer.answer(number, 0))
    })
}

/// Runs `work` on an encoder.
fn with(args: u32, work: impl FnOnce(&mut StreamingEncoder<Written>, &mut Args) -> Result<(), Failure>) -> u32 {
    run(args, |mut args| {
        let number = args.integer("encoder")?;
        ENCODERS.with_borrow_mut(|table| {
            let found = table.get_mut(number).ok_or_else(|| wrong("there is no such encoder"))?;
            work(&mut found.encoder, &mut args)?;
            Ok(found.written.answer(number, found.encoder.object_count()))
        })
    })
}

/// `encoder`, `entry`: metadata of the next object.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_encoder_preceder(args: u32) -> u32 {
    with(args, |encoder, args| {
        Ok(encoder.write_preceder(entries(args.value("entry").ok_or_else(|| wrong("no entry"))?)?)?)
    })
}

/// `encoder`, `descriptor`, `data`, and `stored`, or one of `within`, `bits` and `lossless`.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_encoder_object(args: u32) -> u32 {
    with(args, |encoder, args| {
        let (descriptor, data) = object(args)?;
        if args.flag("stored") {
            return Ok(encoder.write_object_pre_encoded(&descriptor, &data)?);
        }
        match compress(args)? {
            None => Ok(encoder.write_object(&descriptor, &data)?),
            Some(compress) => Ok(encoder.write(ObjectBuilder::from_parts(descriptor, data).compress(compress)?)?),
        }
    })
}

/// What an object has to keep.
fn compress(args: &mut Args) -> Result<Option<Compress>, Failure> {
    if let Some(error) = args.value("within") {
        return Ok(Some(Compress::Within(error.deserialized().map_err(|_| wrong("within is not a number"))?)));
    }
    if let Some(bits) = args.optional("bits")? {
        return Ok(Some(Compress::Bits(bits)));
    }
    Ok(args.flag("lossless").then_some(Compress::Lossless))
}

/// `encoder`: ends the message. The encoder is gone.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_encoder_finish(args: u32) -> u32 {
    run(args, |mut args| {
        let number = args.integer("encoder")?;
        let found = ENCODERS.with_borrow_mut(|table| table.take(number));
        let Encoder { encoder, written } = found.ok_or_else(|| wrong("there is no such encoder"))?;
        let count = encoder.object_count();
        encoder.finish()?;
        Ok(written.answer(0, count))
    })
}

/// Frees an encoder.
#[unsafe(no_mangle)]
pub extern "C" fn tgm_encoder_free(encoder: u32) {
    drop(ENCODERS.with_borrow_mut(|table| table.take(encoder)));
}
