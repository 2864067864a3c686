//! Proof by the linker that neither `tgm-core` nor `tgm-zio` without std can panic.
//!
//! The panic handler calls a function that exists nowhere. The optimiser removes it where no panic is reachable; if one
//! is, the program does not link. Every public function of the crates is called here on bytes that the compiler knows
//! nothing about. `--features planted` shows that the proof can fail.
//!
//! Arithmetic that overflows wraps in release builds and is not covered here; the crates deny
//! `clippy::arithmetic_side_effects` instead.
#![no_std]
#![no_main]

mod push;
mod small;
mod zio;

use core::hint::black_box;
use core::num::NonZeroU64;
use core::panic::PanicInfo;

use tgm_core::byteswap::{swap_in_place, swap_into};
use tgm_core::cbor::head::{first_byte, shortest_info, split_first_byte};
use tgm_core::cbor::{Canonical, Cursor, Uints, Value, verify_canonical};
use tgm_core::descriptor::{ByteOrder, Descriptor, Dtype};
use tgm_core::frame::Frame;
use tgm_core::hash::HashPresence;
use tgm_core::index::{HashList, Index, IndexEntry};
use tgm_core::mask::{BitmapForm, Mask, MaskKind, fill_runs, restore_into};
use tgm_core::metadata::{Metadata, keys_of_path, split_path};
use tgm_core::object::DataObject;
use tgm_core::packing::{Packing, unpack_bytes_into, unpack_into};
use tgm_core::scan::scan;
use tgm_core::shuffle::{unshuffle_into, unshuffle_range_into};
use tgm_core::selection::{Pick, Selection};
use tgm_core::stored::{Stored, window_of};
use tgm_core::szip::{
    Formula, Params, Place, RsiFinder, RsiOffsets, Start, decode_ahead_with, decode_from, decode_into,
    decode_packed_with, decode_range_into, find_rsi, find_rsi_near, unmap_each,
};
use tgm_core::tensor::{AnyView, Complex, Element, Shape, TensorView};
use tgm_core::{Message, Result};

// The C library provides the start-up code, and the memory functions that compilers call.
#[link(name = "c")]
unsafe extern "C" {
    fn a_panic_is_reachable() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: never called: the program links only if this function is removed.
    unsafe { a_panic_is_reachable() }
}

/// Uses a result, so that the optimiser does not remove its computation.
pub(crate) fn keep<T>(value: T) {
    black_box(value);
}

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    static INPUT: [u8; 64] = [0; 64];
    let input: &[u8] = black_box(&INPUT);
    let mut output = [0_u8; 256];
    let output: &mut [u8] = black_box(&mut output);
    #[cfg(feature = "planted")]
    keep(input[black_box(3)]);
    message(input, output).ok();
    scanning(input);
    cbor(input).ok();
    kernels(input, output);
    szip(input, output);
    small::all(input, output);
    zio::all(input, output);
    push::all(input);
    i32::from(black_box(output).first().copied().unwrap_or(0))
}

fn message(input: &[u8], output: &mut [u8]) -> Result<()> {
    let message = Message::parse(input)?;
    keep((message.as_bytes(), message.flags(), message.total_length(), message.postamble(), message.preamble()));
    keep(message.outline());
    if let Ok(first) = message.first_metadata() {
        let path = black_box("mars.param");
        keep((first.get(path), first.get_at(black_box(1), path), first.get_str(path), first.get_u64(path)));
    }
    for frame in message.frames() {
        frame_parts(&frame?);
    }
    let walk = message.frames();
    message.frames_at(black_box(walk.position()), black_box(walk.phase())).for_each(keep);
    for object in message.objects() {
        data_object(&object?, output);
    }
    keep(message.find_index());
    keep(message.object_frame(black_box(3)));
    keep(message.object_at(IndexEntry { offset: black_box(24), length: black_box(200) }));
    if let Ok(object) = message.object(black_box(3)) {
        data_object(&object, output);
    }
    keep((message.object_by_walk(black_box(3)), message.verify_index()));
    keep(message.verify_all().map(|found| found.is_hashed()));
    keep(message.verify_contents());
    let presence = message.hash_presence()?;
    keep(message.verify_hash_lists(presence));
    message.verify(presence).for_each(keep);
    message.verify(HashPresence::Flagged).for_each(keep);
    let metadata = message.metadata()?;
    metadata.data_objects().for_each(|object| keep(object.map(|object| object.payload().len())));
    let path = text(input);
    keep(split_path(path));
    keys_of_path(path).for_each(keep);
    keep((metadata.get(path), metadata.get_at(black_box(1), path), metadata.get_str(path), metadata.get_f64(path)));
    keep((metadata.get_bool(path), metadata.get_i64(path), metadata.get_u64(path), metadata.get_bytes(path)));
    keep((metadata.get_array(path), metadata.get_map(path), metadata.object(black_box(2)), metadata.object_count()));
    for object in metadata.objects() {
        let object = object?;
        object.entries().for_each(keep);
        keep((object.base(), object.preceder()));
        keep((object.get(path), object.reserved(), object.get_str(path)));
        keep(object.get_many([path, black_box("mars.param"), ".a"]));
    }
    Ok(())
}

