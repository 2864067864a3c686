//! Decoding of stored bytes, compared with plain loops: every form, filter and byte order, every range, and windows.

use std::ops::Range;

use tgm_core::descriptor::{ByteOrder, Descriptor, Dtype};
use tgm_core::error::ErrorKind;
use tgm_core::stored::{Stored, stored_len, window_of};

/// Values of an object.
const COUNT: u64 = 203;
/// Bits of a packed value.
const BITS: u64 = 12;

/// The descriptor of [`COUNT`] values. `element_size` is the shuffle filter's; 0 means no filter.
fn descriptor(dtype: Dtype, order: ByteOrder, is_packed: bool, element_size: u64) -> Vec<u8> {
    let mut encoder = minicbor::Encoder::new(Vec::new());
    encoder.begin_map().unwrap();
    for (key, text) in [
        ("type", "ntensor"),
        ("dtype", dtype.name()),
        ("byte_order", order.name()),
        ("encoding", if is_packed { "simple_packing" } else { "none" }),
        ("filter", if element_size > 0 { "shuffle" } else { "none" }),
        ("compression", "none"),
    ] {
        encoder.str(key).unwrap().str(text).unwrap();
    }
    let numbers = [("ndim", 1), ("shuffle_element_size", element_size.max(1)), ("sp_bits_per_value", BITS)];
    for (key, number) in numbers.into_iter().chain([("sp_binary_scale_factor", 0), ("sp_decimal_scale_factor", 0)]) {
        encoder.str(key).unwrap().u64(number).unwrap();
    }
    encoder.str("sp_reference_value").unwrap().f64(0.0).unwrap();
    for (key, number) in [("shape", COUNT), ("strides", 1)] {
        encoder.str(key).unwrap().array(1).unwrap().u64(number).unwrap();
    }
    encoder.end().unwrap();
    encoder.into_writer()
}

/// Bytes without a pattern.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// PIPELINE §4: byte b of element i lies at b · n + i.
fn unshuffled(bytes: &[u8], element_size: u64) -> Vec<u8> {
    let size = usize::try_from(element_size.max(1)).unwrap();
    let n = bytes.len() / size;
    (0..bytes.len()).map(|place| bytes[place % size * n + place / size]).collect()
}

/// Bits `range` of `bytes`, as a number. The first is the highest.
fn bits(bytes: &[u8], range: Range<u64>) -> u64 {
    let bit = |at: u64| u64::from(bytes[usize::try_from(at / 8).unwrap()] >> (7 - at % 8) & 1);
    range.fold(0, |number, at| number << 1 | bit(at))
}

/// All values, in the machine's order. A bitmask gives a byte for each bit.
fn values(dtype: Dtype, order: ByteOrder, is_packed: bool, plain: &[u8]) -> Vec<Vec<u8>> {
    (0..COUNT)
        .map(|i| match dtype {
            #[allow(clippy::cast_precision_loss, reason = "12 bits")]
            _ if is_packed => (bits(plain, i * BITS..(i + 1) * BITS) as f64).to_ne_bytes().to_vec(),
            Dtype::Bitmask => vec![u8::try_from(bits(plain, i..i + 1)).unwrap()],
            _ => {
                let (width, unit) = (dtype.byte_width(), dtype.swap_unit_size());
                let i = usize::try_from(i).unwrap();
                let mut value = plain[i * width..(i + 1) * width].to_vec();
                if order != ByteOrder::NATIVE {
                    value.chunks_mut(unit).for_each(<[u8]>::reverse);
                }
                value
            }
        })
        .collect()
}

/// What `elements` decode to.
fn expected(dtype: Dtype, values: &[Vec<u8>], elements: Range<u64>) -> Vec<u8> {
    let values = &values[usize::try_from(elements.start).unwrap()..usize::try_from(elements.end).unwrap()];
    if dtype != Dtype::Bitmask {
        return values.concat();
    }
    let byte = |bits: &[Vec<u8>]| bits.iter().zip((0..8).rev()).fold(0, |byte, (bit, place)| byte | bit[0] << place);
    values.chunks(8).map(byte).collect()
}

/// Ranges that begin and end at any place within a group of eight, at the start, in the middle and at the end.
fn ranges() -> impl Iterator<Item = Range<u64>> {
    let starts = (0..18).chain(90..100).chain(COUNT - 12..=COUNT);
    starts.flat_map(|start| {
        let ends = (start..start + 20).chain([start + 70, COUNT - 3, COUNT]);
        ends.filter(move |end| (start..=COUNT).contains(end)).map(move |end| start..end)
    })
}

