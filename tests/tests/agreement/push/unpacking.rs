//! Values from chunks, compared with the values of the whole payload.

use tgm_core::descriptor::{Compression, Dtype, Encoding, Stage};
use tgm_core::error::{ErrorKind, Result};
use tgm_core::message::Message;
use tgm_core::object::DataObject;
use tgm_core::push::{Chunk, Event, Link, Part, PushDecoder, Unpacker};
use tgm_core::tensor::{Complex, Element};

use super::{FIRST, Numbers, THREE, corpus};

/// Unpacks `pieces` into outputs of up to `longest` values.
fn values<T: Copy>(
    unpacker: &Unpacker,
    pieces: &[&[u8]],
    longest: usize,
    zero: T,
    next: impl Fn(&mut Unpacker, &mut &[u8], &mut [T]) -> Result<usize>,
) -> Vec<T> {
    let (mut unpacker, mut numbers) = (unpacker.clone(), Numbers(9));
    let mut values = Vec::new();
    // Values of 0 bits take no bytes.
    for piece in pieces.iter().chain(&[&[][..]]) {
        let mut chunk = *piece;
        loop {
            let mut out = vec![zero; 1 + numbers.below(longest)];
            match next(&mut unpacker, &mut chunk, &mut out).unwrap() {
                0 => break,
                count => values.extend_from_slice(&out[..count]),
            }
        }
        assert!(chunk.is_empty() || unpacker.remaining() == 0);
    }
    assert_eq!(unpacker.remaining(), 0);
    values
}

fn check_elements<T: Element>(object: &DataObject<'_>, zero: T) {
    let expected: Vec<T> = object.view::<T>().unwrap().iter().collect();
    let unpacker = Unpacker::new(object.descriptor()).unwrap();
    for longest in [1, 5, 64, 10_000] {
        let pieces = Numbers(longest as u64).cut(object.payload(), longest);
        assert_eq!(values(&unpacker, &pieces, 7, zero, Unpacker::elements_into), expected);
        assert_eq!(values(&unpacker, &pieces, 1000, zero, Unpacker::elements_into), expected);
    }
}

#[test]
fn plain_elements_of_every_type_come_out_of_any_pieces() {
    use half::{bf16, f16};
    let mut seen = Vec::new();
    for (path, bytes) in corpus().iter().filter(|(path, _)| path.contains("/dtypes/")) {
        let object = Message::parse(bytes).unwrap().object(0).unwrap();
        if object.view_any().is_err() || path.contains("nan") {
            continue;
        }
        let dtype = object.descriptor().dtype();
        seen.push(dtype);
        match dtype {
            Dtype::Float16 => check_elements(&object, f16::ZERO),
            Dtype::Bfloat16 => check_elements(&object, bf16::ZERO),
            Dtype::Float32 => check_elements(&object, 0_f32),
            Dtype::Float64 => check_elements(&object, 0_f64),
            Dtype::Complex64 => check_elements(&object, Complex { re: 0_f32, im: 0.0 }),
            Dtype::Complex128 => check_elements(&object, Complex { re: 0_f64, im: 0.0 }),
            Dtype::Int8 => check_elements(&object, 0_i8),
            Dtype::Int16 => check_elements(&object, 0_i16),
            Dtype::Int32 => check_elements(&object, 0_i32),
            Dtype::Int64 => check_elements(&object, 0_i64),
            Dtype::Uint8 => check_elements(&object, 0_u8),
            Dtype::Uint16 => check_elements(&object, 0_u16),
            Dtype::Uint32 => check_elements(&object, 0_u32),
            Dtype::Uint64 => check_elements(&object, 0_u64),
            Dtype::Bitmask => {
                let mut unpacker = Unpacker::new(object.descriptor()).unwrap();
                let result = unpacker.elements_into(&mut object.payload(), &mut [0_u8; 4]);
                assert_eq!(
                    result,
                    Err(ErrorKind::DtypeMismatch { expected: Dtype::Uint8, found: Dtype::Bitmask }.at(0))
                );
            }
        }
    }
    seen.sort_by_key(|dtype| *dtype as u8);
    seen.dedup();
    assert_eq!(seen.len(), Dtype::ALL.len());
}

