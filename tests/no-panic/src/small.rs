//! Calls of the smaller public functions: constants of the format, states, getters.

use core::hint::black_box;

use serde_core::de::value::{Error as Unread, StrDeserializer};
use serde_core::de::{Deserialize, IntoDeserializer};
use tgm_core::cbor::Value;
use tgm_core::descriptor::{ByteOrder, Compression, Descriptor, Dtype, Encoding, Filter, Key, MaskMethod};
use tgm_core::frame::{Frame, Frames, Walk, check_header, find_landmark, stored_hash};
use tgm_core::hash::{HashPresence, digest};
use tgm_core::index::Index;
use tgm_core::mask::{BitmapForm, Mask, MaskKind, pattern};
use tgm_core::message::{check_postamble, check_preamble};
use tgm_core::metadata::Metadata;
use tgm_core::packing::Packing;
use tgm_core::phase::DecodePhase;
use tgm_core::scan::{Scanner, find, find_in_chunks, scan};
use tgm_core::stored::stored_len;
use tgm_core::szip::{Formula, Params, Start, decode_with};
use tgm_core::tensor::{Shape, TensorView};
use tgm_core::wire::{FrameFlags, FrameHeader, FrameType, MessageFlags, Postamble, Preamble};
use tgm_core::{ErrorKind, Message};
use zerocopy::FromBytes;

use crate::{keep, text};

/// Calls all of them.
pub(crate) fn all(input: &[u8], output: &mut [u8]) {
    wire(input);
    names(text(input));
    if let Ok(message) = Message::parse(input) {
        message.frames().for_each(|frame| keep(frame.map(|frame| frame_getters(&frame))));
        message.objects().for_each(|object| keep(object.map(|object| descriptor(object.descriptor()))));
    }
    Frames::open_ended(input, black_box(24)).for_each(keep);
    if let Ok(metadata) = Metadata::parse(input, 0) {
        keep((metadata.offset(), metadata.as_encoded()));
    }
    if let Ok(bytes) = Value::parse(input, 0).and_then(|value| value.as_bytes()) {
        keep(bytes.eq_bytes(input));
    }
    scanner(input);
    kernels(input, output);
    keep(ErrorKind::Truncated.at(black_box(3)).shift(black_box(4)));
}

fn wire(input: &[u8]) {
    let room = black_box(99);
    keep(FrameHeader::ref_from_prefix(input).map(|(header, _)| (check_header(header, room), header.flags())));
    keep(Preamble::ref_from_prefix(input).map(|(preamble, _)| check_preamble(preamble, room)));
    keep(Postamble::ref_from_prefix(input).map(|(postamble, _)| check_postamble(postamble, room)));
    keep((FrameFlags::new(black_box(3)).has(black_box(1)), MessageFlags::new(black_box(9)).bits()));
    let mut flags = MessageFlags::new(black_box(2));
    flags.set(black_box(1));
    keep((flags, flags.has_metadata()));
    if let Ok(frame) = FrameType::from_u16(black_box(9)) {
        keep((frame.as_u16(), frame.is_data_object(), frame.is_metadata(), frame.tail_size(), frame.min_size()));
        keep((frame.name(), DecodePhase::Body.after(frame), DecodePhase::Preceded.finish()));
        let mut walk = Walk::new(black_box(24), black_box(99));
        walk.skip(black_box(3));
        keep((walk.enter(frame, black_box(40)), walk.position(), walk.room(), walk.phase(), walk.finish()));
    }
    keep(find_landmark(input, black_box(true)));
    keep(stored_hash(input));
}

fn names(name: &str) {
    keep((Dtype::from_name(name), ByteOrder::from_name(name), Encoding::from_name(name), Filter::from_name(name)));
    keep((Compression::from_name(name), MaskMethod::from_name(name), ByteOrder::native()));
    keep(Key::from_name(name).map(|key| (key.name(), key.is_field(), key.is_parameter())));
    let dtype = black_box(Dtype::Complex128);
    keep((dtype.name(), dtype.byte_width(), dtype.swap_unit_size(), dtype.is_float(), dtype.byte_len(black_box(7))));
    keep(pattern(black_box(MaskKind::NegInf), dtype));
    let input: StrDeserializer<'_, Unread> = name.into_deserializer();
    keep((Dtype::deserialize(input), ByteOrder::deserialize(input)));
}