fn frame_parts(frame: &Frame<'_>) {
    keep((
        frame.header(),
        frame.body(),
        frame.body_offset(),
        frame.end_offset(),
        frame.hash_slot(),
        frame.verify_slot(),
    ));
    keep((Index::from_body(frame.body(), 0), HashList::from_body(frame.body(), 0)));
    if let Ok(index) = Index::parse(frame) {
        keep((index.len(), index.get(black_box(4)), index.iter().count()));
    }
    if let Ok(list) = HashList::parse(frame) {
        list.iter().for_each(keep);
        list.texts().for_each(keep);
        keep((list.len(), list.is_xxh3(), list.algorithm()));
    }
    if let Ok(metadata) = Metadata::of_frame(frame) {
        keep((metadata.base_len(), metadata.base_entry(black_box(2)), metadata.reserved(), metadata.extra("key")));
        keep(metadata.reserved().entry_bytes());
        metadata.extra_entries().for_each(keep);
        metadata.base_entries().for_each(keep);
    }
    keep(DataObject::parse(*frame));
}

fn data_object(object: &DataObject<'_>, output: &mut [u8]) {
    keep(object.verify_contents());
    let descriptor = object.descriptor();
    describe(descriptor);
    keep((object.payload(), object.region(), object.region_offset()));
    let apart = object.with_payload(black_box(&[0; 5]));
    keep((apart.view_any(), apart.stored()));
    keep((object.view_any(), object.view_bits(), object.view::<f32>(), object.view::<Complex<f64>>()));
    for (kind, mask) in descriptor.masks().iter() {
        keep((kind, object.mask(&mask), object.mask_blob(&mask), mask.blob(object.payload())));
    }
    keep(descriptor.masks().payload_len(black_box(7)));
    let range = black_box(3_u64)..black_box(9);
    keep(object.decode_into(range.clone(), black_box(ByteOrder::Big), output));
    let (mut doubles, mut singles) = ([0.0_f64; 32], [0.0_f32; 32]);
    let n = black_box(20);
    if let (Some(doubles), Some(singles)) = (doubles.get_mut(..n), singles.get_mut(..n)) {
        keep((object.scratch_len(), object.decode_floats_into(output, doubles)));
        keep((object.decode_floats_into(output, singles), black_box(&*doubles), black_box(&*singles)));
    }
    if let Ok(stored) = object.stored() {
        keep((stored.as_values(), stored.as_packed(), stored.as_packed_from(), stored.as_shuffled()));
        keep(stored.output_len(&range));
        keep((window_of(descriptor, &range), Stored::window(descriptor, object.payload(), black_box(3))));
        let (chunks, _) = output.as_chunks_mut::<8>();
        let mut floats = [0.0_f64; 16];
        keep(stored.unpack_into(black_box(1), black_box(&mut floats[..])));
        keep(chunks.len());
    }
}