#[test]
fn packed_values_of_every_width_come_out_of_any_pieces() {
    let mut widths = Vec::new();
    for (path, bytes) in corpus() {
        let Ok(objects) = Message::parse(&bytes).map(|message| message.objects()) else { continue };
        for object in objects.map_while(Result::ok) {
            let (Ok(unpacker), Ok(stored)) = (Unpacker::new(object.descriptor()), object.stored()) else { continue };
            let is_packed = object.descriptor().encoding().known() == Some(Encoding::SimplePacking);
            // With 0 bits, any number of values takes no bytes.
            if !is_packed || stored.element_count() > 100_000 {
                continue;
            }
            let mut expected = vec![0.0_f64; usize::try_from(stored.element_count()).unwrap()];
            stored.unpack_into(0, &mut expected).unwrap();
            #[allow(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
            let single: Vec<u32> = expected.iter().map(|&value| (value as f32).to_bits()).collect();
            let expected: Vec<u64> = expected.into_iter().map(f64::to_bits).collect();
            for longest in [1, 3, 20, 10_000] {
                let pieces = Numbers(longest as u64).cut(object.payload(), longest);
                for out in [1, 11, 300] {
                    let doubles = values(&unpacker, &pieces, out, 0.0_f64, Unpacker::unpack_into);
                    assert!(doubles.into_iter().map(f64::to_bits).eq(expected.iter().copied()), "{path}");
                    let floats = values(&unpacker, &pieces, out, 0.0_f32, Unpacker::unpack_into);
                    assert!(floats.into_iter().map(f32::to_bits).eq(single.iter().copied()), "{path}");
                }
            }
            widths.push(object.descriptor().packing().unwrap().bits_per_value);
        }
    }
    widths.sort_unstable();
    widths.dedup();
    assert!(widths.len() >= 12 && widths.contains(&64), "{widths:?}");
}

#[test]
fn a_descriptor_before_its_region_gives_values_on_the_fly() {
    let expected: Vec<f64> = plain_values(FIRST);
    for longest in [1, 6, 50] {
        let mut decoder = PushDecoder::<256>::new(Link::Lossy);
        let (mut unpacker, mut values, mut masks) = (None, Vec::new(), 0);
        for piece in Numbers(4).cut(FIRST, longest) {
            let mut rest = piece;
            while let Some(event) = decoder.next_event(&mut rest).unwrap() {
                match event {
                    Event::Descriptor(object) => unpacker = Some(Unpacker::new(&object.descriptor).unwrap()),
                    Event::Chunk(Chunk { part: Part::Payload, bytes, .. }) => {
                        let (mut bytes, mut out) = (bytes, [0.0; 3]);
                        while let count @ 1.. = unpacker.as_mut().unwrap().elements_into(&mut bytes, &mut out).unwrap()
                        {
                            values.extend_from_slice(&out[..count]);
                        }
                    }
                    Event::Chunk(chunk) if chunk.part == Part::Masks => masks += chunk.bytes.len(),
                    _ => {}
                }
            }
        }
        assert_eq!(values, expected);
        assert!(masks > 0);
    }
}

/// The first object's elements. Masked ones are the stored placeholders.
fn plain_values(message: &[u8]) -> Vec<f64> {
    let object = Message::parse(message).unwrap().object(0).unwrap();
    let order = object.descriptor().byte_order();
    let (chunks, []) = object.payload().as_chunks() else { panic!() };
    chunks.iter().map(|bytes| f64::from_bytes(*bytes, order)).collect()
}

#[test]
fn what_cannot_be_undone_on_the_fly_is_said() {
    let mut seen = 0;
    for (path, bytes) in corpus() {
        let Ok(object) = Message::parse(&bytes).and_then(|message| message.object(0)) else { continue };
        let compression = object.descriptor().compression().known();
        if compression != Some(Compression::None) {
            let expected = ErrorKind::NeedsDecoding(Stage::Compression(compression)).at(object.descriptor().offset());
            assert_eq!(Unpacker::new(object.descriptor()).unwrap_err(), expected, "{path}");
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
    let object = Message::parse(THREE).unwrap().object(0).unwrap();
    let mut unpacker = Unpacker::new(object.descriptor()).unwrap();
    assert!(unpacker.unpack_into(&mut object.payload(), &mut [0.0_f64]).is_err());
}
