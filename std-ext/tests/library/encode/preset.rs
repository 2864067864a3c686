//! Stages that are chosen by what is asked of the values.

#![allow(clippy::cast_possible_truncation, clippy::float_cmp, reason = "the numbers are chosen for it")]

use tgm_core::Message;
use tgm_std::encode::{Compress, MessageBuilder, Number};
use tgm_std::{ObjectBuilder, TensogramError, read};

fn stages(object: &ObjectBuilder<'_>) -> [String; 3] {
    let descriptor = object.descriptor();
    [descriptor.encoding.clone(), descriptor.filter.clone(), descriptor.compression.clone()]
}

fn there_and_back<T: Number>(object: ObjectBuilder<'_>) -> Vec<T> {
    let bytes = MessageBuilder::new().allow_nan().allow_inf().object(object).encode().unwrap();
    read(&Message::parse(&bytes).unwrap().object(0).unwrap()).values().unwrap()
}

/// Fields as models write them, ones that do not change, with gaps, and of a range that no packing keeps.
fn fields() -> Vec<Vec<f64>> {
    let smooth: Vec<f64> = (0..500).map(|i| 280.0 + f64::from(i - 250).powi(2) / 3000.0).collect();
    let mut gaps = smooth.clone();
    (gaps[3], gaps[70], gaps[71]) = (f64::NAN, f64::INFINITY, f64::NEG_INFINITY);
    vec![smooth, gaps, vec![7.25; 500], vec![1e300, -1e300, 1e-300, 0.0], vec![f64::NAN; 9], vec![]]
}

fn is_near(found: f64, value: f64, error: f64) -> bool {
    found == value || (found - value).abs() <= error || found.is_nan() && value.is_nan()
}

#[test]
fn floats_stay_within_the_bound_whatever_they_are() {
    for (number, field) in fields().iter().enumerate() {
        for error in [0.5, 0.01, 1e-9] {
            let object = ObjectBuilder::new(&[field.len() as u64], field).unwrap();
            let found: Vec<f64> = there_and_back(object.compress(Compress::Within(error)).unwrap());
            assert!(found.iter().zip(field).all(|(a, b)| is_near(*a, *b, error)), "{number} {error}");
            let single: Vec<f32> = field.iter().map(|value| *value as f32).collect();
            let object = ObjectBuilder::new(&[field.len() as u64], &single).unwrap();
            let found: Vec<f64> = there_and_back(object.compress(Compress::Within(error)).unwrap());
            assert!(found.iter().zip(&single).all(|(a, b)| is_near(*a, f64::from(*b), error)), "{number} {error}");
        }
    }
}

#[test]
fn lossless_keeps_every_bit_of_every_type() {
    fn check<T: Number>(values: &[T]) {
        let object = ObjectBuilder::new(&[values.len() as u64], values).unwrap();
        for how in [Compress::Lossless, Compress::Within(0.5)] {
            assert_eq!(there_and_back::<T>(object.clone().compress(how).unwrap()), values);
        }
        assert!(matches!(object.compress(Compress::Bits(8)), Err(TensogramError::Metadata(_))));
    }
    check(&[1_u8, 2, 255]);
    check(&[i16::MIN, 0, i16::MAX]);
    check(&[i64::MIN, 0, i64::MAX]);
    check(&[tgm_core::tensor::Complex::<f32> { re: 1.5, im: -2.0 }]);
    let floats = [1.5_f64, -0.0, f64::NAN, 1e-300];
    let object = ObjectBuilder::new(&[4], &floats).unwrap().compress(Compress::Lossless).unwrap();
    let found: Vec<f64> = there_and_back(object);
    assert!(found.iter().zip(floats).all(|(a, b)| is_near(*a, b, 0.0)));
    let bits = ObjectBuilder::bitmask(&[9], &[0b1010_0000, 0x80]).compress(Compress::Lossless).unwrap();
    assert_eq!(there_and_back::<f32>(bits), [1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
}

#[test]
fn the_stages_are_those_of_the_table() {
    let field = &fields()[0];
    let object = || ObjectBuilder::new(&[500], field).unwrap();
    let bits = |bits| stages(&object().compress(Compress::Bits(bits)).unwrap());
    assert_eq!(bits(12), ["simple_packing", "none", "szip"]);
    assert_eq!(bits(32), ["simple_packing", "none", "szip"]);
    #[cfg(feature = "zstd")]
    assert_eq!(bits(40), ["simple_packing", "shuffle", "zstd"]);
    #[cfg(feature = "zstd")]
    assert_eq!(stages(&object().compress(Compress::Lossless).unwrap()), ["none", "shuffle", "zstd"]);
    for width in [1, 7, 12, 24, 31, 32, 33, 40, 52] {
        let found: Vec<f64> = there_and_back(object().compress(Compress::Bits(width)).unwrap());
        let step = 30.0 / 2_f64.powi(width.cast_signed()) * 2.0;
        assert!(found.iter().zip(field).all(|(a, b)| is_near(*a, *b, step + 1e-9)), "{width}");
    }
}

#[test]
fn bounds_that_cannot_be_kept_are_errors() {
    for error in [0.0, -1.0, f64::NAN] {
        let object = ObjectBuilder::new(&[2], &[1.0_f64, 2.0]).unwrap();
        assert!(matches!(object.compress(Compress::Within(error)), Err(TensogramError::Encoding(_))), "{error}");
    }
    assert!(ObjectBuilder::new(&[1], &[1.0_f64]).unwrap().compress(Compress::Bits(65)).is_err());
}
