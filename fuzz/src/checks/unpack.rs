//! simple_packing at every width gives the values of a plain reader of bits, from any element on, whole or one by one.

use tgm_core::descriptor::ByteOrder;
use tgm_core::packing::{Packing, unpack_bytes_into, unpack_into};

use crate::given::Given;

/// Unpacks `bytes`. The last bytes give the parameters.
pub fn check(bytes: &[u8]) {
    let mut given = Given(bytes);
    let packing = Packing {
        bits_per_value: given.byte().into(),
        reference_value: given.double(),
        binary_scale_factor: i32::from(given.byte().cast_signed()) * given.choice(&[1, 9, 1 << 20]),
        decimal_scale_factor: i32::from(given.byte().cast_signed()) * given.choice(&[1, 3, 1 << 24]),
    };
    let (start, count) = (given.number() >> given.choice(&[24, 16, 0]), usize::from(given.byte()));
    let packed = given.0;
    let bits = u64::from(packing.bits_per_value);
    let mut values = vec![7.0_f64; count];
    let found = unpack_into(packed, &packing, start.into(), &mut values);
    let end = (u64::from(start) + count as u64) * bits;
    let is_there = bits <= 64 && (count == 0 || end.div_ceil(8) <= packed.len() as u64);
    if count > 0 {
        assert_eq!(found.is_ok(), is_there, "{packing:?} {found:?}");
    }
    if found.is_err() {
        assert!(values.iter().all(|value| *value == 7.0), "untouched after an error");
        return;
    }
    for (at, value) in values.iter().enumerate() {
        let q = field(packed, (u64::from(start) + at as u64) * bits, bits);
        // With 0 bits nothing is multiplied: zero times an infinite scale would be NaN.
        let r = packing.reference_value;
        let plain = if bits > 0 { r + packing.scale() * q as f64 } else { r };
        assert_eq!(value.to_bits(), bits_of(plain, *value), "{packing:?}, element {at}: {q}");
    }
    same_bytes(packed, &packing, start, &values);
    let mut single = vec![0.0_f32; count];
    unpack_into(packed, &packing, start.into(), &mut single).expect("as before");
    assert!(single.iter().zip(&values).all(|(single, value)| same(f64::from(*single), f64::from(*value as f32))));
    for (at, value) in values.iter().enumerate() {
        let mut one = [0.0];
        unpack_into(packed, &packing, u64::from(start) + at as u64, &mut one).expect("as before");
        assert!(same(one[0], *value));
    }
}

fn same_bytes(packed: &[u8], packing: &Packing, start: u32, values: &[f64]) {
    let mut bytes = vec![0; 8 * values.len()];
    for order in [ByteOrder::Big, ByteOrder::Little] {
        unpack_bytes_into(packed, packing, start.into(), order, &mut bytes).expect("as before");
        let read = |bytes: &[u8; 8]| match order {
            ByteOrder::Big => f64::from_be_bytes(*bytes),
            ByteOrder::Little => f64::from_le_bytes(*bytes),
        };
        assert!(bytes.as_chunks().0.iter().zip(values).all(|(bytes, value)| same(read(bytes), *value)));
    }
}

/// The `bits` bits from bit `at` on, one after the other.
fn field(packed: &[u8], at: u64, bits: u64) -> u64 {
    (at..at + bits).fold(0, |field, at| {
        let byte = usize::try_from(at / 8).expect("in memory");
        field << 1 | u64::from(packed[byte] >> (7 - at % 8) & 1)
    })
}

/// The bits of `plain`, or of `other` if both are NaN: which NaN it is, is not promised.
fn bits_of(plain: f64, other: f64) -> u64 {
    if plain.is_nan() && other.is_nan() { other.to_bits() } else { plain.to_bits() }
}

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}