fn frame_getters(frame: &Frame<'_>) {
    keep((frame.frame_type(), frame.cbor_offset(), frame.offset(), frame.total_length(), frame.has_hash_flag()));
    keep(frame.hash_presence());
    keep(HashPresence::All.check_with(frame, digest));
    let presence = black_box(HashPresence::All);
    keep((presence.covers(frame), presence.check(frame), digest(frame.body())));
    if let Ok(index) = Index::parse(frame) {
        keep((index.is_ascending(), index.offsets().offset(), index.lengths().is_empty()));
    }
}

fn descriptor(descriptor: &Descriptor<'_>) {
    keep((descriptor.encoding().known(), descriptor.filter().known(), descriptor.compression().known()));
    keep((descriptor.declared_byte_order(), descriptor.as_map().len(), descriptor.dtype(), stored_len(descriptor)));
    for (kind, mask) in descriptor.masks().iter() {
        keep((kind.name(), mask.method().known(), mask.offset(), mask.length(), mask.position()));
    }
    keep((descriptor.masks().is_empty(), descriptor.masks().get(black_box(MaskKind::Nan)).is_some()));
}

fn scanner(input: &[u8]) {
    let mut scanner = scan(input).with_source(input);
    keep((scanner.front(), scanner.back(), scanner.next_segment(), scanner.torn(), scanner.back_agrees()));
    scanner.for_each(|segment| keep((segment.offset(), segment.length(), segment.is_message())));
    let mut growing = Scanner::growing(input, black_box(3));
    keep((growing.next_segment(), growing.place(), growing.source_mut().len()));
    growing.pass_over();
    growing.resume_at(black_box(9));
    growing.end();
    keep((growing.next_segment(), growing.place()));
    keep(Frame::parse_at(input, black_box(5)).map(|(frame, rest)| (frame.end_offset(), rest.len())));
    keep(find(input, b"TENSOGRM"));
    let mut chunk = [0; 16];
    keep(find_in_chunks(&input, b"39277777", black_box(1), black_box(60), black_box(&mut chunk[..]), find));
}

fn kernels(input: &[u8], output: &mut [u8]) {
    let mask = Mask::new(black_box(BitmapForm::Rle), input, black_box(9));
    keep((mask.form(), mask.blob(), mask.count()));
    let packing = Packing {
        reference_value: black_box(0.0),
        binary_scale_factor: black_box(i32::MIN),
        decimal_scale_factor: black_box(i32::MIN),
        bits_per_value: black_box(64),
    };
    keep((packing.scale(), packing.factor(), packing.packed_len(black_box(u64::MAX))));
    let dims: &[u64] = black_box(&[4, 4]);
    let shape = Shape::from(dims);
    let mut strides = [0; 2];
    keep((shape.rank(), shape.dims().count(), shape.byte_len(black_box(Dtype::Float32)).ok()));
    keep(shape.row_major_strides_into(black_box(&mut strides[..])));
    if let Ok(view) = TensorView::<f32>::new(input, black_box(ByteOrder::Little), shape) {
        let mut values = [0.0; 16];
        keep((view.try_as_slice(), view.copy_into(black_box(&mut values[..])), view.iter().as_elements().len()));
    }
    if let Ok(params) = Params::new(black_box(9), black_box(16), black_box(7), black_box(12)) {
        keep((params.bits_per_sample(), params.block_size(), params.rsi()));
        if let Ok(start) = Start::at_sample(input, &params, [0], black_box(5)) {
            keep(decode_with(input, &params, start, output, |sample| sample.to_le_bytes()[0]));
        }
    }
    keep(Formula { reference: black_box(1.0), scale: black_box(2.0) }.value(black_box(3)));
}
