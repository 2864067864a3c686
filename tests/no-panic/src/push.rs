//! Calls of the push decoder and of the methods of its events.

use core::hint::black_box;

use tgm_core::Message;
use tgm_core::push::{Event, Link, PushDecoder, PushState, SzipUnpacker, Unpacker};

use crate::keep;

/// Decodes the input in pieces of several sizes.
pub(crate) fn all(input: &[u8]) {
    decode::<0>(input);
    decode::<100>(input);
    let mut memory = [0; 100];
    let len = black_box(50);
    decode_with(memory.get_mut(..len).unwrap_or_default(), input);
    if let Ok(object) = Message::parse(input).and_then(|message| message.object(0)) {
        keep(Unpacker::new(object.descriptor()).map(|unpacker| values(unpacker, input)));
        keep(SzipUnpacker::<64>::new(object.descriptor()).map(|unpacker| szip_values(unpacker, input)));
        keep(SzipUnpacker::<0>::new(object.descriptor()).map(|unpacker| szip_values(unpacker, input)));
    }
}

fn decode<const N: usize>(input: &[u8]) {
    let mut decoder = PushDecoder::<N>::new(black_box(Link::Lossy));
    for piece in input.chunks(black_box(7).max(1)) {
        let mut rest = piece;
        while let Ok(Some(event)) = decoder.next_event(&mut rest) {
            look_at(&event);
        }
    }
    keep((decoder.finish(), decoder.position(), decoder.message_offset(), decoder.is_searching(), decoder.missed()));
    decoder.reset(black_box(9));
    keep(decoder);
}

/// The same with memory of a length that the compiler does not know.
fn decode_with(memory: &mut [u8], input: &[u8]) {
    let mut state = PushState::new(black_box(Link::Reliable));
    let mut rest = input;
    while let Ok(Some(event)) = state.next_event(memory, &mut rest) {
        look_at(&event);
    }
    keep((state.finish(), state.position(), state.message_offset(), state.is_searching(), state.missed()));
    state.reset(black_box(9));
    keep(state);
}

fn look_at(event: &Event<'_>) {
    match event {
        Event::Cbor(cbor) => {
            keep((cbor.frame_type(), cbor.as_bytes(), cbor.offset(), cbor.verdict()));
            keep((cbor.metadata(), cbor.index(), cbor.hash_list()));
        }
        Event::Descriptor(object) => keep(Unpacker::new(&object.descriptor)),
        other => keep(other),
    }
}

fn szip_values<const B: usize>(mut unpacker: SzipUnpacker<B>, input: &[u8]) {
    for piece in input.chunks(black_box(7).max(1)) {
        let mut chunk = piece;
        let (mut integers, mut doubles, mut singles) = ([0_u16; 20], [0.0_f64; 20], [0.0_f32; 20]);
        let n = black_box(13);
        if let (Some(singles), Some(doubles)) = (singles.get_mut(..n), doubles.get_mut(..n)) {
            keep((unpacker.elements_into(&mut chunk, singles), unpacker.unpack_into(&mut chunk, singles)));
            keep((unpacker.elements_into(&mut chunk, doubles), unpacker.unpack_into(&mut chunk, doubles)));
            keep((black_box(&*doubles), black_box(&*singles)));
        }
        keep((unpacker.elements_into(&mut chunk, &mut integers), black_box(&integers)));
    }
    keep((unpacker.remaining(), unpacker.finish()));
    keep(unpacker);
}

fn values(mut unpacker: Unpacker, input: &[u8]) {
    let mut chunk = input;
    let (mut singles, mut doubles) = ([0.0_f32; 20], [0.0_f64; 20]);
    let n = black_box(13);
    if let (Some(singles), Some(doubles)) = (singles.get_mut(..n), doubles.get_mut(..n)) {
        keep((unpacker.elements_into(&mut chunk, singles), unpacker.unpack_into(&mut chunk, singles)));
        keep((unpacker.elements_into(&mut chunk, doubles), unpacker.unpack_into(&mut chunk, doubles)));
        keep((black_box(&*doubles), black_box(&*singles)));
    }
    keep(unpacker.remaining());
}