fn describe(descriptor: &Descriptor<'_>) {
    keep((descriptor.shape().iter().count(), descriptor.strides().get(black_box(2)), descriptor.object_type()));
    keep((
        descriptor.packing(),
        descriptor.szip(),
        Params::of(descriptor),
        descriptor.szip_block_offsets(),
        descriptor.zfp(),
        descriptor.sz3(),
    ));
    keep((descriptor.shuffle_element_size(), descriptor.decoded_len(), descriptor.pending_stage()));
    keep((descriptor.parameter("some"), descriptor.byte_order(), descriptor.as_encoded()));
}

fn scanning(input: &[u8]) {
    let mut scanner = scan(input);
    keep(scanner.source());
    keep(scanner.next_message_back(black_box(1 << 20)));
    scanner.for_each(|segment| keep((segment.bytes_of(input), segment)));
}

fn cbor(input: &[u8]) -> Result<()> {
    keep(verify_canonical(input, black_box(Canonical::KeyOrder)));
    keep(verify_canonical(input, black_box(Canonical::Strict)));
    keep(Metadata::parse(input, 0));
    if let Ok(descriptor) = Descriptor::parse(input, black_box(7)) {
        keep(descriptor.of_part(black_box(2)).element_count());
        describe(&descriptor);
    }
    keep((first_byte(black_box(3), black_box(7)), split_first_byte(black_box(0x79)), shortest_info(black_box(300))));
    let mut cursor = Cursor::new(input, 0);
    cursor.skip()?;
    keep(cursor.step());
    cursor.skip_limited(black_box(3))?;
    keep((cursor.rest(), cursor.offset(), cursor.is_empty()));
    let value = Value::read(&mut cursor)?;
    keep((value.kind(), value.offset(), value.as_bool(), value.as_integer(), value.as_u64(), value.as_i64()));
    keep(Uints::parse(&value));
    keep((value.as_f64(), value.as_exact_f64(), value.as_str(), value.as_tag(), value.is_null(), value.as_encoded()));
    if let Ok(text) = value.as_text() {
        keep((text.as_str(), text.is_empty(), text == *"key"));
        text.chunks().for_each(keep);
    }
    if let Ok(bytes) = value.as_bytes() {
        keep((bytes.len(), bytes.is_empty(), bytes.as_slice()));
        bytes.chunks().for_each(keep);
    }
    if let Ok(array) = value.as_array() {
        keep((array.len(), array.get(black_box(5))));
        array.iter().for_each(keep);
    }
    if let Ok(map) = value.as_map() {
        keep((map.len(), map.get(text(input))));
        map.iter().for_each(keep);
    }
    Ok(())
}

fn kernels(input: &[u8], output: &mut [u8]) {
    let packing = Packing {
        reference_value: black_box(1.5),
        binary_scale_factor: black_box(-3),
        decimal_scale_factor: black_box(2),
        bits_per_value: black_box(13),
    };
    let mut doubles = [0.0_f64; 32];
    let mut singles = [0.0_f32; 32];
    let n = black_box(20);
    if let (Some(doubles), Some(singles)) = (doubles.get_mut(..n), singles.get_mut(..n)) {
        keep(unpack_into(input, &packing, black_box(5), doubles));
        keep(unpack_into(input, &packing, black_box(5), singles));
        keep((black_box(&*doubles), black_box(&*singles)));
    }
    keep(unpack_bytes_into(input, &packing, black_box(5), black_box(ByteOrder::Big), output));
    keep((packing.packed_len(black_box(77)), packing.scale(), packing.formula().value_of(black_box(0.5))));
    keep(unshuffle_into(input, black_box(4), output));
    keep(unshuffle_range_into(input, black_box(4), black_box(3), output));
    keep((swap_in_place(output, black_box(4)), swap_into(input, black_box(8), output)));
    for form in [BitmapForm::Raw, BitmapForm::Rle, BitmapForm::Roaring] {
        let mask = Mask::new(black_box(form), input, black_box(100));
        mask.runs().for_each(keep);
        keep(mask.runs().finish());
        keep((mask.verify(), mask.count_set(), mask.bits_into(black_box(3), black_box(50), output)));
        let (dtype, order) = (black_box(Dtype::Complex64), black_box(ByteOrder::Big));
        keep(restore_into(&mask, black_box(MaskKind::Nan), dtype, order, black_box(4), output));
        let runs = mask.runs().map_while(tgm_core::Result::ok);
        keep(fill_runs(runs, black_box(MaskKind::Nan), dtype, order, output));
    }
    let dims: &[u64] = black_box(&[2, 3, 4]);
    let shape = Shape::from(dims);
    keep((shape.element_count(), shape.flat_index(dims), shape.split_first()));
    let step = NonZeroU64::new(black_box(2)).unwrap_or(NonZeroU64::MIN);
    let picks = black_box([Pick::Index(1), Pick::All, Pick::Range { start: 1, end: 4, step }]);
    if let Ok(selection) = Selection::new(shape, &picks) {
        keep((selection.element_count(), selection.row_count(), selection.hull()));
        selection.shape().for_each(keep);
        selection.rows().for_each(|row| keep(row.hull()));
    }
    view::<f32>(input, shape);
    view::<u8>(input, shape);
    view::<Complex<f32>>(input, shape);
    if let Ok(AnyView::Bitmask(bits)) = AnyView::new(Dtype::Bitmask, input, ByteOrder::Big, shape) {
        bits.iter().for_each(keep);
        keep((bits.get(black_box(7)), bits.get_at(dims), bits.count_ones(), bits.bits(black_box(3)..black_box(9))));
    }
}