#[test]
fn every_range_of_every_form_is_decoded_as_plain_loops_do() {
    let mut checked = 0;
    for dtype in Dtype::ALL {
        for order in [ByteOrder::Big, ByteOrder::Little] {
            for (is_packed, element_size) in
                [(false, 0), (false, 1), (false, 7), (false, 29), (true, 0), (true, 1), (true, 5)]
            {
                if is_packed && dtype != Dtype::Float64 {
                    continue;
                }
                let encoded = descriptor(dtype, order, is_packed, element_size);
                let descriptor = Descriptor::parse(&encoded, 0).unwrap();
                let bytes = noise(usize::try_from(stored_len(&descriptor).unwrap()).unwrap());
                if !(bytes.len() as u64).is_multiple_of(element_size.max(1)) {
                    assert_eq!(Stored::new(&descriptor, &bytes).unwrap_err().kind(), ErrorKind::ElementSize);
                    continue;
                }
                let stored = Stored::new(&descriptor, &bytes).unwrap();
                assert_eq!((stored.dtype(), stored.element_count(), stored.byte_order()), (dtype, COUNT, order));
                let plain = unshuffled(&bytes, element_size);
                let values = values(dtype, order, is_packed, &plain);
                for range in ranges() {
                    let mut expected = expected(dtype, &values, range.clone());
                    if dtype == Dtype::Bitmask && range == (0..COUNT) {
                        // With the bits after the last value, which are as they were stored.
                        expected.clone_from(&plain);
                    }
                    let mut out = vec![0xee; expected.len()];
                    stored.decode_into(range.clone(), ByteOrder::NATIVE, &mut out).unwrap();
                    assert_eq!(out, expected, "{dtype} {order} packed {is_packed} by {element_size}, {range:?}");
                    if element_size > 1 {
                        continue;
                    }
                    let needed = window_of(&descriptor, &range).unwrap();
                    let window = &bytes[usize::try_from(needed.start).unwrap()..usize::try_from(needed.end).unwrap()];
                    let window = Stored::window(&descriptor, window, needed.start).unwrap();
                    out.fill(0xee);
                    window.decode_into(range.clone(), ByteOrder::NATIVE, &mut out).unwrap();
                    assert_eq!(out, expected, "window of {dtype} {order} packed {is_packed}, {range:?}");
                    checked += 1;
                }
                for range in [0..COUNT + 1, COUNT + 1..COUNT + 1, Range { start: 5, end: 4 }] {
                    assert_eq!(
                        window_of(&descriptor, &range).unwrap_err().kind(),
                        ErrorKind::RangeOutOfBounds,
                        "{range:?}"
                    );
                }
            }
        }
    }
    assert!(checked > 10_000, "{checked}");
}

#[test]
fn packed_values_are_written_as_floats_of_either_width() {
    for element_size in [0, 5] {
        let encoded = descriptor(Dtype::Float64, ByteOrder::Little, true, element_size);
        let descriptor = Descriptor::parse(&encoded, 0).unwrap();
        let bytes = noise(usize::try_from(stored_len(&descriptor).unwrap()).unwrap());
        let stored = Stored::new(&descriptor, &bytes).unwrap();
        let plain = unshuffled(&bytes, element_size);
        for range in ranges() {
            let len = usize::try_from(range.end - range.start).unwrap();
            let (mut doubles, mut singles) = (vec![0_f64; len], vec![0_f32; len]);
            stored.unpack_into(range.start, &mut doubles).unwrap();
            stored.unpack_into(range.start, &mut singles).unwrap();
            let expected: Vec<u64> = range.map(|i| bits(&plain, i * BITS..(i + 1) * BITS)).collect();
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "12 bits")]
            let found = |value: f64| value as u64;
            assert!(doubles.iter().map(|value| found(*value)).eq(expected.iter().copied()));
            assert!(singles.iter().map(|value| found((*value).into())).eq(expected));
        }
        let beyond = stored.unpack_into(COUNT - 1, &mut [0_f64; 2]).unwrap_err();
        assert_eq!(beyond.kind(), ErrorKind::RangeOutOfBounds);
    }
}