fn szip(stream: &[u8], output: &mut [u8]) {
    let Ok(params) = Params::new(black_box(16), black_box(8), black_box(2), black_box(8)) else { return };
    keep((params.container_size(), params.byte_order(), params.samples_per_rsi(), params.rsi_count(black_box(9))));
    keep((params.flags(), params.has(black_box(8)), params.id_bits(), params.max(), params.bias()));
    keep(decode_into(stream, &params, output));
    keep(decode_range_into(stream, &params, [0, black_box(14)], black_box(20), output));
    let start = Start { bit_offset: black_box(3), skip: black_box(1) };
    keep(decode_from(stream, &params, start, output));
    let mut samples = black_box([5_u32; 20]);
    keep((unmap_each(&mut samples, black_box(3), black_box(255)), samples));
    keep(find_rsi(stream, &params, black_box(2)));
    keep(find_rsi_near(stream, &params, |index| index.checked_mul(9), black_box(20)));
    RsiOffsets::new(stream, &params, black_box(99)).for_each(keep);
    let mut finder = RsiFinder::new(stream, &params);
    keep(finder.find(black_box(3), |index| index.checked_mul(9)));
    finder.decoded_to(black_box(64), black_box(77));
    keep((finder.find_sample(black_box(99), |_| None), finder.intervals_read()));
    keep(finder.confirm(|index| index.checked_mul(9), black_box(1), black_box(4)));
    let formula = Formula { reference: black_box(1.5), scale: black_box(0.5) };
    let mut values = [0.0_f64; 8];
    let ahead = |place: Place, _: &mut [f64]| Place { bit: black_box(place.bit), ..black_box(place) };
    keep(decode_ahead_with(stream, &params, start, black_box(&mut values[..]), f64::from, ahead));
    keep(decode_packed_with(stream, &params, start, formula, black_box(&mut values[..]), |value| value));
}

fn view<T: Element>(input: &[u8], shape: Shape<'_>) {
    let Ok(view) = TensorView::<T>::new(input, black_box(ByteOrder::Big), shape) else { return };
    keep((view.as_slice(), view.get(black_box(3)), view.len()));
    keep(view.get_at(black_box(&[1, 2, 3])));
    view.iter().for_each(keep);
    view.rows().for_each(|row| keep(row.len()));
    if let Ok(row) = view.row(black_box(1)) {
        row.iter().for_each(keep);
    }
    if let Ok(part) = view.elements(black_box(1)..black_box(5)) {
        part.iter().for_each(keep);
    }
}

/// The input as text, or another text if it is not UTF-8.
pub(crate) fn text(input: &[u8]) -> &str {
    core::str::from_utf8(input).unwrap_or("a.b")
}
